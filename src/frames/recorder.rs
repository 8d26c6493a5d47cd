//! Where the loop's readings go: which line of the frame log, and what counts as the main thread's work.

use std::time::Instant;

use crate::gpu::GpuError;
use crate::measure::{BadTimestamps, FrameLog, LineId, SpanClock, SpanId, Unit, names, validate_pass_times};
use crate::pacing::ThreadCpuTime;
use crate::render::{PASSES, Renderer};
use crate::scene::Scene;

use super::waits::{TimedWait, WaitLog};

/// A stage that is timed from [`Recorder::start`] to [`Recorder::end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    spans: Spans,
    frame: Option<OpenFrame>,
    /// The origin of all spans.
    run_started: Instant,
    /// What the scene's clock read then.
    scene_clock_ns: u64,
    /// The row whose turn of the loop goes on, and the main thread's CPU time at its begin.
    turn: Option<(usize, ThreadCpuTime)>,
    turn_began: Option<ThreadCpuTime>,
    stage_started: Instant,
    /// When the last wait that waited returned, in ns since the run's start: what was waited for is finished since.
    wait_returned_ns: u64,
    /// The first tick that was read: the origin of the GPU's spans.
    first_tick: Option<u64>,
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
    last_poll: Option<LineId>,
    blocked_submit: Option<LineId>,
    gpu_frame: Option<LineId>,
    passes: Vec<Option<LineId>>,
    chain_start: LineId,
    chain_after_update: LineId,
    chain_after_submit: LineId,
}

/// Where the spans of the frame go.
struct Spans {
    turn: SpanId,
    wait_slot: SpanId,
    wait_before_submit: SpanId,
    in_flight: SpanId,
    stages: [SpanId; 4],
    systems: Vec<SpanId>,
    passes: Vec<Option<SpanId>>,
    chain_start: SpanId,
    chain_after_update: SpanId,
    chain_after_submit: SpanId,
}

impl Spans {
    fn new(log: &mut FrameLog, scene: &Scene, renderer: &Renderer) -> Self {
        let spans = log.spans_mut();
        let mut cpu = |name: &str| spans.line(name, SpanClock::Cpu);
        Self {
            turn: cpu(names::FRAME_TIME),
            wait_slot: cpu(names::WAIT_SLOT),
            wait_before_submit: cpu(names::WAIT_BEFORE_SUBMIT),
            in_flight: cpu(names::IN_FLIGHT),
            stages: [names::STAGE_UPDATE, names::STAGE_PREPARE_FRAME, names::STAGE_ENCODE, names::STAGE_SUBMIT]
                .map(&mut cpu),
            chain_start: cpu(names::CHAIN_START),
            chain_after_update: cpu(names::CHAIN_AFTER_UPDATE),
            chain_after_submit: cpu(names::CHAIN_AFTER_SUBMIT),
            systems: scene
                .system_times()
                .iter()
                .map(|system| cpu(&format!("{}{}", names::SYSTEM_PREFIX, system.name)))
                .collect(),
            passes: (0..PASSES.len())
                .map(|pass_idx| {
                    let is_timed = renderer.has_timestamps() && renderer.has_pass(pass_idx);
                    is_timed.then(|| spans.line(PASSES[pass_idx], SpanClock::Gpu))
                })
                .collect(),
        }
    }
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
            last_poll: None,
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
        let spans = Spans::new(log, scene, renderer);
        let run_started = Instant::now();
        Self {
            log,
            waits,
            lines,
            spans,
            frame: None,
            turn: None,
            turn_began: None,
            run_started,
            scene_clock_ns: scene.clock_ns(),
            stage_started: run_started,
            wait_returned_ns: 0,
            first_tick: None,
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
        self.chain(self.lines.chain_start, self.spans.chain_start, chain_ns);
        self.not_work(chain_ns);
    }

    /// The clock chain after update.
    pub fn chain_after_update(&mut self, chain_ns: u64) {
        self.chain(self.lines.chain_after_update, self.spans.chain_after_update, chain_ns);
        self.not_work(chain_ns);
    }

    /// The clock chain after submit; it lies outside of the frame's work.
    pub fn chain_after_submit(&mut self, chain_ns: u64) {
        self.chain(self.lines.chain_after_submit, self.spans.chain_after_submit, chain_ns);
    }

    /// What just took `chain_ns`.
    fn chain(&mut self, line: LineId, span: SpanId, chain_ns: u64) {
        let now_ns = self.now_ns();
        if let Some(frame) = &self.frame {
            self.log.set(line, frame.row, chain_ns);
            self.log.spans_mut().set(span, frame.row, now_ns.saturating_sub(chain_ns), now_ns);
        }
    }

    fn not_work(&mut self, ns: u64) {
        if let Some(frame) = &mut self.frame {
            frame.not_work_ns += ns;
        }
    }

    /// The wait at the frame's start.
    pub fn waited_for_slot(&mut self, waited_ns: u64, wait: &TimedWait) {
        self.waited(self.spans.wait_slot, waited_ns, wait);
    }

    /// What the poll took that found the frame done, where polls are timed.
    pub fn last_poll(&mut self, poll_ns: Option<u64>) {
        if let (Some(frame), Some(ns)) = (&self.frame, poll_ns) {
            let log = &mut *self.log;
            let line = *self.lines.last_poll.get_or_insert_with(|| log.line(names::WAIT_LAST_POLL, Unit::Nanoseconds));
            self.log.set(line, frame.row, ns);
        }
    }

    /// A wait inside the frame, just before its submit.
    pub fn waited_before_submit(&mut self, waited_ns: u64, wait: &TimedWait) {
        self.waited(self.spans.wait_before_submit, waited_ns, wait);
        self.not_work(waited_ns);
    }

    fn waited(&mut self, span: SpanId, waited_ns: u64, wait: &TimedWait) {
        self.waits.waited(self.frame.as_ref().map(|frame| frame.row), wait);
        let (started_ns, returned_ns) = (self.since_start_ns(wait.started), self.since_start_ns(wait.returned));
        if waited_ns > 0 {
            self.wait_returned_ns = returned_ns;
        }
        if let Some(frame) = &self.frame {
            self.log.add(self.lines.wait, frame.row, waited_ns);
            if let (Some(line), Some(blocked_ns)) = (self.lines.blocked_poll, wait.blocked_ns) {
                self.log.add(line, frame.row, blocked_ns);
            }
            self.log.spans_mut().set(span, frame.row, started_ns, returned_ns);
        }
    }

    /// The submit that was timed last kept the thread from running for `blocked_ns`.
    pub fn submitted(&mut self, blocked_ns: Option<u64>) {
        self.waits.submitted(self.stage_started);
        if let (Some(frame), Some(line), Some(ns)) = (&self.frame, self.lines.blocked_submit, blocked_ns) {
            self.log.set(line, frame.row, ns);
        }
    }

    /// The wait for everything in flight after the last frame returned.
    pub fn drained(&mut self) {
        self.wait_returned_ns = self.now_ns();
    }

    fn now_ns(&self) -> u64 {
        self.since_start_ns(Instant::now())
    }

    fn since_start_ns(&self, time: Instant) -> u64 {
        time.saturating_duration_since(self.run_started).as_nanos() as u64
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
            let (row, end_ns) = (frame.row, self.since_start_ns(now));
            let spans = self.log.spans_mut();
            spans.set(self.spans.stages[stage as usize], row, end_ns.saturating_sub(stage_ns), end_ns);
        }
    }

    /// What each system took in the update that ended just now.
    pub fn systems(&mut self, scene: &Scene) {
        let Some(row) = self.frame.as_ref().map(|frame| frame.row) else { return };
        let update = (self.since_start_ns(self.stage_started), self.now_ns());
        for (system_idx, system) in scene.system_times().iter().enumerate() {
            self.log.set(self.lines.systems[system_idx], row, system.ns);
            // The scene's clock has another origin; that both were read at the start may be some 100 ns off.
            let began_ns = system.began_ns.saturating_sub(self.scene_clock_ns).clamp(update.0, update.1);
            let ended_ns = (began_ns + system.ns).min(update.1);
            self.log.spans_mut().set(self.spans.systems[system_idx], row, began_ns, ended_ns);
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
            let ended = Instant::now();
            self.log.set(self.lines.frame_time, frame.row, (ended - frame.started).as_nanos() as u64);
            let (begin_ns, end_ns) = (self.since_start_ns(frame.started), self.since_start_ns(ended));
            self.log.spans_mut().set(self.spans.turn, frame.row, begin_ns, end_ns);
        }
    }

    /// Takes the GPU's times of the loop's submission `submission`, which is finished; the first `n_warmup` are read and
    /// dropped.
    pub fn read_timestamps(&mut self, renderer: &Renderer, submission: u64, n_warmup: u32) -> Result<(), GpuError> {
        let row = submission.checked_sub(u64::from(n_warmup)).map(|row| row as usize);
        if let Some(row) = row {
            self.mark_finished(row);
        }
        let of_renderer = self.n_submitted_before + submission;
        let Some(period_ns) = renderer.read_timestamps(of_renderer, &mut self.ticks) else { return Ok(()) };
        let period_ns = period_ns?;
        let frame_ns = self.gpu_frame(submission, period_ns);
        let Some(row) = row else { return Ok(()) };
        let columns = self.lines.passes.iter().zip(&self.spans.passes);
        for ((line, span), &(begin, end)) in columns.zip(&self.ticks) {
            let (Some(line), Some(span)) = (line, span) else { continue };
            match validate_pass_times(begin, end, period_ns) {
                Ok(pass_ns) => {
                    self.log.set(*line, row, pass_ns);
                    // Ticks since the first one: as a float, those since boot would lose their last digits.
                    let first_tick = *self.first_tick.get_or_insert(begin);
                    let since_first_ns = |tick: u64| {
                        tick.checked_sub(first_tick).map(|n| (n as f64 * f64::from(period_ns)).round() as u64)
                    };
                    if let Some(begin_ns) = since_first_ns(begin) {
                        self.log.spans_mut().set(*span, row, begin_ns, begin_ns + pass_ns);
                    }
                }
                Err(fault) => self.bad.count(fault),
            }
        }
        if let (Some(line), Some(frame_ns)) = (self.lines.gpu_frame, frame_ns) {
            self.log.set(line, row, frame_ns);
        }
        Ok(())
    }

    /// The frame of `row` is finished: it was in flight from its submit until the wait that said so returned.
    fn mark_finished(&mut self, row: usize) {
        let submit = self.spans.stages[Stage::Submit as usize];
        if let Some(submit) = self.log.spans().get(submit).get(row) {
            let end_ns = self.wait_returned_ns.max(submit.end_ns);
            self.log.spans_mut().set(self.spans.in_flight, row, submit.begin_ns, end_ns);
        }
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
