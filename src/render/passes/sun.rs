//! How much of the sun each sample sees: one ray a surface, then more where light and shadow meet.

use crate::gpu::Gpu;
use crate::render::bindings::{Kind, SceneBindings, compute_pipeline, layout};
use crate::render::rays::{RayMode, Rays};
use crate::render::shaders;
use crate::render::targets::{SUN_FORMAT, SunTargets, Targets};

const LABEL: &str = "praxis::render::passes::sun";
const SUN_TEXTURE: Kind = Kind::Texture(wgpu::TextureSampleType::Uint, wgpu::TextureViewDimension::D2, false);

/// Pixels that a workgroup serves; as in `sun_words.wgsl`.
const TILE: [u32; 2] = [16, 8];

/// See the module.
pub struct Sun {
    hard: Step,
    /// Where `--rays edge`.
    edge: Option<Step>,
    /// Three numbers, as `sun_words.wgsl` names them.
    pub ray_counts: wgpu::Buffer,
}

/// One dispatch over the picture.
struct Step {
    pipeline: wgpu::ComputePipeline,
    targets_layout: wgpu::BindGroupLayout,
    targets: wgpu::BindGroup,
}

impl Sun {
    /// With `counts_rays` the rays of every picture are added up in [`Self::ray_counts`], which costs time.
    pub fn new(
        gpu: &Gpu,
        bindings: &SceneBindings,
        rays: &Rays,
        targets: &Targets,
        n_samples: u32,
        counts_rays: bool,
    ) -> Option<Self> {
        let sun = targets.sun.as_ref()?;
        let mut constants = rays.constants().to_vec();
        constants.push(("COUNTS_RAYS", f64::from(u8::from(counts_rays))));
        let pipeline = |entry_point, step, targets_layout: &wgpu::BindGroupLayout| {
            let module = gpu.factory.shader(LABEL, shaders::sun(step, n_samples, rays.variant()));
            let textures = rays.has_masked.then_some(&bindings.textures_layout);
            let groups = [textures, Some(&bindings.scene_layout), Some(targets_layout), Some(&rays.layout)];
            compute_pipeline(gpu, &module, entry_point, &groups, &constants)
        };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let ray_counts = gpu.factory.buffer("ray_counts", 16, usage);
        let seen = |sample_type| Kind::Texture(sample_type, wgpu::TextureViewDimension::D2, n_samples > 1);
        let ids = seen(wgpu::TextureSampleType::Uint);
        let depth = seen(wgpu::TextureSampleType::Depth);
        let kinds = [ids, depth, Kind::ReadWrite, Kind::Store(SUN_FORMAT)];
        let hard_layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
        let hard = Step {
            pipeline: pipeline("sun_hard", shaders::SunStep::Hard, &hard_layout),
            targets: bind_hard(gpu, &hard_layout, targets, sun, &ray_counts),
            targets_layout: hard_layout,
        };
        let edge = (rays.mode == RayMode::Edge).then(|| {
            let kinds = [ids, depth, Kind::ReadWrite, SUN_TEXTURE, Kind::Store(SUN_FORMAT)];
            let edge_layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
            Step {
                pipeline: pipeline("sun_edge", shaders::SunStep::Edge, &edge_layout),
                targets: bind_edge(gpu, &edge_layout, targets, sun, &ray_counts),
                targets_layout: edge_layout,
            }
        });
        Some(Self { hard, edge, ray_counts })
    }

    /// After the targets were made anew.
    pub fn retarget(&mut self, gpu: &Gpu, targets: &Targets) {
        let Some(sun) = &targets.sun else { return };
        self.hard.targets = bind_hard(gpu, &self.hard.targets_layout, targets, sun, &self.ray_counts);
        if let Some(edge) = &mut self.edge {
            edge.targets = bind_edge(gpu, &edge.targets_layout, targets, sun, &self.ray_counts);
        }
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass, bindings: &SceneBindings, rays: &Rays, size_px: [u32; 2]) {
        for step in [Some(&self.hard), self.edge.as_ref()].into_iter().flatten() {
            pass.set_pipeline(&step.pipeline);
            if rays.has_masked {
                pass.set_bind_group(0, &bindings.textures, &[]);
            }
            pass.set_bind_group(1, &bindings.scene, &[]);
            pass.set_bind_group(2, &step.targets, &[]);
            pass.set_bind_group(3, &rays.group, &[]);
            pass.dispatch_workgroups(size_px[0].div_ceil(TILE[0]), size_px[1].div_ceil(TILE[1]), 1);
        }
    }
}

fn bind_hard(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    targets: &Targets,
    sun: &SunTargets,
    ray_counts: &wgpu::Buffer,
) -> wgpu::BindGroup {
    // With edge rays the first result is theirs to read, and the last one is theirs to write.
    let hard = sun.hard.as_ref().unwrap_or(&sun.samples);
    let [ids, depth, hard] = [&targets.ids, &targets.depth, hard].map(wgpu::BindingResource::TextureView);
    gpu.factory.bind_group(LABEL, layout, &[ids, depth, ray_counts.as_entire_binding(), hard])
}

fn bind_edge(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    targets: &Targets,
    sun: &SunTargets,
    ray_counts: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let hard = sun.hard.as_ref().unwrap_or(&sun.samples);
    let [ids, depth, hard, samples] =
        [&targets.ids, &targets.depth, hard, &sun.samples].map(wgpu::BindingResource::TextureView);
    gpu.factory.bind_group(LABEL, layout, &[ids, depth, ray_counts.as_entire_binding(), hard, samples])
}
