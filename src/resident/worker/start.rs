//! From an adapter to a worker, through the check.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::super::batch::SmallLimits;
use super::super::check::{self, Measured};
use super::super::device::{DeviceFault, KernelDevice, Memory};
use super::super::error::{OperationError, StartError, Unavailable};
use super::super::keeper::Keeper;
use super::super::operation::Operation;
use super::super::shared::{Shared, Sharing};
use super::super::ticket::Ticket;
use super::super::{Config, user_operation};
use super::ResidentWorker;
use crate::gpu::{Gpu, GpuError, RawError};

/// Operations through the worker before it is handed out: each must come back right.
const N_FIRST_TRIPS: u32 = 20;

impl ResidentWorker {
    /// Opens a device of its own on `adapter`, which came from `instance`, checks that CPU and kernel hear each other there, and starts
    /// the kernel. Takes some tenths of a second, and as long as the driver needs to compile where it hasn't yet: a second on hardware, several
    /// on a software adapter, more for a large operation of the user's. It can't be interrupted.
    ///
    /// # Errors
    /// [`StartError::Unavailable`] with what was measured, where there can be no such worker; otherwise a fault of `config`.
    pub fn start(instance: &wgpu::Instance, adapter: &wgpu::Adapter, config: &Config) -> Result<Self, StartError> {
        config.check()?;
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
        check::check_kernel(&device, max_workgroups, measured)?;

        let small = match config.answers_after_stores {
            true => SmallLimits::default(),
            false => SmallLimits::of(info.subgroup_min_size, info.subgroup_max_size),
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

    /// A few sums, each of which must be right.
    fn make_first_trips(&self) -> Result<Vec<u64>, String> {
        let told = |error: OperationError| format!("the first operations failed: {error}");
        let array = self.array(7).map_err(told)?;
        let mut trips_ns = Vec::with_capacity(N_FIRST_TRIPS as usize);
        for trip in 0..N_FIRST_TRIPS {
            let value = trip as f32 + 0.5;
            self.write(&array, &[value; 7]).map_err(told)?;
            let started = Instant::now();
            let answer =
                self.submit(&[Operation::Sum { a: &array, out: None }]).and_then(Ticket::wait).map_err(told)?;
            trips_ns.push(started.elapsed().as_nanos() as u64);
            if answer.sum(0) != Some(7.0 * value) {
                return Err(format!("the sum of seven times {value} came back as {:?}", answer.sum(0)));
            }
        }
        Ok(trips_ns)
    }
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
