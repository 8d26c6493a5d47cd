//! The report as people and programs read it.

use praxis::measure::aliasing::{Aliasing, PlaceAliasing};
use praxis::measure::{BadTimestamps, Budget, FrameLog, RunFile, Unit};
use praxis::report::Report;

fn run_of(lines: &[(&str, u64)]) -> RunFile {
    let mut log = FrameLog::with_capacity(10);
    for frame in 0..10 {
        let frame_idx = log.begin_frame();
        for (name, value) in lines {
            let line = log.line(name, Unit::Nanoseconds);
            // Nine frames alike and a slow one.
            log.set(line, frame_idx, if frame == 7 { value * 2 } else { *value });
        }
        log.set_core(frame_idx, Some(frame / 5));
    }
    RunFile::from_log("town", &log)
}

fn example() -> RunFile {
    let mut run = run_of(&[
        ("cpu_frame", 5_000_000),
        ("gpu_frame", 20_100_000),
        ("stage.wait", 15_000_000),
        ("stage.encode", 200_500),
        ("stage.submit", 2_070_000),
        ("stage.update", 900),
        ("system.spin_windmill", 12_000),
        ("system.propagate_world_transforms", 352_000),
        ("gpu.shade", 9_000_000),
        ("gpu.visibility", 11_000_000),
        ("chain.start", 1_960),
    ]);
    run.settings.set("msaa", 4).set("wait", "spin");
    run.adapter.name = "llvmpipe".to_owned();
    run
}

#[test]
fn report_table_reads_as_it_should() {
    let run = example();
    let text = Report::new(&run, None, &Budget::m3()).to_text(false);
    let expected = "\
town: 10 frames
adapter: llvmpipe
settings: msaa 4, wait spin
─────────────────────────────────────────────────────────────────────────────────────────
 line                             median        p95        p99   Budget
─────────────────────────────────────────────────────────────────────────────────────────
 frame
   cpu_frame                    5.000 ms   7.750 ms   9.550 ms   median < 6.000 ms: pass
                                                                 p95 < 6.000 ms: BREACH
   gpu_frame                    20.10 ms   31.15 ms   38.39 ms
 CPU stages
   wait                         15.00 ms   23.25 ms   28.65 ms
   update                         900 ns   1.395 µs   1.719 µs
   encode                       200.5 µs   310.8 µs   383.0 µs
   submit                       2.070 ms   3.208 ms   3.954 ms
 systems
   propagate_world_transforms   352.0 µs   545.6 µs   672.3 µs
   spin_windmill                12.00 µs   18.60 µs   22.92 µs
 GPU passes
   visibility                   11.00 ms   17.05 ms   21.01 ms
   shade                        9.000 ms   13.95 ms   17.19 ms
 clock chain
   start                        1.960 µs   3.038 µs   3.744 µs
─────────────────────────────────────────────────────────────────────────────────────────
Budget not judged: the run has no line tlas.cpu (median)
frames started on 2 cores, 1 migration
";
    assert_eq!(text, expected);
}

#[test]
fn report_sets_the_baseline_beside_the_run() {
    let mut run = example();
    run.lines.retain(|name, _| name.starts_with("cpu") || name.starts_with("gpu."));
    let mut baseline = run_of(&[("cpu_frame", 4_000_000), ("gpu.visibility", 11_000_000), ("gpu.old", 5)]);
    baseline.settings.set("msaa", 1).set("wait", "spin");
    baseline.complete = false;
    let baseline = baseline.without_samples();
    let text = Report::new(&run, Some(&baseline), &[]).to_text(false);
    let expected = "\
town: 10 frames
adapter: llvmpipe
settings: msaa 4, wait spin
──────────────────────────────────────────────────────────────────────────────────────────────────
 line             median        p95        p99   Baseline median        Δ   Baseline p95        Δ
──────────────────────────────────────────────────────────────────────────────────────────────────
 frame
   cpu_frame    5.000 ms   7.750 ms   9.550 ms          4.000 ms   +25.0%       6.200 ms   +25.0%
 GPU passes
   visibility   11.00 ms   17.05 ms   21.01 ms          11.00 ms     0.0%       17.05 ms     0.0%
   shade        9.000 ms   13.95 ms   17.19 ms               new        -            new        -
──────────────────────────────────────────────────────────────────────────────────────────────────
not judged against the Baseline, which was measured otherwise (below)
frames started on 2 cores, 1 migration
the Baseline was interrupted after 10 frames
not as the Baseline: adapter.name is llvmpipe, there unset
not as the Baseline: settings.msaa is 4, there 1
only in the Baseline: gpu.old
";
    assert_eq!(text, expected);
}

#[test]
fn report_says_what_spoils_the_numbers() {
    let mut run = run_of(&[("cpu_frame", 7_000_000)]);
    run.complete = false;
    run.warnings.push("the final frame was not written".to_owned());
    run.counts.missed = 1;
    run.set_bad_timestamps(BadTimestamps { zero: 2, absurd: 1, ..BadTimestamps::default() });
    assert!(Report::new(&run, None, &Budget::m3()).has_breach());
    run.void_reason = Some("the final frame differs from its golden".to_owned());
    let report = Report::new(&run, None, &Budget::m3());
    assert!(!report.has_breach(), "a void run is not judged");
    let text = report.to_text(false);
    for note in [
        "VOID: the final frame differs from its golden; the timings are of the wrong work and nothing is judged\n",
        "INCOMPLETE: the run was interrupted after 10 frames\n",
        "no GPU times: this adapter gave no timestamps, so only CPU lines are shown\n",
        "3 GPU times can't be true and are in no line: 2 not written, 0 reversed, 0 wrapped, 1 absurd\n",
        "frames started on 2 cores, 1 migration\n",
        "1 frame missed the deadline\n",
        "warning: the final frame was not written\n",
        "median < 6.000 ms: not judged",
    ] {
        assert!(text.contains(note), "{note:?} is missing:\n{text}");
    }
}

#[test]
fn report_of_a_run_without_lines_is_no_empty_table() {
    let run = RunFile::from_log("town", &FrameLog::default());
    let text = Report::new(&run, Some(&run), &Budget::m3()).to_text(true);
    assert!(text.starts_with("town: 0 frames\nno line was measured\n"), "{text}");
}

#[test]
fn report_colours_only_when_asked() {
    let run = example();
    let report = Report::new(&run, None, &Budget::m3());
    assert!(!report.to_text(false).contains('\x1b'));
    if std::env::var_os("NO_COLOR").is_none() {
        assert!(report.to_text(true).contains('\x1b'));
    }
}

#[test]
fn report_json_holds_the_same() {
    let run = example();
    let baseline = run.clone().without_samples();
    let json = Report::new(&run, Some(&baseline), &Budget::m3()).to_json();
    assert_eq!(json["schema"], "praxis.report/1");
    assert_eq!(json["run"]["lines"]["cpu_frame"]["median"], 5_000_000.0);
    assert_eq!(json["run"]["lines"]["cpu_frame"].get("samples"), None);
    assert_eq!(json["comparison"]["lines"][0]["median_delta_percent"], 0.0);
    let verdicts: Vec<_> = json["budgets"].as_array().expect("a list").iter().map(|b| &b["verdict"]).collect();
    assert_eq!(verdicts, ["pass", "breach", "not_judged"]);
    assert_eq!(json["budgets"][1]["budget"]["statistic"], "p95");
    assert_eq!(json["notes"][0], "Budget not judged: the run has no line tlas.cpu (median)");
}

fn aliasing_of(flip_mean: f64, size_px: [u32; 2]) -> Aliasing {
    let place = |frame_idx| PlaceAliasing {
        frame_idx,
        flip_mean,
        edge_error: Some(0.02),
        flicker_variance: 0.0004,
        ..PlaceAliasing::default()
    };
    Aliasing::of_places(size_px, 8, 64, vec![place(0), place(5)]).expect("two places")
}

#[test]
fn aliasing_is_shown_beside_a_baseline_that_measured_the_same() {
    let mut run = run_of(&[("cpu_frame", 5_000_000)]);
    assert!(!Report::new(&run, None, &[]).to_text(false).contains("aliasing"));
    run.aliasing = Some(aliasing_of(0.05, [320, 180]).to_value());
    let text = Report::new(&run, None, &[]).to_text(false);
    let expected = "
─────────────────────────────────────────────────────────────────
 aliasing at 320×180, median of 2 places, 8 steps each      of 1
─────────────────────────────────────────────────────────────────
   FLIP, mean                                            0.05000
   edge error                                            0.02000
   flicker, rms                                          0.02000
─────────────────────────────────────────────────────────────────
";
    assert!(text.contains(expected), "{text}");

    let mut baseline = run.clone();
    baseline.aliasing = Some(aliasing_of(0.04, [320, 180]).to_value());
    let report = Report::new(&run, Some(&baseline), &[]);
    let text = report.to_text(false);
    let row = text.lines().find(|line| line.contains("FLIP")).expect("it is shown");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["FLIP,", "mean", "0.05000", "0.04000", "+25.0%"]);
    let json = report.to_json();
    assert_eq!(json["aliasing"]["edge_error"]["baseline"], 0.02);
    assert_eq!(json["aliasing"]["shadow_edge_error"]["value"], serde_json::Value::Null);
    assert_eq!(json["run"]["aliasing"]["places"][1]["frame_idx"], 5);

    baseline.aliasing = Some(aliasing_of(0.04, [640, 360]).to_value());
    let text = Report::new(&run, Some(&baseline), &[]).to_text(false);
    assert!(!text.contains("0.04000"), "{text}");
    assert!(text.contains("the Baseline's aliasing was measured at another size or at other places\n"), "{text}");
}
