//! The limiter: at most so many frames a second.

/// When each frame may start, so that there are at most so many a second.
///
/// Frames are due on a grid of one period. A frame that starts a little late moves nothing: the next one is due where
/// it always was, so that the rate doesn't drift however late sleeps end. After a long frame the grid begins anew, so
/// that what was missed is not made up for in a burst. Two starts are never closer than half a period.
///
/// Sleep *before* input is sampled: a sleep after it would age the input.
///
/// ```
/// use praxis::pacing::{FrameLimiter, PacingClock};
///
/// let clock = PacingClock::new();
/// let mut limiter = FrameLimiter::new(200.0).expect("a rate");
/// for _ in 0..4 {
///     let start_ns = limiter.next_start_ns(clock.now_ns());
///     clock.sleep_until_ns(start_ns);
///     // … sample input, draw …
/// }
/// assert!(clock.now_ns() >= 15_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameLimiter {
    period_ns: f64,
    /// When the next frame is due. A fraction of a nanosecond a frame adds up: 60 Hz is 16,666,666.67 ns.
    due_ns: Option<f64>,
}

impl FrameLimiter {
    /// At most `rate_hz` frames a second; `None` unless that is from 1 to 10,000.
    pub fn new(rate_hz: f64) -> Option<Self> {
        (1.0..=10_000.0).contains(&rate_hz).then(|| Self { period_ns: 1e9 / rate_hz, due_ns: None })
    }

    /// From one frame's start to the next one's, in ns.
    pub fn period_ns(&self) -> u64 {
        self.period_ns.round() as u64
    }

    /// When the frame that could start at `now_ns` shall start: `now_ns` or later. Call it once a frame.
    pub fn next_start_ns(&mut self, now_ns: u64) -> u64 {
        let now = now_ns as f64;
        let due = self.due_ns.unwrap_or(now);
        let late = now - due;
        // A clock that goes back, or a first frame, is no reason to wait for more than a period.
        let is_on_grid = late < self.period_ns / 2.0 && late >= -self.period_ns;
        let due = if is_on_grid { due } else { now };
        self.due_ns = Some(due + self.period_ns);
        now_ns.max(due.ceil() as u64)
    }

    /// Forgets the grid, such as after a rest: the next frame starts at once.
    pub fn reset(&mut self) {
        self.due_ns = None;
    }
}
