//! From instances to draw commands.

use super::groups_2d;
use crate::gpu::Gpu;
use crate::render::bindings::{Kind, compute_pipeline, layout};
use crate::render::gpu_scene::{BUCKETS, GpuScene, TRANSLUCENT_BUCKET};
use crate::render::shaders;

/// See the module.
pub struct Cull {
    cull: wgpu::ComputePipeline,
    order: wgpu::ComputePipeline,
    compact: wgpu::ComputePipeline,
    sort_translucent: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    n_groups: u32,
    has_translucent: bool,
}

impl Cull {
    pub fn new(gpu: &Gpu, scene: &GpuScene) -> Self {
        const LABEL: &str = "praxis::render::passes::cull";
        let module = gpu.factory.shader(LABEL, shaders::CULL);
        let mut kinds = vec![Kind::Uniform];
        kinds.extend([Kind::Read; 5]);
        kinds.extend([Kind::ReadWrite; 7]);
        let layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
        let b = &scene.buffers;
        let resources = [
            &b.frame,
            &b.transforms,
            &b.instances,
            &b.meshes,
            &b.groups,
            &b.buckets,
            &b.visible,
            &b.sparse_commands,
            &b.commands,
            &b.n_commands,
            &b.translucent_depths,
            &b.group_depths,
            &b.group_order,
        ]
        .map(wgpu::Buffer::as_entire_binding);
        let groups = [Some(&layout)];
        let constants = [
            ("first_translucent", f64::from(scene.first_translucent())),
            ("translucent_bucket", f64::from(TRANSLUCENT_BUCKET)),
        ];
        Self {
            cull: compute_pipeline(gpu, &module, "cull", &groups, &[]),
            order: compute_pipeline(gpu, &module, "order", &groups, &[]),
            compact: compute_pipeline(gpu, &module, "compact", &groups, &[]),
            sort_translucent: compute_pipeline(gpu, &module, "sort_translucent", &groups, &constants),
            group: gpu.factory.bind_group(LABEL, &layout, &resources),
            n_groups: scene.counts.n_groups,
            has_translucent: scene.counts.n_translucent > 0,
        }
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass) {
        pass.set_bind_group(0, &self.group, &[]);
        if self.n_groups > 0 {
            let (x, y) = groups_2d(self.n_groups);
            pass.set_pipeline(&self.cull);
            pass.dispatch_workgroups(x, y, 1);
            let (x, y) = groups_2d(self.n_groups.div_ceil(64));
            pass.set_pipeline(&self.order);
            pass.dispatch_workgroups(x, y, 1);
            pass.set_pipeline(&self.compact);
            pass.dispatch_workgroups(BUCKETS.len() as u32, 1, 1);
        }
        if self.has_translucent {
            pass.set_pipeline(&self.sort_translucent);
            pass.dispatch_workgroups(1, 1, 1);
        }
    }
}
