//! How the CPU waits for the GPU.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::str::FromStr;
use std::time::Duration;

use super::SubmissionWaiter;

/// How the main thread waits for the oldest frame in flight.
///
/// Neither way changes what the GPU does. Blocking leaves the core to others, or idle, and then the core's clock may
/// fall: CPU times read behind a GPU-bound frame grow without the work having grown. Spinning keeps the clock up, and
/// takes a core. A benchmark on a hardware adapter spins; a window, and a software rasterizer whose threads need the
/// cores, block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameWait {
    /// Sleeps until the GPU signals: `device.poll` without a timeout.
    Block,
    /// Polls until the frame is done: `device.poll` with a zero timeout, in a loop.
    Spin,
}

impl FrameWait {
    /// Every way to wait, in the order in which help texts list them.
    pub const ALL: &'static [Self] = &[Self::Block, Self::Spin];

    /// The name on the command line and in run files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Spin => "spin",
        }
    }

    /// What a benchmark uses on this kind of adapter: it blocks where the GPU is the CPU, and spins elsewhere.
    pub fn for_benchmark(device_type: wgpu::DeviceType) -> Self {
        match device_type {
            wgpu::DeviceType::Cpu => Self::Block,
            _ => Self::Spin,
        }
    }
}

impl fmt::Display for FrameWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no [`FrameWait`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no way to wait: use block or spin")]
pub struct UnknownFrameWait {
    /// What was given.
    pub name: String,
}

impl FromStr for FrameWait {
    type Err = UnknownFrameWait;

    fn from_str(name: &str) -> Result<Self, UnknownFrameWait> {
        let known = Self::ALL.iter().find(|wait| wait.name() == name);
        known.copied().ok_or_else(|| UnknownFrameWait { name: name.to_owned() })
    }
}

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

/// Waits for submissions of a wgpu device.
///
/// **One thread polls a device.** A spinning wait beside another thread in `device.poll` can panic inside wgpu-core.
/// Waiting for a submission that is finished already is fine and short.
#[derive(Debug)]
pub struct DeviceWaiter<'a> {
    device: &'a wgpu::Device,
    wait: FrameWait,
}

impl<'a> DeviceWaiter<'a> {
    /// Waits on `device` in the way of `wait`.
    pub fn new(device: &'a wgpu::Device, wait: FrameWait) -> Self {
        Self { device, wait }
    }

    /// How this waits.
    pub fn frame_wait(&self) -> FrameWait {
        self.wait
    }
}

impl SubmissionWaiter<wgpu::SubmissionIndex> for DeviceWaiter<'_> {
    type Error = WaitError;

    fn wait(&mut self, submission: &wgpu::SubmissionIndex) -> Result<(), WaitError> {
        // `PollType::Poll` can't tell which of two submissions is done; a `Wait` for an index can.
        let poll = |timeout| {
            self.device.poll(wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout }).map(drop)
        };
        let outcome = catch_device_loss(|| match self.wait {
            FrameWait::Block => poll(None),
            FrameWait::Spin => spin_until_done(|| poll(Some(Duration::ZERO))),
        });
        outcome.map_err(|fault| WaitError { wait: self.wait, fault })
    }
}

/// Polls until the poll says anything but "not yet".
fn spin_until_done(mut poll: impl FnMut() -> Result<(), wgpu::PollError>) -> Result<(), wgpu::PollError> {
    loop {
        match poll() {
            Err(wgpu::PollError::Timeout) => std::hint::spin_loop(),
            outcome => return outcome,
        }
    }
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
    fn pacing_frame_wait_names_parse_back() {
        for wait in FrameWait::ALL {
            assert_eq!(wait.to_string().parse::<FrameWait>().as_ref(), Ok(wait));
        }
        let error = "Spin".parse::<FrameWait>().unwrap_err();
        assert_eq!(error.to_string(), "`Spin` is no way to wait: use block or spin");
    }

    #[test]
    fn pacing_benchmarks_spin_but_on_software_adapters() {
        assert_eq!(FrameWait::for_benchmark(wgpu::DeviceType::Cpu), FrameWait::Block);
        assert_eq!(FrameWait::for_benchmark(wgpu::DeviceType::DiscreteGpu), FrameWait::Spin);
        assert_eq!(FrameWait::for_benchmark(wgpu::DeviceType::Other), FrameWait::Spin);
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
