//! winit's events to the viewer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::event::{DeviceEvent, DeviceId, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::window::WindowId;

use super::viewer::{Next, Viewer};
use crate::cli::WindowArgs;

/// A frame that starts later than this is waited for in the event loop, where events are taken meanwhile.
const LONG_SLEEP: Duration = Duration::from_millis(20);
/// That much earlier the event loop's wait ends, which is only about as exact as this; the rest is slept through.
const SLEEP_MARGIN: Duration = Duration::from_millis(3);

/// Opens the viewer when the event loop runs, and keeps the first error.
pub struct App<'a> {
    args: &'a WindowArgs,
    viewer: Option<Viewer>,
    /// Told to whoever would close it.
    is_open: Arc<AtomicBool>,
    outcome: anyhow::Result<()>,
}

impl<'a> App<'a> {
    /// Nothing is open yet.
    pub fn new(args: &'a WindowArgs, is_open: Arc<AtomicBool>) -> Self {
        Self { args, viewer: None, is_open, outcome: Ok(()) }
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
            Ok(Some(Next::Frame)) => self.start_frame(event_loop),
            Ok(Some(Next::Retry(at))) => event_loop.set_control_flow(ControlFlow::WaitUntil(at)),
            Ok(Some(Next::Rest)) => event_loop.set_control_flow(ControlFlow::Wait),
            Ok(Some(Next::Close)) => event_loop.exit(),
            Err(error) => {
                self.outcome = Err(error);
                event_loop.exit();
            }
        }
    }

    /// Asks for the frame when it is to start. The sleep is over before the redraw is asked for: events that came meanwhile are
    /// handed over first, and are part of the frame's input.
    fn start_frame(&mut self, event_loop: &ActiveEventLoop) {
        let Some(viewer) = &mut self.viewer else { return };
        let until_start = viewer.time_to_start();
        if until_start > LONG_SLEEP {
            event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + until_start - SLEEP_MARGIN));
            return;
        }
        event_loop.set_control_flow(ControlFlow::Wait);
        viewer.sleep_until_start();
        viewer.request_redraw();
    }
}

impl ApplicationHandler for App<'_> {
    fn new_events(&mut self, event_loop: &ActiveEventLoop, cause: StartCause) {
        if let StartCause::ResumeTimeReached { .. } = cause {
            self.with_viewer(event_loop, |_| Ok(Some(Next::Frame)));
        }
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if event_loop.exiting() {
            return;
        }
        if self.viewer.is_some() {
            self.with_viewer(event_loop, |viewer| viewer.resumed().map(Some));
            return;
        }
        let next = Viewer::open(event_loop, self.args).map(|viewer| {
            self.viewer = Some(viewer);
            self.is_open.store(true, Ordering::Relaxed);
            Some(Next::Frame)
        });
        self.go_on(event_loop, next);
    }

    /// Somebody asked the program to end.
    fn user_event(&mut self, event_loop: &ActiveEventLoop, (): ()) {
        self.with_viewer(event_loop, |_| Ok(Some(Next::Close)));
    }

    fn suspended(&mut self, event_loop: &ActiveEventLoop) {
        self.with_viewer(event_loop, |viewer| viewer.suspended().map(Some));
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
