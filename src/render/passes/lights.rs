//! Places the lights and tells each cluster which of them reach it.

use super::groups_2d;
use crate::gpu::Gpu;
use crate::render::bindings::{Kind, compute_pipeline, layout};
use crate::render::gpu_scene::GpuScene;
use crate::render::layout::CLUSTERS;
use crate::render::shaders;

/// See the module.
pub struct Lights {
    place: wgpu::ComputePipeline,
    assign: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    n_lights: u32,
    n_words: u32,
}

impl Lights {
    pub fn new(gpu: &Gpu, scene: &GpuScene) -> Self {
        const LABEL: &str = "praxis::render::passes::lights";
        let module = gpu.factory.shader(LABEL, shaders::LIGHTS);
        let kinds = [Kind::Uniform, Kind::Read, Kind::Read, Kind::ReadWrite, Kind::ReadWrite];
        let layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
        let b = &scene.buffers;
        let resources = [&b.frame, &b.transforms, &b.lights, &b.placed_lights, &b.cluster_lights]
            .map(wgpu::Buffer::as_entire_binding);
        let n_clusters: u32 = CLUSTERS.iter().product();
        Self {
            place: compute_pipeline(gpu, &module, "place", &[Some(&layout)], &[]),
            assign: compute_pipeline(gpu, &module, "assign", &[Some(&layout)], &[]),
            group: gpu.factory.bind_group(LABEL, &layout, &resources),
            n_lights: scene.counts.n_lights,
            n_words: n_clusters * scene.n_light_words(),
        }
    }

    /// Nothing if the scene has no lights.
    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        if self.n_lights == 0 {
            return;
        }
        pass.set_bind_group(0, &self.group, &[]);
        pass.set_pipeline(&self.place);
        pass.dispatch_workgroups(self.n_lights.div_ceil(64), 1, 1);
        let (x, y) = groups_2d(self.n_words.div_ceil(64));
        pass.set_pipeline(&self.assign);
        pass.dispatch_workgroups(x, y, 1);
    }
}
