//! Frame stats as tables: CPU lines on the left, the rest on the right, and the Budgets.

use egui::Color32;
use praxis::frames::window::RecentFrames;
use praxis::measure::names::LineKind;
use praxis::measure::{Budget, Statistic, Unit};
use praxis::report::format_value;

use super::{line, text_size_for};

/// Characters of a time in the table, with the gap before it.
const TIME_CHARS: usize = 10;
/// Characters between the two tables.
const GAP_CHARS: usize = 3;

/// The numbers of the last frames, as text.
#[derive(Default)]
pub struct Stats {
    columns: [Vec<Row>; 2],
    budgets: Vec<BudgetRow>,
    bad: u64,
}

struct Row {
    name: String,
    is_heading: bool,
    median: String,
    p95: String,
}

struct BudgetRow {
    text: String,
    is_breached: bool,
}

impl Stats {
    /// Takes over the numbers of the last frames.
    pub fn refresh(&mut self, recent: &mut RecentFrames) {
        self.columns = [Vec::new(), Vec::new()];
        for line_idx in 0..recent.lines().len() {
            let name = recent.lines()[line_idx].name.clone();
            let kind = LineKind::of(&name);
            let is_left = matches!(kind, LineKind::Stage | LineKind::Frame | LineKind::Chain) && !kind.is_gpu(&name);
            let time = |ns: f64| format_value(ns, Unit::Nanoseconds);
            let [median, p95] = match recent.summary(line_idx) {
                Some(summary) => [time(summary.median), time(summary.p95)],
                None => ["-", "-"].map(str::to_owned),
            };
            let row = Row { is_heading: kind == LineKind::Frame, name, median, p95 };
            self.columns[usize::from(!is_left)].push(row);
        }
        self.budgets = Budget::m3().iter().filter_map(|budget| budget_row(budget, recent)).collect();
        self.bad = recent.bad_timestamps().total();
    }

    /// The largest text at which `facts` and the tables have room.
    pub fn text_size(&self, facts: &[String], room: egui::Vec2) -> f32 {
        let n_facts_chars = facts.iter().map(|fact| fact.chars().count()).max().unwrap_or(0);
        let n_lines = facts.len() + self.n_lines() + 1;
        text_size_for(self.n_table_chars().max(n_facts_chars), n_lines, room)
    }

    /// Lays them out.
    pub fn show(&self, ui: &mut egui::Ui, size: f32) {
        if self.bad > 0 {
            line(ui, &format!("{} GPU timestamps not believed", self.bad), size, Color32::YELLOW);
        }
        for BudgetRow { text, is_breached } in &self.budgets {
            let color = if *is_breached { Color32::from_rgb(255, 130, 120) } else { Color32::from_rgb(150, 220, 150) };
            line(ui, text, size, color);
        }
        ui.add_space(0.3 * size);
        ui.horizontal_top(|ui| {
            table(ui, &self.columns[0], size);
            ui.add_space(GAP_CHARS as f32 * super::CHAR_WIDTH * size);
            table(ui, &self.columns[1], size);
        });
    }

    fn n_lines(&self) -> usize {
        let n_rows = self.columns.iter().map(|rows| rows.len() + 1).max().unwrap_or(0);
        n_rows + self.budgets.len() + usize::from(self.bad > 0)
    }

    fn n_table_chars(&self) -> usize {
        self.columns.iter().map(|rows| name_width(rows) + 2 * TIME_CHARS).sum::<usize>() + GAP_CHARS
    }
}

/// `None` where the window has no such line.
fn budget_row(budget: &Budget, recent: &mut RecentFrames) -> Option<BudgetRow> {
    let summary = recent.find(&budget.line).and_then(|line_idx| recent.summary(line_idx))?;
    let value = match budget.statistic {
        Statistic::Median => summary.median,
        Statistic::P95 => summary.p95,
    };
    let is_breached = value >= budget.ceiling;
    let time = |ns: f64| format_value(ns, Unit::Nanoseconds);
    let text = format!(
        "Budget {} {}: {} of {}{}",
        budget.line,
        budget.statistic.name(),
        time(value),
        time(budget.ceiling),
        if is_breached { ", over" } else { "" }
    );
    Some(BudgetRow { text, is_breached })
}

fn table(ui: &mut egui::Ui, rows: &[Row], size: f32) {
    let width = name_width(rows);
    let columns = |name: &str, median: &str, p95: &str| format!("{name:width$}{median:>TIME_CHARS$}{p95:>TIME_CHARS$}");
    ui.vertical(|ui| {
        line(ui, &columns("", "median", "p95"), size, Color32::GRAY);
        for row in rows {
            let color = if row.is_heading { Color32::WHITE } else { Color32::from_gray(190) };
            line(ui, &columns(&row.name, &row.median, &row.p95), size, color);
        }
    });
}

fn name_width(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.name.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::window::panels::{LEAST_TEXT_SIZE, TEXT_SIZE};

    #[test]
    fn window_stats_shrink_until_they_fit() {
        let row = |name: &str| Row {
            name: name.into(),
            is_heading: false,
            median: "1.234 ms".into(),
            p95: "2.345 ms".into(),
        };
        let columns = [vec![row("stage.update")], vec![row("system.propagate_world_transforms")]];
        let stats = Stats { columns, ..Stats::default() };
        let facts = ["adapter".to_owned()];
        assert_eq!(stats.text_size(&facts, egui::vec2(1280.0, 700.0)), TEXT_SIZE);
        let size = stats.text_size(&facts, egui::vec2(420.0, 700.0));
        assert!(size < TEXT_SIZE && stats.n_table_chars() as f32 * 0.61 * size <= 420.1, "{size}");
        assert_eq!(stats.text_size(&facts, egui::vec2(1.0, 700.0)), LEAST_TEXT_SIZE);
        let long = ["x".repeat(200)];
        assert!(stats.text_size(&long, egui::vec2(1280.0, 700.0)) < TEXT_SIZE, "facts have to fit too");
    }
}
