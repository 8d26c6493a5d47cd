//! From samples to numbers that can be shown, and from two of them to a statement about their difference.

use serde::Serialize;

use crate::measure::quantile;
use crate::measure::statistics::median;

/// Samples in a few numbers, in ns. Quantiles as [`quantile`] defines them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many samples.
    pub n: u64,
    /// The least. Shown only beside the rest: on a busy machine it is luck.
    pub min: f64,
    /// A quarter lies below.
    pub p25: f64,
    /// The middle.
    pub median: f64,
    /// A quarter lies above.
    pub p75: f64,
    /// One in twenty lies above.
    pub p95: f64,
    /// One in a hundred lies above.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// Of samples in any order; `None` for none.
    pub fn of(samples: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = samples.into_iter().collect();
        sorted.sort_unstable();
        let at = |p| quantile(&sorted, p);
        Some(Self {
            n: sorted.len() as u64,
            min: at(0.0)?,
            p25: at(0.25)?,
            median: at(0.5)?,
            p75: at(0.75)?,
            p95: at(0.95)?,
            p99: at(0.99)?,
            max: at(1.0)?,
        })
    }

    /// Whether one sample in twenty is so far off that the machine did something else meanwhile.
    pub fn is_disturbed(&self) -> bool {
        self.p95 > 3.0 * self.median
    }
}

/// How much greater one thing was than another, from rounds in which both were measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Rounds that had both.
    pub n_rounds: usize,
    /// The median of the rounds' differences.
    pub median: f64,
    /// At 95% confidence the true median difference isn't below; absent with fewer than six rounds.
    pub low: Option<f64>,
    /// Nor above.
    pub high: Option<f64>,
}

impl Difference {
    /// Of `a` less `b`, round by round: drift, which lasts longer than a round, cancels.
    ///
    /// The interval needs no assumption about how differences are distributed: the k-th least and the k-th greatest hold the
    /// median between them unless fewer than k of n lie on one side, which is a binomial probability (the sign test's).
    pub fn of_pairs(pairs: &[(f64, f64)]) -> Option<Self> {
        let mut differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
        differences.sort_by(f64::total_cmp);
        let n = differences.len();
        let median = median(&differences)?;
        let rank = interval_rank(n);
        Some(Self {
            n_rounds: n,
            median,
            low: rank.map(|rank| differences[rank]),
            high: rank.map(|rank| differences[n - 1 - rank]),
        })
    }

    /// Whether the rounds can tell the two apart.
    pub fn is_clear(&self) -> bool {
        self.low.is_some_and(|low| low > 0.0) || self.high.is_some_and(|high| high < 0.0)
    }

    /// Whether the difference is surely below `bound`.
    pub fn is_below(&self, bound: f64) -> bool {
        self.high.is_some_and(|high| high < bound)
    }

    /// `12.3 (11.9 to 12.8) µs`, from ns; says so where the rounds can't tell.
    pub fn in_us(&self) -> String {
        let us = |ns: f64| format!("{:+.2}", ns / 1e3);
        match (self.low, self.high) {
            (Some(low), Some(high)) if self.is_clear() => {
                format!("{} µs ({} to {})", us(self.median), us(low), us(high))
            }
            (Some(low), Some(high)) => format!("no difference to be told ({} to {} µs)", us(low), us(high)),
            _ => format!("{} µs, in too few rounds to tell ({})", us(self.median), self.n_rounds),
        }
    }
}

/// The greatest rank k (from 0) for which 2·P(Bin(n, ½) ≤ k) ≤ 5%; `None` where even k = 0 is too likely.
fn interval_rank(n: usize) -> Option<usize> {
    let mut probability = 0.5f64.powi(i32::try_from(n).ok()?);
    let (mut cumulative, mut rank) = (0.0, None);
    for k in 0..n {
        cumulative += probability;
        if 2.0 * cumulative > 0.05 {
            break;
        }
        rank = Some(k);
        probability *= (n - k) as f64 / (k + 1) as f64;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_spreads_are_quantiles() {
        let spread = Spread::of((1..=101).rev()).expect("there are samples");
        assert_eq!((spread.n, spread.min, spread.p25, spread.median), (101, 1.0, 26.0, 51.0));
        assert_eq!((spread.p75, spread.p95, spread.p99, spread.max), (76.0, 96.0, 100.0, 101.0));
        assert_eq!(Spread::of([]), None);
        assert!(!spread.is_disturbed());
        assert!(Spread::of([10, 10, 10, 10, 90]).expect("there are samples").is_disturbed());
    }

    #[test]
    fn probe_medians_of_even_counts_lie_between() {
        assert_eq!((median(&[4.0, 1.0, 3.0, 2.0]), median(&[7.0]), median(&[])), (Some(2.5), Some(7.0), None));
    }

    #[test]
    fn probe_interval_ranks_are_the_sign_tests() {
        // Tables of the sign test: the first n with an interval is 6; for 11, 20 and 50 ranks 2, 6 and 18 counted from 1.
        let ranks = [5, 6, 11, 20, 50].map(interval_rank);
        assert_eq!(ranks, [None, Some(0), Some(1), Some(5), Some(17)]);
    }

    #[test]
    fn probe_a_shift_shows_through_drift_that_dwarfs_it() {
        // Each round is slower than the one before by far more than b is slower than a.
        let pairs: Vec<_> =
            (0..11).map(|k| (f64::from(k) * 1_000.0 + 30.0 + f64::from(k % 3), f64::from(k) * 1_000.0)).collect();
        let difference = Difference::of_pairs(&pairs).expect("there are pairs");
        assert!(difference.is_clear() && difference.is_below(33.0), "{difference:?}");
        assert!((30.0..=32.0).contains(&difference.median));
        assert_eq!(difference.in_us(), "+0.03 µs (+0.03 to +0.03)");
    }

    #[test]
    fn probe_noise_is_no_difference() {
        let pairs: Vec<_> = (0..12).map(|k| (100.0, if k % 2 == 0 { 90.0 } else { 110.0 })).collect();
        let difference = Difference::of_pairs(&pairs).expect("there are pairs");
        assert!(!difference.is_clear());
        assert!(difference.in_us().starts_with("no difference to be told"));
        let few = Difference::of_pairs(&pairs[..3]).expect("there are pairs");
        assert!(!few.is_clear() && !few.is_below(1e9) && few.in_us().contains("too few rounds"), "{few:?}");
        assert_eq!(Difference::of_pairs(&[]), None);
    }
}
