//! GPU timestamps of a frame's passes, read only for frames that have been waited on, and checked before they are believed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{Factory, Gpu, GpuError};

const LABEL: &str = "praxis::gpu::GpuTimestamps";
const IDLE: u8 = 0;
const PENDING: u8 = 1;
const READY: u8 = 2;
const FAILED: u8 = 3;

/// No pass of ours takes this long; a longer one is a counter that wrapped or was reset.
const LONGEST_NS: f64 = 10e9;

/// Why a pair of timestamps is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTimestamp {
    /// One of the two was never written.
    Zero,
    /// The end lies before the beginning (also what a wrapped counter looks like).
    Reversed,
    /// More than ten seconds.
    Absurd,
}

/// Begin and end of a pass in nanoseconds since the frame's first pass began, or why not.
pub type PassTime = Result<(u64, u64), BadTimestamp>;

/// A frame's timestamps after checking.
#[derive(Clone, Debug, Default)]
pub struct PassTimes {
    /// In the order of the labels given to [`GpuTimestamps::new`].
    pub passes: Vec<Option<PassTime>>,
    /// From the first pass's begin to the last pass's end; `None` if either is bad.
    pub gpu_frame_ns: Option<u64>,
    /// How many passes had bad timestamps.
    pub n_bad: u32,
}

/// Two queries a pass in one query set; resolved into a ring of readback buffers, one a frame.
pub struct GpuTimestamps {
    query_set: wgpu::QuerySet,
    resolve: wgpu::Buffer,
    ring: Vec<Slot>,
    n_passes: u32,
    period_ns: f64,
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
            period_ns: f64::from(queue.get_timestamp_period()),
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

    /// The times of `frame_idx`, which has been waited on. `is_used` says which passes the frame recorded.
    pub fn read(&self, frame_idx: u64, is_used: &[bool], times: &mut PassTimes) -> Result<(), GpuError> {
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
            let mut ticks = [0u64; 64];
            let n = (self.n_passes as usize * 2).min(ticks.len());
            for (tick, bytes) in ticks[..n].iter_mut().zip(view.chunks_exact(8)) {
                *tick = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            check_passes(&ticks[..n], self.period_ns, is_used, times);
        }
        slot.buffer.unmap();
        slot.state.store(IDLE, Ordering::Release);
        Ok(())
    }

    fn slot_idx(&self, frame_idx: u64) -> usize {
        (frame_idx % self.ring.len() as u64) as usize
    }
}

/// Turns ticks (begin, end of each pass) into checked nanoseconds.
fn check_passes(ticks: &[u64], period_ns: f64, is_used: &[bool], times: &mut PassTimes) {
    let pairs = || ticks.chunks_exact(2).zip(is_used).filter(|(_, used)| **used).map(|(pair, _)| (pair[0], pair[1]));
    let origin = pairs().next().map_or(0, |(begin, _)| begin);
    times.n_bad = 0;
    times.passes.clear();
    times.passes.extend(ticks.chunks_exact(2).zip(is_used).map(|(pair, used)| {
        used.then(|| {
            let (begin, _) = check_pair(origin, pair[0], period_ns)?;
            let (duration, _) = check_pair(pair[0], pair[1], period_ns)?;
            Ok((begin, begin + duration))
        })
    }));
    times.n_bad = times.passes.iter().flatten().filter(|time| time.is_err()).count() as u32;
    times.gpu_frame_ns = match (pairs().next(), pairs().last()) {
        (Some((begin, _)), Some((_, end))) => check_pair(begin, end, period_ns).ok().map(|(ns, _)| ns),
        _ => None,
    };
}

/// Nanoseconds from `begin` to `end`, twice (for symmetry of use), or why not.
fn check_pair(begin: u64, end: u64, period_ns: f64) -> Result<(u64, u64), BadTimestamp> {
    if begin == 0 || end == 0 {
        return Err(BadTimestamp::Zero);
    }
    let ticks = end.checked_sub(begin).ok_or(BadTimestamp::Reversed)?;
    let ns = ticks as f64 * period_ns;
    if ns > LONGEST_NS { Err(BadTimestamp::Absurd) } else { Ok((ns as u64, ns as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(ticks: &[u64], period_ns: f64) -> PassTimes {
        let mut times = PassTimes::default();
        check_passes(ticks, period_ns, &vec![true; ticks.len() / 2], &mut times);
        times
    }

    #[test]
    fn good_times_are_relative_to_the_first_pass_and_scaled_by_the_period() {
        let times = checked(&[1000, 1100, 1150, 1400], 2.0);
        assert_eq!(times.passes, [Some(Ok((0, 200))), Some(Ok((300, 800)))]);
        assert_eq!((times.gpu_frame_ns, times.n_bad), (Some(800), 0));
    }

    #[test]
    fn impossible_times_are_counted_and_not_averaged_in() {
        let times = checked(&[1000, 1100, 0, 1200, 1500, 1400, 1500, u64::MAX], 1.0);
        assert_eq!(times.passes[1], Some(Err(BadTimestamp::Zero)));
        assert_eq!(times.passes[2], Some(Err(BadTimestamp::Reversed)));
        assert_eq!(times.passes[3], Some(Err(BadTimestamp::Absurd)));
        assert_eq!((times.gpu_frame_ns, times.n_bad), (None, 3));
    }

    #[test]
    fn passes_that_a_frame_did_not_record_are_absent() {
        let mut times = PassTimes::default();
        check_passes(&[10, 20, 0, 0, 30, 50], 1.0, &[true, false, true], &mut times);
        assert_eq!(times.passes, [Some(Ok((0, 10))), None, Some(Ok((20, 40)))]);
        assert_eq!((times.gpu_frame_ns, times.n_bad), (Some(40), 0));
    }
}
