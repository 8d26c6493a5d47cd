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
const TEXT_SIZE: f32 = 10.5;
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
            let is_main_thread = matches!(kind, LineKind::Stage | LineKind::Frame) && !kind.is_gpu(&name);
            let time = |ns: f64| format_value(ns, Unit::Nanoseconds);
            let [median, p95] = match recent.summary(line_idx) {
                Some(summary) => [time(summary.median), time(summary.p95)],
                None => ["-", "-"].map(str::to_owned),
            };
            let row = Row { is_heading: kind == LineKind::Frame, name, median, p95 };
            self.columns[usize::from(!is_main_thread)].push(row);
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
        ui.spacing_mut().item_spacing = egui::vec2(8.0, 1.0);
        for fact in &self.facts {
            ui.add(egui::Label::new(text(fact).color(Color32::WHITE)).extend());
        }
        if self.bad > 0 {
            ui.label(text(&format!("{} GPU timestamps not believed", self.bad)).color(Color32::YELLOW));
        }
        ui.add_space(3.0);
        ui.horizontal_top(|ui| {
            table(ui, &self.columns[0]);
            ui.add_space(10.0);
            table(ui, &self.columns[1]);
        });
        ui.add_space(3.0);
        self.graph(ui);
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

fn table(ui: &mut egui::Ui, rows: &[Row]) {
    ui.vertical(|ui| {
        let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        let mut line = |[name, median, p95]: [&str; 3], color| {
            let columns = format!("{name:width$}{median:>10}{p95:>10}");
            ui.add(egui::Label::new(text(&columns).color(color)).extend());
        };
        line(["", "median", "p95"], Color32::GRAY);
        for row in rows {
            let color = if row.is_heading { Color32::WHITE } else { Color32::from_gray(190) };
            line([&row.name, &row.median, &row.p95], color);
        }
    });
}

fn help(ui: &mut egui::Ui) {
    ui.spacing_mut().item_spacing.y = 1.0;
    let width = HELP.iter().map(|(key, _)| key.len()).max().unwrap_or(0) + 2;
    for (key, meaning) in HELP {
        ui.add(egui::Label::new(text(&format!("{key:width$}{meaning}")).color(Color32::from_gray(220))).extend());
    }
}

fn panel(name: &str, ctx: &egui::Context, corner: Align2, contents: impl FnOnce(&mut egui::Ui)) {
    let frame = egui::Frame::new()
        .fill(Color32::from_black_alpha(BACKGROUND_ALPHA))
        .inner_margin(6)
        .corner_radius(CornerRadius::same(4));
    egui::Area::new(egui::Id::unique(name)).anchor(corner, corner.to_sign() * -6.0).interactable(false).show(
        ctx,
        |ui| {
            frame.show(ui, contents);
        },
    );
}

fn text(text: &str) -> RichText {
    RichText::new(text).monospace().size(TEXT_SIZE)
}
