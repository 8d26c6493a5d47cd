//! From the GPU's clock to the CPU's, by what must have come first.

use super::{FrameLog, Span, SpanClock, SpanLine, names};

/// How the times of the GPU's clock lie on the CPU's.
///
/// Nothing is read from the driver: every frame gives two bounds. Its first pass can't have begun before its submit did, and
/// its last pass can't have ended after a wait for it returned. With `cpu = gpu + offset`,
///
/// ```text
/// submit begins − first pass begins  ≤  offset  ≤  wait returns − last pass ends
/// ```
///
/// and the frame with the narrowest bound on either side decides for all of them: the offset is the middle of what is left,
/// the uncertainty half of it. Where nothing is left the two clocks don't run equally fast; then a drift is fitted first to
/// the upper bounds (the median of the slopes between the tightest bounds of parts of the run: Theil 1950, Sen 1968).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockAlignment {
    origin_gpu_ns: u64,
    offset_ns: f64,
    drift: f64,
    uncertainty_ns: f64,
    is_contradictory: bool,
    n_frames: usize,
}

/// What one frame says of the offset.
#[derive(Clone, Copy)]
struct Bounds {
    gpu_ns: f64,
    lower_ns: f64,
    upper_ns: f64,
}

/// Parts of the run whose tightest bounds show a drift.
const N_PARTS: usize = 16;

impl ClockAlignment {
    /// The alignment that the spans of `log` allow; `None` without a frame that has both a submission and GPU times.
    pub fn of(log: &FrameLog) -> Option<Self> {
        let in_flight = log.spans().find(names::IN_FLIGHT)?;
        let envelopes: Vec<(Span, Span)> = (0..log.n_frames())
            .filter_map(|frame_idx| Some((in_flight.get(frame_idx)?, gpu_frame(log, frame_idx)?)))
            .collect();
        let origin_gpu_ns = envelopes.first()?.1.begin_ns;
        let bounds: Vec<Bounds> = envelopes.iter().map(|(cpu, gpu)| Bounds::of(*cpu, *gpu, origin_gpu_ns)).collect();
        let constant = Self::fit(&bounds, origin_gpu_ns, 0.0);
        Some(if constant.is_contradictory { Self::fit(&bounds, origin_gpu_ns, drift(&bounds)) } else { constant })
    }

    fn fit(bounds: &[Bounds], origin_gpu_ns: u64, drift: f64) -> Self {
        let lower_ns = bounds.iter().map(|b| b.lower_ns - drift * b.gpu_ns).fold(f64::NEG_INFINITY, f64::max);
        let upper_ns = bounds.iter().map(|b| b.upper_ns - drift * b.gpu_ns).fold(f64::INFINITY, f64::min);
        Self {
            origin_gpu_ns,
            offset_ns: f64::midpoint(lower_ns, upper_ns),
            drift,
            uncertainty_ns: (upper_ns - lower_ns).abs() / 2.0,
            is_contradictory: lower_ns > upper_ns,
            n_frames: bounds.len(),
        }
    }

    /// A time of the GPU's clock on the CPU's, in ns since the run's start; 0 for one before it.
    pub fn cpu_ns(&self, gpu_ns: u64) -> u64 {
        // Differences first: an f64 holds times since boot to a hundred nanoseconds only.
        let since_origin_ns = gpu_ns as i64 - self.origin_gpu_ns as i64;
        let cpu_ns = since_origin_ns as f64 * (1.0 + self.drift) + self.offset_ns;
        cpu_ns.max(0.0).round() as u64
    }

    /// A span of the GPU's clock on the CPU's.
    pub fn cpu_span(&self, gpu: Span) -> Span {
        let begin_ns = self.cpu_ns(gpu.begin_ns);
        Span { begin_ns, end_ns: self.cpu_ns(gpu.end_ns).max(begin_ns) }
    }

    /// How far off the offset may be, either way.
    pub fn uncertainty_ns(&self) -> f64 {
        self.uncertainty_ns
    }

    /// How much faster the CPU's clock runs, in parts per million; 0 where a constant offset explains every frame.
    pub fn drift_ppm(&self) -> f64 {
        self.drift * 1e6
    }

    /// Whether no offset satisfies every frame, even with the drift: the uncertainty is then half of what they disagree by.
    pub fn is_contradictory(&self) -> bool {
        self.is_contradictory
    }

    /// Frames that gave bounds.
    pub fn n_frames(&self) -> usize {
        self.n_frames
    }
}

impl Bounds {
    fn of(cpu: Span, gpu: Span, origin_gpu_ns: u64) -> Self {
        let gpu_ns = |time_ns: u64| (time_ns as i64 - origin_gpu_ns as i64) as f64;
        Self {
            gpu_ns: gpu_ns(gpu.begin_ns),
            lower_ns: cpu.begin_ns as f64 - gpu_ns(gpu.begin_ns),
            upper_ns: cpu.end_ns as f64 - gpu_ns(gpu.end_ns),
        }
    }
}

/// From the first pass's begin to the last pass's end of one frame, on the GPU's clock.
pub(super) fn gpu_frame(log: &FrameLog, frame_idx: usize) -> Option<Span> {
    let passes = log.spans().lines().iter().filter(|line| line.clock == SpanClock::Gpu);
    let whole =
        |all: Span, pass: Span| Span { begin_ns: all.begin_ns.min(pass.begin_ns), end_ns: all.end_ns.max(pass.end_ns) };
    passes.filter_map(|line: &SpanLine| line.get(frame_idx)).reduce(whole)
}

/// The drift, as a slope: the median over all pairs of parts of the run.
fn drift(bounds: &[Bounds]) -> f64 {
    let part_len = bounds.len().div_ceil(N_PARTS).max(1);
    let tightest: Vec<&Bounds> = bounds
        .chunks(part_len)
        .filter_map(|part| part.iter().min_by(|a, b| a.upper_ns.total_cmp(&b.upper_ns)))
        .collect();
    let mut slopes: Vec<f64> = Vec::new();
    for (idx, a) in tightest.iter().enumerate() {
        let later = tightest[idx + 1..].iter().filter(|b| b.gpu_ns > a.gpu_ns);
        slopes.extend(later.map(|b| (b.upper_ns - a.upper_ns) / (b.gpu_ns - a.gpu_ns)));
    }
    slopes.sort_unstable_by(f64::total_cmp);
    super::quantile::quantile_by(slopes.len(), 0.5, |idx| slopes[idx]).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 10 ms, two in flight; the GPU begins 100 µs after submit at the soonest, and waits return 30 µs late.
    fn log_of(n_frames: usize, gpu_from_cpu: impl Fn(u64) -> u64) -> FrameLog {
        let mut log = FrameLog::with_capacity(n_frames);
        let in_flight = log.spans_mut().line(names::IN_FLIGHT, SpanClock::Cpu);
        let passes = ["gpu.cull", "gpu.shade"].map(|name| log.spans_mut().line(name, SpanClock::Gpu));
        for frame in 0..n_frames as u64 {
            let frame_idx = log.begin_frame();
            let begin_ns = 1_000_000 + frame * 10_000_000;
            let delay_ns = 100_000 + frame % 7 * 9_000;
            let middle_ns = begin_ns + 4_000_000;
            let end_ns = begin_ns + 9_000_000;
            let spans = log.spans_mut();
            spans.set(in_flight, frame_idx, begin_ns - delay_ns, end_ns + 30_000 + frame % 5 * 11_000);
            spans.set(passes[0], frame_idx, gpu_from_cpu(begin_ns), gpu_from_cpu(middle_ns));
            spans.set(passes[1], frame_idx, gpu_from_cpu(middle_ns), gpu_from_cpu(end_ns));
        }
        log
    }

    #[test]
    fn measure_alignment_finds_the_offset_within_its_uncertainty() {
        // As some drivers count: nanoseconds since 1970.
        let gpu_from_cpu = |cpu_ns: u64| 1_764_000_000_000_000_000 + cpu_ns;
        let log = log_of(200, gpu_from_cpu);
        let alignment = ClockAlignment::of(&log).expect("there are frames");
        assert!(!alignment.is_contradictory() && alignment.drift_ppm() == 0.0);
        assert_eq!((alignment.uncertainty_ns(), alignment.n_frames()), (65_000.0, 200));
        for cpu_ns in [1_000_000_u64, 500_000_000, 1_999_000_000] {
            let error_ns = alignment.cpu_ns(gpu_from_cpu(cpu_ns)).abs_diff(cpu_ns);
            assert!(error_ns as f64 <= alignment.uncertainty_ns(), "{error_ns}");
        }
    }

    #[test]
    fn measure_alignment_follows_a_clock_that_drifts() {
        // 60 ppm over 20 s are 1.2 ms: far more than the bounds leave.
        let gpu_from_cpu = |cpu_ns: u64| 77_000_000_000 + cpu_ns + cpu_ns * 60 / 1_000_000;
        let alignment = ClockAlignment::of(&log_of(2_000, gpu_from_cpu)).expect("there are frames");
        assert!((alignment.drift_ppm() + 60.0).abs() < 1.0, "{}", alignment.drift_ppm());
        for cpu_ns in [1_000_000_u64, 10_000_000_000, 20_000_000_000] {
            let error_ns = alignment.cpu_ns(gpu_from_cpu(cpu_ns)).abs_diff(cpu_ns);
            assert!(error_ns < 100_000, "{error_ns} ns at {cpu_ns}");
        }
    }

    #[test]
    fn measure_alignment_says_when_frames_contradict_each_other() {
        let mut log = log_of(3, |cpu_ns| cpu_ns);
        let pass = log.spans_mut().line("gpu.shade", SpanClock::Gpu);
        // Ends long after the wait for it returned, whatever the offset.
        log.spans_mut().set(pass, 1, 5_000_000, 900_000_000);
        let alignment = ClockAlignment::of(&log).expect("there are frames");
        assert!(alignment.is_contradictory() && alignment.uncertainty_ns() > 1e6);
        assert_eq!(ClockAlignment::of(&FrameLog::default()), None);
    }
}
