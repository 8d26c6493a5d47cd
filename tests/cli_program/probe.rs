//! `praxis probe`.

use std::time::Duration;

use super::{Project, fault, praxis, stderr, stdout};

#[test]
fn cli_probe_alone_lists_the_probes() {
    let project = Project::new();
    let output = praxis(project.path()).arg("probe").output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let names: Vec<String> =
        stdout(&output).lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    assert_eq!(names, ["latency", "waits", "batch", "resident", "watchdog", "line", "all"]);
}

#[test]
fn cli_probe_line_starts_its_workers_and_writes_what_it_is_asked_for() {
    let project = Project::new();
    let output = praxis(project.path())
        .args(["probe", "line", "--quick", "--json", "--html", "page.html", "--out", "results"])
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!((&json["schema"], &json["probe"]), (&"praxis.probe/1".into(), &"line".into()));
    assert_eq!((&json["ended"], json["build"]["version"].is_string()), (&"complete".into(), true));
    let rows = json["tables"][0]["rows"].as_array().expect("rows");
    let processes = rows.iter().find(|row| row[0] == "processes, memory of their own").expect("a row");
    assert!(processes[2].as_f64() > Some(0.0), "{processes}, {}", json["cautions"]);
    let page = std::fs::read_to_string(project.file("page.html")).expect("it was written");
    assert!(page.contains("<svg") && page.ends_with("</html>\n"));
    let saved = std::fs::read(project.file("results/line.json")).expect("it was written");
    let saved: serde_json::Value = serde_json::from_slice(&saved).expect("JSON");
    assert_eq!(saved, json);
    assert!(project.file("results/probes.html").is_file());
}

#[test]
fn cli_probe_shows_a_table_with_the_machine_and_its_settings() {
    let project = Project::new();
    let output = praxis(project.path()).args(["probe", "latency", "--quick"]).output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in
        ["adapter: ", "machine: ", "settings: effort quick", "median, µs", "submit", "total", "caution: --quick"]
    {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
}

#[test]
fn cli_probe_faults() {
    let project = Project::new();
    let run = |arguments: &[&str]| praxis(project.path()).arg("probe").args(arguments).output().expect("it starts");
    for arguments in [
        &["nothing"][..],
        &["watchdog", "0"],
        &["watchdog", "1e9"],
        &["watchdog", "nan"],
        &["waits", "--spin-us", "0"],
        &["latency", "3"],
        &["--json"],
    ] {
        assert_eq!(run(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let line = fault(&run(&["latency", "--quick", "--adapter", "voodoo 2"]));
    assert!(line.contains("voodoo 2"), "{line}");
    let line = fault(&run(&["line", "--quick", "--html", "none/such/page.html"]));
    assert!(line.contains("none/such") && line.contains("--html"), "{line}");
    let line = fault(&run(&["line", "--quick", "--html", "scenes"]));
    assert!(line.contains("scenes is a folder"), "{line}");
    let line = fault(&run(&["line", "--quick", "--out", "scenes/box.ron"]));
    assert!(line.contains("scenes/box.ron") && line.contains("--out"), "{line}");
}

/// Ctrl-C: what was measured is shown, one line says so, and the exit code is 1. Also with one core.
#[test]
#[cfg(target_os = "linux")]
fn cli_probe_survives_ctrl_c() {
    let project = Project::new();
    // With one core `line` has one worker, and may be done before the signal comes.
    for (probe, after_ms, may_be_done) in [("waits", 1500, false), ("line", 500, true)] {
        let program = assert_cmd::cargo::cargo_bin("praxis");
        let mut child = std::process::Command::new("taskset")
            .args(["-c", "0"])
            .arg(program)
            .args(["probe", probe])
            .current_dir(project.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("taskset is part of util-linux");
        std::thread::sleep(Duration::from_millis(after_ms));
        let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupted.expect("kill is there").success() && child.try_wait().is_ok());
        let output = child.wait_with_output().expect("it ends");
        if may_be_done && output.status.success() {
            continue;
        }
        let line = fault(&output);
        assert!(line.contains("interrupted"), "{line}");
        if !line.contains("before the first probe") {
            assert!(stdout(&output).contains("INCOMPLETE: interrupted"), "{probe}: {}", stdout(&output));
        }
    }
}
