//! How sure a number made of one run's frames is. For showing: what a run says about itself decides nothing.

use super::SplitMix64;
use crate::measure::quantile::quantile_by;

/// How long blocks should be so that they hold what neighbouring values have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLength {
    /// Mean length of the stationary bootstrap's blocks, which have random lengths.
    pub stationary: f64,
    /// Length of the circular bootstrap's blocks, which are all as long.
    pub circular: f64,
}

/// The block length that suits `series`: Politis and White (2004, Econometric Reviews 23, 53), as corrected by Patton, Politis and White
/// (2009, Econometric Reviews 28, 372).
///
/// The length is (2Ĝ²/D̂)^⅓·n^⅓, with Ĝ = Σ λ(k/M)|k|R̂(k) and D̂ = 2ĝ² (stationary) or 4/3 ĝ² (circular), ĝ = Σ λ(k/M)R̂(k), over
/// −M ≤ k ≤ M, R̂ being the autocovariance and λ the flat-top window. M is twice the first lag of K = max(5, log₁₀ n) in a row whose
/// autocorrelations are below 2·√(log₁₀ n / n); at most √n + K. The length is at least 1 and at most min(3√n, n/3), both rounded up.
pub fn block_length(series: &[f64]) -> BlockLength {
    let n = series.len();
    let single = BlockLength { stationary: 1.0, circular: 1.0 };
    if n < 4 {
        return single;
    }
    let mean = series.iter().sum::<f64>() / n as f64;
    let deviations: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let covariance = |lag: usize| deviations[lag..].iter().zip(&deviations).map(|(a, b)| a * b).sum::<f64>() / n as f64;
    let variance = covariance(0);
    // Values that are all the same differ from their mean by rounding, if at all.
    if variance <= (mean * 1e-14).powi(2) || !variance.is_finite() {
        return single;
    }
    let n_lags = widest_lag(n, |lag| covariance(lag) / variance);
    let (mut spectrum, mut slope) = (variance, 0.0);
    for lag in 1..=n_lags {
        // Both signs of the lag at once.
        let weighted = 2.0 * flat_top(lag as f64 / n_lags as f64) * covariance(lag);
        spectrum += weighted;
        slope += lag as f64 * weighted;
    }
    let most = (3.0 * (n as f64).sqrt()).min(n as f64 / 3.0).ceil();
    let length = |variance_factor: f64| {
        let length = (2.0 * slope * slope / (variance_factor * spectrum * spectrum) * n as f64).cbrt();
        // A spectrum of 0 makes it infinite, or not a number.
        if length.is_nan() { 1.0 } else { length.clamp(1.0, most) }
    };
    BlockLength { stationary: length(2.0), circular: length(4.0 / 3.0) }
}

/// Politis and White's M: twice the lag at which nothing but noise begins.
fn widest_lag(n: usize, autocorrelation: impl Fn(usize) -> f64) -> usize {
    let log_n = (n as f64).log10();
    let n_quiet = (log_n as usize).max(5);
    let most = ((n as f64).sqrt().ceil() as usize + n_quiet).min(n - 1);
    let noise = 2.0 * (log_n / n as f64).sqrt();
    let mut first_quiet = 1;
    for lag in 1..=most {
        if autocorrelation(lag).abs() >= noise {
            first_quiet = lag + 1;
        } else if lag + 1 - first_quiet == n_quiet {
            return (2 * first_quiet).min(most);
        }
    }
    most
}

/// 1 up to a half, then down to 0 at 1.
fn flat_top(share: f64) -> f64 {
    (2.0 * (1.0 - share)).clamp(0.0, 1.0)
}

/// An interval for `statistic` of `series`, whose neighbouring values have to do with each other: the stationary bootstrap of Politis and
/// Romano (1994, JASA 89, 1303) with [`block_length`], and the percentiles of `n_resamples` resampled series (Efron and Tibshirani 1993, chapter 13).
///
/// It covers with a probability of about `level`, for long series. The draws follow from `seed`. `None` for no values, no resamples, or
/// a level that isn't between 0 and 1.
pub fn block_bootstrap_interval(
    series: &[f64],
    statistic: impl Fn(&mut [f64]) -> f64,
    level: f64,
    n_resamples: usize,
    seed: u64,
) -> Option<(f64, f64)> {
    if series.is_empty() || n_resamples == 0 || !(0.0..1.0).contains(&level) {
        return None;
    }
    let go_on = 1.0 - 1.0 / block_length(series).stationary;
    let mut random = SplitMix64::new(seed);
    let mut resample = vec![0.0; series.len()];
    let mut draw = || {
        let mut idx = random.below(series.len());
        for value in &mut resample {
            *value = series[idx];
            // A block goes on with the next value, round the end, or a new one begins anywhere.
            idx = if random.unit() < go_on { (idx + 1) % series.len() } else { random.below(series.len()) };
        }
        statistic(&mut resample)
    };
    let mut statistics: Vec<f64> = (0..n_resamples).map(|_| draw()).collect();
    statistics.sort_unstable_by(f64::total_cmp);
    let at = |p: f64| quantile_by(n_resamples, p, |idx| statistics[idx]);
    Some((at((1.0 - level) / 2.0)?, at((1.0 + level) / 2.0)?))
}
