//! Whether `submit` blocks on this adapter.

use std::time::{Duration, Instant};

use super::{DeviceWaiter, FrameWait, SubmissionWaiter, WaitError, elapsed_ns};

/// How `queue.submit` behaves; [`detect_blocking_submit`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockingSubmit {
    /// Whether a submit waits until the submission before it is finished. Where it does, call
    /// [`InFlightRing::wait_newest_before_submit`](super::InFlightRing::wait_newest_before_submit) just before it.
    pub blocks: bool,
    /// How long the first of two submits took, with nothing in flight: median of the trials.
    pub first_submit_ns: u64,
    /// How long the second took, behind the first one's kernel.
    pub second_submit_ns: u64,
    /// How long one kernel runs: half the time from the first submit until both are done.
    pub kernel_ns: u64,
}

/// Why it could not be found out how `submit` behaves.
#[derive(Debug, thiserror::Error)]
#[error("can't find out whether submit blocks on this adapter: {0}")]
pub struct DetectError(#[from] WaitError);

/// Kernels are made this long, so that a submit of some tens of µs stands out.
const KERNEL_NS: u64 = 4_000_000;
/// No trial is started after this.
const LONGEST: Duration = Duration::from_millis(300);
/// The median of so many trials decides, so that one lost time slice can't.
const N_TRIALS: usize = 3;
const MOST_STEPS: u32 = 1 << 30;

/// Submits pairs of kernels of some ms and looks whether the second submit is as long as the first kernel.
///
/// On Mesa's lavapipe it is: with two frames in flight the GPU's time then shows up inside `submit` instead of in the wait.
/// The shader is compiled and run once before anything is timed. The kernel's length is fitted to the adapter; all
/// in all it takes some 30 ms, and under half a second unless the compiler or the adapter stalls. Where no kernel can be made
/// long enough (wgpu's noop backend runs none) the answer is "no". Waits block; nothing else may poll `device` meanwhile.
///
/// # Errors
/// [`DetectError`] when a wait fails, such as for a lost device.
pub fn detect_blocking_submit(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<BlockingSubmit, DetectError> {
    let kernel = Kernel::new(device, queue);
    kernel.run(1)?;

    let started = Instant::now();
    let n_steps = fit_steps(started, |n_steps| {
        let run_started = Instant::now();
        kernel.run(n_steps)?;
        Ok::<u64, WaitError>(elapsed_ns(run_started))
    })?;

    let mut trials = Vec::with_capacity(N_TRIALS);
    while trials.len() < N_TRIALS && (trials.is_empty() || started.elapsed() < LONGEST) {
        trials.push(kernel.submit_two(n_steps)?);
    }
    Ok(judge(&trials))
}

/// One pair of submits: the first, the second, and all until both are done.
#[derive(Clone, Copy)]
struct Trial {
    first_submit_ns: u64,
    second_submit_ns: u64,
    both_ns: u64,
}

/// Runs that a kernel's length is the least of: on a busy machine any one of them may have lost its core.
const N_RUNS: usize = 3;

/// Steps for a kernel of about [`KERNEL_NS`], found by growing it; `run` gives the time of a kernel in ns.
fn fit_steps<E>(started: Instant, mut run: impl FnMut(u32) -> Result<u64, E>) -> Result<u32, E> {
    let mut n_steps = 1_000u32;
    loop {
        let mut run_ns = run(n_steps)?;
        // What is long enough at first sight has to be so each time.
        for _ in 1..N_RUNS {
            if run_ns >= KERNEL_NS && started.elapsed() < LONGEST {
                run_ns = run_ns.min(run(n_steps)?);
            }
        }
        if run_ns >= KERNEL_NS || n_steps >= MOST_STEPS || started.elapsed() >= LONGEST {
            return Ok(n_steps);
        }
        // Fixed costs hide in short runs, so the growth is bounded, and aims a little beyond the mark.
        let growth = (KERNEL_NS + KERNEL_NS / 4).div_ceil(run_ns.max(1)).clamp(2, 16);
        n_steps = n_steps.saturating_mul(growth as u32).min(MOST_STEPS);
    }
}

/// The medians of the trials, each on its own, and the verdict.
fn judge(trials: &[Trial]) -> BlockingSubmit {
    let median = |of: fn(&Trial) -> u64| {
        let mut values: Vec<u64> = trials.iter().map(of).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or(0)
    };
    let kernel_ns = median(|trial| trial.both_ns) / 2;
    let second_submit_ns = median(|trial| trial.second_submit_ns);
    // Where submit blocks, the first kernel is done by the second submit's end. On a busy machine it may begin while the first
    // submit has lost its core: the second one then waits for less than all of it.
    let until_second_ns = median(|trial| trial.first_submit_ns + trial.second_submit_ns);
    // A kernel much shorter than asked for says nothing: any submit is as long as it.
    let blocks = kernel_ns >= KERNEL_NS / 8 && until_second_ns >= kernel_ns / 2;
    BlockingSubmit { blocks, first_submit_ns: median(|trial| trial.first_submit_ns), second_submit_ns, kernel_ns }
}

const KERNEL_WGSL: &str = "
@group(0) @binding(0) var<storage, read_write> cell: array<u32, 2>;

@compute @workgroup_size(1)
fn main() {
    var value = cell[1];
    for (var step = 0u; step < cell[0]; step++) {
        value = value * 1664525u + 1013904223u;
    }
    cell[1] = value;
}
";

/// A kernel of any length on one lane of the GPU. Holds what it creates, so that nothing is created while timing.
struct Kernel<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    cell: wgpu::Buffer,
    bindings: wgpu::BindGroup,
}

impl<'a> Kernel<'a> {
    // Made once, before any frame: nothing that counts a frame's creations should see these.
    #[allow(clippy::disallowed_methods)]
    fn new(device: &'a wgpu::Device, queue: &'a wgpu::Queue) -> Self {
        let label = Some("praxis::pacing::blocking_submit");
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(KERNEL_WGSL.into()),
        });
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: false },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let cell = device.create_buffer(&wgpu::BufferDescriptor {
            label,
            size: 8,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label,
            layout: &layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: cell.as_entire_binding() }],
        });
        Self { device, queue, pipeline, cell, bindings }
    }

    fn set_steps(&self, n_steps: u32) {
        self.queue.write_buffer(&self.cell, 0, &n_steps.to_le_bytes());
    }

    #[allow(clippy::disallowed_methods)]
    fn commands(&self) -> wgpu::CommandBuffer {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.bindings, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        encoder.finish()
    }

    fn run(&self, n_steps: u32) -> Result<(), WaitError> {
        self.set_steps(n_steps);
        self.wait(self.queue.submit([self.commands()]))
    }

    fn submit_two(&self, n_steps: u32) -> Result<Trial, WaitError> {
        // The upload goes ahead on its own, so that both submits hold a kernel and nothing else.
        self.set_steps(n_steps);
        let upload = self.queue.submit([]);
        let [first, second] = [self.commands(), self.commands()];
        self.wait(upload)?;

        let started = Instant::now();
        self.queue.submit([first]);
        let first_submit_ns = elapsed_ns(started);
        let second = self.queue.submit([second]);
        let second_submit_ns = elapsed_ns(started) - first_submit_ns;
        self.wait(second)?;
        Ok(Trial { first_submit_ns, second_submit_ns, both_ns: elapsed_ns(started) })
    }

    fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<(), WaitError> {
        DeviceWaiter::new(self.device, FrameWait::Block).wait(&submission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn trial(first_us: u64, second_us: u64, both_ms: u64) -> Trial {
        Trial { first_submit_ns: first_us * 1_000, second_submit_ns: second_us * 1_000, both_ns: both_ms * MS }
    }

    #[test]
    fn pacing_a_second_submit_as_long_as_the_kernel_blocks() {
        let blocking = judge(&[trial(12, 4_100, 8), trial(14, 3_900, 8), trial(11, 4_000, 8)]);
        assert_eq!(
            blocking,
            BlockingSubmit { blocks: true, first_submit_ns: 12_000, second_submit_ns: 4_000_000, kernel_ns: 4_000_000 }
        );
    }

    #[test]
    fn pacing_a_first_submit_that_lost_its_core_hides_no_blocking() {
        // As seen on a busy machine: the kernel began while the first submit had no core.
        assert!(judge(&[trial(2_279, 1_898, 8), trial(2_100, 2_050, 8), trial(2_400, 1_700, 8)]).blocks);
    }

    #[test]
    fn pacing_one_lost_time_slice_does_not_make_submit_block() {
        assert!(!judge(&[trial(12, 9, 8), trial(14, 4_000, 11), trial(11, 8, 8)]).blocks);
    }

    #[test]
    fn pacing_kernels_too_short_to_tell_do_not_make_submit_block() {
        assert!(!judge(&[trial(12, 9, 0); 3]).blocks);
        assert!(!judge(&[]).blocks);
    }

    #[test]
    fn pacing_kernels_are_fitted_to_slow_and_fast_adapters() {
        for (ns_per_step, fixed_ns) in [(40.0, 300_000), (2.0, 20_000), (0.6, 45_000)] {
            let mut n_runs = 0;
            let n_steps = fit_steps(Instant::now(), |n_steps| {
                n_runs += 1;
                Ok::<u64, ()>(fixed_ns + (f64::from(n_steps) * ns_per_step) as u64)
            })
            .expect("no run fails");
            let kernel_ns = f64::from(n_steps) * ns_per_step;
            assert!((2e6..20e6).contains(&kernel_ns), "{kernel_ns} ns at {ns_per_step} ns a step");
            assert!(n_runs <= 10, "{n_runs} runs at {ns_per_step} ns a step");
        }
    }

    #[test]
    fn pacing_one_lost_time_slice_does_not_end_the_fitting() {
        let mut n_runs = 0;
        let n_steps = fit_steps(Instant::now(), |n_steps| {
            n_runs += 1;
            // The first run of the smallest kernel, and another one, take a time slice of 8 ms longer than the kernel.
            let slice_ns = if matches!(n_runs, 1 | 4) { 8 * MS } else { 0 };
            Ok::<u64, ()>(u64::from(n_steps) * 2 + slice_ns)
        });
        let kernel_ns = u64::from(n_steps.expect("no run fails")) * 2;
        assert!((2 * MS..20 * MS).contains(&kernel_ns), "{kernel_ns} ns");
    }

    #[test]
    fn pacing_fitting_ends_where_kernels_take_no_time_or_fail() {
        assert_eq!(fit_steps(Instant::now(), |_| Ok::<u64, ()>(0)), Ok(MOST_STEPS));
        assert_eq!(fit_steps(Instant::now(), |_| Err("lost")), Err("lost"));
    }
}
