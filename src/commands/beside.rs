//! What a run is judged beside: its Baseline, and how much runs spread on this machine.

use anyhow::Context;
use praxis::measure::experiment::MachineSpread;
use praxis::measure::{Budget, RunFile, read_baseline};
use praxis::report::Report;

use super::{one_line, places};

/// What is recorded for a run's machine and scene.
pub struct Beside {
    baseline: Option<RunFile>,
    baseline_fault: Option<anyhow::Error>,
    spread: Option<MachineSpread>,
}

impl Beside {
    /// Reads what there is. A self-test that can't be read, or was made with other settings, says nothing. A Baseline that can't be read
    /// leaves the run's own numbers to be shown; [`Self::into_fault`] has the fault.
    pub fn of(run: &RunFile) -> Self {
        let root = places::baselines();
        let spread = MachineSpread::read_for(&root, run).ok().flatten();
        let spread = spread.filter(|spread| spread.unlike(run).is_none());
        let baseline = read_baseline(&root, run).with_context(|| {
            format!("the Baseline of {} can't be used: restore it, or remove it and record it anew", run.scene)
        });
        let (baseline, baseline_fault) = match baseline {
            Ok(baseline) => (baseline, None),
            Err(fault) => (None, Some(fault)),
        };
        Self { baseline, baseline_fault, spread }
    }

    /// `run`, judged.
    pub fn report<'a>(&'a self, run: &'a RunFile) -> Report<'a> {
        Report {
            baseline_fault: self.baseline_fault.as_ref().map(one_line),
            ..Report::with_spread(run, self.baseline.as_ref(), self.spread.as_ref(), &Budget::m3())
        }
    }

    /// Why the Baseline that is recorded can't be used.
    pub fn into_fault(self) -> Option<anyhow::Error> {
        self.baseline_fault
    }
}
