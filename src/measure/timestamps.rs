//! Whether a pair of GPU timestamps can be believed.

use serde::{Deserialize, Serialize};

/// A pass longer than this is a broken timestamp: 10 s.
pub const LONGEST_PASS_NS: u64 = 10_000_000_000;

/// Why a pair of timestamps is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadTimestamp {
    /// One of them was never written: 0, or all bits set as Metal marks an error.
    #[error("a timestamp was not written")]
    Zero,
    /// The end is a little before the begin.
    #[error("the end is before the begin")]
    Reversed,
    /// The end is so far before the begin that the counter must have started over between them.
    #[error("the counter started over within the pass")]
    Wrapped,
    /// The pass seems to take more than [`LONGEST_PASS_NS`], or the period is not a positive number.
    #[error("the pass seems to take more than 10 s")]
    Absurd,
}

/// The time between two raw timestamps in ns; `period_ns` is a tick's length (`Queue::get_timestamp_period`).
///
/// Equal timestamps are a pass shorter than a tick: 0 ns.
///
/// # Errors
/// [`BadTimestamp`] for what can't be a time. Count it with [`BadTimestamps::count`]; never average it in.
pub fn validate_pass_times(begin: u64, end: u64, period_ns: f32) -> Result<u64, BadTimestamp> {
    if [begin, end].iter().any(|&ticks| ticks == 0 || ticks == u64::MAX) {
        return Err(BadTimestamp::Zero);
    }
    if !(period_ns.is_finite() && period_ns > 0.0) {
        return Err(BadTimestamp::Absurd);
    }
    let ns_of = |ticks: u64| ticks as f64 * f64::from(period_ns);
    let longest_ns = LONGEST_PASS_NS as f64;
    match end.checked_sub(begin).map(ns_of) {
        Some(pass_ns) if pass_ns <= longest_ns => Ok(pass_ns.round() as u64),
        Some(_) => Err(BadTimestamp::Absurd),
        None if ns_of(begin - end) <= longest_ns => Err(BadTimestamp::Reversed),
        None => Err(BadTimestamp::Wrapped),
    }
}

/// How many timestamps were bad, by fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BadTimestamps {
    /// [`BadTimestamp::Zero`].
    pub zero: u64,
    /// [`BadTimestamp::Reversed`].
    pub reversed: u64,
    /// [`BadTimestamp::Wrapped`].
    pub wrapped: u64,
    /// [`BadTimestamp::Absurd`].
    pub absurd: u64,
}

impl BadTimestamps {
    /// Counts one.
    pub fn count(&mut self, fault: BadTimestamp) {
        *match fault {
            BadTimestamp::Zero => &mut self.zero,
            BadTimestamp::Reversed => &mut self.reversed,
            BadTimestamp::Wrapped => &mut self.wrapped,
            BadTimestamp::Absurd => &mut self.absurd,
        } += 1;
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.zero + self.reversed + self.wrapped + self.absurd
    }
}
