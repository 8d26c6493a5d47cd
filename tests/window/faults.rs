//! What happens once a year, made to happen: the window goes on, or ends with one line.

use std::path::Path;
use std::time::Duration;

use image::RgbImage;

use crate::display::VirtualDisplay;
use crate::program::{MAY_DIFFER, captured, praxis, run, share_that_differs};

const SIZE_PX: [u32; 2] = [320, 180];
const EVERYTHING: &str = "acquire=timeout@3x3,acquire=outdated@8,acquire=outdated-again@10x4,acquire=suboptimal@16,\
                          acquire=lost@20x3,acquire=occluded@25x2,zero-size@30x3,occluded@35x2,minimised@38x2,\
                          suspended@42x3,scale=2@46,device-lost@50,acquire=lost@55,device-lost@90";

/// A window that closes after `n_frames` shown frames, with faults: exit code, stderr, and what it showed last.
fn shown_with(
    faults: &str,
    n_frames: u32,
    more: &[&str],
    folder: &Path,
) -> Option<(Option<i32>, String, Option<RgbImage>)> {
    let display = VirtualDisplay::start()?;
    let path = folder.join("shown.png");
    let n_frames = n_frames.to_string();
    let mut arguments =
        vec!["cornell", "--size", "320x180", "--paused", "--frames", &n_frames, "--inject-fault", faults];
    arguments.extend(["--screenshot", path.to_str().expect("UTF-8")]);
    arguments.extend(more);
    let (code, stderr) = run(praxis(&arguments, Some(&display.name)), Duration::from_secs(300));
    let shown = image::open(&path).ok().map(image::DynamicImage::into_rgb8);
    Some((code, stderr, shown))
}

#[test]
fn window_goes_on_after_every_fault() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Slow enough that what is said about the last fault is gone from the last frame.
    let more = ["--quiet", "--validate", "--fps-limit", "20"];
    let Some((code, stderr, shown)) = shown_with(EVERYTHING, 150, &more, folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let share = share_that_differs(&captured("cornell", SIZE_PX, folder.path()), &shown.expect("a screenshot"));
    assert!(share <= MAY_DIFFER, "{share} of the pixels differ after all that");
}

#[test]
fn window_keeps_what_it_showed_when_the_device_is_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let faults = "device-lost@5,no-device@5";
    let Some((code, stderr, shown)) = shown_with(faults, 20, &["--stats"], folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("device was lost"), "{stderr}");
    let shown = shown.expect("a screenshot");
    let corner = shown.enumerate_pixels().filter(|(x, y, _)| *x < 200 && *y < 60);
    let n_bright = corner.filter(|(.., pixel)| pixel.0.iter().all(|&value| value > 150)).count();
    assert!(n_bright > 60, "{n_bright} pixels of Frame stats' text");
}

#[test]
fn window_without_a_device_ends_with_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some((code, stderr, shown)) = shown_with("device-lost@5,no-device@5x2", 20, &["--quiet"], folder.path()) else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains("GPU device is lost"), "{stderr}");
    assert!(shown.is_none());
}

#[test]
fn window_faults_that_are_none_are_wrong_usage() {
    let (code, stderr) = run(praxis(&["cornell", "--inject-fault", "oops@3"], None), Duration::from_secs(60));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("oops@3"), "{stderr}");
}
