//! From an adapter to a worker, through the check.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::super::batch::SmallLimits;
use super::super::check::{self, Measured};
use super::super::device::{DeviceFault, KernelDevice, Memory};
use super::super::error::{OperationError, StartError, Unavailable};
use super::super::keeper::Keeper;
use super::super::layout::{ARRAY_ALIGN_QUADS, SUM_BLOCK};
use super::super::operation::Operation;
use super::super::shared::{Shared, Sharing};
use super::super::ticket::{Answer, Ticket};
use super::super::{Config, sum_of, user_operation};
use super::ResidentWorker;
use crate::gpu::{Gpu, GpuError, RawError};

/// Operations through the worker before it is handed out: each must come back right.
const N_FIRST_TRIPS: usize = 20;

impl ResidentWorker {
    /// Opens a device of its own on `adapter`, which came from `instance`, checks that CPU and kernel hear each other there, and starts
    /// the kernel. Takes some tenths of a second, and as long as the driver needs to compile where it hasn't yet: a second on hardware, some
    /// twelve on a software adapter, more for a large operation of the user's. It can't be interrupted.
    ///
    /// # Errors
    /// [`StartError::Unavailable`] with what was measured, where there can be no such worker; otherwise a fault of `config`.
    pub fn start(instance: &wgpu::Instance, adapter: &wgpu::Adapter, config: &Config) -> Result<Self, StartError> {
        config.check()?;
        // What is short can't lie deep. A thread's memory is the allocator's for good, as a rule: some 80 MB after a driver's compiler.
        const SHORT_BYTES: usize = 1024;
        if config.user_operation.as_ref().is_none_or(|wgsl| wgsl.len() <= SHORT_BYTES) {
            return Self::start_here(instance, adapter, config);
        }
        let started = on_deep_stack(|| Self::start_here(instance, adapter, config));
        started.unwrap_or_else(|error| {
            let reason = format!("no thread could be started: {error}");
            Err(Box::new(Unavailable { reason, measured: Measured::default() }).into())
        })
    }

    fn start_here(instance: &wgpu::Instance, adapter: &wgpu::Adapter, config: &Config) -> Result<Self, StartError> {
        if let Some(wgsl) = &config.user_operation {
            user_operation::check(wgsl)?;
        }
        let mut measured = Measured::default();
        let started = Self::start_checked(instance, adapter, config, &mut measured);
        let mut worker = started.map_err(|fault| match fault {
            Fail::Unavailable(reason) => StartError::from(Box::new(Unavailable { reason, measured: measured.clone() })),
            Fail::Start(error) => error,
        })?;
        worker.measured.first_trips_ns =
            worker.make_first_trips().map_err(|reason| Box::new(Unavailable { reason, measured }))?;
        Ok(worker)
    }

    fn start_checked(
        instance: &wgpu::Instance,
        adapter: &wgpu::Adapter,
        config: &Config,
        measured: &mut Measured,
    ) -> Result<Self, Fail> {
        let gpu = Gpu::open_for_compute_on(instance, adapter)?;
        config.check_against(&gpu.device.limits()).map_err(Fail::Start)?;
        if !gpu.device.features().contains(wgpu::Features::SUBGROUP) {
            return Err(Fail::Unavailable("the adapter has no subgroup operations".into()));
        }
        check::check_memory(&gpu, measured)?;
        let (Some(there), Some(back)) = (measured.there, measured.back) else {
            return Err(Fail::Unavailable("no memory was found".into()));
        };
        let memory = Memory::new(&gpu, config, there, back)?;
        let is_software = gpu.is_software();
        let info = gpu.info.clone();
        // On a CPU a lane is no thread of its own, and a barrier is dear.
        let n_lanes = if is_software { 32 } else { 256 };
        let device = KernelDevice::new(gpu, &memory, config, n_lanes)?;
        let max_workgroups = if is_software && !config.shares_on_software { 1 } else { config.max_workgroups };
        if !device.has_full_subgroups()? {
            return Err(Fail::Unavailable(
                "the adapter's subgroups don't have all their lanes, or fewer than four".into(),
            ));
        }
        check::check_kernel(&device, max_workgroups, measured)?;

        let small = match config.answers_after_stores {
            true => SmallLimits::default(),
            false => SmallLimits::of(info.subgroup_min_size),
        };
        let sharing = Sharing { n_workgroups: measured.n_workgroups, n_lanes, is_software, small };
        let shared = Arc::new(Shared::new(memory, config, sharing));
        // The keeper asks a kernel to end; its own bound is for when the keeper can't.
        let kernel_ns = config.kernel_time.as_nanos() as f64 * 4.0;
        let settings = device.bounded(measured.look_ns.unwrap_or(1.0), kernel_ns);
        let keeper = Keeper::new(shared.clone(), device, settings, measured.n_workgroups, config);
        let thread = std::thread::Builder::new().name("praxis-resident".into()).spawn(move || keeper.run());
        let thread = thread.map_err(|error| Fail::Unavailable(format!("no thread could be started: {error}")))?;
        shared.set_keeper(thread.thread().clone());
        Ok(Self {
            shared,
            keeper: Mutex::new(Some(thread)),
            reading: Mutex::new(()),
            has_user_operation: config.user_operation.is_some(),
            has_fault_injection: config.has_fault_injection,
            info,
            measured: measured.clone(),
        })
    }

    /// A few sums and filters, each of which must be right: small ones first behind what the CPU wrote, by all lanes, then by those that
    /// watch; those in which a subgroup has more than one turn, and those that workgroups share. How long the small sums took, in ns.
    fn make_first_trips(&self) -> Result<Vec<u64>, String> {
        let small = self.shared.small;
        let trips_ns = self.sum_first(self.n_first(small.sum, 1), N_FIRST_TRIPS)?;
        self.filter_first(self.n_first(small.filter, 3))?;
        for n_blocks in [9, 20] {
            self.sum_first(self.n_first(n_blocks * SUM_BLOCK as u32, 1), 1)?;
        }
        for n_blocks in [3, 9] {
            self.filter_first(self.n_first(n_blocks * SUM_BLOCK as u32, 3))?;
        }
        Ok(trips_ns)
    }

    fn sum_first(&self, n: usize, n_trips: usize) -> Result<Vec<u64>, String> {
        let array = self.array(n).map_err(told)?;
        let mut trips_ns = Vec::with_capacity(2 * n_trips);
        for trip in 0..n_trips {
            let values = first_values(n, trip);
            self.write(&array, &values).map_err(told)?;
            let expected = sum_of(&values);
            for _ in 0..2 {
                let started = Instant::now();
                let answer = self.run(Operation::Sum { a: &array, out: None })?;
                trips_ns.push(started.elapsed().as_nanos() as u64);
                let is_right = answer.sum(0).is_some_and(|sum| sum.to_bits() == expected.to_bits());
                if !is_right {
                    return Err(format!("a sum of {n} elements came back as {:?}, not {expected}", answer.sum(0)));
                }
            }
        }
        Ok(trips_ns)
    }

    /// Elements of an array with one less than `limit`, or as many as fit where there are to be `n_arrays`.
    fn n_first(&self, limit: u32, n_arrays: usize) -> usize {
        let line = ARRAY_ALIGN_QUADS * 4;
        let room = self.shared.arena.bytes() / 4 / n_arrays / line * line;
        (limit.max(8) as usize - 1).min(room)
    }

    fn filter_first(&self, n: usize) -> Result<(), String> {
        let (values, mask) = (first_values(n, 0), first_values(n, 1));
        let mask: Vec<f32> = mask.iter().map(|x| f32::from(u8::from(*x > 0.0))).collect();
        let mut kept: Vec<f32> = values.iter().zip(&mask).filter(|(_, m)| **m != 0.0).map(|(x, _)| *x).collect();
        let n_kept = kept.len();
        kept.resize(n, 0.0);
        let (a, mask) = (self.array_from(&values).map_err(told)?, self.array_from(&mask).map_err(told)?);
        let out = self.array(n).map_err(told)?;
        for _ in 0..2 {
            let answer = self.run(Operation::Filter { a: &a, mask: &mask, out: &out })?;
            if answer.count(0) != Some(n_kept) || self.read(&out).map_err(told)? != kept {
                return Err(format!(
                    "a filter of {n} elements kept {:?}, not the {n_kept} that it had to",
                    answer.count(0)
                ));
            }
            self.run(Operation::Fill { out: &out, value: 0.0 })?;
        }
        Ok(())
    }

    fn run(&self, operation: Operation) -> Result<Answer, String> {
        self.submit(&[operation]).and_then(Ticket::wait).map_err(told)
    }
}

/// Whoever reads WGSL calls itself for what lies within, and a user's operation may lie deep: done on the caller's own stack, it could be
/// the end of the process. [`user_operation::check`] sees to it that this much is enough.
pub(in crate::resident) fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    const BYTES: usize = 256 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("praxis-start".into()).stack_size(BYTES);
        let thread = thread.spawn_scoped(scope, work)?;
        // A panic goes on where it would have without the thread.
        Ok(thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)))
    })
}

fn told(error: OperationError) -> String {
    format!("the first operations failed: {error}")
}

/// Positive and negative numbers whose sum depends on the order.
fn first_values(n: usize, trip: usize) -> Vec<f32> {
    (0..n).map(|idx| ((idx * 37 + trip * 11) % 101) as f32 / 7.0 - 7.0).collect()
}

/// Why a start failed.
enum Fail {
    Unavailable(String),
    Start(StartError),
}

impl From<String> for Fail {
    fn from(reason: String) -> Self {
        Self::Unavailable(reason)
    }
}

impl From<StartError> for Fail {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<DeviceFault> for Fail {
    fn from(fault: DeviceFault) -> Self {
        Self::Unavailable(fault.one_line())
    }
}

impl From<GpuError> for Fail {
    fn from(error: GpuError) -> Self {
        DeviceFault::from(error).into()
    }
}

impl From<RawError> for Fail {
    fn from(error: RawError) -> Self {
        DeviceFault::from(error).into()
    }
}
