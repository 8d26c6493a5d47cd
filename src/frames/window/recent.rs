//! The window's Frame stats: each line's samples of the last frames, in memory that is taken once.

use super::recording::{Recorded, Recording};
use crate::measure::{BadTimestamps, names, quantile, validate_pass_times};
use crate::render::{PASSES, Renderer};
use crate::scene::Scene;

/// Frames that are looked back on.
pub const N_RECENT: usize = 240;

/// The lines that every window has, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLine {
    /// From one frame's start to the next one's: what the frame rate follows from.
    FrameTime,
    /// The main thread's work, without what it waits.
    CpuFrame,
    /// Waits for frames in flight.
    Wait,
    /// Sleeping until the frame may start, as a limit or the pacer says.
    Pace,
    /// The systems that move the scene.
    Update,
    /// From what changed to bytes.
    PrepareFrame,
    /// Recording the scene's passes, `finish()` included.
    Encode,
    /// Laying out the overlay and recording the surface's pass.
    Overlay,
    /// Waiting for a texture of the surface.
    Acquire,
    /// The submit, less any waiting inside.
    Submit,
    /// Handing the surface's texture to the display.
    Present,
    /// From one frame's being handed over to the next one's: what the display sees of the pace.
    PresentInterval,
    /// Of acquire, the time that the main thread did not run. Drivers differ in which of these four they block.
    BlockedAcquire,
    /// The same of submit.
    BlockedSubmit,
    /// The same of the waits for frames in flight.
    BlockedPoll,
    /// The same of present.
    BlockedPresent,
    /// The clock chain at the frame's start.
    ChainStart,
    /// The clock chain after update.
    ChainAfterUpdate,
    /// The clock chain after submit.
    ChainAfterSubmit,
}

const WINDOW_LINES: [&str; 19] = [
    names::FRAME_TIME,
    names::CPU_FRAME,
    names::STAGE_WAIT,
    "stage.pace",
    names::STAGE_UPDATE,
    names::STAGE_PREPARE_FRAME,
    names::STAGE_ENCODE,
    "stage.overlay",
    "stage.acquire",
    names::STAGE_SUBMIT,
    "stage.present",
    "present_interval",
    names::BLOCKED_ACQUIRE,
    names::BLOCKED_SUBMIT,
    names::BLOCKED_POLL,
    names::BLOCKED_PRESENT,
    names::CHAIN_START,
    names::CHAIN_AFTER_UPDATE,
    names::CHAIN_AFTER_SUBMIT,
];

/// The line of how old a frame's input is at the end of its GPU work.
pub const INPUT_LATENCY: &str = "latency.input_to_gpu_end";

/// What the last frames took, line by line.
pub struct RecentFrames {
    lines: Vec<RecentLine>,
    first_system: usize,
    gpu_frame: Option<usize>,
    passes: Vec<Option<usize>>,
    input_latency: usize,
    top_level: Option<usize>,
    bad: BadTimestamps,
    n_missed: u64,
    sorted: Vec<u64>,
    recording: Option<Recording>,
}

/// One line's last samples, in nanoseconds.
#[derive(Clone, Debug)]
pub struct RecentLine {
    /// As in run files.
    pub name: String,
    samples: Vec<u64>,
    n_pushed: usize,
}

/// A line in two numbers, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecentSummary {
    /// The middle of the last [`N_RECENT`].
    pub median: f64,
    /// What 95% of them stay below.
    pub p95: f64,
}

impl RecentLine {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), samples: Vec::with_capacity(N_RECENT), n_pushed: 0 }
    }

    fn push(&mut self, sample: u64) {
        if self.samples.len() < N_RECENT {
            self.samples.push(sample);
        } else {
            self.samples[self.n_pushed % N_RECENT] = sample;
        }
        self.n_pushed += 1;
    }

    /// The last samples, oldest first, at most [`N_RECENT`].
    pub fn samples(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let oldest = if self.samples.len() < N_RECENT { 0 } else { self.n_pushed % N_RECENT };
        let (newer, older) = self.samples.split_at(oldest);
        older.iter().chain(newer).copied()
    }
}

impl RecentFrames {
    /// No frames yet.
    pub fn new(scene: &Scene, renderer: &Renderer) -> Self {
        let mut lines: Vec<_> = WINDOW_LINES.iter().map(|name| RecentLine::new(name)).collect();
        let first_system = lines.len();
        let system_name = |name| format!("{}{name}", names::SYSTEM_PREFIX);
        lines.extend(scene.system_times().iter().map(|system| RecentLine::new(&system_name(system.name))));
        let mut line = |name: &str| {
            lines.push(RecentLine::new(name));
            lines.len() - 1
        };
        let has_timestamps = renderer.has_timestamps();
        let gpu_frame = has_timestamps.then(|| line(names::GPU_FRAME));
        let passes = (0..PASSES.len())
            .map(|pass_idx| (has_timestamps && renderer.has_pass(pass_idx)).then(|| line(PASSES[pass_idx])))
            .collect();
        let input_latency = line(INPUT_LATENCY);
        let top_level = renderer.top_level_ns().map(|_| line(names::TLAS_CPU));
        Self { input_latency, top_level, gpu_frame, passes, ..Self::of_lines(lines, first_system) }
    }

    fn of_lines(lines: Vec<RecentLine>, first_system: usize) -> Self {
        Self {
            input_latency: lines.len() - 1,
            lines,
            first_system,
            gpu_frame: None,
            top_level: None,
            passes: Vec::new(),
            bad: BadTimestamps::default(),
            n_missed: 0,
            sorted: Vec::with_capacity(N_RECENT),
            recording: None,
        }
    }

    /// A frame begins whose submission will have the number `submission`.
    pub fn begin_frame(&mut self, submission: u64, core: Option<u32>) {
        if let Some(recording) = &mut self.recording {
            recording.begin_frame(submission, core);
        }
    }

    /// A sample of one of the window's own lines, in nanoseconds.
    pub fn push(&mut self, line: WindowLine, sample_ns: u64) {
        self.push_at(line as usize, sample_ns);
    }

    fn push_at(&mut self, line_idx: usize, sample_ns: u64) {
        self.lines[line_idx].push(sample_ns);
        if let Some(recording) = &mut self.recording {
            recording.set(line_idx, sample_ns);
        }
    }

    /// A sample that is known only now, of a frame whose submission had the number `submission`.
    fn push_late(&mut self, line_idx: usize, submission: u64, sample_ns: u64) {
        self.lines[line_idx].push(sample_ns);
        if let Some(recording) = &mut self.recording {
            recording.set_late(line_idx, submission, sample_ns);
        }
    }

    /// What each system took in the scene's last update.
    pub fn push_systems(&mut self, scene: &Scene) {
        for (line_idx, system) in (self.first_system..).zip(scene.system_times()) {
            self.push_at(line_idx, system.ns);
        }
    }

    /// What the rays' top level took the CPU in the frame encoded last.
    pub fn push_top_level(&mut self, renderer: &Renderer) {
        if let (Some(line_idx), Some(top_level_ns)) = (self.top_level, renderer.top_level_ns()) {
            self.push_at(line_idx, top_level_ns);
        }
    }

    /// The GPU's (begin, end) of each pass of the frame that was submission `submission`. Gives the frame's GPU time in
    /// nanoseconds, if it can be one.
    pub fn push_ticks(&mut self, submission: u64, ticks: &[(u64, u64)], period_ns: f32) -> Option<u64> {
        let (mut first_begin, mut last_end) = (None, None);
        for (pass_idx, &(begin, end)) in ticks.iter().enumerate() {
            let Some(line) = self.passes.get(pass_idx).copied().flatten() else { continue };
            first_begin.get_or_insert(begin);
            last_end = Some(end);
            match validate_pass_times(begin, end, period_ns) {
                Ok(pass_ns) => self.push_late(line, submission, pass_ns),
                Err(fault) => self.bad.count(fault),
            }
        }
        let frame_ns = validate_pass_times(first_begin?, last_end?, period_ns).ok()?;
        self.push_late(self.gpu_frame?, submission, frame_ns);
        Some(frame_ns)
    }

    /// How old the input of submission `submission` was when the GPU had drawn it, in nanoseconds.
    pub fn push_input_latency(&mut self, submission: u64, latency_ns: u64) {
        self.push_late(self.input_latency, submission, latency_ns);
    }

    /// A frame came later than it should have.
    pub fn count_missed(&mut self) {
        self.n_missed += 1;
    }

    /// Frames that came later than they should have, since the start.
    pub fn n_missed(&self) -> u64 {
        self.n_missed
    }

    /// From the next frame on all lines of up to `n_frames` frames are kept, in memory that is taken now.
    pub fn start_recording(&mut self, n_frames: usize) {
        let names = self.lines.iter().map(|line| line.name.as_str());
        self.recording = Some(Recording::new(n_frames, names, self.n_missed, self.bad));
    }

    /// What is being recorded.
    pub fn recording(&mut self) -> Option<&mut Recording> {
        self.recording.as_mut()
    }

    /// Ends the recording and gives what there is. Frames still in flight lack their GPU times.
    pub fn take_recording(&mut self) -> Option<Recorded> {
        let (n_missed, bad) = (self.n_missed, self.bad);
        self.recording.take().map(|recording| recording.finish(n_missed, bad))
    }

    /// All lines: the window's own, then systems, then the GPU's.
    pub fn lines(&self) -> &[RecentLine] {
        &self.lines
    }

    /// One of the window's own lines.
    pub fn line(&self, line: WindowLine) -> &RecentLine {
        &self.lines[line as usize]
    }

    /// Index of the line of a name, among [`Self::lines`].
    pub fn find(&self, name: &str) -> Option<usize> {
        self.lines.iter().position(|line| line.name == name)
    }

    /// Line `line_idx` of [`Self::lines`] in two numbers; `None` without samples.
    pub fn summary(&mut self, line_idx: usize) -> Option<RecentSummary> {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.lines[line_idx].samples);
        self.sorted.sort_unstable();
        Some(RecentSummary { median: quantile(&self.sorted, 0.5)?, p95: quantile(&self.sorted, 0.95)? })
    }

    /// Frames a second over the last second, or over what there is.
    pub fn rate_hz(&self) -> f64 {
        let (mut n_frames, mut span_ns) = (0, 0);
        for frame_ns in self.line(WindowLine::FrameTime).samples().rev() {
            n_frames += 1;
            span_ns += frame_ns;
            if span_ns >= 1_000_000_000 {
                break;
            }
        }
        if span_ns == 0 { 0.0 } else { f64::from(n_frames) * 1e9 / span_ns as f64 }
    }

    /// Timestamps that were not believed, since the start.
    pub fn bad_timestamps(&self) -> &BadTimestamps {
        &self.bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames_of(lines: &[&str]) -> RecentFrames {
        RecentFrames::of_lines(lines.iter().map(|name| RecentLine::new(name)).collect(), lines.len())
    }

    #[test]
    fn window_lines_keep_the_last_frames_only() {
        let mut line = RecentLine::new("frame_time");
        assert_eq!(line.samples().count(), 0);
        for sample in 0..1_000 {
            line.push(sample);
            let kept: Vec<u64> = line.samples().collect();
            let first = (sample + 1).saturating_sub(N_RECENT as u64);
            assert_eq!(kept, (first..=sample).collect::<Vec<_>>());
        }
    }

    #[test]
    fn window_summaries_are_of_the_last_frames() {
        let mut frames = frames_of(&WINDOW_LINES);
        assert_eq!(frames.summary(0), None);
        for sample in 0..241 {
            frames.push(WindowLine::FrameTime, if sample == 0 { 1_000_000 } else { 1_000 + sample });
        }
        let summary = frames.summary(WindowLine::FrameTime as usize).expect("240 samples");
        assert_eq!(summary, RecentSummary { median: 1_120.5, p95: 1_228.05 });
    }

    #[test]
    fn window_rate_is_of_the_last_second() {
        let mut frames = frames_of(&WINDOW_LINES);
        assert_eq!(frames.rate_hz(), 0.0);
        frames.push(WindowLine::FrameTime, 5_000_000_000);
        assert_eq!(frames.rate_hz(), 0.2);
        for _ in 0..100 {
            frames.push(WindowLine::FrameTime, 20_000_000);
        }
        assert_eq!(frames.rate_hz(), 50.0);
    }

    #[test]
    fn window_lines_and_their_names_agree() {
        assert_eq!(WINDOW_LINES[WindowLine::CpuFrame as usize], "cpu_frame");
        assert_eq!(WINDOW_LINES[WindowLine::Present as usize], "stage.present");
        assert_eq!(WINDOW_LINES[WindowLine::BlockedPoll as usize], "blocked.poll");
        assert_eq!(WINDOW_LINES[WindowLine::ChainAfterSubmit as usize], "chain.after_submit");
        assert_eq!(WindowLine::ChainAfterSubmit as usize, WINDOW_LINES.len() - 1);
    }

    #[test]
    fn window_timestamps_that_are_no_times_are_counted_and_left_out() {
        let mut frames = frames_of(&["gpu_frame", "gpu.cull", "gpu.post"]);
        frames.gpu_frame = Some(0);
        frames.passes = vec![Some(1), None, Some(2)];
        assert_eq!(frames.push_ticks(0, &[(100, 150), (0, 0), (160, 260)], 2.0), Some(320));
        let median = |frames: &mut RecentFrames, idx| frames.summary(idx).map(|summary| summary.median);
        assert_eq!(
            (0..3).map(|idx| median(&mut frames, idx)).collect::<Vec<_>>(),
            [Some(320.0), Some(100.0), Some(200.0)]
        );
        frames.push_ticks(1, &[(100, 0), (0, 0), (260, 160)], 2.0);
        assert_eq!((frames.bad_timestamps().zero, frames.bad_timestamps().reversed), (1, 1));
        assert_eq!(frames.lines()[1].samples().count(), 1);
    }
}
