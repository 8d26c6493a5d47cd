//! Several tests at once.

/// p-values corrected for being several, in the order given: each is called significant at level α if its corrected value is at most
/// α, and the chance that any true hypothesis is called so is then at most α, however the tests depend on each other.
///
/// Holm's step-down procedure (1979, Scandinavian Journal of Statistics 6, 65): the smallest of m values is
/// multiplied by m, the next by m − 1, and so on; none becomes less than one before it, or more than 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut least = 0.0f64;
    for (rank, &idx) in order.iter().enumerate() {
        least = least.max(p_values[idx] * (p_values.len() - rank) as f64).min(1.0);
        corrected[idx] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_holm_is_as_statsmodels_has_it() {
        // statsmodels.stats.multitest.multipletests([0.01, 0.04, 0.03, 0.005, 0.5, 0.03], method="holm")[1]
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005, 0.5, 0.03]);
        let expected = [0.05, 0.12, 0.12, 0.03, 0.5, 0.12];
        for (corrected, expected) in corrected.iter().zip(expected) {
            assert!((corrected - expected).abs() < 1e-12, "{corrected} {expected}");
        }
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.7, 0.9]), [1.0, 1.0]);
    }
}
