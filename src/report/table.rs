//! The table of lines.

use std::cmp::Reverse;

use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, LineStyle, Row, Table, TableStyle};

use super::Report;
use super::format::{format_delta, format_value};
use crate::measure::names::{self, LineKind};
use crate::measure::{BudgetVerdict, RunLine, Summary};

/// The sections in their order, each with its title.
pub(super) const SECTIONS: &[(LineKind, &str)] = &[
    (LineKind::Frame, "frame"),
    (LineKind::Stage, "CPU stages"),
    (LineKind::System, "systems"),
    (LineKind::Other, "other lines"),
    (LineKind::Pass, "GPU passes"),
    (LineKind::Chain, "clock chain"),
];

const RULE: LineStyle = LineStyle::none().fill('─').junction('─');
/// Rules around the table and below its header; none between rows, which read as one block.
pub(super) const STYLE: TableStyle = TableStyle::new().top_border(RULE).header_separator(RULE).bottom_border(RULE);

/// Lines that have a natural order; the others follow, the costliest first.
const ORDER: &[&str] = &[
    names::CPU_FRAME,
    names::GPU_FRAME,
    names::FRAME_TIME,
    names::STAGE_WAIT,
    names::STAGE_UPDATE,
    names::STAGE_PREPARE_FRAME,
    names::STAGE_ENCODE,
    names::STAGE_SUBMIT,
    names::CHAIN_START,
    names::CHAIN_AFTER_UPDATE,
    names::CHAIN_AFTER_SUBMIT,
];

/// The run's lines by section: median, p95, p99, then the Baseline's columns and the Budgets where there are any.
pub(super) fn lines_table(report: &Report, colour: bool) -> String {
    let has_budgets = report.budgets.iter().any(|outcome| outcome.value.is_some());
    let mut header = vec!["line", "median", "p95", "p99"];
    let has_clock = report.drift.as_ref().is_some_and(|drift| drift.clock_ratio.is_some());
    if report.comparison.is_some() {
        header.extend(["Baseline median", "Δ"]);
        header.extend(has_clock.then_some("Δ at its clock"));
        header.extend(["Baseline p95", "Δ"]);
    }
    if has_budgets {
        header.push("Budget");
    }
    let n_columns = header.len();

    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    // The caller knows where the text goes; the table shall not ask.
    table.force_no_tty();
    if colour {
        table.enforce_styling();
    }
    table.set_header(header);
    for (kind, title) in SECTIONS {
        let lines = section(report, *kind);
        if !lines.is_empty() {
            let mut title_row = vec![Cell::new(title)];
            title_row.resize_with(n_columns, || Cell::new(""));
            table.add_row(title_row);
        }
        for (name, line) in lines {
            table.add_row(line_row(report, name, line, has_budgets));
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(budgets) = table.column_mut(n_columns - 1).filter(|_| has_budgets) {
        budgets.set_cell_alignment(CellAlignment::Left);
    }
    table.trim_fmt()
}

pub(super) fn section<'a>(report: &Report<'a>, kind: LineKind) -> Vec<(&'a str, &'a RunLine)> {
    let of_kind = |name: &str| LineKind::of(name) == kind;
    let mut lines: Vec<(&str, &RunLine)> =
        report.run.lines.iter().map(|(name, line)| (name.as_str(), line)).filter(|(name, _)| of_kind(name)).collect();
    lines.sort_by_key(|(name, line)| {
        let place = ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len());
        (place, Reverse(line.summary.median as u64), *name)
    });
    lines
}

fn line_row(report: &Report, name: &str, line: &RunLine, has_budgets: bool) -> Row {
    let value = |value: f64| Cell::new(format_value(value, line.unit));
    let Summary { median, p95, p99, .. } = line.summary;
    let mut row = vec![Cell::new(format!("  {}", short_name(name))), value(median), value(p95), value(p99)];
    if let Some(comparison) = &report.comparison {
        let drift = report.drift.as_ref();
        let at_clock = drift
            .filter(|drift| drift.clock_ratio.is_some())
            .map(|drift| Cell::new(format_delta(drift.line(name).and_then(|line| line.at_baseline_clock_percent))));
        let (median, p95) = match comparison.line(name) {
            Some(line) => (
                [value(line.baseline.median), Cell::new(format_delta(line.median_delta_percent))],
                [value(line.baseline.p95), Cell::new(format_delta(line.p95_delta_percent))],
            ),
            None => ([Cell::new("new"), Cell::new("-")], [Cell::new("new"), Cell::new("-")]),
        };
        row.extend(median);
        row.extend(at_clock);
        row.extend(p95);
    }
    if has_budgets {
        row.push(budget_cell(report, name, line));
    }
    Row::from(row)
}

/// A section's title says the kind, so its lines need no prefix.
pub(super) fn short_name(name: &str) -> &str {
    let prefixes = [names::STAGE_PREFIX, names::SYSTEM_PREFIX, names::GPU_PREFIX, names::CHAIN_PREFIX];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// Every Budget of the line with its verdict, one below the other.
fn budget_cell(report: &Report, name: &str, line: &RunLine) -> Cell {
    let of_line: Vec<_> = report.budgets.iter().filter(|outcome| outcome.budget.line == name).collect();
    let verdicts: Vec<String> = of_line
        .iter()
        .map(|outcome| {
            let ceiling = format_value(outcome.budget.ceiling, line.unit);
            let verdict = match outcome.verdict {
                BudgetVerdict::Pass => "pass",
                BudgetVerdict::Breach => "BREACH",
                BudgetVerdict::NotJudged => "not judged",
            };
            format!("{} < {ceiling}: {verdict}", outcome.budget.statistic.name())
        })
        .collect();
    let cell = Cell::new(verdicts.join("\n"));
    let has = |verdict| of_line.iter().any(|outcome| outcome.verdict == verdict);
    match () {
        () if has(BudgetVerdict::Breach) => cell.fg(Color::Red),
        () if has(BudgetVerdict::Pass) => cell.fg(Color::Green),
        () => cell,
    }
}
