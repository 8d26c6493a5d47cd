//! GPU timestamps of a frame's passes, read only for frames that have been waited on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{Factory, Gpu, GpuError};

const LABEL: &str = "praxis::gpu::GpuTimestamps";
const IDLE: u8 = 0;
const PENDING: u8 = 1;
const READY: u8 = 2;
const FAILED: u8 = 3;

/// Two queries a pass in one query set; resolved into a ring of readback buffers, one a frame.
pub struct GpuTimestamps {
    query_set: wgpu::QuerySet,
    resolve: wgpu::Buffer,
    ring: Vec<Slot>,
    n_passes: u32,
    period_ns: f32,
}

struct Slot {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
}

impl GpuTimestamps {
    /// For `n_passes` passes a frame and `n_in_flight` frames in flight; `None` where the adapter has no timestamps.
    pub fn new(gpu: &Gpu, n_passes: u32, n_in_flight: usize) -> Option<Self> {
        gpu.has_timestamps().then(|| Self::with_factory(&gpu.factory, &gpu.queue, n_passes, n_in_flight))
    }

    fn with_factory(factory: &Factory, queue: &wgpu::Queue, n_passes: u32, n_in_flight: usize) -> Self {
        let size = u64::from(n_passes) * 16;
        Self {
            query_set: factory.query_set(&wgpu::QuerySetDescriptor {
                label: Some(LABEL),
                ty: wgpu::QueryType::Timestamp,
                count: n_passes * 2,
            }),
            resolve: factory.buffer(LABEL, size, wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            ring: (0..n_in_flight + 1)
                .map(|_| Slot {
                    buffer: factory.buffer(LABEL, size, wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
                    state: Arc::default(),
                })
                .collect(),
            n_passes,
            period_ns: queue.get_timestamp_period(),
        }
    }

    /// For the descriptor of compute pass `pass_idx`.
    pub fn compute_writes(&self, pass_idx: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.query_set,
            beginning_of_pass_write_index: Some(2 * pass_idx),
            end_of_pass_write_index: Some(2 * pass_idx + 1),
        }
    }

    /// For the descriptor of render pass `pass_idx`.
    pub fn render_writes(&self, pass_idx: u32) -> wgpu::RenderPassTimestampWrites<'_> {
        wgpu::RenderPassTimestampWrites {
            query_set: &self.query_set,
            beginning_of_pass_write_index: Some(2 * pass_idx),
            end_of_pass_write_index: Some(2 * pass_idx + 1),
        }
    }

    /// Records the readback of frame `frame_idx`; last in its encoder.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder, frame_idx: u64) {
        let slot = &self.ring[self.slot_idx(frame_idx)];
        encoder.resolve_query_set(&self.query_set, 0..self.n_passes * 2, &self.resolve, 0);
        encoder.copy_buffer_to_buffer(&self.resolve, 0, &slot.buffer, 0, u64::from(self.n_passes) * 16);
    }

    /// Asks for frame `frame_idx`'s numbers; right after its submission.
    pub fn request(&self, frame_idx: u64) {
        let slot = &self.ring[self.slot_idx(frame_idx)];
        let state = slot.state.clone();
        state.store(PENDING, Ordering::Release);
        slot.buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            state.store(if result.is_ok() { READY } else { FAILED }, Ordering::Release);
        });
    }

    /// The ticks (begin, end) of each pass of `frame_idx`, which has been waited on; unchecked. Multiply by
    /// [`Self::period_ns`].
    pub fn read(&self, frame_idx: u64, ticks: &mut Vec<(u64, u64)>) -> Result<(), GpuError> {
        let slot = &self.ring[self.slot_idx(frame_idx)];
        let fault = |reason: &str| GpuError::Map { label: LABEL, reason: reason.into() };
        match slot.state.load(Ordering::Acquire) {
            READY => {}
            IDLE => return Err(fault("no timestamps were requested for this frame")),
            PENDING => return Err(fault("the frame has not been waited on")),
            _ => return Err(fault("mapping failed; the device may be lost")),
        }
        {
            let view = slot.buffer.get_mapped_range(..).map_err(|error| fault(&error.to_string()))?;
            let tick = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            ticks.clear();
            ticks.extend(view.chunks_exact(16).map(|pair| (tick(&pair[..8]), tick(&pair[8..]))));
        }
        slot.buffer.unmap();
        slot.state.store(IDLE, Ordering::Release);
        Ok(())
    }

    /// Nanoseconds a tick.
    pub fn period_ns(&self) -> f32 {
        self.period_ns
    }

    fn slot_idx(&self, frame_idx: u64) -> usize {
        (frame_idx % self.ring.len() as u64) as usize
    }
}
