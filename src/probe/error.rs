//! What can go wrong while measuring.

use crate::gpu::{GpuError, RawError};
use crate::pacing::WaitError;
use crate::resident::OperationError;
use crate::resident::coherence::MailboxError;

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
    /// A kernel with a mailbox.
    #[error(transparent)]
    Mailbox(MailboxError),
    /// A resident worker.
    #[error(transparent)]
    Worker(OperationError),
    /// Something was computed wrong: its times would say nothing.
    #[error("{0}: what is wrong is not worth timing")]
    WrongResult(String),
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

impl From<MailboxError> for ProbeError {
    fn from(error: MailboxError) -> Self {
        Self::Mailbox(error)
    }
}

impl<E: Into<ProbeError>> From<E> for OpError {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}
