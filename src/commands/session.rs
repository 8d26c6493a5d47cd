//! What every command that draws opens: a device, a scene, a renderer, with the defaults that suit the adapter.

use std::cell::Cell;
use std::sync::LazyLock;
use std::time::Instant;

use praxis::frames::{FrameError, FrameLoop, LoopOutcome, Progress, WaitLog, render_frames};
use praxis::gpu::{Gpu, GpuOptions, Readback};
use praxis::measure::FrameLog;
use praxis::pacing::{FrameWait, HybridSleep, ObtainedPriority, set_frame_priority};
use praxis::render::{RayBackend, RayMode, RenderOptions, Renderer, Tonemap, sun_has_set};
use praxis::scene::{LoadOptions, Scene};

use super::png::Rgba;
use super::{places, terminal};
use crate::cli::{RayBackendArg, RaysArg, RenderArgs, ThreadPriorityArg, TonemapArg, WaitArg};

/// Picture size on hardware.
pub const HARDWARE_SIZE: [u32; 2] = [2560, 1440];
/// Picture size on a software adapter, which draws a thousandth as fast.
pub const SOFTWARE_SIZE: [u32; 2] = [640, 360];

/// An open device and the options that it was opened with.
pub struct Session {
    pub gpu: Gpu,
    pub args: RenderArgs,
    is_darkness_said: Cell<bool>,
}

/// A scene ready to be drawn.
pub struct Stage {
    pub scene: Scene,
    pub renderer: Renderer,
    pub options: RenderOptions,
}

/// A stage whose parts belong to others.
#[derive(Clone, Copy)]
pub struct StageView<'a> {
    pub scene: &'a Scene,
    pub renderer: &'a Renderer,
    pub options: &'a RenderOptions,
}

/// Nanoseconds since the program first asked.
pub fn clock_ns() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// How `args` choose an adapter.
pub fn gpu_options(args: &RenderArgs) -> GpuOptions {
    GpuOptions { adapter: args.adapter.clone(), is_validating: args.validate, ..GpuOptions::default() }
}

impl From<TonemapArg> for Tonemap {
    fn from(tonemap: TonemapArg) -> Self {
        match tonemap {
            TonemapArg::Agx => Self::Agx,
            TonemapArg::Aces => Self::Aces,
            TonemapArg::Neutral => Self::Neutral,
            TonemapArg::None => Self::None,
        }
    }
}

impl From<RaysArg> for RayMode {
    fn from(rays: RaysArg) -> Self {
        match rays {
            RaysArg::Off => Self::Off,
            RaysArg::Hard => Self::Hard,
            RaysArg::Edge => Self::Edge,
        }
    }
}

impl From<RayBackendArg> for Option<RayBackend> {
    fn from(backend: RayBackendArg) -> Self {
        match backend {
            RayBackendArg::Auto => None,
            RayBackendArg::Bvh => Some(RayBackend::Bvh),
            RayBackendArg::Query => Some(RayBackend::Query),
        }
    }
}

impl Session {
    /// Opens the device.
    pub fn open(args: &RenderArgs) -> anyhow::Result<Self> {
        Ok(Self::on(Gpu::open(&gpu_options(args))?, args))
    }

    /// On a device that is open already.
    pub fn on(gpu: Gpu, args: &RenderArgs) -> Self {
        Self { gpu, args: args.clone(), is_darkness_said: Cell::new(false) }
    }

    /// The picture's size: asked for, or what suits the adapter, which is then said.
    pub fn size_px(&self) -> [u32; 2] {
        self.args.size.unwrap_or(if self.gpu.is_software() { SOFTWARE_SIZE } else { HARDWARE_SIZE })
    }

    /// Says which defaults a software adapter changed.
    pub fn note_software_defaults(&self, what: &str) {
        if self.gpu.is_software() {
            let name = &self.gpu.info.name;
            terminal::note(self.args.quiet, &format!("{name} is a software adapter: {what}"));
        }
    }

    /// How to wait: `--wait`, or `auto`.
    pub fn wait(&self, auto: FrameWait) -> FrameWait {
        match self.args.wait {
            Some(WaitArg::Fixed(wait)) => wait,
            Some(WaitArg::Auto) | None => auto,
        }
    }

    /// Gives this thread its priority, when everything is open and loaded: threads of the driver must not inherit it. A
    /// refusal is a warning.
    pub fn set_priority(&self, priority: ThreadPriorityArg) -> ObtainedPriority {
        let priority = set_frame_priority(priority.into());
        if let Some(warning) = priority.warning() {
            terminal::note(self.args.quiet, &format!("warning: {warning}"));
        }
        priority
    }

    /// Loads a scene, chooses its camera and uploads it.
    pub fn load(&self, reference: &str, camera: Option<&str>, size_px: [u32; 2]) -> anyhow::Result<Stage> {
        let mut scene = self.load_scene(reference, size_px)?;
        let camera = self.args.camera.as_deref().or(camera);
        let camera = camera.map_or_else(|| scene.default_camera().to_owned(), str::to_owned);
        scene.set_camera(&camera)?;
        scene.update(0);
        self.stage(scene, size_px, self.args.msaa)
    }

    /// Loads a scene and says what is odd about it. The size is for cameras that frame a model.
    pub fn load_scene(&self, reference: &str, size_px: [u32; 2]) -> anyhow::Result<Scene> {
        let load_options = LoadOptions { clock_ns, aspect: size_px[0] as f32 / size_px[1] as f32 };
        let mut scene = Scene::load(reference, &places::scenes(), &load_options)?;
        if let Some(degrees) = self.args.sun_angular_diameter {
            scene.set_sun_angular_diameter_deg(degrees);
        }
        for warning in scene.warnings() {
            terminal::note(self.args.quiet, &format!("warning: {warning}"));
        }
        Ok(scene)
    }

    /// Uploads a scene.
    pub fn stage(&self, mut scene: Scene, size_px: [u32; 2], n_samples: u32) -> anyhow::Result<Stage> {
        let (renderer, options) = self.renderer(&mut scene, size_px, n_samples)?;
        Ok(Stage { scene, renderer, options })
    }

    /// Uploads a scene that the caller keeps.
    pub fn renderer(
        &self,
        scene: &mut Scene,
        size_px: [u32; 2],
        n_samples: u32,
    ) -> anyhow::Result<(Renderer, RenderOptions)> {
        let options = RenderOptions {
            size_px,
            n_samples,
            tonemap: self.args.tonemap.into(),
            exposure_ev100: self.args.exposure,
            rays: self.args.rays().into(),
            ray_backend: self.args.ray_backend.into(),
            has_column_map: self.args.ray_columns,
            n_frames_in_flight: self.args.frames_in_flight as usize,
        };
        let renderer = Renderer::new(&self.gpu, scene, &options)?;
        for warning in renderer.warnings() {
            terminal::note(self.args.quiet, &format!("warning: {warning}"));
        }
        self.note_rays_without_sun(scene, &renderer);
        self.gpu.check_errors()?;
        Ok((renderer, options))
    }

    /// Says once that rays were asked for which nothing sends out.
    fn note_rays_without_sun(&self, scene: &Scene, renderer: &Renderer) {
        let Some(asked @ (RaysArg::Hard | RaysArg::Edge)) = self.args.rays else { return };
        // Where rays can't be had a warning has said why.
        let is_for_nothing = renderer.ray_mode() == RayMode::Off && renderer.warnings().is_empty();
        if is_for_nothing && !self.is_darkness_said.replace(true) {
            let (sun, asked) = (scene.sun(), RayMode::from(asked).name());
            let why = match sun_has_set(&sun) {
                true => format!("its sun is below the horizon (elevation_deg: {})", sun.elevation_deg),
                false => "nothing in it casts a shadow".to_owned(),
            };
            terminal::note(self.args.quiet, &format!("--rays {asked} changes nothing in {}: {why}", scene.name));
        }
    }
}

impl Stage {
    /// Goes on at another size.
    pub fn resize(&mut self, gpu: &Gpu, size_px: [u32; 2]) -> anyhow::Result<()> {
        self.renderer.resize(gpu, size_px)?;
        self.options.size_px = size_px;
        Ok(())
    }

    /// Draws frame `frame_idx` alone and gives its picture.
    pub fn picture_of_frame(&mut self, gpu: &Gpu, frame_idx: u32) -> anyhow::Result<Rgba> {
        let options = FrameLoop {
            n_warmup: 0,
            n_frames: 1,
            first_frame: frame_idx,
            wait: FrameWait::Block,
            hybrid_sleep: HybridSleep::default(),
            times_polls: false,
            n_frames_in_flight: 1,
            submit_blocks: false,
            injection: None,
        };
        self.draw(gpu, &options, &mut FrameLog::default(), &mut WaitLog::with_capacity(1), &mut |_| true)?;
        self.picture(gpu)
    }

    /// Runs the frame loop.
    pub fn draw(
        &mut self,
        gpu: &Gpu,
        options: &FrameLoop,
        log: &mut FrameLog,
        waits: &mut WaitLog,
        progress: &mut dyn Progress,
    ) -> Result<LoopOutcome, FrameError> {
        render_frames(gpu, &mut self.scene, &mut self.renderer, options, log, waits, progress)
    }

    /// Its parts.
    pub fn view(&self) -> StageView<'_> {
        StageView { scene: &self.scene, renderer: &self.renderer, options: &self.options }
    }

    /// The last frame's picture.
    pub fn picture(&self, gpu: &Gpu) -> anyhow::Result<Rgba> {
        self.view().picture(gpu)
    }
}

impl StageView<'_> {
    /// The last frame's picture.
    pub fn picture(&self, gpu: &Gpu) -> anyhow::Result<Rgba> {
        let [width_px, height_px] = self.renderer.size_px();
        let readback = Readback::new(gpu, width_px, height_px);
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
            label: Some("praxis::commands::session::picture"),
        });
        readback.record(&mut encoder, self.renderer.picture());
        gpu.queue.submit([encoder.finish()]);
        let pixels = readback.read(gpu)?;
        gpu.save_pipeline_cache();
        gpu.check_errors()?;
        Ok(Rgba { width_px, height_px, pixels })
    }
}
