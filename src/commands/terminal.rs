//! Results on stdout, progress and notes on stderr.

use std::io::{ErrorKind, IsTerminal, Write};

use anyhow::Context;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A note on stderr, unless `--quiet`.
pub fn note(is_quiet: bool, text: &str) {
    if !is_quiet {
        // `eprintln!` would panic where stderr is closed.
        let _ = writeln!(std::io::stderr(), "{text}");
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

/// Whether stdout shows colours: a terminal, and `NO_COLOR` unset.
pub fn has_colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Results on stdout. A reader that has closed its end has seen enough: no fault.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("could not write to stdout"),
    }
}

/// One JSON document on stdout.
pub fn print_json(document: &serde_json::Value) -> anyhow::Result<()> {
    print(&format!("{document:#}\n"))
}
