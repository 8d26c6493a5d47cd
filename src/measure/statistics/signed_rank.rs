//! Wilcoxon's signed-rank test.

use statrs::distribution::{ContinuousCDF, Normal};

/// Up to how many values the distribution is counted out, as R and SciPy do too.
pub(super) const MOST_EXACT: usize = 50;

/// What the test found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Values that are not 0.
    pub n: usize,
    /// The sum of the ranks of the positive ones.
    pub rank_sum: f64,
    /// The chance of a rank sum this far from its middle or farther, on either side, if the values lie symmetrically about 0.
    pub p_value: f64,
    /// Whether the distribution was counted out, and not approximated by the normal one.
    pub is_exact: bool,
}

/// Whether `differences` lie symmetrically about 0: Wilcoxon's signed-rank test, two-sided.
///
/// Values are ranked by magnitude, ties at the mean of their ranks; zeros take part in the ranking and then drop out (Pratt 1959,
/// JASA 54, 655). Given the magnitudes, every pattern of signs is as likely as every other, so the rank sum's distribution
/// follows from counting patterns; ties change the ranks that are summed, and nothing else. Up to 50 values that is done
/// exactly, one value after the other (as in Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 2014, section 3.1); beyond, the
/// normal distribution with the same mean and variance is used, with a continuity correction of a half.
pub fn signed_rank_test(differences: &[f64]) -> SignedRank {
    let (ranks, rank_sum) = signed_ranks(differences);
    let is_exact = differences.len() <= MOST_EXACT;
    let p_value = if is_exact { exact_p_value(&ranks, rank_sum) } else { normal_p_value(&ranks, rank_sum) };
    SignedRank { n: ranks.len(), rank_sum, p_value, is_exact }
}

/// The least two-sided p-value that `n` values can give, 2¹⁻ⁿ: that of `n` values of one sign.
pub fn least_p_value(n: usize) -> f64 {
    2f64.powi(1 - i32::try_from(n).unwrap_or(i32::MAX)).min(1.0)
}

/// The midranks of the values that are not 0, and the sum of those of the positive ones.
fn signed_ranks(differences: &[f64]) -> (Vec<f64>, f64) {
    let mut sorted = differences.to_vec();
    sorted.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut ranks, mut rank_sum) = (Vec::with_capacity(sorted.len()), 0.0);
    let mut n_before = 0;
    for tied in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        // Ranks n_before + 1 to n_before + n share their mean.
        let rank = n_before as f64 + (tied.len() + 1) as f64 / 2.0;
        n_before += tied.len();
        if tied[0] != 0.0 {
            ranks.extend(tied.iter().map(|_| rank));
            rank_sum += rank * tied.iter().filter(|value| **value > 0.0).count() as f64;
        }
    }
    (ranks, rank_sum)
}

fn exact_p_value(ranks: &[f64], rank_sum: f64) -> f64 {
    // Midranks are whole or half: doubled they are whole.
    let doubled: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank) as usize).collect();
    let shares = sum_distribution(&doubled);
    let at = (2.0 * rank_sum) as usize;
    let up_to: f64 = shares.iter().take(at + 1).sum();
    let from: f64 = shares.iter().skip(at).sum();
    (2.0 * up_to.min(from)).min(1.0)
}

/// How likely each sum of a random subset of `parts` is, each part being in it or not by the toss of a coin.
pub(super) fn sum_distribution(parts: &[usize]) -> Vec<f64> {
    let mut shares = vec![0.0; parts.iter().sum::<usize>() + 1];
    shares[0] = 1.0;
    let mut greatest = 0;
    for &part in parts {
        greatest += part;
        // Downwards, so that the sums without this part are still there when they are needed.
        for sum in (0..=greatest).rev() {
            let with = if sum >= part { shares[sum - part] } else { 0.0 };
            shares[sum] = 0.5 * (shares[sum] + with);
        }
    }
    shares
}

fn normal_p_value(ranks: &[f64], rank_sum: f64) -> f64 {
    let mean: f64 = ranks.iter().sum::<f64>() / 2.0;
    let variance: f64 = ranks.iter().map(|rank| rank * rank).sum::<f64>() / 4.0;
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((rank_sum - mean).abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * Normal::standard().sf(distance)).min(1.0)
}
