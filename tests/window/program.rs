//! Running the program, and pictures of what it should show.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use image::RgbImage;

/// `praxis`, with no display unless one is given.
pub fn praxis(arguments: &[&str], display: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_praxis"));
    command.args(arguments).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET").env_remove("DISPLAY");
    // Two processes draw the same only with vectors of one width.
    command.env("LP_NATIVE_VECTOR_WIDTH", "256");
    command.env_remove("RUST_BACKTRACE").env_remove("RUST_LOG").current_dir(env!("CARGO_MANIFEST_DIR"));
    if let Some(display) = display {
        command.env("DISPLAY", display);
    }
    command
}

/// Exit code and stderr; fails if it takes longer than `longest`.
pub fn run(mut command: Command, longest: Duration) -> (Option<i32>, String) {
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

/// The picture that `praxis capture` makes of frame 0 of a scene.
pub fn captured(scene: &str, size_px: [u32; 2], folder: &Path) -> RgbImage {
    let path = folder.join("captured.png");
    let size = format!("{}x{}", size_px[0], size_px[1]);
    let arguments = ["capture", scene, "--size", &size, "--quiet", "--out", path.to_str().expect("UTF-8")];
    let (code, stderr) = run(praxis(&arguments, None), Duration::from_secs(240));
    assert_eq!(code, Some(0), "{stderr}");
    image::open(&path).expect("a picture").into_rgb8()
}

/// The share of pixels that differ by more than 1 of 255 in a channel.
pub fn share_that_differs(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let n_different =
        a.pixels().zip(b.pixels()).filter(|(a, b)| (0..3).any(|channel| a[channel].abs_diff(b[channel]) > 1)).count();
    n_different as f64 / f64::from(a.width() * a.height())
}

/// The share of pixels that may differ: as between two software pictures of a golden.
pub const MAY_DIFFER: f64 = 0.0005;
