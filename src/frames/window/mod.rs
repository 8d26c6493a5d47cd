//! The window's loop, beside [`render_frames`](super::render_frames): the same stages, and then the window's surface.
//!
//! A frame: input → update → prepare_frame → encode → the overlay's layout → acquire → the surface's pass → submit → present; and
//! then what comes before the next one: the ring's wait, the timestamps of what finished, and the choice of when the next frame
//! starts. The window system hands events over between frames only. So a wait *before* a frame has to be the last thing of the
//! one before it: the events that came meanwhile are then looked at before the frame, and no wait ages input.

mod content;
mod faults;
mod frame;
mod latency;
mod pace;
mod picture_pass;
mod recent;
mod recording;
mod recovery;

use std::time::{Duration, Instant};

use super::FrameError;
use crate::gpu::{Acquired, FRAME_LATENCY, Gpu, WindowSurface, within_limits};
use crate::pacing::{BlockedTime, ClockChain, DeviceWaiter, InFlightRing, current_core, elapsed_ns};
use crate::render::{Picked, Picker, Renderer};
use crate::scene::Scene;

use content::ContentCopy;
pub use faults::{Fault, FaultPlan, UnknownFault};
pub use frame::{Drawn, Overlay, WindowContent, WindowFrame, WindowPacing};
use latency::InputLatency;
use pace::Pace;
pub use pace::{PaceOptions, PacerState};
use picture_pass::PicturePass;
pub use recent::{INPUT_LATENCY, N_RECENT, RecentFrames, RecentLine, RecentSummary, WindowLine};
pub use recording::{MemoryLine, Recorded, Recording};
pub use recovery::{GiveUp, Recovery, Remedy};

/// What stays from frame to frame.
pub struct WindowLoop {
    surface: WindowSurface,
    picture_pass: PicturePass,
    picker: Picker,
    pacing: WindowPacing,
    waiter: DeviceWaiter,
    ring: InFlightRing<wgpu::SubmissionIndex>,
    pace: Pace,
    chain: ClockChain,
    recent: RecentFrames,
    latency: InputLatency,
    picked: Option<Option<Picked>>,
    ticks: Vec<(u64, u64)>,
    frame_started: Option<Instant>,
    presented: Option<Instant>,
    input_ns: u64,
    before: BeforeFrame,
}

/// What was spent since the last frame's present, for the next frame's lines.
#[derive(Clone, Copy, Debug)]
struct BeforeFrame {
    waited_ns: u64,
    /// `None` where the system doesn't tell.
    blocked_ns: Option<u64>,
    slept_ns: u64,
}

/// Nothing; and that is known where the system tells of blocked time at all.
impl Default for BeforeFrame {
    fn default() -> Self {
        Self { waited_ns: 0, blocked_ns: BlockedTime::start().end_ns().map(|_| 0), slept_ns: 0 }
    }
}

impl WindowLoop {
    /// Fits `renderer`'s picture to the surface and makes the surface's pass.
    ///
    /// # Errors
    /// A picture that the GPU can't hold.
    pub fn new(
        gpu: &Gpu,
        scene: &Scene,
        renderer: &mut Renderer,
        surface: WindowSurface,
        pacing: WindowPacing,
    ) -> Result<Self, FrameError> {
        renderer.resize(gpu, surface.size_px())?;
        Ok(Self {
            picture_pass: PicturePass::new(gpu, renderer.picture(), surface.format()),
            picker: Picker::new(gpu, renderer),
            surface,
            pacing,
            waiter: DeviceWaiter::new(&gpu.device, pacing.wait),
            ring: InFlightRing::new(pacing.n_frames_in_flight),
            pace: Pace::new(pacing.pace, pacing.n_frames_in_flight, FRAME_LATENCY + 1),
            chain: ClockChain::new(),
            recent: RecentFrames::new(scene, renderer),
            latency: InputLatency::new(pacing.n_frames_in_flight),
            picked: None,
            ticks: Vec::new(),
            frame_started: None,
            presented: None,
            input_ns: 0,
            before: BeforeFrame::default(),
        })
    }

    /// Goes on with another scene's `renderer`, on the same device and surface. No frame may be in flight
    /// ([`Self::drain`]).
    ///
    /// # Errors
    /// A picture that the GPU can't hold.
    pub fn replace_scene(&mut self, gpu: &Gpu, scene: &Scene, renderer: &mut Renderer) -> Result<(), FrameError> {
        renderer.resize(gpu, self.surface.size_px())?;
        self.picture_pass.retarget(gpu, renderer.picture());
        self.picker = Picker::new(gpu, renderer);
        // The new renderer numbers its submissions from 0, and so do ring and latency from here on.
        self.ring = InFlightRing::new(self.pacing.n_frames_in_flight);
        self.latency = InputLatency::new(self.pacing.n_frames_in_flight);
        self.recent = RecentFrames::new(scene, renderer);
        self.rested();
        Ok(())
    }

    /// How long it is until the next frame should start; zero where it is late already.
    pub fn time_to_start(&self) -> Duration {
        Duration::from_nanos(self.pace.start_ns().saturating_sub(self.pace.clock.now_ns()))
    }

    /// Sleeps until the next frame should start. Events that come meanwhile belong to that frame's input.
    pub fn sleep_until_start(&mut self) {
        self.before.slept_ns += self.pace.clock.sleep_until_ns(self.pace.start_ns());
    }

    /// A frame starts: call before its input is sampled.
    pub fn begin_frame(&mut self, renderer: &Renderer) {
        let started = Instant::now();
        // The same reading for pace and frame time: what the pace promises holds for what is recorded.
        let previous_ns = std::mem::replace(&mut self.input_ns, self.pace.clock.now_ns());
        self.pace.frame_started(self.ring.n_pushed(), self.input_ns);
        if self.frame_started.replace(started).is_some() {
            let frame_time_ns = self.input_ns.saturating_sub(previous_ns);
            self.recent.push(WindowLine::FrameTime, frame_time_ns);
            if self.pace.is_late(frame_time_ns) {
                self.recent.count_missed();
            }
        }
        self.recent.begin_frame(renderer.n_submitted(), current_core());
    }

    /// Draws a frame that was begun and shows it. `before_present` is called right before that. Then waits until there is room
    /// for the next frame, and chooses when that one starts.
    ///
    /// # Errors
    /// The first fault of the GPU or of a wait.
    pub fn draw(&mut self, frame: &mut WindowFrame, before_present: impl FnOnce()) -> Result<Drawn, FrameError> {
        let acquired = self.record_and_submit(frame, None)?;
        self.finish_frame(frame, acquired, before_present)
    }

    /// As [`Self::draw`], and reads back what the window shows: the surface's pass is drawn a second time, into a texture of
    /// ours in the surface's format. The content is `None` if the frame was not shown.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn draw_and_read(
        &mut self,
        frame: &mut WindowFrame,
        before_present: impl FnOnce(),
    ) -> Result<(Drawn, Option<WindowContent>), FrameError> {
        let copy = ContentCopy::new(frame.gpu, &self.surface);
        let acquired = self.record_and_submit(frame, Some(&copy))?;
        let drawn = self.finish_frame(frame, acquired, before_present)?;
        let content = if drawn == Drawn::Presented { Some(copy.read(frame.gpu)?) } else { None };
        Ok((drawn, content))
    }

    /// Fits surface and picture to a window of `size_px`, each side at least 1.
    ///
    /// # Errors
    /// The first fault of the GPU or of a wait.
    pub fn resize(&mut self, gpu: &Gpu, renderer: &mut Renderer, size_px: [u32; 2]) -> Result<(), FrameError> {
        let size_px = within_limits(gpu, size_px);
        if size_px == self.surface.size_px() {
            return Ok(());
        }
        self.drain(renderer)?;
        self.surface.resize(gpu, size_px);
        renderer.resize(gpu, self.surface.size_px())?;
        self.picture_pass.retarget(gpu, renderer.picture());
        self.picker.retarget(gpu, renderer);
        self.pace.reset(self.pace.refresh_hz());
        Ok(gpu.check_errors()?)
    }

    /// The window was not drawn for a while: the time until now belongs to no frame.
    pub fn rested(&mut self) {
        self.frame_started = None;
        self.presented = None;
        self.before = BeforeFrame::default();
        self.pace.reset(self.pace.refresh_hz());
    }

    /// The window is on a display of `refresh_hz` now. No frame may be in flight ([`Self::drain`]).
    pub fn set_refresh_hz(&mut self, refresh_hz: Option<f64>) {
        self.pace.reset(refresh_hz);
    }

    /// Waits for every frame in flight.
    ///
    /// # Errors
    /// The first fault of the GPU or of a wait.
    pub fn drain(&mut self, renderer: &Renderer) -> Result<(), FrameError> {
        self.ring.drain(&mut self.waiter)?;
        self.read_finished(renderer)
    }

    /// The surface, to replace it when it was lost.
    pub fn surface_mut(&mut self) -> &mut WindowSurface {
        &mut self.surface
    }

    /// The surface's format and size.
    pub fn surface(&self) -> &WindowSurface {
        &self.surface
    }

    /// What the last frames took.
    pub fn recent(&mut self) -> &mut RecentFrames {
        &mut self.recent
    }

    /// How the pacer is doing, with `--low-latency`.
    pub fn pacer_state(&self) -> Option<PacerState> {
        self.pace.pacer_state()
    }

    /// The display's refreshes a second, where the system knows.
    pub fn refresh_hz(&self) -> Option<f64> {
        self.pace.refresh_hz()
    }

    /// Frames submitted and not known to be done.
    pub fn n_in_flight(&self) -> usize {
        self.ring.n_in_flight()
    }

    /// What the last pixel that was asked for shows, once it is known; the inner `None` is the background.
    pub fn take_picked(&mut self) -> Option<Option<Picked>> {
        self.picked.take()
    }

    /// Whether a pixel that was asked for is not known yet; a further one is left alone until it is.
    pub fn is_picking(&self) -> bool {
        self.picker.is_busy()
    }

    fn record_and_submit(
        &mut self,
        frame: &mut WindowFrame,
        copy: Option<&ContentCopy>,
    ) -> Result<Acquired, FrameError> {
        let WindowFrame { gpu, scene, renderer, overlay, frame_idx, pick_px } = frame;
        let started = self.frame_started.unwrap_or_else(Instant::now);
        let mut not_work_ns = self.read_chain(WindowLine::ChainStart);

        let stage_started = Instant::now();
        scene.update(*frame_idx);
        self.end(WindowLine::Update, stage_started);
        self.recent.push_systems(scene);
        not_work_ns += self.read_chain(WindowLine::ChainAfterUpdate);

        let stage_started = Instant::now();
        renderer.prepare_frame(scene, *frame_idx);
        self.end(WindowLine::PrepareFrame, stage_started);

        let stage_started = Instant::now();
        let mut encoder = encoder(gpu, "praxis::frames::window::scene");
        renderer.encode(&mut encoder)?;
        if let Some(px) = pick_px.take_if(|_| !self.picker.is_busy()) {
            self.picker.record(gpu, &mut encoder, renderer, &scene.camera_view(), px);
        }
        let scene_commands = encoder.finish();
        self.end(WindowLine::Encode, stage_started);
        self.recent.push_top_level(renderer);

        let stage_started = Instant::now();
        let mut encoder = self::encoder(gpu, "praxis::frames::window::surface");
        overlay.prepare(gpu, &mut encoder, self.surface.size_px(), &mut self.recent);
        let layout_ns = elapsed_ns(stage_started);

        // Everything that needs no texture of the surface is done: this wait comes as late as it can.
        let (acquired, acquire_ns) =
            self.call(WindowLine::Acquire, WindowLine::BlockedAcquire, |surface| surface.acquire(gpu));
        not_work_ns += acquire_ns;

        let stage_started = Instant::now();
        if let Acquired::Texture { texture, .. } = &acquired {
            let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
            self.picture_pass.record(&mut encoder, &view, &**overlay);
            if let Some(copy) = copy {
                self.picture_pass.record(&mut encoder, &copy.view, &**overlay);
                copy.readback.record(&mut encoder, &copy.texture);
            }
        }
        let surface_commands = encoder.finish();
        self.recent.push(WindowLine::Overlay, layout_ns + elapsed_ns(stage_started));

        not_work_ns += self.wait_before_submit()?;
        let blocked = BlockedTime::start();
        let stage_started = Instant::now();
        // Without a texture too: what moved is told only once, and these commands upload it.
        let submission_idx = gpu.queue.submit([scene_commands, surface_commands]);
        let submission = renderer.submitted();
        self.picker.submitted(submission);
        self.end(WindowLine::Submit, stage_started);
        self.end_blocked(WindowLine::BlockedSubmit, blocked);
        self.recent.push(WindowLine::CpuFrame, elapsed_ns(started).saturating_sub(not_work_ns));
        let submitted_ns = self.pace.clock.now_ns();
        self.pace.frame_submitted(self.ring.n_pushed(), submitted_ns);
        self.latency.submitted(submission, self.input_ns, submitted_ns);
        self.read_chain(WindowLine::ChainAfterSubmit);
        if self.ring.push(submission_idx).is_err() {
            unreachable!("a slot was waited for at the end of the frame before");
        }
        Ok(acquired)
    }

    /// The frame's waits, as far as they came before its submit. Gives those within the frame.
    fn wait_before_submit(&mut self) -> Result<u64, FrameError> {
        let before = std::mem::take(&mut self.before);
        let mut newest_ns = 0;
        let mut blocked_ns = before.blocked_ns;
        if self.pacing.submit_blocks {
            let blocked = BlockedTime::start();
            newest_ns = self.ring.wait_newest_before_submit(&mut self.waiter)?;
            blocked_ns = blocked_ns.zip(blocked.end_ns()).map(|(before, newest)| before + newest);
        }
        self.recent.push(WindowLine::Wait, before.waited_ns + newest_ns);
        self.recent.push(WindowLine::Pace, before.slept_ns);
        if let Some(blocked_ns) = blocked_ns {
            self.recent.push(WindowLine::BlockedPoll, blocked_ns);
        }
        Ok(newest_ns)
    }

    fn finish_frame(
        &mut self,
        frame: &WindowFrame,
        acquired: Acquired,
        before_present: impl FnOnce(),
    ) -> Result<Drawn, FrameError> {
        let WindowFrame { gpu, renderer, .. } = frame;
        let drawn = match acquired {
            Acquired::Texture { texture, is_suboptimal } => {
                before_present();
                self.call(WindowLine::Present, WindowLine::BlockedPresent, |_| gpu.queue.present(texture));
                let now = Instant::now();
                if let Some(previous) = self.presented.replace(now) {
                    self.recent.push(WindowLine::PresentInterval, (now - previous).as_nanos() as u64);
                }
                if is_suboptimal {
                    self.drain(renderer)?;
                    self.surface.reconfigure(gpu);
                }
                Drawn::Presented
            }
            Acquired::Nothing(reason) => Drawn::NotShown(reason),
        };
        gpu.check_errors()?;
        let blocked = BlockedTime::start();
        let slot = self.ring.wait_for_slot(&mut self.waiter)?;
        self.before = BeforeFrame { waited_ns: slot.waited_ns, blocked_ns: blocked.end_ns(), slept_ns: 0 };
        self.read_finished(renderer)?;
        self.pace.choose_start();
        Ok(drawn)
    }

    fn read_finished(&mut self, renderer: &Renderer) -> Result<(), FrameError> {
        for finished in self.ring.take_finished() {
            let gpu_ns = match renderer.read_timestamps(finished, &mut self.ticks) {
                Some(period_ns) => self.recent.push_ticks(finished, &self.ticks, period_ns?),
                None => None,
            };
            let latency_ns = match gpu_ns {
                Some(gpu_ns) => {
                    self.pace.frame_finished(finished, gpu_ns);
                    self.latency.drawn(finished, gpu_ns)
                }
                None => self.latency.seen_done(finished, self.pace.clock.now_ns()),
            };
            self.recent.push_input_latency(finished, latency_ns);
            if let Some(picked) = self.picker.take(finished)? {
                self.picked = Some(picked);
            }
        }
        Ok(())
    }

    /// A call that the driver may block in: how long it took, how long of that the thread did not run, and what the pacer
    /// learns from it. Gives the time that it took, in nanoseconds.
    fn call<T>(
        &mut self,
        line: WindowLine,
        blocked_line: WindowLine,
        call: impl FnOnce(&mut WindowSurface) -> T,
    ) -> (T, u64) {
        let started_ns = self.pace.clock.now_ns();
        let blocked = BlockedTime::start();
        let outcome = call(&mut self.surface);
        self.end_blocked(blocked_line, blocked);
        let ended_ns = self.pace.clock.now_ns();
        self.pace.call_ended(started_ns, ended_ns);
        self.recent.push(line, ended_ns - started_ns);
        (outcome, ended_ns - started_ns)
    }

    fn end_blocked(&mut self, line: WindowLine, blocked: BlockedTime) {
        if let Some(blocked_ns) = blocked.end_ns() {
            self.recent.push(line, blocked_ns);
        }
    }

    fn read_chain(&mut self, line: WindowLine) -> u64 {
        let chain_ns = self.chain.read_ns();
        self.recent.push(line, chain_ns);
        chain_ns
    }

    fn end(&mut self, line: WindowLine, stage_started: Instant) {
        self.recent.push(line, elapsed_ns(stage_started));
    }
}

fn encoder(gpu: &Gpu, label: &str) -> wgpu::CommandEncoder {
    gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
}
