//! When each submission was made, worked on and waited for: what the overshoot of waits is computed from, after the loop.

use std::time::Instant;

use crate::measure::{ClockPair, ReturnAlignment};
use crate::pacing::{BlockedTime, InFlightRing};

/// The times of one loop's submissions and waits, or of several loops on one device, which share one alignment of clocks.
pub struct WaitLog {
    origin: Instant,
    submissions: Vec<Submission>,
    waits: Vec<Wait>,
    n_loops: usize,
    loop_begins_at: usize,
    first_tick: Option<u64>,
}

#[derive(Clone, Copy)]
struct Submission {
    submit_started_ns: u64,
    /// (begin, end) on the GPU's clock.
    gpu_ns: Option<(u64, u64)>,
}

#[derive(Clone, Copy)]
struct Wait {
    loop_idx: usize,
    row: Option<usize>,
    submission_idx: usize,
    started_ns: u64,
    returned_ns: u64,
}

/// A wait as it went.
pub struct TimedWait {
    /// When it began.
    pub started: Instant,
    /// When it returned.
    pub returned: Instant,
    /// How long the thread did not run in it.
    pub blocked_ns: Option<u64>,
    /// The last submission that it found finished, if any.
    finished: Option<u64>,
}

/// By how much the waits of some loops overshot.
#[derive(Clone, Debug)]
pub struct Overshoots {
    /// How the clocks were brought together.
    pub alignment: ReturnAlignment,
    /// (loop, row of its log, overshoot in ns) of each recorded frame that was waited for.
    pub values: Vec<(usize, usize, u64)>,
}

impl WaitLog {
    /// Takes `n_frames` without allocating.
    pub fn with_capacity(n_frames: usize) -> Self {
        // Written to and cleared: pages are given out now, not in a frame.
        let submission = Submission { submit_started_ns: 1, gpu_ns: Some((1, 1)) };
        let wait = Wait { loop_idx: 1, row: Some(1), submission_idx: 1, started_ns: 1, returned_ns: 1 };
        let (mut submissions, mut waits) = (vec![submission; n_frames], vec![wait; n_frames + 8]);
        submissions.clear();
        waits.clear();
        Self { origin: Instant::now(), submissions, waits, n_loops: 0, loop_begins_at: 0, first_tick: None }
    }

    /// A loop begins; its submissions are counted from 0.
    pub fn begin_loop(&mut self) {
        self.n_loops += 1;
        self.loop_begins_at = self.submissions.len();
    }

    /// The next submission's submit began at `started`.
    pub fn submitted(&mut self, started: Instant) {
        let submit_started_ns = self.ns_of(started);
        self.submissions.push(Submission { submit_started_ns, gpu_ns: None });
    }

    /// A wait that belongs to the row `row` of the loop's log, `None` in warm-up.
    pub fn waited(&mut self, row: Option<usize>, wait: &TimedWait) {
        let Some(finished) = wait.finished else { return };
        let wait = Wait {
            loop_idx: self.n_loops.saturating_sub(1),
            row,
            submission_idx: self.loop_begins_at + finished as usize,
            started_ns: self.ns_of(wait.started),
            returned_ns: self.ns_of(wait.returned),
        };
        self.waits.push(wait);
    }

    /// The GPU worked on the loop's submission `submission` from one tick to the other.
    pub fn gpu_worked(&mut self, submission: u64, (begin, end): (u64, u64), period_ns: f32) {
        let first_tick = *self.first_tick.get_or_insert(begin);
        let ns_of = |tick: u64| (tick.saturating_sub(first_tick) as f64 * f64::from(period_ns)) as u64;
        if let Some(of_log) = self.submissions.get_mut(self.loop_begins_at + submission as usize) {
            of_log.gpu_ns = Some((ns_of(begin), ns_of(end)));
        }
    }

    /// What the waits overshot, over all loops so far; `None` where there are no GPU times.
    pub fn overshoots(&self) -> Option<Overshoots> {
        let end_of = |wait: &Wait| Some(self.submissions.get(wait.submission_idx)?.gpu_ns?.1);
        let ends: Vec<ClockPair> = self
            .waits
            .iter()
            .filter_map(|wait| Some(ClockPair { gpu_ns: end_of(wait)?, cpu_ns: wait.returned_ns }))
            .collect();
        let begins: Vec<ClockPair> = self
            .submissions
            .iter()
            .filter_map(|submission| {
                Some(ClockPair { gpu_ns: submission.gpu_ns?.0, cpu_ns: submission.submit_started_ns })
            })
            .collect();
        let alignment = ReturnAlignment::fit(&ends, &begins)?;
        let overshoot = |wait: &Wait| {
            let overshoot_ns = alignment.before_ns(end_of(wait)?, wait.returned_ns).max(0.0);
            // A frame that was done before was not waited for.
            let is_waited_for = wait.returned_ns as f64 - overshoot_ns >= wait.started_ns as f64;
            is_waited_for.then_some((wait.loop_idx, wait.row?, overshoot_ns as u64))
        };
        Some(Overshoots { values: self.waits.iter().filter_map(overshoot).collect(), alignment })
    }

    fn ns_of(&self, instant: Instant) -> u64 {
        (instant - self.origin).as_nanos() as u64
    }
}

impl TimedWait {
    /// Times `wait`, which waits on `ring`.
    pub fn time<S, R, E>(
        ring: &mut InFlightRing<S>,
        wait: impl FnOnce(&mut InFlightRing<S>) -> Result<R, E>,
    ) -> Result<(R, Self), E> {
        let n_finished = ring.n_finished();
        let call = BlockedTime::start();
        let started = Instant::now();
        let result = wait(ring)?;
        let returned = Instant::now();
        let blocked_ns = call.end_ns();
        let finished = (ring.n_finished() > n_finished).then(|| ring.n_finished() - 1);
        Ok((result, Self { started, returned, blocked_ns, finished }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Two frames in flight of 10 ms each; waits return `late_ns` after the end, and one frame is done before it is
    /// waited for.
    #[test]
    fn frames_overshoots_are_of_frames_that_were_waited_for() {
        let mut log = WaitLog::with_capacity(8);
        let at = |log: &WaitLog, ns: u64| log.origin + Duration::from_nanos(ns);
        for loop_idx in 0..3u64 {
            log.begin_loop();
            let base_ns = 1_000_000_000 * loop_idx;
            // Were the last loop late as well, the clocks would seem to drift.
            let late_ns = [3_000, 40_000, 3_000][loop_idx as usize];
            for frame in 0..5u64 {
                let begin_ns = base_ns + 10_000_000 * frame + 60_000;
                let end_ns = begin_ns + 9_000_000;
                let submit_started = at(&log, begin_ns - 60_000);
                log.submitted(submit_started);
                let started_ns = if frame == 3 { end_ns + 500_000 } else { end_ns - 4_000_000 };
                let returned_ns = started_ns.max(end_ns) + late_ns;
                let wait = TimedWait {
                    started: at(&log, started_ns),
                    returned: at(&log, returned_ns),
                    blocked_ns: None,
                    finished: Some(frame),
                };
                log.waited((frame as usize).checked_sub(1), &wait);
                // Ticks of 2 ns from an epoch of its own.
                log.gpu_worked(frame, ((begin_ns + 4_444) / 2, (end_ns + 4_444) / 2), 2.0);
            }
        }
        let overshoots = log.overshoots().expect("there are GPU times");
        let rows: Vec<_> = overshoots.values.iter().map(|value| (value.0, value.1)).collect();
        let expected: Vec<_> = (0..3).flat_map(|loop_idx| [0, 1, 3].map(|row| (loop_idx, row))).collect();
        assert_eq!(rows, expected, "frame 3 was done already");
        for &(loop_idx, row, overshoot_ns) in &overshoots.values {
            // Beyond the best waits, which took 3 µs.
            let expected_ns = [0, 37_000, 0][loop_idx];
            assert!(overshoot_ns.abs_diff(expected_ns) < 200, "loop {loop_idx}, row {row}: {overshoot_ns} ns");
        }
        let uncertainty_ns = overshoots.alignment.uncertainty_ns().expect("there are begins");
        assert!((uncertainty_ns - 63_000.0).abs() < 500.0, "{uncertainty_ns}");
    }
}
