//! The middle of some values, and how wide they lie about it.

use crate::measure::quantile::quantile_by;

/// The middle value, or the mean of the two middle ones; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_by(sorted.len(), 0.5, |idx| sorted[idx])
}

/// 1 / Φ⁻¹(3/4): makes the median absolute deviation of normal values their standard deviation.
const NORMAL_SCALE: f64 = 1.482_602_218_505_602;

/// The standard deviation, estimated as 1.4826 times the median absolute deviation from the median, which half of the values
/// can't move far (Hampel 1974, JASA 69, 383). `None` for fewer than two values; 0 where most are the same.
pub fn robust_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Some(NORMAL_SCALE * median(&distances)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_spread_is_as_scipy_has_it() {
        // scipy.stats.median_abs_deviation([2, 4, 4, 5, 7, 9, 40], scale="normal")
        let deviation = robust_deviation(&[2.0, 4.0, 4.0, 5.0, 7.0, 9.0, 40.0]).expect("seven values");
        assert!((deviation - 2.965_204_437_011_204).abs() < 1e-12, "{deviation}");
        assert_eq!((robust_deviation(&[1.0]), robust_deviation(&[3.0, 3.0])), (None, Some(0.0)));
        assert_eq!((median(&[]), median(&[4.0, 1.0, 3.0, 2.0])), (None, Some(2.5)));
    }
}
