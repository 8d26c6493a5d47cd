//! One line over the pairs.

use std::collections::BTreeSet;

use super::{LineStatistics, Pair, RunStatistics, Scale};
use crate::measure::Unit;

/// A count below this in some run is compared by differences: a ratio of 2 missed frames to 1 says nothing.
const LEAST_RATIO_COUNT: f64 = 1_000.0;

/// A line in the pairs in which both runs have it, in their order.
pub(super) struct Series {
    pub name: String,
    pub unit: Unit,
    pub scale: Scale,
    /// The runs' medians.
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    /// ln(B / A), or B − A.
    pub differences: Vec<f64>,
    /// B − A.
    pub absolute: Vec<f64>,
    /// The same of the 99th percentiles.
    pub p99: Vec<f64>,
    /// ln(B / A) of the chains; empty if some run has none.
    pub chain: Vec<f64>,
    /// Which of the valid pairs each value is from.
    pair_idxs: Vec<usize>,
}

/// The names of all lines and counts that both runs of any pair have.
pub(super) fn line_names(pairs: &[&Pair]) -> BTreeSet<String> {
    let halves = pairs.iter().filter_map(|pair| pair.halves());
    let common = halves.flat_map(|(a, b)| names_of(a).filter(|name| statistics(b, name).is_some()));
    common.map(str::to_owned).collect()
}

fn names_of(run: &RunStatistics) -> impl Iterator<Item = &str> {
    run.lines.keys().chain(run.counts.keys()).map(String::as_str)
}

/// A line's value in a run that can be compared.
fn statistics(run: &RunStatistics, name: &str) -> Option<LineStatistics> {
    run.line(name).filter(|line| line.median.is_finite() && line.median >= 0.0)
}

impl Series {
    /// The line called `name`; `None` when no pair has it in both runs.
    pub fn of(name: &str, pairs: &[&Pair]) -> Option<Self> {
        let mut values = Vec::with_capacity(pairs.len());
        for (pair_idx, pair) in pairs.iter().enumerate() {
            if let Some((a, b)) = pair.halves()
                && let (Some(a), Some(b)) = (statistics(a, name), statistics(b, name))
                && a.unit == b.unit
            {
                values.push((pair_idx, a, b));
            }
        }
        let unit = values.first()?.1.unit;
        let least = values.iter().map(|(_, a, b)| a.median.min(b.median)).fold(f64::INFINITY, f64::min);
        let scale = match unit {
            Unit::Count if least < LEAST_RATIO_COUNT => Scale::Difference,
            // A ratio to nothing, or almost nothing, says nothing either.
            _ if least < 1e-3 => Scale::Difference,
            _ => Scale::Ratio,
        };
        let difference = |a: f64, b: f64| match scale {
            Scale::Ratio => (b / a).ln(),
            Scale::Difference => b - a,
        };
        let p99 = values.iter().map(|(_, a, b)| Some(difference(a.p99?, b.p99?)).filter(|value| value.is_finite()));
        let chain = values.iter().map(|(pair_idx, ..)| pairs[*pair_idx].chain_log_ratio());
        Some(Self {
            name: name.to_owned(),
            unit,
            scale,
            a: values.iter().map(|(_, a, _)| a.median).collect(),
            b: values.iter().map(|(_, _, b)| b.median).collect(),
            differences: values.iter().map(|(_, a, b)| difference(a.median, b.median)).collect(),
            absolute: values.iter().map(|(_, a, b)| b.median - a.median).collect(),
            p99: p99.collect::<Option<Vec<f64>>>().unwrap_or_default(),
            chain: chain.collect::<Option<Vec<f64>>>().unwrap_or_default(),
            pair_idxs: values.iter().map(|(pair_idx, ..)| *pair_idx).collect(),
        })
    }

    /// The differences of the first `n_pairs` valid pairs.
    pub fn first(&self, n_pairs: usize) -> &[f64] {
        &self.differences[..self.pair_idxs.partition_point(|pair_idx| *pair_idx < n_pairs)]
    }
}
