//! Lights each distinct surface of each pixel.

use crate::gpu::Gpu;
use crate::render::bindings::{Kind, SceneBindings, compute_pipeline, layout};
use crate::render::shaders;
use crate::render::targets::{HDR_FORMAT, Targets};

const LABEL: &str = "praxis::render::passes::shade";

/// See the module.
pub struct Shade {
    pipeline: wgpu::ComputePipeline,
    targets_layout: wgpu::BindGroupLayout,
    targets: wgpu::BindGroup,
}

impl Shade {
    pub fn new(gpu: &Gpu, bindings: &SceneBindings, targets: &Targets, n_samples: u32) -> Self {
        let module = gpu.factory.shader(LABEL, shaders::shade(n_samples, targets.sun.is_some()));
        let target = |sample_type| Kind::Texture(sample_type, wgpu::TextureViewDimension::D2, n_samples > 1);
        let mut kinds = vec![
            target(wgpu::TextureSampleType::Uint),
            target(wgpu::TextureSampleType::Depth),
            Kind::Store(HDR_FORMAT),
        ];
        if targets.sun.is_some() {
            kinds.push(Kind::Texture(wgpu::TextureSampleType::Uint, wgpu::TextureViewDimension::D2, false));
        }
        let targets_layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
        let groups = [Some(&bindings.textures_layout), Some(&bindings.scene_layout), Some(&targets_layout)];
        Self {
            pipeline: compute_pipeline(gpu, &module, "shade", &groups, &[]),
            targets: bind_targets(gpu, &targets_layout, targets),
            targets_layout,
        }
    }

    /// After the targets were made anew.
    pub fn retarget(&mut self, gpu: &Gpu, targets: &Targets) {
        self.targets = bind_targets(gpu, &self.targets_layout, targets);
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass, bindings: &SceneBindings, size_px: [u32; 2]) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &bindings.textures, &[]);
        pass.set_bind_group(1, &bindings.scene, &[]);
        pass.set_bind_group(2, &self.targets, &[]);
        pass.dispatch_workgroups(size_px[0].div_ceil(8), size_px[1].div_ceil(8), 1);
    }
}

fn bind_targets(gpu: &Gpu, layout: &wgpu::BindGroupLayout, targets: &Targets) -> wgpu::BindGroup {
    let sun = targets.sun.as_ref().map(|sun| &sun.samples);
    let views = [&targets.ids, &targets.depth, &targets.hdr].into_iter().chain(sun);
    let resources: Vec<_> = views.map(wgpu::BindingResource::TextureView).collect();
    gpu.factory.bind_group(LABEL, layout, &resources)
}
