//! The open window: scene, camera, clock and overlay, frame by frame.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use glam::Vec2;
use praxis::frames::window::{Drawn, WindowContent, WindowLoop, WindowPacing};
use praxis::gpu::{Gpu, NoTexture, SurfaceError, WindowSurface};
use praxis::pacing::{FrameWait, detect_blocking_submit};
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event::{ElementState, MouseScrollDelta, WindowEvent};
use winit::event_loop::ActiveEventLoop;
use winit::keyboard::PhysicalKey;
use winit::window::{CursorGrabMode, Window};

use super::camera::ViewerCamera;
use super::clock::SceneClock;
use super::content::Content;
use super::controls::{Command, Controls, Mode};
use super::overlay::EguiOverlay;
use crate::cli::WindowArgs;
use crate::commands::png::{self, Rgba};
use crate::commands::session::{SOFTWARE_SIZE, Session, Stage, gpu_options};

/// The window's size unless `--size` says otherwise, in logical pixels.
const WINDOW_SIZE: [u32; 2] = [1280, 720];
const DEFAULT_SCENE: &str = "town";
/// The title and the look for a minimised window, which no platform tells of reliably.
const TITLE_EVERY: Duration = Duration::from_secs(1);
/// Until a window that nobody sees is tried again.
const UNSEEN_EVERY: Duration = Duration::from_millis(250);
/// Until a surface that gave no texture is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(10);
/// Surfaces lost one after the other before it is given up.
const MOST_LOST: u32 = 8;
/// Pixels that count as one notch, for touch pads.
const PX_PER_NOTCH: f64 = 40.0;

/// What the event loop does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Draws another frame.
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
    window: Arc<Window>,
    session: Session,
    stage: Stage,
    frames: WindowLoop,
    overlay: EguiOverlay,
    controls: Controls,
    clock: SceneClock,
    /// Over the scene's own camera, once anything moved it.
    camera: Option<ViewerCamera>,
    cameras: Vec<String>,
    start_camera: usize,
    camera_idx: usize,
    pacing: WindowPacing,
    n_presented: u32,
    n_frames: Option<u32>,
    screenshot: Option<PathBuf>,
    n_lost: u32,
    is_occluded: bool,
    frame_started: Option<Instant>,
    titled: Instant,
}

impl Viewer {
    /// Opens window and device, loads the scene, and shows the window when all is ready.
    pub fn open(event_loop: &ActiveEventLoop, args: &WindowArgs) -> anyhow::Result<Self> {
        let scene = args.scene.as_deref().unwrap_or(DEFAULT_SCENE);
        let attributes = Window::default_attributes().with_title(format!("Praxis — {scene}")).with_visible(false);
        let attributes = match args.render.size {
            Some([width, height]) => attributes.with_inner_size(PhysicalSize::new(width, height)),
            None => attributes.with_inner_size(LogicalSize::new(WINDOW_SIZE[0], WINDOW_SIZE[1])),
        };
        let window = Arc::new(event_loop.create_window(attributes).context("the window could not be created")?);

        let options = gpu_options(&args.render);
        let instance = praxis::gpu::instance(&options);
        let surface =
            instance.create_surface(window.clone()).map_err(|error| SurfaceError::of_creation(error, &instance))?;
        let gpu = Gpu::open_on(instance.clone(), &options, Some(&surface))
            .map_err(|error| SurfaceError::of_opening(error, &instance))?;
        let session = Session { gpu, args: args.render.clone() };
        if args.render.size.is_none() && session.gpu.is_software() {
            let [width, height] = SOFTWARE_SIZE;
            session.note_software_defaults(&format!("the window has {width}x{height} pixels"));
            let _ = window.request_inner_size(PhysicalSize::new(width, height));
        }

        let size_px = inner_size_px(&window).map(|side| side.max(1));
        let mut stage = session.load(scene, None, size_px)?;
        let surface = WindowSurface::new(&session.gpu, surface, size_px)?;
        let pacing = WindowPacing {
            wait: session.wait(FrameWait::Block),
            n_frames_in_flight: args.render.frames_in_flight as usize,
            submit_blocks: detect_blocking_submit(&session.gpu.device, &session.gpu.queue)?.blocks,
        };
        session.set_priority(args.priority.thread_priority);
        let frames = WindowLoop::new(&session.gpu, &stage.scene, &mut stage.renderer, surface, pacing)?;
        session.gpu.check_errors()?;
        let mut overlay = EguiOverlay::new(&session.gpu, window.clone(), frames.surface().format());
        overlay.panels.shows_stats = args.stats;

        let cameras: Vec<_> = stage.scene.camera_names().into_iter().map(str::to_owned).collect();
        let start = args.render.camera.as_deref().unwrap_or_else(|| stage.scene.default_camera());
        let start_camera = cameras.iter().position(|name| name == start).unwrap_or(0);
        window.set_visible(true);
        Ok(Self {
            window,
            session,
            stage,
            frames,
            overlay,
            controls: Controls::default(),
            clock: SceneClock::default(),
            camera: None,
            cameras,
            start_camera,
            camera_idx: start_camera,
            pacing,
            n_presented: 0,
            n_frames: args.frames,
            screenshot: args.screenshot.clone(),
            n_lost: 0,
            is_occluded: false,
            frame_started: None,
            titled: Instant::now(),
        })
    }

    /// Asks the window system for a redraw.
    pub fn request_redraw(&self) {
        self.window.request_redraw();
    }

    /// Takes an event; says what to do next if it changes that.
    pub fn window_event(&mut self, event: WindowEvent) -> anyhow::Result<Option<Next>> {
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => return Ok(Some(Next::Close)),
            WindowEvent::RedrawRequested => return self.redraw().map(Some),
            // Sizes are read when the next frame starts: of a storm of them only the last counts.
            WindowEvent::Resized(_) | WindowEvent::ScaleFactorChanged { .. } => return Ok(Some(Next::Frame)),
            WindowEvent::Occluded(is_occluded) => {
                self.is_occluded = is_occluded;
                return Ok(Some(Next::Frame));
            }
            WindowEvent::Focused(false) => {
                self.controls.release_all();
                self.set_looking(false);
            }
            WindowEvent::Focused(true) => return Ok(Some(Next::Frame)),
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => {
                if let PhysicalKey::Code(key) = event.physical_key
                    && let Some(command) = self.controls.key(key, event.state == ElementState::Pressed, event.repeat)
                {
                    return self.command(command);
                }
            }
            WindowEvent::MouseInput { state, button, .. } => {
                self.controls.button(button, state == ElementState::Pressed);
            }
            WindowEvent::CursorMoved { position, .. } => {
                self.controls.cursor_moved(Vec2::new(position.x as f32, position.y as f32));
            }
            WindowEvent::MouseWheel { delta, .. } => self.controls.wheel(match delta {
                MouseScrollDelta::LineDelta(_, y) => y,
                MouseScrollDelta::PixelDelta(position) => (position.y / PX_PER_NOTCH) as f32,
            }),
            _ => {}
        }
        Ok(None)
    }

    /// The mouse itself moved, wherever the cursor is.
    pub fn mouse_moved(&mut self, (x, y): (f64, f64)) {
        self.controls.mouse_moved(Vec2::new(x as f32, y as f32));
    }

    /// Waits for the frames in flight. An error if frames that were asked for, and the screenshot with them, are missing.
    pub fn close(&mut self) -> anyhow::Result<()> {
        self.frames.drain(&self.session.gpu, &self.stage.renderer)?;
        self.session.gpu.check_errors()?;
        self.session.gpu.save_pipeline_cache();
        match (self.n_frames, &self.screenshot) {
            (Some(n_frames), Some(path)) if self.n_presented < n_frames => {
                bail!("closed at frame {} of {n_frames}: {} was not written", self.n_presented, path.display())
            }
            _ => Ok(()),
        }
    }

    fn command(&mut self, command: Command) -> anyhow::Result<Option<Next>> {
        match command {
            Command::Quit => return Ok(Some(Next::Close)),
            Command::NextCamera => self.look_through((self.camera_idx + 1) % self.cameras.len().max(1))?,
            Command::Home => self.look_through(self.start_camera)?,
            Command::TogglePause => {
                let text = if self.clock.toggle_pause() { "paused" } else { "running" };
                self.overlay.panels.notice(text.into());
            }
            Command::Step => {
                self.clock.step();
                self.overlay.panels.notice(format!("paused at frame {}", self.clock.frame_idx()));
            }
            Command::ToggleStats => self.overlay.panels.shows_stats ^= true,
            Command::ToggleHelp => self.overlay.panels.shows_help ^= true,
            Command::ToggleLook => self.set_looking(!self.controls.is_looking()),
        }
        Ok(None)
    }

    fn look_through(&mut self, camera_idx: usize) -> anyhow::Result<()> {
        let Some(name) = self.cameras.get(camera_idx) else { return Ok(()) };
        self.stage.scene.set_camera(name)?;
        self.stage.scene.override_camera(None);
        self.camera_idx = camera_idx;
        self.camera = None;
        self.overlay.panels.notice(format!("camera {name}"));
        Ok(())
    }

    /// Mouse look needs the mouse for itself; where the system refuses that, it still works up to the screen's edge.
    fn set_looking(&mut self, is_looking: bool) {
        if is_looking == self.controls.is_looking() {
            return;
        }
        self.controls.set_looking(is_looking);
        let grab = |mode| self.window.set_cursor_grab(mode);
        let _ = if is_looking {
            grab(CursorGrabMode::Locked).or_else(|_| grab(CursorGrabMode::Confined))
        } else {
            grab(CursorGrabMode::None)
        };
        self.window.set_cursor_visible(!is_looking);
        let text = if is_looking { "mouse look on: W A S D to fly, Tab ends it" } else { "mouse look off" };
        self.overlay.panels.notice(text.into());
    }

    fn redraw(&mut self) -> anyhow::Result<Next> {
        let size_px = inner_size_px(&self.window);
        if self.is_occluded || size_px.contains(&0) {
            return Ok(self.rest(Next::Rest));
        }
        let is_title_due = self.titled.elapsed() >= TITLE_EVERY;
        if (is_title_due || self.frame_started.is_none()) && self.window.is_minimized() == Some(true) {
            return Ok(self.rest(Next::Retry(Instant::now() + UNSEEN_EVERY)));
        }
        if is_title_due {
            self.update_title();
        }
        self.frames.resize(&self.session.gpu, &mut self.stage.renderer, size_px)?;
        let elapsed = self.frame_started.replace(Instant::now()).map_or(Duration::ZERO, |started| started.elapsed());
        self.move_camera(elapsed.as_secs_f32());
        self.clock.advance(elapsed.as_secs_f64());
        if self.overlay.panels.is_due() {
            self.overlay.panels.facts = self.facts();
        }
        let drawn = self.draw_frame()?;
        self.after_frame(drawn)
    }

    /// Nobody sees the window: time stands until the next frame.
    fn rest(&mut self, next: Next) -> Next {
        self.frame_started = None;
        self.frames.rested();
        next
    }

    fn move_camera(&mut self, elapsed_s: f32) {
        if !self.controls.has_moves() {
            return;
        }
        let camera = self
            .camera
            .get_or_insert_with(|| ViewerCamera::new(&self.stage.scene.camera_view(), &Content::of(&self.stage.scene)));
        if self.controls.apply(camera, elapsed_s, self.frames.surface().size_px()[1] as f32) {
            self.overlay.panels.notice(format!("{:.2} m/s", camera.speed()));
        }
        self.stage.scene.override_camera(Some(camera.view()));
    }

    fn draw_frame(&mut self) -> anyhow::Result<Drawn> {
        let Self { session, stage, frames, overlay, window, .. } = self;
        let (gpu, scene, renderer) = (&session.gpu, &mut stage.scene, &mut stage.renderer);
        let frame_idx = self.clock.frame_idx();
        let before_present = || window.pre_present_notify();
        let is_last = self.n_frames.is_some_and(|n_frames| self.n_presented + 1 >= n_frames);
        let (Some(path), true) = (&self.screenshot, is_last) else {
            return Ok(frames.draw(gpu, scene, renderer, frame_idx, overlay, before_present)?);
        };
        let (drawn, content) = frames.draw_and_read(gpu, scene, renderer, frame_idx, overlay, before_present)?;
        if let Some(WindowContent { size_px: [width_px, height_px], pixels }) = content {
            png::write(path, &Rgba { width_px, height_px, pixels })?;
        }
        Ok(drawn)
    }

    fn after_frame(&mut self, drawn: Drawn) -> anyhow::Result<Next> {
        let now = Instant::now();
        match drawn {
            Drawn::Presented => {
                self.n_lost = 0;
                self.n_presented = self.n_presented.saturating_add(1);
                let is_done = self.n_frames.is_some_and(|n_frames| self.n_presented >= n_frames);
                return Ok(if is_done { Next::Close } else { Next::Frame });
            }
            Drawn::NotShown(NoTexture::Timeout | NoTexture::Outdated) => return Ok(Next::Retry(now + RETRY_AFTER)),
            Drawn::NotShown(NoTexture::Occluded) => return Ok(self.rest(Next::Retry(now + UNSEEN_EVERY))),
            Drawn::NotShown(NoTexture::Refused) => bail!("the window's surface gives no texture to draw into"),
            Drawn::NotShown(NoTexture::Lost) => {}
        }
        self.n_lost += 1;
        if self.n_lost > MOST_LOST {
            bail!("the window's surface is lost again and again; is the display still there?");
        }
        let gpu = &self.session.gpu;
        self.frames.drain(gpu, &self.stage.renderer)?;
        let surface = gpu.instance.create_surface(self.window.clone()).map_err(SurfaceError::Create)?;
        self.frames.surface_mut().replace(gpu, surface)?;
        Ok(Next::Retry(now + RETRY_AFTER))
    }

    fn update_title(&mut self) {
        self.titled = Instant::now();
        let rate_hz = self.frames.recent().rate_hz();
        let (scene, adapter) = (&self.stage.scene.name, &self.session.gpu.info.name);
        self.window.set_title(&format!("Praxis — {scene} — {adapter} — {rate_hz:.0} fps"));
    }

    fn facts(&mut self) -> Vec<String> {
        let info = &self.session.gpu.info;
        let [width, height] = self.frames.surface().size_px();
        let counts = self.stage.renderer.counts();
        let camera = match (&self.camera, self.controls.mode()) {
            (None, _) => self.cameras.get(self.camera_idx).map_or("", String::as_str),
            (Some(_), Mode::Orbit) => "orbit",
            (Some(_), Mode::Fly) => "fly",
        };
        let WindowPacing { wait, n_frames_in_flight, submit_blocks } = self.pacing;
        let submit = if submit_blocks { ", submit blocks" } else { "" };
        let paused = if self.clock.is_paused() { ", paused" } else { "" };
        let rate_hz = self.frames.recent().rate_hz();
        vec![
            format!("{} · {:?} · {}", info.name, info.backend, info.driver_info),
            format!(
                "{width}×{height}, {} samples · {rate_hz:.1} fps · frame {}{paused} · camera {camera}",
                self.stage.options.n_samples,
                self.clock.frame_idx()
            ),
            format!(
                "{n_frames_in_flight} in flight, {wait} wait{submit} · {} instances, {} triangles, {} lights",
                counts.n_instances, counts.n_triangles, counts.n_lights
            ),
        ]
    }
}

fn inner_size_px(window: &Window) -> [u32; 2] {
    let size = window.inner_size();
    [size.width, size.height]
}
