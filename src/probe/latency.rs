//! What an empty round trip costs, stage by stage.

use super::clock::Clock;
use super::context::{Context, Effort};
use super::error::OpError;
use super::interleave::{Interleaved, Plan, Subject, Watch, measure_interleaved};
use super::kernel::{EmptyKernel, SpanTimer};
use super::report::{Bar, Cell, Chart, Column, Marks, ProbeReport, Table};
use super::spread::Spread;
use crate::gpu::Gpu;
use crate::pacing::FrameWait;

/// The stages of a round trip, in their order; the whole comes first in what is recorded.
pub const STAGES: [&str; 7] =
    ["create encoder", "begin pass", "set pipeline, bindings and dispatch", "end pass", "finish", "submit", "wait"];
const N_PARTS: usize = STAGES.len() + 1;

const QUESTION: &str = "Where does the time of an empty round trip to the GPU go?";

/// What makes round trips: a device, or a test's stand-in.
pub(super) trait LatencyDevice {
    /// One round trip of variant `wait_idx`; calls `lap` at the end of each stage but the last.
    fn trip(&mut self, wait_idx: usize, lap: &mut dyn FnMut()) -> Result<(), OpError>;

    /// One round trip whose pass is timed on the GPU, in ns; `None` where it can't be.
    fn gpu_ns(&mut self) -> Result<Option<u64>, OpError>;
}

struct LatencySubject<'a, D, C> {
    device: D,
    clock: &'a C,
    gpu_ns: Vec<u64>,
    n_gpu_trips: u32,
}

impl<D: LatencyDevice, C: Clock> Subject<N_PARTS> for LatencySubject<'_, D, C> {
    fn run(&mut self, wait_idx: usize) -> Result<[u64; N_PARTS], OpError> {
        // When it began, and when each stage ended.
        let mut marks_ns = [0; N_PARTS];
        let mut n_laps = 0;
        let clock = self.clock;
        marks_ns[0] = clock.now_ns();
        self.device.trip(wait_idx, &mut || {
            n_laps = (n_laps + 1).min(N_PARTS - 2);
            marks_ns[n_laps] = clock.now_ns();
        })?;
        marks_ns[N_PARTS - 1] = clock.now_ns();
        let mut parts_ns = [0; N_PARTS];
        parts_ns[0] = marks_ns[N_PARTS - 1] - marks_ns[0];
        for stage in 1..N_PARTS {
            parts_ns[stage] = marks_ns[stage] - marks_ns[stage - 1];
        }
        Ok(parts_ns)
    }

    fn end_block(&mut self, _wait_idx: usize) -> Result<(), OpError> {
        for _ in 0..self.n_gpu_trips {
            self.gpu_ns.extend(self.device.gpu_ns()?);
        }
        Ok(())
    }
}

/// How much is measured.
fn plan(effort: Effort) -> (Plan, u32) {
    match effort {
        // 500 round trips of each way to wait, in ten rounds.
        Effort::Full => (Plan { n_rounds: 10, n_ops: 50, n_warmup: 5 }, 5),
        Effort::Quick => (Plan { n_rounds: 6, n_ops: 8, n_warmup: 2 }, 2),
    }
}

/// Measures it on `gpu`.
pub fn measure(gpu: &Gpu, context: &Context, watch: &mut dyn Watch) -> ProbeReport {
    let mut report = context.report("latency", QUESTION, Some(gpu));
    let (plan, n_gpu_trips) = plan(context.effort);
    report
        .settings
        .set("rounds", plan.n_rounds)
        .set("trips_per_round", plan.n_ops)
        .set("warmup_trips_per_round", plan.n_warmup);
    let device = WgpuTrips::new(gpu);
    let has_timestamps = device.timer.is_some();
    let mut subject = LatencySubject { device, clock: &context.clock, gpu_ns: Vec::new(), n_gpu_trips };
    let measured = measure_interleaved(plan, FrameWait::ALL.len(), &mut subject, &context.clock, watch);
    let names: Vec<String> = FrameWait::ALL.iter().map(ToString::to_string).collect();
    fill(&mut report, &names, measured, Spread::of(subject.gpu_ns.iter().copied()));
    if !has_timestamps {
        report.cautions.push("the adapter has no timestamps: how long the GPU itself ran is not known".into());
    }
    report
}

/// From samples to tables, charts and sentences.
fn fill(report: &mut ProbeReport, waits: &[String], measured: Interleaved<N_PARTS>, gpu: Option<Spread>) {
    report.ended = measured.ended;
    for (wait, samples) in waits.iter().zip(&measured.variants) {
        let Some(total) = samples.spread(0) else { continue };
        let mut rows = Vec::new();
        let mut bars = Vec::new();
        for (stage, name) in (1..).zip(STAGES).chain([(0, "total")]) {
            let Some(spread) = samples.spread(stage) else { continue };
            let mut row = vec![Cell::from(name)];
            row.extend(Cell::spread_us(Some(&spread)));
            rows.push(row);
            bars.push(Bar::us(name, &spread));
            report.add_series(format!("{wait}: {name}"), spread, samples.round_medians_ns(stage));
        }
        let mut row = vec![Cell::from("of which GPU execution")];
        row.extend(Cell::spread_us(gpu.as_ref()));
        rows.push(row);
        let mut columns = vec![Column::text(&format!("stage ({wait} wait)"))];
        columns.extend(super::report::spread_columns());
        report.tables.push(Table { title: format!("An empty round trip, {wait} wait"), columns, rows });
        report.charts.push(Chart { title: format!("Stages, {wait} wait"), unit: "µs", marks: Marks::Bars(bars) });
        let share = samples.spread(N_PARTS - 1).map_or(0.0, |wait| 100.0 * wait.median / total.median);
        report.findings.push(format!(
            "with a {wait} wait a round trip takes {:.1} µs at the median, {share:.0}% of it in the wait",
            total.median / 1e3
        ));
    }
    if let Some(gpu) = gpu {
        report.findings.push(format!("the GPU itself runs for {:.2} µs of that", gpu.median / 1e3));
        report.add_series("GPU execution", gpu, Vec::new());
    }
    report.caution_disturbed();
}

/// Round trips through wgpu.
struct WgpuTrips<'a> {
    kernel: EmptyKernel<'a>,
    waits: Vec<super::context::Wait<'a>>,
    timer: Option<SpanTimer>,
}

impl<'a> WgpuTrips<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let waits = FrameWait::ALL.iter().map(|wait| super::context::waiter(gpu, *wait)).collect();
        Self { kernel: EmptyKernel::new(gpu), waits, timer: SpanTimer::new(gpu) }
    }
}

impl LatencyDevice for WgpuTrips<'_> {
    fn trip(&mut self, wait_idx: usize, lap: &mut dyn FnMut()) -> Result<(), OpError> {
        let mut encoder = self.kernel.encoder();
        lap();
        let mut pass = self.kernel.begin_pass(&mut encoder, None);
        lap();
        self.kernel.dispatch(&mut pass);
        lap();
        drop(pass);
        lap();
        let commands = encoder.finish();
        lap();
        let submission = self.kernel.gpu.queue.submit([commands]);
        lap();
        (self.waits[wait_idx])(&submission)?;
        Ok(self.kernel.gpu.check_errors()?)
    }

    fn gpu_ns(&mut self) -> Result<Option<u64>, OpError> {
        let Some(timer) = &self.timer else { return Ok(None) };
        let mut encoder = self.kernel.encoder();
        self.kernel.dispatch(&mut self.kernel.begin_pass(&mut encoder, Some(timer.first_writes())));
        timer.resolve(&mut encoder, false);
        let submission = self.kernel.gpu.queue.submit([encoder.finish()]);
        timer.request(false);
        (self.waits[0])(&submission)?;
        self.kernel.gpu.check_errors()?;
        timer.read_ns(false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::FakeClock;
    use super::*;

    /// Stage k takes k µs, the wait 100 µs, or 40 by the second way.
    struct Fake<'a>(&'a FakeClock);

    impl LatencyDevice for Fake<'_> {
        fn trip(&mut self, wait_idx: usize, lap: &mut dyn FnMut()) -> Result<(), OpError> {
            for stage in 1..STAGES.len() as u64 {
                self.0.pass(stage * 1_000, 0);
                lap();
            }
            self.0.pass([100_000, 40_000][wait_idx], 0);
            Ok(())
        }

        fn gpu_ns(&mut self) -> Result<Option<u64>, OpError> {
            Ok(Some(1_500))
        }
    }

    #[test]
    fn probe_latency_stages_add_up_to_the_total() {
        let clock = FakeClock::default();
        let mut subject = LatencySubject { device: Fake(&clock), clock: &clock, gpu_ns: Vec::new(), n_gpu_trips: 3 };
        let parts = subject.run(0).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(parts, [121_000, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 100_000]);
        assert_eq!(parts[1..].iter().sum::<u64>(), parts[0]);

        let plan = Plan { n_rounds: 6, n_ops: 4, n_warmup: 1 };
        let measured = measure_interleaved(plan, 2, &mut subject, &clock, &mut |_, _| true);
        assert_eq!(subject.gpu_ns.len(), 2 * 6 * 3);
        let mut report = ProbeReport::new("latency", QUESTION);
        fill(&mut report, &["block".into(), "spin".into()], measured, Spread::of(subject.gpu_ns));
        let [block, spin] = &report.tables[..] else { panic!("a table for each way to wait") };
        assert_eq!((block.rows.len(), spin.rows.len()), (9, 9));
        // Name, min, median, p95, p99.
        assert_eq!(block.rows[6][2], Cell::Number(100.0));
        assert_eq!(spin.rows[7][2], Cell::Number(61.0));
        assert_eq!(spin.rows[8][..3], [Cell::from("of which GPU execution"), Cell::Number(1.5), Cell::Number(1.5)]);
        assert!(report.findings[0].contains("121.0 µs at the median, 83% of it in the wait"), "{:?}", report.findings);
    }
}
