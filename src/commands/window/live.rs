//! Everything that lives on a device: made together, and made anew together when the device is lost.

use std::sync::Arc;

use praxis::frames::window::{PaceOptions, WindowLoop, WindowPacing};
use praxis::gpu::{Gpu, PresentOptions, SurfaceError, WindowSurface};
use praxis::pacing::{FrameWait, detect_blocking_submit};
use praxis::render::{RenderOptions, Renderer};
use praxis::scene::Scene;
use winit::window::Window;

use crate::cli::WindowArgs;
use crate::commands::session::{Session, gpu_options};
use crate::commands::terminal;

/// See the module.
pub struct Live {
    pub session: Session,
    pub renderer: Renderer,
    pub options: RenderOptions,
    pub frames: WindowLoop,
    pub pacing: WindowPacing,
}

/// A device that can draw into the window, and the surface to draw on.
pub fn open_device(window: &Arc<Window>, args: &WindowArgs) -> anyhow::Result<(Session, wgpu::Surface<'static>)> {
    let options = gpu_options(&args.render);
    let instance = praxis::gpu::instance(&options);
    let surface =
        instance.create_surface(window.clone()).map_err(|error| SurfaceError::of_creation(error, &instance))?;
    let gpu = Gpu::open_on(instance.clone(), &options, Some(&surface))
        .map_err(|error| SurfaceError::of_opening(error, &instance))?;
    Ok((Session::on(gpu, &args.render), surface))
}

impl Live {
    /// Uploads the scene and makes the loop that shows it in a window of `size_px`.
    pub fn new(
        session: Session,
        surface: wgpu::Surface<'static>,
        scene: &mut Scene,
        args: &WindowArgs,
        size_px: [u32; 2],
        refresh_hz: Option<f64>,
    ) -> anyhow::Result<Self> {
        let (mut renderer, options) = session.renderer(scene, size_px, args.render.msaa)?;
        let is_paced = args.fps_limit.is_some() && !args.low_latency;
        let present = PresentOptions { preference: args.present, is_paced };
        let surface = WindowSurface::new(&session.gpu, surface, size_px, present)?;
        if let Some(note) = args.present.note(surface.present_mode()) {
            terminal::note(args.render.quiet, &note);
        }
        let pacing = WindowPacing {
            wait: session.wait(FrameWait::Block),
            n_frames_in_flight: args.render.frames_in_flight as usize,
            submit_blocks: detect_blocking_submit(&session.gpu.device, &session.gpu.queue)?.blocks,
            pace: PaceOptions {
                fps_limit: args.fps_limit,
                is_low_latency: args.low_latency,
                refresh_hz,
                is_vsync: surface.present_mode() == wgpu::PresentMode::Fifo,
            },
        };
        let frames = WindowLoop::new(&session.gpu, scene, &mut renderer, surface, pacing)?;
        session.gpu.check_errors()?;
        Ok(Self { session, renderer, options, frames, pacing })
    }

    /// Makes `scene` what is shown, in place of another. If anything about it is at fault, the old one stays.
    pub fn replace_scene(&mut self, scene: &mut Scene, args: &WindowArgs) -> anyhow::Result<()> {
        let gpu = &self.session.gpu;
        // Faults of shaders and of sizes are told by wgpu afterwards; they must not count as the window's own.
        let scopes = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal]
            .map(|filter| gpu.device.push_error_scope(filter));
        let made = self.session.renderer(scene, self.frames.surface().size_px(), args.render.msaa);
        let faults = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop()));
        let first = faults.collect::<Vec<_>>().into_iter().next();
        let (renderer, options) = made?;
        if let Some(fault) = first {
            anyhow::bail!("{fault}");
        }
        self.frames.drain(&self.renderer)?;
        self.renderer = renderer;
        self.options = options;
        self.frames.replace_scene(&self.session.gpu, scene, &mut self.renderer)?;
        Ok(())
    }

    /// Takes a new surface of the window in place of one that is lost or was given up.
    pub fn replace_surface(&mut self, window: &Arc<Window>) -> anyhow::Result<()> {
        self.frames.drain(&self.renderer)?;
        self.frames.surface_mut().release();
        let gpu = &self.session.gpu;
        let surface = gpu.instance.create_surface(window.clone()).map_err(SurfaceError::Create)?;
        self.frames.surface_mut().replace(gpu, surface)?;
        Ok(())
    }
}
