//! A run against its Baseline: what is suspect, what the clock explains, what crept.

use praxis::measure::{DriftVerdict, FrameLog, RunFile, Unit, judge_drift, names, read_baseline, record_baseline};

fn run_of(lines: &[(&str, u64)]) -> RunFile {
    let mut log = FrameLog::with_capacity(1);
    let frame_idx = log.begin_frame();
    for (name, value) in lines {
        let line = log.line(name, Unit::Nanoseconds);
        log.set(line, frame_idx, *value);
    }
    let mut run = RunFile::from_log("town", &log);
    run.settings.set("msaa", 4);
    run
}

fn with_chain(cpu_ns: u64, gpu_ns: u64, chain_ns: u64) -> RunFile {
    run_of(&[
        (names::CPU_FRAME, cpu_ns),
        (names::GPU_FRAME, gpu_ns),
        (names::STAGE_WAIT, 2 * cpu_ns),
        (names::CHAIN_START, chain_ns),
        (names::CHAIN_AFTER_UPDATE, chain_ns),
    ])
}

fn verdict(run: &RunFile, baseline: &RunFile, line: &str) -> DriftVerdict {
    judge_drift(run, baseline, None).line(line).expect("both have it").verdict
}

#[test]
fn measure_drift_is_suspect_beyond_the_margin_unless_the_clock_explains_it() {
    let baseline = with_chain(1_000_000, 9_000_000, 3_000);
    let cpu = |cpu_ns, chain_ns| verdict(&with_chain(cpu_ns, 9_000_000, chain_ns), &baseline, names::CPU_FRAME);
    assert_eq!(cpu(1_040_000, 3_000), DriftVerdict::Within);
    assert_eq!(cpu(1_120_000, 3_000), DriftVerdict::Suspect);
    assert_eq!(cpu(1_120_000, 3_330), DriftVerdict::MovedWithClock, "the core ran 11% slower");
    assert_eq!(cpu(1_400_000, 3_330), DriftVerdict::Suspect, "11% explain no 40%");
    assert_eq!(cpu(900_000, 3_000), DriftVerdict::Faster);
    assert_eq!(cpu(900_000, 2_700), DriftVerdict::MovedWithClock);

    // The GPU has a clock of its own, and waiting is nobody's work.
    let slow = with_chain(1_120_000, 10_000_000, 3_330);
    let drift = judge_drift(&slow, &baseline, None);
    assert_eq!(drift.line(names::GPU_FRAME).map(|line| line.verdict), Some(DriftVerdict::Suspect));
    assert_eq!(drift.line(names::STAGE_WAIT).map(|line| line.verdict), Some(DriftVerdict::NotJudged));
    assert_eq!(drift.line(names::GPU_FRAME).and_then(|line| line.at_baseline_clock), None);
    let cpu = drift.line(names::CPU_FRAME).expect("both have it");
    assert!((cpu.at_baseline_clock_percent.expect("both have a chain") - 0.9).abs() < 0.1, "{cpu:?}");
    assert!((drift.clock_ratio.expect("both have a chain") - 1.11).abs() < 1e-9);
}

#[test]
fn measure_drift_of_a_few_hundred_nanoseconds_is_none() {
    let baseline = run_of(&[(names::STAGE_UPDATE, 900)]);
    assert_eq!(verdict(&run_of(&[(names::STAGE_UPDATE, 1_500)]), &baseline, names::STAGE_UPDATE), DriftVerdict::Within);
    assert_eq!(
        verdict(&run_of(&[(names::STAGE_UPDATE, 2_500)]), &baseline, names::STAGE_UPDATE),
        DriftVerdict::Suspect
    );
    let none = run_of(&[(names::STAGE_UPDATE, 0)]);
    assert_eq!(judge_drift(&none, &none, None).lines, [], "nothing is a percentage of 0");
}

#[test]
fn measure_drift_is_not_judged_where_other_work_was_measured() {
    let baseline = with_chain(1_000_000, 9_000_000, 3_000);
    let slow = with_chain(2_000_000, 9_000_000, 3_000);
    let change: [fn(&mut RunFile); 6] = [
        |run| _ = run.settings.set("msaa", 1),
        |run| run.adapter.driver_info = "Mesa 26".into(),
        |run| run.machine.n_cores = 64,
        |run| run.build.profile = "dev".into(),
        |run| run.void_reason = Some("wrong picture".into()),
        |run| run.complete = false,
    ];
    for (change_idx, change) in change.iter().enumerate() {
        let mut run = slow.clone();
        change(&mut run);
        let drift = judge_drift(&run, &baseline, None);
        assert_eq!(
            drift.line(names::CPU_FRAME).map(|line| line.verdict),
            Some(DriftVerdict::NotJudged),
            "{change_idx}"
        );
        assert_eq!(drift.obstacles.len(), usize::from(change_idx < 4), "{change_idx}: {:?}", drift.obstacles);
    }
    let mut run = slow;
    run.machine.kernel = Some("7.1".into());
    assert_eq!(verdict(&run, &baseline, names::CPU_FRAME), DriftVerdict::Suspect, "a kernel may be why, or the code");
}

#[test]
fn measure_drift_that_creeps_is_told() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let mut run = with_chain(1_000_000, 9_000_000, 3_000);
    // 2% a recording: no step is beyond the margin.
    for step in 0..8 {
        run = with_chain(1_000_000 + 20_000 * step, 9_000_000, 3_000);
        run.date = Some(format!("2026-02-{:02}T00:00:00Z", step + 1));
        record_baseline(root.path(), &run).expect("the run is good");
    }
    let baseline = read_baseline(root.path(), &run).expect("it is whole").expect("it was recorded");
    let drift = judge_drift(&with_chain(1_160_000, 9_000_000, 3_000), &baseline, None);
    assert_eq!(drift.line(names::CPU_FRAME).map(|line| line.verdict), Some(DriftVerdict::Within));
    let [creep] = &drift.creeps[..] else { panic!("{:?}", drift.creeps) };
    assert_eq!((creep.name.as_str(), creep.n_records), (names::CPU_FRAME, 8));
    assert_eq!(creep.since.as_deref(), Some("2026-02-01T00:00:00Z"));
    assert!((creep.percent - 16.0).abs() < 0.01, "{}", creep.percent);

    // Noise without a trend is none, and neither is one step.
    for medians in [[100, 104, 97, 103, 99, 102, 98, 106], [100, 100, 101, 100, 115, 115, 116, 115]] {
        let root = tempfile::tempdir().expect("a temporary folder");
        for median in medians {
            record_baseline(root.path(), &with_chain(median * 10_000, 9_000_000, 3_000)).expect("the run is good");
        }
        let baseline = read_baseline(root.path(), &run).expect("it is whole").expect("it was recorded");
        assert_eq!(judge_drift(&baseline, &baseline, None).creeps, [], "{medians:?}");
    }
}

#[test]
fn measure_the_margin_widens_with_the_recordings_spread() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let run = with_chain(1_000_000, 9_000_000, 3_000);
    for percent in [100, 112, 95, 108, 99, 113, 94, 100] {
        record_baseline(root.path(), &with_chain(percent * 10_000, 9_000_000, 3_000)).expect("the run is good");
    }
    let baseline = read_baseline(root.path(), &run).expect("it is whole").expect("it was recorded");
    let drift = judge_drift(&with_chain(1_150_000, 9_000_000, 3_000), &baseline, None);
    let line = drift.line(names::CPU_FRAME).expect("both have it");
    assert!(line.margin_percent > 20.0 && line.verdict == DriftVerdict::Within, "{line:?}");
    assert_eq!(drift.line(names::GPU_FRAME).map(|line| line.margin_percent), Some(5.0));
}
