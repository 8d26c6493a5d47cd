//! What events and keys do to the viewer.

use glam::Vec2;
use winit::event::{ElementState, MouseScrollDelta, WindowEvent};
use winit::keyboard::PhysicalKey;
use winit::window::CursorGrabMode;

use super::controls::{Command, Mode};
use super::viewer::{Next, Viewer};
use crate::commands::bench::default_name;

/// Pixels that count as one notch, for touch pads.
const PX_PER_NOTCH: f64 = 40.0;

impl Viewer {
    /// Takes an event; says what to do next if it changes that.
    pub fn window_event(&mut self, event: WindowEvent) -> anyhow::Result<Option<Next>> {
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => return Ok(Some(Next::Close)),
            WindowEvent::RedrawRequested => return self.redraw().map(Some),
            // Sizes are read when the next frame starts: of a storm of them only the last counts.
            WindowEvent::Resized(_) => return Ok(Some(Next::Frame)),
            WindowEvent::ScaleFactorChanged { .. } | WindowEvent::Moved(_) => {
                self.may_have_moved = true;
                return Ok(Some(Next::Frame));
            }
            WindowEvent::Occluded(is_occluded) => {
                self.is_occluded = is_occluded;
                return Ok(Some(Next::Frame));
            }
            WindowEvent::Focused(false) => {
                self.controls.release_all();
                self.set_looking(false);
            }
            WindowEvent::Focused(true) => return Ok(Some(Next::Frame)),
            WindowEvent::DroppedFile(path) => {
                self.open_dropped(&path);
                return Ok(Some(Next::Frame));
            }
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

    fn command(&mut self, command: Command) -> anyhow::Result<Option<Next>> {
        match command {
            Command::Quit => return Ok(Some(Next::Close)),
            Command::NextCamera => self.look_through((self.camera_idx + 1) % self.cameras.len().max(1))?,
            Command::Camera(camera_idx) => self.look_through(camera_idx)?,
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
            Command::Screenshot => {
                self.wanted_picture = Some(format!("{}.png", default_name(&self.scene.name)).into());
            }
            Command::ToggleRecording => self.toggle_recording()?,
        }
        Ok(None)
    }

    fn look_through(&mut self, camera_idx: usize) -> anyhow::Result<()> {
        let Some(name) = self.cameras.get(camera_idx) else {
            self.overlay.panels.notice(format!("the scene has {} cameras", self.cameras.len()));
            return Ok(());
        };
        self.scene.set_camera(name)?;
        self.scene.override_camera(None);
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

    /// Lines above the overlay's numbers: adapter, picture, pacing.
    pub(super) fn facts(&mut self) -> Vec<String> {
        let info = &self.live.session.gpu.info;
        let [width, height] = self.live.frames.surface().size_px();
        let counts = self.live.renderer.counts();
        let camera = match (&self.camera, self.controls.mode()) {
            (None, _) => self.cameras.get(self.camera_idx).map_or("", String::as_str),
            (Some(_), Mode::Orbit) => "orbit",
            (Some(_), Mode::Fly) => "fly",
        };
        let paused = if self.clock.is_paused() { ", paused" } else { "" };
        let mut facts = vec![
            format!("{} · {:?} · {}", info.name, info.backend, info.driver_info),
            format!(
                "{width}×{height}, {} samples · frame {}{paused} · camera {camera} · {} instances, {} triangles",
                self.live.options.n_samples,
                self.clock.frame_idx(),
                counts.n_instances,
                counts.n_triangles,
            ),
            self.pacing_fact(),
        ];
        if let Some(n_frames) = self.live.frames.recent().recording().map(|recording| recording.n_frames()) {
            facts.push(format!("recording: {n_frames} frames (R ends it)"));
        }
        facts
    }

    fn pacing_fact(&mut self) -> String {
        let live = &mut self.live;
        let pacing = live.pacing;
        let submit = if pacing.submit_blocks { ", submit blocks" } else { "" };
        let mode = praxis::gpu::present_mode_name(live.frames.surface().present_mode());
        let limit = pacing.pace.fps_limit.map_or(String::new(), |limit| format!(", at most {limit} fps"));
        let refresh = live.frames.refresh_hz().map_or(String::new(), |hz| format!(" at {hz:.0} Hz"));
        let low_latency = live.frames.pacer_state().map_or(String::new(), |state| {
            let expected =
                state.expected_latency_ns.map_or(String::new(), |ns| format!(", {:.1} ms expected", ns as f64 * 1e-6));
            format!(" · low latency: {:?}, margin {:.1} ms{expected}", state.phase, state.margin_ns as f64 * 1e-6)
        });
        let (n_in_flight, rate_hz) = (live.frames.n_in_flight(), live.frames.recent().rate_hz());
        format!(
            "{rate_hz:.1} fps, {} missed · {mode}{refresh}{limit} · {n_in_flight} of {} in flight, {} wait{submit}{low_latency}",
            live.frames.recent().n_missed(),
            pacing.n_frames_in_flight,
            pacing.wait,
        )
    }
}
