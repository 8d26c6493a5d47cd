//! Where the loop's readings go: which line of the frame log, and what counts as the main thread's work.

use std::time::Instant;

use crate::gpu::GpuError;
use crate::measure::{BadTimestamps, FrameLog, LineId, Unit, names, validate_pass_times};
use crate::pacing::ThreadCpuTime;
use crate::render::{PASSES, Renderer};
use crate::scene::Scene;

use super::waits::{TimedWait, WaitLog};

/// A stage that is timed from [`Recorder::start`] to [`Recorder::end`].
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    Update,
    PrepareFrame,
    Encode,
    Submit,
}

/// Writes one frame after another into a log. `cpu_frame` is the sum of what was timed as work, plus the gaps between:
/// from the wait's end to the submit's end, less waits inside and less the clock chain's own time.
pub struct Recorder<'a> {
    log: &'a mut FrameLog,
    waits: &'a mut WaitLog,
    lines: Lines,
    frame: Option<OpenFrame>,
    /// The row whose turn of the loop goes on, and the main thread's CPU time at its begin.
    turn: Option<(usize, ThreadCpuTime)>,
    turn_began: Option<ThreadCpuTime>,
    stage_started: Instant,
    /// Submissions of the renderer before this loop: the loop's own are counted from 0.
    n_submitted_before: u64,
    ticks: Vec<(u64, u64)>,
    bad: BadTimestamps,
}

struct Lines {
    cpu_frame: LineId,
    frame_time: LineId,
    wait: LineId,
    stages: [LineId; 4],
    systems: Vec<LineId>,
    top_level: Option<LineId>,
    cpu_time: Option<LineId>,
    blocked_poll: Option<LineId>,
    blocked_submit: Option<LineId>,
    gpu_frame: Option<LineId>,
    passes: Vec<Option<LineId>>,
    chain_start: LineId,
    chain_after_update: LineId,
    chain_after_submit: LineId,
}

struct OpenFrame {
    row: usize,
    started: Instant,
    work_started: Instant,
    submit_ended: Instant,
    /// Waits and chain readings after `work_started`.
    not_work_ns: u64,
}

impl<'a> Recorder<'a> {
    /// Names every line of the log.
    pub fn new(log: &'a mut FrameLog, waits: &'a mut WaitLog, scene: &Scene, renderer: &Renderer) -> Self {
        waits.begin_loop();
        let has_cpu_time = ThreadCpuTime::now().is_some();
        let mut line = |name: &str| log.line(name, Unit::Nanoseconds);
        let has_timestamps = renderer.has_timestamps();
        let lines = Lines {
            cpu_frame: line(names::CPU_FRAME),
            frame_time: line(names::FRAME_TIME),
            wait: line(names::STAGE_WAIT),
            stages: [
                line(names::STAGE_UPDATE),
                line(names::STAGE_PREPARE_FRAME),
                line(names::STAGE_ENCODE),
                line(names::STAGE_SUBMIT),
            ],
            systems: scene
                .system_times()
                .iter()
                .map(|system| line(&format!("{}{}", names::SYSTEM_PREFIX, system.name)))
                .collect(),
            top_level: renderer.top_level_ns().map(|_| line(names::TLAS_CPU)),
            cpu_time: has_cpu_time.then(|| line(names::CPU_TIME_MAIN)),
            blocked_poll: has_cpu_time.then(|| line(names::BLOCKED_POLL)),
            blocked_submit: has_cpu_time.then(|| line(names::BLOCKED_SUBMIT)),
            gpu_frame: has_timestamps.then(|| line(names::GPU_FRAME)),
            passes: (0..PASSES.len())
                .map(|pass_idx| (has_timestamps && renderer.has_pass(pass_idx)).then(|| line(PASSES[pass_idx])))
                .collect(),
            chain_start: line(names::CHAIN_START),
            chain_after_update: line(names::CHAIN_AFTER_UPDATE),
            chain_after_submit: line(names::CHAIN_AFTER_SUBMIT),
        };
        let ticks = Vec::with_capacity(PASSES.len());
        Self {
            log,
            waits,
            lines,
            frame: None,
            turn: None,
            turn_began: None,
            stage_started: Instant::now(),
            n_submitted_before: renderer.n_submitted(),
            ticks,
            bad: BadTimestamps::default(),
        }
    }

    /// A turn of the loop ends, and the next one begins: what the main thread ran for in between is the frame's CPU time.
    pub fn turn(&mut self) {
        let now = ThreadCpuTime::now();
        if let (Some((row, began)), Some(now), Some(line)) = (self.turn.take(), now, self.lines.cpu_time) {
            self.log.set(line, row, now.since_ns(began));
        }
        self.turn_began = now;
    }

    /// Opens a frame whose loop turn began at `started`.
    pub fn begin_frame(&mut self, started: Instant, core: Option<u32>) {
        let row = self.log.begin_frame();
        self.log.set_core(row, core);
        self.turn = self.turn_began.map(|began| (row, began));
        let now = Instant::now();
        self.frame = Some(OpenFrame { row, started, work_started: now, submit_ended: now, not_work_ns: 0 });
    }

    /// The first wait is over: what follows is work.
    pub fn work_begins(&mut self) {
        if let Some(frame) = &mut self.frame {
            frame.work_started = Instant::now();
            frame.not_work_ns = 0;
        }
    }

    /// The clock chain at the frame's start.
    pub fn chain_start(&mut self, chain_ns: u64) {
        self.chain(self.lines.chain_start, chain_ns);
    }

    /// The clock chain after update.
    pub fn chain_after_update(&mut self, chain_ns: u64) {
        self.chain(self.lines.chain_after_update, chain_ns);
    }

    /// The clock chain after submit; it lies outside of the frame's work.
    pub fn chain_after_submit(&mut self, chain_ns: u64) {
        if let Some(frame) = &self.frame {
            self.log.set(self.lines.chain_after_submit, frame.row, chain_ns);
        }
    }

    fn chain(&mut self, line: LineId, chain_ns: u64) {
        if let Some(frame) = &mut self.frame {
            self.log.set(line, frame.row, chain_ns);
            frame.not_work_ns += chain_ns;
        }
    }

    /// A wait of `waited_ns`, before or inside the frame's work.
    pub fn waited(&mut self, waited_ns: u64, wait: &TimedWait) {
        self.waits.waited(self.frame.as_ref().map(|frame| frame.row), wait);
        if let Some(frame) = &mut self.frame {
            self.log.add(self.lines.wait, frame.row, waited_ns);
            if let (Some(line), Some(blocked_ns)) = (self.lines.blocked_poll, wait.blocked_ns) {
                self.log.add(line, frame.row, blocked_ns);
            }
            frame.not_work_ns += waited_ns;
        }
    }

    /// The submit that was timed last kept the thread from running for `blocked_ns`.
    pub fn submitted(&mut self, blocked_ns: Option<u64>) {
        self.waits.submitted(self.stage_started);
        if let (Some(frame), Some(line), Some(ns)) = (&self.frame, self.lines.blocked_submit, blocked_ns) {
            self.log.set(line, frame.row, ns);
        }
    }

    /// A stage begins.
    pub fn start(&mut self) {
        self.stage_started = Instant::now();
    }

    /// The stage that began last ends.
    pub fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        if let Some(frame) = &mut self.frame {
            let stage_ns = (now - self.stage_started).as_nanos() as u64;
            self.log.set(self.lines.stages[stage as usize], frame.row, stage_ns);
            frame.submit_ended = now;
        }
    }

    /// What each system took.
    pub fn systems(&mut self, scene: &Scene) {
        if let Some(frame) = &self.frame {
            for (line, system) in self.lines.systems.iter().zip(scene.system_times()) {
                self.log.set(*line, frame.row, system.ns);
            }
        }
    }

    /// What the rays' top level took.
    pub fn top_level(&mut self, renderer: &Renderer) {
        if let (Some(frame), Some(line), Some(ns)) = (&self.frame, self.lines.top_level, renderer.top_level_ns()) {
            self.log.set(line, frame.row, ns);
        }
    }

    /// Closes the frame.
    pub fn end_frame(&mut self) {
        if let Some(frame) = self.frame.take() {
            let span_ns = (frame.submit_ended - frame.work_started).as_nanos() as u64;
            self.log.set(self.lines.cpu_frame, frame.row, span_ns.saturating_sub(frame.not_work_ns));
            self.log.set(self.lines.frame_time, frame.row, frame.started.elapsed().as_nanos() as u64);
        }
    }

    /// Takes the GPU's times of the loop's submission `submission`, which is finished; the first `n_warmup` are read and
    /// dropped.
    pub fn read_timestamps(&mut self, renderer: &Renderer, submission: u64, n_warmup: u32) -> Result<(), GpuError> {
        let of_renderer = self.n_submitted_before + submission;
        let Some(period_ns) = renderer.read_timestamps(of_renderer, &mut self.ticks) else { return Ok(()) };
        let period_ns = period_ns?;
        let frame_ns = self.gpu_frame(submission, period_ns);
        let Some(row) = submission.checked_sub(u64::from(n_warmup)) else { return Ok(()) };
        let row = row as usize;
        for (line, &(begin, end)) in self.lines.passes.iter().zip(&self.ticks) {
            let Some(line) = line else { continue };
            match validate_pass_times(begin, end, period_ns) {
                Ok(pass_ns) => self.log.set(*line, row, pass_ns),
                Err(fault) => self.bad.count(fault),
            }
        }
        if let (Some(line), Some(frame_ns)) = (self.lines.gpu_frame, frame_ns) {
            self.log.set(line, row, frame_ns);
        }
        Ok(())
    }

    /// From the first pass's begin to the last one's end in ns, where both can be believed.
    fn gpu_frame(&mut self, submission: u64, period_ns: f32) -> Option<u64> {
        let mut timed = self.lines.passes.iter().zip(&self.ticks).filter_map(|(line, ticks)| line.map(|_| *ticks));
        let first = timed.next()?;
        let (begin, end) = (first.0, timed.next_back().unwrap_or(first).1);
        let frame_ns = validate_pass_times(begin, end, period_ns).ok()?;
        self.waits.gpu_worked(submission, (begin, end), period_ns);
        Some(frame_ns)
    }

    /// Timestamps that were not believed.
    pub fn bad_timestamps(&self) -> BadTimestamps {
        self.bad
    }
}
