//! Faults of input and environment: exit code 1, one line that names the thing, nothing half-written, no panic.

use super::{Project, fault, praxis, stderr, stdout};

/// `praxis capture SCENE --out x.png …` in a project; its fault, after seeing that nothing was left.
#[track_caller]
fn capture_fault(project: &Project, scene: &str, more: &[&str]) -> String {
    let before = project.files();
    let mut command = praxis(project.path());
    command.args(["capture", scene, "--quiet"]).args(more);
    if !more.contains(&"--size") {
        command.args(["--size", "32x16"]);
    }
    if !more.contains(&"--out") {
        command.args(["--out", "x.png"]);
    }
    let output = command.output().expect("it starts");
    let line = fault(&output);
    assert_eq!(stdout(&output), "");
    assert_eq!(project.files(), before, "something was left behind");
    line
}

#[track_caller]
fn assert_has(line: &str, parts: &[&str]) {
    for part in parts {
        assert!(line.contains(part), "{part:?} is missing: {line}");
    }
}

#[test]
fn cli_missing_and_unknown_scenes() {
    let project = Project::new();
    assert_has(&capture_fault(&project, "missing.ron", &[]), &["missing.ron", "No such file"]);
    assert_has(&capture_fault(&project, "deep/missing.glb", &[]), &["deep/missing.glb", "No such file"]);
    assert_has(&capture_fault(&project, "bix", &[]), &["\"bix\"", "nearest names are \"box\""]);
    std::fs::create_dir(project.file("folder.ron")).expect("it can be made");
    assert_has(&capture_fault(&project, "folder.ron", &[]), &["folder.ron"]);
    assert_has(&capture_fault(&project, "./scenes", &[]), &["./scenes"]);
}

#[test]
fn cli_malformed_scene_files_name_the_place() {
    let project = Project::new();
    project.write("broken.ron", "(\n    schema: \"praxis.scene/1\",\n    nodes: [(]\n)");
    assert_has(&capture_fault(&project, "broken.ron", &[]), &["broken.ron:3:14: "]);
    project.write("unknown.ron", "(\n    schema: \"praxis.scene/1\",\n    noods: [],\n    nodes: [],\n)");
    assert_has(&capture_fault(&project, "unknown.ron", &[]), &["unknown.ron:3:", "noods", "nodes"]);
    project.write("later.ron", "(\n    schema: \"praxis.scene/9\",\n    nodes: [],\n)");
    assert_has(&capture_fault(&project, "later.ron", &[]), &["later.ron:2:", "praxis.scene/9"]);
    project.write("empty.ron", "");
    assert_has(&capture_fault(&project, "empty.ron", &[]), &["empty.ron:1:1: "]);
    std::fs::write(project.file("bytes.ron"), [0xFF, 0xFE, 0x00]).expect("it can be written");
    assert_has(&capture_fault(&project, "bytes.ron", &[]), &["bytes.ron", "UTF-8"]);
    let lost = r#"(schema: "praxis.scene/1", models: {"a": (file: "lost.gltf")}, nodes: [(model: "a")])"#;
    project.write("lost.ron", lost);
    assert_has(&capture_fault(&project, "lost.ron", &[]), &["lost.ron:1:", "lost.gltf"]);
}

/// No word of the library that reads them.
#[test]
fn cli_scene_files_with_a_value_of_another_kind_say_which_is_meant() {
    let project = Project::new();
    let schema = r#"schema: "praxis.scene/1""#;
    for (text, place, expected) in [
        (format!("({schema}, nodes: [(model: 3)])"), "1:43", "expected a text in double quotes here"),
        (format!("({schema}, sun: (elevation_deg: low), nodes: [])"), "1:48", "expected a number here"),
        (format!("({schema} nodes: [])"), "1:27", "expected `,` here"),
        (format!("({schema}, nodes: {{}})"), "1:34", "expected `[` and a list here"),
        ("hello world".to_owned(), "1:1", "a scene file begins with `(schema: \"praxis.scene/1\", nodes: [`"),
    ] {
        project.write("odd.ron", &text);
        assert_has(&capture_fault(&project, "odd.ron", &[]), &[&format!("odd.ron:{place}: "), expected]);
    }
}

#[test]
fn cli_commands_that_are_nearly_right_are_named() {
    let project = Project::new();
    let output = praxis(project.path()).args(["benhc", "town"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no command `benhc`: did you mean `bench`?"), "{}", stderr(&output));
    let output = praxis(project.path()).args(["bench", "box", "--pairs", "x"]).output().expect("it starts");
    assert!(stderr(&output).contains("use a whole number from 1 to 10000"), "{}", stderr(&output));
}

#[test]
fn cli_malformed_gltf_files() {
    let project = Project::new();
    project.write("cut.gltf", "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [");
    assert_has(&capture_fault(&project, "cut.gltf", &[]), &["cut.gltf: the JSON ends too early, at line 1", "cut off"]);
    project.write("short.glb", "glTF\u{2}\0\0\0");
    assert_has(&capture_fault(&project, "short.glb", &[]), &["short.glb"]);
    project.write(
        "dangling.gltf",
        r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 7}]}"#,
    );
    assert_has(&capture_fault(&project, "dangling.gltf", &[]), &["dangling.gltf", "/nodes/0/mesh"]);
}

#[test]
fn cli_unreadable_images() {
    let project = Project::new();
    let gltf = |image: &str| {
        format!(
            r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
            "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "material": 0}}]}}],
            "accessors": [{{"componentType": 5126, "type": "VEC3", "count": 3, "min": [0,0,0], "max": [0,0,0]}}],
            "materials": [{{"pbrMetallicRoughness": {{"baseColorTexture": {{"index": 0}}}}}}],
            "textures": [{{"source": 0}}], "images": [{{"uri": "{image}"}}]}}"#
        )
    };
    project.write("a.gltf", &gltf("noise.png"));
    project.write("noise.png", "this is no picture");
    assert_has(&capture_fault(&project, "a.gltf", &[]), &["noise.png", "of no known format"]);
    project.write("b.gltf", &gltf("gone.png"));
    assert_has(&capture_fault(&project, "b.gltf", &[]), &["b.gltf", "/images/0", "gone.png"]);
}

#[test]
fn cli_unknown_cameras_and_adapters() {
    let project = Project::new();
    assert_has(&capture_fault(&project, "box", &["--camera", "fromt"]), &["\"fromt\"", "\"front\""]);
    assert_has(&capture_fault(&project, "box", &["--adapter", "voodoo 2"]), &["voodoo 2", "there are: "]);
}

#[test]
fn cli_rays_that_nothing_sends_out_are_said() {
    let project = Project::new();
    let with_sun_at =
        |degrees: &str| project.box_scene().replace("sun: (", &format!("sun: (elevation_deg: {degrees}, "));
    project.write("scenes/night.ron", &with_sun_at("-20"));
    project.write("scenes/day.ron", &with_sun_at("20"));
    let said = |scene: &str, arguments: &[&str]| {
        let mut command = praxis(project.path());
        command.args(["capture", scene, "--size", "16x9", "--out", "x.png"]).args(arguments);
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output).lines().filter(|line| line.contains("--rays")).map(str::to_owned).collect::<Vec<_>>()
    };
    let note = |asked| {
        vec![format!("--rays {asked} changes nothing in night: its sun is below the horizon (elevation_deg: -20)")]
    };
    assert_eq!(said("night", &["--rays", "hard"]), note("hard"));
    assert_eq!(said("night", &["--rays", "edge"]), note("edge"));
    for (scene, arguments) in [
        ("night", &["--rays", "edge", "--quiet"][..]),
        ("night", &["--rays", "off"]),
        // Nobody asked for them.
        ("night", &[]),
        ("day", &["--rays", "edge"]),
    ] {
        assert_eq!(said(scene, arguments), [""; 0], "{scene} {arguments:?}");
    }
}

#[test]
fn cli_bench_faults_leave_no_run_folder() {
    let project = Project::new();
    project.write("runs/kept/run.json", "{}");
    let before = project.files();
    let bench = |arguments: &[&str]| {
        let mut command = praxis(project.path());
        command.arg("bench").args(arguments).args(["--frames", "1", "--warmup", "1", "--size", "16x16", "--quiet"]);
        let line = fault(&command.output().expect("it starts"));
        let folders = std::fs::read_dir(project.file("runs")).expect("it is there").count();
        assert_eq!((project.files(), folders), (before.clone(), 1), "something was left behind");
        line
    };
    assert_has(&bench(&["bix"]), &["\"bix\"", "\"box\""]);
    assert_has(&bench(&["box", "--camera", "back"]), &["\"back\"", "\"front\""]);
    assert_has(&bench(&["box", "--out", "runs/kept/run.json"]), &["runs/kept/run.json", "--out"]);
    assert_has(&bench(&["town"]), &["town.ron:1:"]);
}

#[test]
fn cli_without_an_adapter_says_what_to_install() {
    let project = Project::new();
    let output = praxis(project.path())
        .args(["capture", "box", "--quiet", "--out", "x.png"])
        // The Vulkan loader's list of drivers, under its new and its old name.
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .output()
        .expect("it starts");
    assert_has(&fault(&output), &["no GPU adapter found", "mesa-vulkan-drivers"]);
}

#[test]
fn cli_pictures_that_cannot_be_written() {
    let project = Project::new();
    let missing = capture_fault(&project, "box", &["--out", "none/such/x.png"]);
    assert_has(&missing, &["can't write none/such/x.png", "make its folder first"]);
    assert_has(&capture_fault(&project, "box", &["--out", "scenes"]), &["can't write scenes"]);
    assert_has(
        &capture_fault(&project, "box", &["--out", "scenes/box.ron/x.png"]),
        &["can't write scenes/box.ron/x.png"],
    );
}

#[test]
#[cfg(unix)]
fn cli_unwritable_folders() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let folder = project.file("locked");
    std::fs::create_dir(&folder).expect("it can be made");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o555)).expect("they can be set");
    let picture = match std::fs::write(folder.join("probe"), "") {
        Err(_) => "locked/x.png",
        // Permissions don't stop root. Nobody can make a file in /proc.
        Ok(()) => {
            std::fs::remove_file(folder.join("probe")).expect("it was written");
            "/proc/x.png"
        }
    };
    assert_has(&capture_fault(&project, "box", &["--out", picture]), &["can't write", picture]);
}

#[test]
#[cfg(target_os = "linux")]
fn cli_a_full_disk() {
    use std::os::unix::fs::FileTypeExt;
    let project = Project::new();
    let line = capture_fault(&project, "box", &["--out", "/dev/full"]);
    assert_has(&line, &["can't write /dev/full", "No space left on device", "free some space"]);
    // As root, the program could have put its picture in the device's place.
    let device = std::fs::symlink_metadata("/dev/full").expect("it is there");
    assert!(device.file_type().is_char_device());

    // A real one, where mounting is allowed, in a mount namespace that ends with the program.
    let program = assert_cmd::cargo::cargo_bin("praxis");
    std::fs::create_dir(project.file("small")).expect("it can be made");
    let script = r#"mount -t tmpfs -o size=4k none small || exit 77
        "$0" capture box --quiet --size 900x700 --out small/x.png; status=$?
        [ -z "$(ls -A small)" ] || exit 78
        exit $status"#;
    let output = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .arg(program)
        .current_dir(project.path())
        .output();
    match output {
        Ok(output) if !stderr(&output).contains("denied") && !stderr(&output).contains("not permitted") => {
            assert_ne!(output.status.code(), Some(78), "something was left behind");
            assert_has(&fault(&output), &["can't write small/x.png", "No space left on device"]);
        }
        _ => println!("no tmpfs can be mounted here: only /dev/full was tried"),
    }
}

#[test]
fn cli_wrong_usage_is_exit_code_2() {
    let project = Project::new();
    for arguments in [
        &["capture"][..],
        &["capture", "box"],
        &["capture", "--out", "x.png"],
        &["capture", "box", "alpha", "--out", "x.png"],
        &["capture", "box", "--out", "x.png", "--size", "0x0"],
        &["capture", "box", "--out", "x.png", "--size", "4"],
        &["capture", "box", "--out", "x.png", "--msaa", "3"],
        &["capture", "box", "--out", "x.png", "--frame", "-1"],
        &["capture", "box", "--out", "x.png", "--json"],
        &["capture", "--check", "--bless"],
        &["capture", "--check", "--size", "10x10"],
        &["capture", "--bless", "--msaa", "1"],
        &["capture", "--bless", "--failed", "x"],
        &["report", "a", "b"],
        &["info", "--nothing"],
        &["bench"],
    ] {
        let output = praxis(project.path()).args(arguments).output().expect("it starts");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(!text.is_empty() && !text.contains("panicked") && stdout(&output).is_empty(), "{arguments:?}: {text}");
    }
    assert!(!project.file("x.png").exists());
}

#[test]
fn cli_a_picture_of_odd_size_is_written_whole() {
    let project = Project::new();
    let output = praxis(project.path())
        .args(["capture", "box", "--size", "37x23", "--out", "x.png"])
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let picture = image::open(project.file("x.png")).expect("it is a picture").into_rgba8();
    assert_eq!(picture.dimensions(), (37, 23));
    let mut colours: Vec<_> = picture.pixels().collect();
    colours.sort_by_key(|pixel| pixel.0);
    colours.dedup();
    assert!(colours.len() > 20, "only {} colours", colours.len());
}

#[test]
#[cfg(unix)]
fn cli_a_closed_stdout_is_no_panic() {
    use std::process::{Command, Stdio};
    let project = Project::new();
    for arguments in [&["info"][..], &["info", "--json"], &["capture", "--help"]] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("praxis"))
            .args(arguments)
            .current_dir(project.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // The reader goes before the first byte.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let text = stderr(&output);
        assert!(!text.contains("panicked"), "{arguments:?}: {text}");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {:?}, {text}", output.status);
    }
}
