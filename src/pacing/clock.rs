//! The clock that limiter and pacer are driven by.

use std::time::{Duration, Instant};

/// Nanoseconds since it was made, and a sleep that ends on time.
///
/// [`FrameLimiter`](super::FrameLimiter) and [`LatencyPacer`](super::LatencyPacer) decide from numbers alone and read no
/// clock: a test, or a simulation, hands them its own. A program takes them from one `PacingClock`, so that they agree.
#[derive(Clone, Copy, Debug)]
pub struct PacingClock {
    origin: Instant,
    sleeper: spin_sleep::SpinSleeper,
}

impl PacingClock {
    /// A clock that starts at 0 now.
    pub fn new() -> Self {
        Self { origin: Instant::now(), sleeper: spin_sleep::SpinSleeper::default() }
    }

    /// Now, in ns.
    pub fn now_ns(&self) -> u64 {
        super::elapsed_ns(self.origin)
    }

    /// `instant` on this clock, in ns; 0 for what was before it.
    pub fn ns_of(&self, instant: Instant) -> u64 {
        u64::try_from(instant.saturating_duration_since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sleeps until `until_ns`, and gives how long that took in ns: at once, if it is past.
    ///
    /// The system's sleep ends early enough that what is left is waited for with open eyes (`spin_sleep`: some 100 µs
    /// on Linux and macOS), since a sleep alone ends up to a millisecond late.
    pub fn sleep_until_ns(&self, until_ns: u64) -> u64 {
        let started_ns = self.now_ns();
        let Some(left_ns) = until_ns.checked_sub(started_ns) else { return 0 };
        self.sleeper.sleep(Duration::from_nanos(left_ns));
        self.now_ns() - started_ns
    }
}

impl Default for PacingClock {
    fn default() -> Self {
        Self::new()
    }
}
