//! The program as its users meet it: exit codes, what is on stdout and stderr, what is left behind. One binary, since
//! each links all of wgpu.

mod aliasing;
mod bench;
mod comparing;
mod faults;
mod goldens;
mod info;
mod pacing;
mod probe;
mod report;
mod resident;

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// The program, run in `folder`.
fn praxis(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("praxis").expect("cargo built the program");
    command
        .current_dir(folder)
        .env("LP_NATIVE_VECTOR_WIDTH", "256")
        .env_remove("RUST_LOG")
        .env_remove("RUST_BACKTRACE");
    command
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder that the program takes for the root: its own scenes, goldens and Baselines.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// With `scenes/box.ron`, one unlit coloured box, beside it.
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        project.write("scenes/town.ron", "not a scene, but the root is where one is");
        project.write("scenes/box.ron", &project.box_scene());
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.file(path);
        std::fs::create_dir_all(path.parent().expect("it lies in the project")).expect("the folder can be made");
        std::fs::write(path, text).expect("the file can be written");
    }

    fn box_scene(&self) -> String {
        let model = repository().join("assets/test/alpha.gltf");
        format!(
            r#"(
                schema: "praxis.scene/1",
                sun: (sky_px: 32),
                models: {{ "letter": (file: {model:?}, node: "letter") }},
                cameras: {{ "front": Still(position: (1, 1, 3), target: (0, 0, 0), fov_y_deg: 40) }},
                nodes: [(model: "letter")],
            )"#
        )
    }

    /// Every file below, sorted.
    fn files(&self) -> Vec<PathBuf> {
        fn list(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).expect("it is a folder").flatten() {
                let path = entry.path();
                if path.is_dir() { list(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        list(self.path(), &mut found);
        found.sort();
        found
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one line on stderr of a fault that ended in exit code 1.
#[track_caller]
fn fault(output: &Output) -> String {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let [line] = lines[..] else { panic!("{} lines on stderr:\n{text}", lines.len()) };
    assert!(!line.contains("panicked"), "{line}");
    line.strip_prefix("praxis: ").unwrap_or_else(|| panic!("who speaks? {line}")).to_owned()
}
