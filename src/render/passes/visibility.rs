//! Rasters which triangle each sample sees.

use crate::gpu::Gpu;
use crate::render::bindings::SceneBindings;
use crate::render::gpu_scene::{BUCKETS, BucketKind, CommandRange, Faces, GpuScene};
use crate::render::layout::DrawCommand;
use crate::render::shaders;
use crate::render::targets::{DEPTH_FORMAT, IDS_FORMAT, Targets};

/// Positions alone: the rest is fetched by whoever needs it.
pub const POSITIONS: wgpu::VertexBufferLayout = wgpu::VertexBufferLayout {
    array_stride: 12,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &[wgpu::VertexAttribute { format: wgpu::VertexFormat::Float32x3, offset: 0, shader_location: 0 }],
};

/// See the module.
pub struct Visibility {
    /// One per bucket that has instances.
    buckets: Vec<(usize, wgpu::RenderPipeline)>,
    ids_load: wgpu::LoadOp<wgpu::Color>,
}

impl Visibility {
    pub fn new(gpu: &Gpu, scene: &GpuScene, bindings: &SceneBindings, n_samples: u32) -> Self {
        const LABEL: &str = "praxis::render::passes::visibility";
        let opaque = gpu.factory.shader(LABEL, shaders::VISIBILITY);
        let masked = gpu.factory.shader(LABEL, shaders::visibility_masked(n_samples));
        let opaque_layout = gpu.factory.pipeline_layout(LABEL, &[None, Some(&bindings.scene_layout)]);
        let masked_layout =
            gpu.factory.pipeline_layout(LABEL, &[Some(&bindings.textures_layout), Some(&bindings.scene_layout)]);
        let used = (0..BUCKETS.len()).filter(|&bucket| scene.commands_of[bucket].n_commands > 0);
        let buckets = used
            .map(|bucket| {
                let kind = BUCKETS[bucket];
                let (module, layout) =
                    if kind.is_masked { (&masked, &masked_layout) } else { (&opaque, &opaque_layout) };
                (bucket, pipeline(gpu, module, layout, kind, n_samples))
            })
            .collect();
        // Depth tells what is background, so that the ids need no clearing: on an H200 that saves a third of the pass. A GPU that
        // draws tile by tile would have to fetch what it need not clear.
        let ids_load = match gpu.info.device_type {
            wgpu::DeviceType::DiscreteGpu | wgpu::DeviceType::Cpu => wgpu::LoadOp::Load,
            _ => wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
        };
        Self { buckets, ids_load }
    }

    /// Clears the targets and draws every bucket.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scene: &GpuScene,
        bindings: &SceneBindings,
        targets: &Targets,
        timestamp_writes: Option<wgpu::RenderPassTimestampWrites>,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("praxis::render::passes::visibility"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &targets.ids,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: self.ids_load, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &targets.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            timestamp_writes,
            ..Default::default()
        });
        pass.set_bind_group(1, &bindings.scene, &[]);
        pass.set_vertex_buffer(0, scene.buffers.positions.slice(..));
        pass.set_index_buffer(scene.buffers.indices.slice(..), wgpu::IndexFormat::Uint32);
        let mut has_textures = false;
        for (bucket, pipeline) in &self.buckets {
            pass.set_pipeline(pipeline);
            if BUCKETS[*bucket].is_masked && !std::mem::replace(&mut has_textures, true) {
                pass.set_bind_group(0, &bindings.textures, &[]);
            }
            draw_commands(&mut pass, scene, *bucket, scene.commands_of[*bucket]);
        }
    }
}

/// Draws what the cull pass left of a bucket.
pub fn draw_commands(pass: &mut wgpu::RenderPass, scene: &GpuScene, bucket: usize, range: CommandRange) {
    let command_bytes = size_of::<DrawCommand>() as u64;
    pass.multi_draw_indexed_indirect_count(
        &scene.buffers.commands,
        u64::from(range.first_command) * command_bytes,
        &scene.buffers.n_commands,
        4 * bucket as u64,
        range.n_commands,
    );
}

fn pipeline(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    layout: &wgpu::PipelineLayout,
    kind: BucketKind,
    n_samples: u32,
) -> wgpu::RenderPipeline {
    gpu.factory.render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("praxis::render::passes::visibility"),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[Some(POSITIONS)],
        },
        primitive: wgpu::PrimitiveState {
            front_face: if kind.faces == Faces::CulledMirrored { wgpu::FrontFace::Cw } else { wgpu::FrontFace::Ccw },
            cull_mode: if kind.faces == Faces::Both { None } else { Some(wgpu::Face::Back) },
            ..Default::default()
        },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Greater),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState { count: n_samples, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(IDS_FORMAT.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
