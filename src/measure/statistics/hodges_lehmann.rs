//! Where paired differences lie.

use statrs::distribution::{ContinuousCDF, Normal};

use super::signed_rank::{MOST_EXACT, sum_distribution};

/// Where values lie, with an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HodgesLehmann {
    /// The median of all means of two values.
    pub estimate: f64,
    /// The interval; `None` when there are too few values for one at this level.
    pub interval: Option<(f64, f64)>,
}

/// The centre of symmetry of what `differences` were drawn from: the Hodges–Lehmann estimate, with an interval that covers it
/// with a probability of at least 1 − `alpha`. `None` for no values.
///
/// The estimate is the median of the Walsh averages (xᵢ + xⱼ)/2, i ≤ j (Hodges and Lehmann 1963, Annals of Mathematical Statistics 34, 598). The interval
/// reaches from the k-th least to the k-th greatest of them, k − 1 being the greatest rank sum that the signed-rank test rejects on its low
/// side (Tukey's interval; Hollander, Wolfe and Chicken 2014, section 3.3): so it excludes exactly the centres that
/// [`signed_rank_test`](super::signed_rank_test) rejects, if no values are tied, and is conservative if some are. Up to 50 values k is exact, beyond it is the normal
/// distribution's. Takes time and memory proportional to the square of the number of values.
pub fn hodges_lehmann(differences: &[f64], alpha: f64) -> Option<HodgesLehmann> {
    let n_averages = differences.len() * (differences.len() + 1) / 2;
    let mut averages = Vec::with_capacity(n_averages);
    for (idx, a) in differences.iter().enumerate() {
        averages.extend(differences[idx..].iter().map(|b| a + (b - a) / 2.0));
    }
    averages.sort_unstable_by(f64::total_cmp);
    let estimate = super::median(&averages)?;
    let k = n_outside(differences.len(), alpha);
    let interval = (k > 0).then(|| (averages[k - 1], averages[n_averages - k]));
    Some(HodgesLehmann { estimate, interval })
}

/// The greatest k with P(rank sum ≤ k − 1) ≤ α/2: 0 where even the least rank sum is too likely.
pub(super) fn n_outside(n: usize, alpha: f64) -> usize {
    let n_averages = n * (n + 1) / 2;
    if n <= MOST_EXACT {
        let ranks: Vec<usize> = (1..=n).collect();
        let mut up_to = 0.0;
        return sum_distribution(&ranks)
            .iter()
            .take_while(|share| {
                up_to += **share;
                up_to <= alpha / 2.0
            })
            .count()
            .min(n_averages / 2);
    }
    let (n, n_averages) = (n as f64, n_averages as f64);
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let quantile = Normal::standard().inverse_cdf((alpha / 2.0).clamp(1e-300, 0.5));
    (n_averages / 2.0 + 0.5 + quantile * deviation).floor().clamp(0.0, n_averages / 2.0) as usize
}
