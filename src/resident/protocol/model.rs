//! The protocol in all interleavings: a submitter who also writes to an array, a taker, the keeper, and a twin of the kernel, over rings
//! of two and four slots.
//!
//! The CPU's sides call the very [`Ring`] and [`Launches`] that the worker calls. What is written in one go, a first step and an answer's
//! quad, arrives here in two halves, one after the other. States are explored by breadth; then it is checked that from each of them
//! the end can still be reached, so that nothing waits for what never comes. Flaws put in on purpose must each be found.

mod cpu;
mod kernel;

use std::collections::{HashMap, VecDeque};

use super::{Launches, Ring, number_of};
use kernel::Kernel;

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
    /// The CPU writes the first step before the others.
    FirstStepBeforeOthers,
    /// The kernel takes a first step by its number alone.
    StepUnchecked,
    /// The kernel notes what it began after it worked.
    BeganAfterWork,
    /// The kernel answers before it writes the results that the answer's quad has no room for.
    AnswerBeforeResults,
    /// The CPU takes an answer by its number alone.
    AnswerUnchecked,
    /// A launch does not answer for what a killed one began.
    NoAnswerForInterrupted,
    /// An untaken answer is kept after its slot was given away.
    KeptTooLate,
    /// A launch starts from the first number again.
    StartsOver,
    /// The keeper takes a request to end for the end.
    EndsUnseen,
    /// The CPU writes to an array as soon as its last ticket is answered.
    WriteAfterAnswer,
    /// The kernel says that a number is settled before its stores are done.
    SettledBeforeStores,
    /// The kernel begins the next batch before the last one's stores are done.
    WorkBeforeStores,
    /// A launch does not settle what a killed one answered.
    NotSettledByNext,
    /// The CPU waits for a kernel that has ended to settle.
    EndNotSettled,
}

#[derive(Clone, Copy)]
struct Case {
    n_slots: usize,
    n_tickets: u64,
    /// The submitter writes to an array of this ticket, from 0, before it goes on.
    written: u64,
    n_kills: u8,
    n_rearms: u8,
    n_idles: u8,
    n_bounds: u8,
    can_queue: bool,
    flaw: Flaw,
}

/// Where the submitter is. With a claim comes the ticket whose answer is kept too late, for a program that does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Submitting {
    Ready,
    Others(u64, Option<u64>),
    FirstStep(u64, Option<u64>),
    NumberHalf(u64, Option<u64>),
    OtherHalf(u64, Option<u64>),
    LateOthers(u64),
    LateKeep(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    ring: Ring,
    launches: Launches,
    submitting: Submitting,
    /// The mailbox, by slot: the first step's half with the number, whose the half with the check word is, and whose the other steps are.
    numbers: Vec<u32>,
    descriptors: Vec<u64>,
    others: Vec<u64>,
    end_word: u32,
    /// The answers, by slot: the quad's half with the number, the half with the check word and whose that is, whose later results are there.
    flags: Vec<u32>,
    results: Vec<(u64, Status)>,
    later_results: Vec<u64>,
    settled: u32,
    /// On the GPU.
    began: u32,
    kernels: VecDeque<Kernel>,
    /// The launch and the ticket whose stores to arrays are on their way.
    outstanding: Option<(u32, u64)>,
    is_written: bool,
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
/// What is in memory that nobody of a case has written.
const NOBODY: u64 = 77;

impl World {
    fn new(case: &Case) -> Self {
        let (n, n_slots) = (case.n_tickets as usize, case.n_slots);
        Self {
            ring: Ring::after(n_slots, BEFORE),
            launches: Launches::default(),
            submitting: Submitting::Ready,
            numbers: vec![number_of(NOBODY); n_slots],
            descriptors: vec![NOBODY; n_slots],
            others: vec![NOBODY; n_slots],
            end_word: 0,
            flags: vec![number_of(NOBODY); n_slots],
            results: vec![(NOBODY, Status::Done); n_slots],
            later_results: vec![NOBODY; n_slots],
            settled: number_of(BEFORE),
            began: number_of(BEFORE),
            kernels: VecDeque::new(),
            outstanding: None,
            is_written: false,
            kept: vec![None; n],
            taken: vec![None; n],
            n_works: vec![0; n],
            kills: case.n_kills,
            rearms: case.n_rearms,
            idles: case.n_idles,
            bounds: case.n_bounds,
        }
    }

    fn slot(&self, number: u32) -> usize {
        number as usize % self.numbers.len()
    }

    /// Whether a slot holds the whole answer to a number.
    fn is_answered(&self, slot_idx: usize, number: u32, flaw: Flaw) -> bool {
        let is_whole = number_of(self.results[slot_idx].0) == number || flaw == Flaw::AnswerUnchecked;
        self.flags[slot_idx] == number && is_whole
    }

    /// All worlds one step from here.
    fn steps(&self, case: &Case) -> Result<Vec<Self>, String> {
        let mut next = Vec::new();
        self.submit(case, &mut next);
        self.write(case, &mut next)?;
        self.take(case, &mut next)?;
        self.keep(case, &mut next);
        self.run_kernel(case, &mut next)?;
        next.retain(|world| world != self);
        Ok(next)
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
    written: 0,
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
        Case { n_tickets: 6, written: 2, ..CASE },
        Case { n_rearms: 2, ..CASE },
        Case { n_rearms: 2, can_queue: false, written: 3, ..CASE },
        Case { n_idles: 2, n_bounds: 1, ..CASE },
        Case { n_idles: 2, n_bounds: 1, can_queue: false, written: 3, ..CASE },
        Case { n_kills: 2, can_queue: false, ..CASE },
        Case { n_kills: 2, can_queue: false, n_tickets: 2, written: 1, ..CASE },
        Case { n_kills: 1, n_rearms: 1, n_bounds: 1, ..CASE },
        Case { n_slots: 4, n_kills: 1, n_rearms: 1, n_tickets: 5, written: 1, ..CASE },
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
    let rearm = Case { n_rearms: 1, n_tickets: 3, ..CASE };
    let cases = [
        (Flaw::FirstStepBeforeOthers, CASE),
        (Flaw::StepUnchecked, CASE),
        (Flaw::BeganAfterWork, kill),
        (Flaw::AnswerBeforeResults, CASE),
        (Flaw::AnswerUnchecked, CASE),
        (Flaw::NoAnswerForInterrupted, kill),
        (Flaw::KeptTooLate, CASE),
        (Flaw::StartsOver, rearm),
        (Flaw::EndsUnseen, Case { can_queue: false, ..rearm }),
        (Flaw::WriteAfterAnswer, CASE),
        (Flaw::SettledBeforeStores, CASE),
        (Flaw::WorkBeforeStores, Case { written: 3, ..CASE }),
        (Flaw::NotSettledByNext, kill),
        (Flaw::EndNotSettled, Case { written: 2, ..kill }),
    ];
    for (flaw, case) in cases {
        let fault = check(Case { flaw, ..case }).expect_err(&format!("{flaw:?} was not found"));
        println!("{flaw:?}: {fault}");
    }
}
