//! Every line of both sides in one table.

use super::{badge, judged};
use crate::measure::experiment::{Experiment, LineResult, Scale, Verdict};
use crate::report::experiment::{absolute, detectable, interval_text, shown};
use crate::report::format_value;
use crate::report::html::lines::breakable;
use crate::report::html::{anchor, escaped, push, sort_key, words};

/// The columns: class, title, what its heading says to who points at it.
const COLUMNS: [(&str, &str, &str); 10] = [
    ("name", "line", "Sort by name"),
    ("kind wide-only", "kind", "Judged lines first"),
    ("number wide-only", "A", "The median of A's runs"),
    ("number wide-only", "B", "The median of B's runs"),
    ("number", "B to A", "How much more B takes, in percent"),
    ("number wide-only", "B to A interval", "Where the true difference lies, in percent"),
    ("number wide-only", "B − A", "How much more B takes, in the line's unit"),
    ("number wide-only", "B − A interval", "Where the true difference lies, in the line's unit"),
    (
        "number wide-only",
        "detectable",
        "The least slowdown that all of the procedure would have found nine times in ten; more than the interval is wide, since several lines and several looks share one chance of a false alarm",
    ),
    ("verdicts", "verdict", "The verdict"),
];

/// The table. On a narrow screen the sides' medians stand above the ratios, intervals and absolute differences below.
pub(super) fn section(experiment: &Experiment, html: &mut String) {
    let percent = 100.0 * (1.0 - experiment.plan.alpha);
    let (n_judged, n_looks) = (judged(experiment).count(), experiment.plan.looks.len());
    let looks = if n_looks == 1 { "one look".to_owned() } else { format!("{n_looks} looks") };
    push(
        html,
        format_args!(
            "<section id=\"lines\">\n<h2>Every line</h2>\n<p class=\"lead\">A and B are medians over runs of the run's median. B to A and B − A are the middle of \
             the pairs' own ratios and differences, which cancel what drifts, and not those of the two medians; intervals hold the true value with {percent:.0}% certainty. \
             Detectable is the least slowdown that would have been found nine times in ten: it is the margin and more, and more than an interval is wide, since an interval is for one line \
             by itself, while {n_judged} lines are judged together, in {looks}. A heading sorts; a name leads to the line's runs.</p>\n\
             <p class=\"choose\"><button type=\"button\" id=\"by-effect\" aria-pressed=\"false\" title=\"The judged lines first, then the others\">largest effect first</button></p>\n\
             <div class=\"scroll\">\n<table id=\"table\">\n<thead><tr>"
        ),
    );
    for (class, title, hint) in COLUMNS {
        push(
            html,
            format_args!(
                "<th scope=\"col\" class=\"{class}\" aria-sort=\"none\"><button type=\"button\" title=\"{hint}\">{title}</button></th>"
            ),
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (row_idx, line) in experiment.lines.iter().enumerate() {
        row(experiment, line, row_idx, html);
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

fn row(experiment: &Experiment, line: &LineResult, row_idx: usize, html: &mut String) {
    let number = |class: &str, key: Option<f64>, text: &str| {
        format!("<td class=\"number {class}\" data-v=\"{}\">{}</td>", key_of(key), escaped(text))
    };
    // Differences are no ratios: among them they sort last.
    let ratio = |value: Option<f64>| value.filter(|_| line.scale == Scale::Ratio);
    let difference = &line.difference;
    let in_percent = match line.scale {
        Scale::Ratio => [shown(difference.estimate, line), interval_text(difference, line)],
        Scale::Difference => ["-".to_owned(), "-".to_owned()],
    };
    let in_unit = absolute(line).unwrap_or_else(|| ["-".to_owned(), "-".to_owned()]);
    let values =
        [("A ", line.a), ("B ", line.b)].map(|(side, value)| side.to_owned() + &format_value(value, line.unit));
    let [difference_in_unit, interval_in_unit] = &in_unit;
    let in_unit_below = [format!("B − A {difference_in_unit}"), interval_in_unit.clone()];
    let interval = (line.scale == Scale::Ratio).then(|| in_percent[1].clone());
    let above: String = values.iter().map(|text| beside(text)).collect();
    let below: String = interval.iter().chain(&in_unit_below).map(|text| beside(text)).collect();
    push(
        html,
        format_args!(
            "<tr data-order=\"{row_idx}\" data-effect=\"{12}\" data-judged=\"{16}\"><th scope=\"row\" class=\"name\" data-v=\"{0}\"><a href=\"#{1}\" title=\"{2}\">{3}</a></th>\
             <td class=\"kind wide-only\" data-v=\"{row_idx}\">{4}</td>{5}{6}<td class=\"number\" data-v=\"{7}\">{above}{8}{below}</td>{9}{10}{11}{13}<td class=\"verdicts\" data-v=\"{14}\">{15}</td></tr>\n",
            escaped(&line.name),
            anchor(&line.name),
            escaped(&words::explain(&line.name)),
            breakable(&line.name),
            words::kind(&line.name),
            number("wide-only", Some(line.a), &format_value(line.a, line.unit)),
            number("wide-only", Some(line.b), &format_value(line.b, line.unit)),
            key_of(ratio(Some(difference.estimate))),
            escaped(&in_percent[0]),
            number("wide-only", ratio(difference.low), &in_percent[1]),
            number("wide-only", line.absolute.map(|absolute| absolute.estimate), &in_unit[0]),
            number("wide-only", line.absolute.and_then(|absolute| absolute.low), &in_unit[1]),
            key_of(effect(line)),
            number("wide-only", ratio(line.detectable), &detectable(line)),
            grade(line.verdict),
            badge(experiment, line),
            u8::from(line.verdict != Verdict::NotJudged),
        ),
    );
}

/// What a narrow screen shows above and below a ratio, having no room beside it.
fn beside(text: &str) -> String {
    format!("<span class=\"narrow-only muted\">{}</span>", escaped(text))
}

/// How far from no difference, either way: twice as long is as far as half.
fn effect(line: &LineResult) -> Option<f64> {
    let distance = line.difference.estimate.ln().abs();
    Some(distance).filter(|distance| line.scale == Scale::Ratio && distance.is_finite())
}

/// A number to sort by; nothing where there is none, which sorts last either way.
fn key_of(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, sort_key)
}

fn grade(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Regressed => 4,
        Verdict::Improved => 3,
        Verdict::CantTell => 2,
        Verdict::Same => 1,
        Verdict::NotJudged => 0,
    }
}
