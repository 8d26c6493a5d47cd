//! What a program that draws pays beside a worker that has a kernel only while there is work, and what such work pays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::beside::{N_CHAINS, N_ROWS};
use super::submitted::{Arrays, Pipelines};
use super::{Data, Op, lost, set_polling};
use crate::gpu::Gpu;
use crate::pacing::FrameWait;
use crate::probe::clock::{Clock, SystemClock};
use crate::probe::context::{Context, Effort, Wait, waiter};
use crate::probe::error::{OpError, ProbeError};
use crate::probe::interleave::{Plan, Subject, Watch, measure_interleaved};
use crate::probe::report::{Cell, Column, Ended, ProbeReport, Table, spread_columns};
use crate::probe::spread::Spread;
use crate::resident::{Array, Config, Operation, OperationError, ResidentWorker, Ticket};

/// How much the worker is given, and how often.
#[derive(Clone, Copy, Debug)]
struct Load {
    name: &'static str,
    /// Adds that are submitted one behind the other; 0: no load.
    n_adds: u32,
    period: Duration,
}

const LOADS: [Load; 3] = [
    Load { name: "no operations", n_adds: 0, period: Duration::ZERO },
    Load { name: "an add every 2 ms", n_adds: 1, period: Duration::from_millis(2) },
    Load { name: "100 adds every 20 ms", n_adds: 100, period: Duration::from_millis(20) },
];
/// Most that a kernel keeps a frame waiting.
const KERNEL_TIME: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(8);

struct BesideIdle<'a> {
    clock: SystemClock,
    worker: Arc<ResidentWorker>,
    small: Array,
    pipelines: Pipelines<'a>,
    arrays: Arrays,
    wait: Wait<'a>,
    running: Option<Running>,
    /// By load, from submit to answer in ns.
    adds_ns: [Vec<u64>; LOADS.len()],
    n_launches: [u32; LOADS.len()],
}

/// The thread that gives the worker its load.
struct Running {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<u64>, OperationError>>,
    n_launches_before: u32,
}

impl Subject<1> for BesideIdle<'_> {
    fn run(&mut self, _: usize) -> Result<[u64; 1], OpError> {
        let started_ns = self.clock.now_ns();
        let submission = self.pipelines.submit(&self.arrays, Op::Chain, N_CHAINS);
        (self.wait)(&submission)?;
        Ok([self.clock.now_ns() - started_ns])
    }

    fn begin_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
        let load = LOADS[variant_idx];
        if load.n_adds == 0 {
            return Ok(());
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let (worker, small, clock, until) = (self.worker.clone(), self.small.clone(), self.clock, is_over.clone());
        let n_launches_before = worker.status().n_launches;
        let thread = std::thread::Builder::new().name("praxis-probe-load".into());
        let thread = thread.spawn(move || put_load(&worker, &small, load, &clock, &until));
        let thread = thread.map_err(|error| OpError::Unavailable(format!("no thread could be started: {error}")))?;
        self.running = Some(Running { is_over, thread, n_launches_before });
        Ok(())
    }

    fn end_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
        let Some(running) = self.running.take() else { return Ok(()) };
        running.is_over.store(true, Ordering::Relaxed);
        let ended = running.thread.join().map_err(|_| ProbeError::Panicked("the load's thread".into()))?;
        self.adds_ns[variant_idx].extend(ended.map_err(lost)?);
        self.n_launches[variant_idx] += self.worker.status().n_launches - running.n_launches_before;
        // The next block begins without a kernel.
        Ok(set_polling(&self.worker, false)?)
    }
}

/// Submits a load in its rhythm until it is told to end.
fn put_load(
    worker: &ResidentWorker,
    array: &Array,
    load: Load,
    clock: &SystemClock,
    is_over: &AtomicBool,
) -> Result<Vec<u64>, OperationError> {
    let add = Operation::Add { a: array, b: 1.0.into(), out: array };
    let mut took_ns = Vec::new();
    let mut due = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let submitted = (0..load.n_adds).map(|_| Ok((clock.now_ns(), worker.submit(&[add])?)));
        let submitted: Vec<(u64, Ticket)> = submitted.collect::<Result<_, OperationError>>()?;
        for (started_ns, ticket) in submitted {
            ticket.wait()?;
            took_ns.push(clock.now_ns() - started_ns);
        }
        // What comes late is not made up for.
        due = (due + load.period).max(Instant::now());
        std::thread::sleep(due - Instant::now());
    }
    Ok(took_ns)
}

pub(super) fn measure(
    report: &mut ProbeReport,
    gpu: &Gpu,
    context: &Context,
    watch: &mut dyn Watch,
) -> Result<(), ProbeError> {
    let plan = match context.effort {
        Effort::Full => Plan { n_rounds: 6, n_ops: 30, n_warmup: 2 },
        Effort::Quick => Plan { n_rounds: 2, n_ops: 1, n_warmup: 1 },
    };
    let config = Config { idle_time: Some(Duration::ZERO), kernel_time: KERNEL_TIME, ..Config::default() };
    let worker = match ResidentWorker::start(&gpu.instance, &gpu.adapter, &config) {
        Ok(worker) => Arc::new(worker),
        Err(error) => {
            report.cautions.push(format!("no second worker, beside which frames were to be timed: {error}"));
            return Ok(());
        }
    };
    let small = worker.array(256).map_err(lost)?;
    set_polling(&worker, false)?;
    let pipelines = Pipelines::new(gpu);
    let arrays = pipelines.arrays(&Data::new(N_ROWS));
    let mut subject = BesideIdle {
        clock: context.clock,
        worker,
        small,
        pipelines,
        arrays,
        wait: waiter(gpu, FrameWait::Block),
        running: None,
        adds_ns: Default::default(),
        n_launches: Default::default(),
    };
    let started = Instant::now();
    let mut is_stopped = false;
    let mut bounded = |n_done: u64, n_all: u64| {
        is_stopped = !watch.step(n_done, n_all);
        !is_stopped && started.elapsed() < LONGEST
    };
    let measured = measure_interleaved(plan, LOADS.len(), &mut subject, &context.clock, &mut bounded);
    report.ended = match measured.ended {
        Ended::Interrupted if !is_stopped => {
            report.cautions.push(format!("frames beside a worker with idle_time: ended after {} s", LONGEST.as_secs()));
            Ended::Complete
        }
        ended => ended,
    };

    let mut rows = Vec::new();
    for (idx, (load, samples)) in LOADS.iter().zip(&measured.variants).enumerate() {
        let (frame, add) = (samples.spread(0), Spread::of(subject.adds_ns[idx].iter().copied()));
        let mut row = vec![Cell::from(load.name)];
        row.extend(Cell::spread_us(frame.as_ref()));
        row.push(add.map(|add| add.median / 1e3).into());
        row.push(add.map(|add| add.p99 / 1e3).into());
        row.push(Cell::Number(f64::from(subject.n_launches[idx])));
        rows.push(row);
        if let Some(frame) = frame {
            let name = format!("a frame beside a worker with idle_time: {}", load.name);
            report.add_series(name, frame, samples.round_medians_ns(0));
        }
        if let (Some(frame), Some(add)) = (frame, add) {
            report.findings.push(format!(
                "beside a worker with idle_time, {}: a frame takes {:.2} ms at the median and {:.2} ms at p99, an add {:.1} µs and {:.1} µs",
                load.name,
                frame.median / 1e6,
                frame.p99 / 1e6,
                add.median / 1e3,
                add.p99 / 1e3
            ));
            report.add_series(format!("an add beside frames: {}", load.name), add, Vec::new());
        }
    }
    let mut columns = vec![Column::text("what the worker is given")];
    columns.extend(spread_columns());
    columns.extend([Column::us("an add, median"), Column::us("an add, p99"), Column::number("launches", "", 0)]);
    let title = format!(
        "The same frame beside a worker with idle_time 0 and kernel_time {} ms, and what an add pays",
        KERNEL_TIME.as_millis()
    );
    report.tables.push(Table { title, columns, rows });
    Ok(())
}
