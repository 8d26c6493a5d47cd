//! The aliasing part of `praxis bench`: what it leaves behind, also when it is stopped.

#[cfg(unix)]
use std::{
    path::Path,
    time::{Duration, Instant},
};

use praxis::measure::RunFile;
use praxis::measure::aliasing::{ALIASING_SCHEMA, Aliasing};

use super::{Project, praxis, repository, stderr, stdout};

impl Project {
    fn cache(&self) -> std::path::PathBuf {
        self.file("cache")
    }

    /// References are kept inside the project. What Mesa has compiled stays where it always is: compiling it anew takes longer than all that is drawn.
    fn caches(&self) -> [(&'static str, std::path::PathBuf); 2] {
        let usual = dirs::cache_dir().unwrap_or_else(|| self.cache());
        [("XDG_CACHE_HOME", self.cache()), ("MESA_SHADER_CACHE_DIR", usual)]
    }

    /// Of spheres, which have edges.
    fn bench(&self, run: &str, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = praxis(self.path());
        command
            .envs(self.caches())
            .arg("bench")
            .arg(repository().join("scenes/materials.ron"))
            .args(["--warmup", "1", "--out", run])
            .args(arguments);
        command
    }

    fn run_file(&self, run: &str) -> RunFile {
        RunFile::read(&self.file(run).join("run.json")).expect("the run is whole")
    }
}

#[test]
fn aliasing_is_in_the_run_and_on_the_table() {
    let project = Project::new();
    let output = project.bench("a", &["--frames", "4", "--size", "32x18"]).output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("aliasing at 32×18, median of 2 places"), "{}", stdout(&output));
    let aliasing = Aliasing::of_run(&project.run_file("a")).expect("it was measured");
    assert_eq!((aliasing.schema.as_str(), aliasing.size_px), (ALIASING_SCHEMA, [32, 18]));
    assert_eq!(aliasing.places.iter().map(|place| place.frame_idx).collect::<Vec<_>>(), [0, 2]);
    assert!(aliasing.flip_mean > 0.0 && aliasing.edge_error.is_some_and(|error| error > 0.0), "{aliasing:?}");
    for place in 0..2 {
        for what in ["picture", "reference", "flip"] {
            let path = project.file(&format!("a/aliasing/place{place}_{what}.png"));
            assert_eq!(image::image_dimensions(path).expect("it is a picture"), (32, 18));
        }
    }

    // Damaged references are drawn again, whole ones are taken as they are: the numbers stay.
    let references =
        || project.files().into_iter().filter(|path| path.starts_with(project.cache().join("praxis/references")));
    // Two places, eight steps, with shadow rays and without.
    assert_eq!(references().count(), 32);
    std::fs::write(references().next().expect("there are some"), "not a picture").expect("it can be written");
    let output = project.bench("b", &["--frames", "4", "--size", "32x18", "--json"]).output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(Aliasing::of_run(&project.run_file("b")), Some(aliasing.clone()));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("one document");
    assert_eq!(json["aliasing"]["flip_mean"]["value"], aliasing.flip_mean);
    assert_eq!(references().count(), 32, "the damaged one was written over");

    let output =
        project.bench("c", &["--frames", "1", "--size", "32x18", "--skip-aliasing"]).output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(project.run_file("c").aliasing, None);
    assert!(!project.file("c/aliasing").exists());
}

#[cfg(unix)]
#[test]
fn aliasing_stopped_by_ctrl_c_keeps_the_timed_part() {
    let project = Project::new();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("praxis"))
        .current_dir(project.path())
        .envs(project.caches())
        .args(["bench", "box", "--frames", "3", "--warmup", "1", "--out", "a", "--size", "160x90"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    // The run is written before aliasing begins.
    wait_for(&project.file("a/run.json"));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it still runs");
    let status = child.wait().expect("it ends");
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("the timings are whole and in a: aliasing is missing: interrupted"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("warning: aliasing is missing: interrupted"), "{}", stdout(&output));
    let run = project.run_file("a");
    assert!(run.complete && run.aliasing.is_none() && run.n_frames == 3, "the timed part is whole");
    assert!(run.warnings.contains(&"aliasing is missing: interrupted".to_owned()), "{:?}", run.warnings);
}

#[cfg(unix)]
fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < Duration::from_secs(120), "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
#[test]
fn a_bench_stopped_as_soon_as_it_begins_leaves_a_whole_run_or_none() {
    let project = Project::new();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("praxis"))
        .current_dir(project.path())
        .envs(project.caches())
        .args(["bench", "box", "--frames", "100000", "--out", "a", "--size", "64x36", "--skip-aliasing"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    wait_for(&project.file("a"));
    let pid = rustix::process::Pid::from_child(&child);
    // An impatient key: only the first press counts.
    for _ in 0..3 {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it still runs");
    }
    let status = child.wait().expect("it ends");
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("praxis: interrupted"), "{}", stderr(&output));
    let (folder, run) = (project.file("a"), project.file("a/run.json"));
    assert!(!folder.exists() || run.exists(), "an empty run folder is left");
    assert!(!run.exists() || !project.run_file("a").complete);
}
