//! The window's Frame stats: each line's samples of the last frames, in memory that is taken once.

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
    /// The clock chain at the frame's start.
    ChainStart,
    /// The clock chain after update.
    ChainAfterUpdate,
    /// The clock chain after submit.
    ChainAfterSubmit,
}

const WINDOW_LINES: [&str; 13] = [
    names::FRAME_TIME,
    names::CPU_FRAME,
    names::STAGE_WAIT,
    names::STAGE_UPDATE,
    names::STAGE_PREPARE_FRAME,
    names::STAGE_ENCODE,
    "stage.overlay",
    "stage.acquire",
    names::STAGE_SUBMIT,
    "stage.present",
    names::CHAIN_START,
    names::CHAIN_AFTER_UPDATE,
    names::CHAIN_AFTER_SUBMIT,
];

/// What the last frames took, line by line.
pub struct RecentFrames {
    lines: Vec<RecentLine>,
    first_system: usize,
    gpu_frame: Option<usize>,
    passes: Vec<Option<usize>>,
    bad: BadTimestamps,
    sorted: Vec<u64>,
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
        let sorted = Vec::with_capacity(N_RECENT);
        Self { lines, first_system, gpu_frame, passes, bad: BadTimestamps::default(), sorted }
    }

    /// A sample of one of the window's own lines, in nanoseconds.
    pub fn push(&mut self, line: WindowLine, sample_ns: u64) {
        self.lines[line as usize].push(sample_ns);
    }

    /// What each system took in the scene's last update.
    pub fn push_systems(&mut self, scene: &Scene) {
        for (line, system) in self.lines[self.first_system..].iter_mut().zip(scene.system_times()) {
            line.push(system.ns);
        }
    }

    /// The GPU's (begin, end) of each pass of one frame.
    pub fn push_ticks(&mut self, ticks: &[(u64, u64)], period_ns: f32) {
        let (mut first_begin, mut last_end) = (None, None);
        for (line, &(begin, end)) in self.passes.iter().zip(ticks) {
            let Some(line) = *line else { continue };
            first_begin.get_or_insert(begin);
            last_end = Some(end);
            match validate_pass_times(begin, end, period_ns) {
                Ok(pass_ns) => self.lines[line].push(pass_ns),
                Err(fault) => self.bad.count(fault),
            }
        }
        if let (Some(line), Some(begin), Some(end)) = (self.gpu_frame, first_begin, last_end)
            && let Ok(frame_ns) = validate_pass_times(begin, end, period_ns)
        {
            self.lines[line].push(frame_ns);
        }
    }

    /// All lines: the window's own, then systems, then the GPU's.
    pub fn lines(&self) -> &[RecentLine] {
        &self.lines
    }

    /// One of the window's own lines.
    pub fn line(&self, line: WindowLine) -> &RecentLine {
        &self.lines[line as usize]
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
        RecentFrames {
            lines: lines.iter().map(|name| RecentLine::new(name)).collect(),
            first_system: lines.len(),
            gpu_frame: None,
            passes: Vec::new(),
            bad: BadTimestamps::default(),
            sorted: Vec::new(),
        }
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
        assert_eq!(WINDOW_LINES[WindowLine::ChainAfterSubmit as usize], "chain.after_submit");
        assert_eq!(WindowLine::ChainAfterSubmit as usize, WINDOW_LINES.len() - 1);
    }

    #[test]
    fn window_timestamps_that_are_no_times_are_counted_and_left_out() {
        let mut frames = frames_of(&["gpu_frame", "gpu.cull", "gpu.post"]);
        frames.gpu_frame = Some(0);
        frames.passes = vec![Some(1), None, Some(2)];
        frames.push_ticks(&[(100, 150), (0, 0), (160, 260)], 2.0);
        let median = |frames: &mut RecentFrames, idx| frames.summary(idx).map(|summary| summary.median);
        assert_eq!(
            (0..3).map(|idx| median(&mut frames, idx)).collect::<Vec<_>>(),
            [Some(320.0), Some(100.0), Some(200.0)]
        );
        frames.push_ticks(&[(100, 0), (0, 0), (260, 160)], 2.0);
        assert_eq!((frames.bad_timestamps().zero, frames.bad_timestamps().reversed), (1, 1));
        assert_eq!(frames.lines()[1].samples().count(), 1);
    }
}
