//! The worker: start, arrays, submit, stop.

mod start;

#[cfg(test)]
pub(super) use start::on_deep_stack;

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::arena::Array;
use super::batch::{Batch, Step};
use super::check::Measured;
use super::error::{Invalid, OperationError};
use super::layout::{KILL_WORD, LAUNCH_WORD};
use super::operation::Operation;
use super::shared::Shared;
use super::ticket::Ticket;
use crate::gpu::store_fence;

/// A kernel that stays on the GPU and takes operations from a ring in memory. See the [module](super).
///
/// All methods may be called from several threads. Dropped, it stops.
pub struct ResidentWorker {
    shared: Arc<Shared>,
    keeper: Mutex<Option<JoinHandle<()>>>,
    /// The memory that reads go through is one reader's at a time.
    reading: Mutex<()>,
    has_user_operation: bool,
    has_fault_injection: bool,
    info: wgpu::AdapterInfo,
    measured: Measured,
}

/// A fault put in on purpose.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The kernel that runs ends in the middle of its next operation.
    KillKernel,
    /// The device is destroyed, and what runs with it.
    LoseDevice,
}

/// How a worker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Chains submitted, with those of the start check.
    pub n_submitted: u64,
    /// Chains that have their answers.
    pub n_answered: u64,
    /// Kernels launched: one at the start, one whenever [`Config::kernel_time`](super::Config::kernel_time) was over, one after each idle time.
    pub n_launches: u32,
    /// There is no kernel at the moment: it idled.
    pub is_parked: bool,
    /// Bytes of the arena that are no array's.
    pub free_bytes: usize,
    /// Of these the largest piece: the longest array that there is room for.
    pub largest_free_bytes: usize,
}

impl ResidentWorker {
    /// What the check measured before the start.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// The adapter it runs on.
    pub fn adapter_info(&self) -> &wgpu::AdapterInfo {
        &self.info
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        let mut core = self.shared.lock();
        self.shared.advance(&mut core);
        Status {
            n_submitted: core.ring.next() - 1,
            n_answered: core.ring.first_pending() - 1,
            n_launches: core.launches.last(),
            is_parked: core.is_parked,
            free_bytes: self.shared.arena.free_bytes(),
            largest_free_bytes: self.shared.arena.largest_free_bytes(),
        }
    }

    // --- Arrays ---------------------------------------------------------------------------------------------------

    /// A new array of `n` zeros.
    ///
    /// # Errors
    /// [`Invalid::Empty`], [`OperationError::OutOfMemory`] or [`OperationError::Lost`].
    pub fn array(&self, n: usize) -> Result<Array, OperationError> {
        let (array, _) = self.allocate(n)?;
        // The ring is worked on in order: after whoever used the memory before.
        drop(self.submit(&[Operation::Fill { out: &array, value: 0.0 }])?);
        Ok(array)
    }

    /// A new array with the elements of `values`.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub fn array_from(&self, values: &[f32]) -> Result<Array, OperationError> {
        self.shared.lock().check_open()?;
        let (array, last_use) = self.allocate(values.len())?;
        self.shared.wait_settled(last_use)?;
        self.shared.write_array(&array, values);
        Ok(array)
    }

    fn allocate(&self, n: usize) -> Result<(Array, u64), OperationError> {
        if n == 0 {
            return Err(Invalid::Empty.into());
        }
        let arena = &self.shared.arena;
        let out_of_memory = || OperationError::OutOfMemory {
            n,
            largest_free_bytes: arena.largest_free_bytes(),
            arena_bytes: arena.bytes(),
        };
        arena.allocate(n).ok_or_else(out_of_memory)
    }

    /// Writes `values` into `array`, once everything that was submitted before with it is done. The CPU stores them where the GPU
    /// reads them: there is no copy, and no submission.
    ///
    /// # Errors
    /// [`Invalid::Slice`], [`Invalid::ForeignArray`] or [`OperationError::Lost`].
    pub fn write(&self, array: &Array, values: &[f32]) -> Result<(), OperationError> {
        self.check_slice(array, values.len())?;
        self.shared.lock().check_open()?;
        self.shared.wait_settled(array.last_use())?;
        self.shared.write_array(array, values);
        Ok(())
    }

    /// Reads `array` after everything that was submitted before.
    ///
    /// # Errors
    /// [`Invalid::ForeignArray`], or as [`Ticket::wait`].
    pub fn read(&self, array: &Array) -> Result<Vec<f32>, OperationError> {
        let mut values = vec![0.0; array.len()];
        self.copy_out(array, &mut values)?;
        Ok(values)
    }

    /// The same into a slice, which is changed only if all could be read.
    ///
    /// # Errors
    /// [`Invalid::Slice`], or as [`Self::read`].
    pub fn read_into(&self, array: &Array, values: &mut [f32]) -> Result<(), OperationError> {
        self.check_slice(array, values.len())?;
        if array.len() * 4 <= self.readback_bytes() {
            return self.copy_out(array, values);
        }
        values.copy_from_slice(&self.read(array)?);
        Ok(())
    }

    fn readback_bytes(&self) -> usize {
        self.shared.memory.readback.n_words() / 4 * 16
    }

    /// Piece by piece: the kernel copies one to where the CPU can read it fast.
    fn copy_out(&self, array: &Array, values: &mut [f32]) -> Result<(), OperationError> {
        self.check_slice(array, values.len())?;
        let _reading = self.reading.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let n_most = self.readback_bytes() / 4;
        for (piece_idx, piece) in values.chunks_mut(n_most).enumerate() {
            let quad = array.quad() + (piece_idx * n_most / 4) as u32;
            let batch = Batch::only(Step::copy(quad, piece.len() as u32));
            self.submit_batch(&batch, &[], std::slice::from_ref(array))?.wait()?;
            self.shared.memory.readback.load_into(0, bytemuck::cast_slice_mut(piece));
        }
        Ok(())
    }

    fn check_slice(&self, array: &Array, slice: usize) -> Result<(), OperationError> {
        if !array.is_of(&self.shared.arena) {
            return Err(Invalid::ForeignArray.into());
        }
        if array.len() != slice {
            return Err(Invalid::Slice { slice, array: array.len() }.into());
        }
        Ok(())
    }

    // --- Operations -----------------------------------------------------------------------------------------------

    /// Submits a chain of 1 to 16 operations, each of which sees what those before it left. Waits while the ring is full.
    ///
    /// # Errors
    /// [`OperationError::Invalid`] or [`OperationError::Lost`]; nothing was submitted then.
    pub fn submit(&self, operations: &[Operation]) -> Result<Ticket, OperationError> {
        self.submit_batch(&self.check(operations)?, operations, &[])
    }

    /// The same, without waiting.
    ///
    /// # Errors
    /// [`OperationError::Full`], or as [`Self::submit`].
    pub fn try_submit(&self, operations: &[Operation]) -> Result<Ticket, OperationError> {
        self.try_submit_batch(&self.check(operations)?, operations, &[])
    }

    fn check(&self, operations: &[Operation]) -> Result<Batch, Invalid> {
        Batch::of(operations, |array| array.is_of(&self.shared.arena), self.has_user_operation)
    }

    fn submit_batch(&self, batch: &Batch, operations: &[Operation], also: &[Array]) -> Result<Ticket, OperationError> {
        match self.try_submit_batch(batch, operations, also) {
            Err(OperationError::Full) => {}
            submitted => return submitted,
        }
        self.shared.wait_until(|| match self.try_submit_batch(batch, operations, also) {
            Err(OperationError::Full) => None,
            submitted => Some(submitted),
        })
    }

    fn try_submit_batch(
        &self,
        batch: &Batch,
        operations: &[Operation],
        also: &[Array],
    ) -> Result<Ticket, OperationError> {
        let arrays = operations.iter().flat_map(Operation::arrays).chain(also);
        let (number, slot_idx) = self.shared.submit(batch, arrays)?;
        Ok(Ticket::new(self.shared.clone(), number, slot_idx, operations))
    }

    /// Changes [`Config::idle_time`](super::Config::idle_time). With `Some(Duration::ZERO)` there is no kernel except while there is work; with `None` one is
    /// launched at once, if there is none.
    pub fn set_idle_time(&self, idle_time: Option<Duration>) {
        self.shared.lock().idle_time = idle_time;
        self.shared.wake_keeper();
    }

    /// Works on everything that was submitted, then ends the kernel. Answers can still be taken; nothing more can be submitted.
    pub fn stop(&self) {
        self.shared.lock().is_stopping = true;
        self.shared.wake_keeper();
        let thread = self.keeper.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(thread) = thread {
            // It panics nowhere; if it did, tickets would say that the worker is lost.
            if thread.join().is_err() {
                self.shared.lose("its thread panicked".into());
            }
        }
    }

    /// Puts a fault in, with [`Config::has_fault_injection`](super::Config::has_fault_injection); does nothing otherwise.
    #[doc(hidden)]
    pub fn inject(&self, fault: Fault) {
        if !self.has_fault_injection {
            return;
        }
        match fault {
            Fault::KillKernel => {
                let memory = &self.shared.memory;
                memory.mailbox.store(KILL_WORD, memory.answers.load(LAUNCH_WORD));
                store_fence();
            }
            Fault::LoseDevice => {
                self.shared.lock().is_device_to_go = true;
                self.shared.wake_keeper();
            }
        }
    }
}

impl Drop for ResidentWorker {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests;
