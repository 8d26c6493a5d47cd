//! The aliasing measures: four numbers, beside the Baseline's.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use serde_json::{Value, json};

use super::counted;
use super::format::format_delta;
use super::table::STYLE;
use crate::measure::aliasing::Aliasing;

/// What is shown: the key in JSON, the name, the number.
type Measure = (&'static str, &'static str, fn(&Aliasing) -> Option<f64>);

const MEASURES: [Measure; 4] = [
    ("flip_mean", "FLIP, mean", |aliasing| Some(aliasing.flip_mean)),
    ("edge_error", "edge error", |aliasing| aliasing.edge_error),
    ("shadow_edge_error", "shadow-edge error", |aliasing| aliasing.shadow_edge_error),
    ("flicker_rms", "flicker, rms", |aliasing| Some(aliasing.flicker_rms())),
];

/// One row for each measure that was taken; `baseline` must be comparable.
pub(super) fn table(run: &Aliasing, baseline: Option<&Aliasing>) -> String {
    let [width_px, height_px] = run.size_px;
    let title = format!(
        "aliasing at {width_px}×{height_px}, median of {}, {} each",
        counted(run.places.len() as u64, "place"),
        counted(run.n_steps.into(), "step")
    );
    let mut header = vec![title, "of 1".to_owned()];
    if baseline.is_some() {
        header.extend(["Baseline".to_owned(), "Δ".to_owned()]);
    }
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    table.force_no_tty();
    table.set_header(header);
    for (_, name, measure) in MEASURES {
        let Some(value) = measure(run) else { continue };
        let number = |value: f64| Cell::new(format!("{value:.5}"));
        let mut row = vec![Cell::new(format!("  {name}")), number(value)];
        if let Some(baseline) = baseline.map(measure) {
            row.push(baseline.map_or_else(|| Cell::new("-"), number));
            row.push(Cell::new(format_delta(delta_percent(value, baseline))));
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// The same measures for a page: name, what it is, the run's value and the Baseline's.
pub(super) fn rows(
    run: &Aliasing,
    baseline: Option<&Aliasing>,
) -> impl Iterator<Item = (&'static str, &'static str, Option<f64>, Option<f64>)> {
    MEASURES.iter().map(move |(key, name, measure)| {
        let about = match *key {
            "flip_mean" => "the whole picture, as the eye weighs it",
            "edge_error" => "along edges, in displayed white",
            "shadow_edge_error" => "along the edges of shadows",
            _ => "under a sub-pixel pan, beyond the reference's own",
        };
        (*name, about, measure(run), baseline.and_then(measure))
    })
}

/// The same measures by name, each with the Baseline's.
pub(super) fn to_json(run: &Aliasing, baseline: Option<&Aliasing>) -> Value {
    let measures = MEASURES.iter().map(|(key, _, measure)| {
        let (value, baseline) = (measure(run), baseline.and_then(measure));
        let delta = value.and_then(|value| delta_percent(value, baseline));
        ((*key).to_owned(), json!({ "value": value, "baseline": baseline, "delta_percent": delta }))
    });
    Value::Object(measures.collect())
}

fn delta_percent(value: f64, baseline: Option<f64>) -> Option<f64> {
    baseline.filter(|baseline| *baseline > 0.0).map(|baseline| 100.0 * (value / baseline - 1.0))
}
