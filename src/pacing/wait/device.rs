//! Waits for submissions of a wgpu device.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use super::super::{PacingClock, SubmissionWaiter};
use super::hybrid::{HybridWait, Sleep};
use super::stepped::{Stepped, wait_in_steps};
use super::{FrameWait, HybridOutcomes};

/// A wait for a submission that ended in an error.
#[derive(Debug, thiserror::Error)]
#[error("waiting for a frame on the GPU failed ({wait} wait): {fault}")]
pub struct WaitError {
    /// How it was waited.
    pub wait: FrameWait,
    /// What went wrong.
    #[source]
    pub fault: WaitFault,
}

/// Why a wait failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitFault {
    /// wgpu refused the wait, such as for another device's submission.
    #[error(transparent)]
    Poll(#[from] wgpu::PollError),
    /// The device is lost, or wgpu's own state is broken. wgpu has no error for that and panics inside `poll`; the panic is
    /// caught, so that a program can still save what it has. The device is of no more use.
    #[error("the GPU device is lost: {message}")]
    DeviceLost {
        /// What wgpu said.
        message: String,
    },
}

/// How a [`FrameWait::Hybrid`] blocks until shortly before the predicted end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HybridSleep {
    /// As suits: in the driver first, and in turn where that keeps missing.
    #[default]
    Auto,
    /// In the driver, by `device.poll` with a timeout: a frame that ends early wakes it.
    Driver,
    /// In the system's sleep: nothing wakes it early. For drivers whose timeouts are coarse.
    System,
}

/// Waits for submissions of a wgpu device.
///
/// Keep one as long as the device: a Hybrid wait learns from frame to frame how long they take, and a new one knows nothing and
/// blocks. The [`InFlightRing`](super::super::InFlightRing) tells it when each submission was made.
///
/// **One thread polls a device.** A spinning wait beside another thread in `device.poll` can panic inside wgpu-core.
/// Waiting for a submission that is finished already is fine and short.
#[derive(Clone, Debug)]
pub struct DeviceWaiter {
    device: wgpu::Device,
    wait: FrameWait,
    clock: PacingClock,
    hybrid: Option<HybridWait>,
    times_polls: bool,
    last_poll_ns: Option<u64>,
}

impl DeviceWaiter {
    /// Waits on `device` in the way of `wait`.
    pub fn new(device: &wgpu::Device, wait: FrameWait) -> Self {
        Self {
            device: device.clone(),
            wait,
            clock: PacingClock::new(),
            hybrid: hybrid(wait, HybridSleep::default()),
            times_polls: false,
            last_poll_ns: None,
        }
    }

    /// The same, with Hybrid waits that block in the way of `sleep`; what they learnt is forgotten.
    #[must_use]
    pub fn with_sleep(mut self, sleep: HybridSleep) -> Self {
        self.hybrid = hybrid(self.wait, sleep);
        self
    }

    /// The same, reading the clock around every poll, so that [`Self::last_poll_ns`] is known. That takes some ns of each poll: for
    /// finding out where a wait's time goes, not for every day.
    #[must_use]
    pub fn with_timed_polls(mut self) -> Self {
        self.times_polls = true;
        self
    }

    /// What the last poll of the last wait took in ns: the poll that found the frame done, which also frees what wgpu held for it. `None`
    /// without [timed polls](Self::with_timed_polls), and where the last wait ended blocked.
    pub fn last_poll_ns(&self) -> Option<u64> {
        self.last_poll_ns
    }

    /// How this waits.
    pub fn frame_wait(&self) -> FrameWait {
        self.wait
    }

    /// How its waits have ended so far, if they are Hybrid.
    pub fn hybrid_outcomes(&self) -> Option<HybridOutcomes> {
        self.hybrid.as_ref().map(HybridWait::outcomes)
    }
}

impl SubmissionWaiter<wgpu::SubmissionIndex> for DeviceWaiter {
    type Error = WaitError;

    fn wait(&mut self, submission: &wgpu::SubmissionIndex) -> Result<(), WaitError> {
        self.wait_since(submission, Instant::now())
    }

    fn wait_since(&mut self, submission: &wgpu::SubmissionIndex, submitted: Instant) -> Result<(), WaitError> {
        let Self { device, wait, clock, hybrid, times_polls, last_poll_ns } = self;
        *last_poll_ns = None;
        // `PollType::Poll` can't tell which of two submissions is done; a `Wait` for an index can.
        let mut poll = |timeout| {
            let started = times_polls.then(Instant::now);
            let outcome = device.poll(wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout });
            *last_poll_ns = started.filter(|_| timeout == Some(Duration::ZERO)).map(super::super::elapsed_ns);
            outcome.map(drop)
        };
        let outcome = catch_device_loss(|| match (*wait, hybrid) {
            (FrameWait::Spin, _) => spin_until_done(|| poll(Some(Duration::ZERO))),
            (FrameWait::Hybrid { .. }, Some(hybrid)) => {
                let mut submission = PolledSubmission { poll: &mut poll, clock };
                wait_in_steps(hybrid, clock.ns_of(submitted), &mut submission)
            }
            _ => poll(None),
        });
        outcome.map_err(|fault| WaitError { wait: *wait, fault })
    }
}

fn hybrid(wait: FrameWait, sleep: HybridSleep) -> Option<HybridWait> {
    let FrameWait::Hybrid { max_spin } = wait else { return None };
    let sleep = match sleep {
        HybridSleep::Auto => None,
        HybridSleep::Driver => Some(Sleep::Driver),
        HybridSleep::System => Some(Sleep::System),
    };
    Some(HybridWait::new(u64::try_from(max_spin.as_nanos()).unwrap_or(u64::MAX), sleep))
}

/// A submission as [`wait_in_steps`] sees it.
struct PolledSubmission<'a, P> {
    poll: &'a mut P,
    clock: &'a PacingClock,
}

impl<P: FnMut(Option<Duration>) -> Result<(), wgpu::PollError>> Stepped for PolledSubmission<'_, P> {
    type Error = wgpu::PollError;

    fn now_ns(&mut self) -> u64 {
        self.clock.now_ns()
    }

    fn block(&mut self) -> Result<(), wgpu::PollError> {
        (self.poll)(None)
    }

    fn block_for_ns(&mut self, longest_ns: u64, by: Sleep) -> Result<bool, wgpu::PollError> {
        let longest = Duration::from_nanos(longest_ns);
        match by {
            Sleep::Driver => is_done((self.poll)(Some(longest))),
            Sleep::System => {
                std::thread::sleep(longest);
                Ok(false)
            }
        }
    }

    fn poll(&mut self) -> Result<bool, wgpu::PollError> {
        is_done((self.poll)(Some(Duration::ZERO)))
    }
}

fn is_done(outcome: Result<(), wgpu::PollError>) -> Result<bool, wgpu::PollError> {
    match outcome {
        Ok(()) => Ok(true),
        Err(wgpu::PollError::Timeout) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Polls until the poll says anything but "not yet".
fn spin_until_done(mut poll: impl FnMut() -> Result<(), wgpu::PollError>) -> Result<(), wgpu::PollError> {
    while !is_done(poll())? {
        std::hint::spin_loop();
    }
    Ok(())
}

/// Turns the panic by which wgpu tells of a lost device into an error.
fn catch_device_loss(poll: impl FnOnce() -> Result<(), wgpu::PollError>) -> Result<(), WaitFault> {
    // Nothing of ours is changed while polling, so nothing can be left half changed.
    match std::panic::catch_unwind(AssertUnwindSafe(poll)) {
        Ok(outcome) => Ok(outcome?),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
            // wgpu lists causes on lines of their own.
            let message = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
            Err(WaitFault::DeviceLost { message })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_spin_goes_on_only_at_a_timeout() {
        let mut answers = vec![Ok(()), Err(wgpu::PollError::Timeout), Err(wgpu::PollError::Timeout)];
        spin_until_done(|| answers.pop().expect("no poll after the frame is done")).expect("done after two timeouts");
        assert!(answers.is_empty());

        let mut answers = vec![Ok(()), Err(wgpu::PollError::WrongSubmissionIndex(9, 3)), Err(wgpu::PollError::Timeout)];
        let error = spin_until_done(|| answers.pop().expect("no poll after an error")).unwrap_err();
        assert!(matches!(error, wgpu::PollError::WrongSubmissionIndex(9, 3)));
        assert_eq!(answers.len(), 1);
    }

    #[test]
    fn pacing_a_lost_device_is_an_error() {
        let lost = catch_device_loss(|| panic!("Error in Device::poll:\n\n  Parent device is lost\n"));
        let error = WaitError { wait: FrameWait::Spin, fault: lost.expect_err("the device is lost") };
        assert_eq!(
            error.to_string(),
            "waiting for a frame on the GPU failed (spin wait): the GPU device is lost: \
             Error in Device::poll: Parent device is lost"
        );
        assert!(matches!(catch_device_loss(|| Err(wgpu::PollError::Timeout)), Err(WaitFault::Poll(_))));
        assert!(catch_device_loss(|| Ok(())).is_ok());
    }
}
