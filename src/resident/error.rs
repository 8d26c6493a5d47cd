//! What can go wrong with a resident worker, each in one line.

use super::check::Measured;
use super::user_operation::UserOperationError;

/// There is no resident worker on this adapter, and why.
#[derive(Debug, thiserror::Error)]
#[error("a resident worker is not available here: {reason}")]
pub struct Unavailable {
    /// What is missing or failed.
    pub reason: String,
    /// What the check had measured until then.
    pub measured: Measured,
}

/// A worker that could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Not on this adapter.
    #[error(transparent)]
    Unavailable(#[from] Box<Unavailable>),
    /// The configuration makes no sense.
    #[error("the worker's configuration: {0}")]
    Config(String),
    /// The user's operation can't be taken.
    #[error("the user's operation: {0}")]
    UserOperation(#[from] UserOperationError),
}

/// A chain that was not submitted, since it can't be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// None, or too many.
    #[error("a chain has 1 to {most} steps, not {n_steps}")]
    Length {
        /// Asked for.
        n_steps: usize,
        /// Allowed.
        most: usize,
    },
    /// An array of another worker.
    #[error("step {step_idx} has an array of another worker")]
    Foreign {
        /// From 0.
        step_idx: usize,
    },
    /// An array of another worker, to read or to write.
    #[error("the array is another worker's")]
    ForeignArray,
    /// Arrays of a step must be of one length.
    #[error("step {step_idx} has arrays of {} and of {} elements", .lengths.0, .lengths.1)]
    Lengths {
        /// From 0.
        step_idx: usize,
        /// Two of them.
        lengths: (usize, usize),
    },
    /// A filter can't write what it still has to read.
    #[error("step {step_idx} filters into one of the arrays that it reads")]
    InPlaceFilter {
        /// From 0.
        step_idx: usize,
    },
    /// There is no user's operation in the configuration.
    #[error("step {step_idx} is the user's operation, but the worker was started without one")]
    NoUserOperation {
        /// From 0.
        step_idx: usize,
    },
    /// A slice and its array must be of one length.
    #[error("the slice has {slice} elements, the array {array}")]
    Slice {
        /// Of the caller's.
        slice: usize,
        /// Of the worker's.
        array: usize,
    },
    /// No array is empty.
    #[error("an array has at least one element")]
    Empty,
}

/// An operation that gave no result. What the caller handed over is as it was; arrays that the operation writes may hold anything
/// after [`Self::Interrupted`], [`Self::Parted`] and [`Self::Lost`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// It was never submitted.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// All slots are taken: [`ResidentWorker::try_submit`](super::ResidentWorker::try_submit) only.
    #[error("the ring is full")]
    Full,
    /// No piece of the arena is large enough.
    #[error(
        "no room for {n} elements: the largest free piece of the arena's {arena_bytes} bytes has {largest_free_bytes} (Config::arena_bytes)"
    )]
    OutOfMemory {
        /// Elements asked for.
        n: usize,
        /// In the largest piece that is free.
        largest_free_bytes: usize,
        /// In all.
        arena_bytes: usize,
    },
    /// The kernel was ended while it worked on this one. Later ones are done.
    #[error("the kernel was ended while it worked on ticket {ticket}")]
    Interrupted {
        /// Which.
        ticket: u64,
    },
    /// Workgroups that shared it lost each other; the worker goes on with one workgroup.
    #[error("the workgroups that shared ticket {ticket} lost each other in step {step_idx}")]
    Parted {
        /// Which.
        ticket: u64,
        /// From 0.
        step_idx: u32,
    },
    /// The worker is at its end: it was stopped, or its device is lost, or its kernel gives no sign of life.
    #[error("the resident worker is gone: {reason}{}", unfinished(.ticket))]
    Lost {
        /// What happened.
        reason: String,
        /// The ticket that had no answer yet, if one was asked about.
        ticket: Option<u64>,
    },
}

fn unfinished(ticket: &Option<u64>) -> String {
    ticket.map_or_else(String::new, |ticket| format!("; ticket {ticket} is unfinished"))
}
