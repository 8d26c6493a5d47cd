//! `praxis report`: which run, beside what, and how it ends.

use std::time::{Duration, SystemTime};

use praxis::measure::{FrameLog, RunFile, Unit, record_baseline};

use super::{Project, fault, praxis, stderr, stdout};

fn run_of(cpu_frame_ns: u64) -> RunFile {
    let mut log = FrameLog::with_capacity(10);
    let line = log.line("cpu_frame", Unit::Nanoseconds);
    for _ in 0..10 {
        let frame_idx = log.begin_frame();
        log.set(line, frame_idx, cpu_frame_ns);
    }
    let mut run = RunFile::from_log("box", &log);
    run.adapter.name = "llvmpipe".into();
    run.settings.set("msaa", 4);
    run
}

impl Project {
    /// Writes `runs/NAME/run.json`, `age_s` seconds old.
    fn write_run(&self, name: &str, run: &RunFile, age_s: u64) {
        let folder = self.file("runs").join(name);
        std::fs::create_dir_all(&folder).expect("it can be made");
        let path = folder.join("run.json");
        run.write(&path).expect("it can be written");
        let file = std::fs::File::options().write(true).open(path).expect("it was written");
        file.set_modified(SystemTime::now() - Duration::from_secs(age_s)).expect("times can be set");
    }

    fn report(&self, arguments: &[&str]) -> std::process::Output {
        praxis(self.path()).arg("report").args(arguments).output().expect("it starts")
    }
}

#[test]
fn cli_report_takes_the_newest_run() {
    let project = Project::new();
    assert_eq!(fault(&project.report(&[])), "there is no run in runs: name one, or measure with `praxis bench town`");
    project.write_run("z-old", &run_of(1_000_000), 500);
    project.write_run("a-new", &run_of(2_000_000), 10);
    std::fs::create_dir(project.file("runs/no-run")).expect("it can be made");
    let output = project.report(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("2.000 ms") && !stdout(&output).contains("1.000 ms"), "{}", stdout(&output));
    for named in ["runs/z-old", "runs/z-old/run.json"] {
        assert!(stdout(&project.report(&[named])).contains("1.000 ms"));
    }
}

#[test]
fn cli_report_stands_beside_the_baseline_of_machine_and_scene() {
    let project = Project::new();
    let mut baseline = run_of(2_000_000);
    baseline.settings.set("msaa", 1);
    record_baseline(&project.file("baselines"), &baseline).expect("it can be recorded");
    project.write_run("a", &run_of(3_000_000), 0);
    let text = stdout(&project.report(&[]));
    for part in ["+50.0%", "not as the Baseline: settings.msaa is 4, there 1", "median < 6.000 ms: pass"] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    let json: serde_json::Value = serde_json::from_slice(&project.report(&["--json"]).stdout).expect("JSON");
    assert_eq!(json["comparison"]["lines"][0]["median_delta_percent"], 50.0);

    let mut elsewhere = run_of(3_000_000);
    elsewhere.adapter.name = "another".into();
    project.write_run("a", &elsewhere, 0);
    assert!(!stdout(&project.report(&[])).contains('%'), "another machine has no Baseline here");
}

#[test]
fn cli_report_check_ends_in_3_on_a_breach_alone() {
    let project = Project::new();
    let code = |run: &RunFile, arguments: &[&str]| {
        project.write_run("a", run, 0);
        let output = project.report(arguments);
        (output.status.code(), stderr(&output))
    };
    let (fast, slow) = (run_of(5_900_000), run_of(6_000_000));
    assert_eq!(code(&fast, &["--check"]), (Some(0), String::new()));
    assert_eq!(code(&slow, &["--check"]), (Some(3), String::new()));
    assert_eq!(code(&slow, &["--check", "--json"]), (Some(3), String::new()));
    assert_eq!(code(&slow, &[]), (Some(0), String::new()));

    let void = RunFile { void_reason: Some("the final frame differs".into()), ..fast.clone() };
    assert_eq!(code(&void, &["--check"]), (Some(3), String::new()), "void timings are found by a check");
    let cut = RunFile { complete: false, ..fast.clone() };
    assert!(code(&cut, &["--check"]).1.contains("interrupted"));
    let mut nothing = fast;
    nothing.lines.clear();
    assert!(code(&nothing, &["--check"]).1.contains("no line with a Budget"));
}

#[test]
fn cli_report_shows_the_run_whatever_became_of_its_baseline() {
    let project = Project::new();
    let run = run_of(3_000_000);
    let path = record_baseline(&project.file("baselines"), &run).expect("it can be recorded");
    let whole = std::fs::read(&path).expect("it was recorded");
    project.write_run("a", &run, 0);
    for damaged in [&whole[..whole.len() / 2], b"", b"{}", b"\xff"] {
        std::fs::write(&path, damaged).expect("it can be written");
        for arguments in [&[][..], &["--check"], &["--html", "page.html"]] {
            let output = project.report(arguments);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}");
            let said = stderr(&output);
            let line = said.lines().last().expect("it says why");
            assert!(line.starts_with("praxis: "), "{said}");
            for part in ["the Baseline of box can't be used: restore it, or remove it and record it anew", "box.json"] {
                assert!(line.contains(part), "{arguments:?}: {line}");
            }
            let text = stdout(&output);
            assert!(text.contains("3.000 ms") && text.contains("median < 6.000 ms: pass"), "{arguments:?}: {text}");
            assert!(text.ends_with("not judged against the Baseline, which can't be used\n"), "{text}");
        }
        let page = std::fs::read_to_string(project.file("page.html")).expect("the page is there all the same");
        assert!(page.contains("the Baseline of box can&#39;t be used"), "the page says so, too");
        let json: serde_json::Value = serde_json::from_str(&stdout(&project.report(&["--json"]))).expect("JSON");
        assert!(json["baseline_fault"].as_str().is_some_and(|fault| fault.contains("can't be used")), "{json}");
        // A breach is found all the same.
        project.write_run("slow", &run_of(9_000_000), 0);
        assert_eq!(project.report(&["runs/slow", "--check"]).status.code(), Some(3));
        project.write_run("a", &run, 0);
    }
    std::fs::write(&path, whole).expect("it can be written");
    assert_eq!(project.report(&["runs/a", "--check"]).status.code(), Some(0));
}

#[test]
fn cli_report_of_what_is_no_run() {
    let project = Project::new();
    for (text, part) in [
        ("{\"schema\": \"praxis.run/1\", \"scene\": ", "cut off"),
        ("", "cut off"),
        ("{}", "schema none"),
        ("{\"schema\": \"praxis.run/9\"}", "praxis.run/9"),
        ("[1]", "schema 1"),
        ("PNG", "no run file"),
    ] {
        project.write("runs/a/run.json", text);
        let line = fault(&project.report(&["runs/a"]));
        assert!(line.contains("runs/a/run.json") && line.contains(part), "{text:?}: {line}");
    }
    let line = fault(&project.report(&["scenes"]));
    assert_eq!(line, "scenes is no run folder: it has no run.json; `praxis bench` makes one");
    let line = fault(&project.report(&["runs/none", "--check"]));
    assert!(line.contains("runs/none") && line.contains("No such file"), "{line}");
    #[cfg(unix)]
    {
        let line = fault(&project.report(&["/dev/zero"]));
        assert!(line.contains("/dev/zero") && line.contains("no regular file"), "{line}");
    }
}
