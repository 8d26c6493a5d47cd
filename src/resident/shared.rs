//! What the caller's threads and the keeper share: the memory, and the state machines behind one lock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::Config;
use super::arena::{Arena, Array};
use super::batch::{Batch, SmallLimits};
use super::checksum;
use super::device::Memory;
use super::error::OperationError;
use super::layout::{
    FAILED_STEP_SHIFT, LATER_RESULTS_WORD, MAX_STEPS, SETTLED_WORD, STATUS_DONE, STATUS_PARTED, STEP_WORDS,
    answer_word, slot_word,
};
use super::protocol::{Launches, Ring, Taken, may_write, number_of};
use crate::gpu::store_fence;

/// What the kernel said of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawAnswer {
    status: u32,
    results: [u32; MAX_STEPS],
}

impl RawAnswer {
    /// The result of a step.
    pub fn result(&self, step_idx: usize) -> u32 {
        self.results[step_idx]
    }

    fn check(&self, ticket: u64) -> Result<(), OperationError> {
        let step_idx = self.status >> FAILED_STEP_SHIFT;
        match self.status & ((1 << FAILED_STEP_SHIFT) - 1) {
            STATUS_DONE => Ok(()),
            STATUS_PARTED => Err(OperationError::Parted { ticket, step_idx }),
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
    /// Whether the CPU has written to arrays that no batch has announced yet.
    has_new_arrays: AtomicBool,
    is_lost: AtomicBool,
    keeper: OnceLock<Thread>,
    pub spin_time: Duration,
    /// The kernel needs a core of this CPU: who waits lets it have this one.
    yields: bool,
    n_workgroups: u32,
    shared_from: u32,
    n_elements_each: u32,
    /// What the leader's watching lanes do alone.
    pub small: SmallLimits,
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
}

/// How a worker shares large operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    pub n_workgroups: u32,
    pub n_lanes: u32,
    /// Whether the kernel runs on this CPU.
    pub is_software: bool,
    /// What the leader's watching lanes do alone.
    pub small: SmallLimits,
}

impl Core {
    /// Whether another batch may come.
    pub fn check_open(&self) -> Result<(), OperationError> {
        let stopped = || self.is_stopping.then(|| "it was stopped".to_owned());
        match self.lost.clone().or_else(stopped) {
            Some(reason) => Err(OperationError::Lost { reason, ticket: None }),
            None => Ok(()),
        }
    }
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
        };
        Self {
            memory,
            arena,
            core: Mutex::new(core),
            answered: AtomicU64::new(1),
            has_new_arrays: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            keeper: OnceLock::new(),
            spin_time: config.spin_time,
            yields: sharing.is_software,
            n_workgroups: sharing.n_workgroups,
            shared_from: u32::try_from(config.shared_from).unwrap_or(u32::MAX),
            // A vector of four for each lane: fewer, and some would have nothing to do.
            n_elements_each: sharing.n_lanes * 4,
            small: sharing.small,
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

    /// Looks at the answers.
    pub fn advance(&self, core: &mut Core) {
        core.ring.advance(|slot_idx, number| self.answer_of(slot_idx, number).is_some());
        self.answered.store(core.ring.first_pending(), Ordering::Release);
    }

    fn n_members(&self, batch: &Batch, core: &Core) -> u32 {
        let n = batch.n_most();
        if n < self.shared_from || core.is_alone {
            return 1;
        }
        // Enough for one quad to each lane, while there are so many: then a lane keeps in registers what a chain reads again. Of a sum there is
        // less to do.
        n.div_ceil(self.n_elements_each).clamp(1, self.n_workgroups)
    }

    /// Puts a batch into the next slot; its ticket and slot. `arrays` are those that it uses.
    pub fn submit<'a>(
        &self,
        batch: &Batch,
        arrays: impl Iterator<Item = &'a Array>,
    ) -> Result<(u64, usize), OperationError> {
        let mut guard = self.lock();
        let core = &mut *guard;
        core.check_open()?;
        self.advance(core);
        let claim = core.ring.claim().map_err(|_| OperationError::Full)?;
        if let Some(displaced) = claim.displaced {
            core.kept.insert(displaced, self.read_answer(claim.slot_idx, MAX_STEPS));
        }
        self.write_batch(batch, self.n_members(batch, core), claim.slot_idx, number_of(claim.ticket));
        for array in arrays {
            array.use_by(claim.ticket);
        }
        if core.is_parked {
            core.is_parked = false;
            self.wake_keeper();
        }
        Ok((claim.ticket, claim.slot_idx))
    }

    fn write_batch(&self, batch: &Batch, n_members: u32, slot_idx: usize, number: u32) {
        let (mailbox, at) = (&self.memory.mailbox, slot_word(slot_idx));
        for (step_idx, step) in (1..).zip(batch.later_steps()) {
            mailbox.store_from(at + step_idx * STEP_WORDS, &step.words());
        }
        if !batch.later_steps().is_empty() {
            // Before the step that says they are there.
            store_fence();
        }
        // Who takes the mark away announces what was fenced before it was set.
        let has_new_arrays =
            self.has_new_arrays.load(Ordering::Acquire) && self.has_new_arrays.swap(false, Ordering::AcqRel);
        mailbox.store_from(at, &batch.first_words(number, n_members, has_new_arrays, self.small));
        // Now, and not when a buffer is full.
        store_fence();
    }

    /// Stores `values` in an array that no kernel writes to any more; the next batch announces them.
    pub fn write_array(&self, array: &Array, values: &[f32]) {
        self.memory.arena.store_from(array.first_word(), bytemuck::cast_slice(values));
        store_fence();
        self.has_new_arrays.store(true, Ordering::Release);
    }

    /// Status and first result of `number`, if its answer is in the slot and whole. Half of one and half of an older one is none: somebody
    /// will look again.
    fn answer_of(&self, slot_idx: usize, number: u32) -> Option<[u32; 2]> {
        let (answers, at) = (&self.memory.answers, answer_word(slot_idx));
        if answers.load(at) != number {
            return None;
        }
        let (status, result) = (answers.load(at + 1), answers.load(at + 2));
        (answers.load(at + 3) == checksum::of_answer([number, status, result])).then_some([status, result])
    }

    /// The answer in a slot, which is there, with the results of its first `n_results` steps.
    fn read_answer(&self, slot_idx: usize, n_results: usize) -> RawAnswer {
        let (answers, at) = (&self.memory.answers, answer_word(slot_idx));
        let mut results = [0; MAX_STEPS];
        results[0] = answers.load(at + 2);
        if let Some(later) = results.get_mut(1..n_results) {
            answers.load_into(at + LATER_RESULTS_WORD, later);
        }
        RawAnswer { status: answers.load(at + 1), results }
    }

    /// Takes a ticket's answer, if there is one; of its results only the first `n_results` are asked for.
    pub fn try_take(&self, ticket: u64, n_results: usize) -> Option<Result<RawAnswer, OperationError>> {
        let mut guard = self.lock();
        let core = &mut *guard;
        self.advance(core);
        let answer = match core.ring.take(ticket) {
            Taken::Pending => {
                let reason = core.lost.clone()?;
                return Some(Err(OperationError::Lost { reason, ticket: Some(ticket) }));
            }
            Taken::InSlot(slot_idx) => self.read_answer(slot_idx, n_results),
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
    pub fn is_decided(&self, ticket: u64, slot_idx: usize) -> bool {
        self.answer_of(slot_idx, number_of(ticket)).is_some()
            || self.answered.load(Ordering::Acquire) > ticket
            || self.is_lost.load(Ordering::Acquire)
    }

    /// Waits until no kernel writes to an array any more that `ticket` used last. Answers may come before that.
    pub fn wait_settled(&self, ticket: u64) -> Result<(), OperationError> {
        self.wait_until(|| {
            let mut core = self.lock();
            core.ring.settle(self.memory.answers.load(SETTLED_WORD));
            if may_write(&core.ring, &core.launches, ticket) {
                return Some(Ok(()));
            }
            // A kernel that has ended may have answered without having settled.
            self.advance(&mut core);
            let lost = core.lost.clone();
            if may_write(&core.ring, &core.launches, ticket) {
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
            if self.yields {
                std::thread::yield_now();
            }
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
