//! Charts as SVG. Colours are placeholders that become the page's CSS variables, so that one drawing serves light and dark.

mod sides;

use std::ops::Range;

use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::TextStyle;

use crate::measure::Unit;
use crate::report::format_value;

pub(super) use sides::{Interval, PairDots, Tone, intervals, pairs};

/// Placeholders: near-black colours that nothing else uses.
const INK: RGBColor = RGBColor(1, 0, 0);
const GRID: RGBColor = RGBColor(2, 0, 0);
const SERIES: RGBColor = RGBColor(3, 0, 0);
const MEDIAN: RGBColor = RGBColor(4, 0, 0);
const BASELINE: RGBColor = RGBColor(5, 0, 0);
const BUDGET: RGBColor = RGBColor(6, 0, 0);
const GOOD: RGBColor = RGBColor(7, 0, 0);
const WARN: RGBColor = RGBColor(8, 0, 0);
/// 9 is that of stacked parts.
const BAND: RGBColor = RGBColor(10, 0, 0);
const VARIABLES: [(&str, &str); 9] = [
    ("#010000", "var(--ink-2)"),
    ("#020000", "var(--grid)"),
    ("#030000", "var(--series)"),
    ("#040000", "var(--median)"),
    ("#050000", "var(--baseline)"),
    ("#060000", "var(--budget)"),
    ("#070000", "var(--good)"),
    ("#080000", "var(--warn)"),
    ("#0A0000", "var(--band)"),
];

/// Colours of stacked parts, `--part-0` and on; more parts begin again.
pub(super) const N_PART_COLOURS: usize = 8;

fn part_colour(part_idx: usize) -> RGBColor {
    RGBColor(9, 0, (part_idx % N_PART_COLOURS) as u8)
}

/// Left of the plot, where the labels of the y axis are.
const LEFT_PX: u32 = 66;
const RIGHT_PX: u32 = 12;
const FONT_PX: f64 = 12.5;

/// A chart's size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub width_px: u32,
    pub height_px: u32,
}

/// For screens of 700 pixels and more.
pub(super) const WIDE: Size = Size { width_px: 760, height_px: 190 };
/// For phones, and beside wide ones.
pub(super) const NARROW: Size = Size { width_px: 380, height_px: 190 };

impl Size {
    /// Where the plot begins and ends, in percent of the width: for marks that the page itself puts over it.
    pub fn plot_percent(self) -> (f64, f64) {
        let percent = |px: u32| 100.0 * f64::from(px) / f64::from(self.width_px);
        (percent(LEFT_PX), percent(self.width_px - RIGHT_PX))
    }
}

/// Heights that are drawn across a chart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub median: f64,
    pub baseline: Option<f64>,
    pub budget: Option<f64>,
}

impl Marks {
    fn lines(self) -> impl Iterator<Item = (f64, RGBColor)> {
        let baseline = self.baseline.map(|value| (value, BASELINE));
        let budget = self.budget.map(|value| (value, BUDGET));
        [Some((self.median, MEDIAN)), baseline, budget].into_iter().flatten()
    }
}

/// A line's value frame by frame. Values far beyond the rest are cut at the chart's upper edge; the caller says how many by
/// [`n_cut`].
pub(super) fn series(samples: &[Option<u64>], unit: Unit, marks: Marks, size: Size, label: &str) -> String {
    let range = value_range(samples, marks);
    let points = decimated(samples, size.width_px as usize / 2);
    draw(size, label, |area| {
        let last = samples.len().saturating_sub(1).max(1) as f64;
        let mut chart = chart(area, [8, RIGHT_PX, LEFT_PX], 0.0..last, range.0..range.1)?;
        mesh(&mut chart, unit, size)?;
        for (value, colour) in marks.lines().filter(|(value, _)| (range.0..=range.1).contains(value)) {
            chart.draw_series(LineSeries::new([(0.0, value), (last, value)], colour.stroke_width(1)))?;
        }
        for run in points.split(|(_, value)| value.is_none()) {
            let run = run.iter().filter_map(|(x, value)| Some((*x, value.as_ref()?.min(range.1))));
            chart.draw_series(LineSeries::new(run, SERIES.stroke_width(1)))?;
        }
        Ok(())
    })
}

/// Samples above a series' upper edge.
pub(super) fn n_cut(samples: &[Option<u64>], marks: Marks) -> usize {
    let (_, upper) = value_range(samples, marks);
    samples.iter().flatten().filter(|value| **value as f64 > upper).count()
}

/// How many frames took how long; `modes` are marked above the bars.
pub(super) fn histogram(samples: &[Option<u64>], unit: Unit, marks: Marks, size: Size, label: &str) -> String {
    let (lower, upper) = value_range(samples, marks);
    let values: Vec<f64> = samples.iter().flatten().map(|value| (*value as f64).min(upper)).collect();
    let n_bins = ((values.len() as f64).sqrt().ceil() as usize * 2).clamp(8, 48);
    let bin_width = (upper - lower) / n_bins as f64;
    let mut counts = vec![0u32; n_bins];
    for value in &values {
        let bin_idx = ((value - lower) / bin_width) as usize;
        if let Some(count) = counts.get_mut(bin_idx.min(n_bins - 1)) {
            *count += 1;
        }
    }
    let most = f64::from(counts.iter().copied().max().unwrap_or(0).max(1)) * 1.08;
    draw(size, label, |area| {
        let mut chart = chart(area, [8, 2 * RIGHT_PX, 44], lower..upper, 0.0..most)?;
        in_page_colours(chart.configure_mesh().disable_x_mesh())
            .x_labels(if size.width_px > 500 { 6 } else { 3 })
            .y_labels(4)
            .x_label_formatter(&|value| axis_label(*value, unit))
            .y_label_formatter(&|count| format!("{count:.0}"))
            .draw()?;
        chart.draw_series(counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin_idx, count)| {
            let left = lower + bin_idx as f64 * bin_width;
            Rectangle::new([(left, 0.0), (left + bin_width * 0.92, f64::from(*count))], SERIES.filled())
        }))?;
        for (value, colour) in marks.lines().filter(|(value, _)| (lower..=upper).contains(value)) {
            chart.draw_series(LineSeries::new([(value, 0.0), (value, most)], colour.stroke_width(2)))?;
        }
        Ok(())
    })
}

/// Parts on top of each other, frame by frame: `parts` from the bottom up, each with a value a frame.
pub(super) fn stacked(parts: &[Vec<f64>], unit: Unit, size: Size, label: &str) -> String {
    let n_frames = parts.first().map_or(0, Vec::len);
    let n_columns = (size.width_px as usize / 3).min(n_frames).max(1);
    // Means over neighbours: a stack of maxima would be higher than any frame was.
    let column = |part: &[f64], idx: usize| {
        let range = idx * n_frames / n_columns..((idx + 1) * n_frames / n_columns).max(idx * n_frames / n_columns + 1);
        let values = part.get(range).unwrap_or_default();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    let mut below = vec![0.0; n_columns];
    let mut tops = Vec::with_capacity(parts.len());
    for part in parts {
        for (idx, sum) in below.iter_mut().enumerate() {
            *sum += column(part, idx);
        }
        tops.push(below.clone());
    }
    let mut sorted = below.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let high = sorted.get(sorted.len() * 99 / 100).or(sorted.last()).copied().unwrap_or(1.0);
    let upper = (sorted.last().copied().unwrap_or(1.0)).min(high * 1.5).max(1.0) * 1.08;
    draw(size, label, |area| {
        let last = n_frames.saturating_sub(1).max(1) as f64;
        let mut chart = chart(area, [8, RIGHT_PX, LEFT_PX], 0.0..last, 0.0..upper)?;
        mesh(&mut chart, unit, size)?;
        // The highest first: each lower one covers what is not its own.
        for (part_idx, top) in tops.iter().enumerate().rev() {
            let x = |idx: usize| last * idx as f64 / n_columns.saturating_sub(1).max(1) as f64;
            let mut points: Vec<(f64, f64)> = top.iter().enumerate().map(|(idx, y)| (x(idx), y.min(upper))).collect();
            if let [only] = points[..] {
                points.push((last, only.1));
            }
            chart.draw_series(AreaSeries::new(points, 0.0, part_colour(part_idx)))?;
        }
        Ok(())
    })
}

/// Two summaries as strips, one below the other: from least to greatest a thin line, from the median to p95 a thick one.
pub(super) struct Strip {
    pub name: &'static str,
    pub min: f64,
    pub median: f64,
    pub p95: f64,
    pub p99: f64,
}

/// Strips of A and B on one axis.
pub(super) fn strips(strips: &[Strip], unit: Unit, size: Size, label: &str) -> String {
    let least = strips.iter().map(|strip| strip.min).fold(f64::INFINITY, f64::min);
    let most = strips.iter().map(|strip| strip.p99).fold(0.0, f64::max);
    let pad = ((most - least) * 0.06).max(most * 0.01).max(1.0);
    let range = (least - pad).max(0.0)..most + pad;
    draw(size, label, |area| {
        let mut chart = chart(area, [4, 3 * RIGHT_PX, LEFT_PX], range, 0.0..strips.len() as f64)?;
        in_page_colours(chart.configure_mesh().disable_y_mesh())
            .x_labels(if size.width_px > 500 { 6 } else { 3 })
            .y_labels(0)
            .x_label_formatter(&|value| axis_label(*value, unit))
            .draw()?;
        for (idx, strip) in strips.iter().enumerate() {
            let y = strips.len() as f64 - idx as f64 - 0.5;
            let colour = if idx == 0 { SERIES } else { BASELINE };
            chart.draw_series(LineSeries::new([(strip.min, y), (strip.p99, y)], colour.stroke_width(2)))?;
            chart.draw_series([Rectangle::new(
                [(strip.median, y - 0.18), (strip.p95, y + 0.18)],
                colour.mix(0.45).filled(),
            )])?;
            chart.draw_series(LineSeries::new(
                [(strip.median, y - 0.28), (strip.median, y + 0.28)],
                colour.stroke_width(3),
            ))?;
            let at = chart.backend_coord(&(strip.min, y));
            area.draw_text(strip.name, &label_style(), (4, at.1 - 8))?;
        }
        Ok(())
    })
}

/// Medians of one recording after another; the last one is the run itself.
pub(super) fn history(medians: &[f64], unit: Unit, size: Size, label: &str) -> String {
    let (least, most) = medians.iter().fold((f64::INFINITY, 0.0f64), |(least, most), v| (least.min(*v), most.max(*v)));
    let pad = ((most - least) * 0.15).max(most * 0.02).max(1.0);
    let last = medians.len().saturating_sub(1).max(1) as f64;
    draw(size, label, |area| {
        let mut chart = chart(area, [8, RIGHT_PX, LEFT_PX], -0.2..last + 0.2, (least - pad).max(0.0)..most + pad)?;
        in_page_colours(chart.configure_mesh().disable_x_mesh())
            .x_labels(0)
            .y_labels(4)
            .y_label_formatter(&|value| axis_label(*value, unit))
            .draw()?;
        let points = || medians.iter().enumerate().map(|(idx, median)| (idx as f64, *median));
        chart.draw_series(LineSeries::new(points(), BASELINE.stroke_width(2)))?;
        let colour = |idx: f64| if idx == last { SERIES } else { BASELINE };
        chart.draw_series(points().map(|point| Circle::new(point, 4, colour(point.0).filled())))?;
        Ok(())
    })
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Outcome = Result<(), Box<dyn std::error::Error>>;

type Chart<'c, 'a> = ChartContext<'c, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Mesh<'c, 'f, 'a> = MeshStyle<'c, 'f, RangedCoordf64, RangedCoordf64, SVGBackend<'a>>;

/// A plot with room for labels below it: `top`, `right` and `left` of it are so many pixels.
fn chart<'c, 'a>(
    area: &'c Area<'a>,
    [top, right, left]: [u32; 3],
    x: Range<f64>,
    y: Range<f64>,
) -> Result<Chart<'c, 'a>, Box<dyn std::error::Error>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin_top(top).margin_right(right).x_label_area_size(24).y_label_area_size(left);
    Ok(builder.build_cartesian_2d(x, y)?)
}

fn in_page_colours<'m, 'c, 'f, 'a>(mesh: &'m mut Mesh<'c, 'f, 'a>) -> &'m mut Mesh<'c, 'f, 'a> {
    mesh.bold_line_style(GRID).light_line_style(TRANSPARENT).axis_style(GRID).label_style(label_style())
}

fn label_style() -> TextStyle<'static> {
    ("sans-serif", FONT_PX * 1.24).into_font().color(&INK)
}

/// Frames along, the line's unit up.
fn mesh(chart: &mut Chart, unit: Unit, size: Size) -> Outcome {
    counted_mesh(chart, unit, if size.width_px > 500 { 8 } else { 4 })
}

/// What is counted along, the line's unit up.
fn counted_mesh(chart: &mut Chart, unit: Unit, n_labels: usize) -> Outcome {
    in_page_colours(chart.configure_mesh().disable_x_mesh())
        .x_labels(n_labels)
        .y_labels(4)
        .x_label_formatter(&whole)
        .y_label_formatter(&|value| axis_label(*value, unit))
        .draw()?;
    Ok(())
}

/// Frames and pairs are counted: between two of them there is nothing to label.
fn whole(at: &f64) -> String {
    if at.fract() == 0.0 { format!("{:.0}", at.abs()) } else { String::new() }
}

/// Draws, and puts the page's colours in. A chart that can't be drawn becomes a sentence.
fn draw(size: Size, label: &str, fill: impl FnOnce(&Area) -> Outcome) -> String {
    let mut svg = String::new();
    let outcome = {
        let area = SVGBackend::with_string(&mut svg, (size.width_px, size.height_px)).into_drawing_area();
        fill(&area).and_then(|()| Ok(area.present()?))
    };
    if let Err(error) = outcome {
        return format!("<p class=\"muted\">No chart: {}</p>", super::escaped(&error.to_string()));
    }
    for (placeholder, variable) in VARIABLES {
        svg = svg.replace(placeholder, variable);
    }
    for part_idx in 0..N_PART_COLOURS {
        svg = svg.replace(&format!("#0900{part_idx:02X}"), &format!("var(--part-{part_idx})"));
    }
    let opening = format!("<svg role=\"img\" aria-label=\"{}\" ", super::escaped(label));
    svg.replacen("<svg ", &opening, 1)
}

/// A value at an axis: no more digits than it needs.
fn axis_label(value: f64, unit: Unit) -> String {
    let text = format_value(value, unit);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// From where to where a chart's values go: from 0 where that costs less than half of the height, up to the greatest value
/// unless a few are far beyond the rest.
fn value_range(samples: &[Option<u64>], marks: Marks) -> (f64, f64) {
    let mut sorted: Vec<u64> = samples.iter().flatten().copied().collect();
    sorted.sort_unstable();
    let quantile = |p: f64| crate::measure::quantile(&sorted, p).unwrap_or(0.0);
    let (least, most, high) = (quantile(0.0), quantile(1.0), quantile(0.99));
    let shown = |value: Option<f64>| value.filter(|value| *value < 2.0 * high).unwrap_or(0.0);
    // A few far beyond the rest would press it flat. A series that hardly varies has room for half as much again.
    let spread = (high - least).max(0.5 * high);
    let upper = if most > high + spread { high + spread } else { most };
    let upper = upper.max(shown(marks.baseline)).max(shown(marks.budget)).max(1.0);
    let lower = marks.baseline.map_or(least, |baseline| least.min(baseline));
    let pad = ((upper - lower) * 0.06).max(upper * 0.01);
    let lower = if lower < 0.5 * upper { 0.0 } else { lower - pad };
    (lower, upper + pad)
}

/// At most two points for each of `n_columns`: the least and the greatest value of its frames, so that no spike is lost.
fn decimated(samples: &[Option<u64>], n_columns: usize) -> Vec<(f64, Option<f64>)> {
    let as_point = |(idx, value): (usize, &Option<u64>)| (idx as f64, value.map(|value| value as f64));
    if samples.len() <= 2 * n_columns {
        return samples.iter().enumerate().map(as_point).collect();
    }
    let column_len = samples.len().div_ceil(n_columns);
    let mut points = Vec::with_capacity(2 * n_columns);
    for (column_idx, column) in samples.chunks(column_len).enumerate() {
        let values = || column.iter().enumerate().filter_map(|(idx, value)| Some(((*value)?, idx)));
        let (Some(least), Some(most)) = (values().min(), values().max()) else {
            points.push(((column_idx * column_len) as f64, None));
            continue;
        };
        let mut pair = [least, most];
        pair.sort_unstable_by_key(|(_, idx)| *idx);
        points.extend(pair.map(|(value, idx)| ((column_idx * column_len + idx) as f64, Some(value as f64))));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_charts_survive_every_series() {
        let series_of = [
            vec![],
            vec![None, None],
            vec![Some(0)],
            vec![Some(7)],
            vec![Some(5); 10],
            vec![Some(1), None, Some(u64::MAX - 1)],
            (0..5_000).map(|frame| Some(500_000 + frame % 900)).collect(),
        ];
        for samples in &series_of {
            for marks in [Marks::default(), Marks { median: 5.0, baseline: Some(6.0), budget: Some(1e12) }] {
                for svg in [
                    series(samples, Unit::Nanoseconds, marks, WIDE, "a"),
                    histogram(samples, Unit::Nanoseconds, marks, NARROW, "b"),
                ] {
                    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{samples:?}: {svg}");
                    assert!(!svg.contains("NaN") && !svg.contains("#0100"), "{svg}");
                }
            }
        }
        let parts = [vec![1.0, 2.0, 3.0], vec![0.0; 3]];
        let svg = stacked(&parts, Unit::Nanoseconds, WIDE, "c");
        assert!(svg.contains("var(--part-0)") && svg.contains("var(--part-1)"), "{svg}");
        assert!(stacked(&[], Unit::Count, WIDE, "d").starts_with("<svg "));
    }

    #[test]
    fn report_charts_keep_spikes_and_count_what_is_cut() {
        let mut samples = vec![Some(1_000_000); 4_000];
        samples[1_234] = Some(1_400_000);
        assert!(decimated(&samples, 100).contains(&(1_234.0, Some(1_400_000.0))));
        assert_eq!(n_cut(&samples, Marks::default()), 0);
        samples[5] = Some(90_000_000);
        assert_eq!(n_cut(&samples, Marks::default()), 1);
    }
}
