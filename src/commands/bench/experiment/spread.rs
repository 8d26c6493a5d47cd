//! What is known of how much this machine's runs spread.

use praxis::measure::RunFile;
use praxis::measure::experiment::{MachineSpread, Plan, SpreadError};

use crate::commands::places;

/// Takes margins and clock gate from the self-test of the machine and scene of `run`, where there is one that was made alike. A gate
/// that was given stays.
pub fn apply(plan: &mut Plan, run: &RunFile, has_own_gate: bool, warnings: &mut Vec<String>) {
    let given = plan.chain_gate;
    match MachineSpread::read_for(&places::baselines(), run) {
        Ok(Some(spread)) => match spread.unlike(run) {
            None => plan.use_spread(&spread),
            Some(field) => warnings
                .push(format!("the self-test of this machine and scene is not used: it was made with another {field}")),
        },
        Ok(None) => {}
        Err(error @ SpreadError::Malformed { .. } | error @ SpreadError::Read { .. }) => {
            warnings.push(format!("the self-test of this machine and scene is not used: {error}"));
        }
    }
    if has_own_gate {
        plan.chain_gate = given;
    }
}
