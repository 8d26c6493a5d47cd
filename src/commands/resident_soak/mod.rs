//! `praxis resident-soak`: random operations through a resident worker, each checked against the CPU, under stops, full rings,
//! killed kernels and re-arms.

mod memory;
mod mirror;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use praxis::gpu::{GpuOptions, choose_adapter, instance};
use praxis::measure::statistics::SplitMix64;
use praxis::resident::{Answer, Config, Fault, OperationError, ResidentWorker, Ticket};
use serde::Serialize;
use serde_json::json;

use super::{Outcome, interruption, terminal};
use crate::cli::ResidentSoakArgs;
use memory::Memory;
use mirror::{Expected, Mirror, Place};

/// Without an answer for so long, the soak hangs.
const HANG: Duration = Duration::from_secs(120);
/// Sizes of rings.
const RINGS: [usize; 4] = [2, 4, 16, 64];

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
struct Tally {
    n_ops: u64,
    n_chains: u64,
    /// Results that differ from the CPU's.
    n_wrong: u64,
    /// Chains that were never answered, or whose effect is missing.
    n_lost: u64,
    /// Chains whose effect is there twice.
    n_run_twice: u64,
    /// Chains that a killed kernel had begun, and that said so.
    n_interrupted: u64,
    /// Chains whose arrays an interrupted one had left in any state.
    n_unchecked: u64,
    n_kills: u64,
    n_restarts: u64,
    n_launches: u64,
    n_pauses: u64,
    /// Submissions that found the ring full.
    n_full: u64,
    n_reads: u64,
    first_fault: Option<String>,
    /// What ended the soak before its time: a worker that was lost, or couldn't be started again.
    ended_by: Option<String>,
    /// By Ctrl-C: the figures are not the whole time's.
    is_interrupted: bool,
}

/// Runs it.
pub fn run(args: &ResidentSoakArgs) -> anyhow::Result<Outcome> {
    let is_interrupted = interruption::listen(Duration::from_secs(5), "interrupted")?;
    let instance = instance(&GpuOptions::default());
    let options = GpuOptions { adapter: args.adapter.clone(), ..GpuOptions::default() };
    let adapter = choose_adapter(&instance, &options, None)?;
    terminal::note(args.quiet, &format!("soaking a resident worker on {}", adapter.get_info().name));
    let progress = Arc::new(AtomicU64::new(0));
    watch_for_hangs(progress.clone());

    // Where there can be no worker there is nothing to soak; where one was, whatever ends it is what the soak is there to find.
    let mut soak = Soak::new(args, progress);
    let config = soak.config();
    let first = ResidentWorker::start(&instance, &adapter, &config)?;
    // A kernel's first compilation is no part of the soak.
    let started = Instant::now();
    if let Err(error) = soak.run_workers(&instance, &adapter, first, started, &is_interrupted) {
        soak.tally.ended_by = Some(format!("{error:#}"));
    }
    let took = started.elapsed();
    soak.tally.is_interrupted = is_interrupted.load(Ordering::Relaxed);
    let outcome = report(&soak, took, args)?;
    // Whoever reads the figures must not take them for the whole time's.
    let is_cut_short = soak.tally.is_interrupted && !matches!(outcome, Outcome::CheckFailed);
    anyhow::ensure!(!is_cut_short, "interrupted after {:.0} s", took.as_secs_f64());
    Ok(outcome)
}

struct Soak<'a> {
    args: &'a ResidentSoakArgs,
    random: SplitMix64,
    tally: Tally,
    progress: Arc<AtomicU64>,
    memory: Memory,
}

/// A chain whose answer is awaited.
struct InFlight {
    ticket: Ticket,
    expected: Expected,
}

impl<'a> Soak<'a> {
    fn new(args: &'a ResidentSoakArgs, progress: Arc<AtomicU64>) -> Self {
        let (random, tally, memory) = (SplitMix64::new(args.seed), Tally::default(), Memory::default());
        Self { args, random, tally, progress, memory }
    }

    /// One worker after another, beginning with `first`, until it is time.
    fn run_workers(
        &mut self,
        instance: &wgpu::Instance,
        adapter: &wgpu::Adapter,
        first: ResidentWorker,
        started: Instant,
        is_interrupted: &AtomicBool,
    ) -> anyhow::Result<()> {
        let until = started + Duration::from_secs(self.args.seconds);
        let measured = first.measured();
        let us = measured.first_trips_ns.iter().min().map_or(0.0, |ns| *ns as f64 / 1e3);
        terminal::note(
            self.args.quiet,
            &format!("workgroups at a time: {}; first round trips {us:.1} µs at best", measured.n_workgroups),
        );
        let mut worker = first;
        loop {
            let is_over = self.run_worker(&worker, until, is_interrupted)?;
            self.tally.n_launches += u64::from(worker.status().n_launches);
            if is_over || self.is_over(until, is_interrupted) {
                return Ok(());
            }
            self.tally.n_restarts += 1;
            let config = self.config();
            // Before the next one opens a device of its own.
            drop(worker);
            worker = ResidentWorker::start(instance, adapter, &config)?;
        }
    }

    fn is_over(&self, until: Instant, is_interrupted: &AtomicBool) -> bool {
        let is_enough = self.args.ops.is_some_and(|n_ops| self.tally.n_ops >= n_ops);
        is_enough || Instant::now() >= until || is_interrupted.load(Ordering::Relaxed)
    }

    /// Whether every kernel was compiled that will be: what compilers keep is no part of the soak either.
    fn is_warm(&self) -> bool {
        let has_all = self.args.no_faults || self.tally.n_restarts as usize + 1 >= RINGS.len();
        has_all && self.tally.n_ops > 20_000
    }

    fn config(&mut self) -> Config {
        let mut config = Config {
            arena_bytes: 4 << 20,
            readback_bytes: 64 << 10,
            user_operation: Some(mirror::USER_OPERATION.into()),
            ..Config::default()
        };
        if !self.args.no_faults {
            config.has_fault_injection = true;
            // Each is a kernel of its own, which a driver may have to compile: first each of them once.
            config.n_slots = match RINGS.get(self.tally.n_restarts as usize) {
                Some(n_slots) => *n_slots,
                None => RINGS[self.random.below(RINGS.len())],
            };
            config.kernel_time = Duration::from_millis(5 + self.random.below(50) as u64);
            config.idle_time = Some(Duration::from_millis(1 + self.random.below(10) as u64));
        }
        config
    }

    /// Random chains on one worker until it is time for another, or for the end; whether it is.
    fn run_worker(
        &mut self,
        worker: &ResidentWorker,
        until: Instant,
        is_interrupted: &AtomicBool,
    ) -> anyhow::Result<bool> {
        let mut mirror = Mirror::new(worker, &mut self.random)?;
        let restart_at = Instant::now() + Duration::from_millis(2_000 + self.random.below(4_000) as u64);
        // More than the ring holds: answers are kept while nobody takes them.
        let n_most = if self.args.no_faults { 48 } else { 1 + self.random.below(100) };
        let mut in_flight: VecDeque<InFlight> = VecDeque::new();
        let mut dirty: HashSet<Place> = HashSet::new();
        for turn in 1u64.. {
            if turn.is_multiple_of(256) {
                if self.is_warm() {
                    self.memory.look();
                }
                let is_over = self.is_over(until, is_interrupted);
                if is_over || (!self.args.no_faults && Instant::now() >= restart_at) {
                    // A random share is still in the ring when it is told to stop.
                    worker.stop();
                    self.drain(&mut in_flight, &mut dirty)?;
                    return Ok(is_over);
                }
            }
            self.disturb(worker);
            let (submitted, expected) =
                mirror.chain(&mut self.random, |operations, _| match worker.try_submit(operations) {
                    Err(OperationError::Full) => (true, worker.submit(operations)),
                    submitted => (false, submitted),
                });
            self.tally.n_full += u64::from(submitted.0);
            in_flight.push_back(InFlight { ticket: submitted.1?, expected });
            while in_flight.len() > n_most {
                self.collect(&mut in_flight, &mut dirty)?;
            }
            if !dirty.is_empty() || self.random.below(4096) == 0 {
                self.drain(&mut in_flight, &mut dirty)?;
                for place in dirty.drain() {
                    mirror.rewrite(worker, place, &mut self.random)?;
                }
                self.check_read(worker, &mirror)?;
            }
        }
        Ok(true)
    }

    /// Now and then a killed kernel, or a pause in which it parks.
    fn disturb(&mut self, worker: &ResidentWorker) {
        if self.args.no_faults {
            return;
        }
        if self.args.lose_device && self.tally.n_chains == 1_000 {
            worker.inject(Fault::LoseDevice);
        }
        match self.random.below(20_000) {
            0 => {
                worker.inject(Fault::KillKernel);
                self.tally.n_kills += 1;
            }
            1 => {
                std::thread::sleep(Duration::from_millis(self.random.below(30) as u64));
                self.tally.n_pauses += 1;
            }
            _ => {}
        }
    }

    fn drain(&mut self, in_flight: &mut VecDeque<InFlight>, dirty: &mut HashSet<Place>) -> anyhow::Result<()> {
        while !in_flight.is_empty() {
            self.collect(in_flight, dirty)?;
        }
        Ok(())
    }

    /// The oldest chain's answer, against what it must be.
    fn collect(&mut self, in_flight: &mut VecDeque<InFlight>, dirty: &mut HashSet<Place>) -> anyhow::Result<()> {
        let Some(InFlight { ticket, expected }) = in_flight.pop_front() else { return Ok(()) };
        let number = ticket.number();
        let answer = ticket.wait();
        self.progress.fetch_add(1, Ordering::Relaxed);
        self.tally.n_chains += 1;
        self.tally.n_ops += expected.n_ops;
        match answer {
            Ok(answer) => {
                let touched = expected.reads.iter().chain(&expected.writes);
                if touched.into_iter().any(|place| dirty.contains(place)) {
                    self.tally.n_unchecked += 1;
                    dirty.extend(&expected.writes);
                } else {
                    self.check(number, &answer, &expected);
                }
            }
            Err(OperationError::Interrupted { .. }) if !self.args.no_faults => {
                self.tally.n_interrupted += 1;
                dirty.extend(&expected.writes);
            }
            Err(error) => {
                self.tally.n_lost += 1;
                self.fault(format!("ticket {number}: {error}"));
                anyhow::bail!("ticket {number}: {error}");
            }
        }
        Ok(())
    }

    fn check(&mut self, number: u64, answer: &Answer, expected: &Expected) {
        for (step, bits) in &expected.sums {
            let Some(found) = answer.sum(*step) else { continue };
            if found.to_bits() == *bits {
                continue;
            }
            let wanted = f32::from_bits(*bits);
            match expected.tally {
                Some(tally) if tally == *step && found > wanted => self.tally.n_run_twice += 1,
                Some(tally) if tally == *step => self.tally.n_lost += 1,
                _ => self.tally.n_wrong += 1,
            }
            self.fault(format!("ticket {number}, step {step}: the sum is {found}, not {wanted}"));
        }
        for (step, count) in &expected.counts {
            if answer.count(*step) != Some(*count) {
                self.tally.n_wrong += 1;
                self.fault(format!("ticket {number}, step {step}: kept {:?}, not {count}", answer.count(*step)));
            }
        }
    }

    /// A whole array, element by element.
    fn check_read(&mut self, worker: &ResidentWorker, mirror: &Mirror) -> anyhow::Result<()> {
        let place = mirror.any(&mut self.random);
        let read = match worker.read(mirror.array(place)) {
            Ok(read) => read,
            // The kernel was killed while it copied: nothing is lost, the caller has been told.
            Err(OperationError::Interrupted { .. }) if !self.args.no_faults => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.tally.n_reads += 1;
        let differs = read.iter().zip(mirror.values(place)).position(|(a, b)| a.to_bits() != b.to_bits());
        if let Some(idx) = differs {
            self.tally.n_wrong += 1;
            let (found, wanted) = (read[idx], mirror.values(place)[idx]);
            self.fault(format!("array {place:?} has {found} at {idx}, not {wanted}"));
        }
        Ok(())
    }

    fn fault(&mut self, text: String) {
        self.tally.first_fault.get_or_insert(text);
    }
}

/// Ends the program where nothing moves any more: nobody else could.
fn watch_for_hangs(progress: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = progress.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > HANG {
                terminal::note(false, &format!("praxis: hangs: no answer for {} s after {now} chains", HANG.as_secs()));
                std::process::exit(3);
            }
        }
    });
}

fn report(soak: &Soak, took: Duration, args: &ResidentSoakArgs) -> anyhow::Result<Outcome> {
    let tally = &soak.tally;
    let (rss, has_grown) = (soak.memory.quarters(), soak.memory.has_grown());
    let rate = tally.n_ops as f64 / took.as_secs_f64();
    let is_bad =
        tally.n_wrong + tally.n_lost + tally.n_run_twice > 0 || has_grown == Some(true) || tally.ended_by.is_some();
    if args.json {
        let mut document = json!(tally);
        document["schema"] = json!("praxis.resident-soak/1");
        document["seed"] = json!(args.seed);
        document["has_faults"] = json!(!args.no_faults);
        document["seconds"] = json!(took.as_secs_f64());
        document["ops_per_s"] = json!(rate);
        // A hang ends the program.
        document["n_hangs"] = json!(0);
        document["rss_start_bytes"] = json!(rss.map(|(start, _)| start));
        document["rss_end_bytes"] = json!(rss.map(|(_, end)| end));
        document["has_grown"] = json!(has_grown);
        terminal::print_json(&document)?;
    } else {
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / 1048576.0);
        let memory = rss.map_or_else(
            || "resident set: too short a run to tell whether it grows".to_owned(),
            |(start, end)| format!("resident set {} in the first quarter, {} in the last", mib(start), mib(end)),
        );
        let mut text = format!(
            "{} operations in {} chains in {:.1} s ({rate:.0} a second)\nwrong {}, lost {}, run twice {}, hangs 0\n\
             killed kernels {} ({} chains interrupted, {} unchecked after them), launches {}, restarts {}, pauses {}, ring full {}, reads {}\n\
             {}\n",
            tally.n_ops,
            tally.n_chains,
            took.as_secs_f64(),
            tally.n_wrong,
            tally.n_lost,
            tally.n_run_twice,
            tally.n_kills,
            tally.n_interrupted,
            tally.n_unchecked,
            tally.n_launches,
            tally.n_restarts,
            tally.n_pauses,
            tally.n_full,
            tally.n_reads,
            memory,
        );
        if !args.no_faults && tally.n_kills == 0 {
            text.push_str("no kernel was killed: too short a run for what chance has in store\n");
        }
        if let Some(fault) = &tally.first_fault {
            text.push_str(&format!("first fault: {fault}\n"));
        }
        if let Some(end) = &tally.ended_by {
            text.push_str(&format!("ended before its time: {end}\n"));
        }
        terminal::print(&text)?;
    }
    if let Some(end) = &tally.ended_by {
        terminal::note(false, &format!("praxis: the soak ended before its time: {end}"));
    }
    Ok(if is_bad { Outcome::CheckFailed } else { Outcome::Good })
}
