//! What all probes are given: how much effort, the clock, the machine; and how they wait.

use super::clock::SystemClock;
use super::report::ProbeReport;
use crate::gpu::Gpu;
use crate::measure::Machine;
use crate::pacing::{DeviceWaiter, FrameWait, SubmissionWaiter, WaitError, describe_adapter};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Enough to tell differences: some seconds to half a minute a probe.
    Full,
    /// Enough to see that it works: a probe takes less than 5 s.
    Quick,
}

impl Effort {
    /// As settings name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Quick => "quick",
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Context {
    /// How much is measured.
    pub effort: Effort,
    /// What times it.
    pub clock: SystemClock,
    /// What it is measured on.
    pub machine: Machine,
}

impl Context {
    /// An empty report of a probe, with what a reader has to know of the machine.
    pub(super) fn report(&self, probe: &'static str, question: &'static str, gpu: Option<&Gpu>) -> ProbeReport {
        let mut report = ProbeReport::new(probe, question);
        report.machine = self.machine.clone();
        report.settings.set("effort", self.effort.name());
        report.adapter = gpu.map(|gpu| {
            let period_ns = gpu.has_timestamps().then(|| gpu.queue.get_timestamp_period());
            describe_adapter(&gpu.info, period_ns)
        });
        let cautions = &mut report.cautions;
        if cfg!(debug_assertions) {
            cautions.push("measured with a debug build: CPU times say little".into());
        }
        if self.effort == Effort::Quick {
            cautions.push("--quick: a few samples, to see that it works; nothing to decide by".into());
        }
        if self.machine.virtualized == Some(true) {
            cautions.push(
                "a virtual machine: its cores may be shared with others, and any sample may hold their time".into(),
            );
        }
        if self.machine.n_cores == 1 {
            cautions.push("one usable core: whatever waits and what it waits for take turns on it".into());
        }
        if gpu.is_some_and(Gpu::is_software) {
            cautions.push("a software adapter: its \"GPU\" is this CPU, and its memory is the process's own".into());
        }
        report
    }
}

/// Waits for a submission.
pub(super) type Wait<'a> = Box<dyn FnMut(&wgpu::SubmissionIndex) -> Result<(), WaitError> + 'a>;

/// The program's own way to wait. One waiter stays for all waits of a kind: it may learn how long they take.
pub(super) fn waiter(gpu: &Gpu, wait: FrameWait) -> Wait<'_> {
    let mut waiter = DeviceWaiter::new(&gpu.device, wait);
    Box::new(move |submission| waiter.wait(submission))
}
