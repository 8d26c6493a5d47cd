//! What the caller's threads and the keeper share: the memory, and the state machines behind one lock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::Config;
use super::arena::{Arena, Array};
use super::device::Memory;
use super::error::OperationError;
use super::layout::{ANSWER_WORDS, RESULTS_WORD, STATUS_DONE, STATUS_PARTED, answer_word, slot_word};
use super::operation::Batch;
use super::protocol::{Launches, Ring, Taken, number_of};
use crate::gpu::store_fence;

/// What the kernel said of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawAnswer([u32; ANSWER_WORDS]);

impl RawAnswer {
    /// The result of a step.
    pub fn result(&self, step_idx: usize) -> u32 {
        self.0[RESULTS_WORD + step_idx]
    }

    fn check(&self, ticket: u64) -> Result<(), OperationError> {
        match self.0[1] {
            STATUS_DONE => Ok(()),
            STATUS_PARTED => Err(OperationError::Parted { ticket, step_idx: self.0[2] }),
            _ => Err(OperationError::Interrupted { ticket }),
        }
    }
}

/// See the module.
pub(super) struct Shared {
    pub memory: Memory,
    pub arena: Arc<Arena>,
    core: Mutex<Core>,
    /// All tickets below have their answer: what [`Ring::first_pending`] was when somebody looked last.
    answered: AtomicU64,
    is_lost: AtomicBool,
    keeper: OnceLock<Thread>,
    pub spin_time: Duration,
    n_workgroups: u32,
    shared_from: u32,
    n_elements_each: u32,
}

/// Behind the lock.
pub(super) struct Core {
    pub ring: Ring,
    pub launches: Launches,
    /// Answers that nobody took before their slot was needed.
    kept: HashMap<u64, RawAnswer>,
    pub is_stopping: bool,
    /// After so long without work there is no kernel.
    pub idle_time: Option<Duration>,
    /// The keeper sleeps until it is woken: there is no kernel.
    pub is_parked: bool,
    /// Why there is no worker any more.
    pub lost: Option<String>,
    /// For tests: the device is to be destroyed.
    pub is_device_to_go: bool,
    /// Workgroups that lost each other don't get together again.
    is_alone: bool,
    words: Vec<u32>,
}

/// How a worker shares large operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    pub n_workgroups: u32,
    pub n_lanes: u32,
}

impl Shared {
    pub fn new(memory: Memory, config: &Config, sharing: Sharing) -> Self {
        let arena = Arena::new(memory.arena.n_words() / 4);
        let core = Core {
            ring: Ring::new(config.n_slots),
            launches: Launches::default(),
            kept: HashMap::new(),
            is_stopping: false,
            idle_time: config.idle_time,
            is_parked: false,
            lost: None,
            is_device_to_go: false,
            is_alone: false,
            words: Vec::new(),
        };
        Self {
            memory,
            arena,
            core: Mutex::new(core),
            answered: AtomicU64::new(1),
            is_lost: AtomicBool::new(false),
            keeper: OnceLock::new(),
            spin_time: config.spin_time,
            n_workgroups: sharing.n_workgroups,
            shared_from: u32::try_from(config.shared_from).unwrap_or(u32::MAX),
            // A vector of four for each lane: fewer, and some would have nothing to do.
            n_elements_each: sharing.n_lanes * 4,
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The thread that launches kernels. Told once.
    pub fn set_keeper(&self, thread: Thread) {
        let _ = self.keeper.set(thread);
    }

    /// Has the keeper look at once.
    pub fn wake_keeper(&self) {
        if let Some(keeper) = self.keeper.get() {
            keeper.unpark();
        }
    }

    /// Looks at the flags.
    pub fn advance(&self, core: &mut Core) {
        let answers = &self.memory.answers;
        core.ring.advance(|slot_idx| answers.load(answer_word(slot_idx)));
        self.answered.store(core.ring.first_pending(), Ordering::Release);
    }

    fn n_members(&self, batch: &Batch, core: &Core) -> u32 {
        let n = batch.n_most();
        if n < self.shared_from || core.is_alone {
            return 1;
        }
        (n / self.n_elements_each).clamp(1, self.n_workgroups)
    }

    /// Puts a batch into the next slot; its ticket and slot. `arrays` are those that it uses.
    pub fn submit<'a>(
        &self,
        batch: &Batch,
        arrays: impl Iterator<Item = &'a Array>,
    ) -> Result<(u64, usize), OperationError> {
        let mut guard = self.lock();
        let core = &mut *guard;
        if let Some(reason) = &core.lost {
            return Err(OperationError::Lost { reason: reason.clone(), ticket: None });
        }
        if core.is_stopping {
            return Err(OperationError::Lost { reason: "it was stopped".into(), ticket: None });
        }
        self.advance(core);
        let claim = core.ring.claim().map_err(|_| OperationError::Full)?;
        if let Some(displaced) = claim.displaced {
            core.kept.insert(displaced, self.read_answer(claim.slot_idx));
        }
        batch.write_words(self.n_members(batch, core), &mut core.words);
        let (mailbox, at) = (&self.memory.mailbox, slot_word(claim.slot_idx));
        mailbox.store_from(at + 1, &core.words);
        // Batch and arrays before the number that says they are there; and the number now, not when a buffer is full.
        store_fence();
        mailbox.store(at, number_of(claim.ticket));
        store_fence();
        for array in arrays {
            array.use_by(claim.ticket);
        }
        if core.is_parked {
            core.is_parked = false;
            self.wake_keeper();
        }
        Ok((claim.ticket, claim.slot_idx))
    }

    fn read_answer(&self, slot_idx: usize) -> RawAnswer {
        let mut words = [0; ANSWER_WORDS];
        self.memory.answers.load_into(answer_word(slot_idx), &mut words);
        RawAnswer(words)
    }

    /// Takes a ticket's answer, if there is one.
    pub fn try_take(&self, ticket: u64) -> Option<Result<RawAnswer, OperationError>> {
        let mut guard = self.lock();
        let core = &mut *guard;
        self.advance(core);
        let answer = match core.ring.take(ticket) {
            Taken::Pending => {
                let reason = core.lost.clone()?;
                return Some(Err(OperationError::Lost { reason, ticket: Some(ticket) }));
            }
            Taken::InSlot(slot_idx) => self.read_answer(slot_idx),
            Taken::Displaced => core.kept.remove(&ticket)?,
        };
        let checked = answer.check(ticket);
        core.is_alone |= matches!(checked, Err(OperationError::Parted { .. }));
        Some(checked.map(|()| answer))
    }

    /// Nobody will ask for this ticket's answer.
    pub fn abandon(&self, ticket: u64) {
        let mut guard = self.lock();
        let core = &mut *guard;
        if core.ring.abandon(ticket) {
            core.kept.remove(&ticket);
        }
    }

    /// Whether `ticket` has its answer, or never will. Takes no lock.
    pub fn is_settled(&self, ticket: u64, slot_idx: usize) -> bool {
        self.memory.answers.load(answer_word(slot_idx)) == number_of(ticket)
            || self.answered.load(Ordering::Acquire) > ticket
            || self.is_lost.load(Ordering::Acquire)
    }

    /// Waits until all tickets up to `ticket` have their answers.
    pub fn wait_answered(&self, ticket: u64) -> Result<(), OperationError> {
        self.wait_until(|| {
            if self.answered.load(Ordering::Acquire) > ticket {
                return Some(Ok(()));
            }
            let mut core = self.lock();
            self.advance(&mut core);
            let is_answered = core.ring.first_pending() > ticket;
            let lost = core.lost.clone();
            if is_answered {
                Some(Ok(()))
            } else {
                Some(Err(OperationError::Lost { reason: lost?, ticket: Some(ticket) }))
            }
        })
    }

    /// Asks `look` until it has something: without a pause for a while, then ever less often.
    pub fn wait_until<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        const N_LOOKS: u32 = 64;
        const SHORTEST_SLEEP: Duration = Duration::from_micros(20);
        const LONGEST_SLEEP: Duration = Duration::from_millis(1);
        let mut started = None;
        let mut sleep = SHORTEST_SLEEP;
        loop {
            for _ in 0..N_LOOKS {
                if let Some(found) = look() {
                    return found;
                }
                std::hint::spin_loop();
            }
            let started = *started.get_or_insert_with(Instant::now);
            if started.elapsed() < self.spin_time {
                continue;
            }
            std::thread::sleep(sleep);
            sleep = (sleep * 2).min(LONGEST_SLEEP);
        }
    }

    /// There is no worker any more.
    pub fn lose(&self, reason: String) {
        let mut core = self.lock();
        self.advance(&mut core);
        core.lost.get_or_insert(reason);
        drop(core);
        self.is_lost.store(true, Ordering::Release);
    }
}
