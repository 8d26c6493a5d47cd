//! Probes on the adapter that is there: they end, say what they measured, and outlive a lost device and a stop.

use praxis::gpu::{Gpu, GpuOptions};
use praxis::measure::Machine;
use praxis::probe::report::Cell;
use praxis::probe::{
    Context, Effort, Ended, ProbeReport, SystemClock, batch, latency, line, resident, resident_ops, waits, watchdog,
};

fn context() -> Context {
    Context {
        effort: Effort::Quick,
        clock: SystemClock::start(),
        machine: Machine { n_cores: 2, ..Machine::default() },
    }
}

fn gpu() -> Gpu {
    Gpu::open_for_compute(&GpuOptions::default()).expect("an adapter")
}

fn numbers(report: &ProbeReport, table_idx: usize, column_idx: usize) -> Vec<f64> {
    let cells = report.tables[table_idx].rows.iter().map(|row| &row[column_idx]);
    cells.filter_map(|cell| if let Cell::Number(number) = cell { Some(*number) } else { None }).collect()
}

#[test]
fn probe_gpu_latency_and_batch_measure_something_everywhere() {
    let gpu = gpu();
    let report = latency::measure(&gpu, &context(), &mut |_, _| true);
    assert_eq!(report.ended, Ended::Complete);
    let medians = numbers(&report, 0, 2);
    assert!(medians.len() >= 8 && medians[7] > 0.0, "{medians:?}");
    let report = batch::measure(&gpu, &context(), &mut |_, _| true);
    assert_eq!(report.ended, Ended::Complete);
    for column_idx in [1, 4, 7] {
        let per_op = numbers(&report, 0, column_idx);
        assert!(per_op.len() == 6 && per_op.iter().all(|us| *us > 0.0), "{per_op:?}");
    }
}

#[test]
fn probe_gpu_every_wait_waits_until_the_work_is_done() {
    let report = waits::measure(&gpu(), &context(), 50, &mut |_, _| true);
    assert_eq!(report.ended, Ended::Complete);
    let waits = numbers(&report, 0, 5);
    let n_missing = report.cautions.iter().filter(|caution| caution.contains("not available")).count();
    assert_eq!(waits.len() + n_missing, report.tables[0].rows.len(), "{:?}", report.cautions);
    assert!(waits.iter().all(|us| *us > 0.0), "{waits:?}");
}

#[test]
fn probe_gpu_resident_gives_a_verdict() {
    let report = resident::measure(&gpu(), &context(), &mut |_, _| true);
    assert_eq!(report.ended, Ended::Complete);
    let has_route = report.findings.iter().any(|finding| finding.starts_with("a resident kernel can be had"));
    assert!(has_route != report.unavailable.is_some(), "{:?} and {:?}", report.findings, report.unavailable);
}

#[test]
fn probe_gpu_resident_ops_compares_right_results_or_says_why_not() {
    let barriers = resident_ops::Barriers { is_acquiring: true, answers_after_stores: false };
    let report = resident_ops::measure(&gpu(), &context(), barriers, &mut |_, _| true);
    if let Some(reason) = &report.unavailable {
        assert!(!reason.is_empty() && report.tables.is_empty());
        return;
    }
    assert_eq!(report.ended, Ended::Complete);
    let titles: Vec<&str> = report.tables.iter().map(|table| table.title.as_str()).collect();
    // On a busy machine the second worker may not be had; then the report says so.
    let n_left_out = report.cautions.iter().filter(|caution| caution.starts_with("no second worker")).count();
    assert_eq!(titles.len() + n_left_out, 6, "{titles:?}, {:?}", report.cautions);
    let place_of = |title: &str| titles.iter().position(|of| of.starts_with(title)).expect("the table");
    // Two lengths of six operations, each done in five ways.
    let ways = place_of("One operation at the median");
    assert_eq!(report.tables[ways].rows.len(), 12);
    for way in 0..5 {
        assert!(numbers(&report, ways, 2 + way * 2).iter().all(|us| *us > 0.0), "{titles:?}");
    }
    // Two states in which nothing is done and four ways to add; where there is no counter of power, the report says so.
    let costs = place_of("What goes on");
    assert_eq!(report.tables[costs].rows.len(), 6);
    assert_eq!(numbers(&report, costs, 2).iter().filter(|rate| **rate > 0.0).count(), 4, "{:?}", report.tables[costs]);
    let has_power = !numbers(&report, costs, 3).is_empty();
    assert_ne!(report.cautions.iter().any(|caution| caution.starts_with("the GPU's power is not known")), has_power);
    assert!(!(has_power && gpu().is_software()), "a software adapter has none");
    assert!(report.findings.iter().any(|finding| finding.starts_with("sum: resident beats one core")));
}

#[test]
fn probe_gpu_watchdog_lets_short_kernels_end() {
    let report = watchdog::measure(&gpu(), &context(), 0.1, &mut |_, _| true);
    assert_eq!((&report.ended, numbers(&report, 0, 1).len()), (&Ended::Complete, 1));
    assert!(report.findings[0].starts_with("no kernel was killed"), "{:?}", report.findings);
}

/// A device that is gone ends a probe with a reason; nothing panics.
#[test]
fn probe_gpu_a_lost_device_is_told_of() {
    type Measure = fn(&Gpu) -> ProbeReport;
    let probes: [Measure; 3] = [
        |gpu| latency::measure(gpu, &context(), &mut |_, _| true),
        |gpu| batch::measure(gpu, &context(), &mut |_, _| true),
        |gpu| waits::measure(gpu, &context(), 50, &mut |_, _| true),
    ];
    for measure in probes {
        let gpu = gpu();
        gpu.device.destroy();
        let report = measure(&gpu);
        assert!(matches!(&report.ended, Ended::Failed(reason) if !reason.is_empty()), "{:?}", report.ended);
    }
}

#[test]
fn probe_gpu_a_device_lost_half_way_leaves_what_was_measured() {
    let gpu = gpu();
    let device = gpu.device.clone();
    let report = latency::measure(&gpu, &context(), &mut |n_done, _| {
        if n_done == 4 {
            device.destroy();
        }
        true
    });
    assert!(matches!(&report.ended, Ended::Failed(_)), "{:?}", report.ended);
    assert!(!numbers(&report, 0, 2).is_empty());
}

#[test]
fn probe_line_runs_without_processes_and_can_be_stopped() {
    let report = line::measure(&context(), None, &mut |_, _| true);
    assert_eq!(report.ended, Ended::Complete);
    assert!(report.cautions.iter().any(|caution| caution.contains("it is not known which program to start")));
    assert!(!numbers(&report, 0, 2).is_empty());
    let report = line::measure(&context(), None, &mut |n_done, _| n_done < 9);
    assert_eq!(report.ended, Ended::Interrupted);
}
