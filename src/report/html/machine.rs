//! What the numbers belong to: machine, adapter, build, settings.

use serde::Serialize;
use serde_json::Value;

use super::{escaped, push};
use crate::measure::{Unit, grouped};
use crate::report::{Report, format_value, plain};

/// Everything that a run file says of where and how it was measured; what differs from the Baseline is marked.
pub(super) fn section(report: &Report, html: &mut String) {
    let run = report.run;
    html.push_str(
        "<section id=\"machine\">\n<h2>Machine and settings</h2>\n<p class=\"lead\">Numbers belong to these. Change one, and they \
         compare with nothing measured before.</p>\n<div class=\"groups\">\n",
    );
    group(report, "Machine", "machine", as_object(&run.machine), html);
    group(report, "Adapter and driver", "adapter", as_object(&run.adapter), html);
    group(report, "Build", "build", as_object(&run.build), html);
    let settings = run.settings.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    group(report, "Settings", "settings", settings, html);
    let mut loading: Vec<(String, Value)> =
        run.load.iter().map(|(name, value)| (name.clone(), Value::from(*value))).collect();
    loading.push(("cores used".to_owned(), Value::from(run.counts.cores.len())));
    loading.push(("migrations".to_owned(), Value::from(run.counts.migrations)));
    loading.push(("frames".to_owned(), Value::from(run.n_frames)));
    group(report, "Counted", "counts", loading, html);
    html.push_str("</div>\n</section>\n");
}

fn group(report: &Report, title: &str, path: &str, fields: Vec<(String, Value)>, html: &mut String) {
    if fields.is_empty() {
        return;
    }
    push(html, format_args!("<div class=\"group\"><h3>{title}</h3>\n<dl>\n"));
    for (name, value) in fields {
        let field = format!("{path}.{name}");
        let mismatches = report.comparison.iter().flat_map(|comparison| &comparison.mismatches);
        let differing = mismatches.into_iter().find(|mismatch| mismatch.field == field);
        let there = differing.map_or(String::new(), |mismatch| {
            format!(" <span class=\"badge warn\">Baseline: {}</span>", escaped(&plain(&mismatch.baseline)))
        });
        push(
            html,
            format_args!(
                "<div><dt>{}</dt><dd>{}{there}</dd></div>\n",
                escaped(&name),
                escaped(&readable(&name, &value))
            ),
        );
    }
    html.push_str("</dl></div>\n");
}

fn as_object(part: &impl Serialize) -> Vec<(String, Value)> {
    match serde_json::to_value(part) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        _ => Vec::new(),
    }
}

fn readable(name: &str, value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => {
            let cluster = |value: &Value| match value {
                Value::Object(cluster) => {
                    let part = |name: &str| cluster.get(name).map(plain).unwrap_or_default();
                    format!("{} cores share {}", part("n_cores"), part("shares"))
                }
                other => plain(other),
            };
            list.iter().map(cluster).collect::<Vec<_>>().join("; ")
        }
        Value::Number(number) if name.ends_with("_ns") && !name.contains("period") => {
            format_value(number.as_f64().unwrap_or(0.0), Unit::Nanoseconds)
        }
        Value::Number(number) => grouped(&number.to_string()),
        other => plain(other),
    }
}
