//! Blended geometry, farthest first, tested against the depth of what is opaque.

use super::visibility::{POSITIONS, draw_commands};
use crate::gpu::Gpu;
use crate::render::bindings::SceneBindings;
use crate::render::gpu_scene::{GpuScene, TRANSLUCENT_BUCKET};
use crate::render::rays::Rays;
use crate::render::shaders;
use crate::render::targets::{DEPTH_FORMAT, HDR_FORMAT, Targets};

const LABEL: &str = "praxis::render::passes::translucent";

/// See the module.
pub struct Translucent {
    pipeline: wgpu::RenderPipeline,
}

impl Translucent {
    pub fn new(gpu: &Gpu, bindings: &SceneBindings, rays: Option<&Rays>, n_samples: u32) -> Self {
        let module = gpu.factory.shader(LABEL, shaders::translucent(rays.map(|rays| rays.backend)));
        let mut groups = vec![Some(&bindings.textures_layout), Some(&bindings.scene_layout)];
        if let Some(rays) = rays {
            groups.extend([None, Some(&rays.layout)]);
        }
        let layout = gpu.factory.pipeline_layout(LABEL, &groups);
        let pipeline = gpu.factory.render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(LABEL),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &[Some(POSITIONS)],
            },
            // The shader culls by material, so that one draw order serves all.
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::Greater),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: n_samples, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: rays.map(Rays::constants).unwrap_or_default(),
                    ..Default::default()
                },
                targets: &[Some(wgpu::ColorTargetState {
                    format: HDR_FORMAT,
                    blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                    write_mask: wgpu::ColorWrites::ALL,
                })],
            }),
            multiview_mask: None,
            cache: None,
        });
        Self { pipeline }
    }

    /// Nothing if the scene has nothing blended.
    pub fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scene: &GpuScene,
        bindings: &SceneBindings,
        rays: Option<&Rays>,
        targets: &Targets,
        timestamp_writes: Option<wgpu::RenderPassTimestampWrites>,
    ) {
        let Some(translucent) = &targets.translucent else { return };
        let store = if translucent.resolve.is_some() { wgpu::StoreOp::Discard } else { wgpu::StoreOp::Store };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(LABEL),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &translucent.color,
                depth_slice: None,
                resolve_target: translucent.resolve.as_ref(),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &targets.depth,
                depth_ops: None,
                stencil_ops: None,
            }),
            timestamp_writes,
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &bindings.textures, &[]);
        pass.set_bind_group(1, &bindings.scene, &[]);
        if let Some(rays) = rays {
            pass.set_bind_group(3, &rays.group, &[]);
        }
        pass.set_vertex_buffer(0, scene.buffers.positions.slice(..));
        pass.set_index_buffer(scene.buffers.indices.slice(..), wgpu::IndexFormat::Uint32);
        draw_commands(&mut pass, scene, TRANSLUCENT_BUCKET as usize, scene.commands_of[TRANSLUCENT_BUCKET as usize]);
    }
}
