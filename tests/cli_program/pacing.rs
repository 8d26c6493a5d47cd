//! What pacing leaves in a run file, and the table of waits.

use praxis::measure::{RunFile, names};
use serde_json::Value;

use super::{Project, praxis, stderr, stdout};

const TINY: [&str; 6] = ["--size", "32x18", "--msaa", "1", "--rays", "off"];

#[test]
fn cli_bench_keeps_cpu_time_blame_overshoot_and_usage() {
    let project = Project::new();
    let output = praxis(project.path())
        .args(["bench", "box", "--skip-aliasing", "--frames", "12", "--warmup", "4", "--out", "run"])
        .args(["--wait", "hybrid:200", "--thread-priority", "high"])
        .args(TINY)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let run = RunFile::read(&project.file("run/run.json")).expect("it was written");
    assert_eq!(run.settings.get("wait").and_then(Value::as_str), Some("hybrid:200"));

    // Asked for, and what the system made of it: a refusal is a warning here and on stderr.
    assert_eq!(run.settings.get("thread_priority").and_then(Value::as_str), Some("high"));
    let obtained = run.settings.get("thread_priority.obtained").and_then(Value::as_str).expect("it is always said");
    let warns = run.warnings.iter().any(|warning| warning.starts_with("thread priority high was refused"));
    assert_eq!(warns, stderr(&output).contains("warning: thread priority high was refused"));
    if cfg!(target_os = "linux") {
        assert_eq!(warns, obtained != "SCHED_OTHER nice -10", "{obtained}");
    }

    if cfg!(unix) {
        for name in [names::CPU_TIME_MAIN, names::BLOCKED_POLL, names::BLOCKED_SUBMIT] {
            assert_eq!(run.line(name).expect("it is measured").summary.n, 12, "{name}");
        }
        let (ran_ns, wall_ns) = (run.usage["main.cpu_ns"], run.usage["wall_ns"]);
        assert!(ran_ns > 0 && ran_ns <= wall_ns, "{ran_ns} of {wall_ns} ns");
        assert!(run.usage["process.cpu_ns"] >= ran_ns);
    }
    if run.has_gpu_times() {
        let overshoot = run.line(names::WAIT_OVERSHOOT).expect("some frame was waited for");
        assert!(overshoot.summary.n <= 12 && overshoot.summary.max < 1_000_000_000, "{:?}", overshoot.summary);
        assert!(run.usage.contains_key("wait.overshoot.uncertainty_ns"));
    }
}

#[test]
fn cli_wait_table_has_every_way_with_both_loads() {
    let project = Project::new();
    let table = |format: &[&str]| {
        let output = praxis(project.path())
            .args(["wait-table", "box", "--rounds", "1", "--frames", "3", "--warmup", "2", "--quiet"])
            .args(TINY)
            .args(format)
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let document: Value = serde_json::from_str(&table(&["--json"])).expect("one JSON document");
    let rows = document["rows"].as_array().expect("rows");
    let names: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["load"].as_str().expect("a load"), row["wait"].as_str().expect("a wait"))).collect();
    let waits = [
        "block",
        "spin",
        "hybrid:50",
        "hybrid:100",
        "hybrid:300",
        "hybrid:1000",
        "hybrid:1000, driver's timeout",
        "hybrid:1000, system's sleep",
    ];
    let expected: Vec<_> =
        ["GPU-bound", "CPU-bound"].into_iter().flat_map(|load| waits.map(|wait| (load, wait))).collect();
    assert_eq!(names, expected);
    assert!(rows.iter().all(|row| row["frame_time_ns"].as_f64().is_some_and(|ns| ns > 0.0)), "{document:#}");

    let markdown = table(&[]);
    let n_rows = markdown.lines().filter(|line| line.starts_with("| GPU-bound") || line.starts_with("| CPU-bound"));
    assert_eq!(n_rows.count(), 16, "{markdown}");
}
