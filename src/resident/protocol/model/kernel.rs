//! The kernel's twin: a step for each access to memory that others see, in the order of `kernel/lead.wgsl`. It may be killed before
//! any of them.

use super::super::number_of;
use super::{BEFORE, Case, Flaw, Status, World};

/// Where a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    Start,
    AnswerForInterrupted(u32),
    FlagInterrupted(u32),
    /// Looks at the half with the number.
    Poll(u32),
    /// Looks at the half with the check word.
    Check(u32),
    ReadOthers(u32, u64),
    NoteBegan(u32, u64),
    Work(u32, u64),
    WriteLaterResults(u32, u64),
    /// One half of the answer's quad, and the other.
    AnswerNumber(u32, u64),
    AnswerRest(u32, u64),
    /// Waits for what it has stored.
    Barrier(u32),
    Settle(u32),
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub launch: u32,
    pub at: At,
}

impl World {
    /// The kernel that runs takes a step, or is killed. The queue runs one after another.
    pub fn run_kernel(&self, case: &Case, next: &mut Vec<Self>) -> Result<(), String> {
        let running: Vec<usize> = match case.flaw {
            Flaw::EndsUnseen => (0..self.kernels.len()).collect(),
            _ => self.kernels.iter().position(|kernel| kernel.at != At::Ended).into_iter().collect(),
        };
        for kernel_idx in running {
            let kernel = self.kernels[kernel_idx];
            if kernel.at == At::Ended {
                continue;
            }
            if self.kills > 0 {
                let mut world = self.clone();
                world.kernels[kernel_idx].at = At::Ended;
                world.kills -= 1;
                next.push(world);
            }
            if matches!(kernel.at, At::Poll(_)) && self.bounds > 0 {
                let mut world = self.clone();
                world.kernels[kernel_idx].at = At::Ended;
                world.bounds -= 1;
                next.push(world);
            }
            let mut world = self.clone();
            world.kernels[kernel_idx].at = world.step_kernel(case, kernel)?;
            next.push(world);
        }
        Ok(())
    }

    /// One access to memory; where the kernel is then.
    fn step_kernel(&mut self, case: &Case, kernel: Kernel) -> Result<At, String> {
        let flaw = case.flaw;
        Ok(match kernel.at {
            At::Start => {
                // The launch before is over, with all that it stored.
                self.outstanding = None;
                let began = if flaw == Flaw::StartsOver { number_of(BEFORE) } else { self.began };
                let is_answered = began == number_of(BEFORE) || self.is_answered(self.slot(began), began, Flaw::None);
                match is_answered || flaw == Flaw::NoAnswerForInterrupted {
                    true if flaw == Flaw::NotSettledByNext => At::Poll(began.wrapping_add(1)),
                    true => At::Settle(began),
                    false => At::AnswerForInterrupted(began),
                }
            }
            At::AnswerForInterrupted(number) => {
                let slot_idx = self.slot(number);
                self.results[slot_idx] = (self.descriptors[slot_idx], Status::Interrupted);
                At::FlagInterrupted(number)
            }
            At::FlagInterrupted(number) => {
                let slot_idx = self.slot(number);
                self.flags[slot_idx] = number;
                At::Settle(number)
            }
            At::Poll(number) => {
                if self.end_word >= kernel.launch {
                    At::Ended
                } else if self.numbers[self.slot(number)] == number {
                    At::Check(number)
                } else {
                    At::Poll(number)
                }
            }
            At::Check(number) => {
                let ticket = self.descriptors[self.slot(number)];
                match number_of(ticket) == number {
                    true => At::ReadOthers(number, ticket),
                    false if flaw == Flaw::StepUnchecked => {
                        return Err(format!("number {number} with the first step of ticket {ticket}"));
                    }
                    false => At::Poll(number),
                }
            }
            At::ReadOthers(number, ticket) => {
                let whose = self.others[self.slot(number)];
                if whose != ticket {
                    return Err(format!("ticket {ticket} with other steps of ticket {whose}"));
                }
                match flaw {
                    Flaw::BeganAfterWork => At::Work(number, ticket),
                    _ => At::NoteBegan(number, ticket),
                }
            }
            At::NoteBegan(number, ticket) => {
                self.began = number;
                match flaw {
                    Flaw::BeganAfterWork => At::WriteLaterResults(number, ticket),
                    _ => At::Work(number, ticket),
                }
            }
            At::Work(number, ticket) => self.work(flaw, kernel.launch, number, ticket)?,
            At::WriteLaterResults(number, ticket) => {
                let slot_idx = self.slot(number);
                self.later_results[slot_idx] = ticket;
                match flaw {
                    Flaw::AnswerBeforeResults => At::Barrier(number),
                    _ => At::AnswerNumber(number, ticket),
                }
            }
            At::AnswerNumber(number, ticket) => {
                let slot_idx = self.slot(number);
                self.flags[slot_idx] = number;
                At::AnswerRest(number, ticket)
            }
            At::AnswerRest(number, ticket) => {
                let slot_idx = self.slot(number);
                self.results[slot_idx] = (ticket, Status::Done);
                match flaw {
                    Flaw::AnswerBeforeResults => At::WriteLaterResults(number, ticket),
                    Flaw::SettledBeforeStores => At::Settle(number),
                    Flaw::WorkBeforeStores => At::Poll(number.wrapping_add(1)),
                    _ => At::Barrier(number),
                }
            }
            At::Barrier(number) => {
                self.outstanding = None;
                match flaw {
                    Flaw::SettledBeforeStores => At::Poll(number.wrapping_add(1)),
                    _ => At::Settle(number),
                }
            }
            At::Settle(number) => {
                self.settled = number;
                match flaw {
                    Flaw::SettledBeforeStores => At::Barrier(number),
                    _ => At::Poll(number.wrapping_add(1)),
                }
            }
            At::Ended => At::Ended,
        })
    }

    fn work(&mut self, flaw: Flaw, launch: u32, number: u32, ticket: u64) -> Result<At, String> {
        let idx = (ticket - BEFORE - 1) as usize;
        self.n_works[idx] += 1;
        if self.n_works[idx] > 1 {
            return Err(format!("ticket {idx} was worked on twice"));
        }
        if let Some((_, before)) = self.outstanding {
            return Err(format!("ticket {idx} is worked on before the stores of {} are done", before - BEFORE - 1));
        }
        self.outstanding = Some((launch, ticket));
        Ok(match flaw {
            Flaw::BeganAfterWork => At::NoteBegan(number, ticket),
            Flaw::AnswerBeforeResults => At::AnswerNumber(number, ticket),
            _ => At::WriteLaterResults(number, ticket),
        })
    }
}
