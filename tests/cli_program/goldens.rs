//! `praxis capture --check` and `--bless` in a project of their own.

use std::path::Path;
use std::process::Output;

use super::{Project, fault, praxis, stderr, stdout};

const LIST: &str = "# by hand\n[golden.one]\nscene = \"box\"\ncamera = \"front\"\nsize_px = [64, 40]\n
[golden.two]\nscene = \"box\"\ncamera = \"front\"\nsize_px = [33, 21]\nmsaa = 1\n";

impl Project {
    fn with_goldens() -> Self {
        let project = Self::new();
        project.write("goldens/goldens.toml", LIST);
        project
    }

    fn capture(&self, arguments: &[&str]) -> Output {
        praxis(self.path()).arg("capture").args(arguments).output().expect("it starts")
    }

    fn bless(&self) {
        let output = self.capture(&["--bless"]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

fn paint(path: &Path, colour: [u8; 4], side_px: u32) {
    let mut picture = image::open(path).expect("it is a picture").into_rgba8();
    for y in 0..side_px {
        for x in 0..side_px {
            picture.put_pixel(x, y, image::Rgba(colour));
        }
    }
    picture.save(path).expect("it can be written");
}

#[test]
fn cli_goldens_are_missing_then_blessed_then_pass() {
    let project = Project::with_goldens();
    let output = project.capture(&["--check"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().all(|line| line.contains("missing") && line.contains("FAIL")), "{text}");
    assert!(project.file("goldens/failed/one.actual.png").exists());

    project.bless();
    let list = std::fs::read_to_string(project.file("goldens/goldens.toml")).expect("it is there");
    assert!(list.ends_with(LIST), "blessing keeps what was written by hand:\n{list}");
    let output = project.capture(&["--check"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(stdout(&output).lines().filter(|line| line.ends_with("  pass")).count(), 2);
    assert!(!project.file("goldens/failed/one.actual.png").exists(), "a pass takes away what a failure left");

    let again = stdout(&project.capture(&["--bless"]));
    assert_eq!(again.lines().filter(|line| line.ends_with(": unchanged")).count(), 2, "{again}");
}

#[test]
fn cli_goldens_that_differ_fail_in_both_lanes() {
    let project = Project::with_goldens();
    project.bless();
    paint(&project.file("goldens/one.png"), [255, 0, 255, 255], 20);
    let output = project.capture(&["--check", "--failed", "out"]);
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    assert!(text.contains("out/one.actual.png, out/one.error.png") && text.contains("two "), "{text}");
    let map = image::open(project.file("out/one.error.png")).expect("it is a picture").into_rgb8();
    assert_eq!(map.dimensions(), (64, 40));
    assert!(map.get_pixel(5, 5) != map.get_pixel(60, 35), "the map shows where");

    // Another driver than the golden's: what is compared by FLIP fails as well, and says in which lane.
    let list = project.file("goldens/goldens.toml");
    let text = std::fs::read_to_string(&list).expect("it is there");
    let text: String = text
        .lines()
        .filter(|line| !line.starts_with("software_driver"))
        .fold(String::new(), |all, line| all + line + "\n");
    std::fs::write(&list, text).expect("it can be written");
    let output = project.capture(&["--check", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!((&json["lane"], &json["passes"]), (&"flip".into(), &false.into()));
    let [two, one] = &json["goldens"].as_array().expect("a list")[..] else { panic!("{json}") };
    assert_eq!((&one["verdict"], &two["verdict"]), (&"fail".into(), &"pass".into()));
    assert!(one["numbers"]["flip"]["mean"].as_f64() > Some(0.02) && one["excesses"][0]["what"].is_string());
}

#[test]
fn cli_goldens_of_another_size_or_kind_fail() {
    let project = Project::with_goldens();
    project.bless();
    std::fs::copy(project.file("goldens/two.png"), project.file("goldens/one.png")).expect("it can be copied");
    std::fs::write(project.file("goldens/two.png"), "no picture").expect("it can be written");
    let output = project.capture(&["--check"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("the picture is 64×40, its golden 33×21  FAIL"), "{text}");
    assert!(text.contains("two.png is no readable picture"), "{text}");
}

#[test]
fn cli_goldens_can_be_chosen_by_scene_or_name() {
    let project = Project::with_goldens();
    assert_eq!(
        fault(&project.capture(&["--check", "bix"])),
        "no golden shows \"bix\"; the nearest names are \"box\", \"one\", \"two\""
    );
    project.bless();
    let chosen = |scene: &str| stdout(&project.capture(&["--check", scene])).lines().count();
    assert_eq!((chosen("box"), chosen("two")), (2, 1));

    // Blessing one of many under another driver's name would lie about the others.
    let list = project.file("goldens/goldens.toml");
    let text = std::fs::read_to_string(&list).expect("it is there");
    std::fs::write(&list, text.replace("software_driver = \"", "software_driver = \"old ")).expect("it can be written");
    let before = std::fs::read(project.file("goldens/one.png")).expect("it is there");
    paint(&project.file("goldens/one.png"), [1, 2, 3, 255], 10);
    let line = fault(&project.capture(&["--bless", "one", "--quiet"]));
    assert!(line.contains("the other goldens are by old "), "{line}");
    assert_ne!(std::fs::read(project.file("goldens/one.png")).expect("it is there"), before, "nothing was written");
    project.bless();
    assert_eq!(std::fs::read(project.file("goldens/one.png")).expect("it is there"), before);
}

#[test]
fn cli_golden_lists_that_cannot_be_used() {
    let project = Project::new();
    let line = fault(&project.capture(&["--check"]));
    assert!(line.contains("goldens.toml") && line.contains("No such file"), "{line}");
    for (text, part) in [
        ("", "lists no golden"),
        ("[golden.a]\nflip_mean = 0.1", "[golden.a] does not say what it shows"),
        ("[golden.a]\nscene = \"box\"", "missing field `camera`"),
        ("[golden.a\n", "goldens.toml: "),
        ("[golden.a]\nscene = \"box\"\ncamera = \"back\"\nsize_px = [8, 8]", "golden a: no camera is named \"back\""),
        ("[golden.a]\nscene = \"bax\"\ncamera = \"front\"\nsize_px = [8, 8]", "golden a: no scene is named \"bax\""),
    ] {
        project.write("goldens/goldens.toml", text);
        let line = fault(&project.capture(&["--check", "--quiet"]));
        assert!(line.contains(part), "{text:?}: {line}");
    }
}

#[test]
#[cfg(unix)]
fn cli_goldens_are_drawn_at_one_vector_width() {
    let project = Project::with_goldens();
    let lane_and_notes = |bits: Option<&str>| {
        let mut command = praxis(project.path());
        match bits {
            Some(bits) => command.env("LP_NATIVE_VECTOR_WIDTH", bits),
            None => command.env_remove("LP_NATIVE_VECTOR_WIDTH"),
        };
        let output = command.args(["capture", "--check", "two", "--json"]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
        (json["lane"].as_str().expect("a lane").to_owned(), stderr(&output))
    };
    project.bless();
    let list = std::fs::read_to_string(project.file("goldens/goldens.toml")).expect("it is there");
    if !list.starts_with("software_driver") {
        println!("this adapter is no software one: it has no vector width");
        return;
    }
    // Unset, the program sets it; set to another, it obeys, and doesn't compare channel by channel.
    assert_eq!(lane_and_notes(None), ("software".to_owned(), String::new()));
    let (lane, notes) = lane_and_notes(Some("128"));
    assert!(lane == "flip" && notes.contains("set LP_NATIVE_VECTOR_WIDTH=256"), "{lane}: {notes}");
}
