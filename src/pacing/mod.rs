//! Frames in flight, waits, limits and latency, and the core's clock, for any wgpu program.
//!
//! The CPU records a frame while the GPU draws an earlier one, and may run ahead by [`FRAMES_IN_FLIGHT`] frames. When the
//! GPU is the slower of the two, the CPU has to wait for the oldest frame before it starts the next:
//! [`InFlightRing`] keeps that order, [`FrameWait`] says how to wait, [`ClockChain`] tells whether the core kept its
//! clock meanwhile. [`crate::measure`] stores what these read.
//!
//! | for | there is |
//! |---|---|
//! | frames in flight, and waiting for the oldest | [`InFlightRing`], [`DeviceWaiter`], [`FrameWait`] |
//! | a submit that blocks | [`detect_blocking_submit`], [`InFlightRing::wait_newest_before_submit`] |
//! | at most so many frames a second | [`FrameLimiter`], [`PacingClock`] |
//! | input that is fresh when it is shown | [`LatencyPacer`] |
//! | the thread's priority | [`set_frame_priority`] |
//! | the core's speed, and which core | [`ClockChain`], [`current_core`] |
//! | CPU time, and which call blocked | [`ThreadCpuTime`], [`BlockedTime`], [`ProcessUsage`] |
//! | what a number belongs to | [`describe_machine`] |
//!
//! `examples/pace_any_app.rs` is a whole program, a triangle in a window, that uses all of it and no renderer. `docs/pacing.md` says
//! how Hybrid waits predict and how the pacer decides. The loop alone, without a window:
//!
//! ```no_run
//! use praxis::pacing::{ClockChain, DeviceWaiter, FRAMES_IN_FLIGHT, FrameWait, InFlightRing, detect_blocking_submit};
//!
//! fn run(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<(), Box<dyn std::error::Error>> {
//!     let submit_blocks = detect_blocking_submit(device, queue)?.blocks;
//!     let mut waiter = DeviceWaiter::new(device, FrameWait::Hybrid { max_spin: FrameWait::DEFAULT_MAX_SPIN });
//!     let mut ring = InFlightRing::new(FRAMES_IN_FLIGHT);
//!     let mut chain = ClockChain::new();
//!     for _ in 0..1_800 {
//!         let slot = ring.wait_for_slot(&mut waiter)?; // buffers of slot.slot_idx are free now
//!         let chain_ns = chain.read_ns();
//!         for finished_idx in ring.take_finished() {
//!             println!("frame {finished_idx} is done: its timestamps can be read");
//!         }
//!         let encoder = device.create_command_encoder(&Default::default());
//!         // … record the frame …
//!         let commands = encoder.finish();
//!         let mut waited_ns = slot.waited_ns;
//!         if submit_blocks {
//!             waited_ns += ring.wait_newest_before_submit(&mut waiter)?;
//!         }
//!         ring.push(queue.submit([commands]))?;
//!         println!("waited {waited_ns} ns, chain {chain_ns} ns");
//!     }
//!     ring.drain(&mut waiter)?;
//!     Ok(())
//! }
//! ```
//!
//! # Invariants
//! - One thread polls the device.
//! - The wait is for the *oldest submission's index*; nothing here asks "is the queue empty?".
//! - Nothing here prints, logs or keeps a thread.
//! - What decides reads no clock: limiter, pacer and Hybrid waits are state machines over times that they are told.

mod blocking_submit;
mod clock;
mod clock_chain;
mod core_id;
mod cpu_time;
mod latency;
mod limiter;
mod machine;
mod priority;
mod process_usage;
mod recent_samples;
mod ring;
mod thread_counters;
mod wait;

pub use blocking_submit::{BlockingSubmit, DetectError, detect_blocking_submit};
pub use clock::PacingClock;
pub use clock_chain::ClockChain;
pub use core_id::current_core;
pub use cpu_time::{BlockedTime, ThreadCpuTime, process_cpu_time_ns};
pub use latency::{LatencyPacer, PacerOptions, PacerPhase};
pub use limiter::FrameLimiter;
pub use machine::{describe_adapter, describe_machine};
pub use priority::{FramePriority, ObtainedPriority, set_frame_priority};
pub use process_usage::ProcessUsage;
pub use ring::{FrameSlot, InFlightRing, RingFull, SubmissionWaiter};
pub use thread_counters::ThreadCounters;
pub use wait::{DeviceWaiter, FrameWait, HybridOutcomes, HybridSleep, UnknownFrameWait, WaitError, WaitFault};

use std::time::Instant;

/// Frames submitted but not finished on the GPU when the next one starts, at most.
///
/// Two let the CPU record one frame beside the GPU that draws another; a third only adds latency.
pub const FRAMES_IN_FLIGHT: usize = 2;

pub(crate) fn elapsed_ns(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
