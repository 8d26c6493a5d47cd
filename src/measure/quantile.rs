//! Quantiles and summaries of a line.

use serde::{Deserialize, Serialize};

/// The quantile `p` of `sorted`, by definition 7 of Hyndman and Fan (1996): the one of R, NumPy and spreadsheets.
///
/// With h = (n − 1)·p it is x⌊h⌋ + (h − ⌊h⌋)·(x⌊h⌋₊₁ − x⌊h⌋), counting from 0. `None` for no values, or when `p` isn't in
/// 0 to 1. `sorted` ascends; when it doesn't, the result means nothing.
///
/// ```
/// assert_eq!(praxis::measure::quantile(&[10, 20, 30, 40], 0.5), Some(25.0));
/// ```
pub fn quantile(sorted: &[u64], p: f64) -> Option<f64> {
    quantile_by(sorted.len(), p, |idx| sorted[idx] as f64)
}

/// [`quantile`] of `n_values` ascending values that `value_at` gives by index.
pub(super) fn quantile_by(n_values: usize, p: f64, value_at: impl Fn(usize) -> f64) -> Option<f64> {
    if n_values == 0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let h = (n_values - 1) as f64 * p;
    let below_idx = h.floor() as usize;
    let below = value_at(below_idx);
    let above = value_at((below_idx + 1).min(n_values - 1));
    Some(below + (h - h.floor()) * (above - below))
}

/// A line in six numbers. Quantiles as [`quantile`] defines them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Frames that have a value.
    pub n: u64,
    /// The middle value.
    pub median: f64,
    /// The value that 95% of frames stay below.
    pub p95: f64,
    /// The value that 99% of frames stay below.
    pub p99: f64,
    /// The least value.
    pub min: u64,
    /// The greatest value.
    pub max: u64,
}

impl Summary {
    /// The summary of `samples`, in any order; `None` for no samples.
    pub fn of(samples: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = samples.into_iter().collect();
        sorted.sort_unstable();
        Some(Self {
            n: sorted.len() as u64,
            median: quantile(&sorted, 0.5)?,
            p95: quantile(&sorted, 0.95)?,
            p99: quantile(&sorted, 0.99)?,
            min: *sorted.first()?,
            max: *sorted.last()?,
        })
    }
}
