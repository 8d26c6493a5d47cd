//! Ctrl-C in a command that saves what it has measured.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

/// Becomes true at the first Ctrl-C or SIGTERM. A later one ends the program at once, with `last_words`, unless it comes within
/// `patience`, in which the first has had no time to be obeyed: what was measured would be lost to an impatient key.
pub fn listen(patience: Duration, last_words: &'static str) -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    listen_with(patience, last_words, move || seen.store(true, Ordering::Relaxed))?;
    Ok(flag)
}

/// The same, calling `ask_to_end` each time, on a thread of its own.
pub fn listen_with(
    patience: Duration,
    last_words: &'static str,
    mut ask_to_end: impl FnMut() + Send + 'static,
) -> anyhow::Result<()> {
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || {
        ask_to_end();
        if first.get_or_insert_with(Instant::now).elapsed() > patience {
            let _ = writeln!(std::io::stderr(), "praxis: {last_words}");
            std::process::exit(1);
        }
    })
    .context("could not listen for Ctrl-C")
}
