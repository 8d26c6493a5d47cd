//! How workgroups share a batch, in all interleavings: a twin of `main`, `call` and `work` of `kernel/lead.wgsl`, with a step for each
//! access to memory that others see.
//!
//! A leader and two followers work through batches of various sizes. Each member must do its share of each phase once, only after all
//! have done theirs of the phase before, and one of them, the last to arrive, completes it. Flaws put in on purpose must be found.

use std::collections::{HashSet, VecDeque};

/// Members and phases of each batch, one after another.
const BATCHES: [(usize, usize); 4] = [(3, 1), (2, 2), (3, 2), (2, 1)];
const N_GROUPS: usize = 3;
const MOST_PHASES: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// The number of members is read apart from the call.
    MembersApart,
    /// Arrivals are set to zero after the call.
    ResetAfterCall,
    /// The leader does not wait for the last meeting.
    LeaderLeaves,
    /// Nobody waits between phases.
    NoMeeting,
}

/// Where a workgroup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    /// The leader: before a batch, and through the call's stores.
    Batch(usize),
    SetNumber(usize),
    Call(usize),
    LateReset(usize),
    /// A follower, with the last call that it saw.
    Listen(usize),
    ReadMembers(usize),
    ReadNumber(usize, usize),
    /// A member: batch, members, phase, last call.
    Work(usize, usize, usize, usize),
    Arrive(usize, usize, usize, usize),
    Complete(usize, usize, usize, usize),
    Release(usize, usize, usize, usize),
    AwaitRelease(usize, usize, usize, usize),
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    at: [At; N_GROUPS],
    /// Calls so far with the members of the last; a number beyond the batches ends it all.
    call: (usize, usize),
    number: usize,
    arrived: usize,
    released: usize,
    /// By batch and phase: who did its share, and how often it was completed.
    shares: [[[u8; N_GROUPS]; MOST_PHASES]; BATCHES.len()],
    completed: [[u8; MOST_PHASES]; BATCHES.len()],
}

const LAST: usize = BATCHES.len() + 1;

impl World {
    fn new() -> Self {
        Self {
            at: [At::Batch(0), At::Listen(0), At::Listen(0)],
            call: (0, 0),
            number: 0,
            arrived: 0,
            released: 0,
            shares: Default::default(),
            completed: Default::default(),
        }
    }

    /// One step of one workgroup; `None` if it only looks and finds nothing.
    fn step(&mut self, group: usize, flaw: Flaw) -> Result<Option<At>, String> {
        let is_leader = group == 0;
        let next = match self.at[group] {
            At::Batch(batch) if batch == BATCHES.len() => {
                self.call = (LAST, 0);
                At::Ended
            }
            At::Batch(batch) => {
                if flaw != Flaw::ResetAfterCall {
                    self.arrived = 0;
                    self.released = 0;
                }
                At::SetNumber(batch)
            }
            At::SetNumber(batch) => {
                self.number = batch;
                At::Call(batch)
            }
            At::Call(batch) => {
                self.call = (batch + 1, BATCHES[batch].0);
                if flaw == Flaw::ResetAfterCall {
                    At::LateReset(batch)
                } else {
                    At::Work(batch, BATCHES[batch].0, 0, 0)
                }
            }
            At::LateReset(batch) => {
                self.arrived = 0;
                self.released = 0;
                At::Work(batch, BATCHES[batch].0, 0, 0)
            }
            At::Listen(last) => match self.call {
                (LAST, _) => At::Ended,
                (call, _) if call == last => return Ok(None),
                (call, _) if flaw == Flaw::MembersApart => At::ReadMembers(call),
                (call, members) if group < members => At::ReadNumber(call, members),
                (call, _) => At::Listen(call),
            },
            At::ReadMembers(call) => match self.call.1 {
                members if group < members => At::ReadNumber(call, members),
                _ => At::Listen(call),
            },
            At::ReadNumber(call, members) => At::Work(self.number, members, 0, call),
            At::Work(batch, members, phase, call) => {
                if phase > 0 && self.shares[batch][phase - 1][..members].contains(&0) {
                    return Err(format!(
                        "{group} begins phase {phase} of batch {batch} before all have done the one before"
                    ));
                }
                self.shares[batch][phase][group] += 1;
                if self.shares[batch][phase][group] > 1 {
                    return Err(format!("{group} does phase {phase} of batch {batch} twice"));
                }
                if flaw == Flaw::NoMeeting && phase + 1 < BATCHES[batch].1 {
                    At::Work(batch, members, phase + 1, call)
                } else {
                    At::Arrive(batch, members, phase, call)
                }
            }
            At::Arrive(batch, members, phase, call) => {
                self.arrived += 1;
                let n_meetings = if flaw == Flaw::NoMeeting { 1 } else { phase + 1 };
                match self.arrived == n_meetings * members {
                    true => At::Complete(batch, members, phase, call),
                    false => At::AwaitRelease(batch, members, phase, call),
                }
            }
            At::Complete(batch, members, phase, call) => {
                if self.shares[batch][phase][..members].contains(&0) {
                    return Err(format!("phase {phase} of batch {batch} is completed before all have done it"));
                }
                self.completed[batch][phase] += 1;
                At::Release(batch, members, phase, call)
            }
            At::Release(batch, members, phase, call) => {
                self.released = phase + 1;
                self.after(group, batch, members, phase, call)
            }
            At::AwaitRelease(batch, members, phase, call) => {
                let is_end = phase + 1 == BATCHES[batch].1;
                let does_wait = !is_end || (is_leader && flaw != Flaw::LeaderLeaves);
                if does_wait && self.released < phase + 1 {
                    return Ok(None);
                }
                self.after(group, batch, members, phase, call)
            }
            At::Ended => return Ok(None),
        };
        Ok(Some(next))
    }

    fn after(&self, group: usize, batch: usize, members: usize, phase: usize, call: usize) -> At {
        match phase + 1 < BATCHES[batch].1 {
            true => At::Work(batch, members, phase + 1, call),
            false if group == 0 => At::Batch(batch + 1),
            false => At::Listen(call),
        }
    }

    fn check_end(&self) -> Result<(), String> {
        for (batch, (members, phases)) in BATCHES.into_iter().enumerate() {
            for phase in 0..phases {
                let shares = &self.shares[batch][phase];
                let is_right = shares[..members].iter().all(|n| *n == 1) && shares[members..].iter().all(|n| *n == 0);
                // With no meetings phases are not completed one by one.
                if !is_right || self.completed[batch][phase] != 1 {
                    return Err(format!(
                        "batch {batch}, phase {phase}: {shares:?}, completed {:?}",
                        self.completed[batch]
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The number of states, or the first fault.
fn check(flaw: Flaw) -> Result<usize, String> {
    let first = World::new();
    let mut known = HashSet::from([first.clone()]);
    let mut queue = VecDeque::from([first]);
    while let Some(world) = queue.pop_front() {
        let mut can_move = false;
        for group in 0..N_GROUPS {
            let mut next = world.clone();
            let Some(at) = next.step(group, flaw)? else { continue };
            next.at[group] = at;
            can_move = true;
            if known.insert(next.clone()) {
                queue.push_back(next);
            }
        }
        if !can_move {
            if world.at != [At::Ended; N_GROUPS] {
                return Err(format!("all wait: {world:?}"));
            }
            world.check_end()?;
        }
    }
    Ok(known.len())
}

#[test]
fn resident_model_workgroups_share_every_batch_once() {
    let n_states = check(Flaw::None).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(n_states > 300, "{n_states} states are too few to say anything");
}

#[test]
fn resident_model_finds_every_flaw_of_a_meeting() {
    for flaw in [Flaw::MembersApart, Flaw::ResetAfterCall, Flaw::LeaderLeaves, Flaw::NoMeeting] {
        let fault = check(flaw).expect_err(&format!("{flaw:?} was not found"));
        println!("{flaw:?}: {fault}");
    }
}
