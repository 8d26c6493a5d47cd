//! The frame log, quantiles and timestamp checks.

use praxis::measure::{BadTimestamp, BadTimestamps, FrameLog, Summary, Unit, quantile, validate_pass_times};
use proptest::prelude::*;

#[test]
fn measure_late_values_reach_their_frame() {
    let mut log = FrameLog::with_capacity(4);
    let cpu = log.line("cpu_frame", Unit::Nanoseconds);
    let gpu = log.line("gpu_frame", Unit::Nanoseconds);
    for value in [10, 11, 12] {
        let frame_idx = log.begin_frame();
        log.set(cpu, frame_idx, value);
        if let Some(finished_idx) = frame_idx.checked_sub(2) {
            log.set(gpu, finished_idx, 100 + finished_idx as u64);
        }
    }
    assert_eq!(log.get(cpu).samples().collect::<Vec<_>>(), [Some(10), Some(11), Some(12)]);
    assert_eq!(log.get(gpu).samples().collect::<Vec<_>>(), [Some(100), None, None]);
}

#[test]
fn measure_names_are_interned_and_late_lines_start_absent() {
    let mut log = FrameLog::with_capacity(2);
    log.begin_frame();
    let late = log.line("system.late", Unit::Nanoseconds);
    assert_eq!(log.line("system.late", Unit::Count), late);
    let frame_idx = log.begin_frame();
    log.set(late, frame_idx, 0);
    let line = log.find("system.late").expect("it was just named");
    assert_eq!((line.unit, line.sample(0), line.sample(1), line.sample(2)), (Unit::Nanoseconds, None, Some(0), None));
    assert_eq!(log.lines().len(), 1);
}

#[test]
fn measure_added_values_sum_up_and_never_become_absent() {
    let mut log = FrameLog::with_capacity(1);
    let wait = log.line("stage.wait", Unit::Nanoseconds);
    let frame_idx = log.begin_frame();
    log.add(wait, frame_idx, 30);
    log.add(wait, frame_idx, 12);
    assert_eq!(log.get(wait).sample(0), Some(42));
    log.add(wait, frame_idx, u64::MAX);
    assert_eq!(log.get(wait).sample(0), Some(u64::MAX - 1));
    log.set(wait, frame_idx + 1, 7);
    assert_eq!(log.get(wait).samples().len(), 1, "a frame that was never begun is left alone");
}

#[test]
fn measure_truncating_drops_half_measured_frames() {
    let mut log = FrameLog::with_capacity(3);
    let cpu = log.line("cpu_frame", Unit::Nanoseconds);
    for core in [Some(3), None, Some(5)] {
        let frame_idx = log.begin_frame();
        log.set(cpu, frame_idx, 1);
        log.set_core(frame_idx, core);
    }
    log.truncate(2);
    assert_eq!((log.n_frames(), log.get(cpu).samples().len()), (2, 2));
    assert_eq!(log.cores().collect::<Vec<_>>(), [Some(3), None]);
}

#[test]
fn measure_quantiles_match_numpy() {
    // numpy.quantile([15, 20, 35, 40, 50], p), whose default is definition 7
    let sorted = [15, 20, 35, 40, 50];
    for (p, expected) in [(0.0, 15.0), (0.05, 16.0), (0.3, 23.0), (0.4, 29.0), (0.5, 35.0), (0.95, 48.0), (1.0, 50.0)] {
        let actual = quantile(&sorted, p).expect("there are values");
        assert!((actual - expected).abs() < 1e-9, "{p}: {actual} is not {expected}");
    }
    assert_eq!(quantile(&[], 0.5), None);
    assert_eq!([-0.1, 1.1, f64::NAN].map(|p| quantile(&sorted, p)), [None; 3]);
    assert_eq!(quantile(&[7], 0.99), Some(7.0));
    assert_eq!(Summary::of([]), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn measure_quantiles_rise_and_stay_within_the_values(
        mut values in prop::collection::vec(0u64..1 << 50, 1..300),
        low in 0.0f64..=1.0,
        high in 0.0f64..=1.0,
    ) {
        let summary = Summary::of(values.iter().copied()).expect("there are values");
        values.sort_unstable();
        let (low, high) = (low.min(high), low.max(high));
        let at = |p| quantile(&values, p).expect("there are values");
        prop_assert!(at(low) <= at(high));
        prop_assert_eq!((at(0.0), at(1.0)), (summary.min as f64, summary.max as f64));
        prop_assert!(summary.median <= summary.p95 && summary.p95 <= summary.p99);
        // No more than the fraction p of the values lies below the quantile, and at least the rest is not below.
        let n_below = values.iter().filter(|&&value| (value as f64) < at(low)).count();
        prop_assert!(n_below as f64 <= low * (values.len() - 1) as f64 + 1.0);
    }

    #[test]
    fn measure_any_pair_of_timestamps_is_a_time_or_a_fault(begin: u64, end: u64, period in prop::num::f32::ANY) {
        if let Ok(pass_ns) = validate_pass_times(begin, end, period) {
            prop_assert!(begin <= end && pass_ns <= praxis::measure::LONGEST_PASS_NS);
        }
    }
}

#[test]
fn measure_bad_timestamps_are_told_apart() {
    let day = 86_400_000_000_000;
    assert_eq!(validate_pass_times(1_000, 3_000, 1.0), Ok(2_000));
    assert_eq!(validate_pass_times(1_000, 3_000, 32.5), Ok(65_000));
    assert_eq!(validate_pass_times(1_000, 1_000, 1.0), Ok(0));
    for (begin, end, period, fault) in [
        (0, 3_000, 1.0, BadTimestamp::Zero),
        (1_000, 0, 1.0, BadTimestamp::Zero),
        (1_000, u64::MAX, 1.0, BadTimestamp::Zero),
        (3_000, 1_000, 1.0, BadTimestamp::Reversed),
        ((1 << 48) - 10, 50, 1.0, BadTimestamp::Wrapped),
        (1_000, 1_000 + day, 1.0, BadTimestamp::Absurd),
        (1_000, 3_000, 0.0, BadTimestamp::Absurd),
        (1_000, 3_000, f32::NAN, BadTimestamp::Absurd),
    ] {
        assert_eq!(validate_pass_times(begin, end, period), Err(fault), "{begin}..{end} at {period}");
    }
    let mut faults = BadTimestamps::default();
    for fault in [BadTimestamp::Zero, BadTimestamp::Wrapped, BadTimestamp::Wrapped] {
        faults.count(fault);
    }
    assert_eq!(faults, BadTimestamps { zero: 1, wrapped: 2, ..BadTimestamps::default() });
    assert_eq!(faults.total(), 3);
}
