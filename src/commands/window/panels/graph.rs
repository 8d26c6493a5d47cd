//! The last frames' times as curves: the whole frame, the CPU's work, the GPU's work, waiting.

use egui::{Align2, Color32, CornerRadius, Sense, Stroke};
use praxis::frames::window::{N_RECENT, RecentFrames};
use praxis::measure::names;

/// In points.
pub const HEIGHT: f32 = 64.0;
/// The least time at the top, in milliseconds.
const LEAST_TOP_MS: f32 = 20.0;

const CURVES: [(&str, &str, Color32); 4] = [
    (names::FRAME_TIME, "frame", Color32::from_gray(170)),
    (names::STAGE_WAIT, "wait", Color32::from_rgb(230, 170, 90)),
    (names::GPU_FRAME, "GPU", Color32::from_rgb(130, 220, 130)),
    (names::CPU_FRAME, "CPU", Color32::from_rgb(110, 180, 255)),
];

/// Times in milliseconds, oldest first, curve by curve.
#[derive(Default)]
pub struct Graph {
    ms: [Vec<f32>; CURVES.len()],
}

impl Graph {
    /// Takes over the last frames' times.
    pub fn take(&mut self, recent: &RecentFrames) {
        for (ms, (name, ..)) in self.ms.iter_mut().zip(CURVES) {
            ms.clear();
            if let Some(line_idx) = recent.find(name) {
                ms.extend(recent.lines()[line_idx].samples().map(|ns| ns as f32 * 1e-6));
            }
        }
    }

    /// Oldest left, newest right; lines at 60 and 30 frames a second.
    pub fn show(&self, ui: &mut egui::Ui) {
        let width = ui.min_rect().width();
        let (response, painter) = ui.allocate_painter(egui::vec2(width, HEIGHT), Sense::hover());
        let rect = response.rect;
        painter.rect_filled(rect, CornerRadius::ZERO, Color32::from_black_alpha(120));
        let top_ms = self.ms.iter().flatten().copied().fold(LEAST_TOP_MS, f32::max) * 1.1;
        let y_of = |ms: f32| rect.bottom() - rect.height() * (ms / top_ms).min(1.0);
        for ms in [1000.0 / 60.0, 1000.0 / 30.0] {
            if ms < top_ms {
                painter.hline(rect.x_range(), y_of(ms), Stroke::new(1.0, Color32::from_gray(80)));
            }
        }
        let step = rect.width() / (N_RECENT - 1) as f32;
        for (ms, (_, _, color)) in self.ms.iter().zip(CURVES) {
            let right_of = |idx: usize| rect.right() - step * (ms.len() - 1 - idx) as f32;
            let points = ms.iter().enumerate().map(|(idx, &ms)| egui::pos2(right_of(idx), y_of(ms)));
            painter.line(points.collect(), Stroke::new(1.3, color));
        }
        let font = egui::FontId::monospace(9.0);
        let mut at = rect.left_top() + egui::vec2(3.0, 1.0);
        let labels = CURVES.iter().rev().map(|(_, label, color)| ((*label).to_owned(), *color));
        for (label, color) in labels.chain([(format!("top {top_ms:.0} ms"), Color32::GRAY)]) {
            let drawn = painter.text(at, Align2::LEFT_TOP, label, font.clone(), color);
            at.x = drawn.right() + 8.0;
        }
    }
}
