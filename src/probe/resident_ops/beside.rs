//! What a worker does to a program that draws beside it, on another device of the same adapter.

use super::submitted::{Arrays, Pipelines};
use super::{Data, Op, lost, set_polling};
use crate::gpu::Gpu;
use crate::pacing::FrameWait;
use crate::probe::clock::{Clock, SystemClock};
use crate::probe::context::{Context, Effort, Wait, waiter};
use crate::probe::error::{OpError, ProbeError};
use crate::probe::interleave::{Plan, Subject, Watch, measure_interleaved};
use crate::probe::report::{Cell, Column, ProbeReport, Table, spread_columns};
use crate::resident::{Array, Operation, ResidentWorker, Ticket};

const NAMES: [&str; 3] = ["no kernel", "the kernel polls, idle", "the kernel has an operation for each frame"];
/// What stands for a frame: so many chains of ten over a million rows in one submission.
pub(super) const N_CHAINS: u32 = 8;
pub(super) const N_ROWS: usize = 1_000_000;

struct Beside<'a> {
    clock: SystemClock,
    worker: &'a ResidentWorker,
    pipelines: Pipelines<'a>,
    arrays: Arrays,
    wait: Wait<'a>,
    small: Array,
}

impl Subject<1> for Beside<'_> {
    fn run(&mut self, variant_idx: usize) -> Result<[u64; 1], OpError> {
        let started_ns = self.clock.now_ns();
        let submission = self.pipelines.submit(&self.arrays, Op::Chain, N_CHAINS);
        if variant_idx == 2 {
            let add = Operation::Add { a: &self.small, b: 1.0.into(), out: &self.small };
            self.worker.submit(&[add]).and_then(Ticket::wait).map_err(lost)?;
        }
        (self.wait)(&submission)?;
        Ok([self.clock.now_ns() - started_ns])
    }

    fn begin_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
        Ok(set_polling(self.worker, variant_idx > 0)?)
    }
}

pub(super) fn measure(
    report: &mut ProbeReport,
    gpu: &Gpu,
    context: &Context,
    worker: &ResidentWorker,
    watch: &mut dyn Watch,
) -> Result<(), ProbeError> {
    let plan = match context.effort {
        Effort::Full => Plan { n_rounds: 10, n_ops: 20, n_warmup: 2 },
        Effort::Quick => Plan { n_rounds: 2, n_ops: 2, n_warmup: 1 },
    };
    let pipelines = Pipelines::new(gpu);
    let arrays = pipelines.arrays(&Data::new(N_ROWS));
    let small = worker.array(256).map_err(lost)?;
    let wait = waiter(gpu, FrameWait::Block);
    let mut subject = Beside { clock: context.clock, worker, pipelines, arrays, wait, small };
    let measured = measure_interleaved(plan, NAMES.len(), &mut subject, &context.clock, watch);
    report.ended = measured.ended;
    let rows = NAMES.iter().zip(&measured.variants).map(|(name, samples)| {
        let mut row = vec![Cell::from(*name)];
        row.extend(Cell::spread_us(samples.spread(0).as_ref()));
        row
    });
    let rows: Vec<_> = rows.collect();
    let mut columns = vec![Column::text("the worker")];
    columns.extend(spread_columns());
    let title = "A frame's worth of work on another device, submit to end".to_owned();
    report.tables.push(Table { title, columns, rows });
    if let Some(difference) = measured.variants[1].less(&measured.variants[0], 0) {
        report.findings.push(format!(
            "a frame on another device, beside a kernel that polls, against without one: {}",
            difference.in_us()
        ));
    }
    for (name, samples) in NAMES.iter().zip(&measured.variants) {
        if let Some(spread) = samples.spread(0) {
            report.add_series(format!("a frame beside: {name}"), spread, samples.round_medians_ns(0));
        }
    }
    set_polling(worker, false)
}
