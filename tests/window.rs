//! The viewer as a person runs it: with a display that this test starts, and without one.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An X server without a screen, ended when dropped.
struct VirtualDisplay {
    server: Child,
    name: String,
}

impl VirtualDisplay {
    /// `None` where Xvfb is not installed.
    fn start() -> Option<Self> {
        // The server takes the first free display number and writes it to the descriptor given: its stdout.
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut display = Self { server, name: String::new() };
        let stdout = display.server.stdout.take().expect("piped");
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line);
            let _ = sender.send(line);
        });
        let line = receiver.recv_timeout(Duration::from_secs(20)).expect("Xvfb says which display it serves");
        display.name = format!(":{}", line.trim());
        assert!(display.name.len() > 1, "Xvfb ended at once");
        Some(display)
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// `praxis`, with no display unless one is given.
fn praxis(arguments: &[&str], display: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxis"));
    command.args(arguments).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET").env_remove("DISPLAY");
    command.env_remove("RUST_BACKTRACE").env_remove("RUST_LOG").current_dir(env!("CARGO_MANIFEST_DIR"));
    if let Some(display) = display {
        command.env("DISPLAY", display);
    }
    command
}

/// Exit code and stderr; fails if it takes longer than `longest`.
fn run(mut command: Command, longest: Duration) -> (Option<i32>, String) {
    let stderr = tempfile::NamedTempFile::new().expect("a temporary file");
    command.stderr(stderr.reopen().expect("a second handle"));
    let mut child = command.spawn().expect("praxis starts");
    let started = Instant::now();
    loop {
        let text = || std::fs::read_to_string(stderr.path()).expect("stderr is text");
        if let Some(status) = child.try_wait().expect("the child is ours") {
            return (status.code(), text());
        }
        if started.elapsed() > longest {
            let _ = child.kill();
            let _ = child.wait();
            panic!("praxis ran for more than {longest:?}: {}", text());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn window_shows_a_scene_and_closes_after_its_frames() {
    let Some(display) = VirtualDisplay::start() else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path: PathBuf = folder.path().join("window.png");
    let screenshot = path.to_str().expect("a path in UTF-8");
    for overlay in [&[][..], &["--stats"]] {
        let mut arguments =
            vec!["cornell", "--frames", "5", "--size", "640x360", "--validate", "--screenshot", screenshot];
        arguments.extend(overlay);
        let (code, stderr) = run(praxis(&arguments, Some(&display.name)), Duration::from_secs(240));
        assert_eq!(code, Some(0), "{stderr}");
        let picture = image::open(&path).expect("a picture").into_rgb8();
        assert_eq!(picture.dimensions(), (640, 360));

        let at = |x, y| picture.get_pixel(x, y).0.map(i32::from);
        let (left_wall, right_wall) = (at(155, 320), at(485, 320));
        assert!(left_wall[0] > left_wall[1] + 15, "the left wall is red: {left_wall:?}");
        assert!(right_wall[1] > right_wall[0] + 15, "the right wall is green: {right_wall:?}");
        let has_panel = !overlay.is_empty();
        // Where the panel's first lines are, the scene is dark.
        let corner = picture.enumerate_pixels().filter(|(x, y, _)| *x < 130 && *y < 60);
        let n_white = corner.filter(|(.., pixel)| pixel.0.iter().all(|&value| value > 200)).count();
        assert_eq!(n_white > 100, has_panel, "{n_white} pixels of white text");
        std::fs::remove_file(&path).expect("written anew each time");
    }
}

#[test]
fn window_without_a_display_is_one_line_that_names_what_works() {
    // No display, and one that nobody serves.
    for display in [None, Some(":7654321")] {
        let (code, stderr) = run(praxis(&["cornell"], display), Duration::from_secs(60));
        assert_eq!(code, Some(1), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains("praxis bench") && stderr.contains("praxis capture"), "{stderr}");
    }
}

#[test]
fn window_of_an_unknown_scene_is_one_line_with_the_nearest_names() {
    let Some(display) = VirtualDisplay::start() else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    let (code, stderr) =
        run(praxis(&["cornel", "--frames", "1", "--quiet"], Some(&display.name)), Duration::from_secs(60));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains("cornell"), "{stderr}");
}
