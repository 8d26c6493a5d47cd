//! The viewer as a person runs it: with a display that these tests start, and without one.

mod display;
mod program;

#[cfg(target_os = "linux")]
mod desk;
#[cfg(target_os = "linux")]
mod driven;
mod faults;
mod recording;
#[cfg(target_os = "linux")]
mod storm;

use std::path::PathBuf;
use std::time::Duration;

use display::VirtualDisplay;
use program::{praxis, run};

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
