//! What might move the floor of a wait: a GPU that never idles, and a thread that is never put back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::error::ProbeError;
use super::kernel::EmptyKernel;
use crate::gpu::Gpu;
use crate::pacing::{DeviceWaiter, FrameWait, SubmissionWaiter};

/// Dispatches in each of the second device's submissions: enough that the GPU isn't idle between two of them.
const N_DISPATCHES: u32 = 32;

const LONGEST_START: Duration = Duration::from_secs(5);

/// A second device of the same adapter that submits small kernels without a pause. One device has one queue, strictly
/// ordered: on the same device the measured kernel would queue behind them.
pub(super) struct Warmth {
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), ProbeError>>,
}

impl Warmth {
    /// Opens the device and starts.
    pub fn start(gpu: &Gpu) -> Result<Self, ProbeError> {
        let second = gpu.open_another_for_compute()?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let seen = is_stopped.clone();
        let (sender, is_warm) = channel();
        let thread = std::thread::spawn(move || keep_busy(&second, &seen, &sender));
        // Compiling takes longer than what is to be measured. If the thread failed, `stop` says why.
        let _ = is_warm.recv_timeout(LONGEST_START);
        Ok(Self { is_stopped, thread })
    }

    /// Ends it.
    pub fn stop(self) -> Result<(), ProbeError> {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or(Ok(()))
    }
}

fn keep_busy(gpu: &Gpu, is_stopped: &AtomicBool, is_warm: &Sender<()>) -> Result<(), ProbeError> {
    let kernel = EmptyKernel::new(gpu);
    let mut waiter = DeviceWaiter::new(&gpu.device, FrameWait::Block);
    // Two in flight: the next one is there when one ends.
    let mut in_flight = None;
    while !is_stopped.load(Ordering::Relaxed) {
        let mut encoder = kernel.encoder();
        {
            let mut pass = kernel.begin_pass(&mut encoder, None);
            for _ in 0..N_DISPATCHES {
                kernel.dispatch(&mut pass);
            }
        }
        let newest = gpu.queue.submit([encoder.finish()]);
        if let Some(oldest) = in_flight.replace(newest) {
            waiter.wait(&oldest)?;
            // Only the first one is listened for.
            let _ = is_warm.send(());
        }
        gpu.check_errors()?;
    }
    match in_flight {
        Some(last) => Ok(waiter.wait(&last)?),
        None => Ok(()),
    }
}

/// Gives the calling thread the highest ordinary priority; gives the one it had.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn raise_priority() -> Result<i32, String> {
    // On Linux niceness is a thread's own, and 0 means the calling one. A realtime class could starve the driver's threads.
    const HIGHEST: i32 = -20;
    let told =
        |error: rustix::io::Errno| format!("the system doesn't let this user raise a thread's priority ({error})");
    let before = rustix::process::getpriority_process(None).map_err(told)?;
    rustix::process::setpriority_process(None, HIGHEST).map_err(told)?;
    Ok(before)
}

/// Undoes [`raise_priority`]. Lowering is always allowed.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn restore_priority(before: i32) {
    let _ = rustix::process::setpriority_process(None, before);
}

/// Not tried here.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn raise_priority() -> Result<i32, String> {
    Err("it is tried on Linux only".into())
}

/// Nothing to undo.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn restore_priority(_before: i32) {}
