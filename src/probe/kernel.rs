//! The empty kernel: what is submitted when only the way there and back is of interest.

use super::error::OpError;
use crate::gpu::{Gpu, GpuTimestamps, compute_pipeline, storage_layout};
use crate::measure::validate_pass_times;

const LABEL: &str = "praxis::probe::EmptyKernel";

/// One thread that adds one to one word: enough that no driver can leave it out.
const WGSL: &str = "
@group(0) @binding(0) var<storage, read_write> cell: array<u32, 1>;

@compute @workgroup_size(1)
fn main() {
    cell[0] += 1u;
}
";

/// A pipeline with its one binding, made once.
pub(super) struct EmptyKernel<'a> {
    pub gpu: &'a Gpu,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    #[cfg(test)]
    cell: wgpu::Buffer,
}

impl<'a> EmptyKernel<'a> {
    /// Compiles it. The first dispatch may still be slow: drivers put work off.
    pub fn new(gpu: &'a Gpu) -> Self {
        let factory = &gpu.factory;
        let module = factory.shader(LABEL, WGSL);
        let layout = storage_layout(gpu, LABEL, 1);
        let pipeline = compute_pipeline(gpu, LABEL, &module, &layout);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let cell = factory.buffer(LABEL, 4, usage);
        let bindings = factory.bind_group(LABEL, &layout, &[cell.as_entire_binding()]);
        Self {
            gpu,
            pipeline,
            bindings,
            #[cfg(test)]
            cell,
        }
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(LABEL) })
    }

    /// A pass, timed where `timestamps` are given.
    pub fn begin_pass<'e>(
        &self,
        encoder: &'e mut wgpu::CommandEncoder,
        timestamps: Option<wgpu::ComputePassTimestampWrites>,
    ) -> wgpu::ComputePass<'e> {
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(LABEL), timestamp_writes: timestamps })
    }

    pub fn dispatch(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    }

    /// One pass with one dispatch.
    pub fn commands(&self) -> wgpu::CommandBuffer {
        let mut encoder = self.encoder();
        self.dispatch(&mut self.begin_pass(&mut encoder, None));
        encoder.finish()
    }

    /// How often it has run.
    #[cfg(test)]
    pub fn n_runs(&self) -> u32 {
        let bytes = crate::gpu::read_buffer(self.gpu, &self.cell).expect("the buffer can be read");
        u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
    }
}

/// GPU times of single submissions, read at once: for operations that are not timed on the CPU.
pub(super) struct SpanTimer {
    first: GpuTimestamps,
    last: GpuTimestamps,
}

impl SpanTimer {
    /// `None` where the adapter has no timestamps.
    pub fn new(gpu: &Gpu) -> Option<Self> {
        Some(Self { first: GpuTimestamps::new(gpu, 1, 1)?, last: GpuTimestamps::new(gpu, 1, 1)? })
    }

    /// For the first pass; of the only pass too.
    pub fn first_writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        self.first.compute_writes(0)
    }

    /// For the last of several passes.
    pub fn last_writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        self.last.compute_writes(0)
    }

    /// Records the readback, after the last pass. `has_last` says whether a second pass was timed.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder, has_last: bool) {
        self.first.resolve(encoder, 0);
        if has_last {
            self.last.resolve(encoder, 0);
        }
    }

    /// Asks for the numbers, after the submission.
    pub fn request(&self, has_last: bool) {
        self.first.request(0);
        if has_last {
            self.last.request(0);
        }
    }

    /// From the first pass's begin to the last one's end in ns, once the submission has been waited for; `None` for timestamps that
    /// can't be true.
    pub fn read_ns(&self, has_last: bool) -> Result<Option<u64>, OpError> {
        let mut ticks = Vec::new();
        self.first.read(0, &mut ticks)?;
        let Some(&(begin, mut end)) = ticks.first() else { return Ok(None) };
        if has_last {
            self.last.read(0, &mut ticks)?;
            end = ticks.first().map_or(end, |(_, end)| *end);
        }
        Ok(validate_pass_times(begin, end, self.first.period_ns()).ok())
    }
}
