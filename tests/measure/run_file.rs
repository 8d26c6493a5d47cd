//! Run files: round trips, the contract of their JSON, and every way in which reading or writing one fails.

use std::fs;
use std::io;
use std::path::Path;

use praxis::measure::{
    Adapter, BadTimestamps, FrameLog, Machine, RunFile, RunFileError, Unit, baseline_path, machine_key, names,
    write_atomically,
};
use serde_json::{Value, json};

fn example() -> RunFile {
    let mut log = FrameLog::with_capacity(4);
    let cpu = log.line(names::CPU_FRAME, Unit::Nanoseconds);
    let gpu = log.line(names::GPU_FRAME, Unit::Nanoseconds);
    log.line("system.never_ran", Unit::Nanoseconds);
    for (value, core) in [(400, Some(0)), (100, Some(2)), (200, None), (300, Some(0))] {
        let frame_idx = log.begin_frame();
        log.set(cpu, frame_idx, value);
        log.set_core(frame_idx, core);
    }
    log.set(gpu, 0, 9_000);
    let mut run = RunFile::from_log("town", &log);
    run.settings.set("width_px", 640).set("wait", "block").set("rays", false);
    run.set_bad_timestamps(BadTimestamps { zero: 3, ..BadTimestamps::default() });
    run
}

#[test]
fn measure_run_json_keeps_its_contract() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.json");
    example().write(&path).expect("the folder can be written");
    let text = fs::read_to_string(&path).expect("it was just written");
    let json: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(json["schema"], "praxis.run/1");
    assert_eq!((&json["scene"], &json["complete"], &json["aliasing"]), (&json!("town"), &json!(true), &Value::Null));
    assert_eq!(
        json["lines"]["cpu_frame"],
        json!({"unit": "ns", "n": 4, "median": 250.0, "p95": 385.0, "p99": 397.0, "min": 100, "max": 400,
               "samples": [400, 100, 200, 300]})
    );
    assert_eq!(json["lines"]["gpu_frame"]["samples"], json!([9_000, null, null, null]));
    assert_eq!(json["counts"]["cores"], json!({"0": 2, "2": 1}));
    assert_eq!((&json["counts"]["migrations"], &json["counts"]["timestamps_bad"]), (&json!(2), &json!(3)));
    assert_eq!(json["counts"]["timestamp_faults"]["zero"], 3);
    assert_eq!(json["settings"], json!({"width_px": 640, "wait": "block", "rays": false}));
    assert_eq!(json["warnings"], json!(["line system.never_ran has no value in any frame"]));
    assert!(text.contains("\"samples\": [400, 100, 200, 300]\n"), "samples stay on one line:\n{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 1, "no temporary file is left");
}

#[test]
fn measure_run_files_survive_a_round_trip() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.json");
    let mut run = example();
    run.complete = false;
    run.void_reason = Some("the final frame differs from its golden".to_owned());
    run.aliasing = Some(json!({"mean": 0.25, "frames": [{"a": 1, "b": []}, {}]}));
    run.adapter.timestamp_period_ns = Some(0.1);
    for run in [run.clone(), run.without_samples()] {
        run.write(&path).expect("the folder can be written");
        assert_eq!(RunFile::read(&path).expect("it was just written"), run);
    }
}

#[test]
fn measure_unknown_fields_and_absent_ones_are_no_error() {
    let text = br#"{"schema": "praxis.run/1", "scene": "town", "complete": true, "lines": {}, "from_the_future": 1}"#;
    let run = RunFile::parse(text, Path::new("run.json")).expect("what is needed is there");
    assert_eq!((run.scene.as_str(), run.has_gpu_times()), ("town", false));
}

#[test]
fn measure_bad_run_files_say_what_is_wrong() {
    let whole = serde_json::to_string(&example()).expect("a run is JSON");
    let parse = |text: &str| RunFile::parse(text.as_bytes(), Path::new("runs/a/run.json")).expect_err("it is bad");

    for n_bytes in [0, 1, whole.len() / 2, whole.len() - 1] {
        let error = parse(&whole[..n_bytes]);
        assert!(matches!(error, RunFileError::Truncated { .. }), "{n_bytes} bytes: {error}");
        assert_eq!(error.to_string(), "the run file runs/a/run.json is cut off: measure again, or restore it");
    }
    let message = parse(&whole.replace("praxis.run/1", "praxis.run/2")).to_string();
    assert!(message.contains("has schema \"praxis.run/2\", but this version reads \"praxis.run/1\""), "{message}");
    assert!(parse("{}").to_string().contains("has schema none"));
    let message = parse(&whole.replace("\"complete\":true", "\"complete\":7")).to_string();
    assert!(message.contains("runs/a/run.json is no run file") && message.contains("at line 1, column"), "{message}");
    assert!(matches!(parse("[1, 2]"), RunFileError::Malformed { .. }));
    assert!(matches!(parse("not JSON"), RunFileError::Malformed { .. }));
    let message = parse(&whole.replace("[400,100,200,300]", "[400,100,200]")).to_string();
    assert!(message.contains("line cpu_frame has 3 samples for 4 frames"), "{message}");
    let message = parse(&whole.replace("[400,100,200,300]", "[400,100,200,null]")).to_string();
    assert!(message.contains("line cpu_frame has 3 values, its n says 4"), "{message}");

    let error = RunFile::read(Path::new("no/such/run.json")).expect_err("there is none");
    assert!(error.to_string().starts_with("can't read the run file no/such/run.json: "), "{error}");
    let message = example().line("gpu.sun").expect_err("it isn't there").to_string();
    assert_eq!(message, "the run of `town` has no line `gpu.sun`; it has cpu_frame, gpu_frame");
}

#[test]
fn measure_failed_writes_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.json");
    fs::write(&path, "the old one").expect("the folder can be written");

    let error = write_atomically(&path, |file| {
        file.write_all(b"half of the new one")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    let message = error.expect_err("the disk is full").to_string();
    assert!(message.starts_with(&format!("can't write {}: ", path.display())), "{message}");
    assert!(message.ends_with("; free some space or choose another folder"), "{message}");
    assert_eq!(fs::read_to_string(&path).expect("the old file is there"), "the old one");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 1);

    let message = example().write(&folder.path().join("no/run.json")).expect_err("no such folder").to_string();
    assert!(message.ends_with("; make its folder first"), "{message}");
    let message = example().write(&path.join("run.json")).expect_err("a file is no folder").to_string();
    assert!(message.starts_with("can't write "), "{message}");
    assert!(example().write(folder.path()).is_err(), "a folder can't be replaced by a file");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 1);
}

#[test]
fn measure_machine_keys_name_machine_and_adapter() {
    let key = |adapter: &str, cpu: &str, n_cores| {
        let machine = Machine { cpu: cpu.to_owned(), n_cores, ..Machine::default() };
        machine_key(&machine, &Adapter { name: adapter.to_owned(), ..Adapter::default() })
    };
    assert_eq!(key("llvmpipe (LLVM 15.0.6, 256 bits)", "AMD EPYC", 2), "llvmpipe-amd-epyc-2c");
    assert_eq!(
        key("NVIDIA H200", "Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz", 16),
        "nvidia-h200-intel-xeon-platinum-8480c-16c"
    );
    assert_eq!(key("Apple M4 Pro", "Apple M4 Pro", 12), "apple-m4-pro-apple-m4-pro-12c");
    assert_eq!(
        key("AMD Radeon RX 7900 XT (RADV NAVI31)", "AMD Ryzen 9 7950X 16-Core Processor", 32),
        "amd-radeon-rx-7900-xt-amd-ryzen-9-7950x-32c"
    );
    assert_eq!(key("", "../..", 0), "unknown-unknown-0c");
    assert!(key(&"x/".repeat(500), &"é".repeat(500), 1).len() < 120);
}

#[test]
fn measure_baselines_have_a_place_whatever_the_scene_is_called() {
    let mut run = example();
    run.machine = Machine { cpu: "AMD EPYC".to_owned(), n_cores: 2, ..Machine::default() };
    run.adapter.name = "llvmpipe (LLVM 15.0.6, 256 bits)".to_owned();
    for (scene, file) in [("town", "town"), ("models/Water Bottle.glb", "water-bottle"), ("..", "scene"), ("", "scene")]
    {
        run.scene = scene.to_owned();
        let expected = Path::new("baselines/llvmpipe-amd-epyc-2c").join(format!("{file}.json"));
        assert_eq!(baseline_path(Path::new("baselines"), &run), expected, "{scene}");
    }
}
