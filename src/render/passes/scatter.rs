//! Writes what moved into the scene's transforms.

use super::groups_2d;
use crate::gpu::Gpu;
use crate::render::bindings::{Kind, compute_pipeline, layout};
use crate::render::gpu_scene::GpuScene;
use crate::render::shaders;

/// See the module.
pub struct Scatter {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl Scatter {
    pub fn new(gpu: &Gpu, scene: &GpuScene) -> Self {
        const LABEL: &str = "praxis::render::passes::scatter";
        let module = gpu.factory.shader(LABEL, shaders::SCATTER);
        let kinds = [Kind::Uniform, Kind::Read, Kind::ReadWrite];
        let layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
        let b = &scene.buffers;
        let resources = [&b.frame, &b.moved, &b.transforms].map(wgpu::Buffer::as_entire_binding);
        Self {
            pipeline: compute_pipeline(gpu, &module, "scatter", &[Some(&layout)], &[]),
            group: gpu.factory.bind_group(LABEL, &layout, &resources),
        }
    }

    /// Nothing if nothing moved.
    pub fn record(&self, pass: &mut wgpu::ComputePass, n_moved: u32) {
        if n_moved == 0 {
            return;
        }
        let (x, y) = groups_2d(n_moved.div_ceil(64));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(x, y, 1);
    }
}
