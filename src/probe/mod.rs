//! What a submit, a wait, a batch, a resident kernel and a shared cache line cost on this machine.
//!
//! Each probe asks one question and gives a [`ProbeReport`]: tables, sentences, and what the machine can't support. Variants are
//! measured in turns ([`interleave`]), so that drift hits all alike; a claim about a difference rests on rounds that hold
//! both sides ([`spread::Difference`]). Clock and device are behind traits: the arithmetic is tested without hardware.
//! `docs/probes.md` says of each probe how it could be wrong.

pub mod batch;
mod clock;
mod context;
mod error;
pub mod interleave;
mod kernel;
pub mod latency;
pub mod line;
mod power;
pub mod report;
pub mod resident;
pub mod resident_ops;
pub mod spread;
pub mod waits;
mod warm;
pub mod watchdog;

pub use clock::{Clock, CpuTime, SystemClock};
pub use context::{Context, Effort};
pub use error::{OpError, ProbeError};
pub use interleave::Watch;
pub use report::{Ended, ProbeReport};
