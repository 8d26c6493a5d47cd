//! The protocol in all interleavings: a submitter, a taker, the keeper, and a twin of the kernel, over rings of two and four slots.
//!
//! The CPU's sides call the very [`Ring`] and [`Launches`] that the worker calls. The kernel's twin has a step for each access to
//! memory that others see, in the order of `kernel/lead.wgsl`; it may be killed before any of them. States are explored by
//! breadth; then it is checked that from each of them the end can still be reached, so that nothing waits for what never comes.
//! Flaws put in on purpose must each be found.

use std::collections::{HashMap, VecDeque};

use super::{Action, Facts, Launches, Ring, Taken, number_of};

/// What the kernel says of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Status {
    Done,
    Interrupted,
}

/// Faults of a program that has the protocol wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// The CPU writes the number before the descriptor.
    NumberBeforeDescriptor,
    /// The kernel notes what it began after it worked.
    BeganAfterWork,
    /// The kernel raises the flag before it writes the result.
    FlagBeforeResult,
    /// A launch does not answer for what a killed one began.
    NoAnswerForInterrupted,
    /// An untaken answer is kept after its slot was given away.
    KeptTooLate,
    /// A launch starts from the first number again.
    StartsOver,
    /// The keeper takes a request to end for the end.
    EndsUnseen,
}

#[derive(Clone, Copy)]
struct Case {
    n_slots: usize,
    n_tickets: u64,
    n_kills: u8,
    n_rearms: u8,
    n_idles: u8,
    n_bounds: u8,
    can_queue: bool,
    flaw: Flaw,
}

/// Where a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Start,
    AnswerForInterrupted(u32),
    FlagInterrupted(u32),
    Poll(u32),
    ReadDescriptor(u32),
    NoteBegan(u32, u64),
    Work(u32, u64),
    WriteResult(u32, u64),
    RaiseFlag(u32, u64),
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Kernel {
    launch: u32,
    at: At,
}

/// Where the submitter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Submitting {
    Ready,
    First(u64),
    Second(u64),
    Keep(u64, u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    ring: Ring,
    launches: Launches,
    submitting: Submitting,
    /// The mailbox: by slot its number, and whose descriptor is there.
    numbers: Vec<u32>,
    descriptors: Vec<u64>,
    end_word: u32,
    /// The answers: by slot the flag, and what is there of whom.
    flags: Vec<u32>,
    results: Vec<(u64, Status)>,
    /// On the GPU.
    began: u32,
    kernels: VecDeque<Kernel>,
    /// By ticket: what was kept, what was taken, and how often it was worked on.
    kept: Vec<Option<(u64, Status)>>,
    taken: Vec<Option<Status>>,
    n_works: Vec<u8>,
    kills: u8,
    rearms: u8,
    idles: u8,
    bounds: u8,
}

/// Tickets before the first one of a case: numbers wrap among its tickets.
const BEFORE: u64 = u32::MAX as u64 - 2;

impl World {
    fn new(case: &Case) -> Self {
        let n = case.n_tickets as usize;
        Self {
            ring: Ring::after(case.n_slots, BEFORE),
            launches: Launches::default(),
            submitting: Submitting::Ready,
            numbers: (0..case.n_slots).map(|_| 7).collect(),
            descriptors: vec![0; case.n_slots],
            end_word: 0,
            flags: vec![number_of(BEFORE); case.n_slots],
            results: vec![(0, Status::Done); case.n_slots],
            began: number_of(BEFORE),
            kernels: VecDeque::new(),
            kept: vec![None; n],
            taken: vec![None; n],
            n_works: vec![0; n],
            kills: case.n_kills,
            rearms: case.n_rearms,
            idles: case.n_idles,
            bounds: case.n_bounds,
        }
    }

    fn is_all_submitted(&self, case: &Case) -> bool {
        self.submitting == Submitting::Ready && self.ring.next() == BEFORE + 1 + case.n_tickets
    }

    fn slot(&self, number: u32) -> usize {
        number as usize % self.numbers.len()
    }

    /// The second ticket is let go by its owner as soon as it was submitted.
    fn is_abandoned(idx: usize) -> bool {
        idx == 1
    }

    fn is_over(&self, case: &Case) -> bool {
        let is_answered = |idx: usize| self.taken[idx].is_some() || Self::is_abandoned(idx);
        self.is_all_submitted(case)
            && self.launches.n_live() == 0
            && !self.ring.has_pending()
            && (0..case.n_tickets as usize).all(is_answered)
    }

    /// All worlds one step from here.
    fn steps(&self, case: &Case) -> Result<Vec<Self>, String> {
        let mut next = Vec::new();
        self.submit(case, &mut next);
        self.take(case, &mut next)?;
        self.keep(case, &mut next);
        self.run_kernel(case, &mut next)?;
        next.retain(|world| world != self);
        Ok(next)
    }

    fn submit(&self, case: &Case, next: &mut Vec<Self>) {
        let mut world = self.clone();
        match self.submitting {
            Submitting::Ready if self.ring.next() <= BEFORE + case.n_tickets => {
                let Ok(claim) = world.ring.claim() else { return };
                world.submitting = Submitting::First(claim.ticket);
                if let Some(displaced) = claim.displaced {
                    match case.flaw {
                        Flaw::KeptTooLate => world.submitting = Submitting::Keep(claim.ticket, displaced),
                        _ => world.keep_result(displaced),
                    }
                }
                if Self::is_abandoned((claim.ticket - BEFORE - 1) as usize) {
                    world.ring.abandon(claim.ticket);
                }
            }
            Submitting::Ready => return,
            Submitting::First(ticket) => {
                world.write_half(case.flaw == Flaw::NumberBeforeDescriptor, ticket);
                world.submitting = Submitting::Second(ticket);
            }
            Submitting::Second(ticket) => {
                world.write_half(case.flaw != Flaw::NumberBeforeDescriptor, ticket);
                world.submitting = Submitting::Ready;
            }
            Submitting::Keep(ticket, displaced) => {
                // Both stores first, as a program would that copies the answer out when it comes round to it.
                world.write_half(false, ticket);
                if world.numbers[self.ring.slot_of(ticket)] == number_of(ticket) {
                    world.keep_result(displaced);
                    world.submitting = Submitting::Ready;
                } else {
                    world.write_half(true, ticket);
                }
            }
        }
        next.push(world);
    }

    fn keep_result(&mut self, displaced: u64) {
        let slot_idx = self.ring.slot_of(displaced);
        self.kept[(displaced - BEFORE - 1) as usize] = Some(self.results[slot_idx]);
    }

    fn write_half(&mut self, is_number: bool, ticket: u64) {
        let slot_idx = self.ring.slot_of(ticket);
        if is_number {
            self.numbers[slot_idx] = number_of(ticket);
        } else {
            self.descriptors[slot_idx] = ticket;
        }
    }

    /// Looks at the flags; and takes any answer that is there.
    fn take(&self, case: &Case, next: &mut Vec<Self>) -> Result<(), String> {
        let mut world = self.clone();
        world.ring.advance(|slot_idx| self.flags[slot_idx]);
        next.push(world);
        for idx in 0..case.n_tickets as usize {
            let ticket = BEFORE + 1 + idx as u64;
            if ticket >= self.ring.next() || self.taken[idx].is_some() || Self::is_abandoned(idx) {
                continue;
            }
            let mut world = self.clone();
            let (whose, status) = match world.ring.take(ticket) {
                Taken::Pending => continue,
                Taken::InSlot(slot_idx) => self.results[slot_idx],
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

    /// The keeper looks whether a launch has ended, and does what is to be done.
    fn keep(&self, case: &Case, next: &mut Vec<Self>) {
        let oldest = self.kernels.front();
        let has_ended = oldest.is_some_and(|kernel| {
            kernel.at == At::Ended || (case.flaw == Flaw::EndsUnseen && self.end_word >= kernel.launch)
        });
        if has_ended && self.launches.n_live() > 0 {
            let mut world = self.clone();
            world.launches.see_ended();
            world.kernels.pop_front();
            if case.flaw == Flaw::EndsUnseen {
                // It still runs, and another may beside it.
                world.kernels.extend(oldest.copied().filter(|kernel| kernel.at != At::Ended));
            }
            next.push(world);
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

    /// The kernel that runs takes a step, or is killed. The queue runs one after another.
    fn run_kernel(&self, case: &Case, next: &mut Vec<Self>) -> Result<(), String> {
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
        Ok(match kernel.at {
            At::Start => {
                let began = if case.flaw == Flaw::StartsOver { number_of(BEFORE) } else { self.began };
                let is_answered = self.flags[self.slot(began)] == began || case.flaw == Flaw::NoAnswerForInterrupted;
                if is_answered || began == number_of(BEFORE) {
                    At::Poll(began.wrapping_add(1))
                } else {
                    At::AnswerForInterrupted(began)
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
                At::Poll(number.wrapping_add(1))
            }
            At::Poll(number) => {
                if self.end_word >= kernel.launch {
                    At::Ended
                } else if self.numbers[self.slot(number)] == number {
                    At::ReadDescriptor(number)
                } else {
                    At::Poll(number)
                }
            }
            At::ReadDescriptor(number) => {
                let ticket = self.descriptors[self.slot(number)];
                if number_of(ticket) != number || ticket <= BEFORE {
                    return Err(format!("number {number} with the descriptor of ticket {ticket}"));
                }
                match case.flaw {
                    Flaw::BeganAfterWork => At::Work(number, ticket),
                    _ => At::NoteBegan(number, ticket),
                }
            }
            At::NoteBegan(number, ticket) => {
                self.began = number;
                match case.flaw {
                    Flaw::BeganAfterWork => At::WriteResult(number, ticket),
                    _ => At::Work(number, ticket),
                }
            }
            At::Work(number, ticket) => {
                let n_works = &mut self.n_works[(ticket - BEFORE - 1) as usize];
                *n_works += 1;
                if *n_works > 1 {
                    return Err(format!("ticket {} was worked on twice", ticket - BEFORE - 1));
                }
                match case.flaw {
                    Flaw::BeganAfterWork => At::NoteBegan(number, ticket),
                    Flaw::FlagBeforeResult => At::RaiseFlag(number, ticket),
                    _ => At::WriteResult(number, ticket),
                }
            }
            At::WriteResult(number, ticket) => {
                let slot_idx = self.slot(number);
                self.results[slot_idx] = (ticket, Status::Done);
                match case.flaw {
                    Flaw::FlagBeforeResult => At::Poll(number.wrapping_add(1)),
                    _ => At::RaiseFlag(number, ticket),
                }
            }
            At::RaiseFlag(number, ticket) => {
                let slot_idx = self.slot(number);
                self.flags[slot_idx] = number;
                match case.flaw {
                    Flaw::FlagBeforeResult => At::WriteResult(number, ticket),
                    _ => At::Poll(number.wrapping_add(1)),
                }
            }
            At::Ended => At::Ended,
        })
    }
}

/// Explores all of a case; the number of states, or the first fault.
fn check(case: Case) -> Result<usize, String> {
    let mut known: HashMap<World, usize> = HashMap::new();
    let mut into: Vec<Vec<usize>> = Vec::new();
    let mut queue = VecDeque::new();
    let mut ends = Vec::new();
    let first = World::new(&case);
    known.insert(first.clone(), 0);
    into.push(Vec::new());
    queue.push_back((0, first));
    while let Some((from, world)) = queue.pop_front() {
        if world.is_over(&case) {
            ends.push(from);
        }
        let steps = world.steps(&case)?;
        if steps.is_empty() && !world.is_over(&case) {
            return Err(format!("nothing can move: {world:?}"));
        }
        for step in steps {
            let to = match known.get(&step) {
                Some(to) => *to,
                None => {
                    let to = into.len();
                    known.insert(step.clone(), to);
                    into.push(Vec::new());
                    queue.push_back((to, step));
                    to
                }
            };
            into[to].push(from);
        }
    }
    // Backwards from the ends: what isn't reached can never end.
    let mut can_end = vec![false; into.len()];
    while let Some(state) = ends.pop() {
        if !std::mem::replace(&mut can_end[state], true) {
            ends.extend(&into[state]);
        }
    }
    match can_end.iter().filter(|can| !**can).count() {
        0 => Ok(into.len()),
        n => Err(format!("from {n} of {} states the end is never reached", into.len())),
    }
}

const CASE: Case = Case {
    n_slots: 2,
    n_tickets: 4,
    n_kills: 0,
    n_rearms: 0,
    n_idles: 0,
    n_bounds: 0,
    can_queue: true,
    flaw: Flaw::None,
};

#[test]
fn resident_model_loses_nothing_and_runs_nothing_twice() {
    let cases = [
        Case { n_tickets: 6, ..CASE },
        Case { n_rearms: 2, ..CASE },
        Case { n_rearms: 2, can_queue: false, ..CASE },
        Case { n_idles: 2, n_bounds: 1, ..CASE },
        Case { n_idles: 2, n_bounds: 1, can_queue: false, ..CASE },
        Case { n_kills: 2, can_queue: false, ..CASE },
        Case { n_kills: 1, n_rearms: 1, n_bounds: 1, ..CASE },
        Case { n_slots: 4, n_kills: 1, n_rearms: 1, n_tickets: 6, ..CASE },
    ];
    for case in cases {
        let n_states = check(case).unwrap_or_else(|fault| panic!("{fault}"));
        println!("{n_states} states");
        assert!(n_states > 500, "{n_states} states are too few to say anything");
    }
}

#[test]
fn resident_model_finds_every_flaw() {
    let kill = Case { n_kills: 1, n_tickets: 3, can_queue: false, ..CASE };
    let cases = [
        (Flaw::NumberBeforeDescriptor, CASE),
        (Flaw::BeganAfterWork, kill),
        (Flaw::FlagBeforeResult, CASE),
        (Flaw::NoAnswerForInterrupted, kill),
        (Flaw::KeptTooLate, CASE),
        (Flaw::StartsOver, Case { n_rearms: 1, n_tickets: 3, ..CASE }),
        (Flaw::EndsUnseen, Case { n_rearms: 1, n_tickets: 3, can_queue: false, ..CASE }),
    ];
    for (flaw, case) in cases {
        let fault = check(Case { flaw, ..case }).expect_err(&format!("{flaw:?} was not found"));
        println!("{flaw:?}: {fault}");
    }
}
