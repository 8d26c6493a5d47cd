//! What a submitted chain is waited for by.

use std::sync::Arc;

use super::error::OperationError;
use super::operation::Operation;
use super::shared::{RawAnswer, Shared};

/// A chain that was submitted. Dropped, it is still worked on; its answer is then nobody's.
#[must_use = "nobody learns whether the operation was done"]
pub struct Ticket {
    shared: Arc<Shared>,
    number: u64,
    slot_idx: usize,
    kinds: Kinds,
    is_taken: bool,
}

/// Which steps have results of which kind, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kinds {
    sums: u32,
    counts: u32,
}

impl Kinds {
    /// Steps up to the last that has a result.
    fn n_results(self) -> usize {
        (u32::BITS - (self.sums | self.counts).leading_zeros()) as usize
    }
}

/// What became of a chain: all its steps are done.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    raw: RawAnswer,
    kinds: Kinds,
}

impl Answer {
    /// The sum that a step found; `None` where the step is no [`Operation::Sum`].
    pub fn sum(&self, step_idx: usize) -> Option<f32> {
        has_bit(self.kinds.sums, step_idx).then(|| f32::from_bits(self.raw.result(step_idx)))
    }

    /// How many elements a step kept; `None` where the step is no [`Operation::Filter`].
    pub fn count(&self, step_idx: usize) -> Option<usize> {
        has_bit(self.kinds.counts, step_idx).then(|| self.raw.result(step_idx) as usize)
    }
}

fn has_bit(bits: u32, idx: usize) -> bool {
    idx < 32 && bits >> idx & 1 != 0
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Ticket {
    pub(super) fn new(shared: Arc<Shared>, number: u64, slot_idx: usize, operations: &[Operation]) -> Self {
        let mut kinds = Kinds::default();
        for (step_idx, operation) in operations.iter().enumerate() {
            match operation {
                Operation::Sum { .. } => kinds.sums |= 1 << step_idx,
                Operation::Filter { .. } => kinds.counts |= 1 << step_idx,
                _ => {}
            }
        }
        Self { shared, number, slot_idx, kinds, is_taken: false }
    }

    /// Its number: chains are numbered and worked on in the order in which they were submitted. The start check has used the first ones.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits for the answer: spins for [`Config::spin_time`](super::Config::spin_time), then sleeps ever longer, up to 1 ms.
    ///
    /// # Errors
    /// [`OperationError::Interrupted`], [`OperationError::Parted`] or [`OperationError::Lost`].
    pub fn wait(mut self) -> Result<Answer, OperationError> {
        loop {
            self.shared.wait_until(|| self.is_decided().then_some(()));
            if let Some(answer) = self.take() {
                return answer;
            }
        }
    }

    /// The answer if it is there; otherwise the ticket again.
    ///
    /// # Errors
    /// As [`Self::wait`], inside.
    pub fn try_wait(mut self) -> Result<Result<Answer, OperationError>, Self> {
        if !self.is_decided() {
            return Err(self);
        }
        self.take().ok_or(self)
    }

    fn is_decided(&self) -> bool {
        self.shared.is_decided(self.number, self.slot_idx)
    }

    fn take(&mut self) -> Option<Result<Answer, OperationError>> {
        let taken = self.shared.try_take(self.number, self.kinds.n_results())?;
        // A ticket of a worker that is lost still has its slot: nobody else will want it.
        self.is_taken = true;
        Some(taken.map(|raw| Answer { raw, kinds: self.kinds }))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_taken {
            self.shared.abandon(self.number);
        }
    }
}
