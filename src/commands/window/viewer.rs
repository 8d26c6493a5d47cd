//! The open window: scene, camera, clock and overlay, frame by frame.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use praxis::frames::window::{Drawn, Fault, FaultPlan, Recovery, WindowContent, WindowFrame};
use praxis::pacing::ObtainedPriority;
use praxis::scene::Scene;
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

use super::camera::ViewerCamera;
use super::clock::SceneClock;
use super::content::Content;
use super::controls::Controls;
use super::live::{Live, open_device};
use super::overlay::EguiOverlay;
use super::panels::Panels;
use super::record::RunRecorder;
use super::watch::Watch;
use crate::cli::WindowArgs;
use crate::commands::png::{self, Rgba};
use crate::commands::session::SOFTWARE_SIZE;

/// The window's size unless `--size` says otherwise, in logical pixels.
const WINDOW_SIZE: [u32; 2] = [1280, 720];
pub(super) const DEFAULT_SCENE: &str = "town";
/// The title, the memory lines of a recording, and the look for a minimised window, which no platform tells of reliably.
const CHORES_EVERY: Duration = Duration::from_secs(1);
/// Until a window that a fault was injected into is looked at again: no event will tell of its end.
pub(super) const FAULT_EVERY: Duration = Duration::from_millis(10);

/// What the event loop does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Draws another frame as soon as it may start.
    Frame,
    /// Draws another frame then, or when an event asks for it.
    Retry(Instant),
    /// Waits for an event.
    Rest,
    /// Ends.
    Close,
}

/// See the module.
pub struct Viewer {
    pub(super) args: WindowArgs,
    pub(super) window: Arc<Window>,
    pub(super) scene: Scene,
    pub(super) live: Live,
    pub(super) overlay: EguiOverlay,
    pub(super) controls: Controls,
    pub(super) clock: SceneClock,
    /// Over the scene's own camera, once anything moved it.
    pub(super) camera: Option<ViewerCamera>,
    pub(super) cameras: Vec<String>,
    pub(super) start_camera: usize,
    pub(super) camera_idx: usize,
    pub(super) watch: Option<Watch>,
    pub(super) recorder: Option<RunRecorder>,
    /// A click that no frame has looked at yet.
    pub(super) pick_px: Option<[u32; 2]>,
    /// Where to save what the window shows at the next frame.
    pub(super) wanted_picture: Option<PathBuf>,
    pub(super) is_occluded: bool,
    pub(super) may_have_moved: bool,
    /// What the main thread really got of `--thread-priority`.
    pub(super) priority: ObtainedPriority,
    pub(super) recovery: Recovery,
    pub(super) faults: FaultPlan,
    pub(super) n_attempts: u64,
    n_presented: u32,
    frame_started: Option<Instant>,
    chores_done: Instant,
}

impl Viewer {
    /// Opens window and device, loads the scene, and shows the window when all is ready.
    pub fn open(event_loop: &ActiveEventLoop, args: &WindowArgs) -> anyhow::Result<Self> {
        let reference = args.scene.as_deref().unwrap_or(DEFAULT_SCENE);
        let attributes = Window::default_attributes().with_title(format!("Praxis — {reference}")).with_visible(false);
        let attributes = match args.render.size {
            Some([width, height]) => attributes.with_inner_size(PhysicalSize::new(width, height)),
            None => attributes.with_inner_size(LogicalSize::new(WINDOW_SIZE[0], WINDOW_SIZE[1])),
        };
        let window = Arc::new(event_loop.create_window(attributes).context("the window could not be created")?);
        let (session, surface) = open_device(&window, args)?;
        if args.render.size.is_none() && session.gpu.is_software() {
            let [width, height] = SOFTWARE_SIZE;
            session.note_software_defaults(&format!("the window has {width}x{height} pixels"));
            let _ = window.request_inner_size(PhysicalSize::new(width, height));
        }

        let size_px = inner_size_px(&window).map(|side| side.max(1));
        let mut scene = session.load_scene(reference, size_px)?;
        let start = args.render.camera.clone().unwrap_or_else(|| scene.default_camera().to_owned());
        scene.set_camera(&start)?;
        scene.update(0);
        let cameras: Vec<_> = scene.camera_names().into_iter().map(str::to_owned).collect();
        let start_camera = cameras.iter().position(|name| *name == start).unwrap_or(0);
        let live = Live::new(session, surface, &mut scene, args, size_px, refresh_hz(&window))?;
        let priority = live.session.set_priority(args.priority.thread_priority);
        let panels = Panels::new(args.stats, args.keys);
        let overlay = EguiOverlay::new(&live.session.gpu, window.clone(), live.frames.surface().format(), panels);
        let watch = if args.watch { Some(Watch::start(scene.files())?) } else { None };
        window.set_visible(true);
        let mut viewer = Self {
            window,
            scene,
            live,
            overlay,
            controls: Controls::default(),
            clock: if args.paused { SceneClock::paused() } else { SceneClock::default() },
            camera: None,
            cameras,
            start_camera,
            camera_idx: start_camera,
            watch,
            recorder: None,
            pick_px: None,
            wanted_picture: None,
            is_occluded: false,
            may_have_moved: false,
            priority,
            recovery: Recovery::default(),
            faults: args.inject_fault.clone(),
            n_attempts: 0,
            n_presented: 0,
            frame_started: None,
            chores_done: Instant::now(),
            args: args.clone(),
        };
        if let Some(folder) = &args.record {
            viewer.start_recording(Some(folder))?;
        }
        Ok(viewer)
    }

    /// How long it is until the next frame should start.
    pub fn time_to_start(&self) -> Duration {
        self.live.frames.time_to_start()
    }

    /// Sleeps until then.
    pub fn sleep_until_start(&mut self) {
        self.live.frames.sleep_until_start();
    }

    /// Asks the window system for a redraw.
    pub fn request_redraw(&self) {
        self.window.request_redraw();
    }

    /// Waits for the frames in flight. An error if frames that were asked for, and the screenshot with them, are missing.
    pub fn close(&mut self) -> anyhow::Result<()> {
        self.live.frames.drain(&self.live.renderer)?;
        self.live.session.gpu.check_errors()?;
        self.live.session.gpu.save_pipeline_cache();
        self.stop_recording(None)?;
        match (self.args.frames, &self.args.screenshot) {
            (Some(n_frames), Some(path)) if self.n_presented < n_frames => {
                bail!("closed at frame {} of {n_frames}: {} was not written", self.n_presented, path.display())
            }
            _ => Ok(()),
        }
    }

    /// Draws a frame, if one is due and can be seen, and says what comes then. A device that is lost on the way is replaced.
    pub fn redraw(&mut self) -> anyhow::Result<Next> {
        // What a lost device leaves half changed is made anew, and the scene is written by nothing that talks to the device.
        let drawn = std::panic::catch_unwind(AssertUnwindSafe(|| self.try_redraw()));
        let gpu = &self.live.session.gpu;
        let is_lost = if matches!(drawn, Ok(Ok(_))) { gpu.is_lost() } else { gpu.is_found_lost() };
        match drawn {
            Ok(Ok(next)) if !is_lost => Ok(next),
            Ok(Err(error)) if !is_lost => Err(error),
            // wgpu panics where it has no error to return.
            Err(panic) if !is_lost => std::panic::resume_unwind(panic),
            _ => self.replace_device(),
        }
    }

    fn try_redraw(&mut self) -> anyhow::Result<Next> {
        // The window system may ask for a redraw before the limit allows one: after each resize, for instance.
        if !self.live.frames.time_to_start().is_zero() {
            return Ok(Next::Frame);
        }
        let attempt = self.n_attempts;
        self.n_attempts += 1;
        self.inject_faults(attempt)?;
        let has = |fault| self.faults.has(attempt, fault);
        let size_px = if has(Fault::ZeroSize) { [0, 0] } else { inner_size_px(&self.window) };
        let is_occluded = self.is_occluded || has(Fault::Occluded) || has(Fault::Suspended);
        let are_chores_due = self.chores_done.elapsed() >= CHORES_EVERY;
        let is_minimized = has(Fault::Minimised)
            || ((are_chores_due || self.frame_started.is_none()) && self.window.is_minimized() == Some(true));
        if let Some(remedy) = self.recovery.before_frame(size_px, is_occluded, is_minimized) {
            let is_injected = self.faults.at(attempt).next().is_some();
            let next = self.next_after(remedy)?;
            return Ok(if is_injected { Next::Retry(Instant::now() + FAULT_EVERY) } else { next });
        }
        if are_chores_due {
            self.do_chores();
        }
        self.follow_monitor()?;
        self.poll_watch();
        self.live.frames.resize(&self.live.session.gpu, &mut self.live.renderer, size_px)?;
        self.live.frames.begin_frame(&self.live.renderer);
        let elapsed = self.frame_started.replace(Instant::now()).map_or(Duration::ZERO, |started| started.elapsed());
        self.take_picked();
        self.move_camera(elapsed.as_secs_f32());
        self.clock.advance(elapsed.as_secs_f64());
        if self.overlay.panels.is_due() {
            self.overlay.panels.facts = self.facts();
        }
        let drawn = self.draw_frame()?;
        self.after_frame(drawn)
    }

    /// Nobody sees the window: time stands until the next frame.
    pub(super) fn rest(&mut self, next: Next) -> Next {
        self.frame_started = None;
        self.live.frames.rested();
        next
    }

    fn move_camera(&mut self, elapsed_s: f32) {
        let is_turning = self.camera.as_ref().is_some_and(ViewerCamera::is_turning);
        if !self.controls.has_moves() && !is_turning {
            return;
        }
        let height_px = self.live.frames.surface().size_px()[1] as f32;
        let camera =
            self.camera.get_or_insert_with(|| ViewerCamera::new(&self.scene.camera_view(), &Content::of(&self.scene)));
        if self.controls.apply(camera, elapsed_s, height_px) {
            self.overlay.panels.notice(format!("{:.2} m/s", camera.speed()));
        }
        camera.advance(elapsed_s);
        self.scene.override_camera(Some(camera.view()));
    }

    /// A click becomes a pick of its pixel; what an earlier pick found becomes the camera's target.
    fn take_picked(&mut self) {
        if let Some(picked) = self.live.frames.take_picked() {
            let Some(picked) = picked else { return self.overlay.panels.notice("nothing there".into()) };
            let camera = self
                .camera
                .get_or_insert_with(|| ViewerCamera::new(&self.scene.camera_view(), &Content::of(&self.scene)));
            camera.focus(picked.position);
            let text = format!("triangle {}, {:.2} m away", picked.triangle, camera.target_distance());
            self.overlay.panels.notice(text);
        }
        if let Some(click) = self.controls.take_click() {
            self.pick_px = Some([click.x.max(0.0) as u32, click.y.max(0.0) as u32]);
        }
    }

    fn draw_frame(&mut self) -> anyhow::Result<Drawn> {
        let Self { live, scene, overlay, window, .. } = self;
        let is_last = self.args.frames.is_some_and(|n_frames| self.n_presented + 1 >= n_frames);
        let pick_px = if live.frames.is_picking() { None } else { self.pick_px.take() };
        let mut frame = WindowFrame {
            gpu: &live.session.gpu,
            scene,
            renderer: &mut live.renderer,
            overlay,
            frame_idx: self.clock.frame_idx(),
            pick_px,
        };
        let before_present = || window.pre_present_notify();
        let screenshot = self.args.screenshot.as_ref().filter(|_| is_last);
        if screenshot.is_none() && self.wanted_picture.is_none() {
            return Ok(live.frames.draw(&mut frame, before_present)?);
        }
        let (drawn, content) = live.frames.draw_and_read(&mut frame, before_present)?;
        let Some(WindowContent { size_px: [width_px, height_px], pixels }) = content else { return Ok(drawn) };
        let picture = Rgba { width_px, height_px, pixels };
        if let Some(path) = screenshot {
            png::write(path, &picture)?;
        }
        if let Some(path) = self.wanted_picture.take() {
            match png::write(&path, &picture) {
                Ok(()) => self.overlay.panels.notice(format!("wrote {}", path.display())),
                Err(error) => self.fail(&error),
            }
        }
        Ok(drawn)
    }

    fn after_frame(&mut self, drawn: Drawn) -> anyhow::Result<Next> {
        if drawn == Drawn::Presented {
            self.n_presented = self.n_presented.saturating_add(1);
            if self.args.frames.is_some_and(|n_frames| self.n_presented >= n_frames) {
                return Ok(Next::Close);
            }
        }
        if self.live.frames.recent().recording().is_some_and(|recording| recording.is_full()) {
            self.stop_recording(None)?;
        }
        let remedy = self.recovery.after_frame(drawn);
        self.next_after(remedy)
    }

    /// Once a second, between frames.
    fn do_chores(&mut self) {
        self.chores_done = Instant::now();
        self.sample_memory();
        let rate_hz = self.live.frames.recent().rate_hz();
        let (scene, adapter) = (&self.scene.name, &self.live.session.gpu.info.name);
        let recording = if self.recorder.is_some() { " — recording" } else { "" };
        self.window.set_title(&format!("Praxis — {scene} — {adapter} — {rate_hz:.0} fps{recording}"));
    }

    /// The pacer has to learn anew on a display with another rhythm.
    fn follow_monitor(&mut self) -> anyhow::Result<()> {
        if !std::mem::take(&mut self.may_have_moved) {
            return Ok(());
        }
        let refresh_hz = refresh_hz(&self.window);
        if refresh_hz != self.live.frames.refresh_hz() {
            self.live.frames.drain(&self.live.renderer)?;
            self.live.frames.set_refresh_hz(refresh_hz);
        }
        Ok(())
    }
}

pub(super) fn inner_size_px(window: &Window) -> [u32; 2] {
    let size = window.inner_size();
    [size.width, size.height]
}

/// Refreshes a second of the display that the window is on, where the system knows.
fn refresh_hz(window: &Window) -> Option<f64> {
    let millihertz = window.current_monitor()?.refresh_rate_millihertz()?;
    (millihertz > 0).then(|| f64::from(millihertz) / 1e3)
}
