//! Hybrid waits beside a simulated GPU, in simulated time.

use std::convert::Infallible;

use super::super::stepped::{Stepped, wait_in_steps};
use super::*;

/// What waiting costs on a machine, in ns.
#[derive(Clone, Copy)]
struct Costs {
    /// From a frame's end to the return of a thread that was blocked for it.
    wake_ns: u64,
    /// How late the driver's blocking until a time ends: from three quarters of it to all.
    late_ns: u64,
    /// The same of the system's sleep.
    sleep_late_ns: u64,
    poll_ns: u64,
}

const DESKTOP: Costs = Costs { wake_ns: 25_000, late_ns: 70_000, sleep_late_ns: 90_000, poll_ns: 650 };

/// 0 to 1, the same each run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }

    fn up_to(&mut self, most: u64) -> u64 {
        (self.next() * most as f64) as u64
    }
}

/// The oldest submission of a simulated GPU.
struct Simulated<'a> {
    now_ns: u64,
    end_ns: u64,
    costs: Costs,
    noise: &'a mut Noise,
    n_polls: u64,
    n_clock_reads: u64,
}

impl Stepped for Simulated<'_> {
    type Error = Infallible;

    fn now_ns(&mut self) -> u64 {
        self.n_clock_reads += 1;
        self.now_ns
    }

    fn block(&mut self) -> Result<(), Infallible> {
        if self.end_ns > self.now_ns {
            self.now_ns = self.end_ns + self.costs.wake_ns / 2 + self.noise.up_to(self.costs.wake_ns);
        }
        Ok(())
    }

    fn block_for_ns(&mut self, longest_ns: u64, by: Sleep) -> Result<bool, Infallible> {
        let until_ns = self.now_ns + longest_ns;
        if by == Sleep::Driver && self.end_ns <= until_ns {
            self.block()?;
            return Ok(true);
        }
        let late_ns = if by == Sleep::Driver { self.costs.late_ns } else { self.costs.sleep_late_ns };
        self.now_ns = until_ns + 3 * late_ns / 4 + self.noise.up_to(late_ns / 4);
        Ok(by == Sleep::Driver && self.end_ns <= self.now_ns)
    }

    fn poll(&mut self) -> Result<bool, Infallible> {
        let is_done = self.end_ns <= self.now_ns;
        self.now_ns += self.costs.poll_ns;
        self.n_polls += 1;
        Ok(is_done)
    }
}

/// One wait as it went.
#[derive(Clone, Copy, Debug)]
struct Waited {
    overshoot_ns: u64,
    is_on_arrival: bool,
    spun_ns: u64,
    n_polls: u64,
    n_clock_reads: u64,
}

/// Two frames in flight, each `cpu_ns` long on the CPU, and on the GPU what `gpu_ns` says.
fn waits(
    hybrid: &mut HybridWait,
    n_frames: usize,
    costs: Costs,
    cpu_ns: u64,
    gpu_ns: impl Fn(usize, f64) -> u64,
) -> Vec<Waited> {
    let mut noise = Noise(3);
    let (mut now_ns, mut submitted, mut ends) = (1_000_000, Vec::new(), Vec::<u64>::new());
    let mut waits = Vec::with_capacity(n_frames);
    for n in 0..n_frames {
        if n >= 2 {
            let end_ns = ends[n - 2];
            let mut submission = Simulated { now_ns, end_ns, costs, noise: &mut noise, n_polls: 0, n_clock_reads: 0 };
            let Ok(()) = wait_in_steps(hybrid, submitted[n - 2], &mut submission);
            assert!(submission.now_ns >= end_ns, "it returned before the frame was done");
            waits.push(Waited {
                overshoot_ns: submission.now_ns - end_ns.max(now_ns),
                is_on_arrival: end_ns <= now_ns,
                spun_ns: submission.n_polls * costs.poll_ns,
                n_polls: submission.n_polls,
                n_clock_reads: submission.n_clock_reads,
            });
            now_ns = submission.now_ns;
        }
        now_ns += cpu_ns;
        submitted.push(now_ns);
        let noise = noise.next();
        ends.push(ends.last().map_or(now_ns, |&end_ns: &u64| end_ns.max(now_ns)) + gpu_ns(n, noise));
    }
    waits
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values[values.len() / 2]
}

fn overshoot(waits: &[Waited]) -> u64 {
    median(waits.iter().map(|wait| wait.overshoot_ns))
}

fn spun(waits: &[Waited]) -> u64 {
    waits.iter().map(|wait| wait.spun_ns).sum::<u64>() / waits.len() as u64
}

const MAX_SPIN_NS: u64 = 300_000;

#[test]
fn pacing_hybrid_is_as_timely_as_spin_for_little_of_its_time() {
    // 20 ms frames that differ by 40 µs, and a scene that drifts.
    let gpu_ns = |n: usize, noise: f64| 20_000_000 + 400 * n as u64 + (noise * 40_000.0) as u64;
    let mut hybrid = HybridWait::new(MAX_SPIN_NS, None);
    let waits = waits(&mut hybrid, 1_000, DESKTOP, 500_000, gpu_ns);
    let settled = &waits[30..];
    // A spinning wait overshoots by up to a poll.
    assert!(overshoot(settled) < DESKTOP.poll_ns + 5_000, "{} ns", overshoot(settled));
    let spin_ns = 19_500_000;
    assert!(spun(settled) < spin_ns * 15 / 1_000, "{} ns of {spin_ns}", spun(settled));
    let n_late = settled.iter().filter(|wait| wait.overshoot_ns > 5_000).count();
    assert!(n_late < settled.len() / 20, "{n_late} of {} missed", settled.len());
    let outcomes = hybrid.outcomes();
    assert_eq!(outcomes.n_on_arrival, waits.iter().filter(|wait| wait.is_on_arrival).count() as u64, "{outcomes:?}");
    let n_waited = outcomes.n_caught + outcomes.n_early + outcomes.n_late + outcomes.n_blocked;
    assert_eq!(outcomes.n_on_arrival + n_waited, waits.len() as u64, "{outcomes:?}");
    assert!(outcomes.n_caught > n_waited * 9 / 10, "{outcomes:?}");
}

#[test]
fn pacing_hybrid_never_spins_beyond_its_cap_nor_reads_the_clock_often() {
    for poll_ns in [150, 650, 4_000, 40_000] {
        for max_spin_ns in [50_000, 100_000, 300_000] {
            let costs = Costs { poll_ns, ..DESKTOP };
            for spread_ns in [0.0, 100_000.0, 1_000_000.0, 15_000_000.0] {
                let gpu_ns = |_: usize, noise: f64| 5_000_000 + (noise * spread_ns) as u64;
                let waits = waits(&mut HybridWait::new(max_spin_ns, None), 600, costs, 300_000, gpu_ns);
                // The first wait tries what a poll takes.
                for wait in &waits[1..] {
                    assert!(wait.spun_ns <= max_spin_ns + poll_ns, "{wait:?} of {max_spin_ns}");
                    assert!(wait.n_clock_reads <= 4 + wait.n_polls / u64::from(POLLS_PER_CLOCK), "{wait:?}");
                }
            }
        }
    }
}

#[test]
fn pacing_hybrid_blocks_when_frames_end_anywhere_and_comes_back() {
    let is_wild = |n: usize| (500..2_500).contains(&n);
    let gpu_ns = |n: usize, noise: f64| if is_wild(n) { 4_000_000 + (noise * 16e6) as u64 } else { 8_000_000 };
    let mut hybrid = HybridWait::new(MAX_SPIN_NS, None);
    let waits = waits(&mut hybrid, 6_000, DESKTOP, 300_000, gpu_ns);
    assert!(overshoot(&waits[50..490]) < 5_000);
    assert!(hybrid.outcomes().n_blocked > 1_000, "{:?}", hybrid.outcomes());
    assert!(spun(&waits[700..2_490]) < MAX_SPIN_NS / 8, "{} ns a frame for nothing", spun(&waits[700..2_490]));
    assert!(overshoot(&waits[2_490 + 1_100..]) < 5_000, "it tries again after the longest rest");
}

#[test]
fn pacing_hybrid_follows_a_step_and_back() {
    let gpu_ns = |n: usize, noise: f64| {
        let base_ns = if (300..600).contains(&n) { 5_000_000 } else { 20_000_000 };
        base_ns + (noise * 30_000.0) as u64
    };
    let waits = waits(&mut HybridWait::new(MAX_SPIN_NS, None), 1_000, DESKTOP, 300_000, gpu_ns);
    for settled in [&waits[50..298], &waits[420..598], &waits[720..]] {
        assert!(overshoot(settled) < 5_000, "{} ns", overshoot(settled));
    }
}

#[test]
fn pacing_hybrid_wastes_nothing_on_frames_that_are_done() {
    // The CPU is the slower one.
    let waits = waits(&mut HybridWait::new(MAX_SPIN_NS, None), 500, DESKTOP, 9_000_000, |_, _| 3_000_000);
    assert!(waits.iter().all(|wait| wait.is_on_arrival && wait.n_polls <= 1), "{waits:?}");
    assert!(waits.iter().all(|wait| wait.overshoot_ns <= DESKTOP.poll_ns));
}

#[test]
fn pacing_hybrid_learns_how_late_this_machine_wakes() {
    for late_ns in [2_000, 70_000, 180_000] {
        let costs = Costs { late_ns, ..DESKTOP };
        let waits = waits(&mut HybridWait::new(MAX_SPIN_NS, None), 500, costs, 300_000, |_, _| 16_000_000);
        let settled = &waits[60..];
        assert!(overshoot(settled) < 5_000, "late by {late_ns}: {} ns", overshoot(settled));
        assert!(spun(settled) < late_ns + 100_000, "late by {late_ns}: it spins {} ns", spun(settled));
    }
}

#[test]
fn pacing_hybrid_finds_the_way_to_sleep_that_is_of_use() {
    // One wakes a millisecond late, more or less; the other as it should.
    for (late_ns, sleep_late_ns) in [(2_000_000, 80_000), (80_000, 2_000_000)] {
        let costs = Costs { late_ns, sleep_late_ns, ..DESKTOP };
        let gpu_ns = |_: usize, noise: f64| 16_000_000 + (noise * 20_000.0) as u64;
        let mut hybrid = HybridWait::new(MAX_SPIN_NS, None);
        let waits = waits(&mut hybrid, 800, costs, 300_000, gpu_ns);
        assert!(overshoot(&waits[300..]) < 5_000, "{late_ns}, {sleep_late_ns}: {} ns", overshoot(&waits[300..]));

        // With no choice it blocks, and spins next to nothing.
        let fixed = if late_ns > sleep_late_ns { Sleep::Driver } else { Sleep::System };
        let waits = self::waits(&mut HybridWait::new(MAX_SPIN_NS, Some(fixed)), 800, costs, 300_000, gpu_ns);
        assert!(spun(&waits[300..]) < MAX_SPIN_NS / 8, "{fixed:?}: {} ns", spun(&waits[300..]));
    }
}

#[test]
fn pacing_hybrid_with_a_cap_below_its_lateness_still_catches() {
    // Late, but always by nearly as much: that can be allowed for.
    let gpu_ns = |_: usize, noise: f64| 16_000_000 + (noise * 4_000.0) as u64;
    let waits = waits(&mut HybridWait::new(50_000, None), 800, DESKTOP, 300_000, gpu_ns);
    assert!(overshoot(&waits[100..]) < 5_000, "{} ns", overshoot(&waits[100..]));
}
