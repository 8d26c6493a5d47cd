//! The one pass on the window's surface: the picture, and the overlay over it.

use super::Overlay;
use crate::gpu::Gpu;

const LABEL: &str = "praxis::frames::window::picture_pass";

/// Draws a picture onto targets of one format.
pub struct PicturePass {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    group: wgpu::BindGroup,
}

impl PicturePass {
    /// Draws `picture` (sRGB encoded values in a format that does not encode) onto targets of `format`.
    pub fn new(gpu: &Gpu, picture: &wgpu::Texture, format: wgpu::TextureFormat) -> Self {
        let layout = gpu.factory.bind_group_layout(
            LABEL,
            &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: false },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
                count: None,
            }],
        );
        let module = gpu.factory.shader(LABEL, include_str!("picture_pass.wgsl"));
        let pipeline_layout = gpu.factory.pipeline_layout(LABEL, &[Some(&layout)]);
        let pipeline = gpu.factory.render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(LABEL),
            layout: Some(&pipeline_layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("whole_surface"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(if format.is_srgb() { "decoded" } else { "as_it_is" }),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let group = bind(gpu, &layout, picture);
        Self { pipeline, layout, group }
    }

    /// After the picture was made anew.
    pub fn retarget(&mut self, gpu: &Gpu, picture: &wgpu::Texture) {
        self.group = bind(gpu, &self.layout, picture);
    }

    /// Records the pass onto `target`.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, target: &wgpu::TextureView, overlay: &dyn Overlay) {
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(LABEL),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: None,
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        // Overlays hold on to what they draw with by themselves.
        let mut pass = pass.forget_lifetime();
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..3, 0..1);
        overlay.draw(&mut pass);
    }
}

fn bind(gpu: &Gpu, layout: &wgpu::BindGroupLayout, picture: &wgpu::Texture) -> wgpu::BindGroup {
    let view = picture.create_view(&wgpu::TextureViewDescriptor::default());
    gpu.factory.bind_group(LABEL, layout, &[wgpu::BindingResource::TextureView(&view)])
}
