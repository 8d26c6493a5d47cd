//! A ring of mapped buffers for what a frame uploads: nothing is allocated in a steady frame.
//!
//! A buffer is either mapped or usable by the GPU. Frame `k` writes buffer `k mod (N + 1)`, unmaps it, copies out of it,
//! and asks for it to be mapped again after the submission; with at most N frames in flight that submission has been
//! waited on before the buffer's turn comes again, and the mapping's callback has run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{Factory, GpuError};

const LABEL: &str = "praxis::gpu::UploadRing";
const MAPPED: u8 = 0;
const PENDING: u8 = 1;
const FAILED: u8 = 2;

/// See the module.
pub struct UploadRing {
    slots: Vec<Slot>,
    next: usize,
}

struct Slot {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
}

/// What one frame wrote, ready to be copied from.
pub struct UploadSlice<'a> {
    /// Copy source; contents start at byte 0.
    pub buffer: &'a wgpu::Buffer,
    /// To hand to [`UploadRing::recycle`] after the submission.
    pub slot: usize,
}

impl UploadRing {
    /// Buffers of `capacity` bytes for `n_in_flight` frames in flight.
    pub fn new(factory: &Factory, capacity: u64, n_in_flight: usize) -> Self {
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let slots = (0..n_in_flight + 1)
            .map(|_| Slot { buffer: factory.mapped_buffer(LABEL, capacity, usage), state: Arc::default() })
            .collect();
        Self { slots, next: 0 }
    }

    /// Writes some of the bytes of the frame whose [`Self::write`] follows; `offset` is a multiple of 8, the length of 4.
    pub fn put(&mut self, offset: u64, bytes: &[u8]) -> Result<(), GpuError> {
        self.slots[self.next].put(offset, bytes)
    }

    /// Writes this frame's bytes: each part at its offset (a multiple of 4, as is each length).
    pub fn write(&mut self, parts: &[(u64, &[u8])]) -> Result<UploadSlice<'_>, GpuError> {
        let slot_idx = self.next;
        self.next = (self.next + 1) % self.slots.len();
        let slot = &self.slots[slot_idx];
        for (offset, bytes) in parts {
            slot.put(*offset, bytes)?;
        }
        slot.buffer.unmap();
        slot.state.store(PENDING, Ordering::Release);
        Ok(UploadSlice { buffer: &slot.buffer, slot: slot_idx })
    }

    /// Asks for the frame's buffer to be mapped again; call right after the submission that copies from it.
    pub fn recycle(&self, slot: usize) {
        let state = self.slots[slot].state.clone();
        self.slots[slot].buffer.map_async(wgpu::MapMode::Write, .., move |result| {
            state.store(if result.is_ok() { MAPPED } else { FAILED }, Ordering::Release);
        });
    }
}

impl Slot {
    fn put(&self, offset: u64, bytes: &[u8]) -> Result<(), GpuError> {
        let fault = |reason: String| GpuError::Map { label: LABEL, reason };
        match self.state.load(Ordering::Acquire) {
            MAPPED => {}
            FAILED => return Err(fault("mapping failed; the device may be lost".into())),
            _ => return Err(fault("still in use: more frames are in flight than the ring was made for".into())),
        }
        if !bytes.is_empty() {
            let range = offset..offset + bytes.len() as u64;
            let mut view = self.buffer.slice(range).get_mapped_range_mut().map_err(|error| fault(error.to_string()))?;
            view.copy_from_slice(bytes);
        }
        Ok(())
    }
}
