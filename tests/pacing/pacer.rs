//! The latency pacer in a simulated window: a GPU that takes one frame after another, a display that shows one finished
//! picture a refresh, a surface of three textures whose acquire blocks until one is free, and sleeps that end late.

use std::collections::VecDeque;

use praxis::pacing::{LatencyPacer, PacerOptions, PacerPhase};
use proptest::prelude::*;

const N_IN_FLIGHT: usize = 2;
const N_IMAGES: usize = 3;

/// Refreshes whose rate may change once.
#[derive(Clone, Copy)]
struct Display {
    period_ns: f64,
    changed_ns: f64,
    period_after_ns: f64,
}

impl Display {
    fn of(hz: f64) -> Self {
        Self { period_ns: 1e9 / hz, changed_ns: f64::INFINITY, period_after_ns: 1e9 / hz }
    }

    fn at_or_after(&self, ns: f64) -> f64 {
        // Not at 0, so that nothing is right by chance.
        let phase_ns = 3_210_123.0;
        let first = phase_ns + ((ns - phase_ns) / self.period_ns).ceil() * self.period_ns;
        if first <= self.changed_ns {
            return first;
        }
        let since = (ns.max(self.changed_ns) - self.changed_ns) / self.period_after_ns;
        self.changed_ns + since.ceil() * self.period_after_ns
    }

    fn period_ns_at(&self, ns: f64) -> f64 {
        if ns < self.changed_ns { self.period_ns } else { self.period_after_ns }
    }
}

#[derive(Clone, Copy, Debug)]
struct Shown {
    started_ns: f64,
    finished_ns: f64,
    shown_ns: f64,
    phase: Option<PacerPhase>,
    n_in_flight: usize,
}

impl Shown {
    fn latency_ns(&self) -> f64 {
        self.shown_ns - self.started_ns
    }
}

/// 0 to 1, the same each run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }
}

/// What the frames cost, in ns: CPU and GPU of frame `n`.
type Load<'a> = &'a dyn Fn(usize, f64) -> (f64, f64);

/// Runs `n_frames` of a window; without a pacer it is the plain path.
fn window(display: Display, n_frames: usize, mut pacer: Option<&mut LatencyPacer>, load: Load) -> Vec<Shown> {
    let mut frames: Vec<Shown> = Vec::with_capacity(n_frames);
    let mut gpu_times_ns = Vec::with_capacity(n_frames);
    let mut in_flight: VecDeque<usize> = VecDeque::new();
    let mut noise = Noise(7);
    let mut now = 0.0;
    for n in 0..n_frames {
        while in_flight.len() >= N_IN_FLIGHT {
            let oldest = in_flight.pop_front().expect("the ring is full");
            now = f64::max(now, frames[oldest].finished_ns + 20e3);
            if let Some(pacer) = &mut pacer {
                pacer.frame_finished(oldest as u64, gpu_times_ns[oldest] as u64);
            }
        }
        if let Some(pacer) = &mut pacer {
            let start_ns = pacer.next_start_ns(now as u64);
            assert!(start_ns >= now as u64);
            assert!(start_ns as f64 <= now + 3.0 * display.period_ns_at(now).max(display.period_ns) + 60e6, "starved");
            if start_ns as f64 > now {
                now = start_ns as f64 + 30e3 * noise.next();
            }
            pacer.frame_started(n as u64, now as u64);
        }
        let started_ns = now;
        let n_in_flight = frames.iter().rev().take(8).filter(|frame| frame.finished_ns > started_ns).count();
        let (cpu_ns, gpu_ns) = load(n, noise.next());
        now += cpu_ns;

        // The texture of the frame three before is free once the frame after that one is on the screen.
        let call_started = now;
        now += 15e3;
        if n >= N_IMAGES {
            let free_ns = frames[n + 1 - N_IMAGES].shown_ns;
            if free_ns > now {
                now = free_ns + 20e3 + 60e3 * noise.next();
            }
        }
        if let Some(pacer) = &mut pacer {
            pacer.call_ended(call_started as u64, now as u64);
        }
        now += 20e3;
        if let Some(pacer) = &mut pacer {
            pacer.frame_submitted(n as u64, now as u64);
        }
        let free_ns = frames.last().map_or(0.0, |frame| frame.finished_ns);
        let finished_ns = f64::max(free_ns, now + 40e3) + gpu_ns;
        let earliest = frames.last().map_or(0.0, |frame| frame.shown_ns + 1e3);
        let shown_ns = display.at_or_after(f64::max(finished_ns, earliest));
        let phase = pacer.as_ref().map(|pacer| pacer.phase());
        frames.push(Shown { started_ns, finished_ns, shown_ns, phase, n_in_flight });
        gpu_times_ns.push(gpu_ns);
        in_flight.push_back(n);
        if let Some(pacer) = &mut pacer {
            pacer.call_ended(now as u64, now as u64 + 25_000);
        }
        now += 25e3;
    }
    frames
}

fn pacer(refresh_hz: Option<f64>) -> LatencyPacer {
    LatencyPacer::new(PacerOptions { n_frames_in_flight: N_IN_FLIGHT, n_images: N_IMAGES as u32, refresh_hz })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Frames a second that reached the display.
fn rate_hz(frames: &[Shown]) -> f64 {
    let (first, last) = (frames.first().expect("frames"), frames.last().expect("frames"));
    (frames.len() - 1) as f64 * 1e9 / (last.shown_ns - first.shown_ns)
}

#[test]
fn pacing_pacer_shows_fresher_frames_at_every_rate() {
    for hz in [60.0, 90.0, 120.0, 144.0, 165.0] {
        let display = Display::of(hz);
        // A third of the refresh for the GPU, with 10% of jitter: there is slack.
        let load = |_: usize, noise: f64| (0.1e9 / hz, (0.3 + 0.03 * noise) * 1e9 / hz);
        for hint in [Some(hz), None] {
            let mut pacer = pacer(hint);
            let paced = window(display, 2_000, Some(&mut pacer), &load);
            let plain = window(display, 2_000, None, &load);
            let latency_ns = median(paced[100..].iter().map(Shown::latency_ns));
            let plain_ns = median(plain[100..].iter().map(Shown::latency_ns));
            assert!(plain_ns > 1.5 * display.period_ns, "the plain path queues: {plain_ns}");
            assert!(latency_ns < 0.75 * display.period_ns, "{hz} Hz: {latency_ns} ns, plain {plain_ns} ns");
            assert!(rate_hz(&paced[100..]) > 0.99 * hz, "{hz} Hz: {} shown", rate_hz(&paced[100..]));
            assert!(pacer.n_missed() < 10, "{hz} Hz: {} missed", pacer.n_missed());
        }
    }
}

#[test]
fn pacing_pacer_converges_within_thirty_frames() {
    for hz in [60.0, 144.0] {
        let load = |_: usize, noise: f64| (1e6, (0.3 + 0.05 * noise) * 1e9 / hz);
        let paced = window(Display::of(hz), 60, Some(&mut pacer(Some(hz))), &load);
        assert!(paced[30..].iter().all(|frame| frame.phase == Some(PacerPhase::Pacing)), "{hz} Hz");
        assert!(paced[30..].iter().all(|frame| frame.latency_ns() < 1e9 / hz), "{hz} Hz");
    }
}

#[test]
fn pacing_pacer_follows_a_gpu_step_and_back() {
    let display = Display::of(60.0);
    let load = |n: usize, noise: f64| {
        let gpu_ns = if (600..1_200).contains(&n) { 25e6 } else { 5e6 };
        (1.5e6, gpu_ns * (1.0 + 0.02 * noise))
    };
    let mut pacer = pacer(Some(60.0));
    let paced = window(display, 2_400, Some(&mut pacer), &load);
    let plain = window(display, 2_400, None, &load);

    // 25 ms don't fit: as many frames as without a pacer, and none of them later.
    let (slow, slow_plain) = (&paced[700..1_200], &plain[700..1_200]);
    assert!(rate_hz(slow) > 0.97 * rate_hz(slow_plain), "{} of {}", rate_hz(slow), rate_hz(slow_plain));
    let latency_ns = median(slow.iter().map(Shown::latency_ns));
    let plain_ns = median(slow_plain.iter().map(Shown::latency_ns));
    assert!(latency_ns < plain_ns, "{latency_ns} ns, plain {plain_ns} ns");

    // And back: within a second as fresh as before.
    let before_ns = median(paced[100..600].iter().map(Shown::latency_ns));
    let after_ns = median(paced[1_320..1_600].iter().map(Shown::latency_ns));
    assert!(after_ns < before_ns + 3e6, "{after_ns} ns, before {before_ns} ns");
    assert!(rate_hz(&paced[1_260..]) > 0.98 * 60.0);
}

#[test]
fn pacing_pacer_backs_off_at_a_miss_and_recovers_slowly() {
    // One frame in 150 takes the GPU 12 ms longer than told by those before it.
    let load = |n: usize, _: f64| (1e6, if n % 150 == 149 { 17e6 } else { 5e6 });
    let mut pacer = pacer(Some(60.0));
    let paced = window(Display::of(60.0), 100, Some(&mut pacer), &load);
    assert_eq!(pacer.n_missed(), 0);
    let margin_ns = pacer.margin_ns();

    let paced_on = window(Display::of(60.0), 155, Some(&mut self::pacer(Some(60.0))), &load);
    assert!(paced_on[149].shown_ns - paced_on[149].started_ns > 17e6);
    let mut pacer = self::pacer(Some(60.0));
    window(Display::of(60.0), 153, Some(&mut pacer), &load);
    assert!(pacer.n_missed() >= 1);
    assert!(pacer.margin_ns() > margin_ns * 3 / 2, "{} ns after a miss, {margin_ns} before", pacer.margin_ns());
    let backed_off_ns = pacer.margin_ns();

    // Every frame goes on being shown, and no queue stays behind the missed one.
    let all = window(Display::of(60.0), 1_500, Some(&mut self::pacer(Some(60.0))), &load);
    assert!(rate_hz(&all[100..]) > 0.97 * 60.0, "{}", rate_hz(&all[100..]));
    let n_queued = all[100..].iter().filter(|frame| frame.latency_ns() > 2.0 / 60.0 * 1e9).count();
    assert!(n_queued < all.len() / 20, "{n_queued} of {} frames queued", all.len());
    assert!(paced.len() == 100 && backed_off_ns <= 1_000_000_000 / 120);
}

#[test]
fn pacing_pacer_notices_another_monitor() {
    for (before_hz, after_hz) in [(144.0, 60.0), (60.0, 144.0)] {
        let display = Display { period_ns: 1e9 / before_hz, changed_ns: 6e9, period_after_ns: 1e9 / after_hz };
        let load = |_: usize, noise: f64| (0.5e6, 2e6 + 0.2e6 * noise);
        // Nobody tells the pacer, and there is no hint.
        let mut untold = pacer(None);
        let paced = window(display, 4_000, Some(&mut untold), &load);
        let latest: Vec<&Shown> = paced.iter().filter(|frame| frame.started_ns > 16e9).collect();
        assert!(latest.len() > 300);
        let latency_ns = median(latest.iter().map(|frame| frame.latency_ns()));
        assert!(latency_ns < 0.9e9 / after_hz, "{before_hz} to {after_hz} Hz: {latency_ns} ns");
        let period_ns = untold.refresh_period_ns().expect("it found one") as f64;
        assert!((period_ns * after_hz / 1e9 - 1.0).abs() < 0.01, "{before_hz} to {after_hz} Hz: {period_ns} ns");
    }
}

#[test]
fn pacing_pacer_delays_nothing_where_nothing_blocks() {
    // Immediate: calls are short. And without GPU times it can't tell how late is late enough.
    let mut unblocked = pacer(Some(60.0));
    let mut untimed = pacer(Some(60.0));
    for n in 0..500u64 {
        let now_ns = n * 3_000_000;
        assert_eq!(unblocked.next_start_ns(now_ns), now_ns);
        unblocked.frame_started(n, now_ns);
        unblocked.call_ended(now_ns + 1_000, now_ns + 30_000);
        unblocked.frame_submitted(n, now_ns + 1_000_000);
        unblocked.frame_finished(n, 1_000_000);

        let now_ns = n * 16_666_667;
        assert_eq!(untimed.next_start_ns(now_ns), now_ns);
        untimed.frame_started(n, now_ns);
        untimed.call_ended(now_ns + 1_000, now_ns + 9_000_000);
        untimed.frame_submitted(n, now_ns + 9_100_000);
    }
    assert_eq!(unblocked.phase(), PacerPhase::Syncing);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// Whatever the rate and the load: never more frames in flight than the ring allows, no frame lost that the plain
    /// path would have shown, and no later than on it.
    #[test]
    fn pacing_pacer_is_never_much_worse_than_no_pacer(
        hz in 50.0f64..170.0,
        cpu_share in 0.02f64..0.6,
        gpu_share in 0.05f64..2.0,
        jitter in 0.0f64..0.3,
        has_hint in any::<bool>(),
    ) {
        let load = |_: usize, noise: f64| (cpu_share * 1e9 / hz, gpu_share * (1.0 + jitter * noise) * 1e9 / hz);
        let mut pacer = pacer(has_hint.then_some(hz));
        let paced = window(Display::of(hz), 1_200, Some(&mut pacer), &load);
        let plain = window(Display::of(hz), 1_200, None, &load);
        for frame in &paced {
            prop_assert!(frame.n_in_flight <= N_IN_FLIGHT, "{} in flight", frame.n_in_flight);
        }
        let (paced, plain) = (&paced[100..], &plain[100..]);
        prop_assert!(rate_hz(paced) > 0.97 * rate_hz(plain), "{} Hz, plain {}", rate_hz(paced), rate_hz(plain));
        let latency_ns = median(paced.iter().map(Shown::latency_ns));
        let plain_ns = median(plain.iter().map(Shown::latency_ns));
        prop_assert!(latency_ns <= plain_ns + 0.02e9 / hz, "{latency_ns} ns, plain {plain_ns}");
    }
}
