//! A probe's chart as SVG. Its colours are the page's: text and axes take the page's own by style, so that both themes work.

use anyhow::{Context, anyhow};
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use praxis::measure::grouped;
use praxis::probe::report::{Bar, Chart, Marks};

const WIDTH_PX: u32 = 860;
const LINES_HEIGHT_PX: u32 = 360;
const BAR_HEIGHT_PX: u32 = 26;
const FONT: &str = "sans-serif";
/// Readable on light and on dark ground.
const COLOURS: [RGBColor; 6] = [
    RGBColor(66, 133, 190),
    RGBColor(214, 126, 44),
    RGBColor(84, 158, 84),
    RGBColor(190, 84, 110),
    RGBColor(130, 110, 190),
    RGBColor(130, 130, 130),
];
/// Axes, marks and text; the page's style replaces it.
const INK: RGBColor = RGBColor(128, 128, 128);

/// The chart, or nothing where there is nothing to draw.
pub fn svg(chart: &Chart) -> anyhow::Result<String> {
    let mut text = String::new();
    let drawn = match &chart.marks {
        Marks::Bars(bars) if bars.is_empty() => return Ok(text),
        Marks::Lines { lines, .. } if lines.iter().all(|(_, points)| points.is_empty()) => return Ok(text),
        Marks::Bars(bars) => draw_bars(&mut text, bars, chart.unit),
        Marks::Lines { x_name, lines } => draw_lines(&mut text, x_name, lines, chart.unit),
    };
    drawn.map_err(|error| anyhow!(error.to_string())).with_context(|| format!("can't draw {:?}", chart.title))?;
    // It scales with the page; a fixed size would not.
    Ok(text.replacen(
        &format!("<svg width=\"{WIDTH_PX}\""),
        &format!("<svg role=\"img\" aria-label=\"{}\" width=\"{WIDTH_PX}\"", super::html::escaped(&chart.title)),
        1,
    ))
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A bar a row, with its name before it.
fn draw_bars(text: &mut String, bars: &[Bar], unit: &str) -> Drawn {
    const NAMES_PX: u32 = 300;
    let height_px = BAR_HEIGHT_PX * bars.len() as u32 + 50;
    let root = SVGBackend::with_string(text, (WIDTH_PX, height_px)).into_drawing_area();
    let most = bars.iter().map(|bar| bar.high.max(bar.middle)).fold(0.0, f64::max);
    let most = if most > 0.0 { most * 1.08 } else { 1.0 };
    let n_bars = bars.len() as f64;
    let (names, plot) = root.split_horizontally(NAMES_PX);
    let mut chart =
        ChartBuilder::on(&plot).margin(6).x_label_area_size(38).build_cartesian_2d(0.0..most, 0.0..n_bars)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_desc(unit)
        .axis_style(INK)
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.25))
        .label_style((FONT, 13).into_font().color(&INK))
        .draw()?;
    let row = |idx: usize| n_bars - 1.0 - idx as f64;
    for (idx, bar) in bars.iter().enumerate() {
        let (below, middle) = (row(idx), row(idx) + 0.5);
        chart.draw_series([Rectangle::new([(0.0, below + 0.2), (bar.middle, below + 0.8)], COLOURS[0].filled())])?;
        chart.draw_series([PathElement::new(vec![(bar.low, middle), (bar.high, middle)], INK.stroke_width(2))])?;
        let (_, y_px) = chart.backend_coord(&(0.0, middle));
        let label = format!("{} · {}", shortened(&bar.name), number(bar.middle));
        let style = (FONT, 13).into_font().color(&INK);
        let place = plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Right,
            plotters::style::text_anchor::VPos::Center,
        );
        names.draw(&Text::new(label, (NAMES_PX as i32 - 6, y_px), style.pos(place)))?;
    }
    root.present()?;
    Ok(())
}

/// Where values differ by more than this, small ones would lie on the axis: it is logarithmic then.
const LINEAR_SPAN: f64 = 20.0;

/// A line for each series, x as log; their names beside them.
fn draw_lines(text: &mut String, x_name: &str, lines: &[(String, Vec<(f64, f64)>)], unit: &str) -> Drawn {
    const NAMES_PX: u32 = 170;
    let root = SVGBackend::with_string(text, (WIDTH_PX, LINES_HEIGHT_PX)).into_drawing_area();
    let (plot, names) = root.split_horizontally(WIDTH_PX - NAMES_PX);
    let points = || lines.iter().flat_map(|(_, points)| points.iter());
    let x_least = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let x_most = points().map(|point| point.0).fold(0.0, f64::max).max(x_least * 1.01);
    let y_least = points().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let y_most = points().map(|point| point.1).fold(0.0, f64::max);
    let mut builder = ChartBuilder::on(&plot);
    builder.margin(8).x_label_area_size(40).y_label_area_size(64);
    // Labels where something was measured: a decade's worth of them would touch each other.
    let mut measured_at: Vec<f64> = points().map(|point| point.0).collect();
    measured_at.sort_unstable_by(f64::total_cmp);
    measured_at.dedup();
    let x_axis = (x_least..x_most).log_scale().with_key_points(measured_at);
    if y_least > 0.0 && y_most > y_least * LINEAR_SPAN {
        draw_series(
            builder.build_cartesian_2d(x_axis, (y_least / 1.5..y_most * 1.5).log_scale())?,
            x_name,
            lines,
            unit,
        )?;
    } else {
        let y_most = if y_most > 0.0 { y_most * 1.1 } else { 1.0 };
        draw_series(builder.build_cartesian_2d(x_axis, 0.0..y_most)?, x_name, lines, unit)?;
    }
    let style = (FONT, 13).into_font().color(&INK);
    for (idx, ((name, _), colour)) in lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y_px = 24 + 20 * idx as i32;
        names.draw(&PathElement::new(vec![(4, y_px), (22, y_px)], colour.stroke_width(2)))?;
        names.draw(&Text::new(name.as_str(), (28, y_px - 7), style.clone()))?;
    }
    root.present()?;
    Ok(())
}

fn draw_series<X, Y>(
    mut chart: ChartContext<SVGBackend, Cartesian2d<X, Y>>,
    x_name: &str,
    lines: &[(String, Vec<(f64, f64)>)],
    unit: &str,
) -> Drawn
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .x_desc(x_name)
        .y_desc(unit)
        .x_label_formatter(&|x| number(*x))
        .y_label_formatter(&|y| number(*y))
        .axis_style(INK)
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.25))
        .label_style((FONT, 13).into_font().color(&INK))
        .draw()?;
    for ((_, points), colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3))?;
    }
    Ok(())
}

/// Names are long where several things were varied.
fn shortened(name: &str) -> String {
    const MOST_CHARS: usize = 38;
    match name.chars().count() {
        ..=MOST_CHARS => name.to_owned(),
        _ => name.chars().take(MOST_CHARS - 1).chain(['…']).collect(),
    }
}

/// Three digits or so.
fn number(value: f64) -> String {
    let text = match value.abs() {
        ..10.0 if value.fract() != 0.0 => format!("{value:.2}"),
        ..100.0 if value.fract() != 0.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    grouped(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_charts_are_drawn_and_empty_ones_left_out() {
        let bar = |name: &str, middle| Bar { name: name.into(), low: middle * 0.9, middle, high: middle * 1.5 };
        let chart = |marks| Chart { title: "a <b>".into(), unit: "µs", marks };
        let bars = svg(&chart(Marks::Bars(vec![bar("block & co", 45.0), bar("spin", 23.0)]))).expect("it draws");
        assert!(bars.starts_with("<svg role=\"img\" aria-label=\"a &lt;b&gt;\""), "{bars}");
        assert!(bars.contains("block &amp; co · 45") && bars.contains("</svg>"));
        let lines = vec![("one".to_owned(), vec![(1.0, 64.0), (50.0, 4.2)]), ("none".to_owned(), Vec::new())];
        let lines = svg(&chart(Marks::Lines { x_name: "operations", lines })).expect("it draws");
        assert!(lines.contains("operations") && lines.contains("one"));
        // Labels where something was measured, and nowhere else.
        let near = vec![("one".to_owned(), vec![(1.0, 4.0), (37.0, 4.2)])];
        let near = svg(&chart(Marks::Lines { x_name: "operations", lines: near })).expect("it draws");
        assert!(near.lines().any(|line| line == "37") && near.lines().all(|line| line != "10"), "{near}");
        assert_eq!(svg(&chart(Marks::Bars(Vec::new()))).expect("nothing"), "");
        // From tenths to thousands: on a straight axis half of it would lie on the ground.
        let wide = vec![("one".to_owned(), vec![(1.0, 0.3), (50.0, 2_700.0)])];
        let wide = svg(&chart(Marks::Lines { x_name: "rows", lines: wide })).expect("it draws");
        assert!(["100", "1,000"].iter().all(|label| wide.lines().any(|line| line == *label)), "{wide}");
        // Nothing took any time, and there is one point.
        svg(&chart(Marks::Bars(vec![bar("zero", 0.0)]))).expect("it draws");
        let one = vec![("one".to_owned(), vec![(1.0, 0.0)])];
        svg(&chart(Marks::Lines { x_name: "workers", lines: one })).expect("it draws");
    }

    #[test]
    fn probe_chart_labels_are_short() {
        assert_eq!([number(0.5), number(12.34), number(20.0), number(12345.5)], ["0.50", "12.3", "20", "12,346"]);
        assert_eq!(shortened(&"x".repeat(60)).chars().count(), 38);
    }
}
