//! One small operation through the worker, and its share of a chain.

use super::{lost, set_polling};
use crate::probe::clock::{Clock, SystemClock};
use crate::probe::context::{Context, Effort};
use crate::probe::error::{OpError, ProbeError};
use crate::probe::interleave::{Plan, Subject, Watch, measure_interleaved};
use crate::probe::report::{Cell, Column, ProbeReport, Table, spread_columns};
use crate::resident::{Array, Operation, ResidentWorker, Ticket};

/// Elements of a small array.
const N_SMALL: usize = 256;
const N_CHAIN: usize = 10;
const NAMES: [&str; 5] = ["fill", "add", "sum", "a chain of ten adds", "the same, a ring full at a time, each chain"];
/// Chains that are in the ring at a time.
const N_AT_ONCE: usize = 32;

struct Latency<'a> {
    clock: SystemClock,
    worker: &'a ResidentWorker,
    a: Array,
    out: Array,
}

impl Subject<1> for Latency<'_> {
    fn run(&mut self, variant_idx: usize) -> Result<[u64; 1], OpError> {
        let (a, out) = (&self.a, &self.out);
        let add = Operation::Add { a, b: 1.0.into(), out };
        let chain = [add; N_CHAIN];
        let once = [match variant_idx {
            0 => Operation::Fill { out, value: 1.0 },
            1 => add,
            _ => Operation::Sum { a, out: None },
        }];
        let operations: &[Operation] = if variant_idx < 3 { &once } else { &chain };
        let n_at_once = if variant_idx == 4 { N_AT_ONCE } else { 1 };
        let started_ns = self.clock.now_ns();
        if n_at_once == 1 {
            self.worker.submit(operations).and_then(Ticket::wait).map_err(lost)?;
        } else {
            let tickets: Vec<Ticket> =
                (0..n_at_once).map(|_| self.worker.submit(operations)).collect::<Result<_, _>>().map_err(lost)?;
            tickets.into_iter().try_for_each(|ticket| ticket.wait().map(drop)).map_err(lost)?;
        }
        Ok([(self.clock.now_ns() - started_ns) / n_at_once as u64])
    }
}

pub(super) fn measure(
    report: &mut ProbeReport,
    context: &Context,
    worker: &ResidentWorker,
    watch: &mut dyn Watch,
) -> Result<(), ProbeError> {
    let plan = match context.effort {
        Effort::Full => Plan { n_rounds: 10, n_ops: 500, n_warmup: 20 },
        Effort::Quick => Plan { n_rounds: 2, n_ops: 20, n_warmup: 5 },
    };
    set_polling(worker, true)?;
    let values: Vec<f32> = (0..N_SMALL).map(|idx| idx as f32).collect();
    let (a, out) = (worker.array_from(&values).map_err(lost)?, worker.array(N_SMALL).map_err(lost)?);
    let mut subject = Latency { clock: context.clock, worker, a, out };
    let measured = measure_interleaved(plan, NAMES.len(), &mut subject, &context.clock, watch);
    report.ended = measured.ended;
    let rows = NAMES.iter().zip(&measured.variants).map(|(name, samples)| {
        let spread = samples.spread(0);
        let mut row = vec![Cell::from(*name)];
        row.extend(Cell::spread_us(spread.as_ref()));
        let n_ops = if name.contains("chain") { N_CHAIN as f64 } else { 1.0 };
        row.push(spread.map(|spread| spread.median / 1e3 / n_ops).into());
        if let Some(spread) = spread {
            report.series.push(crate::probe::report::Series {
                name: format!("small: {name}"),
                unit: "ns",
                spread,
                round_medians: samples.round_medians_ns(0),
            });
        }
        row
    });
    let rows: Vec<_> = rows.collect();
    let mut columns = vec![Column::text("operation")];
    columns.extend(spread_columns());
    columns.push(Column::us("an operation"));
    let title = format!("Small operations through the worker, {N_SMALL} elements, from submit to answer");
    report.tables.push(Table { title, columns, rows });
    let spread = |idx: usize| measured.variants[idx].spread(0);
    if let (Some(one), Some(chain)) = (spread(1), spread(3)) {
        report.findings.push(format!(
            "a small add takes {:.2} µs at the median and {:.2} µs at p99; in a chain of {N_CHAIN} an operation takes {:.2} µs",
            one.median / 1e3,
            one.p99 / 1e3,
            chain.median / 1e3 / N_CHAIN as f64
        ));
    }
    Ok(())
}
