//! What is recorded per frame: one column of values for each line, one row for each frame.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::SpanLog;

/// What a line's values count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unit {
    /// Nanoseconds.
    #[default]
    #[serde(rename = "ns")]
    Nanoseconds,
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// The unit as run files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Count => "count",
            Self::Bytes => "bytes",
        }
    }
}

/// One line's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line's name, such as `stage.encode`; see [`names`](super::names).
    pub name: String,
    /// What the values count.
    pub unit: Unit,
    /// One cell a frame; `ABSENT` where nothing was recorded.
    cells: Vec<u64>,
}

/// A cell nothing was written to. A time of 585 years is none that anyone measures.
const ABSENT: u64 = u64::MAX;

impl Line {
    /// The value of each frame, in order; `None` where nothing was recorded.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = Option<u64>> + '_ {
        self.cells.iter().map(|&cell| (cell != ABSENT).then_some(cell))
    }

    /// The value of one frame.
    pub fn sample(&self, frame_idx: usize) -> Option<u64> {
        self.cells.get(frame_idx).copied().filter(|&cell| cell != ABSENT)
    }
}

/// Stands for a line of the [`FrameLog`] that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineId(u32);

/// Every value of every frame of a run, never averaged.
///
/// Names are interned once, at the start; then each frame is [`begin_frame`](Self::begin_frame) and some
/// [`set`](Self::set)s, which allocate nothing while the log holds no more frames than it was made for. Values may come
/// late: a frame's GPU times are known only frames after it was recorded, so `set` takes the frame's index.
///
/// ```
/// use praxis::measure::{FrameLog, Unit, names};
///
/// let mut log = FrameLog::with_capacity(1_800);
/// let cpu_frame = log.line(names::CPU_FRAME, Unit::Nanoseconds);
/// let gpu_frame = log.line(names::GPU_FRAME, Unit::Nanoseconds);
///
/// let first_idx = log.begin_frame();
/// log.set(cpu_frame, first_idx, 512_000);
/// let second_idx = log.begin_frame();
/// log.set(cpu_frame, second_idx, 498_000);
/// log.set(gpu_frame, first_idx, 9_700_000); // known only now
///
/// assert_eq!(log.get(gpu_frame).samples().collect::<Vec<_>>(), [Some(9_700_000), None]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct FrameLog {
    lines: Vec<Line>,
    ids: HashMap<String, LineId>,
    cores: Vec<u32>,
    spans: SpanLog,
    capacity: usize,
}

/// An empty vector whose memory was written to: no later frame pays for a page that the system gives out at the first
/// write, and a run's memory is all there from its begin.
pub(super) fn written_once<T: Clone>(capacity: usize, value: T) -> Vec<T> {
    let mut written = vec![value; capacity];
    written.clear();
    written
}

/// No core was told for the frame.
const NO_CORE: u32 = u32::MAX;

impl FrameLog {
    /// A log that takes `n_frames` frames without allocating, once its lines are named.
    pub fn with_capacity(n_frames: usize) -> Self {
        let (cores, spans) = (written_once(n_frames, NO_CORE), SpanLog::with_capacity(n_frames));
        Self { cores, spans, capacity: n_frames, ..Self::default() }
    }

    /// The line called `name`, made if there is none; the frames before it have no value.
    ///
    /// The unit counts only when the line is made.
    pub fn line(&mut self, name: &str, unit: Unit) -> LineId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = LineId(u32::try_from(self.lines.len()).expect("fewer than 4 billion lines"));
        let mut cells = written_once(self.capacity.max(self.n_frames()), ABSENT);
        cells.resize(self.n_frames(), ABSENT);
        self.lines.push(Line { name: name.to_owned(), unit, cells });
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// Starts a frame without values and gives its index.
    pub fn begin_frame(&mut self) -> usize {
        let frame_idx = self.n_frames();
        for line in &mut self.lines {
            line.cells.push(ABSENT);
        }
        self.cores.push(NO_CORE);
        self.spans.begin_frame();
        frame_idx
    }

    /// Writes the value of `line` in the frame `frame_idx`. A frame that was never begun is left alone, so that late
    /// values of warm-up frames need no special case.
    pub fn set(&mut self, line: LineId, frame_idx: usize, value: u64) {
        if let Some(cell) = self.cell(line, frame_idx) {
            *cell = value.min(ABSENT - 1);
        }
    }

    /// Adds to the value of `line` in the frame `frame_idx`: for what happens several times a frame, such as waits.
    pub fn add(&mut self, line: LineId, frame_idx: usize, value: u64) {
        if let Some(cell) = self.cell(line, frame_idx) {
            let so_far = if *cell == ABSENT { 0 } else { *cell };
            *cell = so_far.saturating_add(value).min(ABSENT - 1);
        }
    }

    /// Writes the core that the frame `frame_idx` started on.
    pub fn set_core(&mut self, frame_idx: usize, core: Option<u32>) {
        if let Some(cell) = self.cores.get_mut(frame_idx) {
            *cell = core.unwrap_or(NO_CORE);
        }
    }

    /// Frames begun so far.
    pub fn n_frames(&self) -> usize {
        self.cores.len()
    }

    /// All lines, in the order they were named.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// One line.
    ///
    /// # Panics
    /// If `line` came from another log that has more lines.
    pub fn get(&self, line: LineId) -> &Line {
        &self.lines[line.0 as usize]
    }

    /// The line called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<&Line> {
        self.ids.get(name).map(|&id| self.get(id))
    }

    /// The core that each frame started on.
    pub fn cores(&self) -> impl ExactSizeIterator<Item = Option<u32>> + '_ {
        self.cores.iter().map(|&core| (core != NO_CORE).then_some(core))
    }

    /// Drops the frames from `n_frames` on: those that an interruption left half measured.
    pub fn truncate(&mut self, n_frames: usize) {
        for line in &mut self.lines {
            line.cells.truncate(n_frames);
        }
        self.cores.truncate(n_frames);
        self.spans.truncate(n_frames);
    }

    /// When what happened in each frame: for traces, and for times between two things.
    pub fn spans(&self) -> &SpanLog {
        &self.spans
    }

    /// The same, to name and write them.
    pub fn spans_mut(&mut self) -> &mut SpanLog {
        &mut self.spans
    }

    fn cell(&mut self, line: LineId, frame_idx: usize) -> Option<&mut u64> {
        self.lines.get_mut(line.0 as usize)?.cells.get_mut(frame_idx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_a_log_of_the_promised_length_never_grows() {
        let mut log = FrameLog::with_capacity(1_000);
        let early = log.line("cpu_frame", Unit::Nanoseconds);
        log.begin_frame();
        let late = log.line("system.late", Unit::Nanoseconds);
        let places = |log: &FrameLog| {
            let cells: Vec<_> = log.lines.iter().map(|line| (line.cells.as_ptr(), line.cells.capacity())).collect();
            (cells, log.cores.as_ptr(), log.cores.capacity())
        };
        let before = places(&log);
        while log.n_frames() < 1_000 {
            let frame_idx = log.begin_frame();
            log.set(early, frame_idx, 1);
            log.add(late, frame_idx, 1);
            log.set_core(frame_idx, Some(0));
        }
        assert_eq!(places(&log), before, "a column was moved or grown");
    }
}
