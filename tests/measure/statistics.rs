//! Statistics against values that other programs computed: SciPy 1.17, statsmodels 0.15, arch 8.0 and R. The command stands beside each.

use praxis::measure::statistics::{
    SplitMix64, block_bootstrap_interval, block_length, detectable_effect, hodges_lehmann, holm, median, modes,
    signed_rank_test,
};
use proptest::prelude::*;

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs().max(1.0), "{value} is not {expected}");
}

/// Hollander and Wolfe's example, the data of R's `wilcox.test` page: y − x of nine patients.
const DEPRESSION: [f64; 9] = [-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01];

#[test]
fn measure_signed_rank_is_as_scipy_has_it() {
    // scipy.stats.wilcoxon(DEPRESSION, method="exact").pvalue
    assert_near(signed_rank_test(&DEPRESSION).p_value, 0.0390625, 1e-12);
    // scipy.stats.wilcoxon([.3, -.1, .5, .7, .2, -.4, .9, 1.1], method="exact").pvalue
    assert_near(signed_rank_test(&[0.3, -0.1, 0.5, 0.7, 0.2, -0.4, 0.9, 1.1]).p_value, 0.078125, 1e-12);
    // Ties and zeros: scipy.stats.wilcoxon(x, zero_method="pratt", correction=False, method=PermutationMethod(n_resamples=inf)).pvalue
    let tied = signed_rank_test(&[1.0, 1.0, 2.0, 2.0, 2.0, -1.0, -3.0, 4.0, 5.0, 5.0]);
    assert_near(tied.p_value, 0.06640625, 1e-12);
    let zeros = signed_rank_test(&[0.0, 0.0, 0.0, 1.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0, -2.0, 8.0]);
    assert_eq!((zeros.n, zeros.rank_sum, zeros.is_exact), (9, 59.5, true));
    assert_near(zeros.p_value, 0.06640625, 1e-12);
    // x = [((i * 37) % 61 - 27) / 10 for i in range(60)]
    // scipy.stats.wilcoxon(x, zero_method="pratt", correction=True, method="asymptotic").pvalue
    let long: Vec<f64> = (0..60).map(|i| f64::from((i * 37) % 61 - 27) / 10.0).collect();
    let long = signed_rank_test(&long);
    assert_eq!((long.n, long.rank_sum, long.is_exact), (59, 1090.0, false));
    assert_near(long.p_value, 0.1976058121482943, 1e-9);
}

#[test]
fn measure_hodges_lehmann_is_as_r_has_it() {
    // R: wilcox.test(y, x, paired = TRUE, conf.int = TRUE): -0.46, 95% interval -0.786 … -0.010
    let found = hodges_lehmann(&DEPRESSION, 0.05).expect("nine values");
    let (low, high) = found.interval.expect("nine are enough for 95%");
    assert_near(found.estimate, -0.46, 1e-12);
    assert_near(low, -0.786, 1e-12);
    assert_near(high, -0.010, 1e-12);
    // 2⁻⁸ < 0.01 < 2⁻⁶: seven values can't make a 99% interval, nine can.
    assert_eq!(hodges_lehmann(&DEPRESSION[..7], 0.01).map(|found| found.interval), Some(None));
    assert_eq!(hodges_lehmann(&[], 0.01), None);
}

/// x[i] = φ·x[i − 1] + e[i], e uniform from a linear congruential generator that takes one line in any language.
fn autoregression(n: usize, phi: f64) -> Vec<f64> {
    let (mut state, mut x) = (1u64, 0.0);
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        x = phi * x + (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        x
    };
    (0..n).map(next).collect()
}

#[test]
fn measure_block_lengths_are_as_arch_has_them() {
    // arch.bootstrap.optimal_block_length(x): stationary, circular
    for (n, phi, stationary, circular) in [
        (500, 0.0, 2.864853236009094, 3.279438302084612),
        (500, 0.5, 8.53853307021991, 9.77418041599336),
        (1000, 0.8, 18.413805864507943, 21.07854583271431),
        (200, 0.9, 17.068366071793136, 19.53840173949567),
    ] {
        let length = block_length(&autoregression(n, phi));
        assert_near(length.stationary, stationary, 1e-6);
        assert_near(length.circular, circular, 1e-6);
    }
}

#[test]
fn measure_block_bootstrap_knows_that_neighbours_agree() {
    // The mean of n values of an AR(1) series has variance σ²/(n (1 − φ)²), σ² = 1/12 here, for long series.
    let mean = |values: &mut [f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (n, phi) = (4_000, 0.8);
    let (low, high) = block_bootstrap_interval(&autoregression(n, phi), mean, 0.95, 2_000, 7).expect("a long series");
    let expected = 2.0 * 1.959_963_985 * (1.0 / 12.0 / (n as f64 * (1.0 - phi) * (1.0 - phi))).sqrt();
    assert!((0.75..1.25).contains(&((high - low) / expected)), "{low} {high}, expected a width of {expected}");
    assert_eq!(block_bootstrap_interval(&[], mean, 0.95, 10, 1), None);
    assert_eq!(block_bootstrap_interval(&[3.0], mean, 0.95, 10, 1), Some((3.0, 3.0)));
}

fn normal(random: &mut SplitMix64) -> f64 {
    // Box and Muller.
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

#[test]
fn measure_modes_are_told_apart_with_their_share() {
    let mut random = SplitMix64::new(11);
    let mut at =
        |centre: f64, n: usize| -> Vec<f64> { (0..n).map(|_| centre * (1.0 + 0.02 * normal(&mut random))).collect() };
    let one = modes(&at(5.0e5, 800));
    assert_eq!(one.len(), 1, "{one:?}");
    let two = modes(&[at(5.0e5, 700), at(7.0e5, 100)].concat());
    assert_eq!(two.len(), 2, "{two:?}");
    assert_near(two[0].centre, 5.0e5, 0.01);
    assert_near(two[1].centre, 7.0e5, 0.01);
    assert_near(two[1].occupancy, 0.125, 1e-9);
    // One far value is no mode, and is not lost either.
    let outlier = modes(&[at(5.0e5, 300), vec![9.0e6]].concat());
    assert_near(outlier.iter().map(|mode| mode.occupancy).sum(), 1.0, 1e-12);
    assert_eq!(outlier.last().map(|mode| mode.high), Some(9.0e6));
    assert_eq!(modes(&[4.0; 30]).len(), 1);
    assert!(modes(&[]).is_empty());
}

/// The detectable effect against its definition: that share of experiments with it finds it.
#[test]
fn measure_detectable_effects_are_found_as_often_as_said() {
    let mut random = SplitMix64::new(5);
    let spread: Vec<f64> = (0..200).map(|_| 0.01 * normal(&mut random)).collect();
    for (n, alpha, margin) in [(12, 0.001, 0.0), (20, 0.0016, 0.0), (20, 0.0016, 0.02)] {
        let effect = detectable_effect(&spread, n, alpha, margin, 0.9).expect("so many pairs can tell");
        let n_found = (0..2_000).filter(|_| {
            let values: Vec<f64> = (0..n).map(|_| effect + 0.01 * normal(&mut random)).collect();
            let is_beyond = hodges_lehmann(&values, alpha).is_some_and(|found| found.estimate > margin);
            signed_rank_test(&values).p_value <= alpha && is_beyond
        });
        let share = n_found.count() as f64 / 2_000.0;
        assert!((0.86..0.94).contains(&share), "{n} pairs: {share} of experiments found {effect}");
    }
    assert_eq!(detectable_effect(&spread, 10, 0.001, 0.0, 0.9), None, "ten pairs can't be that sure");
    assert_eq!(detectable_effect(&[], 20, 0.01, 0.0, 0.9), None);
}

/// Values as series have them: few different ones, many, huge ones, zeros.
fn any_values() -> impl Strategy<Value = Vec<f64>> {
    let few = prop::sample::select(vec![-1.0, -0.5, 0.0, 0.5, 1.0]);
    let value = prop_oneof![few, -1e-3..1e-3, -1e12..1e12];
    prop::collection::vec(value, 0..70)
}

proptest! {
    #[test]
    fn measure_statistics_give_no_nan_and_never_panic(values in any_values(), alpha in 1e-9..1.0f64) {
        let test = signed_rank_test(&values);
        prop_assert!((0.0..=1.0).contains(&test.p_value), "{test:?}");
        if let Some(found) = hodges_lehmann(&values, alpha) {
            let (low, high) = found.interval.unwrap_or((found.estimate, found.estimate));
            prop_assert!(low <= found.estimate && found.estimate <= high, "{found:?}");
        }
        prop_assert!(holm(&values.iter().map(|value| value.abs().min(1.0)).collect::<Vec<_>>()).iter().all(|p| (0.0..=1.0).contains(p)));
        let length = block_length(&values);
        prop_assert!(length.stationary >= 1.0 && length.circular >= 1.0, "{length:?}");
        let middle = |values: &mut [f64]| median(values).unwrap_or(0.0);
        let interval = block_bootstrap_interval(&values, middle, 0.95, 20, 3);
        prop_assert!(interval.is_none_or(|(low, high)| low <= high), "{interval:?}");
        let found = modes(&values);
        prop_assert!(values.is_empty() || (found.iter().map(|mode| mode.occupancy).sum::<f64>() - 1.0).abs() < 1e-9, "{found:?}");
        prop_assert!(found.iter().all(|mode| mode.low <= mode.centre && mode.centre <= mode.high), "{found:?}");
        let effect = detectable_effect(&values, 13, alpha, 0.02, 0.9);
        prop_assert!(effect.is_none_or(f64::is_finite), "{effect:?}");
    }

    /// The interval and the test are two sides of one thing.
    #[test]
    fn measure_the_interval_excludes_what_the_test_rejects(seed: u64, n in 2usize..40, shift in -2.0..2.0f64, alpha in 0.001..0.3f64) {
        let mut random = SplitMix64::new(seed);
        let values: Vec<f64> = (0..n).map(|_| shift + normal(&mut random)).collect();
        let excludes = hodges_lehmann(&values, alpha).and_then(|found| found.interval).is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        prop_assert_eq!(signed_rank_test(&values).p_value <= alpha, excludes);
    }
}
