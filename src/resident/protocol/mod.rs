//! The protocol between the CPU and the resident kernel, as state machines that touch no memory and read no clock.
//!
//! [`Ring`] says which ticket has which slot and when a slot may be used again; [`Launches`] says when a kernel is launched
//! and when one is asked to end. The worker does to memory and to wgpu what they say, and nothing else; `model.rs` runs the
//! same two against a kernel's twin in all interleavings. `docs/resident.md` has the protocol in words.
//!
//! | of whom | what | in which memory |
//! |---|---|---|
//! | CPU | the steps behind the first, store fence; the first step with number and check word, store fence | mailbox |
//! | CPU | "launches up to this one end" | mailbox |
//! | kernel | the number it *began* last, before it does anything for it | on the GPU |
//! | kernel | later steps' results, barrier; number, status, the first step's result and a check word | answers |
//! | kernel | barrier; the number that is *settled*: of which no store is outstanding | answers |
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

/// Whether the CPU may write to an array that `ticket` used last: none of its stores, or of those before, may come after the CPU's. A
/// kernel that has ended leaves none, even if it could not say so any more.
pub(super) fn may_write(ring: &Ring, launches: &Launches, ticket: u64) -> bool {
    ring.settled() >= ticket || (ring.first_pending() > ticket && launches.n_live() == 0)
}
