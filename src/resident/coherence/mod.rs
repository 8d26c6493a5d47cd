//! Whether a running kernel and the CPU can talk: the two directions, each on its own, and the round trip.
//!
//! The directions must not depend on each other, or one that fails hides the other. CPU → GPU: the CPU rings a doorbell
//! every few milliseconds; the kernel logs each distinct value that it sees, and the log is read after its end. GPU → CPU: the
//! kernel raises a heartbeat in every turn; the CPU looks at it while the kernel runs.
//!
//! [`ResidentWorker::start`](super::ResidentWorker::start) asks it of the few ways that it could use; `praxis probe resident`
//! asks it of all of them.

mod kernels;
mod mailbox;
mod round_trip;

use crate::gpu::MemoryType;

pub use kernels::{LOG_CAPACITY, Qualifier, STOP, coherence_wgsl};
pub use mailbox::{Mailbox, MailboxError};
pub use round_trip::RoundTrips;

/// One way to talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Where the mailbox lies.
    pub memory: MemoryType,
    /// How the kernel declares and reads it.
    pub qualifier: Qualifier,
    /// Whether the kernel's loop has a `storageBarrier`.
    pub has_barrier: bool,
    /// Whether the CPU fences after each ring.
    pub has_fence: bool,
    /// Bytes from the doorbell to the heartbeat.
    pub distance_bytes: u32,
}

/// Doorbell and heartbeat this far apart share no line that is known of.
pub const APART_BYTES: u32 = 256;
/// And this near, they share every line.
pub const TOGETHER_BYTES: u32 = 4;

/// How often the doorbell is rung.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Rings, at most [`LOG_CAPACITY`].
    pub n_rings: u32,
    /// From one to the next.
    pub period_ns: u64,
    /// How many times the window the kernel is bounded to, by the speed of its loop as it was measured before. Where other things slowed
    /// it down meanwhile it is faster later, and ends early.
    pub bound: f64,
}

/// What one kernel and the CPU saw of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Values rung while the kernel surely ran.
    pub n_rung: u32,
    /// The distinct values that the kernel logged, but for [`STOP`].
    pub seen: Vec<u32>,
    /// Looks at the heartbeat while the kernel surely ran.
    pub n_looks: u32,
    /// Looks that found it higher than the look before.
    pub n_risen: u32,
    /// From the kernel's submission to the first look that found a heartbeat.
    pub first_heartbeat_ns: Option<u64>,
    /// After the kernel's end: whether the doorbell still holds what the CPU stored last.
    pub is_doorbell_intact: bool,
    /// Turns of the kernel's loop.
    pub n_turns: u32,
    /// The driver or the system killed the kernel: its words.
    pub killed: Option<String>,
}

impl Observation {
    /// Rings that the kernel saw. Values are rung in order and never twice, so each counts once.
    pub fn n_seen(&self) -> u32 {
        let rung = |value: &&u32| (1..=self.n_rung).contains(value);
        self.seen.iter().filter(rung).count() as u32
    }

    /// Whether all rings arrived, but for one: the last may come after the kernel's last turn.
    pub fn reaches_gpu(&self) -> bool {
        self.n_rung >= 4 && self.n_seen() + 1 >= self.n_rung
    }

    /// Whether all looks found a new heartbeat, but for a tenth: the kernel may not have started at the first, and may not have been
    /// scheduled at others.
    pub fn reaches_cpu(&self) -> bool {
        self.n_looks >= 4 && (self.n_risen + 1) * 10 >= self.n_looks * 9
    }
}

/// Where a round trip goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Of doorbell and descriptor.
    pub there: MemoryType,
    /// Of result and flag.
    pub back: MemoryType,
    /// Of both.
    pub qualifier: Qualifier,
}
