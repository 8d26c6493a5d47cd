//! The kernel on its device: launches through wgpu, over memory that the CPU shares.

use std::time::Instant;

use super::Config;
use super::error::StartError;
use super::kernel::{KernelOptions, N_LOOKS, kernel_wgsl};
use super::layout::{
    BEATS_WORD, CALL_WORD, COUNTED_WORD, MAX_TURNS, PARTIAL_WORD, STATE_WORDS, SUM_BLOCK, answers_words, mailbox_words,
};
use super::polling::{self, PollFault};
use crate::gpu::{Gpu, GpuError, MemoryType, RawError, SharedMemory, compute_pipeline, read_buffer, storage_layout};

const LABEL: &str = "praxis::resident";
/// A measured run of the loop lasts at least so long.
const CALIBRATION_NS: u64 = 5_000_000;

/// What can go wrong between the kernel and us.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeviceFault {
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error(transparent)]
    Poll(#[from] PollFault),
    #[error(transparent)]
    Raw(#[from] RawError),
}

impl DeviceFault {
    pub fn one_line(&self) -> String {
        self.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The memory that the CPU and the kernel share.
#[derive(Debug)]
pub(super) struct Memory {
    /// The CPU writes it: the ring, and when to end.
    pub mailbox: SharedMemory,
    /// The kernel writes it: flags and results.
    pub answers: SharedMemory,
    /// Arrays: the CPU and the kernel write them.
    pub arena: SharedMemory,
    /// The kernel copies here what the CPU wants to read.
    pub readback: SharedMemory,
}

impl Memory {
    /// Mailbox and arrays in memory type `there`, answers and what is read back in `back`.
    pub fn new(gpu: &Gpu, config: &Config, there: MemoryType, back: MemoryType) -> Result<Self, RawError> {
        let new = |memory_type, n_words| SharedMemory::new(&gpu.device, LABEL, memory_type, n_words);
        Ok(Self {
            mailbox: new(there, mailbox_words(config.n_slots))?,
            answers: new(back, answers_words(config.n_slots))?,
            arena: new(there, config.arena_bytes / 4)?,
            readback: new(back, config.readback_bytes / 4)?,
        })
    }
}

/// As in `lead.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Settings {
    pub launch: u32,
    pub n_turns: u32,
    pub patience: u32,
    pub is_counting: u32,
}

/// What a launch counted that does nothing else.
struct Counted {
    n_come: u32,
    n_together: u32,
    /// Lanes in subgroups that are not whole, or have too few.
    n_partial: u32,
}

/// A device with the kernel.
pub(super) struct KernelDevice {
    pub gpu: Gpu,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    state: wgpu::Buffer,
    settings: wgpu::Buffer,
}

impl KernelDevice {
    /// Compiles the kernel over `memory`, for workgroups of `n_lanes`. The user's operation has been checked.
    pub fn new(gpu: Gpu, memory: &Memory, config: &Config, n_lanes: u32) -> Result<Self, StartError> {
        let factory = &gpu.factory;
        let options = KernelOptions::new(config, n_lanes);
        let module = factory.shader_from_text(LABEL, kernel_wgsl(options, config.user_operation.as_deref()));
        let layout = storage_layout(&gpu, LABEL, 7);
        let pipeline = compute_pipeline(&gpu, LABEL, &module, &layout);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        // Two halves of blocks' sums, in whole quads and a little more.
        let n_blocks = (config.arena_bytes / 4).div_ceil(SUM_BLOCK) as u64;
        let scratch = factory.buffer(LABEL, n_blocks.next_multiple_of(4) * 4 * 2 + 256, usage);
        let state = factory.buffer(LABEL, STATE_WORDS as u64 * 4, usage);
        let settings = factory.buffer(LABEL, size_of::<Settings>() as u64, usage);
        let shared = [&memory.mailbox, &memory.answers, &memory.arena, &memory.readback].map(SharedMemory::buffer);
        let buffers: Vec<_> =
            shared.into_iter().chain([&scratch, &state, &settings]).map(wgpu::Buffer::as_entire_binding).collect();
        let bindings = factory.bind_group(LABEL, &layout, &buffers);
        Ok(Self { gpu, pipeline, bindings, state, settings })
    }

    /// Puts a launch of `n_workgroups` into the queue.
    pub fn launch(&self, settings: Settings, n_workgroups: u32) -> Result<wgpu::SubmissionIndex, DeviceFault> {
        let gpu = &self.gpu;
        let submission = polling::caught(|| {
            gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(LABEL) });
            encoder.clear_buffer(&self.state, CALL_WORD as u64 * 4, None);
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &self.bindings, &[]);
                pass.dispatch_workgroups(n_workgroups, 1, 1);
            }
            gpu.queue.submit([encoder.finish()])
        })?;
        gpu.check_errors()?;
        Ok(submission)
    }

    /// Whether a launch has ended.
    pub fn has_ended(&self, submission: &wgpu::SubmissionIndex) -> Result<bool, DeviceFault> {
        Ok(polling::is_done(&self.gpu.device, submission)?)
    }

    /// How long a look at the ring takes in ns, with nothing in it.
    pub fn measure_look_ns(&self) -> Result<f64, DeviceFault> {
        // Whatever comes with a first one is over.
        self.run(Settings { launch: 1, n_turns: 1, patience: 1, ..Settings::default() }, 1)?;
        let mut n_turns = 16;
        loop {
            let settings = Settings { launch: 1, n_turns, patience: 1, ..Settings::default() };
            // The best of three: one that lost its core would look like a loop that is slow.
            let run_ns = self.run(settings, 1)?.min(self.run(settings, 1)?).min(self.run(settings, 1)?);
            if run_ns >= CALIBRATION_NS || n_turns >= MAX_TURNS / 4 {
                return Ok(run_ns as f64 / f64::from(n_turns) / f64::from(N_LOOKS));
            }
            n_turns *= 4;
        }
    }

    /// Whether `n_workgroups` run at the same time: whether each sees all the others within `patience` looks.
    pub fn run_together(&self, n_workgroups: u32, patience: u32) -> Result<bool, DeviceFault> {
        let counted = self.count(n_workgroups, patience)?;
        Ok(counted.n_come == n_workgroups && counted.n_together == n_workgroups)
    }

    /// Whether all subgroups of a workgroup have all their lanes, [`MIN_WIDTH`](super::layout::MIN_WIDTH) or more: no specification has them so,
    /// drivers do.
    pub fn has_full_subgroups(&self) -> Result<bool, DeviceFault> {
        Ok(self.count(1, 1)?.n_partial == 0)
    }

    fn count(&self, n_workgroups: u32, patience: u32) -> Result<Counted, DeviceFault> {
        self.run(Settings { launch: 1, is_counting: 1, patience, ..Settings::default() }, n_workgroups)?;
        let bytes = read_buffer(&self.gpu, &self.state)?;
        let words: &[u32] = bytemuck::cast_slice(&bytes);
        let (n_come, n_together) = (words[COUNTED_WORD], words[COUNTED_WORD + 1]);
        Ok(Counted { n_come, n_together, n_partial: words[PARTIAL_WORD] })
    }

    /// Launches and waits; ns.
    fn run(&self, settings: Settings, n_workgroups: u32) -> Result<u64, DeviceFault> {
        let started = Instant::now();
        let submission = self.launch(settings, n_workgroups)?;
        polling::wait(&self.gpu.device, &submission)?;
        self.gpu.check_errors()?;
        Ok(started.elapsed().as_nanos() as u64)
    }

    /// Settings by which a launch ends by itself after about `kernel_ns` of idling, if nobody asked it to before.
    pub fn bounded(&self, look_ns: f64, kernel_ns: f64) -> Settings {
        const SHARED_PATIENCE_NS: f64 = 2e9;
        let turns = kernel_ns / (look_ns * f64::from(N_LOOKS));
        let patience = SHARED_PATIENCE_NS / look_ns;
        Settings {
            n_turns: turns.clamp(16.0, f64::from(MAX_TURNS)) as u32,
            patience: patience.clamp(1024.0, f64::from(u32::MAX - 1)) as u32,
            ..Settings::default()
        }
    }
}

const _: () = assert!(BEATS_WORD < CALL_WORD);
