//! The rules that an experiment is judged by, fixed before its first pair.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::names;
use crate::measure::statistics::least_p_value;

/// Lines that get a verdict, at most six; all others are shown. The wait is none of them: it is what the frame does not work.
pub const GATED_LINES: [&str; 6] = [
    names::CPU_FRAME,
    names::GPU_FRAME,
    names::STAGE_UPDATE,
    names::STAGE_PREPARE_FRAME,
    names::STAGE_ENCODE,
    names::STAGE_SUBMIT,
];

/// The chance that an experiment may have of calling any line different although nothing is.
pub const ALPHA: f64 = 0.01;
/// The least relative difference that matters to anybody.
pub const MARGIN: f64 = 0.02;
/// How far chains of a pair may differ on a machine of which no self-test is known.
pub const CHAIN_GATE: f64 = 0.05;
/// The flag that tells a run what the comparison's first run found out: whether submit blocks. A program from before it refuses it.
pub const WAITING_HINT: &str = "--submit-blocks";
/// A gate that lets every pair pass: of A/A pairs, which find out how far chains differ.
pub const NO_CHAIN_GATE: f64 = 1e3;
/// Pairs that count, at most, unless something else is asked for.
pub const N_PAIRS: u32 = 30;

/// The rules that an experiment is judged by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Seeds the order within pairs.
    pub seed: u64,
    /// Pairs that count, at most.
    pub n_pairs: u32,
    /// Pairs that are run, at most, the void ones among them.
    pub n_attempts: u32,
    /// The chance of calling any gated line different although none is, over all looks.
    pub alpha: f64,
    /// The looks, ascending; the last one is at `n_pairs`.
    pub looks: Vec<Look>,
    /// The lines that are judged.
    pub gated: Vec<String>,
    /// The relative difference up to which a line counts as the same: 0.02 is 2%.
    pub margin: f64,
    /// Larger margins, of lines that spread more from run to run on this machine than `margin`.
    #[serde(default)]
    pub margins: BTreeMap<String, f64>,
    /// How far the chains of a pair may differ: |ln(B / A)|.
    pub chain_gate: f64,
    /// Where `margins` and `chain_gate` come from; `None` when the machine has no self-test for the scene.
    #[serde(default)]
    pub spread_from: Option<String>,
}

/// A number of pairs at which the lines are judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Pairs that count.
    pub n_pairs: u32,
    /// The part of α that is spent here.
    pub alpha: f64,
}

impl Plan {
    /// The fewest pairs that could call one of the judged lines different, were there one look.
    pub fn fewest_pairs(&self) -> u32 {
        let level = self.alpha / self.gated.len().max(1) as f64;
        // n pairs give no p-value below 2¹⁻ⁿ; beyond 64 no α is that small.
        (1..64).find(|&n| least_p_value(n as usize) <= level).unwrap_or(64)
    }

    /// A plan of at most `n_pairs` pairs for `gated` lines, with the margins of a machine of which nothing is known.
    pub fn new(n_pairs: u32, seed: u64, gated: &[&str]) -> Self {
        let gated: Vec<String> = gated.iter().map(|&name| name.to_owned()).collect();
        Self {
            seed,
            n_pairs,
            n_attempts: n_pairs.saturating_mul(2),
            alpha: ALPHA,
            looks: looks(n_pairs, ALPHA, gated.len()),
            gated,
            margin: MARGIN,
            margins: BTreeMap::new(),
            chain_gate: CHAIN_GATE,
            spread_from: None,
        }
    }

    /// The margin of the line called `name`.
    pub fn margin_of(&self, name: &str) -> f64 {
        self.margins.get(name).copied().unwrap_or(0.0).max(self.margin)
    }

    /// What about the plan can't be followed.
    pub(super) fn fault(&self) -> Option<String> {
        let spent: f64 = self.looks.iter().map(|look| look.alpha).sum();
        let is_share = |value: f64| (0.0..1.0).contains(&value);
        if !is_share(self.alpha)
            || self.looks.iter().any(|look| !is_share(look.alpha))
            || spent > self.alpha * (1.0 + 1e-9)
        {
            return Some(format!("its looks spend {spent} of α = {}", self.alpha));
        }
        if !self.looks.is_sorted_by(|a, b| a.n_pairs < b.n_pairs) {
            return Some("its looks don't ascend".to_owned());
        }
        let margins = self.margins.values().chain([&self.margin, &self.chain_gate]);
        margins
            .copied()
            .find(|margin| !(*margin >= 0.0 && margin.is_finite()))
            .map(|margin| format!("{margin} is no margin"))
    }
}

/// After how many pairs to look, and how much of `alpha` to spend each time.
///
/// α is spent by the power family α·tᵖ with p = 2, t being the share of the pairs (Kim and DeMets 1987, Biometrika 74,
/// 149): less at early looks, so that the last one keeps most of its power. A look's share is the increase since the look before. Each look
/// is a test of its own at that level: by Bonferroni's inequality the chance of any false alarm is at most the sum, α, however the looks depend
/// on each other.
///
/// The signed-rank test of n pairs can't give a p-value below 2¹⁻ⁿ. So the first look is at the least n at which one of
/// `n_lines` lines could be called different under Holm's correction; further looks follow a fifth of the pairs apart, the last at `n_pairs`.
fn looks(n_pairs: u32, alpha: f64, n_lines: usize) -> Vec<Look> {
    let spent = |n: u32| alpha * (f64::from(n) / f64::from(n_pairs)).powi(2);
    let can_reject = |n: u32, level: f64| least_p_value(n as usize) <= level / n_lines.max(1) as f64;
    let Some(first) = (1..=n_pairs).find(|&n| can_reject(n, spent(n))) else {
        return vec![Look { n_pairs, alpha }];
    };
    let step = n_pairs.div_ceil(5).max(2);
    let mut looks = Vec::new();
    let (mut n, mut spent_before) = (first, 0.0);
    loop {
        // A last look that a look just before it leaves nothing for would be a waste of both.
        if n_pairs - n < step / 2 + 1 {
            n = n_pairs;
        }
        looks.push(Look { n_pairs: n, alpha: spent(n) - spent_before });
        if n == n_pairs {
            return looks;
        }
        spent_before = spent(n);
        n = (n + step).min(n_pairs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_few_pairs_tell_nothing() {
        assert_eq!(Plan::new(30, 0, &GATED_LINES).fewest_pairs(), 11);
        assert_eq!(Plan::new(30, 0, &GATED_LINES[..1]).fewest_pairs(), 8, "2^-7 is less than 0.01");
    }

    #[test]
    fn measure_alpha_is_spent_and_no_more() {
        for n_pairs in 1..=200 {
            let plan = Plan::new(n_pairs, 0, &GATED_LINES);
            assert_eq!(plan.fault(), None, "{n_pairs} pairs: {:?}", plan.looks);
            let spent: f64 = plan.looks.iter().map(|look| look.alpha).sum();
            assert!((spent - ALPHA).abs() < 1e-12, "{n_pairs} pairs: {:?}", plan.looks);
            assert_eq!(plan.looks.last().map(|look| look.n_pairs), Some(n_pairs));
            if n_pairs >= 11 {
                for look in &plan.looks {
                    assert!(
                        least_p_value(look.n_pairs as usize) <= look.alpha / 6.0,
                        "{n_pairs} pairs, {look:?} is idle"
                    );
                }
            }
        }
    }

    #[test]
    fn measure_looks_come_when_the_test_can_speak() {
        let looks =
            |n_pairs| Plan::new(n_pairs, 0, &GATED_LINES).looks.iter().map(|look| look.n_pairs).collect::<Vec<_>>();
        // 2⁻¹⁰ < 0.01 / 6 < 2⁻⁹: ten pairs can't decide about one line of six.
        assert_eq!(looks(10), [10]);
        assert_eq!(looks(11), [11]);
        assert_eq!(looks(20), [12, 16, 20]);
        assert_eq!(looks(30), [13, 19, 25, 30]);
    }
}
