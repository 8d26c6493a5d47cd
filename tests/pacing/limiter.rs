//! The limiter against simulated frames.

use praxis::pacing::FrameLimiter;
use proptest::prelude::*;

/// Starts of `frames_ns.len()` frames, each that long, where every sleep ends `late_ns` late.
fn starts(limiter: &mut FrameLimiter, frames_ns: &[u64], late_ns: u64) -> Vec<u64> {
    let mut now_ns = 1_000;
    let frame = |&frame_ns: &u64| {
        let start_ns = limiter.next_start_ns(now_ns);
        assert!(start_ns >= now_ns, "a start in the past");
        let started_ns = if start_ns > now_ns { start_ns + late_ns } else { now_ns };
        limiter.frame_started(started_ns);
        now_ns = started_ns + frame_ns;
        started_ns
    };
    frames_ns.iter().map(frame).collect()
}

#[test]
fn pacing_limiter_keeps_the_rate_however_late_sleeps_end() {
    for rate_hz in [30.0, 60.0, 59.94, 144.0, 165.0] {
        let mut limiter = FrameLimiter::new(rate_hz).expect("a rate");
        let starts = starts(&mut limiter, &vec![1_500_000; 10_001], 80_000);
        let took_s = (starts[10_000] - starts[0]) as f64 / 1e9;
        let expected_s = 10_000.0 / rate_hz;
        // One lateness in all, not one a frame.
        assert!((took_s - expected_s).abs() < 0.001, "{rate_hz} Hz: {took_s} s for {expected_s} s");
    }
}

#[test]
fn pacing_limiter_recovers_from_a_long_frame_without_a_burst() {
    let mut limiter = FrameLimiter::new(100.0).expect("a rate");
    let mut frames_ns = vec![2_000_000; 40];
    frames_ns[10] = 137_000_000;
    let starts = starts(&mut limiter, &frames_ns, 0);
    let steps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps[10], 137_000_000);
    assert!(steps[11..].iter().all(|&step| step == 10_000_000), "{steps:?}");
}

#[test]
fn pacing_limiter_delays_nothing_that_is_too_slow_anyway() {
    let mut limiter = FrameLimiter::new(60.0).expect("a rate");
    let starts = starts(&mut limiter, &[20_000_000; 50], 0);
    let n_on_time = starts.windows(2).filter(|pair| pair[1] - pair[0] == 20_000_000).count();
    assert_eq!(n_on_time, 49);
}

#[test]
fn pacing_limiter_makes_up_for_no_sleep_that_ended_far_too_late() {
    // Of every five sleeps one ends 25 ms late, as on a busy machine: the frame after it may not follow at once.
    let mut limiter = FrameLimiter::new(30.0).expect("a rate");
    let mut now_ns = 1_000;
    let mut starts = Vec::new();
    for frame in 0..50 {
        let start_ns = limiter.next_start_ns(now_ns);
        let started_ns = start_ns + if frame % 5 == 4 { 25_000_000 } else { 0 };
        limiter.frame_started(started_ns);
        starts.push(started_ns);
        now_ns = started_ns + 3_000_000;
    }
    let steps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|&step| step >= 33_333_333), "{steps:?}");
    assert!(steps.iter().all(|&step| step <= 58_333_334), "{steps:?}");
}

#[test]
fn pacing_limiter_takes_only_rates() {
    for rate_hz in [0.0, -1.0, 0.5, f64::NAN, f64::INFINITY, 10_001.0] {
        assert_eq!(FrameLimiter::new(rate_hz), None, "{rate_hz}");
    }
    assert_eq!(FrameLimiter::new(60.0).expect("a rate").period_ns(), 16_666_667);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever frames do: never two starts closer than half a period, never a wait beyond a period.
    #[test]
    fn pacing_limiter_never_bursts_and_never_starves(
        rate_hz in 1.0f64..10_000.0,
        frames_ns in prop::collection::vec(0u64..50_000_000, 1..200),
        late_ns in 0u64..100_000,
    ) {
        let mut limiter = FrameLimiter::new(rate_hz).expect("a rate");
        let period_ns = limiter.period_ns();
        let starts = starts(&mut limiter, &frames_ns, late_ns);
        for (pair, frame_ns) in starts.windows(2).zip(&frames_ns) {
            let step_ns = pair[1] - pair[0];
            prop_assert!(step_ns + late_ns + 2 >= period_ns / 2, "{step_ns} ns of {period_ns}");
            prop_assert!(step_ns <= (period_ns + late_ns + 2).max(*frame_ns + period_ns / 2 + late_ns), "{step_ns}");
        }
    }

    /// Whatever sleeps do, too: any n intervals in a row take more than n − ½ periods.
    #[test]
    fn pacing_limiter_keeps_the_rate_over_any_stretch(
        rate_hz in 1.0f64..1_000.0,
        frames in prop::collection::vec((0.0f64..1.5, prop_oneof![4 => Just(0.0), 1 => 0.0f64..2.0]), 2..60),
    ) {
        let mut limiter = FrameLimiter::new(rate_hz).expect("a rate");
        let period_ns = 1e9 / rate_hz;
        let mut now_ns = 1_000;
        let mut starts = Vec::new();
        for (frame_periods, late_periods) in frames {
            let started_ns = limiter.next_start_ns(now_ns) + (late_periods * period_ns) as u64;
            limiter.frame_started(started_ns);
            starts.push(started_ns);
            now_ns = started_ns + (frame_periods * period_ns) as u64;
        }
        for (first_idx, first) in starts.iter().enumerate() {
            for (n, later) in starts[first_idx..].iter().enumerate().skip(1) {
                let took_ns = (later - first) as f64;
                prop_assert!(took_ns >= (n as f64 - 0.5) * period_ns - 2.0, "{n} intervals of {period_ns} ns took {took_ns}");
            }
        }
    }
}
