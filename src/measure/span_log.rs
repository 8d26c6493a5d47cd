//! When things happened within a run: from when to when, one cell for each kind of span and frame.

use std::collections::HashMap;

use super::frame_log::written_once;

/// Which clock a span's times were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpanClock {
    /// The CPU's: nanoseconds since the run's start.
    Cpu,
    /// The GPU's: nanoseconds since some moment of its own. [`ClockAlignment`](super::ClockAlignment) leads from one to the other.
    Gpu,
}

/// A span: begin and end in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub begin_ns: u64,
    /// When it ended; never before it began.
    pub end_ns: u64,
}

impl Span {
    /// How long it took.
    pub fn duration_ns(self) -> u64 {
        self.end_ns - self.begin_ns
    }
}

/// A cell that nothing was written to.
const ABSENT: Span = Span { begin_ns: u64::MAX, end_ns: u64::MAX };

/// One kind of span over all frames.
#[derive(Clone, Debug)]
pub struct SpanLine {
    /// What happened: the name of the line whose time it is, or one of its own such as `in_flight`; see [`names`](super::names).
    pub name: String,
    /// Whose clock.
    pub clock: SpanClock,
    cells: Vec<Span>,
}

impl SpanLine {
    /// The span of one frame; `None` where nothing was recorded.
    pub fn get(&self, frame_idx: usize) -> Option<Span> {
        self.cells.get(frame_idx).copied().filter(|span| *span != ABSENT)
    }
}

/// Stands for a [`SpanLine`] of the log that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(u32);

/// The spans of every frame of a run, in columns as a [`FrameLog`](super::FrameLog) keeps its values; it is a part of one.
/// Names are given once, at the start; then nothing is allocated while there are no more frames than were promised.
#[derive(Clone, Debug, Default)]
pub struct SpanLog {
    lines: Vec<SpanLine>,
    ids: HashMap<String, SpanId>,
    n_frames: usize,
    capacity: usize,
}

impl SpanLog {
    pub(super) fn with_capacity(n_frames: usize) -> Self {
        Self { capacity: n_frames, ..Self::default() }
    }

    /// The kind of span called `name`, made if there is none. The clock counts only when it is made.
    pub fn line(&mut self, name: &str, clock: SpanClock) -> SpanId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = SpanId(u32::try_from(self.lines.len()).expect("fewer than 4 billion kinds of span"));
        let mut cells = written_once(self.capacity.max(self.n_frames), ABSENT);
        cells.resize(self.n_frames, ABSENT);
        self.lines.push(SpanLine { name: name.to_owned(), clock, cells });
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// Writes a span. One of a frame that was never begun, or that ends before it begins, is left out.
    pub fn set(&mut self, id: SpanId, frame_idx: usize, begin_ns: u64, end_ns: u64) {
        let cell = self.lines.get_mut(id.0 as usize).and_then(|line| line.cells.get_mut(frame_idx));
        if let Some(cell) = cell.filter(|_| begin_ns <= end_ns && end_ns != u64::MAX) {
            *cell = Span { begin_ns, end_ns };
        }
    }

    /// One kind.
    ///
    /// # Panics
    /// If `id` came from another log that has more kinds.
    pub fn get(&self, id: SpanId) -> &SpanLine {
        &self.lines[id.0 as usize]
    }

    /// All kinds, in the order they were named.
    pub fn lines(&self) -> &[SpanLine] {
        &self.lines
    }

    /// The kind called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<&SpanLine> {
        self.ids.get(name).and_then(|id| self.lines.get(id.0 as usize))
    }

    pub(super) fn begin_frame(&mut self) {
        for line in &mut self.lines {
            line.cells.push(ABSENT);
        }
        self.n_frames += 1;
    }

    pub(super) fn truncate(&mut self, n_frames: usize) {
        for line in &mut self.lines {
            line.cells.truncate(n_frames);
        }
        self.n_frames = self.n_frames.min(n_frames);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_spans_of_the_promised_length_never_grow() {
        let mut log = SpanLog::with_capacity(500);
        let id = log.line("stage.update", SpanClock::Cpu);
        let places = |log: &SpanLog| {
            log.lines.iter().map(|line| (line.cells.as_ptr(), line.cells.capacity())).collect::<Vec<_>>()
        };
        let before = places(&log);
        for frame_idx in 0..500 {
            log.begin_frame();
            log.set(id, frame_idx, 10, 20);
        }
        assert_eq!(places(&log), before, "a column was moved or grown");
    }

    #[test]
    fn measure_spans_that_make_no_sense_are_absent() {
        let mut log = SpanLog::default();
        let id = log.line("wait", SpanClock::Cpu);
        log.begin_frame();
        log.begin_frame();
        log.set(id, 0, 20, 10);
        log.set(id, 1, 10, 10);
        log.set(id, 7, 1, 2);
        let line = log.find("wait").expect("it was named");
        assert_eq!((line.get(0), line.get(1).map(Span::duration_ns), line.get(7)), (None, Some(0), None));
        log.truncate(1);
        assert_eq!(log.find("wait").and_then(|line| line.get(1)), None);
    }
}
