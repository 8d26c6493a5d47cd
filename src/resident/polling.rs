//! Waiting for submissions. wgpu has no error for some faults, a lost device among them, and panics: here that is an error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A submission that can't be waited for: the device is lost, as a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("waiting for the GPU failed: {0}")]
pub struct PollFault(pub String);

/// Blocks until `submission` is finished.
///
/// # Errors
/// [`PollFault`].
pub fn wait(device: &wgpu::Device, submission: &wgpu::SubmissionIndex) -> Result<(), PollFault> {
    poll(device, submission, None).map(drop)
}

/// Whether `submission` is finished. Only the thread that also submits may ask: see `docs/pacing.md`.
///
/// # Errors
/// [`PollFault`].
pub fn is_done(device: &wgpu::Device, submission: &wgpu::SubmissionIndex) -> Result<bool, PollFault> {
    poll(device, submission, Some(Duration::ZERO))
}

fn poll(
    device: &wgpu::Device,
    submission: &wgpu::SubmissionIndex,
    timeout: Option<Duration>,
) -> Result<bool, PollFault> {
    let submission_index = Some(submission.clone());
    match caught(|| device.poll(wgpu::PollType::Wait { submission_index, timeout }))? {
        Ok(_) => Ok(true),
        Err(wgpu::PollError::Timeout) => Ok(false),
        Err(error) => Err(PollFault(error.to_string())),
    }
}

/// Runs `work`, which calls wgpu; a panic inside becomes an error.
///
/// # Errors
/// [`PollFault`], for a panic.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, PollFault> {
    // What `work` leaves half changed is of a device that is of no more use.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        PollFault(text.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}
