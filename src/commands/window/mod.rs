//! `praxis [SCENE|FILE]`: the viewer.

mod app;
mod camera;
mod clock;
mod controls;
mod overlay;
mod panels;
mod quiet;
mod viewer;

use anyhow::Context;
use winit::event_loop::EventLoop;

use super::Outcome;
use crate::cli::WindowArgs;
use app::App;

const WITHOUT_DISPLAY: &str = "no window can be opened here; without a display `praxis bench SCENE` measures a scene and \
                               `praxis capture SCENE --out FILE` makes a picture of it";

/// Shows a scene until the window is closed.
pub fn run(args: &WindowArgs) -> anyhow::Result<Outcome> {
    let event_loop = quiet::catch_panics(|| Ok(EventLoop::new()?)).context(WITHOUT_DISPLAY)?;
    quiet::catch_panics(|| {
        let mut app = App::new(args);
        event_loop.run_app(&mut app).context("the window's event loop failed")?;
        app.into_outcome()
    })?;
    Ok(Outcome::Good)
}
