//! Charts of a comparison's two sides.

use plotters::prelude::*;

use super::{
    BAND, BASELINE, BUDGET, GOOD, INK, LEFT_PX, MEDIAN, RIGHT_PX, SERIES, Size, WARN, chart, counted_mesh, draw,
    in_page_colours, label_style,
};
use crate::measure::Unit;

/// How an interval is coloured.
#[derive(Clone, Copy, Debug)]
pub(in crate::report::html) enum Tone {
    Bad,
    Good,
    Unsure,
    Plain,
}

/// A line's difference between two sides, as ratios.
#[derive(Clone, Debug)]
pub(in crate::report::html) struct Interval {
    pub name: String,
    pub estimate: f64,
    pub ends: Option<(f64, f64)>,
    pub margin: f64,
    pub tone: Tone,
}

/// Left of the intervals, where their lines' names are.
const NAMES_PX: u32 = 150;

/// Intervals on one axis in percent, one line below the other, each over its margin.
pub(in crate::report::html) fn intervals(rows: &[Interval], size: Size, label: &str) -> String {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let ends = rows.iter().flat_map(|row| {
        let ends = row.ends.unwrap_or((row.estimate, row.estimate));
        [percent(ends.0), percent(ends.1), percent(row.estimate), 100.0 * row.margin, -100.0 * row.margin]
    });
    let ends = ends.filter(|value| value.is_finite());
    let (least, most) = ends.fold((-1.0f64, 1.0f64), |(least, most), value| (least.min(value), most.max(value)));
    let pad = 0.05 * (most - least);
    let n_rows = rows.len() as f64;
    draw(size, label, |area| {
        let mut chart = chart(area, [4, 2 * RIGHT_PX, NAMES_PX], least - pad..most + pad, 0.0..n_rows)?;
        in_page_colours(chart.configure_mesh().disable_y_mesh())
            .x_labels(if size.width_px > 500 { 7 } else { 3 })
            .y_labels(0)
            .x_label_formatter(&|value| match () {
                () if value.abs() < 1e-9 => "0%".to_owned(),
                () if most - least > 20.0 => format!("{value:+.0}%").replace('-', "−"),
                () => format!("{value:+.1}%").replace('-', "−"),
            })
            .draw()?;
        for (row_idx, row) in rows.iter().enumerate() {
            let y = n_rows - row_idx as f64 - 0.5;
            // What is the same either way: a factor of 1 + margin, up or down.
            let (less, more) = (percent(1.0 / (1.0 + row.margin)), percent(1.0 + row.margin));
            chart.draw_series([Rectangle::new([(less, y - 0.42), (more, y + 0.42)], BAND.filled())])?;
            let colour = match row.tone {
                Tone::Bad => BUDGET,
                Tone::Good => GOOD,
                Tone::Unsure => WARN,
                Tone::Plain => SERIES,
            };
            if let Some((low, high)) = row.ends {
                chart.draw_series(LineSeries::new([(percent(low), y), (percent(high), y)], colour.stroke_width(4)))?;
            }
            if row.estimate.is_finite() {
                chart.draw_series([Circle::new((percent(row.estimate), y), 6, colour.filled())])?;
            }
            let at = chart.backend_coord(&(0.0, y));
            area.draw_text(&row.name, &label_style(), (4, at.1 - 8))?;
        }
        chart.draw_series(LineSeries::new([(0.0, 0.0), (0.0, n_rows)], MEDIAN.stroke_width(1)))?;
        Ok(())
    })
}

/// A pair's two runs.
#[derive(Clone, Copy, Debug)]
pub(in crate::report::html) struct PairDots {
    /// The pair's number, from 1.
    pub number: usize,
    pub a: f64,
    pub b: f64,
    /// Whether the pair does not count: its dots are hollow.
    pub is_void: bool,
}

/// Runs of two sides, pair by pair, each as one dot. `n_pairs` is how many were run: one without both runs is a gap.
pub(in crate::report::html) fn pairs(dots: &[PairDots], n_pairs: usize, unit: Unit, size: Size, label: &str) -> String {
    let values = || dots.iter().flat_map(|pair| [pair.a, pair.b]).filter(|value| value.is_finite());
    let (least, most) = values().fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(v), most.max(v)));
    let least = least.min(most);
    let pad = ((most - least) * 0.12).max(most * 0.005).max(1.0);
    let last = n_pairs.max(2) as f64;
    draw(size, label, |area| {
        let mut chart = chart(area, [8, RIGHT_PX, LEFT_PX], 0.5..last + 0.5, (least - pad).max(0.0)..most + pad)?;
        counted_mesh(&mut chart, unit, n_pairs.clamp(2, if size.width_px > 500 { 16 } else { 8 }))?;
        for pair in dots {
            let x = pair.number as f64;
            let strength = if pair.is_void { 0.2 } else { 0.4 };
            chart.draw_series(LineSeries::new([(x, pair.a), (x, pair.b)], INK.mix(strength).stroke_width(1)))?;
            for (value, colour) in [(pair.a, BASELINE), (pair.b, SERIES)] {
                let style = if pair.is_void { colour.stroke_width(1) } else { colour.filled() };
                chart.draw_series([Circle::new((x, value), 4, style)])?;
            }
        }
        area.draw_text("pair", &label_style(), (LEFT_PX as i32 - 34, size.height_px as i32 - 18))?;
        Ok(())
    })
}
