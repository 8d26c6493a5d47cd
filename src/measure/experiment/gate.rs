//! The clock gate: pairs whose two runs had cores of different speed.

use super::{Clock, Pair, Plan, VoidReason};
use crate::measure::statistics::hodges_lehmann;

/// Whole pairs after which it is settled whether the change itself moves the clock; fewer than the first look needs.
const N_UNTIL_SETTLED: usize = 10;

/// Marks the pairs that the clock voids and clears the marks of those that it does not; gives what the clock did.
///
/// A pair is void if its chains differ by more than the plan's gate, |ln(B / A)|. Where that befalls most of the first ten whole pairs, the speed follows the
/// side: then the change moves the clock, the gate is off for good, and every pair counts. Both rules look at how far the
/// chains differ and never at which of the two was faster. So under no difference the signs of what is left are still those of coins, and the signed-rank
/// test keeps its level.
pub fn gate_clock(plan: &Plan, pairs: &mut [Pair]) -> Clock {
    let is_beyond = |ratio: f64| ratio.abs() > plan.chain_gate;
    let is_open = |pair: &Pair| matches!(pair.void, None | Some(VoidReason::Clock { .. }));
    let whole: Vec<f64> = pairs.iter().filter(|pair| is_open(pair)).filter_map(Pair::chain_log_ratio).collect();
    let is_moved = whole.len() >= N_UNTIL_SETTLED
        && whole[..N_UNTIL_SETTLED].iter().filter(|ratio| is_beyond(**ratio)).count() > N_UNTIL_SETTLED / 2;
    let mut clock = Clock { ratio: None, n_void: 0, is_moved };
    for pair in pairs.iter_mut().filter(|pair| is_open(pair)) {
        pair.void = match pair.chain_log_ratio() {
            Some(ratio) if is_beyond(ratio) && !is_moved => {
                clock.n_void += 1;
                Some(VoidReason::Clock { ratio: ratio.exp() })
            }
            _ => None,
        };
    }
    let left: Vec<f64> = pairs.iter().filter(|pair| pair.void.is_none()).filter_map(Pair::chain_log_ratio).collect();
    clock.ratio = hodges_lehmann(&left, plan.alpha).map(|of_left| of_left.estimate.exp());
    clock
}
