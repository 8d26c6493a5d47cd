//! A window's run is a run file like any other.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use praxis::measure::{RunFile, names};

use crate::display::VirtualDisplay;
use crate::program::{praxis, run};

fn recorded(more: &[&str], folder: &Path) -> Option<RunFile> {
    let display = VirtualDisplay::start()?;
    let mut arguments = vec!["cornell", "--size", "160x90", "--quiet", "--record", folder.to_str().expect("UTF-8")];
    arguments.extend(more);
    let (code, stderr) = run(praxis(&arguments, Some(&display.name)), Duration::from_secs(300));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    Some(RunFile::read(&folder.join("run.json")).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn window_records_a_run_that_report_opens() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(run_file) = recorded(&["--frames", "40", "--fps-limit", "30"], folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    assert!(run_file.complete && run_file.n_frames == 40, "{} frames", run_file.n_frames);
    assert_eq!(run_file.settings.get("window").and_then(|window| window.as_bool()), Some(true));
    assert_eq!(run_file.settings.get("fps_limit").and_then(|limit| limit.as_f64()), Some(30.0));
    for name in [
        names::CPU_FRAME,
        names::STAGE_WAIT,
        names::STAGE_ENCODE,
        names::GPU_FRAME,
        "stage.pace",
        "stage.acquire",
        "stage.present",
        "latency.input_to_gpu_end",
        "system.propagate_world_transforms",
        names::CHAIN_START,
    ] {
        let line = run_file.line(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(line.summary.n, 40, "{name}");
    }
    if cfg!(target_os = "linux") {
        for name in [names::BLOCKED_ACQUIRE, names::BLOCKED_SUBMIT, names::BLOCKED_POLL, names::BLOCKED_PRESENT] {
            assert_eq!(run_file.line(name).expect("Linux tells").summary.n, 40, "{name}");
        }
    }
    // From one frame to the next one: there is one fewer.
    let frame_time = run_file.line(names::FRAME_TIME).expect("a line");
    assert_eq!((frame_time.summary.n, run_file.line("present_interval").expect("a line").summary.n), (39, 39));
    assert!(frame_time.summary.median < 80e6, "it is drawn in a few ms: {}", frame_time.summary.median);
    // What the limiter promises: n intervals in a row take more than n − ½ periods. On a busy machine a start that was late is followed by
    // one that much sooner, so that single intervals, and their median, may be shorter than a period.
    let intervals_ns: Vec<u64> = frame_time.samples.iter().flatten().copied().collect();
    for first_idx in 0..intervals_ns.len() {
        let mut took_ns = 0;
        for (n, interval_ns) in (1u64..).zip(&intervals_ns[first_idx..]) {
            took_ns += interval_ns;
            let least_ns = (n * 33_333_333).saturating_sub(16_666_667);
            assert!(took_ns + 1_000 >= least_ns, "at most 30 a second: {n} frames in {took_ns} ns of {intervals_ns:?}");
        }
    }
    let wall_ns = run_file.usage.get("wall_ns").copied().expect("what the recorded frames used");
    assert!((39..).contains(&(wall_ns / 33_000_000)), "40 frames at 30 a second took {wall_ns} ns");
    for file in ["frames.csv", "final.png"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }

    let report = praxis(&["report", folder.path().to_str().expect("UTF-8")], None).output().expect("praxis runs");
    let text = String::from_utf8_lossy(&report.stdout);
    assert!(report.status.success() && text.contains("present_interval"), "{text}");
}

#[test]
fn window_keeps_what_it_recorded_before_the_device_was_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(run_file) = recorded(&["--frames", "30", "--inject-fault", "device-lost@20"], folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    assert!(!run_file.complete, "it was cut short");
    assert!((19..=21).contains(&run_file.n_frames), "{} frames", run_file.n_frames);
    assert!(run_file.warnings.iter().any(|warning| warning.contains("lost")), "{:?}", run_file.warnings);
}

#[cfg(unix)]
#[test]
fn window_keeps_what_it_recorded_before_ctrl_c() {
    let Some(display) = VirtualDisplay::start() else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    let parent = tempfile::tempdir().expect("a temporary folder");
    let folder = parent.path().join("run");
    let arguments = ["cornell", "--size", "160x90", "--quiet", "--record", folder.to_str().expect("UTF-8")];
    let mut child = praxis(&arguments, Some(&display.name)).spawn().expect("praxis starts");
    let started = Instant::now();
    while !folder.exists() && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    // The folder is made when the recording begins; then some frames.
    std::thread::sleep(Duration::from_secs(3));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(killed.success(), "it still runs");
    let code = child.wait().expect("the child is ours").code();
    assert_eq!(code, Some(0), "it closes as by its own button");
    let run_file = RunFile::read(&folder.join("run.json")).unwrap_or_else(|error| panic!("{error}"));
    assert!(run_file.n_frames > 0 && run_file.line(names::CPU_FRAME).is_ok(), "{} frames", run_file.n_frames);
}

#[test]
fn window_that_can_not_record_says_so_before_it_opens() {
    let Some(display) = VirtualDisplay::start() else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    let arguments = ["cornell", "--size", "160x90", "--quiet", "--record", "/dev/null/run", "--frames", "3"];
    let command: Command = praxis(&arguments, Some(&display.name));
    let (code, stderr) = run(command, Duration::from_secs(120));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains("/dev/null/run"), "{stderr}");
}
