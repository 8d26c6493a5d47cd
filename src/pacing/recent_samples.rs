//! The last samples of something, and their quantiles.

/// The last `N` samples, in memory of a fixed size.
#[derive(Clone, Debug)]
pub(super) struct RecentSamples<const N: usize> {
    samples: [i64; N],
    n_pushed: usize,
}

impl<const N: usize> RecentSamples<N> {
    pub(super) const fn new() -> Self {
        Self { samples: [0; N], n_pushed: 0 }
    }

    /// Takes one in; the oldest falls out.
    pub(super) fn push(&mut self, sample: i64) {
        self.samples[self.n_pushed % N] = sample;
        self.n_pushed += 1;
    }

    pub(super) fn clear(&mut self) {
        self.n_pushed = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.n_pushed.min(N)
    }

    /// Copies the samples into `sorted`, ascending, and gives the part that was written.
    pub(super) fn sorted_in<'a>(&self, sorted: &'a mut [i64; N]) -> &'a [i64] {
        let n_samples = self.len();
        sorted[..n_samples].copy_from_slice(&self.samples[..n_samples]);
        sorted[..n_samples].sort_unstable();
        &sorted[..n_samples]
    }

    /// The sample that the share `p` of all stay at or below: one of them, never a mixture. `None` without samples.
    pub(super) fn quantile(&self, p: f64) -> Option<i64> {
        let mut sorted = [0; N];
        let sorted = self.sorted_in(&mut sorted);
        let rank = (sorted.len() as f64 * p).ceil() as usize;
        sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_recent_samples_forget_the_oldest() {
        let mut recent = RecentSamples::<4>::new();
        assert_eq!(recent.quantile(0.5), None);
        for sample in [9, 1, 5, 3, 7] {
            recent.push(sample);
        }
        assert_eq!(recent.len(), 4);
        let quantiles = [0.0, 0.25, 0.5, 0.75, 0.76, 1.0].map(|p| recent.quantile(p).expect("four samples"));
        assert_eq!(quantiles, [1, 1, 3, 5, 7, 7]);
        recent.clear();
        assert_eq!((recent.len(), recent.quantile(1.0)), (0, None));
    }
}
