//! What `praxis bench` leaves in its folder: all of a run, or nothing, and whether the run is believed.

use std::path::Path;
use std::process::Output;

use praxis::measure::RunFile;

use super::{Project, fault, praxis, stderr, stdout};

const LIST: &str = "[golden.box]\nscene = \"box\"\ncamera = \"front\"\nsize_px = [64, 40]\nframe = 3\n";
const QUICK: [&str; 7] = ["--frames", "3", "--warmup", "1", "--size", "32x18", "--quiet"];

impl Project {
    fn bench_box(&self, arguments: &[&str]) -> Output {
        let mut command = praxis(self.path());
        command.args(["bench", "box"]).args(QUICK).args(arguments);
        command.output().expect("it starts")
    }

    fn bless_box(&self) {
        self.write("goldens/goldens.toml", LIST);
        let output = praxis(self.path()).args(["capture", "--bless", "--quiet"]).output().expect("it starts");
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn read_run(&self, run: &str) -> RunFile {
        RunFile::read(&self.file(run).join("run.json")).expect("the run is whole")
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let names = std::fs::read_dir(self.file(folder)).expect("it is a folder").flatten();
        let mut names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn damage(picture: &Path) {
    let mut pixels = image::open(picture).expect("it is a picture").into_rgba8();
    for pixel in pixels.pixels_mut().take(500) {
        *pixel = image::Rgba([255, 0, 255, 255]);
    }
    pixels.save(picture).expect("it can be written");
}

#[test]
fn bench_holds_its_picture_against_the_golden_and_voids_a_run_that_differs() {
    let project = Project::new();
    project.bless_box();
    let output = project.bench_box(&["--skip-aliasing", "--out", "good"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let run = project.read_run("good");
    assert_eq!((run.void_reason.as_deref(), run.goldens.len()), (None, 1));
    assert!(run.goldens[0].passes && run.date.is_some());
    assert_eq!(project.names_in("good/golden"), ["box.actual.png", "box.error.png", "box.expected.png"]);
    let expected = ["final.png", "frames.csv", "golden", "report.html", "run.json", "trace.json"];
    assert_eq!(project.names_in("good"), expected);

    // The program draws what it drew; it is the golden that says otherwise.
    damage(&project.file("goldens/box.png"));
    let output = project.bench_box(&["--skip-aliasing", "--out", "void"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stdout(&output).contains("VOID: the picture differs from golden box: "), "{}", stdout(&output));
    let run = project.read_run("void");
    assert!(run.void_reason.is_some() && !run.goldens[0].passes && run.lines.contains_key("cpu_frame"));
    let page = std::fs::read_to_string(project.file("void/report.html")).expect("it is there");
    assert!(page.contains("Void: the wrong picture was drawn"));

    let check = praxis(project.path()).args(["report", "void", "--check"]).output().expect("it starts");
    assert_eq!(check.status.code(), Some(3));
    let recorded = project.bench_box(&["--skip-aliasing", "--record-baseline", "--out", "void"]);
    assert!(fault(&recorded).contains("a void run of `box` is no Baseline"));
    assert!(!project.file("baselines").exists());

    // Other settings draw another picture, and a golden that nobody drew says nothing.
    for arguments in [&["--msaa", "1"][..], &["--rays", "off"], &["--tonemap", "aces"], &["--skip-goldens"]] {
        let arguments = [arguments, &["--skip-aliasing", "--out", "other"]].concat();
        let output = project.bench_box(&arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert!(project.read_run("other").goldens.is_empty() && !project.file("other/golden").exists());
    }
    std::fs::remove_file(project.file("goldens/box.png")).expect("it is there");
    let output = project.bench_box(&["--skip-aliasing", "--out", "missing"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("warning: golden box is listed but has no picture"), "{}", stdout(&output));

    project.write("goldens/goldens.toml", "[golden.box");
    assert!(fault(&project.bench_box(&["--out", "none"])).contains("goldens.toml"));
    assert!(!project.file("none").exists());
}

#[test]
fn bench_drawing_goldens_changes_nothing_of_the_run() {
    let project = Project::new();
    let picture = |run: &str| std::fs::read(project.file(run).join("final.png")).expect("it is there");
    assert!(project.bench_box(&["--out", "without"]).status.success());
    project.bless_box();
    assert!(project.bench_box(&["--out", "with"]).status.success());
    assert_eq!(picture("with"), picture("without"));
    let (with, without) = (project.read_run("with"), project.read_run("without"));
    assert_eq!(with.goldens.len(), 1);
    assert_eq!(
        (with.settings, with.aliasing),
        (without.settings, without.aliasing),
        "aliasing comes after the goldens"
    );
}

#[test]
fn bench_takes_away_what_an_older_run_left_in_its_folder() {
    let project = Project::new();
    project.bless_box();
    let output = project.bench_box(&["--out", "a"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(project.names_in("a/aliasing").contains(&"place0_flip.png".to_owned()));
    project.write("a/aliasing/notes.txt", "by hand");
    let output = project.bench_box(&["--out", "a", "--skip-aliasing", "--skip-goldens"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(project.names_in("a/aliasing"), ["notes.txt"], "what is not ours stays");
    assert!(!project.file("a/golden").exists());
}

#[test]
fn bench_that_fails_leaves_no_empty_runs_folder() {
    let project = Project::new();
    let output = praxis(project.path()).args(["bench", "bix", "--quiet"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(!project.file("runs").exists());
    let output = project.bench_box(&["--camera", "back", "--out", "deep/er/run"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!project.file("deep").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn bench_on_a_full_disk_leaves_all_of_a_run_or_nothing() {
    let project = Project::new();
    std::fs::create_dir(project.file("small")).expect("it can be made");
    // Sizes at which one file after another has no room; in a mount namespace that ends with the program.
    for size_kb in [16, 64, 120] {
        let script = format!(
            r#"mount -t tmpfs -o size={size_kb}k none small || exit 77
            "$0" bench box --skip-aliasing --frames 200 --warmup 1 --size 64x36 --quiet --out small/run; status=$?
            ls -A small small/run 2>/dev/null | grep -v : >left
            exit $status"#
        );
        let output = std::process::Command::new("unshare")
            .args(["--mount", "sh", "-c", &script])
            .arg(assert_cmd::cargo::cargo_bin("praxis"))
            .current_dir(project.path())
            .output();
        let Ok(output) = output else { return };
        let text = stderr(&output);
        if output.status.code() == Some(77) || text.contains("not permitted") || text.contains("denied") {
            println!("no tmpfs can be mounted here: nothing was tried");
            return;
        }
        let left = std::fs::read_to_string(project.file("left")).expect("it was written");
        assert_eq!(output.status.code(), Some(1), "{size_kb} kB: {text}");
        assert!(text.contains("could not save the run in small/run, where nothing of it was left"), "{text}");
        assert!(text.contains("No space left on device") && text.contains("free some space"), "{text}");
        assert_eq!(left, "", "{size_kb} kB: something was left");
        assert!(stdout(&output).contains("cpu_frame"), "what was measured can still be read");
    }
}

#[test]
fn pictures_are_png_files_and_nothing_else() {
    let project = Project::new();
    let output = praxis(project.path()).args(["capture", "box", "--out", "x.jpg"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("pictures are written as PNG: call it x.png"), "{}", stderr(&output));
    for name in ["x.PNG", "x"] {
        let arguments = ["capture", "box", "--size", "16x9", "--quiet", "--out", name];
        let output = praxis(project.path()).args(arguments).output().expect("it starts");
        assert!(output.status.success() && project.file(name).exists(), "{}", stderr(&output));
    }
}

#[test]
fn report_writes_a_page_with_the_pictures_of_the_run() {
    let project = Project::new();
    project.bless_box();
    assert!(project.bench_box(&["--out", "a"]).status.success());
    let output = praxis(project.path()).args(["report", "a", "--html", "page.html"]).output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let read = |path: &str| std::fs::read_to_string(project.file(path)).expect("it is there");
    assert_eq!(read("page.html"), read("a/report.html"), "bench left the same page");
    assert!(read("page.html").matches("<img ").count() >= 1 + 3 + 2 * 3);
    let line =
        fault(&praxis(project.path()).args(["report", "a", "--html", "none/page.html"]).output().expect("it starts"));
    assert!(line.contains("can't write none/page.html"), "{line}");
}

#[test]
fn bench_traces_what_it_drew() {
    let project = Project::new();
    assert!(project.bench_box(&["--skip-aliasing", "--out", "a"]).status.success());
    let text = std::fs::read_to_string(project.file("a/trace.json")).expect("it is there");
    let trace: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let n_slices = |name: &str| events.iter().filter(|event| event["ph"] == "X" && event["name"] == name).count();
    for stage in ["update", "prepare_frame", "encode", "submit", "propagate_world_transforms"] {
        assert_eq!(n_slices(stage), 3, "{stage}");
    }
    assert_eq!(events.iter().filter(|event| event["ph"] == "C").count(), 9);
    if trace["otherData"]["gpu_clock_alignment"].is_object() {
        assert_eq!(n_slices("shade"), 3);
        assert_eq!(trace["otherData"]["gpu_clock_alignment"]["n_frames"], 3);
    }
}
