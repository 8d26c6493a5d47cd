//! The GPU's clock on the CPU's, from what must have come before what.

/// Where the ends of frames lie on the CPU's clock at the latest: found by the envelope method, without any call that reads both clocks.
///
/// A wait for a frame returns after the frame's end on the GPU. So the offset between the clocks (CPU less GPU) is at
/// most `return − end`, for every frame; and since the GPU begins a frame after its submit began, it is at least `submit − begin`. The
/// clocks drift apart, by some millionths, so the upper bound is a straight line: the edge of the lower convex
/// hull of all `return − end` over the middle of the run (the method of Moon, Skelly and Towsley, 1999, for clocks of two hosts).
/// The tightest upper bound is taken for the offset, where [`ClockAlignment`](super::ClockAlignment) takes the middle between both: what is asked
/// here is how far a wait's return was from the best one, not where a pass lies beside the CPU's stages.
///
/// **What it can't tell.** The frame whose wait returned soonest has the overshoot 0 by construction: every overshoot is what
/// a wait took *beyond the best wait of the run*, whose own latency, from the GPU's last timestamp through the driver to the
/// return, is hidden. The lower bounds say how much that can be at most: [`uncertainty_ns`](Self::uncertainty_ns).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReturnAlignment {
    first_gpu_ns: u64,
    first_cpu_ns: u64,
    offset_ns: f64,
    drift: f64,
    uncertainty_ns: Option<f64>,
}

/// A time on each clock: the CPU's bounds the GPU's, from above or from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPair {
    /// On the GPU's clock, in ns.
    pub gpu_ns: u64,
    /// On the CPU's clock, in ns.
    pub cpu_ns: u64,
}

/// Clocks of one machine are no farther apart: a steeper line is noise.
const MOST_DRIFT: f64 = 200e-6;

impl ReturnAlignment {
    /// The alignment from the ends of frames with the returns of their waits (`ends`), and the begins of frames with the begins of
    /// their submits (`begins`), each in any order. `None` without ends.
    pub fn fit(ends: &[ClockPair], begins: &[ClockPair]) -> Option<Self> {
        let first = *ends.iter().min_by_key(|pair| pair.gpu_ns)?;
        let mut points: Vec<(f64, f64)> = ends.iter().map(|pair| relative(*pair, first)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mean_at = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
        let hull = lower_hull(&points);
        let (mut drift, mut offset_ns) = edge_over(&hull, mean_at);
        if drift.abs() > MOST_DRIFT {
            drift = drift.clamp(-MOST_DRIFT, MOST_DRIFT);
            offset_ns = hull.iter().map(|point| point.1 - drift * point.0).fold(f64::INFINITY, f64::min);
        }
        let gap = |pair: &ClockPair| {
            let (at, least) = relative(*pair, first);
            offset_ns + drift * at - least
        };
        let uncertainty_ns = begins.iter().map(gap).min_by(f64::total_cmp).map(|gap| gap.max(0.0));
        Some(Self { first_gpu_ns: first.gpu_ns, first_cpu_ns: first.cpu_ns, offset_ns, drift, uncertainty_ns })
    }

    /// By how many ns the GPU's `gpu_ns` lies before the CPU's `cpu_ns`; negative if it lies after it.
    pub fn before_ns(&self, gpu_ns: u64, cpu_ns: u64) -> f64 {
        let first = ClockPair { gpu_ns: self.first_gpu_ns, cpu_ns: self.first_cpu_ns };
        let (at, offset_ns) = relative(ClockPair { gpu_ns, cpu_ns }, first);
        offset_ns - (self.offset_ns + self.drift * at)
    }

    /// By how much the true offset may be smaller than the one taken, at most: all overshoots together may be larger by so much.
    /// `None` without begins of frames.
    pub fn uncertainty_ns(&self) -> Option<f64> {
        self.uncertainty_ns
    }

    /// How fast the CPU's clock gains on the GPU's, as a share of time.
    pub fn drift(&self) -> f64 {
        self.drift
    }
}

/// (GPU time, CPU time less GPU time), each since `first`.
fn relative(pair: ClockPair, first: ClockPair) -> (f64, f64) {
    let gpu_ns = pair.gpu_ns as i128 - first.gpu_ns as i128;
    let cpu_ns = pair.cpu_ns as i128 - first.cpu_ns as i128;
    (gpu_ns as f64, (cpu_ns - gpu_ns) as f64)
}

/// The lower convex hull of points sorted by x, from left to right (Andrew's monotone chain).
fn lower_hull(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for &point in points {
        while let [.., before, last] = hull[..] {
            let turn = (last.0 - before.0) * (point.1 - before.1) - (last.1 - before.1) * (point.0 - before.0);
            if turn > 0.0 {
                break;
            }
            hull.pop();
        }
        // Of points above each other the first is the lowest.
        if hull.last().is_none_or(|last| last.0 < point.0) {
            hull.push(point);
        }
    }
    hull
}

/// Slope, and height at 0, of the hull's edge over `at`.
fn edge_over(hull: &[(f64, f64)], at: f64) -> (f64, f64) {
    let edge = hull.windows(2).find(|edge| edge[1].0 >= at).or_else(|| hull.windows(2).last());
    match edge {
        Some(edge) => {
            let slope = (edge[1].1 - edge[0].1) / (edge[1].0 - edge[0].0);
            (slope, edge[0].1 - slope * edge[0].0)
        }
        None => (0.0, hull.first().map_or(0.0, |point| point.1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 10 ms each; the GPU's clock starts elsewhere and drifts.
    fn frames(n_frames: u64, drift: f64, latency_ns: impl Fn(u64) -> u64) -> (Vec<ClockPair>, Vec<ClockPair>) {
        let gpu_of = |cpu_ns: u64| 7_000_000_000_000 + (cpu_ns as f64 * (1.0 - drift)) as u64;
        let end = |frame: u64| {
            let end_ns = 10_000_000 * (frame + 1);
            ClockPair { gpu_ns: gpu_of(end_ns), cpu_ns: end_ns + latency_ns(frame) }
        };
        let begin = |frame: u64| {
            let begin_ns = 10_000_000 * frame + 50_000;
            ClockPair { gpu_ns: gpu_of(begin_ns), cpu_ns: begin_ns - 20_000 - 1_000 * (frame % 7) }
        };
        ((0..n_frames).map(end).collect(), (0..n_frames).map(begin).collect())
    }

    #[test]
    fn measure_alignment_tells_overshoots_beyond_the_best_one() {
        // 5 µs at best, some 40 more mostly; 30 millionths of drift are 300 ns a frame.
        let latency_ns = |frame: u64| if frame.is_multiple_of(5) { 5_000 } else { 45_000 + frame % 3 * 1_000 };
        for drift in [0.0, 30e-6, -30e-6] {
            let (ends, begins) = frames(500, drift, latency_ns);
            let alignment = ReturnAlignment::fit(&ends, &begins).expect("there are frames");
            assert!((alignment.drift() - drift).abs() < 1e-7, "{alignment:?}");
            for (frame, end) in (0..).zip(&ends) {
                let overshoot_ns = alignment.before_ns(end.gpu_ns, end.cpu_ns);
                let expected_ns = latency_ns(frame) as f64 - 5_000.0;
                assert!((overshoot_ns - expected_ns).abs() < 50.0, "frame {frame}: {overshoot_ns} of {expected_ns}");
            }
            // The best wait's 5 µs and the best submit's 20 can't be told apart.
            let uncertainty_ns = alignment.uncertainty_ns().expect("there are begins");
            assert!((uncertainty_ns - 25_000.0).abs() < 200.0, "{uncertainty_ns}");
        }
    }

    #[test]
    fn measure_alignment_of_little_is_still_one() {
        assert_eq!(ReturnAlignment::fit(&[], &[]), None);
        let one = ClockPair { gpu_ns: 900, cpu_ns: 5 };
        let alignment = ReturnAlignment::fit(&[one, one], &[]).expect("one frame");
        assert_eq!((alignment.before_ns(900, 25), alignment.uncertainty_ns()), (20.0, None));
        // Two frames whose waits differ by more than clocks can drift.
        let (ends, _) = frames(2, 0.0, |frame| if frame == 0 { 90_000 } else { 1_000 });
        let alignment = ReturnAlignment::fit(&ends, &[]).expect("two frames");
        let overshoots_ns: Vec<f64> = ends.iter().map(|end| alignment.before_ns(end.gpu_ns, end.cpu_ns)).collect();
        assert!(overshoots_ns[0] > 80_000.0 && overshoots_ns[1].abs() < 10.0, "{overshoots_ns:?}");
    }
}
