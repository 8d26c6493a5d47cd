//! A low-latency queue of small GPU operations for any wgpu program: a kernel that stays on the GPU and takes its work from memory.
//!
//! A submission to a GPU costs tens of microseconds on the way there and back, whatever it does. Here one kernel keeps running and
//! watches a ring in memory that the CPU and the GPU share: giving it work is a store, taking the result is a load. That works only
//! where stores of one side reach the other while a kernel runs, which no specification promises: [`ResidentWorker::start`] finds out
//! first, and gives [`Unavailable`] with what it measured where they don't.
//!
//! ```no_run
//! use praxis::resident::{Config, Operation, ResidentWorker};
//!
//! fn run(instance: &wgpu::Instance, adapter: &wgpu::Adapter) -> Result<(), Box<dyn std::error::Error>> {
//!     let worker = ResidentWorker::start(instance, adapter, &Config::default())?;
//!     let (a, b) = (worker.array_from(&[1.0, 2.0, 3.0])?, worker.array(3)?);
//!     let ticket = worker.submit(&[
//!         Operation::Multiply { a: &a, b: 2.0.into(), out: &b },
//!         Operation::Sum { a: &b, out: None },
//!     ])?;
//!     assert_eq!(ticket.wait()?.sum(1), Some(12.0));
//!     assert_eq!(worker.read(&b)?, [2.0, 4.0, 6.0]);
//!     Ok(())
//! }
//! ```
//!
//! | for | there is |
//! |---|---|
//! | a worker | [`ResidentWorker`], [`Config`], [`Status`] |
//! | data | [`Array`]: [`ResidentWorker::array`], [`ResidentWorker::write`], [`ResidentWorker::read`] |
//! | work | [`Operation`] in chains; [`ResidentWorker::submit`], [`ResidentWorker::try_submit`] |
//! | results | [`Ticket`], [`Answer`] |
//! | the same sum on the CPU | [`sum_of`] |
//! | why there is none here | [`StartError`], [`Unavailable`], [`Measured`] |
//!
//! `docs/resident.md` has the protocol, the order of memory, what it costs, and how it could be wrong.
//!
//! # Invariants
//! - A worker has a device and a queue of its own. The caller's are never touched.
//! - One thread of its own speaks to wgpu; the caller's threads read and write memory.
//! - Work is done in the order of submission. What is submitted is done once, or its ticket says that it is not.
//! - When a ring may be written, and when a kernel is launched, is decided by state machines that are checked in all interleavings.
//! - No descriptor makes the kernel touch anything but arrays: offsets are checked here, and clamped there.

mod arena;
mod batch;
mod check;
mod checksum;
#[doc(hidden)]
pub mod coherence;
mod config;
mod device;
mod error;
mod keeper;
mod kernel;
mod layout;
mod mirror;
mod operation;
mod polling;
mod protocol;
mod shared;
mod ticket;
mod user_operation;
mod worker;

pub use arena::Array;
pub use check::Measured;
pub use config::Config;
pub use error::{Invalid, OperationError, StartError, Unavailable};
pub use mirror::sum_of;
pub use operation::{Comparison, Operand, Operation};
pub use ticket::{Answer, Ticket};
pub use user_operation::UserOperationError;
pub use worker::{Fault, ResidentWorker, Status};
