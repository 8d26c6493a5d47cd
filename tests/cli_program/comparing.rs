//! `bench --vs`, `--ab`, `--self-test` and `--resume`: few pairs of tiny runs.

use praxis::measure::RunFile;
use praxis::measure::experiment::{Experiment, ExperimentKind, ExperimentState, Verdict, VoidReason};
use praxis::measure::names;

use super::{Project, fault, praxis, stderr, stdout};

/// What makes a run soon over, and how it waits certain.
const TINY: [&str; 10] =
    ["--frames", "3", "--warmup", "1", "--size", "16x9", "--rays", "off", "--submit-blocks", "true"];

impl Project {
    fn compare(&self, args: &[&str]) -> std::process::Output {
        praxis(self.path()).args(["bench", "box"]).args(TINY).args(args).output().expect("it starts")
    }

    fn experiment(&self, folder: &str) -> Experiment {
        Experiment::read(&self.file(folder).join("experiment.json")).expect("an experiment file")
    }

    /// A program that stands in for another praxis: it gives the same run each time, after `extra` with `$n` runs before.
    #[cfg(unix)]
    fn stand_in(&self, extra: &str) -> String {
        self.stand_in_without("no flag", extra)
    }

    /// The same of a praxis that doesn't know the flag `unknown`.
    #[cfg(unix)]
    fn stand_in_without(&self, unknown: &str, extra: &str) -> String {
        let run = self.compare(&["--skip-aliasing", "--quiet", "--out", "real"]);
        assert!(run.status.success(), "{}", stderr(&run));
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo praxis 0.0.1 && exit\n\
             case \"$*\" in *--help) case \"$*\" in *'{unknown}'*) exit 2; esac; exit; esac\necho \"$*\" >>told\n\
             n=$(cat n 2>/dev/null || echo 0)\necho $((n + 1)) >n\n{extra}\nwhile [ $# -gt 0 ]; do [ \"$1\" = --out ] && out=$2; shift; done\ncp real/run.json \"$out/run.json\"\n"
        );
        self.program("other.sh", &script)
    }

    /// A script that may be run.
    #[cfg(unix)]
    fn program(&self, name: &str, script: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        self.write(name, script);
        let path = self.file(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be made a program");
        path.display().to_string()
    }
}

#[test]
fn cli_comparing_two_values_of_a_flag() {
    let project = Project::new();
    let ab = "inject=0@stage.encode,0.05@stage.encode";
    let output = project.compare(&["--ab", ab, "--pairs", "2", "--seed", "5", "--clock-gate", "100", "--out", "a"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("A: inject=0@stage.encode\nB: inject=0.05@stage.encode\n"), "{text}");
    assert!(text.contains("can't tell") && text.contains("too few pairs") && text.contains("nothing yet"), "{text}");
    assert!(stderr(&output).contains("2 of at most 2 pairs"), "{}", stderr(&output));

    let experiment = project.experiment("a");
    assert_eq!((experiment.kind, experiment.state), (ExperimentKind::Ab, ExperimentState::Exhausted));
    assert_eq!((experiment.pairs.len(), experiment.n_valid_pairs(), experiment.plan.seed), (2, 2, 5));
    let encode = experiment.line(names::STAGE_ENCODE).expect("a gated line");
    assert!(encode.b >= 5e7 && encode.difference.estimate > 1.5, "50 ms were added: {encode:?}");
    assert_eq!(encode.verdict, Verdict::CantTell, "two pairs can't tell anything");
    assert_eq!(experiment.b.settings.get("inject"), Some(&"0.05@stage.encode".into()));
    for run in ["000-a", "000-b", "001-a", "001-b"] {
        RunFile::read(&project.file(&format!("a/runs/{run}/run.json"))).expect("each run is kept");
    }
    assert!(project.file("a/runs/000-b/final.png").exists() && !project.file("a/runs/001-b/final.png").exists());

    let report = |args: &[&str]| praxis(project.path()).arg("report").args(args).output().expect("it starts");
    let shown = report(&["a", "--check", "--html", "page.html"]);
    assert_eq!(
        (shown.status.code(), stdout(&shown)),
        (Some(0), text.clone()),
        "nothing regressed that two pairs can tell"
    );
    let read = |path: &str| std::fs::read_to_string(project.file(path)).expect("a page");
    assert!(read("page.html").contains("Can't tell A from B yet") && read("page.html") == read("a/report.html"));
    assert!(stdout(&report(&["a", "--json"])).contains("praxis.experiment/1"));

    let again = praxis(project.path()).args(["bench", "--resume", "a"]).output().expect("it starts");
    assert_eq!((again.status.code(), stdout(&again)), (Some(0), text), "a finished one is shown again");
    assert_eq!(project.experiment("a").pairs.len(), 2);
}

#[test]
fn cli_comparing_says_what_is_wrong() {
    let project = Project::new();
    for (args, part) in [
        (&["--ab", "wait"][..], "use FLAG=A,B"),
        (&["--ab", "wait=block,sleep"], "sleep"),
        (&["--ab", "wiat=block,spin"], "did you mean `wait`?"),
        (&["--ab", "wait=block,spin", "--vs", "x"], "cannot be used with"),
        (&["--ab", "wait=block,spin", "--record-baseline"], "is no Baseline"),
        (&["--self-test", "0"], "0"),
    ] {
        let output = project.compare(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
    // A side that can't run at all ends it at once, and leaves no folder that could not be gone on with.
    let unknown = praxis(project.path()).args(["bench", "bxo", "--ab", "wait=block,spin", "--quiet"]).output();
    let line = fault(&unknown.expect("it starts"));
    assert!(line.contains("bench bxo") && line.contains("the nearest names are \"box\""), "{line}");
    assert!(!project.files().iter().any(|path| path.to_string_lossy().contains("bxo")), "{:?}", project.files());
    let resume = |folder: &str| praxis(project.path()).args(["bench", "--resume", folder]).output().expect("it starts");
    assert!(fault(&resume("scenes")).contains("holds no comparison"));
    project.write("old/experiment.json", r#"{"schema": "praxis.experiment/0"}"#);
    assert!(fault(&resume("old")).contains("praxis.experiment/0"));
    let output =
        praxis(project.path()).args(["bench", "--resume", "old", "--frames", "3"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

/// What is no praxis is found out before anything is drawn with it, or with this program.
#[cfg(unix)]
#[test]
fn cli_comparing_asks_the_other_program_who_it_is() {
    let project = Project::new();
    project.write("notes.txt", "no program");
    let text = project.program("text", "no program, though it may be run");
    let hanging = project.program("hanging", "#!/bin/sh\nexec sleep 60\n");
    let endless = project.program("endless", "#!/bin/sh\nexec yes\n");
    let mute = project.program("mute", "#!/bin/sh\nexit 0\n");
    for (program, part) in [
        ("nowhere", "there is no such program"),
        ("scenes", "it is a folder"),
        ("notes.txt", "chmod +x"),
        (&text, "is no praxis"),
        (&hanging, "it is no praxis: --version did not end within 5 seconds"),
        (&endless, "it is no praxis"),
        (&mute, "it is no praxis: --version does not answer"),
        ("/bin/ls", "it is no praxis: --version does not answer"),
    ] {
        let before = project.files();
        let started = std::time::Instant::now();
        let output = project.compare(&["--vs", program, "--pairs", "1", "--out", "a"]);
        assert_eq!(output.status.code(), Some(2), "{program}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.lines().count() == 1 && said.contains(program) && said.contains(part), "{program}: {said}");
        assert!(started.elapsed().as_secs() < 30 && stdout(&output).is_empty(), "{program}: {:?}", started.elapsed());
        assert_eq!(project.files(), before, "{program}: something was left behind");
    }
}

#[cfg(unix)]
#[test]
fn cli_comparing_goes_on_after_a_run_that_failed() {
    let project = Project::new();
    let other = project.stand_in("[ $n -eq 1 ] && { echo 'praxis: the device was lost' >&2; exit 1; }");
    let output = project.compare(&["--vs", &other, "--pairs", "2", "--clock-gate", "100", "--out", "a"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let experiment = project.experiment("a");
    assert_eq!((experiment.pairs.len(), experiment.n_valid_pairs()), (3, 2));
    let Some(VoidReason::Failed { message, .. }) = &experiment.pairs[1].void else {
        panic!("{:?}", experiment.pairs[1].void)
    };
    assert_eq!(message, "the device was lost");
    assert!(stdout(&output).contains("pair 2 is void: a run of A failed: the device was lost"), "{}", stdout(&output));
}

/// What one side's runs are told, the other's are told too.
#[cfg(unix)]
#[test]
fn cli_comparing_gives_both_sides_the_same_options() {
    for (unknown, n_told) in [("no flag", 1), ("--submit-blocks", 0)] {
        let project = Project::new();
        let other = project.stand_in_without(unknown, "");
        let flags =
            ["--frames", "3", "--warmup", "1", "--size", "16x9", "--rays", "off", "--clock-gate", "100", "--seed", "0"];
        let mut command = praxis(project.path());
        command.args(["bench", "box", "--vs", &other, "--pairs", "2", "--out", "a"]).args(flags);
        let output = command.output().expect("it starts");
        // A busy machine may find out otherwise whether submit blocks: that voids a pair.
        assert!(output.status.code() == Some(0) || n_told == 0, "{}", stderr(&output));
        let experiment = project.experiment("a");
        assert_eq!(experiment.a.arguments, experiment.b.arguments);
        let n_hints = experiment.a.arguments.iter().filter(|argument| argument.starts_with("--submit-blocks=")).count();
        assert_eq!(n_hints, n_told, "{:?}", experiment.a.arguments);
        assert_eq!(experiment.warnings.iter().any(|warning| warning.contains("can't be told")), n_told == 0);
        let told = std::fs::read_to_string(project.file("told")).expect("it wrote down what it was told");
        let goldens: Vec<bool> = told.lines().map(|line| line.contains("--skip-goldens")).collect();
        assert_eq!(goldens[..2], [false, n_told == 1], "{told}");
    }
}

#[cfg(unix)]
#[test]
fn cli_comparing_stopped_by_ctrl_c_goes_on_later() {
    let project = Project::new();
    let other = project.stand_in("[ $n -eq 1 ] && kill -INT $PPID && sleep 1");
    let output = project.compare(&["--vs", &other, "--pairs", "3", "--clock-gate", "100", "--out", "a", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("interrupted after 1 pair: `praxis bench --resume a` goes on"),
        "{}",
        stderr(&output)
    );
    let stopped = project.experiment("a");
    assert_eq!((stopped.state, stopped.n_valid_pairs()), (ExperimentState::Unfinished, 1));
    assert_eq!(stopped.pairs.last().and_then(|pair| pair.void.clone()), Some(VoidReason::Interrupted));

    let resumed = praxis(project.path()).args(["bench", "--resume", "a", "--json"]).output().expect("it starts");
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    let printed: serde_json::Value = serde_json::from_str(&stdout(&resumed)).expect("one JSON document");
    assert_eq!(printed["schema"], "praxis.experiment/1");
    let finished = project.experiment("a");
    assert_eq!((finished.state, finished.n_valid_pairs(), finished.pairs.len()), (ExperimentState::Exhausted, 3, 4));
}

#[test]
fn cli_comparing_with_itself_tells_the_spread() {
    let project = Project::new();
    let output = project.compare(&["--self-test", "1", "--pairs", "2", "--out", "a", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("0 of 1 called some line different although nothing was"), "{}", stdout(&output));
    let n_spreads = project.files().iter().filter(|path| path.ends_with("box.spread.json")).count();
    assert_eq!(n_spreads, 1, "beside the Baselines: {:?}", project.files());
    assert!(!project.file("a/0000/runs/000-a").exists(), "its runs are not kept");

    let compare = |args: &[&str]| {
        let output = project.compare(
            &[&["--ab", "wait=block,spin", "--pairs", "1", "--clock-gate", "100", "--quiet"][..], args].concat(),
        );
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    compare(&["--out", "b"]);
    let experiment = project.experiment("b");
    assert_eq!(experiment.plan.spread_from.as_deref(), Some("a self-test of 1 experiment"));
    compare(&["--out", "c", "--msaa", "1"]);
    let experiment = project.experiment("c");
    assert_eq!(experiment.plan.spread_from, None);
    assert!(experiment.warnings.iter().any(|warning| warning.contains("another msaa")), "{:?}", experiment.warnings);
}

#[test]
fn cli_comparing_keeps_to_a_folder_of_its_own() {
    let project = Project::new();
    // Without rays nothing traces them.
    let compared = project.compare(&["--ab", "ray-backend=auto,bvh", "--pairs", "1", "--out", "a"]);
    assert_eq!(compared.status.code(), Some(0), "{}", stderr(&compared));
    let text = stdout(&compared);
    assert!(text.contains("with fewer than 11 pairs nothing can be called different"), "{text}");
    assert!(text.contains("both sides ran with the same settings"), "{text}");
    let before = std::fs::read(project.file("a/experiment.json")).expect("it is there");

    let again = fault(&project.compare(&["--ab", "tonemap=agx,aces", "--pairs", "1", "--out", "a"]));
    assert!(again.contains("a holds a comparison already") && again.contains("--resume a"), "{again}");
    let run = fault(&project.compare(&["--skip-aliasing", "--quiet", "--out", "a"]));
    assert!(run.contains("a holds a comparison") && run.contains("--out"), "{run}");
    assert_eq!(std::fs::read(project.file("a/experiment.json")).expect("it is there"), before);

    assert!(project.compare(&["--skip-aliasing", "--quiet", "--out", "run"]).status.success());
    let over_run = fault(&project.compare(&["--ab", "tonemap=agx,aces", "--pairs", "1", "--out", "run"]));
    assert!(over_run.contains("run holds a run already"), "{over_run}");
}

#[test]
fn cli_comparing_refuses_flags_that_would_say_nothing() {
    let project = Project::new();
    for (arguments, named) in [
        (&["--margin", "5"][..], "--margin is about comparing"),
        (&["--pairs", "5"], "--pairs is about comparing"),
        (&["--ab", "frames=2,3"], "leave out --frames"),
    ] {
        let output = project.compare(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(named), "{arguments:?}: {}", stderr(&output));
    }
}
