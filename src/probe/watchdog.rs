//! How long a kernel may run before the driver kills it.

use super::clock::{Clock, SystemClock};
use super::context::Context;
use super::error::{OpError, ProbeError, caught};
use super::interleave::{Watch, one_line};
use super::report::{Cell, Column, Ended, ProbeReport, Table};
use crate::gpu::{Gpu, compute_pipeline, storage_layout};
use crate::pacing::{DeviceWaiter, FrameWait, SubmissionWaiter};

const QUESTION: &str = "How long may a kernel run before the driver kills it?";
const LABEL: &str = "praxis::probe::watchdog";
/// Kernels aim at these, in s; the greatest ones only as far as asked.
const STEPS_S: [f64; 9] = [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0];

/// The longest that may be asked for, in s.
pub const LONGEST_S: f64 = 60.0;

/// How one kernel ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// By itself.
    Survived,
    /// By the driver or the system, in its words.
    Killed(String),
}

/// What runs long kernels: a device, or a test's stand-in.
pub(super) trait LongKernels {
    /// Runs one that aims at `seconds`, bounded by its number of steps; its fate, and its time in ns.
    fn run(&mut self, seconds: f64) -> Result<(Fate, u64), OpError>;
}

/// Measures it, with a device of its own, up to kernels of `longest_s`.
pub fn measure(gpu: &Gpu, context: &Context, longest_s: f64, watch: &mut dyn Watch) -> ProbeReport {
    let mut report = context.report("watchdog", QUESTION, Some(gpu));
    report.settings.set("longest_s", longest_s);
    match WgpuKernels::open(gpu) {
        Ok(mut device) => probe(&mut report, &mut device, longest_s, watch),
        Err(error) => report.ended = Ended::Failed(one_line(&error)),
    }
    report
}

/// The lengths to try: the steps below `longest_s`, and itself.
fn lengths_s(longest_s: f64) -> Vec<f64> {
    let longest_s = longest_s.min(LONGEST_S);
    STEPS_S.into_iter().filter(|step| *step < longest_s).chain([longest_s]).collect()
}

fn probe(report: &mut ProbeReport, device: &mut impl LongKernels, longest_s: f64, watch: &mut dyn Watch) {
    let lengths = lengths_s(longest_s);
    let mut rows = Vec::new();
    let mut longest_ns = None;
    let mut killed = None;
    for (step, seconds) in (1..).zip(&lengths) {
        match caught(|| device.run(*seconds)) {
            Ok((fate, ns)) => {
                let text = match &fate {
                    Fate::Survived => "ended by itself".to_owned(),
                    Fate::Killed(words) => format!("killed: {words}"),
                };
                rows.push(vec![Cell::Number(*seconds), Cell::Number(ns as f64 / 1e9), Cell::from(text)]);
                match fate {
                    Fate::Survived => longest_ns = longest_ns.max(Some(ns)),
                    Fate::Killed(_) => {
                        killed = Some(ns);
                        break;
                    }
                }
            }
            Err(OpError::Unavailable(reason)) => {
                report.unavailable = Some(reason);
                break;
            }
            Err(OpError::Fatal(error)) => {
                report.ended = Ended::Failed(one_line(&error));
                break;
            }
        }
        if !watch.step(step, lengths.len() as u64) && step < lengths.len() as u64 {
            report.ended = Ended::Interrupted;
            break;
        }
    }
    let columns = vec![Column::number("aimed at", "s", 2), Column::number("took", "s", 2), Column::text("fate")];
    report.tables.push(Table { title: "Kernels of growing length".into(), columns, rows });
    let survived = longest_ns.map(|ns| ns as f64 / 1e9);
    report.findings.extend(match (killed, survived) {
        (Some(ns), Some(survived)) => Some(format!(
            "a kernel was killed after {:.2} s; {survived:.2} s were allowed: keep kernels well below that",
            ns as f64 / 1e9
        )),
        (Some(ns), None) => Some(format!("the first kernel was killed, after {:.2} s", ns as f64 / 1e9)),
        (None, Some(survived)) => {
            Some(format!("no kernel was killed, up to {survived:.2} s; what lasts longer was not tried"))
        }
        (None, None) => None,
    });
}

/// A chain of dependent multiply-adds on one thread, as long as asked for.
const WGSL: &str = "
@group(0) @binding(0) var<storage, read_write> cell: array<u32, 2>;

@compute @workgroup_size(1)
fn main() {
    var value = cell[1];
    for (var block = 0u; block < cell[0]; block++) {
        for (var step = 0u; step < 1024u; step++) {
            value = value * 1664525u + 1013904223u;
        }
    }
    cell[1] = value;
}
";

struct WgpuKernels {
    gpu: Gpu,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    cell: wgpu::Buffer,
    clock: SystemClock,
    blocks_per_s: Option<f64>,
}

impl WgpuKernels {
    fn open(parent: &Gpu) -> Result<Self, ProbeError> {
        let gpu = parent.open_another_for_compute()?;
        let module = gpu.factory.shader(LABEL, WGSL);
        let layout = storage_layout(&gpu, LABEL, 1);
        let pipeline = compute_pipeline(&gpu, LABEL, &module, &layout);
        let cell = gpu.factory.buffer(LABEL, 8, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST);
        let bindings = gpu.factory.bind_group(LABEL, &layout, &[cell.as_entire_binding()]);
        Ok(Self { gpu, pipeline, bindings, cell, clock: SystemClock::start(), blocks_per_s: None })
    }

    fn run_blocks(&self, n_blocks: u32) -> Result<u64, ProbeError> {
        let gpu = &self.gpu;
        gpu.queue.write_buffer(&self.cell, 0, &n_blocks.to_le_bytes());
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(LABEL) });
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.bindings, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        let started_ns = self.clock.now_ns();
        let submission = gpu.queue.submit([encoder.finish()]);
        DeviceWaiter::new(&gpu.device, FrameWait::Block).wait(&submission)?;
        gpu.check_errors()?;
        Ok(self.clock.now_ns() - started_ns)
    }

    fn blocks_per_s(&mut self) -> Result<f64, ProbeError> {
        const LONG_ENOUGH_NS: u64 = 20_000_000;
        if let Some(blocks_per_s) = self.blocks_per_s {
            return Ok(blocks_per_s);
        }
        self.run_blocks(1)?;
        let mut n_blocks = 16u32;
        let run_ns = loop {
            let run_ns = self.run_blocks(n_blocks)?;
            if run_ns >= LONG_ENOUGH_NS || n_blocks >= u32::MAX / 8 {
                break run_ns;
            }
            n_blocks *= 4;
        };
        let blocks_per_s = f64::from(n_blocks) * 1e9 / run_ns.max(1) as f64;
        self.blocks_per_s = Some(blocks_per_s);
        Ok(blocks_per_s)
    }
}

impl LongKernels for WgpuKernels {
    fn run(&mut self, seconds: f64) -> Result<(Fate, u64), OpError> {
        let n_blocks = (self.blocks_per_s()? * seconds).clamp(1.0, f64::from(u32::MAX)) as u32;
        let started_ns = self.clock.now_ns();
        match self.run_blocks(n_blocks) {
            Ok(ns) => Ok((Fate::Survived, ns)),
            Err(error @ (ProbeError::Wait(_) | ProbeError::Gpu(_))) => {
                Ok((Fate::Killed(one_line(&error)), self.clock.now_ns() - started_ns))
            }
            Err(error) => Err(OpError::Fatal(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kills what is longer than this.
    struct Fake(f64, Vec<f64>);

    impl LongKernels for Fake {
        fn run(&mut self, seconds: f64) -> Result<(Fate, u64), OpError> {
            self.1.push(seconds);
            let ns = (seconds.min(self.0) * 1e9) as u64;
            Ok((if seconds > self.0 { Fate::Killed("lost".into()) } else { Fate::Survived }, ns))
        }
    }

    fn probed(limit_s: f64, longest_s: f64) -> (ProbeReport, Vec<f64>) {
        let (mut report, mut device) = (ProbeReport::new("watchdog", QUESTION), Fake(limit_s, Vec::new()));
        probe(&mut report, &mut device, longest_s, &mut |_, _| true);
        (report, device.1)
    }

    #[test]
    fn probe_watchdog_stops_at_the_first_kill() {
        let (report, tried) = probed(2.0, 10.0);
        assert_eq!(tried, [0.1, 0.25, 0.5, 1.0, 2.0, 5.0]);
        assert_eq!(report.ended, Ended::Complete);
        assert_eq!(
            report.findings,
            ["a kernel was killed after 2.00 s; 2.00 s were allowed: keep kernels well below that"]
        );
        assert_eq!(report.tables[0].rows[5][2], Cell::from("killed: lost"));
    }

    #[test]
    fn probe_watchdog_claims_no_more_than_was_tried() {
        let (report, tried) = probed(f64::INFINITY, 0.7);
        assert_eq!(tried, [0.1, 0.25, 0.5, 0.7]);
        assert_eq!(report.findings, ["no kernel was killed, up to 0.70 s; what lasts longer was not tried"]);
        assert_eq!(lengths_s(1e9).last(), Some(&LONGEST_S));
    }

    #[test]
    fn probe_watchdog_keeps_what_it_had_when_stopped() {
        let (mut report, mut device) = (ProbeReport::new("watchdog", QUESTION), Fake(9.0, Vec::new()));
        probe(&mut report, &mut device, 10.0, &mut |n_done, _| n_done < 2);
        assert_eq!((report.ended, report.tables[0].rows.len()), (Ended::Interrupted, 2));
    }
}
