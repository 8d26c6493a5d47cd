//! A window that is pulled about at random: in the end it shows what it should, and nothing was reported on the way.

use std::time::{Duration, Instant};

use praxis::measure::statistics::SplitMix64;

use crate::desk::{User, WindowManager};
use crate::display::VirtualDisplay;
use crate::program::{MAY_DIFFER, captured, praxis, share_that_differs};

const SIZE_PX: [u32; 2] = [640, 360];

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// `PRAXIS_STORM=1000 PRAXIS_STORM_SEED=7` for a longer or another one.
#[test]
fn window_survives_a_storm_of_resizes_minimises_and_covers() {
    let Some(display) = VirtualDisplay::start() else {
        eprintln!("skipped: Xvfb is not installed");
        return;
    };
    let (n_actions, seed) = (from_environment("PRAXIS_STORM", 60), from_environment("PRAXIS_STORM_SEED", 1));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let expected = captured("cornell", SIZE_PX, folder.path());
    let _manager = WindowManager::start(&display.name);
    let user = User::new(&display.name);
    let stderr = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut command =
        praxis(&["cornell", "--size", "640x360", "--paused", "--validate", "--quiet"], Some(&display.name));
    // winit has its say about Xvfb itself.
    command.env("RUST_LOG", "warn,winit=off").stderr(stderr.reopen().expect("a second handle"));
    let mut child = command.spawn().expect("praxis starts");
    let text = || std::fs::read_to_string(stderr.path()).expect("stderr is text");
    let window = user.find_window(Duration::from_secs(120));

    // The same storm for the same seed.
    let mut random = SplitMix64::new(seed);
    let mut below = |n: u64| random.next_u64() % n;
    let mut counts = [0_u32; 6];
    for _ in 0..n_actions {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            panic!("praxis ended with {status} in the middle of the storm: {}", text());
        }
        let action = below(10);
        match action {
            0 => user.minimise(window),
            1 | 2 => user.restore(window),
            3 => user.cover(true),
            4 => user.cover(false),
            5 => user.place(window, [below(600) as i32 - 200, below(400) as i32 - 100]),
            _ => user.resize(window, [1 + below(900) as u32, 1 + below(700) as u32]),
        }
        counts[[0, 1, 1, 2, 3, 4, 5, 5, 5, 5][action as usize]] += 1;
        std::thread::sleep(Duration::from_millis(below(60)));
    }

    user.cover(false);
    user.restore(window);
    user.place(window, [0, 0]);
    user.resize(window, SIZE_PX);
    let started = Instant::now();
    let share = loop {
        let seen = user.see([SIZE_PX[0] as u16, SIZE_PX[1] as u16]);
        let share = share_that_differs(&expected, &seen);
        if share <= MAY_DIFFER || started.elapsed() > Duration::from_secs(60) {
            seen.save(folder.path().join("seen.png")).expect("saved");
            break share;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    user.close(window);
    let status = child.wait().expect("the child is ours");
    let [minimised, restored, covered, uncovered, placed, resized] = counts;
    eprintln!(
        "{n_actions} actions (seed {seed}): {resized} sizes, {placed} places, {minimised} minimises, {restored} restores, \
         {covered} covers, {uncovered} uncovers; {:.4}% of the last frame's pixels differ from the capture",
        100.0 * share
    );
    assert!(share <= MAY_DIFFER, "{share} of the window's pixels are not what `praxis capture` draws");
    assert_eq!(status.code(), Some(0), "{}", text());
    assert_eq!(text(), "", "nothing to report");
}
