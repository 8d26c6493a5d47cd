//! `praxis [SCENE|FILE]`: the viewer.

mod app;
mod camera;
mod clock;
mod content;
mod controls;
mod input;
mod live;
mod overlay;
mod panels;
pub(super) mod quiet;
mod record;
mod reload;
mod survive;
mod viewer;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use winit::event_loop::{EventLoop, EventLoopProxy};

use super::{Outcome, interruption};
use crate::cli::WindowArgs;
use app::App;

/// How long the first Ctrl-C has to be obeyed before a second one counts.
const PATIENCE: Duration = Duration::from_secs(2);
/// What shells say of a program that SIGINT ended.
const KILLED_BY_INTERRUPT: i32 = 130;
const WITHOUT_DISPLAY: &str = "without a display `praxis bench SCENE` measures a scene and `praxis capture SCENE --out FILE` \
                               makes a picture of it";

/// Shows a scene until the window is closed.
pub fn run(args: &WindowArgs) -> anyhow::Result<Outcome> {
    let event_loop = quiet::catch_panics(|| Ok(EventLoop::new()?)).map_err(|error| {
        let reason = without_place(&error.to_string());
        anyhow::anyhow!("no window can be opened here ({reason}); {WITHOUT_DISPLAY}")
    })?;
    let is_open = Arc::new(AtomicBool::new(false));
    close_on_interrupt(event_loop.create_proxy(), is_open.clone())?;
    quiet::catch_panics(|| {
        let mut app = App::new(args, is_open);
        event_loop.run_app(&mut app).context("the window's event loop failed")?;
        app.into_outcome()
    })?;
    Ok(Outcome::Good)
}

/// Ctrl-C closes the window as its own button does, so that a recording is kept. Before it is open there is nothing to keep.
fn close_on_interrupt(proxy: EventLoopProxy<()>, is_open: Arc<AtomicBool>) -> anyhow::Result<()> {
    interruption::listen_with(PATIENCE, "stopped before the window was closed", move || {
        if !is_open.load(Ordering::Relaxed) {
            std::process::exit(KILLED_BY_INTERRUPT);
        }
        // The event loop has ended: so will the program.
        let _ = proxy.send_event(());
    })
}

/// winit's errors and panics begin with the place in its sources, which says nothing to a user.
fn without_place(text: &str) -> String {
    let after_place = text.rsplit_once(".rs:").and_then(|(_, place_and_reason)| {
        place_and_reason.split_once(|c: char| c != ':' && !c.is_ascii_digit()).map(|(_, reason)| reason)
    });
    let reason = after_place.unwrap_or(text).trim().trim_end_matches('.');
    reason.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::without_place;

    #[test]
    fn window_errors_keep_the_reason_and_lose_the_place() {
        let refused = "os error at /somewhere/winit/src/linux/mod.rs:788: Failed to open connection to X server";
        assert_eq!(without_place(refused), "Failed to open connection to X server");
        let panicked = "panicked at /somewhere/lib.rs:12:34:\nLibrary libX.so\ncould not be loaded.";
        assert_eq!(without_place(panicked), "Library libX.so could not be loaded");
        assert_eq!(without_place("nothing to strip"), "nothing to strip");
    }
}
