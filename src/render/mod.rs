//! Draws a scene: the GPU scene, what changed in it, and the passes that make a picture of it.
//!
//! A frame is [`Renderer::prepare_frame`] (what changed, as bytes), [`Renderer::encode`] (uploads and passes, the same number
//! whatever the scene holds), a submission by the caller, and [`Renderer::submitted`].

mod bindings;
mod camera;
mod count_rays;
mod encode;
mod gpu_scene;
mod layout;
mod meshes;
mod passes;
mod pick;
mod prepare;
mod rays;
mod shaders;
mod sky;
mod targets;
mod textures;

#[cfg(test)]
mod tests;

use glam::Vec2;

use crate::gpu::{Gpu, GpuError, GpuTimestamps, UploadRing};
use crate::scene::Scene;

pub use count_rays::RayCounts;
pub use encode::PASSES;
pub use gpu_scene::SceneCounts;
pub use pick::{Picked, Picker};
pub use rays::{RayBackend, RayMode, RayStats};
pub use sky::sun_has_set;
pub use targets::PICTURE_FORMAT;

/// How radiance becomes what a display can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tonemap {
    /// Clipped.
    None = 0,
    /// Filmic, desaturating towards white.
    #[default]
    Agx = 1,
    /// The Academy's.
    Aces = 2,
    /// Khronos PBR Neutral: true base colours.
    Neutral = 3,
}

/// What a renderer is made for.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// Pixels, each side at least 1.
    pub size_px: [u32; 2],
    /// 1 or 4.
    pub n_samples: u32,
    /// See [`Tonemap`].
    pub tonemap: Tonemap,
    /// Instead of the scene's exposure.
    pub exposure_ev100: Option<f32>,
    /// Which rays are traced towards the sun.
    pub rays: RayMode,
    /// What traces them; `None` takes the best that the adapter has.
    pub ray_backend: Option<RayBackend>,
    /// Whether backend `bvh` gets a column map, which changes no picture: off to measure what it saves.
    pub has_column_map: bool,
    /// Frames submitted and not waited on, at most.
    pub n_frames_in_flight: usize,
}

/// Everything that stays from frame to frame.
pub struct Renderer {
    gpu_scene: gpu_scene::GpuScene,
    bindings: bindings::SceneBindings,
    targets: targets::Targets,
    n_samples: u32,
    tonemap: Tonemap,
    scatter: passes::Scatter,
    lights: passes::Lights,
    cull: passes::Cull,
    visibility: passes::Visibility,
    rays: Option<rays::Rays>,
    sun: Option<passes::Sun>,
    shade: passes::Shade,
    translucent: passes::Translucent,
    post: passes::Post,
    uploads: UploadRing,
    timestamps: Option<GpuTimestamps>,
    prepared: prepare::Prepared,
    upload_slot: Option<usize>,
    n_submitted: u64,
    warnings: Vec<String>,
}

impl Renderer {
    /// Uploads the scene, bakes its sky and makes every pipeline. Compiling may still happen at the first frame: draw one
    /// before measuring.
    pub fn new(gpu: &Gpu, scene: &mut Scene, options: &RenderOptions) -> Result<Self, GpuError> {
        let n_samples = options.n_samples;
        let (gpu_scene, casters) = gpu_scene::GpuScene::with_casters(gpu, &mut scene.world, &scene.assets)?;
        let mut warnings = Vec::new();
        let rays = make_rays(gpu, scene, &casters, options, &mut warnings);
        let ray_mode = rays.as_ref().map_or(RayMode::Off, |rays| rays.mode);
        let environment = sky::bake(gpu, &scene.sun());
        let bindings = bindings::SceneBindings::new(gpu, &gpu_scene, &environment);
        let has_translucent = gpu_scene.counts.n_translucent > 0;
        let targets = targets::Targets::new(gpu, options.size_px, n_samples, has_translucent, ray_mode)?;
        let moved_bytes = size_of::<layout::MovedTransform>() as u64 * u64::from(gpu_scene.counts.n_transforms);
        let frame_bytes = size_of::<layout::Frame>() as u64
            + moved_bytes.next_multiple_of(wgpu::MAP_ALIGNMENT)
            + rays.as_ref().map_or(0, rays::Rays::upload_bytes);
        Ok(Self {
            scatter: passes::Scatter::new(gpu, &gpu_scene),
            lights: passes::Lights::new(gpu, &gpu_scene),
            cull: passes::Cull::new(gpu, &gpu_scene),
            visibility: passes::Visibility::new(gpu, &gpu_scene, &bindings, n_samples),
            sun: rays.as_ref().and_then(|rays| passes::Sun::new(gpu, &bindings, rays, &targets, n_samples, false)),
            translucent: passes::Translucent::new(gpu, &bindings, rays.as_ref(), n_samples),
            rays,
            shade: passes::Shade::new(gpu, &bindings, &targets, n_samples),
            post: passes::Post::new(gpu, &gpu_scene, &targets),
            uploads: UploadRing::new(&gpu.factory, frame_bytes, options.n_frames_in_flight),
            timestamps: GpuTimestamps::new(gpu, PASSES.len() as u32, options.n_frames_in_flight),
            prepared: prepare::Prepared::new(scene, &gpu_scene, options),
            upload_slot: None,
            n_submitted: 0,
            warnings,
            tonemap: options.tonemap,
            gpu_scene,
            bindings,
            targets,
            n_samples,
        })
    }

    /// Collects what changed in the scene's last update. Every update must be prepared: what moved is told only once.
    pub fn prepare_frame(&mut self, scene: &Scene, frame_idx: u32) {
        self.prepare_frame_jittered(scene, frame_idx, Vec2::ZERO);
    }

    /// The same, with the picture shifted right and down by `jitter_px`, which may be a fraction: the camera stays where it is.
    pub fn prepare_frame_jittered(&mut self, scene: &Scene, frame_idx: u32, jitter_px: Vec2) {
        let size_px = self.targets.size_px;
        self.prepared.update(scene, &self.gpu_scene, size_px, jitter_px, self.tonemap, frame_idx);
        if let Some(rays) = &mut self.rays {
            rays.prepare(scene.hierarchy(), &mut self.prepared.frame);
        }
    }

    /// Call right after submitting what [`Self::encode`] recorded. Returns this submission's number, from 0.
    pub fn submitted(&mut self) -> u64 {
        if let Some(slot) = self.upload_slot.take() {
            self.uploads.recycle(slot);
        }
        if let Some(timestamps) = &self.timestamps {
            timestamps.request(self.n_submitted);
        }
        self.n_submitted += 1;
        self.n_submitted - 1
    }

    /// Submissions so far.
    pub fn n_submitted(&self) -> u64 {
        self.n_submitted
    }

    /// Ticks (begin, end) of each of [`PASSES`] for a submission that has been waited on, each to be read once; `None` where
    /// the adapter has no timestamps.
    pub fn read_timestamps(&self, submission: u64, ticks: &mut Vec<(u64, u64)>) -> Option<Result<f32, GpuError>> {
        self.timestamps.as_ref().map(|t| t.read(submission, ticks).map(|()| t.period_ns()))
    }

    /// Whether passes are timed.
    pub fn has_timestamps(&self) -> bool {
        self.timestamps.is_some()
    }

    /// Whether pass `pass_idx` of [`PASSES`] is recorded for this scene.
    pub fn has_pass(&self, pass_idx: usize) -> bool {
        match PASSES[pass_idx] {
            "gpu.translucent" => self.gpu_scene.counts.n_translucent > 0,
            "gpu.sun" => self.rays.is_some(),
            _ => true,
        }
    }

    /// Makes the targets anew. No frame may be in flight.
    pub fn resize(&mut self, gpu: &Gpu, size_px: [u32; 2]) -> Result<(), GpuError> {
        if size_px == self.targets.size_px {
            return Ok(());
        }
        let has_translucent = self.gpu_scene.counts.n_translucent > 0;
        self.targets = targets::Targets::new(gpu, size_px, self.n_samples, has_translucent, self.ray_mode())?;
        if let Some(sun) = &mut self.sun {
            sun.retarget(gpu, &self.targets);
        }
        self.shade.retarget(gpu, &self.targets);
        self.post.retarget(gpu, &self.gpu_scene, &self.targets);
        Ok(())
    }

    /// The picture: [`PICTURE_FORMAT`], sRGB encoded, rows from the top.
    pub fn picture(&self) -> &wgpu::Texture {
        &self.targets.picture
    }

    /// Pixels.
    pub fn size_px(&self) -> [u32; 2] {
        self.targets.size_px
    }

    /// How many of what the scene has.
    pub fn counts(&self) -> SceneCounts {
        self.gpu_scene.counts
    }

    /// The rays that are traced: off as well where the sun is down or the scene's structures did not fit.
    pub fn ray_mode(&self) -> RayMode {
        self.rays.as_ref().map_or(RayMode::Off, |rays| rays.mode)
    }

    /// What traces the rays.
    pub fn ray_backend(&self) -> Option<RayBackend> {
        self.rays.as_ref().map(|rays| rays.backend)
    }

    /// What the rays run into.
    pub fn ray_stats(&self) -> Option<RayStats> {
        self.rays.as_ref().map(|rays| rays.stats)
    }

    /// CPU time that the frame encoded last spent on the rays' top level, in nanoseconds; `None` without rays.
    pub fn top_level_ns(&self) -> Option<u64> {
        self.rays.as_ref().map(rays::Rays::top_ns)
    }

    /// What was left out and why.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// `None` where none are wanted, where the sun is down, and, with a warning, where they can't be had.
fn make_rays(
    gpu: &Gpu,
    scene: &Scene,
    casters: &rays::Casters,
    options: &RenderOptions,
    warnings: &mut Vec<String>,
) -> Option<rays::Rays> {
    if options.rays == RayMode::Off || sky::sun_has_set(&scene.sun()) || casters.list.is_empty() {
        return None;
    }
    let make = |backend| {
        let options = rays::RayOptions { mode: options.rays, backend, wants_column_map: options.has_column_map };
        rays::Rays::new(gpu, casters, scene.hierarchy(), &scene.sun(), options)
    };
    let made = match (options.ray_backend, RayBackend::best(gpu)) {
        (Some(backend), _) => make(backend),
        // The other one may still have room.
        (None, RayBackend::Query) => make(RayBackend::Query).or_else(|_| make(RayBackend::Bvh)),
        (None, RayBackend::Bvh) => make(RayBackend::Bvh),
    };
    made.map_err(|reason| warnings.push(format!("the sun casts no shadows (as with --rays off): {reason}"))).ok()
}
