//! What an experiment could have found.

use super::hodges_lehmann::n_outside;
use super::{SplitMix64, median};

/// Drawn sets of values. The 90% quantile of that many is good to about 3% of itself.
const N_DRAWS: usize = 1_000;

/// The least shift that `n` values, spread as `differences` are, would show with probability `power`: so that the signed-rank
/// test rejects 0 at level `alpha`, and the Hodges–Lehmann estimate is beyond `margin`. `None` when no shift would, because
/// even `n` values of one sign are no proof at that level, or when there are no `differences`.
///
/// By simulation, as Collings and Hamilton have it for the two-sample test (1988, Biometrics 44, 847): sets of `n` are drawn with replacement from the
/// differences about their centre, with random signs, since the test takes them as symmetrical. A set shifted by s is
/// rejected when s is beyond the far end of the set's own interval, so that one pass over the sets gives the
/// shift that each of them needs, and the answer is a quantile of those. The draws follow from a fixed seed.
pub fn detectable_effect(differences: &[f64], n: usize, alpha: f64, margin: f64, power: f64) -> Option<f64> {
    let k = n_outside(n, alpha);
    let centre = super::hodges_lehmann(differences, 1.0)?.estimate;
    if k == 0 {
        return None;
    }
    let mut random = SplitMix64::new(0x5eed);
    let (mut set, mut averages) = (Vec::with_capacity(n), Vec::with_capacity(n * (n + 1) / 2));
    let mut draw = || {
        set.clear();
        set.extend((0..n).map(|_| {
            let value = differences[random.below(differences.len())] - centre;
            if random.coin() { value } else { -value }
        }));
        averages.clear();
        for (idx, a) in set.iter().enumerate() {
            averages.extend(set[idx..].iter().map(|b| a + (b - a) / 2.0));
        }
        let (_, low, _) = averages.select_nth_unstable_by(k - 1, f64::total_cmp);
        let low = *low;
        let estimate = median(&averages).unwrap_or(0.0);
        (-low).max(margin - estimate)
    };
    let mut needed: Vec<f64> = (0..N_DRAWS).map(|_| draw()).collect();
    needed.sort_unstable_by(f64::total_cmp);
    crate::measure::quantile::quantile_by(N_DRAWS, power, |idx| needed[idx])
}
