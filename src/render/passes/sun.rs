//! How much of the sun each sample sees: one ray a surface, then more where light and shadow meet.

use crate::gpu::Gpu;
use crate::render::bindings::{Kind, SceneBindings, compute_pipeline, layout};
use crate::render::rays::{RayMode, Rays};
use crate::render::shaders::{self, SunStep};
use crate::render::targets::{SUN_FORMAT, SunTargets, Targets};

const LABEL: &str = "praxis::render::passes::sun";
const SUN_TEXTURE: Kind = Kind::Texture(wgpu::TextureSampleType::Uint, wgpu::TextureViewDimension::D2, false);

/// Pixels that a workgroup serves; as in `sun_words.wgsl`.
const TILE: [u32; 2] = [16, 8];

/// What is counted of rays; as in `sun_words.wgsl`.
pub const N_RAY_COUNTS: usize = 6;

/// See the module.
pub struct Sun {
    hard: Step,
    /// Where `--rays edge`.
    edge: Option<Step>,
    /// [`N_RAY_COUNTS`] numbers, as `sun_words.wgsl` names them.
    pub ray_counts: wgpu::Buffer,
}

/// One dispatch over the picture.
struct Step {
    step: SunStep,
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
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let ray_counts = gpu.factory.buffer("ray_counts", 4 * N_RAY_COUNTS as u64, usage);
        let seen = |sample_type| Kind::Texture(sample_type, wgpu::TextureViewDimension::D2, n_samples > 1);
        let ids = seen(wgpu::TextureSampleType::Uint);
        let depth = seen(wgpu::TextureSampleType::Depth);
        let make = |entry_point, step, last: &[Kind]| {
            let kinds = [&[ids, depth, Kind::ReadWrite], last].concat();
            let targets_layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
            let module = gpu.factory.shader(LABEL, shaders::sun(step, n_samples, rays.variant()));
            let textures = rays.has_masked.then_some(&bindings.textures_layout);
            let groups = [textures, Some(&bindings.scene_layout), Some(&targets_layout), Some(&rays.layout)];
            Step {
                step,
                pipeline: compute_pipeline(gpu, &module, entry_point, &groups, &constants),
                targets: bind(gpu, &targets_layout, targets, sun, &ray_counts, step),
                targets_layout,
            }
        };
        let hard = make("sun_hard", SunStep::Hard, &[Kind::Store(SUN_FORMAT)]);
        let edge = (rays.mode == RayMode::Edge)
            .then(|| make("sun_edge", SunStep::Edge, &[SUN_TEXTURE, Kind::Store(SUN_FORMAT)]));
        Some(Self { hard, edge, ray_counts })
    }

    /// After the targets were made anew.
    pub fn retarget(&mut self, gpu: &Gpu, targets: &Targets) {
        let Some(sun) = &targets.sun else { return };
        for step in [Some(&mut self.hard), self.edge.as_mut()].into_iter().flatten() {
            step.targets = bind(gpu, &step.targets_layout, targets, sun, &self.ray_counts, step.step);
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

/// The group of one step. With edge rays the first result is theirs to read, and the last one is theirs to write.
fn bind(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    targets: &Targets,
    sun: &SunTargets,
    ray_counts: &wgpu::Buffer,
    step: SunStep,
) -> wgpu::BindGroup {
    let view = wgpu::BindingResource::TextureView;
    let hard = sun.hard.as_ref().unwrap_or(&sun.samples);
    let mut resources = vec![view(&targets.ids), view(&targets.depth), ray_counts.as_entire_binding(), view(hard)];
    if matches!(step, SunStep::Edge) {
        resources.push(view(&sun.samples));
    }
    gpu.factory.bind_group(LABEL, layout, &resources)
}
