//! The limiter: at most so many frames a second.

/// When each frame may start, so that there are at most so many a second.
///
/// Frames are due on a grid of one period. A frame that starts a little late moves nothing: the next one is due where
/// it always was, so that the rate doesn't drift however late sleeps end. After a long frame, or a start that was half a period
/// late, the grid begins anew, so that what was missed is not made up for in a burst.
///
/// What it promises is a rate, not each interval: a frame that started late is followed by one that much sooner. If starts are reported
/// ([`Self::frame_started`]), any n intervals in a row take more than n − ½ periods: two starts are never closer than half a period, and
/// the mean of many is a period or more. Their median may be less.
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
///     limiter.frame_started(clock.now_ns());
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

    /// The frame really starts now. A sleep on a busy machine may end long after the start that was chosen: then the next frame is not
    /// due where it was.
    pub fn frame_started(&mut self, now_ns: u64) {
        let now = now_ns as f64;
        if let Some(due) = self.due_ns.filter(|due| now - (due - self.period_ns) >= self.period_ns / 2.0) {
            self.due_ns = Some(due.max(now + self.period_ns));
        }
    }

    /// Forgets the grid, such as after a rest: the next frame starts at once.
    pub fn reset(&mut self) {
        self.due_ns = None;
    }
}
