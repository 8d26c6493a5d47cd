//! From exposed radiance to the picture.

use crate::gpu::Gpu;
use crate::render::bindings::{FLOAT_2D, Kind, compute_pipeline, layout};
use crate::render::gpu_scene::GpuScene;
use crate::render::shaders;
use crate::render::targets::{PICTURE_FORMAT, Targets};

const LABEL: &str = "praxis::render::passes::post";

/// See the module.
pub struct Post {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    group: wgpu::BindGroup,
}

impl Post {
    pub fn new(gpu: &Gpu, scene: &GpuScene, targets: &Targets) -> Self {
        let module = gpu.factory.shader(LABEL, shaders::POST);
        let kinds = [Kind::Uniform, FLOAT_2D, FLOAT_2D, Kind::Store(PICTURE_FORMAT)];
        let layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
        Self {
            pipeline: compute_pipeline(gpu, &module, "post", &[Some(&layout)], &[]),
            group: bind(gpu, &layout, scene, targets),
            layout,
        }
    }

    /// After the targets were made anew.
    pub fn retarget(&mut self, gpu: &Gpu, scene: &GpuScene, targets: &Targets) {
        self.group = bind(gpu, &self.layout, scene, targets);
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass, size_px: [u32; 2]) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(size_px[0].div_ceil(8), size_px[1].div_ceil(8), 1);
    }
}

fn bind(gpu: &Gpu, layout: &wgpu::BindGroupLayout, scene: &GpuScene, targets: &Targets) -> wgpu::BindGroup {
    let view = wgpu::BindingResource::TextureView;
    let resources = [
        scene.buffers.frame.as_entire_binding(),
        view(&targets.hdr),
        view(&targets.translucent_resolved),
        view(&targets.picture_view),
    ];
    gpu.factory.bind_group(LABEL, layout, &resources)
}
