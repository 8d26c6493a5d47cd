//! When a frame on the GPU will end, told by those before it.

use super::super::recent_samples::RecentSamples;

/// Predicts how long the GPU works on the next frame: the median of the last few frames, give or take what such predictions
/// were wrong by of late.
#[derive(Clone, Debug)]
pub(super) struct EndPrediction {
    durations_ns: RecentSamples<N_DURATIONS>,
    /// What a frame took, less what was predicted for it.
    errors_ns: RecentSamples<N_ERRORS>,
}

/// Few, so that a scene that changes is followed; odd, so that one outlier moves nothing.
const N_DURATIONS: usize = 5;
const N_ERRORS: usize = 64;
/// Errors that must be known before anything is predicted.
const FEWEST_ERRORS: usize = 8;

/// The stretch of time in which a frame is most likely to end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EndWindow {
    /// From the GPU's start on the frame to the stretch's begin, in ns.
    pub begin_ns: i64,
    /// The share of recent frames that would have ended in it.
    pub share: f64,
}

impl EndPrediction {
    pub const fn new() -> Self {
        Self { durations_ns: RecentSamples::new(), errors_ns: RecentSamples::new() }
    }

    /// A frame took the GPU `duration_ns`.
    pub fn frame_took(&mut self, duration_ns: i64) {
        if let Some(predicted_ns) = self.durations_ns.quantile(0.5) {
            self.errors_ns.push(duration_ns - predicted_ns);
        }
        self.durations_ns.push(duration_ns);
    }

    /// A frame was found done after `duration_ns`, and may have been long before.
    pub fn frame_took_at_most(&mut self, duration_ns: i64) {
        if self.durations_ns.quantile(0.5).is_some_and(|predicted_ns| duration_ns < predicted_ns) {
            self.frame_took(duration_ns);
        }
    }

    /// The stretch of `length_ns` in which most recent frames would have ended; the latest of several. `None` while
    /// too little is known.
    pub fn window(&self, length_ns: i64) -> Option<EndWindow> {
        let predicted_ns = self.durations_ns.quantile(0.5)?;
        let mut sorted = [0; N_ERRORS];
        let errors_ns = self.errors_ns.sorted_in(&mut sorted);
        if errors_ns.len() < FEWEST_ERRORS {
            return None;
        }
        let (mut best_begin_ns, mut best_n, mut end) = (errors_ns[0], 0, 0);
        for (begin, &begin_ns) in errors_ns.iter().enumerate() {
            while end < errors_ns.len() && errors_ns[end] <= begin_ns + length_ns {
                end += 1;
            }
            if end - begin >= best_n {
                (best_begin_ns, best_n) = (begin_ns, end - begin);
            }
        }
        Some(EndWindow { begin_ns: predicted_ns + best_begin_ns, share: best_n as f64 / errors_ns.len() as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_end_window_holds_what_is_likely() {
        let mut prediction = EndPrediction::new();
        assert_eq!(prediction.window(100), None);
        for frame in 0..64 {
            // Two modes: 1000 ± 10 mostly, and 5000 now and then.
            prediction.frame_took(if frame % 8 == 7 { 5_000 } else { 990 + frame % 3 * 10 });
        }
        let window = prediction.window(50).expect("it knows enough");
        assert!((970..=1_000).contains(&window.begin_ns), "{window:?}");
        assert!((0.8..0.95).contains(&window.share), "{window:?}");
        let all = prediction.window(10_000).expect("it knows enough");
        assert_eq!(all.share, 1.0);
    }

    #[test]
    fn pacing_end_prediction_follows_a_step_and_bounds() {
        let mut prediction = EndPrediction::new();
        (0..20).for_each(|_| prediction.frame_took(20_000));
        // An upper bound above the prediction says nothing, one below it something.
        prediction.frame_took_at_most(30_000);
        assert_eq!(prediction.window(10).expect("it knows enough").begin_ns, 20_000);
        (0..3).for_each(|_| prediction.frame_took_at_most(5_000));
        assert_eq!(prediction.durations_ns.quantile(0.5), Some(5_000));
    }
}
