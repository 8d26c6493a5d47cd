//! What the overlay shows: Frame stats, the keys, short notices, and what went wrong.

mod graph;
mod stats;

use std::time::{Duration, Instant};

use egui::{Align2, Color32, CornerRadius, RichText};
use praxis::frames::window::RecentFrames;

use super::controls::HELP;
use graph::Graph;
use stats::Stats;

/// How often the numbers change: often enough to follow, seldom enough to read.
const REFRESH: Duration = Duration::from_millis(250);
/// How long a notice stays.
const NOTICE: Duration = Duration::from_millis(2_500);
/// In points; less where the window is too small for all of it.
const TEXT_SIZE: f32 = 11.0;
const LEAST_TEXT_SIZE: f32 = 5.0;
const MESSAGE_SIZE: f32 = 13.0;
/// Characters of a fault that are shown; compilers say more, and all of it is on stderr.
const MOST_FAILURE_CHARS: usize = 280;
/// A monospaced character's width and a line's height, in text sizes.
const CHAR_WIDTH: f32 = 0.61;
const LINE_HEIGHT: f32 = 1.32;
const MARGIN: f32 = 6.0;
const BACKGROUND_ALPHA: u8 = 215;
/// The window in which everything has its proper size, in points; in a larger one it grows, though less than the window.
const PROPER_WINDOW: egui::Vec2 = egui::vec2(1280.0, 720.0);
const MOST_ZOOM: f32 = 2.0;

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
    failure: Option<String>,
    refreshed: Option<Instant>,
    stats: Stats,
    graph: Graph,
}

impl Panels {
    /// With these shown at the start.
    pub fn new(shows_stats: bool, shows_help: bool) -> Self {
        Self { shows_stats, shows_help, ..Self::default() }
    }

    /// Whether there is anything to show.
    pub fn is_any(&self) -> bool {
        self.shows_stats || self.shows_help || self.failure.is_some() || self.notice_text().is_some()
    }

    /// Shows `text` for a moment.
    pub fn notice(&mut self, text: String) {
        self.notice = Some((text, Instant::now()));
    }

    /// Shows what went wrong, until something goes well.
    pub fn fail(&mut self, text: &str) {
        self.failure = Some(shortened(text));
    }

    /// What went wrong is over.
    pub fn clear_failure(&mut self) {
        self.failure = None;
    }

    /// Whether [`Self::refresh`] is due.
    pub fn is_due(&self) -> bool {
        self.shows_stats && self.refreshed.is_none_or(|refreshed| refreshed.elapsed() >= REFRESH)
    }

    /// Takes over the numbers of the last frames.
    pub fn refresh(&mut self, recent: &mut RecentFrames) {
        self.refreshed = Some(Instant::now());
        self.stats.refresh(recent);
    }

    /// Takes over the times for the graph: every frame.
    pub fn take_frame_times(&mut self, recent: &RecentFrames) {
        self.graph.take(recent);
    }

    /// How much larger everything is drawn in a window of `size` points.
    pub fn zoom(size: egui::Vec2) -> f32 {
        let ratio = (size / PROPER_WINDOW).min_elem();
        ratio.max(1.0).sqrt().min(MOST_ZOOM)
    }

    /// Lays everything out.
    pub fn show(&self, ctx: &egui::Context) {
        let room = ctx.content_rect().size() - egui::Vec2::splat(4.0 * MARGIN);
        let help_size = help_text_size(room);
        if self.shows_stats {
            let help_width = if self.shows_help { help_width(help_size) + 3.0 * MARGIN } else { 0.0 };
            let room = egui::vec2(room.x - help_width, room.y);
            panel("Frame stats", ctx, Align2::LEFT_TOP, |ui| self.show_stats(ui, room));
        }
        if self.shows_help {
            panel("Keys", ctx, Align2::RIGHT_TOP, |ui| help(ui, help_size));
        }
        if self.failure.is_some() || self.notice_text().is_some() {
            panel("Messages", ctx, Align2::RIGHT_BOTTOM, |ui| self.show_messages(ui, 0.6 * room.x));
        }
    }

    fn show_stats(&self, ui: &mut egui::Ui, room: egui::Vec2) {
        let size = self.stats.text_size(&self.facts, room - egui::vec2(0.0, graph::HEIGHT));
        ui.spacing_mut().item_spacing = egui::vec2(0.0, 0.0);
        for fact in &self.facts {
            line(ui, fact, size, Color32::WHITE);
        }
        self.stats.show(ui, size);
        ui.add_space(3.0);
        self.graph.show(ui);
    }

    fn show_messages(&self, ui: &mut egui::Ui, width: f32) {
        ui.set_max_width(width);
        // Some forty characters a line, whatever the window.
        let size = (width / 20.0).clamp(LEAST_TEXT_SIZE, MESSAGE_SIZE);
        let mut message = |text: &str, color| {
            ui.add(egui::Label::new(RichText::new(text).size(size).color(color)).wrap());
        };
        if let Some(failure) = &self.failure {
            message(failure, Color32::from_rgb(255, 130, 120));
        }
        if let Some(notice) = self.notice_text() {
            message(notice, Color32::WHITE);
        }
    }

    fn notice_text(&self) -> Option<&str> {
        self.notice.as_ref().filter(|(_, since)| since.elapsed() < NOTICE).map(|(text, _)| text.as_str())
    }
}

/// What there is room for, without the frames that compilers draw around what they quote, which egui's fonts lack.
fn shortened(text: &str) -> String {
    let is_drawn = |c: char| !('\u{2500}'..='\u{257f}').contains(&c);
    let words: String = text.chars().filter(|&c| is_drawn(c)).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= MOST_FAILURE_CHARS {
        return words;
    }
    words.chars().take(MOST_FAILURE_CHARS).chain(['…']).collect()
}

/// The largest text, up to [`TEXT_SIZE`], of which so many characters and lines have room.
fn text_size_for(n_chars: usize, n_lines: usize, room: egui::Vec2) -> f32 {
    let by_width = room.x / (CHAR_WIDTH * n_chars.max(1) as f32);
    let by_height = room.y / (LINE_HEIGHT * n_lines.max(1) as f32);
    by_width.min(by_height).clamp(LEAST_TEXT_SIZE, TEXT_SIZE)
}

fn help_keys_width() -> usize {
    HELP.iter().map(|(key, _)| key.len()).max().unwrap_or(0) + 2
}

fn help_n_chars() -> usize {
    help_keys_width() + HELP.iter().map(|(_, meaning)| meaning.len()).max().unwrap_or(0)
}

fn help_text_size(room: egui::Vec2) -> f32 {
    // Where Frame stats are shown too, they get the larger part.
    text_size_for(help_n_chars(), HELP.len(), egui::vec2(0.4 * room.x, room.y))
}

fn help_width(size: f32) -> f32 {
    help_n_chars() as f32 * CHAR_WIDTH * size
}

fn help(ui: &mut egui::Ui, size: f32) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let width = help_keys_width();
    for (key, meaning) in HELP {
        line(ui, &format!("{key:width$}{meaning}"), size, Color32::from_gray(220));
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
    fn window_text_shrinks_until_it_fits_and_grows_with_large_windows() {
        assert_eq!(text_size_for(80, 20, egui::vec2(1200.0, 700.0)), TEXT_SIZE);
        let narrow = text_size_for(80, 20, egui::vec2(400.0, 700.0));
        assert!(narrow < TEXT_SIZE && 80.0 * CHAR_WIDTH * narrow <= 400.0);
        let low = text_size_for(80, 40, egui::vec2(1200.0, 300.0));
        assert!(low < TEXT_SIZE && 40.0 * LINE_HEIGHT * low <= 300.0);
        assert_eq!(text_size_for(80, 40, egui::Vec2::ZERO), LEAST_TEXT_SIZE);

        assert_eq!(Panels::zoom(egui::vec2(640.0, 360.0)), 1.0);
        assert_eq!(Panels::zoom(PROPER_WINDOW), 1.0);
        assert!((Panels::zoom(2.0 * PROPER_WINDOW) - 2f32.sqrt()).abs() < 1e-6);
        assert_eq!(Panels::zoom(100.0 * PROPER_WINDOW), MOST_ZOOM);
    }

    #[test]
    fn window_faults_are_shortened_to_what_there_is_room_for() {
        assert_eq!(shortened("a.ron:3:1:\n  \u{250c}\u{2500} wgsl:3:1"), "a.ron:3:1: wgsl:3:1");
        let long = shortened(&"word ".repeat(200));
        assert!(long.chars().count() == MOST_FAILURE_CHARS + 1 && long.ends_with('…'));
    }

    /// The rectangles of everything drawn, panel by panel.
    fn laid_out(panels: &Panels, size: egui::Vec2) -> (usize, egui::Rect) {
        let ctx = egui::Context::default();
        let (mut n_shapes, mut used) = (0, egui::Rect::NOTHING);
        // An area is measured in its first layout and seen from the second on.
        for _ in 0..3 {
            let input = egui::RawInput {
                screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size)),
                ..Default::default()
            };
            let output = ctx.run_ui(input, |ui| panels.show(ui.ctx()));
            n_shapes = output.shapes.len();
            used = output
                .shapes
                .iter()
                .fold(egui::Rect::NOTHING, |all, shape| all.union(shape.shape.visual_bounding_rect()));
            output.drop_without_applying_deltas();
        }
        (n_shapes, used)
    }

    #[test]
    fn window_panels_are_laid_out_by_egui_and_cost_nothing_when_hidden() {
        let mut panels = Panels::default();
        assert!(!panels.is_any() && !panels.is_due());
        panels.fail("scene.ron: line 3");
        assert!(panels.is_any());
        panels.clear_failure();
        assert!(!panels.is_any());
        panels.notice("camera front".into());
        panels.shows_stats = true;
        panels.shows_help = true;
        assert!(panels.is_any() && panels.is_due());
        for size in [egui::vec2(640.0, 360.0), PROPER_WINDOW, egui::vec2(2560.0, 1440.0)] {
            let (n_shapes, used) = laid_out(&panels, size);
            assert!(n_shapes > HELP.len(), "{n_shapes} shapes");
            assert!(used.max.x <= size.x && used.max.y <= size.y && used.min.x >= 0.0, "{used:?} in {size:?}");
        }
    }
}
