//! A run beside its Baseline.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RunFile, Summary, Unit};

/// One line in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineComparison {
    /// The line's name.
    pub name: String,
    /// What its values count.
    pub unit: Unit,
    /// What the run read.
    pub run: Summary,
    /// What the Baseline holds.
    pub baseline: Summary,
    /// How much more the run's median is, in percent of the Baseline's; `None` when that is 0.
    pub median_delta_percent: Option<f64>,
    /// The same of the 95th percentiles.
    pub p95_delta_percent: Option<f64>,
}

/// Something besides the code that differs between run and Baseline, so that their numbers may differ without the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The field, as a path into the run file: `settings.msaa`, `adapter.driver_info`.
    pub field: String,
    /// The run's value; null when it has none.
    pub run: Value,
    /// The Baseline's value; null when it has none.
    pub baseline: Value,
}

/// A run beside its Baseline. The differences are shown, not judged: one run a side can't tell a change from drift.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Lines that both have in the same unit, sorted by name.
    pub lines: Vec<LineComparison>,
    /// Lines that only the run has.
    pub only_in_run: Vec<String>,
    /// Lines that only the Baseline has.
    pub only_in_baseline: Vec<String>,
    /// What else differs: scene, profile, machine, adapter, settings.
    pub mismatches: Vec<Mismatch>,
}

impl Comparison {
    /// The line called `name`, when both runs have it.
    pub fn line(&self, name: &str) -> Option<&LineComparison> {
        self.lines.iter().find(|line| line.name == name)
    }
}

/// Compares `run` with `baseline`, line by line and field by field.
pub fn compare(run: &RunFile, baseline: &RunFile) -> Comparison {
    let mut comparison = Comparison::default();
    for (name, line) in &run.lines {
        match baseline.lines.get(name).filter(|other| other.unit == line.unit) {
            Some(other) => comparison.lines.push(LineComparison {
                name: name.clone(),
                unit: line.unit,
                run: line.summary,
                baseline: other.summary,
                median_delta_percent: delta_percent(line.summary.median, other.summary.median),
                p95_delta_percent: delta_percent(line.summary.p95, other.summary.p95),
            }),
            None => comparison.only_in_run.push(name.clone()),
        }
    }
    let is_matched = |name: &str| comparison.line(name).is_some();
    comparison.only_in_baseline = baseline.lines.keys().filter(|name| !is_matched(name)).cloned().collect();
    comparison.mismatches = mismatches(run, baseline);
    comparison
}

fn delta_percent(run: f64, baseline: f64) -> Option<f64> {
    (baseline != 0.0).then(|| (run / baseline - 1.0) * 100.0)
}

/// Fields that may differ without the numbers losing their meaning. A new kernel or a little more memory may move a line, but
/// so may a change of the code: both are for an interleaved comparison to tell. What the ray structures weigh is the code's doing.
const MAY_DIFFER: [&str; 7] = [
    "build.target",
    "build.features",
    "machine.memory_bytes",
    "machine.os",
    "machine.kernel",
    "machine.governor",
    "settings.rays.bytes",
];

impl Mismatch {
    /// Whether it means that other work was measured, or on something else, so that no line may be judged by the other.
    pub fn prevents_judging(&self) -> bool {
        !MAY_DIFFER.contains(&self.field.as_str())
    }
}

/// What differs between two runs besides the code.
pub(super) fn mismatches(run: &RunFile, baseline: &RunFile) -> Vec<Mismatch> {
    // The commit is what one compares, and the core count is in the machine; all else should be the same.
    let fields = |run: &RunFile| {
        [
            ("scene", Value::from(run.scene.clone())),
            ("build.profile", Value::from(run.build.profile.clone())),
            ("build.target", Value::from(run.build.target.clone())),
            ("build.features", Value::from(run.build.features.clone())),
            ("machine", as_value(&run.machine)),
            ("adapter", as_value(&run.adapter)),
            ("settings", as_value(&run.settings)),
        ]
    };
    let mut mismatches = Vec::new();
    for ((field, run), (_, baseline)) in fields(run).into_iter().zip(fields(baseline)) {
        collect_mismatches(field, run, baseline, &mut mismatches);
    }
    mismatches
}

fn as_value(part: &impl Serialize) -> Value {
    // Maps with string keys and plain fields, which always are JSON.
    serde_json::to_value(part).unwrap_or_default()
}

/// Goes down into objects, so that each field that differs is named, and nothing that is the same.
fn collect_mismatches(field: &str, run: Value, baseline: Value, mismatches: &mut Vec<Mismatch>) {
    match (run, baseline) {
        (Value::Object(mut run), Value::Object(mut baseline)) => {
            let mut keys: Vec<String> = run.keys().chain(baseline.keys()).cloned().collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let values = (run.remove(&key).unwrap_or_default(), baseline.remove(&key).unwrap_or_default());
                collect_mismatches(&format!("{field}.{key}"), values.0, values.1, mismatches);
            }
        }
        (run, baseline) if run != baseline => {
            mismatches.push(Mismatch { field: field.to_owned(), run, baseline });
        }
        _ => {}
    }
}
