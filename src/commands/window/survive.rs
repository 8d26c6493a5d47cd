//! What becomes of the window when its surface, its device or its drawing area goes away.

use std::time::{Duration, Instant};

use praxis::frames::window::{Fault, GiveUp, Remedy};

use super::live::{Live, open_device};
use super::overlay::EguiOverlay;
use super::viewer::{FAULT_EVERY, Next, Viewer, inner_size_px};
use super::watch::Watch;
use crate::commands::terminal;

/// Between two tries to make a device, while the driver comes back.
const DEVICE_RETRY_AFTER: Duration = Duration::from_millis(500);

impl Viewer {
    /// The system takes the window's drawing area away.
    pub fn suspended(&mut self) -> anyhow::Result<Next> {
        self.live.frames.drain(&self.live.renderer)?;
        self.live.frames.surface_mut().release();
        Ok(self.rest(Next::Rest))
    }

    /// The window has a drawing area again.
    pub fn resumed(&mut self) -> anyhow::Result<Next> {
        self.live.replace_surface(&self.window)?;
        Ok(Next::Frame)
    }

    /// Makes this attempt's planned faults happen, as far as they are not asked about later.
    pub(super) fn inject_faults(&mut self, attempt: u64) -> anyhow::Result<()> {
        let faults: Vec<_> = self.faults.at(attempt).collect();
        for fault in &faults {
            match *fault {
                Fault::Acquire(fault) => self.live.frames.surface_mut().inject(fault),
                Fault::OutdatedAgain => {
                    use praxis::gpu::AcquireFault::Outdated;
                    self.live.frames.surface_mut().inject(Outdated);
                    self.live.frames.surface_mut().inject(Outdated);
                }
                // As a driver's reset: whatever is asked of the device from here on fails.
                Fault::DeviceLost => self.live.session.gpu.device.destroy(),
                Fault::Suspended => {
                    self.suspended()?;
                }
                Fault::Scale(factor) => self.overlay.set_scale(factor),
                Fault::NoDevice | Fault::ZeroSize | Fault::Occluded | Fault::Minimised => {}
            }
        }
        let was_suspended = attempt > 0 && self.faults.has(attempt - 1, Fault::Suspended);
        if was_suspended && !faults.contains(&Fault::Suspended) {
            self.resumed()?;
        }
        Ok(())
    }

    pub(super) fn next_after(&mut self, remedy: Remedy) -> anyhow::Result<Next> {
        let now = Instant::now();
        match remedy {
            Remedy::NextFrame => Ok(Next::Frame),
            Remedy::RetryAfter(after) => Ok(Next::Retry(now + after)),
            Remedy::RestFor(after) => {
                self.live.frames.drain(&self.live.renderer)?;
                Ok(self.rest(Next::Retry(now + after)))
            }
            Remedy::RestUntilEvent => {
                self.live.frames.drain(&self.live.renderer)?;
                Ok(self.rest(Next::Rest))
            }
            Remedy::ReplaceSurface => {
                self.live.replace_surface(&self.window)?;
                Ok(Next::Retry(now + FAULT_EVERY))
            }
            Remedy::ReplaceDevice => self.replace_device(),
            Remedy::GiveUp(end) => Err(end.into()),
        }
    }

    /// The device is lost: makes a new one and everything on it. Scene, camera, clock and what is shown stay.
    pub(super) fn replace_device(&mut self) -> anyhow::Result<Next> {
        let mut remedy = self.recovery.device_lost();
        // What was recorded until now is worth keeping, and can't go on with another device's frames.
        self.stop_recording(Some("the GPU device was lost"))?;
        let mut last_fault = None;
        while remedy == Remedy::ReplaceDevice {
            match self.try_replace_device() {
                Ok(()) => {
                    terminal::note(
                        self.args.render.quiet,
                        "the GPU device was lost, and everything made anew on a new one",
                    );
                    self.overlay.panels.notice("the GPU device was lost and replaced".into());
                    return Ok(self.rest(Next::Frame));
                }
                Err(error) => {
                    last_fault = Some(error);
                    remedy = self.recovery.device_refused();
                    std::thread::sleep(DEVICE_RETRY_AFTER);
                }
            }
        }
        match last_fault {
            Some(fault) => Err(fault.context(GiveUp::DeviceLostAgain)),
            None => Err(GiveUp::DeviceLostAgain.into()),
        }
    }

    fn try_replace_device(&mut self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.faults.take_refused_device(self.n_attempts), "no device, as the injected fault wants it");
        // A window may have one swapchain at a time.
        self.live.frames.surface_mut().release();
        let size_px = inner_size_px(&self.window).map(|side| side.max(1));
        let (session, surface) = open_device(&self.window, &self.args)?;
        let edits = self.watch.as_ref().map(Watch::shader_edits).unwrap_or_default();
        session.gpu.factory.set_shader_edits(edits);
        let refresh_hz = self.live.frames.refresh_hz();
        self.live = Live::new(session, surface, &mut self.scene, &self.args, size_px, refresh_hz)?;
        let panels = std::mem::take(&mut self.overlay.panels);
        let format = self.live.frames.surface().format();
        self.overlay = EguiOverlay::new(&self.live.session.gpu, self.window.clone(), format, panels);
        Ok(())
    }
}
