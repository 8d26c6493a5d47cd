//! The protocol between the CPU and the resident kernel, as state machines that touch no memory and read no clock.
//!
//! [`Ring`] says which ticket has which slot and when a slot may be used again; [`Launches`] says when a kernel is launched
//! and when one is asked to end. The worker does to memory and to wgpu what they say, and nothing else; `model.rs` runs the
//! same two against a kernel's twin in all interleavings. `docs/resident.md` has the protocol in words.
//!
//! | of whom | what | in which memory |
//! |---|---|---|
//! | CPU | descriptor, store fence, the slot's number, store fence | mailbox |
//! | CPU | "launches up to this one end" | mailbox |
//! | kernel | the number it *began* last, before it does anything for it | on the GPU |
//! | kernel | results and status, barrier, the slot's number as flag | answers |
//!
//! Numbers are the lower 32 bits of tickets, which count from 1. The kernel takes them strictly in order, so that what it began last
//! is all that the next launch has to know.

mod launches;
mod ring;

#[cfg(test)]
mod meeting;
#[cfg(test)]
mod model;

pub(super) use launches::{Action, Facts, Launches};
pub(super) use ring::{Ring, Taken, number_of};
