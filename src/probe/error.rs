//! What can go wrong while measuring.

use crate::gpu::{GpuError, RawError};
use crate::pacing::WaitError;

/// A fault that ends a probe. What was measured before it stays.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The GPU, its driver or our use of it.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// Waiting for a submission.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// Memory or semaphores beside wgpu.
    #[error(transparent)]
    Raw(#[from] RawError),
    /// wgpu has no error for some faults, a lost device among them, and panics.
    #[error("the GPU API panicked: {0}")]
    Panicked(String),
    /// A submission was never finished.
    #[error("the GPU did not finish a submission within {limit_s} s: the driver or the device hangs")]
    Hang {
        /// How long was waited.
        limit_s: u64,
    },
}

/// How one operation of one variant failed.
#[derive(Debug)]
pub enum OpError {
    /// This variant can't be had here; the others can.
    Unavailable(String),
    /// Nothing more can be measured.
    Fatal(ProbeError),
}

/// Runs `work`; a panic inside becomes an error, so that what was measured before can still be shown.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, OpError>) -> Result<T, OpError> {
    // What `work` leaves half changed is of a device that is of no more use.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        Err(OpError::Fatal(ProbeError::Panicked(text.to_owned())))
    })
}

impl<E: Into<ProbeError>> From<E> for OpError {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}
