//! What an operation costs when several go together.

use super::clock::Clock;
use super::context::{Context, Effort, Wait, waiter};
use super::error::OpError;
use super::interleave::{Interleaved, Plan, Subject, Watch, measure_interleaved};
use super::kernel::{EmptyKernel, SpanTimer};
use super::report::{Cell, Chart, Column, Marks, ProbeReport, Table};
use super::spread::Spread;
use crate::gpu::Gpu;
use crate::measure::statistics::median;
use crate::pacing::FrameWait;

/// How many operations go together.
pub const N_OPS: [u32; 6] = [1, 2, 5, 10, 20, 50];

/// How they go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A submission each, and one wait for the last.
    Submissions,
    /// A pass each, in one submission.
    Passes,
    /// A dispatch each, in one pass.
    Dispatches,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Submissions, Self::Passes, Self::Dispatches];

    /// What it is.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submissions => "N submissions, one wait",
            Self::Passes => "N passes, one submission",
            Self::Dispatches => "N dispatches, one pass",
        }
    }
}

/// All combinations, in one order.
fn variants() -> Vec<(Way, u32)> {
    Way::ALL.iter().flat_map(|way| N_OPS.map(|n_ops| (*way, n_ops))).collect()
}

const QUESTION: &str = "What does one operation cost when several go to the GPU together?";

/// What runs batches: a device, or a test's stand-in.
pub(super) trait BatchDevice {
    /// Encodes, submits and waits for `n_ops` operations; with `is_timed` the GPU's time for them, first begin to last end, in ns.
    fn run(&mut self, way: Way, n_ops: u32, is_timed: bool) -> Result<Option<u64>, OpError>;
}

struct BatchSubject<'a, D, C> {
    device: D,
    clock: &'a C,
    variants: Vec<(Way, u32)>,
    gpu_ns: Vec<Vec<f64>>,
}

impl<D: BatchDevice, C: Clock> Subject<1> for BatchSubject<'_, D, C> {
    fn run(&mut self, variant_idx: usize) -> Result<[u64; 1], OpError> {
        let (way, n_ops) = self.variants[variant_idx];
        let started_ns = self.clock.now_ns();
        self.device.run(way, n_ops, false)?;
        Ok([self.clock.now_ns() - started_ns])
    }

    /// Timestamps would be part of what is timed: operations that have them are apart.
    fn end_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
        let (way, n_ops) = self.variants[variant_idx];
        let gpu_ns = self.device.run(way, n_ops, true)?;
        self.gpu_ns[variant_idx].extend(gpu_ns.map(|ns| ns as f64));
        Ok(())
    }
}

/// Measures it on `gpu`.
pub fn measure(gpu: &Gpu, context: &Context, watch: &mut dyn Watch) -> ProbeReport {
    let mut report = context.report("batch", QUESTION, Some(gpu));
    let plan = match context.effort {
        Effort::Full => Plan { n_rounds: 12, n_ops: 20, n_warmup: 2 },
        Effort::Quick => Plan { n_rounds: 6, n_ops: 2, n_warmup: 1 },
    };
    let wait = FrameWait::for_benchmark(gpu.info.device_type);
    report
        .settings
        .set("rounds", plan.n_rounds)
        .set("batches_per_round", plan.n_ops)
        .set("warmup_batches_per_round", plan.n_warmup)
        .set("wait", wait.to_string());
    let device = WgpuBatches { kernel: EmptyKernel::new(gpu), wait: waiter(gpu, wait), timer: SpanTimer::new(gpu) };
    let variants = variants();
    let gpu_ns = vec![Vec::new(); variants.len()];
    let mut subject = BatchSubject { device, clock: &context.clock, variants, gpu_ns };
    let measured = measure_interleaved(plan, subject.variants.len(), &mut subject, &context.clock, watch);
    fill(&mut report, &subject.variants, measured, &subject.gpu_ns);
    report
}

fn fill(report: &mut ProbeReport, variants: &[(Way, u32)], measured: Interleaved<1>, gpu_ns: &[Vec<f64>]) {
    report.ended = measured.ended;
    let per_op = |way: Way, n_ops: u32| -> Option<(Spread, Option<f64>)> {
        let idx = variants.iter().position(|variant| *variant == (way, n_ops))?;
        let samples = measured.variants[idx].parts_ns[0].iter().map(|ns| ns / u64::from(n_ops));
        Some((Spread::of(samples)?, median(&gpu_ns[idx]).map(|ns| ns / f64::from(n_ops))))
    };
    let mut columns = vec![Column::text("operations")];
    for way in Way::ALL {
        columns.extend([Column::us(way.name()), Column::us("p95"), Column::us("GPU")]);
    }
    let mut rows = Vec::new();
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Way::ALL.map(|way| (way.name().to_owned(), Vec::new())).to_vec();
    for n_ops in N_OPS {
        let mut row = vec![Cell::from(n_ops.to_string())];
        for (way, (_, points)) in Way::ALL.into_iter().zip(&mut lines) {
            let measured = per_op(way, n_ops);
            row.push(measured.map(|(spread, _)| spread.median / 1e3).into());
            row.push(measured.map(|(spread, _)| spread.p95 / 1e3).into());
            row.push(measured.and_then(|(_, gpu)| gpu).map(|ns| ns / 1e3).into());
            points.extend(measured.map(|(spread, _)| (f64::from(n_ops), spread.median / 1e3)));
            if let Some((spread, _)) = measured {
                report.add_series(format!("{}: {n_ops}, each", way.name()), spread, Vec::new());
            }
        }
        rows.push(row);
    }
    let title = "One operation of N, encode to end of wait, at the median".to_owned();
    report.tables.push(Table { title: title.clone(), columns, rows });
    report.charts.push(Chart { title, unit: "µs", marks: Marks::Lines { x_name: "operations", lines } });
    if let (Some((alone, _)), Some((together, _))) = (per_op(Way::Submissions, 1), per_op(Way::Dispatches, 20)) {
        report.findings.push(format!(
            "alone an operation takes {:.1} µs, as one of 20 dispatches in a pass {:.2} µs",
            alone.median / 1e3,
            together.median / 1e3
        ));
    }
    if let (Some((apart, _)), Some((passes, _))) = (per_op(Way::Submissions, 20), per_op(Way::Passes, 20)) {
        report.findings.push(format!(
            "of 20, each takes {:.1} µs as a submission and {:.1} µs as a pass of one submission",
            apart.median / 1e3,
            passes.median / 1e3
        ));
    }
    report.caution_disturbed();
}

/// Batches through wgpu.
struct WgpuBatches<'a> {
    kernel: EmptyKernel<'a>,
    wait: Wait<'a>,
    timer: Option<SpanTimer>,
}

impl BatchDevice for WgpuBatches<'_> {
    fn run(&mut self, way: Way, n_ops: u32, is_timed: bool) -> Result<Option<u64>, OpError> {
        let kernel = &self.kernel;
        let timer = self.timer.as_ref().filter(|_| is_timed);
        let has_last = n_ops > 1 && way != Way::Dispatches;
        let writes = |op: u32| match (timer, op) {
            (Some(timer), 0) => Some(timer.first_writes()),
            (Some(timer), op) if op + 1 == n_ops && has_last => Some(timer.last_writes()),
            _ => None,
        };
        let n_submissions = if way == Way::Submissions { n_ops } else { 1 };
        let mut last = None;
        for submission in 0..n_submissions {
            let mut encoder = kernel.encoder();
            match way {
                Way::Submissions => kernel.dispatch(&mut kernel.begin_pass(&mut encoder, writes(submission))),
                Way::Passes => {
                    for op in 0..n_ops {
                        kernel.dispatch(&mut kernel.begin_pass(&mut encoder, writes(op)));
                    }
                }
                Way::Dispatches => {
                    let mut pass = kernel.begin_pass(&mut encoder, writes(0));
                    for _ in 0..n_ops {
                        kernel.dispatch(&mut pass);
                    }
                }
            }
            if let Some(timer) = timer.filter(|_| submission + 1 == n_submissions) {
                timer.resolve(&mut encoder, has_last);
            }
            last = Some(kernel.gpu.queue.submit([encoder.finish()]));
        }
        if let Some(timer) = timer {
            timer.request(has_last);
        }
        if let Some(last) = last {
            (self.wait)(&last)?;
        }
        kernel.gpu.check_errors()?;
        timer.map_or(Ok(None), |timer| timer.read_ns(has_last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::FakeClock;
    use super::*;
    use crate::gpu::GpuOptions;

    /// A wait takes 50 µs; a submission 10, a pass 3, a dispatch 1.
    struct Fake<'a>(&'a FakeClock);

    impl BatchDevice for Fake<'_> {
        fn run(&mut self, way: Way, n_ops: u32, is_timed: bool) -> Result<Option<u64>, OpError> {
            let n = u64::from(n_ops);
            let (submissions, passes) = match way {
                Way::Submissions => (n, n),
                Way::Passes => (1, n),
                Way::Dispatches => (1, 1),
            };
            self.0.pass(50_000 + submissions * 10_000 + passes * 3_000 + n * 1_000, 0);
            Ok(is_timed.then_some(n * 500))
        }
    }

    #[test]
    fn probe_batch_divides_by_the_number_of_operations() {
        let clock = FakeClock::default();
        let variants = variants();
        let gpu_ns = vec![Vec::new(); variants.len()];
        let mut subject = BatchSubject { device: Fake(&clock), clock: &clock, variants: variants.clone(), gpu_ns };
        let plan = Plan { n_rounds: 6, n_ops: 3, n_warmup: 1 };
        let measured = measure_interleaved(plan, variants.len(), &mut subject, &clock, &mut |_, _| true);
        let mut report = ProbeReport::new("batch", QUESTION);
        fill(&mut report, &variants, measured, &subject.gpu_ns);
        let rows = &report.tables[0].rows;
        // Operations, then median, p95 and GPU of each way.
        assert_eq!(rows[0][1], Cell::Number(64.0));
        let twenty = &rows[4];
        assert_eq!(twenty[0], Cell::from("20"));
        assert_eq!(
            [&twenty[1], &twenty[4], &twenty[7]],
            [&Cell::Number(16.5), &Cell::Number(7.0), &Cell::Number(4.15)]
        );
        assert_eq!([&twenty[3], &twenty[6], &twenty[9]], [&Cell::Number(0.5); 3]);
        assert!(
            report.findings[0].contains("64.0 µs") && report.findings[0].contains("4.15 µs"),
            "{:?}",
            report.findings
        );
    }

    #[test]
    fn probe_batch_runs_every_operation_in_every_way() {
        let gpu = Gpu::open_for_compute(&GpuOptions::default()).expect("an adapter");
        let kernel = EmptyKernel::new(&gpu);
        let mut batches = WgpuBatches { kernel, wait: waiter(&gpu, FrameWait::Block), timer: SpanTimer::new(&gpu) };
        let mut n_expected = 0;
        for way in Way::ALL {
            for (n_ops, is_timed) in [(1, false), (5, false), (1, true), (5, true)] {
                let gpu_ns = batches.run(way, n_ops, is_timed).unwrap_or_else(|error| panic!("{way:?}: {error:?}"));
                assert_eq!(gpu_ns.is_some(), is_timed && gpu.has_timestamps(), "{way:?} × {n_ops}");
                n_expected += n_ops;
            }
        }
        assert_eq!(batches.kernel.n_runs(), n_expected);
    }
}
