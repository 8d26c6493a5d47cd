//! The comparison as tables and sentences.

use super::{N_BATCHED, Op, Variant, Way, on_cpu};
use crate::measure::grouped;
use crate::probe::interleave::{Interleaved, Samples};
use crate::probe::report::{Cell, Chart, Column, Marks, ProbeReport, Table};

pub(super) fn fill(report: &mut ProbeReport, all_rows: &[usize], variants: &[Variant], measured: Interleaved<1>) {
    report.ended = measured.ended;
    let samples = |n: usize, op: Op, way: Way| -> &Samples<1> {
        let idx = variants.iter().position(|variant| *variant == (n, op, way)).unwrap_or(0);
        &measured.variants[idx]
    };
    let median_us = |n, op, way| samples(n, op, way).spread(0).map(|spread| spread.median / 1e3);
    let name = |way: Way| match way {
        Way::Core => format!("one core, {}", on_cpu::vectors().0),
        way => way.name().to_owned(),
    };

    let mut columns = vec![Column::number("rows", "", 0), Column::text("operation")];
    for way in Way::ALL {
        columns.push(Column::us(&name(way)));
        columns.push(Column::us("p99"));
    }
    let mut rows = Vec::new();
    for &n in all_rows {
        for op in Op::ALL {
            let mut row = vec![Cell::Number(n as f64), Cell::from(op.name())];
            for way in Way::ALL {
                let spread = samples(n, op, way).spread(0);
                row.push(spread.map(|spread| spread.median / 1e3).into());
                row.push(spread.map(|spread| spread.p99 / 1e3).into());
                if let Some(spread) = spread {
                    let rounds = samples(n, op, way).round_medians_ns(0);
                    report.add_series(format!("{} rows, {}, {}", n, op.name(), way.name()), spread, rounds);
                }
            }
            rows.push(row);
        }
    }
    let title = format!("One operation at the median; batched: of {N_BATCHED} in a submission, a chain in one");
    report.tables.push(Table { title, columns, rows });
    for op in Op::ALL {
        let line = |way: Way| {
            (name(way), all_rows.iter().filter_map(|n| Some((*n as f64, median_us(*n, op, way)?))).collect())
        };
        let lines = Way::ALL.map(line).to_vec();
        let title = format!("{} by rows", op.name());
        report.charts.push(Chart { title, unit: "µs", marks: Marks::Lines { x_name: "rows", lines } });
    }
    let n = all_rows[0];
    if let (Some(resident), Some(spin)) = (median_us(n, Op::Add, Way::Resident), median_us(n, Op::Add, Way::Spin)) {
        let rows = grouped(&n.to_string());
        report.findings.push(format!(
            "an add of {rows} rows takes {resident:.2} µs through the worker and {spin:.1} µs with a submission and a spinning wait, which is {:.2} times as long",
            spin / resident
        ));
    }
    for op in Op::ALL {
        // Clear in the rounds, not only at the medians.
        let is_faster = |n: usize, way: Way, than: Way| {
            let difference = samples(n, op, way).less(samples(n, op, than), 0);
            difference.is_some_and(|difference| difference.high.unwrap_or(difference.median) < 0.0)
        };
        let from = |way: Way, than: Way| {
            let faster: Vec<bool> = all_rows.iter().map(|n| is_faster(*n, way, than)).collect();
            format!("{} beats {} {}", way.name(), than.name(), where_faster(all_rows, &faster))
        };
        report.findings.push(format!(
            "{}: {}; {}; {}",
            op.name(),
            from(Way::Resident, Way::Core),
            from(Way::Spin, Way::Core),
            from(Way::Resident, Way::Batched)
        ));
    }
    fill_cpu(report, all_rows[0], &samples);
}

/// At which of `rows`, in words: from the first at which it is faster to the last.
fn where_faster(rows: &[usize], faster: &[bool]) -> String {
    let at = |idx: usize| grouped(&rows[idx].to_string());
    let (Some(first), Some(last)) = (faster.iter().position(|is| *is), faster.iter().rposition(|is| *is)) else {
        return "nowhere".into();
    };
    match (first == 0, last + 1 == rows.len()) {
        (true, true) => "at every length".into(),
        (true, false) => format!("up to {} rows", at(last)),
        (false, true) => format!("from {} rows", at(first)),
        (false, false) if first == last => format!("at {} rows", at(first)),
        (false, false) => format!("from {} to {} rows", at(first), at(last)),
    }
}

/// What an operation costs the CPU while somebody waits for it.
fn fill_cpu<'a>(report: &mut ProbeReport, n: usize, samples: &dyn Fn(usize, Op, Way) -> &'a Samples<1>) {
    let op = Op::Add;
    let rows = Way::ALL.into_iter().map(|way| {
        let samples = samples(n, op, way);
        let process = samples.cpu_per_op(|cpu| cpu.process_ns);
        let thread = samples.cpu_per_op(|cpu| cpu.thread_ns);
        let per_op = |cpu_ns: f64| cpu_ns / 1e3;
        vec![
            Cell::from(if way == Way::Batched { "batched, all ten" } else { way.name() }),
            process.map(|cpu| per_op(cpu.cpu_ns)).into(),
            thread.map(|cpu| per_op(cpu.cpu_ns)).into(),
            process.map(|cpu| cpu.cpu_per_wall).into(),
        ]
    });
    report.tables.push(Table {
        title: format!("CPU time of one {} of {n} rows, busy", op.name()),
        columns: vec![
            Column::text("way"),
            Column::us("process"),
            Column::us("waiting thread"),
            Column::number("cores busy", "", 2),
        ],
        rows: rows.collect(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_operations_say_where_a_way_is_faster_and_where_no_longer() {
        let rows = [1_000, 10_000, 100_000];
        let said = |faster: [bool; 3]| where_faster(&rows, &faster);
        assert_eq!(said([false; 3]), "nowhere");
        assert_eq!(said([true; 3]), "at every length");
        assert_eq!(said([true, true, false]), "up to 10,000 rows");
        assert_eq!(said([false, true, true]), "from 10,000 rows");
        assert_eq!(said([false, true, false]), "at 10,000 rows");
        // What lies between is of one kind with what lies around it: rounds were too few to tell.
        assert_eq!(said([true, false, true]), "at every length");
    }
}
