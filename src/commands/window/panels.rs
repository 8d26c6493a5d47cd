//! What the overlay shows: Frame stats, the keys, and short notices.

use std::time::{Duration, Instant};

use egui::{Align2, Color32, CornerRadius, RichText, Sense, Stroke};
use praxis::frames::window::{RecentFrames, WindowLine};
use praxis::measure::Unit;
use praxis::measure::names::LineKind;
use praxis::report::format_value;

use super::controls::HELP;

/// How often the numbers change: often enough to follow, seldom enough to read.
const REFRESH: Duration = Duration::from_millis(250);
/// How long a notice stays.
const NOTICE: Duration = Duration::from_millis(1_600);
/// In points; less where the window is too narrow for the stats.
const TEXT_SIZE: f32 = 10.5;
const LEAST_TEXT_SIZE: f32 = 5.0;
/// A monospaced character's width, in text sizes.
const CHAR_WIDTH: f32 = 0.61;
/// Characters of a time in the table, with the gap before it.
const TIME_CHARS: usize = 10;
const COLUMN_GAP: f32 = 14.0;
const MARGIN: f32 = 6.0;
const GRAPH_HEIGHT: f32 = 38.0;
const BACKGROUND_ALPHA: u8 = 215;

/// What is shown, and the numbers as text.
#[derive(Default)]
pub struct Panels {
    /// Whether Frame stats are shown.
    pub shows_stats: bool,
    /// Whether the keys are shown.
    pub shows_help: bool,
    /// Lines above the numbers: adapter, picture, pacing.
    pub facts: Vec<String>,
    notice: Option<(String, Instant)>,
    refreshed: Option<Instant>,
    columns: [Vec<Row>; 2],
    frame_ms: Vec<f32>,
    bad: u64,
}

struct Row {
    name: String,
    is_heading: bool,
    median: String,
    p95: String,
}

impl Panels {
    /// Whether there is anything to show.
    pub fn is_any(&self) -> bool {
        self.shows_stats || self.shows_help || self.notice_text().is_some()
    }

    /// Shows `text` for a moment.
    pub fn notice(&mut self, text: String) {
        self.notice = Some((text, Instant::now()));
    }

    /// Whether [`Self::refresh`] is due.
    pub fn is_due(&self) -> bool {
        self.shows_stats && self.refreshed.is_none_or(|refreshed| refreshed.elapsed() >= REFRESH)
    }

    /// Takes over the numbers of the last frames.
    pub fn refresh(&mut self, recent: &mut RecentFrames) {
        self.refreshed = Some(Instant::now());
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
        self.bad = recent.bad_timestamps().total();
    }

    /// Takes over the frame times for the graph: every frame.
    pub fn take_frame_times(&mut self, recent: &RecentFrames) {
        self.frame_ms.clear();
        self.frame_ms.extend(recent.line(WindowLine::FrameTime).samples().map(|ns| ns as f32 * 1e-6));
    }

    /// Lays everything out.
    pub fn show(&self, ctx: &egui::Context) {
        if self.shows_stats {
            panel("Frame stats", ctx, Align2::LEFT_TOP, |ui| self.stats(ui));
        }
        if self.shows_help {
            panel("Keys", ctx, Align2::RIGHT_TOP, help);
        }
        if let Some(text) = self.notice_text() {
            panel("Notice", ctx, Align2::CENTER_BOTTOM, |ui| {
                ui.add(egui::Label::new(RichText::new(text).size(13.0).color(Color32::WHITE)).extend());
            });
        }
    }

    fn notice_text(&self) -> Option<&str> {
        self.notice.as_ref().filter(|(_, since)| since.elapsed() < NOTICE).map(|(text, _)| text.as_str())
    }

    fn stats(&self, ui: &mut egui::Ui) {
        let size = self.text_size(ui.ctx().content_rect().width());
        ui.spacing_mut().item_spacing = egui::vec2(0.0, 1.0);
        for fact in &self.facts {
            line(ui, fact, size, Color32::WHITE);
        }
        if self.bad > 0 {
            line(ui, &format!("{} GPU timestamps not believed", self.bad), size, Color32::YELLOW);
        }
        ui.add_space(3.0);
        ui.horizontal_top(|ui| {
            table(ui, &self.columns[0], size);
            ui.add_space(COLUMN_GAP);
            table(ui, &self.columns[1], size);
        });
        ui.add_space(3.0);
        self.graph(ui);
    }

    /// The largest size, up to [`TEXT_SIZE`], at which facts and both columns fit into a window that wide.
    fn text_size(&self, window_width: f32) -> f32 {
        let n_columns_chars: usize = self.columns.iter().map(|rows| name_width(rows) + 2 * TIME_CHARS).sum();
        let n_facts_chars = self.facts.iter().map(|fact| fact.chars().count()).max().unwrap_or(0);
        let room = window_width - 4.0 * MARGIN - COLUMN_GAP;
        let n_chars = n_columns_chars.max(n_facts_chars).max(1) as f32;
        (room / (CHAR_WIDTH * n_chars)).clamp(LEAST_TEXT_SIZE, TEXT_SIZE)
    }

    /// Frame times, oldest left; lines at 60 and 30 frames a second.
    fn graph(&self, ui: &mut egui::Ui) {
        let width = ui.min_rect().width();
        let (response, painter) = ui.allocate_painter(egui::vec2(width, GRAPH_HEIGHT), Sense::hover());
        let rect = response.rect;
        painter.rect_filled(rect, CornerRadius::ZERO, Color32::from_black_alpha(120));
        let top_ms = self.frame_ms.iter().copied().fold(20.0, f32::max) * 1.1;
        let y_of = |ms: f32| rect.bottom() - rect.height() * (ms / top_ms).min(1.0);
        for ms in [1000.0 / 60.0, 1000.0 / 30.0] {
            if ms < top_ms {
                painter.hline(rect.x_range(), y_of(ms), Stroke::new(1.0, Color32::from_gray(90)));
            }
        }
        let step = rect.width() / (praxis::frames::window::N_RECENT - 1) as f32;
        let point = |(idx, &ms): (usize, &f32)| egui::pos2(rect.left() + step * idx as f32, y_of(ms));
        let points: Vec<_> = self.frame_ms.iter().enumerate().map(point).collect();
        painter.line(points, Stroke::new(1.2, Color32::from_rgb(120, 200, 255)));
        let label = format!("frame time, top {top_ms:.0} ms");
        let font = egui::FontId::monospace(9.0);
        painter.text(rect.left_top() + egui::vec2(3.0, 1.0), Align2::LEFT_TOP, label, font, Color32::GRAY);
    }
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

fn help(ui: &mut egui::Ui) {
    ui.spacing_mut().item_spacing.y = 1.0;
    let width = HELP.iter().map(|(key, _)| key.len()).max().unwrap_or(0) + 2;
    for (key, meaning) in HELP {
        line(ui, &format!("{key:width$}{meaning}"), TEXT_SIZE, Color32::from_gray(220));
    }
}

fn line(ui: &mut egui::Ui, text: &str, size: f32, color: Color32) {
    ui.add(egui::Label::new(RichText::new(text).monospace().size(size).color(color)).extend());
}

fn panel(name: &str, ctx: &egui::Context, corner: Align2, contents: impl FnOnce(&mut egui::Ui)) {
    let frame = egui::Frame::new()
        .fill(Color32::from_black_alpha(BACKGROUND_ALPHA))
        .inner_margin(MARGIN)
        .corner_radius(CornerRadius::same(4));
    egui::Area::new(egui::Id::unique(name)).anchor(corner, corner.to_sign() * -MARGIN).interactable(false).show(
        ctx,
        |ui| {
            frame.show(ui, contents);
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_stats_shrink_until_they_fit() {
        let row = |name: &str| Row {
            name: name.into(),
            is_heading: false,
            median: "1.234 ms".into(),
            p95: "2.345 ms".into(),
        };
        let columns = [vec![row("stage.update")], vec![row("system.propagate_world_transforms")]];
        let panels = Panels { columns, facts: vec!["adapter".into()], ..Panels::default() };
        assert_eq!(panels.text_size(1280.0), TEXT_SIZE);
        let size = panels.text_size(420.0);
        assert!(size < TEXT_SIZE && size * CHAR_WIDTH * 85.0 + COLUMN_GAP < 420.0, "{size}");
        assert_eq!(panels.text_size(1.0), LEAST_TEXT_SIZE);
        assert_eq!(Panels::default().text_size(640.0), TEXT_SIZE);
    }

    #[test]
    fn window_panels_are_laid_out_by_egui_and_cost_nothing_when_hidden() {
        let mut panels = Panels::default();
        assert!(!panels.is_any() && !panels.is_due());
        panels.notice("camera front".into());
        panels.shows_stats = true;
        panels.shows_help = true;
        assert!(panels.is_any() && panels.is_due());
        let ctx = egui::Context::default();
        let mut n_shapes = 0;
        // An area is measured in its first layout and seen from the second on.
        for _ in 0..3 {
            let input = egui::RawInput {
                screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(640.0, 360.0))),
                ..Default::default()
            };
            let output = ctx.run_ui(input, |ui| panels.show(ui.ctx()));
            n_shapes = output.shapes.len();
            output.drop_without_applying_deltas();
        }
        assert!(n_shapes > HELP.len(), "{n_shapes} shapes");
    }
}
