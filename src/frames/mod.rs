//! The loop that joins scene, renderer and pacing, for `bench` and `capture`.
//!
//! A frame: wait for the oldest → read finished timestamps → update systems (and propagate transforms) → prepare_frame →
//! encode → submit. No wall clock moves the scene: motion is a function of the frame index.

pub mod aliasing;
mod inject;
mod recorder;
mod usage;
mod waits;
pub mod window;

use std::time::Instant;

use crate::gpu::{Gpu, GpuError};
use crate::measure::{BadTimestamps, FrameLog, ThreadCounts};
use crate::pacing::{
    BlockedTime, ClockChain, DeviceWaiter, FrameWait, HybridOutcomes, HybridSleep, InFlightRing, ThreadCounters,
    WaitError, current_core,
};
use crate::render::Renderer;
use crate::scene::Scene;

pub use inject::{Injection, UnknownInjection};
use recorder::{Recorder, Stage};
pub use usage::LoopUsage;
pub use waits::{Overshoots, TimedWait, WaitLog};

/// How many frames to draw and how to wait for them.
#[derive(Clone, Copy, Debug)]
pub struct FrameLoop {
    /// Drawn first, from frame index 0 on, and not recorded.
    pub n_warmup: u32,
    /// Drawn after that, from frame index `first_frame` on, and recorded.
    pub n_frames: u32,
    /// The first recorded frame's index.
    pub first_frame: u32,
    /// How to wait for the oldest frame in flight.
    pub wait: FrameWait,
    /// How a Hybrid wait blocks.
    pub hybrid_sleep: HybridSleep,
    /// Whether every poll is timed, so that what the last one of a wait takes is a line of its own.
    pub times_polls: bool,
    /// Frames submitted but not finished when the next one starts, at most.
    pub n_frames_in_flight: usize,
    /// Whether the adapter's submit blocks until the submission before it is done: then the newest submission is waited for
    /// just before, so that the wait is booked as one.
    pub submit_blocks: bool,
    /// A known slowdown of one stage, to try comparing on.
    pub injection: Option<Injection>,
}

/// What became of the loop.
#[derive(Clone, Debug, Default)]
pub struct LoopOutcome {
    /// Recorded frames that were finished.
    pub n_frames: u32,
    /// Whether `is_stopped` ended it.
    pub is_interrupted: bool,
    /// Timestamps that can't be times.
    pub bad_timestamps: BadTimestamps,
    /// What the processor counted of this thread over the recorded frames, waits and clock chain included.
    pub thread_counts: Option<ThreadCounts>,
    /// Which counts are missing, and why.
    pub counts_missing: Option<String>,
    /// What the recorded frames used.
    pub usage: LoopUsage,
    /// How the waits for the recorded frames ended, if they are Hybrid.
    pub hybrid: Option<HybridOutcomes>,
}

/// Why a frame could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The GPU, its driver or our use of it.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// Waiting for a frame.
    #[error(transparent)]
    Wait(#[from] WaitError),
}

/// What the loop tells and asks after each frame.
pub trait Progress {
    /// `n_done` frames of all (warm-up counted) were submitted. Returns whether to go on.
    fn frame_submitted(&mut self, n_done: u32) -> bool;
}

impl<F: FnMut(u32) -> bool> Progress for F {
    fn frame_submitted(&mut self, n_done: u32) -> bool {
        self(n_done)
    }
}

/// Draws frames and records what each of them cost into `log`, and when it was submitted and waited for into `waits`.
///
/// # Errors
/// The first fault of the GPU or of a wait. What was recorded until then stays in `log`.
pub fn render_frames(
    gpu: &Gpu,
    scene: &mut Scene,
    renderer: &mut Renderer,
    options: &FrameLoop,
    log: &mut FrameLog,
    waits: &mut WaitLog,
    progress: &mut dyn Progress,
) -> Result<LoopOutcome, FrameError> {
    let mut recorder = Recorder::new(log, waits, scene, renderer);
    let mut waiter = waiter(gpu, options);
    let mut ring = InFlightRing::new(options.n_frames_in_flight);
    let mut chain = ClockChain::new();
    let mut counters = ThreadCounters::open();
    let mut outcome = LoopOutcome { counts_missing: counters.missing().map(str::to_owned), ..LoopOutcome::default() };
    let n_all = options.n_warmup + options.n_frames;
    let slow_down = |stage| options.injection.iter().for_each(|injection| injection.slow_down(stage));
    for n_done in 0..n_all {
        let is_recorded = n_done >= options.n_warmup;
        let frame_idx = if is_recorded { options.first_frame + n_done - options.n_warmup } else { n_done };
        if n_done == options.n_warmup {
            counters.start();
            outcome.usage.begin(gpu);
            outcome.hybrid = waiter.hybrid_outcomes();
        }
        recorder.turn();
        let frame_started = Instant::now();
        let (slot, wait) = TimedWait::time(&mut ring, |ring| ring.wait_for_slot(&mut waiter))?;
        if is_recorded {
            recorder.begin_frame(frame_started, current_core());
        }
        recorder.waited_for_slot(slot.waited_ns, &wait);
        recorder.last_poll(waiter.last_poll_ns().filter(|_| slot.waited_ns > 0));
        if is_recorded {
            recorder.work_begins();
            recorder.chain_start(chain.read_ns());
        }

        for finished in ring.take_finished() {
            recorder.read_timestamps(renderer, finished, options.n_warmup)?;
        }
        recorder.start();
        scene.update(frame_idx);
        slow_down(Stage::Update);
        recorder.end(Stage::Update);
        if is_recorded {
            recorder.systems(scene);
            recorder.chain_after_update(chain.read_ns());
        }

        recorder.start();
        renderer.prepare_frame(scene, frame_idx);
        slow_down(Stage::PrepareFrame);
        recorder.end(Stage::PrepareFrame);

        recorder.start();
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("praxis::frames::render_frames") });
        renderer.encode(&mut encoder)?;
        let commands = encoder.finish();
        slow_down(Stage::Encode);
        recorder.end(Stage::Encode);
        recorder.top_level(renderer);

        if options.submit_blocks {
            let (waited_ns, wait) = TimedWait::time(&mut ring, |ring| ring.wait_newest_before_submit(&mut waiter))?;
            recorder.waited_before_submit(waited_ns, &wait);
        }
        let call = BlockedTime::start();
        recorder.start();
        let submission = gpu.queue.submit([commands]);
        renderer.submitted();
        slow_down(Stage::Submit);
        recorder.end(Stage::Submit);
        recorder.submitted(call.end_ns());
        gpu.check_errors()?;
        if ring.push(submission).is_err() {
            unreachable!("a slot was waited for");
        }
        if is_recorded {
            recorder.chain_after_submit(chain.read_ns());
            recorder.end_frame();
            outcome.n_frames += 1;
        }
        if !progress.frame_submitted(n_done + 1) {
            outcome.is_interrupted = n_done + 1 < n_all;
            break;
        }
    }
    outcome.thread_counts = counters.read();
    recorder.turn();
    outcome.usage.end(gpu);
    outcome.hybrid = waiter.hybrid_outcomes().zip(outcome.hybrid).map(|(ended, began)| ended.since(began));
    ring.drain(&mut waiter)?;
    recorder.drained();
    for finished in ring.take_finished() {
        recorder.read_timestamps(renderer, finished, options.n_warmup)?;
    }
    outcome.bad_timestamps = recorder.bad_timestamps();
    gpu.check_errors()?;
    Ok(outcome)
}

fn waiter(gpu: &Gpu, options: &FrameLoop) -> DeviceWaiter {
    let waiter = DeviceWaiter::new(&gpu.device, options.wait).with_sleep(options.hybrid_sleep);
    if options.times_polls { waiter.with_timed_polls() } else { waiter }
}
