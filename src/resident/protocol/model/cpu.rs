//! The CPU's sides of the model.

use super::super::{Action, Facts, Taken, may_write, number_of};
use super::kernel::{At, Kernel};
use super::{BEFORE, Case, Flaw, Status, Submitting, World};

impl World {
    /// The second ticket is let go by its owner as soon as it was submitted.
    fn is_abandoned(idx: usize) -> bool {
        idx == 1
    }

    fn is_all_submitted(&self, case: &Case) -> bool {
        self.submitting == Submitting::Ready && self.ring.next() == BEFORE + 1 + case.n_tickets
    }

    pub fn is_over(&self, case: &Case) -> bool {
        let is_answered = |idx: usize| self.taken[idx].is_some() || Self::is_abandoned(idx);
        self.is_all_submitted(case)
            && self.is_written
            && self.launches.n_live() == 0
            && !self.ring.has_pending()
            && (0..case.n_tickets as usize).all(is_answered)
    }

    // --- The submitter ------------------------------------------------------------------------------------------------

    pub fn submit(&self, case: &Case, next: &mut Vec<Self>) {
        match self.submitting {
            Submitting::Ready => {
                let is_writing = !self.is_written && self.ring.next() == BEFORE + 2 + case.written;
                if self.ring.next() <= BEFORE + case.n_tickets && !is_writing {
                    self.claim(case, next);
                }
            }
            Submitting::Others(ticket, late) => {
                let is_late = case.flaw == Flaw::FirstStepBeforeOthers;
                next.push(self.submitted(
                    Submitting::FirstStep(ticket, late),
                    |world, slot_idx| {
                        if !is_late {
                            world.others[slot_idx] = ticket;
                        }
                    },
                    ticket,
                ));
            }
            Submitting::FirstStep(ticket, late) => {
                // Whichever half arrives first.
                next.push(self.with_half(true, ticket, Submitting::OtherHalf(ticket, late)));
                next.push(self.with_half(false, ticket, Submitting::NumberHalf(ticket, late)));
            }
            Submitting::NumberHalf(ticket, late) => next.push(self.with_half(true, ticket, after(case, ticket, late))),
            Submitting::OtherHalf(ticket, late) => next.push(self.with_half(false, ticket, after(case, ticket, late))),
            Submitting::LateOthers(ticket) => {
                let store = |world: &mut Self, slot_idx: usize| world.others[slot_idx] = ticket;
                next.push(self.submitted(Submitting::Ready, store, ticket));
            }
            Submitting::LateKeep(displaced) => {
                let mut world = self.clone();
                world.keep_result(displaced);
                world.submitting = Submitting::Ready;
                next.push(world);
            }
        }
    }

    fn claim(&self, case: &Case, next: &mut Vec<Self>) {
        let mut world = self.clone();
        let Ok(claim) = world.ring.claim() else { return };
        let mut late = None;
        if let Some(displaced) = claim.displaced {
            match case.flaw {
                Flaw::KeptTooLate => late = Some(displaced),
                _ => world.keep_result(displaced),
            }
        }
        if Self::is_abandoned((claim.ticket - BEFORE - 1) as usize) {
            world.ring.abandon(claim.ticket);
        }
        world.submitting = Submitting::Others(claim.ticket, late);
        next.push(world);
    }

    fn submitted(&self, to: Submitting, store: impl FnOnce(&mut Self, usize), ticket: u64) -> Self {
        let mut world = self.clone();
        let slot_idx = self.ring.slot_of(ticket);
        store(&mut world, slot_idx);
        world.submitting = to;
        world
    }

    fn with_half(&self, is_number: bool, ticket: u64, to: Submitting) -> Self {
        let store = |world: &mut Self, slot_idx: usize| match is_number {
            true => world.numbers[slot_idx] = number_of(ticket),
            false => world.descriptors[slot_idx] = ticket,
        };
        self.submitted(to, store, ticket)
    }

    fn keep_result(&mut self, displaced: u64) {
        let slot_idx = self.ring.slot_of(displaced);
        self.kept[(displaced - BEFORE - 1) as usize] = Some(self.results[slot_idx]);
    }

    /// Writes to an array that the case's ticket used, once that may be done.
    pub fn write(&self, case: &Case, next: &mut Vec<Self>) -> Result<(), String> {
        let ticket = BEFORE + 1 + case.written;
        if self.is_written || self.submitting != Submitting::Ready || ticket >= self.ring.next() {
            return Ok(());
        }
        let mut world = self.clone();
        world.ring.settle(self.settled);
        let may_write = match case.flaw {
            Flaw::WriteAfterAnswer => world.ring.first_pending() > ticket,
            Flaw::EndNotSettled => world.ring.settled() >= ticket,
            _ => may_write(&world.ring, &world.launches, ticket),
        };
        if !may_write {
            return Ok(());
        }
        if self.outstanding.is_some_and(|(_, stored)| stored <= ticket) {
            return Err(format!("what was written after ticket {} is overwritten by it", case.written));
        }
        world.is_written = true;
        next.push(world);
        Ok(())
    }

    // --- The taker ----------------------------------------------------------------------------------------------------

    /// Looks at the answers; and takes any that is there.
    pub fn take(&self, case: &Case, next: &mut Vec<Self>) -> Result<(), String> {
        let mut world = self.clone();
        world.ring.advance(|slot_idx, number| self.is_answered(slot_idx, number, case.flaw));
        next.push(world);
        for idx in 0..case.n_tickets as usize {
            let ticket = BEFORE + 1 + idx as u64;
            if ticket >= self.ring.next() || self.taken[idx].is_some() || Self::is_abandoned(idx) {
                continue;
            }
            let mut world = self.clone();
            let (whose, status) = match world.ring.take(ticket) {
                Taken::Pending => continue,
                Taken::InSlot(slot_idx) => {
                    if self.results[slot_idx].1 == Status::Done && self.later_results[slot_idx] != ticket {
                        return Err(format!("ticket {idx} was given later results of another"));
                    }
                    self.results[slot_idx]
                }
                Taken::Displaced => match self.kept[idx] {
                    Some(kept) => kept,
                    None if case.flaw == Flaw::KeptTooLate => continue,
                    None => return Err(format!("ticket {idx}'s answer was not kept")),
                },
            };
            if whose != ticket {
                return Err(format!("ticket {idx} was given another's answer"));
            }
            match status {
                Status::Done if self.n_works[idx] != 1 => return Err(format!("ticket {idx} is done without work")),
                Status::Interrupted if case.n_kills == 0 => return Err(format!("ticket {idx} interrupted by nothing")),
                _ => {}
            }
            world.taken[idx] = Some(status);
            next.push(world);
        }
        Ok(())
    }

    // --- The keeper ---------------------------------------------------------------------------------------------------

    /// Looks whether a launch has ended, and does what is to be done.
    pub fn keep(&self, case: &Case, next: &mut Vec<Self>) {
        if self.launches.n_live() > 0
            && let Some(oldest) = self.kernels.front()
        {
            let has_ended = oldest.at == At::Ended;
            if has_ended || (case.flaw == Flaw::EndsUnseen && self.end_word >= oldest.launch) {
                next.push(self.with_end_seen(*oldest, has_ended));
            }
        }
        for (is_over_time, is_idle) in [(false, false), (true, false), (false, true)] {
            if (is_over_time && self.rearms == 0) || (is_idle && self.idles == 0) {
                continue;
            }
            let facts = Facts {
                has_pending: self.ring.has_pending(),
                is_over_time,
                is_idle,
                is_stopping: self.is_all_submitted(case),
                can_queue: case.can_queue,
            };
            let action = self.launches.next(facts);
            let mut world = self.clone();
            world.launches.did(action);
            match action {
                Action::Nothing => continue,
                Action::Launch => {
                    world.kernels.push_back(Kernel { launch: world.launches.last(), at: At::Start });
                }
                Action::AskEnd(launch) => world.end_word = launch,
            }
            if action != self.launches.next(Facts { is_over_time: false, is_idle: false, ..facts }) {
                world.rearms -= u8::from(is_over_time);
                world.idles -= u8::from(is_idle);
            }
            next.push(world);
        }
    }

    fn with_end_seen(&self, oldest: Kernel, has_ended: bool) -> Self {
        let mut world = self.clone();
        world.launches.see_ended();
        world.kernels.pop_front();
        if has_ended {
            // A launch is over when its stores are done, and not before.
            world.outstanding = self.outstanding.filter(|(launch, _)| *launch != oldest.launch);
        } else {
            // It still runs, and another may beside it.
            world.kernels.push_back(oldest);
        }
        world
    }
}

/// What comes after both halves of the first step.
fn after(case: &Case, ticket: u64, late: Option<u64>) -> Submitting {
    match late {
        Some(displaced) => Submitting::LateKeep(displaced),
        None if case.flaw == Flaw::FirstStepBeforeOthers => Submitting::LateOthers(ticket),
        None => Submitting::Ready,
    }
}
