//! From the workers' times to the padding that the machine needs.

use crossbeam_utils::CachePadded;

use super::super::interleave::{Interleaved, Samples};
use super::super::report::{Bar, Cell, Chart, Column, Marks, ProbeReport, Table};
use super::super::spread::{Difference, Spread};
use super::{CONTROL_BYTES, CPU, Idle, Kind, N_PARTS, SLOT_BYTES, Variant, WALL};
use crate::measure::statistics::median;

/// Slots that cost less than this over the control's cost share no line.
const LEAST_SHARE: f64 = 0.10;

/// What the slots of a machine need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    /// Slots this far apart are as good as any; nearer ones are not.
    Bytes(usize),
    /// Even neighbouring words cost nothing that could be measured.
    NothingMeasured,
    /// Some differences can't be told with so few rounds, or the layouts were not all measured.
    Unknown,
}

/// Tables, charts and sentences.
pub(super) fn fill(
    report: &mut ProbeReport,
    variants: &[Variant],
    measured: Interleaved<N_PARTS>,
    events: &[Option<(u64, u64)>],
    n_increments: u64,
    reported_bytes: Option<u32>,
) {
    report.ended = measured.ended.clone();
    let n_most = variants.iter().map(Variant::n_workers).max().unwrap_or(0);
    let results: Vec<Measured> = variants
        .iter()
        .zip(&measured.variants)
        .zip(events)
        .map(|((variant, samples), events)| Measured { variant, samples, events: *events, n_increments })
        .collect();
    for result in results.iter().filter(|result| result.samples.unavailable.is_some()) {
        let reason = result.samples.unavailable.as_deref().unwrap_or_default();
        report.cautions.push(format!("{}: not available: {reason}", result.variant.name()));
    }

    let is_whole = |result: &&Measured| result.variant.n_workers() == n_most && result.variant.place.is_none();
    let layouts: Vec<&Measured> = results.iter().filter(is_whole).collect();
    let control = layouts.iter().copied().find(|result| result.is_layout(Kind::Threads, CONTROL_BYTES, Idle::None));
    report.tables.push(layout_table(&format!("{n_most} workers, by layout"), &layouts, control));
    let bars = layouts.iter().filter_map(|result| Some(Bar { name: result.variant.name(), ..result.bar()? })).collect();
    report.charts.push(Chart {
        title: format!("One increment with {n_most} workers"),
        unit: "ns",
        marks: Marks::Bars(bars),
    });
    for result in &layouts {
        if let Some(spread) = result.spread() {
            report.add_series(result.variant.name(), spread, result.samples.round_medians_ns(CPU));
        }
    }
    if n_most > 1 {
        scaling(report, &results, n_most);
    }
    let placed: Vec<&Measured> = results.iter().filter(|result| result.variant.place.is_some()).collect();
    if !placed.is_empty() {
        report.tables.push(layout_table("Two workers, by where they are", &placed, None));
    }
    say(report, n_most, &layouts, control, reported_bytes);
    report.caution_disturbed();
}

/// One variant with its samples.
struct Measured<'a> {
    variant: &'a Variant,
    samples: &'a Samples<N_PARTS>,
    events: Option<(u64, u64)>,
    n_increments: u64,
}

impl Measured<'_> {
    fn is_layout(&self, kind: Kind, slot_bytes: usize, idle: Idle) -> bool {
        self.variant.kind == kind && self.variant.slot_bytes == slot_bytes && self.variant.idle == idle
    }

    /// CPU time of a worker's whole count, in ns.
    fn spread(&self) -> Option<Spread> {
        self.samples.spread(CPU)
    }

    fn bar(&self) -> Option<Bar> {
        let (spread, n) = (self.spread()?, self.n_increments as f64);
        Some(Bar { name: String::new(), low: spread.p25 / n, middle: spread.median / n, high: spread.p95 / n })
    }

    fn less(&self, other: &Self) -> Option<Difference> {
        self.samples.less(other.samples, CPU)
    }

    fn instructions_per_cycle(&self) -> Option<f64> {
        self.events.map(|(instructions, cycles)| instructions as f64 / cycles as f64)
    }
}

fn layout_table(title: &str, results: &[&Measured], control: Option<&Measured>) -> Table {
    let ns = |name: &str| Column::number(name, "ns", 3);
    let columns = vec![
        Column::text("layout"),
        ns("min"),
        ns("median"),
        ns("p95"),
        ns("slowest, wall"),
        Column::number("instructions per cycle", "", 2),
        Column::number("over the control", "%", 0),
        Column::text(""),
    ];
    let rows = results.iter().map(|result| {
        let n = result.n_increments as f64;
        let spread = result.spread();
        let cell = |of: fn(&Spread) -> f64| Cell::from(spread.as_ref().map(|spread| of(spread) / n));
        let wall = result.samples.spread(WALL).map(|spread| spread.median / n);
        let less = control.filter(|control| !std::ptr::eq(*control, *result)).and_then(|control| {
            let base = control.spread()?.median;
            Some((result.less(control)?, base))
        });
        vec![
            Cell::from(result.variant.name()),
            cell(|spread| spread.min),
            cell(|spread| spread.median),
            cell(|spread| spread.p95),
            wall.into(),
            result.instructions_per_cycle().into(),
            less.map(|(difference, base)| 100.0 * difference.median / base).into(),
            Cell::from(
                less.map_or("", |(difference, _)| if difference.is_clear() { "clear" } else { "can't be told" }),
            ),
        ]
    });
    Table { title: title.to_owned(), columns, rows: rows.collect() }
}

/// Work done in a time by 1, 2, 4 … workers, against one.
fn scaling(report: &mut ProbeReport, results: &[Measured], n_most: usize) {
    const LAYOUTS: [usize; 3] = [SLOT_BYTES[0], 64, 128];
    let cost = |n_workers: usize, slot_bytes: usize| {
        let is_it = |result: &&Measured| {
            result.variant.n_workers() == n_workers
                && result.variant.place.is_none()
                && result.is_layout(Kind::Threads, slot_bytes, Idle::None)
        };
        results.iter().find(is_it).and_then(Measured::spread).map(|spread| spread.median)
    };
    let mut crowds = super::crowd_sizes(n_most);
    crowds.push(n_most);
    let mut columns = vec![Column::text("workers")];
    columns.extend(LAYOUTS.map(|bytes| Column::number(&format!("slots of {bytes} bytes"), "×", 2)));
    let (mut rows, mut lines) =
        (Vec::new(), LAYOUTS.map(|bytes| (format!("slots of {bytes} bytes"), Vec::new())).to_vec());
    for n_workers in crowds {
        let mut row = vec![Cell::from(n_workers.to_string())];
        for (slot_bytes, (_, points)) in LAYOUTS.into_iter().zip(&mut lines) {
            let speedup = cost(1, slot_bytes).zip(cost(n_workers, slot_bytes));
            let speedup = speedup.map(|(alone, together)| n_workers as f64 * alone / together);
            points.extend(speedup.map(|speedup| (n_workers as f64, speedup)));
            row.push(speedup.into());
        }
        rows.push(row);
    }
    let title = "Work done in the same CPU time a worker, against one worker".to_owned();
    report.tables.push(Table { title: title.clone(), columns, rows });
    report.charts.push(Chart { title, unit: "×", marks: Marks::Lines { x_name: "workers", lines } });
}

fn say(
    report: &mut ProbeReport,
    n_workers: usize,
    layouts: &[&Measured],
    control: Option<&Measured>,
    reported_bytes: Option<u32>,
) {
    let reported = match reported_bytes {
        Some(bytes) => format!("the system reports lines of {bytes} bytes"),
        None => "the system doesn't report the line's size".to_owned(),
    };
    report.findings.push(reported);
    if n_workers < 2 {
        report.unavailable = Some("one usable core: no line can be shared, so its cost can't be measured".into());
        return;
    }
    let excess = |slot_bytes: usize| -> Option<(Difference, f64)> {
        let control = control?;
        let layout = layouts.iter().find(|result| result.is_layout(Kind::Threads, slot_bytes, Idle::None))?;
        Some((layout.less(control)?, median(&control.samples.round_medians_ns(CPU))?))
    };
    let costs: Vec<(usize, Option<(Difference, f64)>)> =
        SLOT_BYTES.iter().filter(|bytes| **bytes < CONTROL_BYTES).map(|bytes| (*bytes, excess(*bytes))).collect();
    let padded = align_of::<CachePadded<u64>>();
    match padding(&costs) {
        Padding::Bytes(bytes) => {
            let needed = bytes.max(reported_bytes.unwrap_or(0) as usize);
            report.settings.set("measured_padding_bytes", bytes);
            report.findings.push(format!("measured, slots {bytes} bytes apart are as good as any, and nearer ones are not"));
            report.findings.push(match needed <= padded {
                true => format!("per-thread slots need {needed} bytes here; this program pads them to {padded}: enough"),
                false => format!("per-thread slots need {needed} bytes here; this program pads them to {padded}: TOO LITTLE"),
            });
        }
        Padding::NothingMeasured => report.cautions.push(format!(
            "neighbouring slots cost nothing that could be measured: the cores share their caches, or did not run at the same time; \
             this says nothing against padding (this program pads to {padded} bytes)"
        )),
        Padding::Unknown => {
            report.cautions.push("too little was measured to say how far apart slots must be".into());
        }
    }
    idle_neighbours(report, layouts);
}

/// The seed of the question: 64-byte slots whose neighbours are idle.
fn idle_neighbours(report: &mut ProbeReport, layouts: &[&Measured]) {
    let find = |idle| layouts.iter().find(|result| result.is_layout(Kind::Threads, 64, idle));
    let Some((busy, between)) = find(Idle::None).zip(find(Idle::Interleaved)) else { return };
    let (Some(difference), Some(base)) = (busy.less(between), between.spread()) else { return };
    let share = 100.0 * difference.median / base.median;
    report.findings.push(match difference.is_clear() && difference.median > LEAST_SHARE * base.median {
        true => format!("slots of 64 bytes with busy neighbours cost {share:.0}% more than with idle ones: 64 bytes are too few here"),
        false => format!("slots of 64 bytes cost the same with busy and with idle neighbours ({share:+.0}%)"),
    });
}

/// The least size from which on no slot is clearly dearer than the control, and by more than [`LEAST_SHARE`].
///
/// `costs` ascend in size; each has its difference to the control, and the control's cost.
pub(super) fn padding(costs: &[(usize, Option<(Difference, f64)>)]) -> Padding {
    let mut needed = None;
    for (bytes, cost) in costs {
        let Some((difference, control)) = cost else { return Padding::Unknown };
        if difference.low.is_none() {
            return Padding::Unknown;
        }
        if difference.is_clear() && difference.median > LEAST_SHARE * control {
            needed = Some(2 * bytes);
        }
    }
    needed.map_or(Padding::NothingMeasured, Padding::Bytes)
}

#[cfg(test)]
mod tests {
    use super::super::super::clock::FakeClock;
    use super::super::super::error::OpError;
    use super::super::super::interleave::{Plan, measure_interleaved};
    use super::super::counters::{Events, WorkerCount};
    use super::super::{Crowd, LineSubject, variants};
    use super::*;

    /// A machine with lines of `line_bytes`: each worker that has a busy neighbour on its line takes four times as long.
    struct Fake {
        line_bytes: usize,
        has_processes: bool,
        noise: u64,
    }

    impl Crowd for Fake {
        fn run(&mut self, variant: &Variant, n_increments: u64) -> Result<Vec<WorkerCount>, OpError> {
            if variant.kind != Kind::Threads && !self.has_processes {
                return Err(OpError::Unavailable("no processes".into()));
            }
            self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let line = |worker| variant.slot_offset(worker) / self.line_bytes;
            let n = variant.n_workers();
            let is_shared = |worker: usize| {
                variant.kind != Kind::PrivateProcesses
                    && (0..n).any(|other| other != worker && line(other) == line(worker))
            };
            let count = |worker| {
                let factor = if is_shared(worker) { 4 } else { 1 };
                let ns = n_increments * factor + (self.noise >> 58);
                let events = Events { cycles: 3 * ns, instructions: 9 * n_increments };
                WorkerCount { wall_ns: 2 * ns, cpu_ns: Some(ns), events: Some(events) }
            };
            Ok((0..n).map(count).collect())
        }
    }

    fn probed(line_bytes: usize, n_cores: u32, has_processes: bool, n_rounds: u32) -> ProbeReport {
        let cores: Vec<_> = (0..n_cores).map(Some).collect();
        let variants = variants(&cores, &[]);
        let events = vec![None; variants.len()];
        let crowd = Fake { line_bytes, has_processes, noise: 1 };
        let mut subject = LineSubject { crowd, variants, n_increments: 10_000, events };
        let (plan, clock) = (Plan { n_rounds, n_ops: 2, n_warmup: 1 }, FakeClock::default());
        let n_variants = subject.variants.len();
        let measured = measure_interleaved(plan, n_variants, &mut subject, &clock, &mut |_, _| true);
        let mut report = ProbeReport::new("line", super::super::QUESTION);
        fill(&mut report, &subject.variants, measured, &subject.events, 10_000, Some(64));
        report
    }

    fn says(report: &ProbeReport, text: &str) -> bool {
        report.findings.iter().chain(&report.cautions).any(|sentence| sentence.contains(text))
    }

    #[test]
    fn probe_line_measures_the_line_and_names_the_padding() {
        for line_bytes in [32, 64, 128] {
            let report = probed(line_bytes, 4, true, 8);
            assert!(says(&report, &format!("measured, slots {line_bytes} bytes apart")), "{:?}", report.findings);
            let needed = line_bytes.max(64);
            assert!(says(&report, &format!("need {needed} bytes here")), "{:?}", report.findings);
        }
        let report = probed(128, 4, true, 8);
        assert!(says(&report, "64 bytes are too few here"), "{:?}", report.findings);
        assert!(says(&probed(64, 4, true, 8), "the same with busy and with idle neighbours"));
        // 9 instructions in 12 cycles where the line is shared, in 3 where it isn't.
        let rows = &report.tables[0].rows;
        let ipc = |name: &str| rows.iter().find(|row| row[0] == Cell::from(name)).map(|row| row[5].clone());
        assert!(matches!(ipc("slots of 8 bytes"), Some(Cell::Number(ipc)) if (ipc - 0.75).abs() < 0.01));
        assert!(matches!(ipc("slots of 256 bytes"), Some(Cell::Number(ipc)) if (ipc - 3.0).abs() < 0.05));
    }

    #[test]
    fn probe_line_workers_that_share_do_not_scale() {
        let report = probed(64, 8, true, 8);
        let table = report.tables.iter().find(|table| table.title.starts_with("Work done")).expect("a table");
        assert_eq!(
            table.rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>(),
            ["1", "2", "4", "8"].map(Cell::from)
        );
        let [_, Cell::Number(adjacent), _, Cell::Number(padded)] = table.rows[3][..] else {
            panic!("{:?}", table.rows)
        };
        assert!((1.9..2.1).contains(&adjacent) && (7.8..8.2).contains(&padded), "{adjacent} and {padded}");
    }

    #[test]
    fn probe_line_says_what_a_machine_cannot_support() {
        let report = probed(64, 1, true, 8);
        assert!(report.unavailable.as_ref().is_some_and(|reason| reason.starts_with("one usable core")), "{report:?}");
        // Lines so small that nothing shares: two threads of one core look like this.
        let report = probed(8, 2, true, 8);
        assert!(
            says(&report, "cost nothing that could be measured") && !says(&report, "need"),
            "{:?}",
            report.findings
        );
        let report = probed(64, 2, true, 3);
        assert!(says(&report, "too little was measured"), "{:?}", report.cautions);
        let report = probed(64, 2, false, 8);
        assert!(says(&report, "processes, memory of their own: not available: no processes"), "{:?}", report.cautions);
        assert!(says(&report, "measured, slots 64 bytes apart"), "{:?}", report.findings);
    }
}
