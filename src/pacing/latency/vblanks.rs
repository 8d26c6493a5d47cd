//! Where the display's refreshes lie in time, from the calls that blocked until one.

/// Ends of blocking calls that are looked at together.
const N_SAMPLES: usize = 6;
/// Enough where the period is known already.
const N_SAMPLES_AGAIN: usize = 3;
/// Refreshes are no closer and no farther apart than this: 1,000 Hz to 20 Hz.
const PERIODS_NS: std::ops::RangeInclusive<f64> = 1e6..=5e7;

/// The grid of refreshes: number `k` is at `epoch + k · period`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vblanks {
    pub epoch_ns: f64,
    pub period_ns: f64,
}

impl Vblanks {
    pub fn at(&self, vblank_idx: i64) -> f64 {
        self.epoch_ns + vblank_idx as f64 * self.period_ns
    }

    /// The first refresh at or after `ns`.
    pub fn idx_at_or_after(&self, ns: f64) -> i64 {
        ((ns - self.epoch_ns) / self.period_ns).ceil() as i64
    }

    /// The refresh closest to `ns`.
    pub fn nearest_idx(&self, ns: f64) -> i64 {
        ((ns - self.epoch_ns) / self.period_ns).round() as i64
    }
}

/// Collects ends of blocking calls until they lie on a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sync {
    ends_ns: [f64; N_SAMPLES],
    n_ends: usize,
}

impl Sync {
    pub const fn new() -> Self {
        Self { ends_ns: [0.0; N_SAMPLES], n_ends: 0 }
    }

    /// Takes in the end of a call that blocked. Gives the grid once there is one: from ends alone, with the period that
    /// the monitor claims (`hint_ns`) where they agree, and with the grid before (`known`) where that still fits.
    pub fn blocked_until(&mut self, end_ns: f64, hint_ns: Option<f64>, known: Option<Vblanks>) -> Option<Vblanks> {
        if self.n_ends == N_SAMPLES {
            self.ends_ns.copy_within(1.., 0);
            self.n_ends -= 1;
        }
        self.ends_ns[self.n_ends] = end_ns;
        self.n_ends += 1;
        let ends_ns = &self.ends_ns[..self.n_ends];
        if let Some(known) = known
            && ends_ns.len() >= N_SAMPLES_AGAIN
            && let Some(vblanks) = refine(known, &ends_ns[ends_ns.len() - N_SAMPLES_AGAIN..])
        {
            return Some(vblanks);
        }
        if ends_ns.len() < N_SAMPLES {
            return None;
        }
        fit(ends_ns, hint_ns)
    }
}

/// A grid from nothing but ends of calls, unless they are irregular or contradict the monitor.
fn fit(ends_ns: &[f64], hint_ns: Option<f64>) -> Option<Vblanks> {
    let shortest_ns = ends_ns.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let guess_ns = hint_ns.unwrap_or(shortest_ns);
    if !PERIODS_NS.contains(&guess_ns) {
        return None;
    }
    // Two calls of one frame may end at the same refresh; a missed one leaves a gap: least squares over numbers, not order.
    let first_ns = ends_ns[0];
    let idx_of = |end_ns: f64| ((end_ns - first_ns) / guess_ns).round();
    let n_ends = ends_ns.len() as f64;
    let mean_idx = ends_ns.iter().map(|&end_ns| idx_of(end_ns)).sum::<f64>() / n_ends;
    let mean_ns = ends_ns.iter().map(|&end_ns| end_ns - first_ns).sum::<f64>() / n_ends;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for &end_ns in ends_ns {
        let from_mean = idx_of(end_ns) - mean_idx;
        covariance += from_mean * (end_ns - first_ns - mean_ns);
        variance += from_mean * from_mean;
    }
    if variance <= 0.0 {
        return None;
    }
    let fitted_ns = covariance / variance;
    // A few ends give the period to a per cent or so; the monitor's word, where it fits, to far better.
    let period_ns = match hint_ns {
        Some(hint_ns) if (fitted_ns / hint_ns - 1.0).abs() < 0.01 => hint_ns,
        Some(_) => return None,
        None => fitted_ns,
    };
    on_grid(Vblanks { epoch_ns: first_ns, period_ns }, ends_ns)
}

/// The grid before, moved to where the new ends lie; its period from the long way between. `None` if they don't fit.
fn refine(known: Vblanks, ends_ns: &[f64]) -> Option<Vblanks> {
    let moved = on_grid(known, ends_ns)?;
    let n_periods = known.nearest_idx(ends_ns[0]);
    if n_periods < 8 {
        return Some(moved);
    }
    let drift_ns = moved.epoch_ns - known.epoch_ns;
    let period_ns = known.period_ns + drift_ns / n_periods as f64;
    // A slip by a whole period would look like a drift: only small corrections are believed.
    let is_believable = (period_ns / known.period_ns - 1.0).abs() < 0.005;
    let period_ns = if is_believable { period_ns } else { known.period_ns };
    on_grid(Vblanks { epoch_ns: ends_ns[0], period_ns }, ends_ns)
}

/// `grid` with its epoch moved so that no end lies before its refresh: a call ends at its refresh or a little after,
/// so the earliest is the closest. `None` if the ends scatter by more than an eighth of a period.
fn on_grid(grid: Vblanks, ends_ns: &[f64]) -> Option<Vblanks> {
    // Around the first end, so that ends about half a period off are not split into two camps.
    let first = ends_ns[0];
    let phase_ns = first - grid.at(grid.nearest_idx(first));
    let shifted = Vblanks { epoch_ns: grid.epoch_ns + phase_ns, ..grid };
    let residuals = ends_ns.iter().map(|&end_ns| end_ns - shifted.at(shifted.nearest_idx(end_ns)));
    let (least, most) = residuals
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), residual| (least.min(residual), most.max(residual)));
    (most - least <= grid.period_ns / 8.0)
        .then_some(Vblanks { epoch_ns: shifted.epoch_ns + least, period_ns: grid.period_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync_all(ends_ns: &[f64], hint_ns: Option<f64>, known: Option<Vblanks>) -> Option<Vblanks> {
        let mut sync = Sync::new();
        ends_ns.iter().find_map(|&end_ns| sync.blocked_until(end_ns, hint_ns, known))
    }

    #[test]
    fn pacing_vblanks_are_found_with_gaps_and_lateness() {
        let late_ns = [90e3, 40e3, 0.0, 250e3, 30e3, 10e3];
        let ends_ns: Vec<f64> =
            [0, 1, 2, 4, 5, 6].iter().zip(late_ns).map(|(&k, late)| 5e6 + f64::from(k) * 1e9 / 60.0 + late).collect();
        for hint_ns in [None, Some(1e9 / 59.95)] {
            let vblanks = sync_all(&ends_ns, hint_ns, None).expect("they lie on a grid");
            assert!((vblanks.period_ns - 1e9 / 60.0).abs() < 60e3, "{vblanks:?}");
            let nearest = vblanks.at(vblanks.nearest_idx(5e6));
            assert!((nearest - 5e6).abs() < 200e3, "{nearest}");
        }
    }

    #[test]
    fn pacing_what_is_no_grid_is_not_taken_for_one() {
        let irregular = [0.0, 16e6, 35e6, 49e6, 61e6, 90e6];
        assert_eq!(sync_all(&irregular, None, None), None);
        // Regular, but not the monitor's refresh: a loop that blocks on something else.
        let regular: Vec<f64> = (0..6).map(|k| f64::from(k) * 22.5e6).collect();
        assert_eq!(sync_all(&regular, Some(1e9 / 144.0), None), None);
        assert!(sync_all(&regular, None, None).is_some());
        assert_eq!(sync_all(&[1.0; 6], Some(1e9 / 60.0), None), None, "one refresh seen six times has no period");
    }

    #[test]
    fn pacing_vblanks_are_refined_over_the_long_way() {
        let (true_ns, known) = (1e9 / 59.94, Vblanks { epoch_ns: 0.0, period_ns: 1e9 / 60.0 });
        let again: Vec<f64> = (100..103).map(|k| f64::from(k) * true_ns).collect();
        let vblanks = sync_all(&again, None, Some(known)).expect("it fits");
        assert!((vblanks.period_ns - true_ns).abs() < 200.0, "{vblanks:?}");
    }
}
