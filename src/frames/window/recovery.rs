//! What to do after each frame: a state machine without window, GPU or clock.

use std::time::Duration;

use super::Drawn;
use crate::gpu::NoTexture;

/// Until a surface that gave no texture is tried again, the first time; each further time it is twice as long.
const RETRY_AFTER: Duration = Duration::from_millis(10);
/// The longest of these, and how often a window is looked at that nobody sees.
const UNSEEN_EVERY: Duration = Duration::from_millis(250);
/// Surfaces lost one after the other before it is given up.
const MOST_LOST_SURFACES: u32 = 8;
/// New devices that come to nothing, one after the other, before it is given up.
const MOST_FAILED_DEVICES: u32 = 2;
/// Frames that a new device has to show before a further loss counts as the first one again.
const FORGIVEN_AFTER: u32 = 30;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Draw the next frame.
    NextFrame,
    /// Draw again after this time, or when an event asks for it.
    RetryAfter(Duration),
    /// Nobody sees the window: draw again after this time, or when an event asks for it, and let scene time stand until then.
    RestFor(Duration),
    /// Nothing can be drawn until an event says so.
    RestUntilEvent,
    /// Make the surface anew, then [`Remedy::RetryAfter`] 10 ms.
    ReplaceSurface,
    /// Make the device anew and everything on it, then say so with [`Recovery::device_refused`] or draw the next frame.
    ReplaceDevice,
    /// End with this.
    GiveUp(GiveUp),
}

/// Why it is of no use to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GiveUp {
    /// wgpu refuses a texture without an error that says why.
    #[error("the window's surface gives no texture to draw into")]
    SurfaceRefused,
    /// New surfaces are lost at once.
    #[error("the window's surface is lost again and again; is the display still there?")]
    SurfaceLostAgain,
    /// New devices are refused or lost at once.
    #[error(
        "the GPU device is lost, and {MOST_FAILED_DEVICES} new ones came to nothing; see the system's log for the driver's fault, \
         or choose another adapter with --adapter"
    )]
    DeviceLostAgain,
}

/// What happened lately, as far as it matters for what to do.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    n_lost_surfaces: u32,
    /// Frames without a texture, one after the other, on a surface that is there.
    n_missed: u32,
    n_failed_devices: u32,
    /// Frames that the present device showed; `None` for the first device, which replaced none.
    n_shown_since_loss: Option<u32>,
}

impl Recovery {
    /// A frame was drawn.
    pub fn after_frame(&mut self, drawn: Drawn) -> Remedy {
        match drawn {
            Drawn::Presented => self.presented(),
            Drawn::NotShown(NoTexture::Timeout | NoTexture::Outdated) => {
                // A window that is dragged to another size is outdated for many frames; a display that sleeps times out for
                // hours.
                let factor = 1 << self.n_missed.min(10);
                self.n_missed = self.n_missed.saturating_add(1);
                Remedy::RetryAfter((RETRY_AFTER * factor).min(UNSEEN_EVERY))
            }
            Drawn::NotShown(NoTexture::Occluded) => Remedy::RestFor(UNSEEN_EVERY),
            Drawn::NotShown(NoTexture::Suspended) => Remedy::RestUntilEvent,
            Drawn::NotShown(NoTexture::Refused) => Remedy::GiveUp(GiveUp::SurfaceRefused),
            Drawn::NotShown(NoTexture::Lost) => {
                self.n_lost_surfaces += 1;
                if self.n_lost_surfaces > MOST_LOST_SURFACES {
                    Remedy::GiveUp(GiveUp::SurfaceLostAgain)
                } else {
                    Remedy::ReplaceSurface
                }
            }
        }
    }

    /// Before a frame: whether one can be drawn into a window as it is.
    pub fn before_frame(&self, size_px: [u32; 2], is_occluded: bool, is_minimized: bool) -> Option<Remedy> {
        match (is_occluded || size_px.contains(&0), is_minimized) {
            // An event tells of the end of both.
            (true, _) => Some(Remedy::RestUntilEvent),
            // No platform tells reliably of that.
            (_, true) => Some(Remedy::RestFor(UNSEEN_EVERY)),
            _ => None,
        }
    }

    /// The device was lost, before a frame or within.
    pub fn device_lost(&mut self) -> Remedy {
        match self.n_shown_since_loss.replace(0) {
            // The replacement was lost before it showed that it works.
            Some(n_shown) if n_shown < FORGIVEN_AFTER => self.device_failed(),
            _ => {
                self.n_failed_devices = 0;
                Remedy::ReplaceDevice
            }
        }
    }

    /// A device was to be replaced, and no new one could be had, or nothing be made on it.
    pub fn device_refused(&mut self) -> Remedy {
        self.device_failed()
    }

    fn device_failed(&mut self) -> Remedy {
        self.n_failed_devices += 1;
        let is_last = self.n_failed_devices >= MOST_FAILED_DEVICES;
        if is_last { Remedy::GiveUp(GiveUp::DeviceLostAgain) } else { Remedy::ReplaceDevice }
    }

    fn presented(&mut self) -> Remedy {
        self.n_lost_surfaces = 0;
        self.n_missed = 0;
        if let Some(n_shown) = &mut self.n_shown_since_loss {
            *n_shown = n_shown.saturating_add(1);
        }
        Remedy::NextFrame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use NoTexture::{Lost, Occluded, Outdated, Refused, Suspended, Timeout};

    fn missing(recovery: &mut Recovery, why: NoTexture) -> Remedy {
        recovery.after_frame(Drawn::NotShown(why))
    }

    #[test]
    fn window_remedies_fit_what_an_acquire_came_to() {
        let mut recovery = Recovery::default();
        assert_eq!(recovery.after_frame(Drawn::Presented), Remedy::NextFrame);
        assert_eq!(missing(&mut recovery, Occluded), Remedy::RestFor(UNSEEN_EVERY));
        assert_eq!(missing(&mut recovery, Suspended), Remedy::RestUntilEvent);
        assert_eq!(missing(&mut recovery, Refused), Remedy::GiveUp(GiveUp::SurfaceRefused));
        assert_eq!(missing(&mut recovery, Lost), Remedy::ReplaceSurface);
    }

    #[test]
    fn window_retries_back_off_and_never_end() {
        let mut recovery = Recovery::default();
        let mut before = Duration::ZERO;
        for n in 0..10_000 {
            let why = if n % 3 == 0 { Timeout } else { Outdated };
            let Remedy::RetryAfter(after) = missing(&mut recovery, why) else { panic!("a retry") };
            assert!(after >= before && after >= RETRY_AFTER && after <= UNSEEN_EVERY, "neither busy nor asleep");
            before = after;
        }
        assert_eq!(before, UNSEEN_EVERY);
        recovery.after_frame(Drawn::Presented);
        assert_eq!(missing(&mut recovery, Outdated), Remedy::RetryAfter(RETRY_AFTER), "a frame shown starts anew");
    }

    #[test]
    fn window_surfaces_that_are_lost_again_and_again_are_given_up() {
        let mut recovery = Recovery::default();
        for _ in 0..3 {
            for _ in 0..MOST_LOST_SURFACES {
                assert_eq!(missing(&mut recovery, Lost), Remedy::ReplaceSurface);
            }
            recovery.after_frame(Drawn::Presented);
        }
        for _ in 0..MOST_LOST_SURFACES {
            missing(&mut recovery, Lost);
            missing(&mut recovery, Timeout);
        }
        assert_eq!(missing(&mut recovery, Lost), Remedy::GiveUp(GiveUp::SurfaceLostAgain));
    }

    #[test]
    fn window_devices_get_two_chances() {
        // Refused twice.
        let mut recovery = Recovery::default();
        assert_eq!(recovery.device_lost(), Remedy::ReplaceDevice);
        assert_eq!(recovery.device_refused(), Remedy::ReplaceDevice);
        assert_eq!(recovery.device_refused(), Remedy::GiveUp(GiveUp::DeviceLostAgain));

        // Lost again at once, twice; a few frames in between don't count.
        let mut recovery = Recovery::default();
        assert_eq!(recovery.device_lost(), Remedy::ReplaceDevice);
        recovery.after_frame(Drawn::Presented);
        assert_eq!(recovery.device_lost(), Remedy::ReplaceDevice);
        assert_eq!(recovery.device_lost(), Remedy::GiveUp(GiveUp::DeviceLostAgain));

        // One of each.
        let mut recovery = Recovery::default();
        recovery.device_lost();
        assert_eq!(recovery.device_refused(), Remedy::ReplaceDevice);
        assert_eq!(recovery.device_lost(), Remedy::GiveUp(GiveUp::DeviceLostAgain));
    }

    #[test]
    fn window_devices_that_worked_for_a_while_are_replaced_for_ever() {
        let mut recovery = Recovery::default();
        for _ in 0..100 {
            assert_eq!(recovery.device_lost(), Remedy::ReplaceDevice);
            assert_eq!(recovery.device_refused(), Remedy::ReplaceDevice);
            for _ in 0..FORGIVEN_AFTER {
                recovery.after_frame(Drawn::Presented);
            }
        }
    }

    #[test]
    fn window_frames_are_not_drawn_where_none_can_be_seen() {
        let recovery = Recovery::default();
        assert_eq!(recovery.before_frame([640, 360], false, false), None);
        for size_px in [[0, 360], [640, 0], [0, 0]] {
            assert_eq!(recovery.before_frame(size_px, false, false), Some(Remedy::RestUntilEvent));
        }
        assert_eq!(recovery.before_frame([640, 360], true, true), Some(Remedy::RestUntilEvent));
        assert_eq!(recovery.before_frame([640, 360], false, true), Some(Remedy::RestFor(UNSEEN_EVERY)));
    }

    #[test]
    fn window_ends_are_told_in_one_line() {
        for end in [GiveUp::SurfaceRefused, GiveUp::SurfaceLostAgain, GiveUp::DeviceLostAgain] {
            assert_eq!(end.to_string().lines().count(), 1);
        }
    }
}
