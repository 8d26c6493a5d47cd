//! Progress and notes on stderr.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A note on stderr, unless `--quiet`.
pub fn note(is_quiet: bool, text: &str) {
    if !is_quiet {
        eprintln!("{text}");
    }
}

/// A bar with frame, rate and time left; invisible with `--quiet` or where stderr is no terminal.
pub fn progress_bar(is_quiet: bool, n_frames: u32) -> ProgressBar {
    let is_shown = !is_quiet && std::io::stderr().is_terminal();
    let target = if is_shown { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{wide_bar} frame {pos}/{len}  {per_sec}  {eta} left");
    ProgressBar::with_draw_target(Some(n_frames.into()), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
