//! Panics of libraries below, as errors of one line.
//!
//! winit panics where an X server or a library lacks what it needs, and wgpu where a device is lost; neither can be asked
//! beforehand.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

/// Runs `work`; a panic inside becomes an error with its message and place, and is not printed. With `RUST_BACKTRACE` set it
/// is printed as ever.
pub fn catch_panics<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let message = Arc::new(Mutex::new(None));
    let kept = message.clone();
    let shown = std::env::var_os("RUST_BACKTRACE").map(|_| std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        if let Ok(mut kept) = kept.lock() {
            *kept = Some(info.to_string());
        }
        if let Some(shown) = &shown {
            shown(info);
        }
    }));
    // What `work` leaves half changed is not looked at again.
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(work));
    let _ = std::panic::take_hook();
    outcome.unwrap_or_else(|_| {
        let message = message.lock().ok().and_then(|mut message| message.take());
        Err(anyhow::anyhow!("{}", message.unwrap_or_else(|| "panicked".into())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_panics_become_errors_that_say_what_and_where() {
        let error = catch_panics::<()>(|| panic!("Failed to query {} extension", "XInput")).expect_err("it panicked");
        let text = error.to_string();
        assert!(text.contains("Failed to query XInput extension") && text.contains("quiet.rs"), "{text}");
        assert_eq!(catch_panics(|| Ok(3)).expect("no panic"), 3);
        assert_eq!(catch_panics::<()>(|| anyhow::bail!("as it is")).unwrap_err().to_string(), "as it is");
    }
}
