//! winit's events to the viewer.

use winit::application::ApplicationHandler;
use winit::event::{DeviceEvent, DeviceId, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::window::WindowId;

use super::viewer::{Next, Viewer};
use crate::cli::WindowArgs;

/// Opens the viewer when the event loop runs, and keeps the first error.
pub struct App<'a> {
    args: &'a WindowArgs,
    viewer: Option<Viewer>,
    outcome: anyhow::Result<()>,
}

impl<'a> App<'a> {
    /// Nothing is open yet.
    pub fn new(args: &'a WindowArgs) -> Self {
        Self { args, viewer: None, outcome: Ok(()) }
    }

    /// What became of it.
    pub fn into_outcome(self) -> anyhow::Result<()> {
        self.outcome
    }

    fn with_viewer(
        &mut self,
        event_loop: &ActiveEventLoop,
        handle: impl FnOnce(&mut Viewer) -> anyhow::Result<Option<Next>>,
    ) {
        // Events still come after the end was decided.
        if event_loop.exiting() {
            return;
        }
        let Some(viewer) = &mut self.viewer else { return };
        let next = handle(viewer);
        self.go_on(event_loop, next);
    }

    fn go_on(&mut self, event_loop: &ActiveEventLoop, next: anyhow::Result<Option<Next>>) {
        match next {
            Ok(None) => {}
            Ok(Some(Next::Frame)) => {
                event_loop.set_control_flow(ControlFlow::Wait);
                if let Some(viewer) = &self.viewer {
                    viewer.request_redraw();
                }
            }
            Ok(Some(Next::Retry(at))) => event_loop.set_control_flow(ControlFlow::WaitUntil(at)),
            Ok(Some(Next::Rest)) => event_loop.set_control_flow(ControlFlow::Wait),
            Ok(Some(Next::Close)) => event_loop.exit(),
            Err(error) => {
                self.outcome = Err(error);
                event_loop.exit();
            }
        }
    }
}

impl ApplicationHandler for App<'_> {
    fn new_events(&mut self, event_loop: &ActiveEventLoop, cause: StartCause) {
        if let StartCause::ResumeTimeReached { .. } = cause {
            self.with_viewer(event_loop, |_| Ok(Some(Next::Frame)));
        }
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.viewer.is_some() || event_loop.exiting() {
            return;
        }
        let next = Viewer::open(event_loop, self.args).map(|viewer| {
            self.viewer = Some(viewer);
            Some(Next::Frame)
        });
        self.go_on(event_loop, next);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.with_viewer(event_loop, |viewer| viewer.window_event(event));
    }

    fn device_event(&mut self, event_loop: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        if let DeviceEvent::MouseMotion { delta } = event {
            self.with_viewer(event_loop, |viewer| {
                viewer.mouse_moved(delta);
                Ok(None)
            });
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        if let Some(viewer) = &mut self.viewer
            && self.outcome.is_ok()
        {
            self.outcome = viewer.close();
        }
        // Surface and window go before winit's connection to the display does.
        self.viewer = None;
    }
}
