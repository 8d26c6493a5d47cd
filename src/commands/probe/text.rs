//! A probe's report for a terminal.

use comfy_table::{Cell as TableCell, CellAlignment, ContentArrangement, LineStyle, Table as TextTable, TableStyle};
use praxis::measure::grouped;
use praxis::probe::report::{Cell, Column, Table};
use praxis::probe::{Ended, ProbeReport};

const RULE: LineStyle = LineStyle::none().fill('─').junction('─');
const STYLE: TableStyle = TableStyle::new().top_border(RULE).header_separator(RULE).bottom_border(RULE);

/// Heading, tables, findings, cautions. With `is_further`, an empty line comes first.
pub fn of(report: &ProbeReport, is_further: bool) -> String {
    let mut text = if is_further { "\n".to_owned() } else { String::new() };
    text += &format!("{}: {}\n", report.probe, report.question);
    for line in heading(report) {
        text += &line;
        text.push('\n');
    }
    for table in report.tables.iter().filter(|table| !table.rows.is_empty()) {
        text += &format!("\n{}\n{}\n", table.title, rendered(table));
    }
    let mut sentences: Vec<String> = Vec::new();
    match &report.ended {
        Ended::Complete => {}
        Ended::Interrupted => sentences.push("INCOMPLETE: interrupted".into()),
        Ended::Failed(reason) => sentences.push(format!("INCOMPLETE: {reason}")),
    }
    sentences.extend(report.unavailable.as_ref().map(|reason| format!("{}: not available: {reason}", report.probe)));
    sentences.extend(report.findings.iter().cloned());
    sentences.extend(report.cautions.iter().map(|caution| format!("caution: {caution}")));
    if !sentences.is_empty() {
        text.push('\n');
    }
    for sentence in sentences {
        text += &sentence;
        text.push('\n');
    }
    text
}

/// What measured, and how; shared with the page.
pub fn heading(report: &ProbeReport) -> Vec<String> {
    let known = |parts: &[&str]| parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ");
    let mut lines = Vec::new();
    if let Some(adapter) = &report.adapter {
        lines.push(format!("adapter: {}", known(&[&adapter.name, &adapter.backend, &adapter.driver_info])));
    }
    let machine = &report.machine;
    let n_cores = format!("{} usable core{}", machine.n_cores, if machine.n_cores == 1 { "" } else { "s" });
    lines.push(format!("machine: {}", known(&[&machine.cpu, &n_cores, &machine.os])));
    let settings: Vec<String> =
        report.settings.iter().map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"'))).collect();
    lines.push(format!("settings: {}", settings.join(", ")));
    lines
}

/// A cell as people read it; shared with the page.
pub fn cell(cell: &Cell, column: &Column) -> String {
    match cell {
        Cell::Absent => "-".to_owned(),
        Cell::Number(number) => grouped(&format!("{number:.*}", column.n_decimals)),
        Cell::Text(text) => text.clone(),
    }
}

/// A column's head with its unit.
pub fn head(column: &Column) -> String {
    match column.unit {
        "" => column.name.clone(),
        unit => format!("{}, {unit}", column.name),
    }
}

/// Whether a column holds numbers.
pub fn is_numeric(table: &Table, column_idx: usize) -> bool {
    column_idx > 0 && table.rows.iter().all(|row| !matches!(row.get(column_idx), Some(Cell::Text(_))))
}

fn rendered(table: &Table) -> String {
    let mut rendered = TextTable::new();
    rendered.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    rendered.force_no_tty();
    rendered.set_header(table.columns.iter().map(head));
    for row in &table.rows {
        rendered.add_row(row.iter().zip(&table.columns).map(|(value, column)| TableCell::new(cell(value, column))));
    }
    for (column_idx, column) in rendered.column_iter_mut().enumerate() {
        if is_numeric(table, column_idx) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    rendered.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_text_shows_tables_findings_and_what_is_missing() {
        let mut report = ProbeReport::new("waits", "Why?");
        report.ended = Ended::Interrupted;
        report.unavailable = Some("no such thing".into());
        report.findings.push("it is fast".into());
        report.cautions.push("or not".into());
        report.tables.push(Table {
            title: "Times".into(),
            columns: vec![Column::text("what"), Column::us("median")],
            rows: vec![
                vec!["block".into(), Cell::us(45_123.0)],
                vec!["many".into(), Cell::us(1_234_567_890.0)],
                vec!["none".into(), Cell::Absent],
            ],
        });
        let text = of(&report, false);
        for part in [
            "waits: Why?",
            "Times",
            "median, µs",
            " 45.12",
            " 1,234,567.89",
            "INCOMPLETE: interrupted",
            "waits: not available: no such thing",
            "it is fast",
            "caution: or not",
        ] {
            assert!(text.contains(part), "{part:?} is missing:\n{text}");
        }
        assert!(text.lines().any(|line| line.starts_with("none") || line.starts_with(" none")), "{text}");
    }
}
