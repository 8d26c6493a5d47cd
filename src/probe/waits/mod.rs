//! What each way to wait for the GPU costs: wall time, and the CPU's.

mod calls;
mod device;

use super::clock::Clock;
use super::context::{Context, Effort};
use super::error::OpError;
use super::interleave::{Interleaved, Plan, Samples, Subject, Watch, measure_interleaved};
use super::report::{Bar, Cell, Chart, Column, Marks, ProbeReport, Table};
use crate::gpu::Gpu;
use crate::pacing::FrameWait;

use calls::Calls;
use device::WgpuWaits;

const QUESTION: &str = "What does each way to wait for the GPU cost, and where is the floor?";

/// How a submission is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// As the program waits: `pacing::DeviceWaiter`.
    Frame(FrameWait),
    /// `device.poll` with a zero timeout in a loop, with nothing of ours around it.
    BarePoll,
    /// The same, with each poll timed: what single calls take.
    TimedPoll,
    /// Bare polls for this long, then `device.poll` without a timeout.
    SpinThenBlock {
        /// µs.
        spin_us: u64,
    },
    /// `on_submitted_work_done` wakes the main thread through a condition variable; another thread blocks in `device.poll`.
    Callback,
    /// A timeline semaphore of our own, whose counter is read in a loop without wgpu.
    Semaphore,
}

/// What could move the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// Nothing.
    AsIs,
    /// The waiting thread at the highest ordinary priority.
    HighPriority,
    /// A second device of the same adapter keeps the GPU busy with small kernels.
    WarmGpu,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// How it is waited.
    pub strategy: Strategy,
    /// Under what.
    pub under: Under,
}

impl Variant {
    /// What it is, in a few words.
    pub fn name(&self) -> String {
        let strategy = match self.strategy {
            Strategy::Frame(wait) => wait.to_string(),
            Strategy::BarePoll => "bare poll loop".into(),
            Strategy::TimedPoll => "bare poll loop, each poll timed".into(),
            Strategy::SpinThenBlock { spin_us } => format!("spin {spin_us} µs, then block"),
            Strategy::Callback => "callback + condition variable".into(),
            Strategy::Semaphore => "raw semaphore loop".into(),
        };
        match self.under {
            Under::AsIs => strategy,
            Under::HighPriority => format!("{strategy}, high priority"),
            Under::WarmGpu => format!("{strategy}, GPU kept warm"),
        }
    }
}

/// All of them; whatever [`FrameWait`] offers comes first.
fn variants(spin_us: u64) -> Vec<Variant> {
    let frames = FrameWait::ALL.iter().map(|wait| Strategy::Frame(*wait));
    let others = [
        Strategy::BarePoll,
        Strategy::TimedPoll,
        Strategy::SpinThenBlock { spin_us },
        Strategy::Callback,
        Strategy::Semaphore,
    ];
    let as_is = frames.chain(others).map(|strategy| Variant { strategy, under: Under::AsIs });
    let moved = [Under::HighPriority, Under::WarmGpu].into_iter().flat_map(|under| {
        [Strategy::Frame(FrameWait::Spin), Strategy::Semaphore].map(|strategy| Variant { strategy, under })
    });
    as_is.chain(moved).collect()
}

/// What submits and waits: a device, or a test's stand-in.
pub(super) trait WaitDevice {
    /// Gets ready for a block of `variant`.
    fn begin(&mut self, variant: Variant) -> Result<(), OpError>;

    /// Undoes that.
    fn end(&mut self, variant: Variant) -> Result<(), OpError>;

    /// Encodes and submits an empty kernel.
    fn submit(&mut self, strategy: Strategy) -> Result<(), OpError>;

    /// Waits for it.
    fn wait(&mut self, strategy: Strategy) -> Result<(), OpError>;

    /// What has to be done before the next operation, and isn't part of this one.
    fn settle(&mut self, strategy: Strategy) -> Result<(), OpError>;

    /// What single calls took so far.
    fn calls(&self) -> Calls;
}

/// Of an operation: the whole, and the wait in it.
const N_PARTS: usize = 2;
const TRIP: usize = 0;
const WAIT: usize = 1;

struct WaitSubject<'a, D, C> {
    device: D,
    clock: &'a C,
    variants: Vec<Variant>,
}

impl<D: WaitDevice, C: Clock> Subject<N_PARTS> for WaitSubject<'_, D, C> {
    fn run(&mut self, variant_idx: usize) -> Result<[u64; N_PARTS], OpError> {
        let strategy = self.variants[variant_idx].strategy;
        let started_ns = self.clock.now_ns();
        self.device.submit(strategy)?;
        let submitted_ns = self.clock.now_ns();
        self.device.wait(strategy)?;
        let ended_ns = self.clock.now_ns();
        self.device.settle(strategy)?;
        Ok([ended_ns - started_ns, ended_ns - submitted_ns])
    }

    fn begin_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
        let begun = self.device.begin(self.variants[variant_idx]);
        if begun.is_err() {
            // What was half begun is undone; the first fault is the one to tell.
            let _ = self.device.end(self.variants[variant_idx]);
        }
        begun
    }

    fn end_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
        self.device.end(self.variants[variant_idx])
    }
}

/// Measures it on `gpu`.
pub fn measure(gpu: &Gpu, context: &Context, spin_us: u64, watch: &mut dyn Watch) -> ProbeReport {
    let mut report = context.report("waits", QUESTION, Some(gpu));
    let plan = match context.effort {
        Effort::Full => Plan { n_rounds: 20, n_ops: 100, n_warmup: 10 },
        Effort::Quick => Plan { n_rounds: 6, n_ops: 8, n_warmup: 2 },
    };
    report
        .settings
        .set("rounds", plan.n_rounds)
        .set("trips_per_round", plan.n_ops)
        .set("warmup_trips_per_round", plan.n_warmup)
        .set("spin_us", spin_us);
    let mut subject = WaitSubject { device: WgpuWaits::new(gpu), clock: &context.clock, variants: variants(spin_us) };
    let n_variants = subject.variants.len();
    let measured = measure_interleaved(plan, n_variants, &mut subject, &context.clock, watch);
    fill(&mut report, &subject.variants, measured, &subject.device.calls());
    report
}

/// From samples to tables, charts and sentences.
fn fill(report: &mut ProbeReport, variants: &[Variant], measured: Interleaved<N_PARTS>, calls: &Calls) {
    report.ended = measured.ended.clone();
    let mut columns = vec![Column::text("round trip, waited for by")];
    columns.extend(super::report::spread_columns());
    columns.extend([Column::us("of which wait"), Column::us("CPU per trip"), Column::us("by the thread")]);
    columns.push(Column::number("CPU per wall", "", 2));
    let (mut rows, mut bars) = (Vec::new(), Vec::new());
    for (variant, samples) in variants.iter().zip(&measured.variants) {
        let (name, spread) = (variant.name(), samples.spread(TRIP));
        let [process, thread] = [samples.cpu_per_op(|cpu| cpu.process_ns), samples.cpu_per_op(|cpu| cpu.thread_ns)];
        let mut row = vec![Cell::from(name.as_str())];
        row.extend(Cell::spread_us(spread.as_ref()));
        row.push(samples.spread(WAIT).map(|wait| wait.median / 1e3).into());
        row.extend([process, thread].map(|cpu| Cell::from(cpu.map(|cpu| cpu.cpu_ns / 1e3))));
        row.push(process.map(|cpu| cpu.cpu_per_wall).into());
        rows.push(row);
        if let Some(spread) = spread {
            bars.push(Bar::us(name.as_str(), &spread));
            report.add_series(name.as_str(), spread, samples.round_medians_ns(TRIP));
        }
        if let Some(reason) = &samples.unavailable {
            report.cautions.push(format!("{name}: not available: {reason}"));
        }
    }
    let title = "An empty round trip, by how it is waited for".to_owned();
    report.tables.push(Table { title: title.clone(), columns, rows });
    report.charts.push(Chart { title, unit: "µs", marks: Marks::Bars(bars) });
    let overheads = overheads(report, variants, &measured);
    report.tables.extend(overheads);
    calls.fill(report);
    report.cautions.push(
        "with the GPU kept warm, CPU per trip holds the second device's thread; the thread's own CPU time does not"
            .into(),
    );
    report.caution_disturbed();
}

/// Where a spinning wait's time goes, by differences of the waits in each round: our code, wgpu's, the driver's.
fn overheads(report: &mut ProbeReport, variants: &[Variant], measured: &Interleaved<N_PARTS>) -> Option<Table> {
    const MOST_OVERHEAD_NS: f64 = 2_000.0;
    let find = |strategy, under| -> Option<&Samples<N_PARTS>> {
        let idx = variants.iter().position(|variant| *variant == Variant { strategy, under })?;
        Some(&measured.variants[idx]).filter(|samples| !samples.blocks.is_empty())
    };
    let spin = find(Strategy::Frame(FrameWait::Spin), Under::AsIs);
    let bare = find(Strategy::BarePoll, Under::AsIs);
    let raw = find(Strategy::Semaphore, Under::AsIs);
    let floor = if raw.is_some() { Strategy::Semaphore } else { Strategy::Frame(FrameWait::Spin) };
    let as_is = find(floor, Under::AsIs);
    let pairs = [
        ("our wait code: spin less a bare poll loop", spin, bare),
        ("wgpu's poll: bare poll loop less the raw semaphore loop", bare, raw),
        ("both: spin less the raw semaphore loop", spin, raw),
        ("high priority, at the floor", find(floor, Under::HighPriority), as_is),
        ("GPU kept warm, at the floor", find(floor, Under::WarmGpu), as_is),
    ];
    let mut rows = Vec::new();
    for (part, columns) in [(WAIT, "the wait"), (TRIP, "the round trip")] {
        for (name, of, less) in pairs {
            let Some(difference) = of.zip(less).and_then(|(of, less)| of.less(less, part)) else { continue };
            rows.push(vec![
                Cell::from(format!("{name} ({columns})")),
                Cell::us(difference.median),
                difference.low.map(|ns| ns / 1e3).into(),
                difference.high.map(|ns| ns / 1e3).into(),
                Cell::from(if difference.is_clear() { "clear" } else { "can't be told from 0" }),
            ]);
            if part == WAIT {
                report.findings.push(format!("{name}: {}", difference.in_us()));
            }
            if part == WAIT && name.starts_with("both") {
                let verdict = match () {
                    () if difference.is_below(MOST_OVERHEAD_NS) => "below 2 µs a wait",
                    () if difference.low.is_some_and(|low| low >= MOST_OVERHEAD_NS) => "2 µs a wait or more",
                    () => "these rounds can't tell whether below 2 µs a wait",
                };
                report.findings.push(format!("over the raw semaphore loop, spin: {verdict}"));
            }
        }
    }
    let columns = vec![
        Column::text("difference of medians, round by round"),
        Column::us("median"),
        Column::us("95% from"),
        Column::us("to"),
        Column::text(""),
    ];
    (!rows.is_empty()).then(|| Table { title: "Where the floor is, and what moves it".into(), columns, rows })
}

#[cfg(test)]
mod tests {
    use super::super::clock::FakeClock;
    use super::super::report::Ended;
    use super::*;

    /// Submits in 10 µs; waits as long as the strategy says, with the CPU busy if it spins.
    struct Fake<'a> {
        clock: &'a FakeClock,
        current: Option<Variant>,
        has_semaphore: bool,
        may_raise: bool,
        n_unsettled: u32,
    }

    impl WaitDevice for Fake<'_> {
        fn begin(&mut self, variant: Variant) -> Result<(), OpError> {
            assert_eq!(self.current.replace(variant), None);
            match variant {
                Variant { under: Under::HighPriority, .. } if !self.may_raise => {
                    Err(OpError::Unavailable("not permitted".into()))
                }
                Variant { strategy: Strategy::Semaphore, .. } if !self.has_semaphore => {
                    Err(OpError::Unavailable("no Vulkan".into()))
                }
                _ => Ok(()),
            }
        }

        fn end(&mut self, _variant: Variant) -> Result<(), OpError> {
            self.current = None;
            Ok(())
        }

        fn submit(&mut self, _strategy: Strategy) -> Result<(), OpError> {
            assert_eq!(self.n_unsettled, 0);
            self.n_unsettled += 1;
            self.clock.pass(10_000, 10_000);
            Ok(())
        }

        fn wait(&mut self, strategy: Strategy) -> Result<(), OpError> {
            let (wall_ns, cpu_ns) = match strategy {
                Strategy::Frame(FrameWait::Block) => (40_000, 5_000),
                Strategy::Frame(_) => (21_500, 21_500),
                Strategy::BarePoll | Strategy::TimedPoll => (21_000, 21_000),
                Strategy::SpinThenBlock { .. } => (23_000, 22_000),
                Strategy::Callback => (44_000, 9_000),
                Strategy::Semaphore => (20_000, 20_000),
            };
            let warm = self.current.is_some_and(|variant| variant.under == Under::WarmGpu);
            self.clock.pass(wall_ns - if warm { 3_000 } else { 0 }, cpu_ns);
            Ok(())
        }

        fn settle(&mut self, _strategy: Strategy) -> Result<(), OpError> {
            self.n_unsettled -= 1;
            // What isn't part of the operation is long, so that it would show.
            self.clock.pass(1_000_000, 0);
            Ok(())
        }

        fn calls(&self) -> Calls {
            Calls { poll_running_ns: vec![700], poll_done_ns: vec![2_500], look_ns: vec![50] }
        }
    }

    fn measured(has_semaphore: bool, may_raise: bool) -> ProbeReport {
        let clock = FakeClock::default();
        let device = Fake { clock: &clock, current: None, has_semaphore, may_raise, n_unsettled: 0 };
        let mut subject = WaitSubject { device, clock: &clock, variants: variants(50) };
        let n = subject.variants.len();
        let plan = Plan { n_rounds: 7, n_ops: 3, n_warmup: 1 };
        let measured = measure_interleaved(plan, n, &mut subject, &clock, &mut |_, _| true);
        let mut report = ProbeReport::new("waits", QUESTION);
        fill(&mut report, &subject.variants, measured, &subject.device.calls());
        report
    }

    fn row<'a>(report: &'a ProbeReport, table: usize, name: &str) -> &'a [Cell] {
        let rows = &report.tables[table].rows;
        let found = rows.iter().find(|row| row[0] == Cell::from(name));
        found.unwrap_or_else(|| panic!("no row {name} in {rows:?}"))
    }

    #[test]
    fn probe_waits_are_split_into_our_code_wgpus_and_the_floor() {
        let report = measured(true, true);
        assert_eq!(report.ended, Ended::Complete);
        // min, median, p95, p99, wait.
        assert_eq!(row(&report, 0, "block")[2], Cell::Number(50.0));
        assert_eq!(row(&report, 0, "raw semaphore loop")[5], Cell::Number(20.0));
        assert_eq!(row(&report, 0, "spin, GPU kept warm")[2], Cell::Number(28.5));
        assert_eq!(row(&report, 2, "a look at the semaphore's counter")[2], Cell::Number(0.05));
        let difference = |name: &str| row(&report, 1, name)[1].clone();
        assert_eq!(difference("our wait code: spin less a bare poll loop (the wait)"), Cell::Number(0.5));
        assert_eq!(difference("wgpu's poll: bare poll loop less the raw semaphore loop (the wait)"), Cell::Number(1.0));
        assert_eq!(difference("GPU kept warm, at the floor (the round trip)"), Cell::Number(-3.0));
        assert!(report.findings.iter().any(|finding| finding.ends_with("below 2 µs a wait")), "{:?}", report.findings);
        assert!(
            report
                .findings
                .iter()
                .any(|finding| finding.starts_with("high priority") && finding.contains("no difference"))
        );
    }

    #[test]
    fn probe_waits_that_cannot_be_had_say_why_and_leave_the_rest() {
        let report = measured(false, false);
        assert_eq!(report.ended, Ended::Complete);
        assert_eq!(row(&report, 0, "raw semaphore loop")[2], Cell::Absent);
        assert_eq!(row(&report, 0, "spin, high priority")[2], Cell::Absent);
        let said = |text: &str| report.cautions.iter().any(|caution| caution == text);
        assert!(said("raw semaphore loop: not available: no Vulkan"), "{:?}", report.cautions);
        assert!(said("spin, high priority: not available: not permitted"), "{:?}", report.cautions);
        // The floor is then the spin.
        assert_eq!(row(&report, 1, "GPU kept warm, at the floor (the wait)")[1], Cell::Number(-3.0));
        assert!(!report.findings.iter().any(|finding| finding.contains("raw semaphore")), "{:?}", report.findings);
    }

    #[test]
    fn probe_waits_offer_whatever_the_program_has() {
        let variants = variants(50);
        for wait in FrameWait::ALL {
            assert!(variants.contains(&Variant { strategy: Strategy::Frame(*wait), under: Under::AsIs }));
        }
        let mut names: Vec<_> = variants.iter().map(Variant::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), variants.len());
    }
}
