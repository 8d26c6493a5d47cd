//! When the window's next frame starts: as soon as there is room for it, or later, where a limit or the pacer says so.

use crate::pacing::{FrameLimiter, LatencyPacer, PacerOptions, PacerPhase, PacingClock};

/// What sets the pace besides the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PaceOptions {
    /// Frames a second, at most.
    pub fps_limit: Option<f64>,
    /// Whether frames start as late as their predicted time allows, so that input is fresh when they are shown.
    pub is_low_latency: bool,
    /// The display's refreshes a second, where the system knows.
    pub refresh_hz: Option<f64>,
    /// Whether the display sets the pace: vsync.
    pub is_vsync: bool,
}

/// How the pacer is doing, for the overlay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacerState {
    /// Whether it knows the display's rhythm.
    pub phase: PacerPhase,
    /// What it keeps in hand, in nanoseconds.
    pub margin_ns: u64,
    /// From input to display, as it expects it.
    pub expected_latency_ns: Option<u64>,
}

/// A frame this much longer than the interval it should keep came late.
const MISSED_BEYOND: f64 = 1.5;

pub(super) struct Pace {
    pub clock: PacingClock,
    options: PaceOptions,
    limiter: Option<FrameLimiter>,
    pacer: Option<LatencyPacer>,
    start_ns: u64,
}

impl Pace {
    pub fn new(options: PaceOptions, n_frames_in_flight: usize, n_images: u32) -> Self {
        let clock = PacingClock::new();
        let pacer_options = PacerOptions { n_frames_in_flight, n_images, refresh_hz: options.refresh_hz };
        Self {
            limiter: options.fps_limit.and_then(FrameLimiter::new),
            pacer: options.is_low_latency.then(|| LatencyPacer::new(pacer_options)),
            start_ns: clock.now_ns(),
            clock,
            options,
        }
    }

    /// There is room for a frame now: decides when it starts.
    pub fn choose_start(&mut self) {
        let now_ns = self.clock.now_ns();
        let limited_ns = self.limiter.as_mut().map_or(now_ns, |limiter| limiter.next_start_ns(now_ns));
        let paced_ns = self.pacer.as_mut().map_or(now_ns, |pacer| pacer.next_start_ns(now_ns));
        self.start_ns = limited_ns.max(paced_ns);
    }

    /// When the next frame starts.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// The window rested, changed its size or moved to a display of `refresh_hz`: what was learnt is void.
    pub fn reset(&mut self, refresh_hz: Option<f64>) {
        self.options.refresh_hz = refresh_hz;
        if let Some(limiter) = &mut self.limiter {
            limiter.reset();
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.reset(refresh_hz);
        }
        self.start_ns = self.clock.now_ns();
    }

    pub fn refresh_hz(&self) -> Option<f64> {
        self.options.refresh_hz
    }

    pub fn frame_started(&mut self, frame_idx: u64, now_ns: u64) {
        if let Some(limiter) = &mut self.limiter {
            limiter.frame_started(now_ns);
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.frame_started(frame_idx, now_ns);
        }
    }

    /// An acquire or a present.
    pub fn call_ended(&mut self, started_ns: u64, ended_ns: u64) {
        if let Some(pacer) = &mut self.pacer {
            pacer.call_ended(started_ns, ended_ns);
        }
    }

    pub fn frame_submitted(&mut self, frame_idx: u64, now_ns: u64) {
        if let Some(pacer) = &mut self.pacer {
            pacer.frame_submitted(frame_idx, now_ns);
        }
    }

    pub fn frame_finished(&mut self, frame_idx: u64, gpu_ns: u64) {
        if let Some(pacer) = &mut self.pacer {
            pacer.frame_finished(frame_idx, gpu_ns);
        }
    }

    pub fn pacer_state(&self) -> Option<PacerState> {
        self.pacer.as_ref().map(|pacer| PacerState {
            phase: pacer.phase(),
            margin_ns: pacer.margin_ns(),
            expected_latency_ns: pacer.expected_latency_ns(),
        })
    }

    /// Whether a frame that began `frame_time_ns` after the one before it is late; never, where nothing sets an interval.
    pub fn is_late(&self, frame_time_ns: u64) -> bool {
        let interval_ns = interval_ns(&self.options);
        interval_ns.is_some_and(|interval_ns| frame_time_ns as f64 > MISSED_BEYOND * interval_ns)
    }
}

/// The time between frames that the limit or the display asks for, the longer of the two.
fn interval_ns(options: &PaceOptions) -> Option<f64> {
    let refresh_hz = options.refresh_hz.filter(|_| options.is_vsync);
    let rate_hz = match (options.fps_limit, refresh_hz) {
        (Some(limit), Some(refresh)) => limit.min(refresh),
        (limit, refresh) => limit.or(refresh)?,
    };
    (rate_hz > 0.0).then(|| 1e9 / rate_hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_frames_are_late_by_the_limit_or_the_display() {
        let late = |options, ms: f64| Pace::new(options, 2, 3).is_late((ms * 1e6) as u64);
        let limited = PaceOptions { fps_limit: Some(30.0), ..PaceOptions::default() };
        assert!(!late(limited, 45.0) && late(limited, 55.0));
        let vsync = PaceOptions { refresh_hz: Some(60.0), is_vsync: true, ..PaceOptions::default() };
        assert!(!late(vsync, 20.0) && late(vsync, 30.0));
        assert!(!late(PaceOptions { fps_limit: Some(30.0), ..vsync }, 30.0), "the limit is the slower one");
        assert!(!late(PaceOptions { is_vsync: false, ..vsync }, 1e3), "nothing asks for an interval");
    }

    #[test]
    fn window_frames_start_at_once_where_nothing_sets_a_pace() {
        let mut pace = Pace::new(PaceOptions::default(), 2, 3);
        pace.choose_start();
        assert!(pace.start_ns() <= pace.clock.now_ns());
        let mut pace = Pace::new(PaceOptions { fps_limit: Some(10.0), ..PaceOptions::default() }, 2, 3);
        pace.choose_start();
        pace.choose_start();
        assert!(pace.start_ns() > pace.clock.now_ns() + 50_000_000, "the second frame of ten a second");
        pace.reset(None);
        assert!(pace.start_ns() <= pace.clock.now_ns());
    }
}
