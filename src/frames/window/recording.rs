//! A run of the window: every line of every frame, as `bench` keeps them.

use crate::measure::{BadTimestamps, FrameLog, LineId, Unit};

/// Lines that are sampled now and then, beside those of [`RecentFrames`](super::RecentFrames).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLine {
    /// The process's memory that is in RAM, in bytes.
    Resident,
    /// What wgpu's allocator has handed out, in bytes; none where it keeps no account.
    Gpu,
    /// GPU resources created since the start.
    GpuResources,
}

const MEMORY_LINES: [(&str, Unit); 3] =
    [("memory.resident", Unit::Bytes), ("memory.gpu", Unit::Bytes), ("memory.gpu_resources_created", Unit::Count)];

/// Frames of a window while they are recorded. No frame allocates: rows beyond the capacity are left out.
pub struct Recording {
    log: FrameLog,
    lines: Vec<LineId>,
    memory_lines: [LineId; MEMORY_LINES.len()],
    capacity: usize,
    first_submission: Option<u64>,
    row: Option<usize>,
    n_missed_before: u64,
    bad_before: BadTimestamps,
}

/// What was recorded.
pub struct Recorded {
    /// All frames.
    pub log: FrameLog,
    /// Frames that came late.
    pub n_missed: u64,
    /// Timestamps that were not believed.
    pub bad_timestamps: BadTimestamps,
}

impl Recording {
    /// For `n_frames` frames of the lines named.
    pub(super) fn new<'a>(
        n_frames: usize,
        names: impl Iterator<Item = &'a str>,
        n_missed_before: u64,
        bad_before: BadTimestamps,
    ) -> Self {
        let mut log = FrameLog::with_capacity(n_frames);
        Self {
            lines: names.map(|name| log.line(name, Unit::Nanoseconds)).collect(),
            memory_lines: MEMORY_LINES.map(|(name, unit)| log.line(name, unit)),
            capacity: n_frames,
            first_submission: None,
            row: None,
            n_missed_before,
            bad_before,
            log,
        }
    }

    /// Frames so far.
    pub fn n_frames(&self) -> usize {
        self.log.n_frames()
    }

    /// Whether there is no room for another frame.
    pub fn is_full(&self) -> bool {
        self.n_frames() >= self.capacity
    }

    /// A sample of the process's memory, in the frame that was begun last.
    pub fn set_memory(&mut self, line: MemoryLine, value: u64) {
        if let Some(row) = self.row {
            self.log.set(self.memory_lines[line as usize], row, value);
        }
    }

    pub(super) fn begin_frame(&mut self, submission: u64, core: Option<u32>) {
        if self.is_full() {
            self.row = None;
            return;
        }
        self.first_submission.get_or_insert(submission);
        let row = self.log.begin_frame();
        self.log.set_core(row, core);
        self.row = Some(row);
    }

    pub(super) fn set(&mut self, line_idx: usize, sample_ns: u64) {
        if let Some(row) = self.row {
            self.log.set(self.lines[line_idx], row, sample_ns);
        }
    }

    pub(super) fn set_late(&mut self, line_idx: usize, submission: u64, sample_ns: u64) {
        let first = self.first_submission.unwrap_or(u64::MAX);
        if let Some(row) = submission.checked_sub(first) {
            self.log.set(self.lines[line_idx], row as usize, sample_ns);
        }
    }

    pub(super) fn finish(self, n_missed: u64, bad: BadTimestamps) -> Recorded {
        let before = self.bad_before;
        let bad_timestamps = BadTimestamps {
            zero: bad.zero - before.zero,
            reversed: bad.reversed - before.reversed,
            wrapped: bad.wrapped - before.wrapped,
            absurd: bad.absurd - before.absurd,
        };
        Recorded { log: self.log, n_missed: n_missed - self.n_missed_before, bad_timestamps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_recordings_take_late_values_to_their_frames_and_never_grow() {
        let mut recording = Recording::new(3, ["cpu_frame", "gpu_frame"].into_iter(), 5, BadTimestamps::default());
        recording.set(0, 1);
        recording.set_late(1, 6, 1);
        for submission in 7..12 {
            recording.begin_frame(submission, Some(0));
            recording.set(0, submission);
            recording.set_late(1, submission - 1, 100 + submission - 1);
            recording.set_memory(MemoryLine::Resident, 1 << 20);
        }
        assert!(recording.is_full());
        let Recorded { log, n_missed, .. } = recording.finish(9, BadTimestamps::default());
        let samples = |name: &str| log.find(name).expect("a line").samples().collect::<Vec<_>>();
        assert_eq!(samples("cpu_frame"), [Some(7), Some(8), Some(9)]);
        assert_eq!(samples("gpu_frame"), [Some(107), Some(108), Some(109)], "before the first frame's is dropped");
        assert_eq!(samples("memory.resident"), [Some(1 << 20); 3]);
        assert_eq!(n_missed, 4);
    }
}
