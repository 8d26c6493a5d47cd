//! Keys, clicks and changed files, as a user gives them.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use image::RgbImage;

use x11rb::protocol::xproto::Window;

use crate::desk::{User, WindowManager};
use crate::display::VirtualDisplay;
use crate::program::{praxis, share_that_differs};

const SIZE_PX: [u16; 2] = [640, 360];
const F3: u32 = 0xffc0;
const F12: u32 = 0xffc9;
const LETTER_R: u32 = 0x72;
const ESCAPE: u32 = 0xff1b;
const LONGEST: Duration = Duration::from_secs(60);

/// A window on a desk of its own, in the upper left corner of the screen and with the keyboard's focus.
struct Desk {
    user: User,
    window: Window,
    child: Child,
    _manager: WindowManager,
    _display: VirtualDisplay,
}

impl Desk {
    fn with(arguments: &[&str], working_folder: &Path) -> Option<Self> {
        let display = VirtualDisplay::start()?;
        let manager = WindowManager::start(&display.name);
        let user = User::new(&display.name);
        let mut all = arguments.to_vec();
        all.extend(["--size", "640x360", "--quiet"]);
        let child = praxis(&all, Some(&display.name)).current_dir(working_folder).spawn().expect("praxis starts");
        let window = user.find_window(Duration::from_secs(120));
        user.place(window, [0, 0]);
        user.focus(window);
        let desk = Self { user, window, child, _manager: manager, _display: display };
        desk.wait_until("a picture is shown", |seen| seen.pixels().any(|pixel| pixel.0 != [0, 0, 0]));
        Some(desk)
    }

    fn see(&self) -> RgbImage {
        self.user.see(SIZE_PX)
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&RgbImage) -> bool) -> RgbImage {
        let started = Instant::now();
        loop {
            let seen = self.see();
            if is_so(&seen) {
                return seen;
            }
            assert!(started.elapsed() < LONGEST, "not within {LONGEST:?}: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn end(mut self) {
        self.user.press_key(ESCAPE);
        let started = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("the child is ours") {
                Some(status) => break status,
                None => assert!(started.elapsed() < LONGEST, "Esc closes the window"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(0));
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the process has used of all cores, in seconds.
fn cpu_time_s(child: &Child) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("the process runs");
    // After the name, which may hold anything but a closing bracket: utime and stime are the 14th and 15th fields.
    let after_name = stat.rsplit_once(')').expect("a name").1;
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}

fn files_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn window_obeys_keys_and_clicks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(desk) = Desk::with(&[&repository("scenes/cornell.ron"), "--paused"], folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    let bare = desk.see();
    let differs = |share: f64| move |seen: &RgbImage| share_that_differs(&bare, seen) > share;
    desk.user.press_key(F3);
    desk.wait_until("Frame stats", differs.clone()(0.05));
    desk.user.press_key(F3);
    std::thread::sleep(Duration::from_millis(500));

    desk.user.press_key(F12);
    let started = Instant::now();
    while !files_in(folder.path()).iter().any(|name| name.ends_with(".png")) {
        assert!(started.elapsed() < LONGEST, "F12 saves a picture");
        std::thread::sleep(Duration::from_millis(20));
    }

    desk.user.press_key(LETTER_R);
    std::thread::sleep(Duration::from_millis(700));
    desk.user.press_key(LETTER_R);
    let started = Instant::now();
    let runs = folder.path().join("runs");
    while !files_in(&runs).iter().any(|name| runs.join(name).join("run.json").is_file()) {
        assert!(started.elapsed() < LONGEST, "R records a run");
        std::thread::sleep(Duration::from_millis(20));
    }

    // Off the middle: looking there turns the picture.
    desk.user.click([200, 200]);
    desk.wait_until("the view turned to what was clicked", differs(0.3));
    desk.end();
}

#[test]
fn window_rests_while_nobody_sees_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(desk) = Desk::with(&[&repository("scenes/cornell.ron")], folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    let used_in_two_seconds = || {
        // What was under way may end first.
        std::thread::sleep(Duration::from_secs(2));
        let before = cpu_time_s(&desk.child);
        std::thread::sleep(Duration::from_secs(2));
        cpu_time_s(&desk.child) - before
    };
    desk.user.cover(true);
    let covered_s = used_in_two_seconds();
    desk.user.cover(false);
    desk.user.minimise(desk.window);
    let minimised_s = used_in_two_seconds();
    assert!(covered_s < 0.2 && minimised_s < 0.2, "covered {covered_s} s, minimised {minimised_s} s of CPU time");
    desk.user.restore(desk.window);
    let shown_s = used_in_two_seconds();
    assert!(shown_s > 2.0 * covered_s.max(minimised_s), "it draws again: {shown_s} s of CPU time");
    desk.user.focus(desk.window);
    desk.end();
}

#[test]
fn window_watches_its_files_and_keeps_the_last_good_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (good, scene) =
        (std::fs::read_to_string(repository("assets/test/cornell.gltf")), folder.path().join("scene.gltf"));
    let good = good.expect("a glTF file");
    std::fs::write(&scene, &good).expect("written");
    for entry in std::fs::read_dir(repository("assets/test")).expect("a folder").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "bin") {
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
        }
    }
    let path = scene.to_str().expect("UTF-8").to_owned();
    let Some(desk) = Desk::with(&[&path, "--watch", "--paused"], folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    std::thread::sleep(Duration::from_millis(500));
    let first = desk.see();
    let is_red = |seen: &RgbImage| {
        let corner = seen.enumerate_pixels().filter(|(x, y, _)| *x > 250 && *y > 240);
        corner.filter(|(.., pixel)| pixel[0] > 200 && pixel[1] > 90 && pixel[1] < 170).count() > 30
    };
    assert!(!is_red(&first), "no fault is shown");

    std::fs::write(&scene, &good[..good.len() / 2]).expect("written");
    let seen = desk.wait_until("the fault is shown", is_red);
    let upper = |picture: &RgbImage| image::imageops::crop_imm(picture, 0, 0, 640, 200).to_image();
    assert!(share_that_differs(&upper(&first), &upper(&seen)) < 0.01, "the last good scene stays");

    std::fs::write(&scene, &good).expect("written");
    desk.wait_until("the fault is gone", |seen| share_that_differs(&first, seen) < 0.01);
    desk.end();
}
