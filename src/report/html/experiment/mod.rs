//! The page of an experiment: two sides, compared by interleaved pairs of runs.

mod lines;
mod ran;
mod table;
mod words;

use super::{document, escaped, glossary, push, top};
use crate::measure::experiment::{Experiment, ExperimentKind, ExperimentState, Leaning, LineResult, Scale, Verdict};
use crate::report::experiment::{absolute, interval_text, shown};
use crate::report::{ExperimentReport, counted};

/// An experiment as one HTML document.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentPage<'a> {
    /// What it shows.
    pub experiment: &'a Experiment,
}

impl ExperimentPage<'_> {
    /// The document.
    pub fn to_html(&self) -> String {
        let experiment = self.experiment;
        let (_, headline) = headline(experiment);
        document(&format!("{}: {headline}", scene(experiment)), |html| {
            header(experiment, html);
            html.push_str("<main>\n");
            verdict(experiment, html);
            ran::section(experiment, html);
            lines::intervals(experiment, html);
            table::section(experiment, html);
            lines::run_by_run(experiment, html);
            lines::void_pairs(experiment, html);
            glossary(&words::GLOSSARY, html);
            html.push_str("</main>\n");
        })
    }
}

fn header(experiment: &Experiment, html: &mut String) {
    let n_valid = experiment.n_valid_pairs();
    let n_void = experiment.pairs.len() - n_valid;
    let mut facts = vec![format!("{} of runs", counted(n_valid as u64, "pair"))];
    facts.extend((n_void > 0).then(|| format!("{n_void} void")));
    facts.extend(ran::at_a_glance(experiment));
    facts.extend(
        [&experiment.adapter.name, &experiment.machine.cpu].into_iter().filter(|name| !name.is_empty()).cloned(),
    );
    facts.extend(ran::date(experiment));
    top("praxis comparison", scene(experiment), &facts, html);
}

/// A scene may be a path: what its file is called is name enough.
fn scene(experiment: &Experiment) -> &str {
    let stem = std::path::Path::new(&experiment.scene).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(&experiment.scene)
}

/// Lines with a verdict.
fn judged(experiment: &Experiment) -> impl Iterator<Item = &LineResult> {
    experiment.lines.iter().filter(|line| line.verdict != Verdict::NotJudged)
}

/// The lines that seem to go somewhere, although that is not sure.
fn leaning(experiment: &Experiment, html: &mut String) {
    for line in judged(experiment) {
        match line.leaning() {
            Some(Leaning::Slower) => sentence(line, "seems to take longer, which is not sure yet", html),
            Some(Leaning::Faster) => sentence(line, "seems to take less, which is not sure yet", html),
            None => {}
        }
    }
}

/// What is said of a line, with the figures.
fn sentence(line: &LineResult, what: &str, html: &mut String) {
    push(html, format_args!("<p><b>{}</b> {what}: {}.</p>\n", escaped(&line.name), escaped(&with_intervals(line))));
}

/// A line's difference in percent and in its unit, each with its interval: `+3.1% (+2.9% … +3.3%), +12 µs (+11 … +13 µs)`.
fn with_intervals(line: &LineResult) -> String {
    let in_percent = (line.scale == Scale::Ratio)
        .then(|| [shown(line.difference.estimate, line), interval_text(&line.difference, line)]);
    let both = [in_percent, absolute(line)].into_iter().flatten();
    both.map(|[estimate, interval]| format!("{estimate} ({interval})")).collect::<Vec<_>>().join(", ")
}

fn names_with(experiment: &Experiment, verdict: Verdict) -> Vec<&str> {
    judged(experiment).filter(|line| line.verdict == verdict).map(|line| line.name.as_str()).collect()
}

/// The verdict's class on the page, and its words.
fn headline(experiment: &Experiment) -> (&'static str, &'static str) {
    let has = |verdict| !names_with(experiment, verdict).is_empty();
    match experiment.kind {
        _ if experiment.lines.is_empty() => ("plain", "No pair has been measured yet"),
        ExperimentKind::SelfTest if has(Verdict::Regressed) || has(Verdict::Improved) => {
            ("warn", "A false alarm: a program differs from itself")
        }
        _ if has(Verdict::Regressed) && has(Verdict::Improved) => {
            ("bad", "B is slower in some lines, faster in others")
        }
        _ if has(Verdict::Regressed) => ("bad", "B is slower than A"),
        _ if has(Verdict::Improved) => ("good", "B is faster than A"),
        _ if has(Verdict::CantTell) => ("warn", "Can't tell A from B yet"),
        _ => ("good", "A and B are the same, within the margin"),
    }
}

fn verdict(experiment: &Experiment, html: &mut String) {
    let (class, headline) = headline(experiment);
    let mark = match class {
        "bad" => "✕",
        "good" => "✓",
        "warn" => "?",
        _ => "–",
    };
    push(
        html,
        format_args!(
            "<section class=\"verdict {class}\" id=\"verdict\">\n<p class=\"mark\" aria-hidden=\"true\">{mark}</p>\n<div><h2>{headline}</h2>\n"
        ),
    );
    for line in judged(experiment) {
        match line.verdict {
            Verdict::Regressed => sentence(line, "takes longer", html),
            Verdict::Improved => sentence(line, "takes less", html),
            Verdict::Same | Verdict::CantTell | Verdict::NotJudged => {}
        }
    }
    for (verdict, what) in
        [(Verdict::Same, "The same, within the margin"), (Verdict::CantTell, "Can't tell; more pairs would")]
    {
        let names = names_with(experiment, verdict);
        if verdict == Verdict::CantTell {
            leaning(experiment, html);
        }
        if !names.is_empty() {
            push(html, format_args!("<p>{what}: {}.</p>\n", escaped(&names.join(", "))));
        }
    }
    let state = match experiment.state {
        ExperimentState::Unfinished => {
            "It has not finished: <code>praxis bench --resume</code> with this page's folder goes on."
        }
        ExperimentState::Decided => "It stopped as soon as every judged line was decided.",
        ExperimentState::Exhausted => "It made all the pairs that it was given, and some line is undecided.",
    };
    push(html, format_args!("<p>{state}</p>\n</div>\n</section>\n"));
    let notes = ExperimentReport::new(experiment).notes();
    if !notes.is_empty() {
        push(
            html,
            format_args!("<details class=\"notes\"><summary>{}</summary>\n<ul>\n", counted(notes.len() as u64, "note")),
        );
        for note in notes {
            push(html, format_args!("<li>{}</li>\n", escaped(&note)));
        }
        html.push_str("</ul>\n</details>\n");
    }
}

fn badge(line: &LineResult) -> String {
    let (class, text) = match (line.verdict, line.leaning()) {
        (Verdict::Regressed, _) => ("bad", "slower"),
        (Verdict::Improved, _) => ("good", "faster"),
        (Verdict::Same, _) => ("plain", "the same"),
        (Verdict::CantTell, None) => ("warn", "can't tell"),
        (Verdict::CantTell, Some(Leaning::Slower)) => ("warn", "can't tell, leans slower"),
        (Verdict::CantTell, Some(Leaning::Faster)) => ("warn", "can't tell, leans faster"),
        (Verdict::NotJudged, _) => return "<span class=\"muted\">shown only</span>".to_owned(),
    };
    let clock = if line.is_moved_with_clock { " <span class=\"badge plain\">moved with the clock</span>" } else { "" };
    format!("<span class=\"badge {class}\">{text}</span>{clock}")
}
