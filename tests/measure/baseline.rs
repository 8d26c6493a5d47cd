//! Recording Baselines and finding them again.

use std::fs;

use praxis::measure::{
    FrameLog, MOST_RECORDS, Machine, RunFile, Unit, baseline_path, baseline_records, names, read_baseline,
    record_baseline,
};

fn run() -> RunFile {
    let mut log = FrameLog::with_capacity(2);
    let cpu = log.line(names::CPU_FRAME, Unit::Nanoseconds);
    for value in [10, 30] {
        let frame_idx = log.begin_frame();
        log.set(cpu, frame_idx, value);
    }
    let mut run = RunFile::from_log("town", &log);
    run.machine = Machine { cpu: "AMD EPYC".to_owned(), n_cores: 2, ..Machine::default() };
    run.adapter.name = "llvmpipe (LLVM 15.0.6, 256 bits)".to_owned();
    run
}

#[test]
fn measure_baselines_are_recorded_and_found_by_machine_and_scene() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let run = run();
    assert_eq!(read_baseline(root.path(), &run).expect("none is no error"), None);
    let path = record_baseline(root.path(), &run).expect("the run is good");
    assert_eq!(path, root.path().join("llvmpipe-amd-epyc-2c/town.json"));
    let baseline = read_baseline(root.path(), &run).expect("it was just recorded").expect("it was just recorded");
    let history = baseline_records(&run);
    assert_eq!(baseline, RunFile { history, ..run.clone().without_samples() });
    assert_eq!(baseline.line(names::CPU_FRAME).expect("it has the line").summary.median, 20.0);

    let mut elsewhere = run;
    elsewhere.machine.n_cores = 16;
    assert_eq!(read_baseline(root.path(), &elsewhere).expect("none is no error"), None, "another machine's is not it");
}

#[test]
fn measure_bad_runs_never_replace_a_baseline() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let good = run();
    let path = record_baseline(root.path(), &good).expect("the run is good");
    let before = fs::read(&path).expect("it was just recorded");
    let (mut incomplete, mut void) = (good.clone(), good.clone());
    incomplete.complete = false;
    void.void_reason = Some("the final frame differs from its golden".to_owned());
    let mut empty = good.clone();
    empty.lines.clear();
    for (bad, part) in [(incomplete, "interrupted"), (void, "differs from its golden"), (empty, "without any line")] {
        let message = record_baseline(root.path(), &bad).expect_err("it is bad").to_string();
        assert!(message.contains("`town`") && message.contains(part), "{message}");
    }
    assert_eq!(fs::read(&path).expect("it is still there"), before);
}

#[test]
fn measure_broken_baselines_and_folders_are_errors() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let run = run();
    let path = baseline_path(root.path(), &run);
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
    fs::write(&path, "{\"schema\": \"praxis.run/1\"").expect("the folder can be written");
    let message = read_baseline(root.path(), &run).expect_err("it is cut off").to_string();
    assert!(message.contains("town.json is cut off"), "{message}");

    let file = root.path().join("file");
    fs::write(&file, "").expect("the folder can be written");
    let message = record_baseline(&file, &run).expect_err("a file is no folder").to_string();
    assert!(message.starts_with("can't write "), "{message}");
}

#[test]
fn measure_a_baseline_keeps_its_last_recordings() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let mut run = run();
    for day in 1..=13 {
        run.date = Some(format!("2026-01-{day:02}T00:00:00Z"));
        run.build.commit = Some(format!("c{day}"));
        run.lines.get_mut(names::CPU_FRAME).expect("it is there").summary.median = f64::from(day);
        record_baseline(root.path(), &run).expect("the run is good");
    }
    let baseline = read_baseline(root.path(), &run).expect("it is whole").expect("it was recorded");
    let records = baseline_records(&baseline);
    assert_eq!(records.len(), MOST_RECORDS);
    let (first, last) = (&records[0], &records[MOST_RECORDS - 1]);
    assert_eq!((first.commit.as_deref(), first.medians[names::CPU_FRAME]), (Some("c4"), 4.0));
    assert_eq!((last.date.as_deref(), last.medians[names::CPU_FRAME]), (Some("2026-01-13T00:00:00Z"), 13.0));

    // A new kernel goes on; other settings say nothing about what was before.
    run.machine.kernel = Some("7.0".to_owned());
    record_baseline(root.path(), &run).expect("the run is good");
    let recorded = |run: &RunFile| read_baseline(root.path(), run).expect("it is whole").expect("it was recorded");
    assert_eq!(recorded(&run).history.len(), MOST_RECORDS);
    run.settings.set("msaa", 1);
    record_baseline(root.path(), &run).expect("the run is good");
    assert_eq!(recorded(&run).history.len(), 1);
}

#[test]
fn measure_baselines_of_before_there_was_a_history_still_read() {
    let recorded = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("baselines/llvmpipe-amd-epyc-2c/town.json");
    let mut old: serde_json::Value =
        serde_json::from_slice(&fs::read(recorded).expect("it is there")).expect("it is JSON");
    for field in ["history", "date", "goldens"] {
        old.as_object_mut().expect("a run file is an object").remove(field);
    }
    let old = RunFile::parse(old.to_string().as_bytes(), std::path::Path::new("town.json")).expect("it still reads");
    let records = baseline_records(&old);
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].medians[names::CPU_FRAME], old.line(names::CPU_FRAME).expect("it has it").summary.median);
}
