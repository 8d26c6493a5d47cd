//! What small operations cost as submissions, through a resident worker, and on one core; where one overtakes the other; and what a
//! program that draws pays beside a worker.

mod beside;
mod beside_idle;
mod cost;
mod latency;
mod on_cpu;
mod submitted;
mod table;

use std::time::{Duration, Instant};

use super::clock::{Clock, SystemClock};
use super::context::{Context, Effort, Wait, waiter};
use super::error::{OpError, ProbeError};
use super::interleave::{Plan, Subject, Watch, measure_interleaved, one_line};
use super::report::{Ended, ProbeReport};
use crate::gpu::Gpu;
use crate::pacing::FrameWait;
use crate::resident::{
    Array, Comparison, Config, Operation, OperationError, ResidentWorker, StartError, Ticket, sum_of,
};
use submitted::{Arrays, Pipelines};

const QUESTION: &str = "What does a small operation cost as a submission, through a resident worker, and on one core?";

/// Elements of the arrays.
const ROWS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Operations that go together in "one batched submission".
pub(super) const N_BATCHED: u32 = 10;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Sum,
    Compare,
    Filter,
    Multiply,
    Add,
    /// Scale by a half, add an array; five times.
    Chain,
}

impl Op {
    pub const ALL: [Self; 6] = [Self::Sum, Self::Compare, Self::Filter, Self::Multiply, Self::Add, Self::Chain];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Compare => "compare",
            Self::Filter => "filter",
            Self::Multiply => "multiply",
            Self::Add => "add",
            Self::Chain => "chain of ten",
        }
    }
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A submission, and a wait that sleeps.
    Block,
    /// A submission, and a wait that asks without a pause.
    Spin,
    /// Ten in one submission, the time being one's share; a chain in one submission.
    Batched,
    /// Through a resident worker.
    Resident,
    /// On one core.
    Core,
}

impl Way {
    pub const ALL: [Self; 5] = [Self::Block, Self::Spin, Self::Batched, Self::Resident, Self::Core];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "submit + block",
            Self::Spin => "submit + spin",
            Self::Batched => "batched, each",
            Self::Resident => "resident",
            Self::Core => "one core",
        }
    }
}

/// Rows, what is done, and how.
pub(super) type Variant = (usize, Op, Way);

fn variants(rows: &[usize]) -> Vec<Variant> {
    let of = |n: &usize| {
        let n = *n;
        Op::ALL.into_iter().flat_map(move |op| Way::ALL.map(|way| (n, op, way)))
    };
    rows.iter().flat_map(of).collect()
}

/// What operations work on.
pub(super) struct Data {
    pub a: Vec<f32>,
    pub b: Vec<f32>,
    pub mask: Vec<f32>,
}

impl Data {
    fn new(n: usize) -> Self {
        // No pattern that a branch predictor could learn.
        let random =
            |idx: usize| (idx as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23).wrapping_mul(0xBF58_476D);
        let unit = |idx: usize| ((random(idx) >> 40) & 0xffff) as f32 / 65_536.0;
        let a: Vec<f32> = (0..n).map(unit).collect();
        let b = (0..n).map(|idx| unit(idx + 12_345)).collect();
        let mask = a.iter().map(|x| if *x > 0.5 { 1.0 } else { 0.0 }).collect();
        Self { a, b, mask }
    }
}

/// One length, on all sides.
struct Rows {
    n: usize,
    data: Data,
    arrays: Arrays,
    a: Array,
    b: Array,
    mask: Array,
    out: Array,
    on_core: Vec<f32>,
}

impl Rows {
    fn operations(&self, op: Op) -> Vec<Operation<'_>> {
        let Self { a, b, mask, out, .. } = self;
        match op {
            Op::Sum => vec![Operation::Sum { a, out: None }],
            Op::Compare => vec![Operation::Compare { a, comparison: Comparison::Greater, b: 0.5.into(), out }],
            Op::Filter => vec![Operation::Filter { a, mask, out }],
            Op::Multiply => vec![Operation::Multiply { a, b: 1.5.into(), out }],
            Op::Add => vec![Operation::Add { a, b: b.into(), out }],
            Op::Chain => (0..5)
                .flat_map(|_| {
                    [Operation::Multiply { a: out, b: 0.5.into(), out }, Operation::Add { a: out, b: b.into(), out }]
                })
                .collect(),
        }
    }
}

/// Which barriers the kernel has, to see what they cost: see `docs/resident.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barriers {
    /// One between a batch's first step and what that announces.
    pub is_acquiring: bool,
    /// One before each answer, and not only where the CPU looks at more than the answer.
    pub answers_after_stores: bool,
}

/// Measures it on `gpu`, with a worker on a device of its own.
pub fn measure(gpu: &Gpu, context: &Context, barriers: Barriers, watch: &mut dyn Watch) -> ProbeReport {
    let mut report = context.report("resident-ops", QUESTION, Some(gpu));
    let Barriers { is_acquiring, answers_after_stores } = barriers;
    let config = Config { idle_time: Some(Duration::ZERO), is_acquiring, answers_after_stores, ..Config::default() };
    report.settings.set("is_acquiring", is_acquiring).set("answers_after_stores", answers_after_stores);
    match ResidentWorker::start(&gpu.instance, &gpu.adapter, &config) {
        Ok(worker) => {
            if let Err(error) = measure_with(&mut report, gpu, context, &worker, watch) {
                report.ended = Ended::Failed(one_line(&error));
            }
        }
        Err(StartError::Unavailable(why)) => report.unavailable = Some(why.reason),
        Err(error) => report.ended = Ended::Failed(error.to_string()),
    }
    report
}

fn measure_with(
    report: &mut ProbeReport,
    gpu: &Gpu,
    context: &Context,
    worker: &ResidentWorker,
    watch: &mut dyn Watch,
) -> Result<(), ProbeError> {
    let plan = match context.effort {
        Effort::Full => Plan { n_rounds: 12, n_ops: 20, n_warmup: 3 },
        Effort::Quick => Plan { n_rounds: 2, n_ops: 2, n_warmup: 1 },
    };
    let measured = worker.measured();
    report
        .settings
        .set("rounds", plan.n_rounds)
        .set("ops_per_round", plan.n_ops)
        .set("batched", N_BATCHED)
        .set("workgroups", measured.n_workgroups)
        .set("look_ns", measured.look_ns.unwrap_or(0.0).round() as u64)
        .set("vector_width", on_cpu::vectors().0);
    for (place, memory) in [("mailbox_memory", measured.there), ("answers_memory", measured.back)] {
        report.settings.set(place, memory.map_or_else(String::new, |memory| memory.describe()));
    }

    latency::measure(report, context, worker, watch)?;
    if report.ended != Ended::Complete {
        return Ok(());
    }
    let pipelines = Pipelines::new(gpu);
    let rows = if context.effort == Effort::Full { &ROWS[..] } else { &ROWS[..2] };
    let mut subject = OpsSubject::new(gpu, context.clock, worker, &pipelines, rows)?;
    subject.check_results()?;
    let n_variants = subject.variants.len();
    let measured = measure_interleaved(plan, n_variants, &mut subject, &context.clock, watch);
    table::fill(report, rows, &subject.variants, measured);
    if report.ended == Ended::Complete {
        cost::measure(report, gpu, context, &mut subject, watch)?;
    }
    if report.ended == Ended::Complete {
        beside::measure(report, gpu, context, worker, watch)?;
    }
    if report.ended == Ended::Complete {
        beside_idle::measure(report, gpu, context, watch)?;
    }
    report.caution_disturbed();
    Ok(())
}

/// Runs the variants.
struct OpsSubject<'a> {
    clock: SystemClock,
    worker: &'a ResidentWorker,
    pipelines: &'a Pipelines<'a>,
    rows: Vec<Rows>,
    block: Wait<'a>,
    spin: Wait<'a>,
    variants: Vec<Variant>,
}

impl<'a> OpsSubject<'a> {
    fn new(
        gpu: &'a Gpu,
        clock: SystemClock,
        worker: &'a ResidentWorker,
        pipelines: &'a Pipelines<'a>,
        rows: &[usize],
    ) -> Result<Self, ProbeError> {
        let variants = variants(rows);
        let rows = rows.iter().map(|&n| {
            let data = Data::new(n);
            let array = |values: &[f32]| worker.array_from(values).map_err(lost);
            let (a, b, mask, out) = (array(&data.a)?, array(&data.b)?, array(&data.mask)?, array(&data.b)?);
            let (arrays, on_core) = (pipelines.arrays(&data), data.b.clone());
            Ok(Rows { n, data, arrays, a, b, mask, out, on_core })
        });
        Ok(Self {
            clock,
            worker,
            pipelines,
            rows: rows.collect::<Result<_, ProbeError>>()?,
            block: waiter(gpu, FrameWait::Block),
            spin: waiter(gpu, FrameWait::Spin),
            variants,
        })
    }

    fn do_once(&mut self, (n, op, way): Variant) -> Result<u64, OpError> {
        let rows_idx = self.rows.iter().position(|rows| rows.n == n).unwrap_or(0);
        let rows = &mut self.rows[rows_idx];
        let started_ns = self.clock.now_ns();
        let mut share = 1;
        match way {
            Way::Block => self.pipelines.submit_each(&rows.arrays, op, &mut self.block)?,
            Way::Spin => self.pipelines.submit_each(&rows.arrays, op, &mut self.spin)?,
            Way::Batched => {
                share = if op == Op::Chain { 1 } else { N_BATCHED };
                let submission = self.pipelines.submit(&rows.arrays, op, share);
                (self.spin)(&submission)?;
            }
            Way::Resident => {
                let ticket = self.worker.submit(&rows.operations(op)).map_err(lost)?;
                std::hint::black_box(ticket.wait().map_err(lost)?);
            }
            Way::Core => {
                let result = on_cpu::run(std::hint::black_box(&rows.data), op, &mut rows.on_core);
                std::hint::black_box((result, &mut rows.on_core));
            }
        }
        Ok((self.clock.now_ns() - started_ns) / u64::from(share))
    }

    /// What is timed must be right: every way's results against a plain computation.
    fn check_results(&mut self) -> Result<(), ProbeError> {
        for n in self.rows.iter().map(|rows| rows.n).collect::<Vec<_>>() {
            for op in Op::ALL {
                for way in [Way::Spin, Way::Resident, Way::Core] {
                    self.do_once((n, op, way)).map_err(fatal)?;
                }
                self.check_op(n, op)?;
            }
        }
        Ok(())
    }

    fn check_op(&mut self, n: usize, op: Op) -> Result<(), ProbeError> {
        let Some(rows) = self.rows.iter_mut().find(|rows| rows.n == n) else { return Ok(()) };
        let (submitted, [sum, n_kept]) = self.pipelines.read(&rows.arrays)?;
        let resident = self.worker.read(&rows.out).map_err(lost)?;
        let answer = self.worker.submit(&rows.operations(op)).and_then(Ticket::wait).map_err(lost)?;
        let on_core = on_cpu::run(&rows.data, op, &mut rows.on_core);
        let wrong = |what: String| Err(ProbeError::WrongResult(format!("{} of {n} rows: {what}", op.name())));
        let n_compared = match op {
            Op::Sum => {
                let exact = sum_of(&rows.data.a);
                let is_near = |x: f32| (x - exact).abs() <= exact.abs() * 1e-4;
                if answer.sum(0) != Some(exact) || !is_near(sum) || !is_near(on_core.sum) {
                    return wrong(format!("{sum}, {:?} and {} instead of {exact}", answer.sum(0), on_core.sum));
                }
                0
            }
            Op::Filter => {
                if answer.count(0) != Some(on_core.n_kept) || n_kept != on_core.n_kept as f32 {
                    return wrong(format!("{n_kept} and {:?} kept, not {}", answer.count(0), on_core.n_kept));
                }
                on_core.n_kept
            }
            // The core has done it once more than the others.
            Op::Chain => 0,
            _ => n,
        };
        let expected = &rows.on_core[..n_compared];
        for (name, values) in [("submitted", &submitted), ("resident", &resident)] {
            if let Some(idx) = (0..n_compared).find(|idx| values[*idx] != expected[*idx]) {
                return wrong(format!("{name}: {} at {idx}, not {}", values[idx], expected[idx]));
            }
        }
        // Chains go on from what was there: all sides forget it.
        rows.on_core.copy_from_slice(&rows.data.b);
        self.worker.write(&rows.out, &rows.data.b).map_err(lost)?;
        rows.arrays = self.pipelines.arrays(&rows.data);
        Ok(())
    }
}

impl Subject<1> for OpsSubject<'_> {
    fn run(&mut self, variant_idx: usize) -> Result<[u64; 1], OpError> {
        Ok([self.do_once(self.variants[variant_idx])?])
    }

    /// Beside a kernel that polls, submissions of another device would be measured in its time slices.
    fn begin_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
        let is_resident = self.variants[variant_idx].2 == Way::Resident;
        Ok(set_polling(self.worker, is_resident)?)
    }
}

/// Starts the worker's kernel, or ends it, and waits until it is so.
fn set_polling(worker: &ResidentWorker, is_polling: bool) -> Result<(), ProbeError> {
    const LONGEST: Duration = Duration::from_secs(10);
    worker.set_idle_time((!is_polling).then_some(Duration::ZERO));
    let started = Instant::now();
    while worker.status().is_parked == is_polling {
        if started.elapsed() > LONGEST {
            return Err(ProbeError::Hang { limit_s: LONGEST.as_secs() });
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    Ok(())
}

/// Of a way without which the rest says nothing.
fn fatal(error: OpError) -> ProbeError {
    match error {
        OpError::Fatal(error) => error,
        OpError::Unavailable(reason) => ProbeError::Panicked(reason),
    }
}

fn lost(error: OperationError) -> ProbeError {
    ProbeError::Worker(error)
}
