//! The page of an experiment: two sides, compared by interleaved pairs of runs.

mod banner;
mod headline;
mod lines;
mod ran;
mod table;
mod words;

use super::{document, glossary, top};
use crate::measure::experiment::{Experiment, Leaning, LineResult, Scale, Verdict};
use crate::report::counted;
use crate::report::experiment::{absolute, interval_text, shown};

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
        let (_, headline) = headline::headline(experiment);
        document(&format!("{}: {headline}", scene(experiment)), |html| {
            header(experiment, html);
            html.push_str("<main>\n");
            banner::section(experiment, html);
            ran::section(experiment, html);
            lines::intervals(experiment, html);
            table::section(experiment, html);
            lines::run_by_run(experiment, html);
            lines::void_pairs(experiment, html);
            words::glossary_of(experiment, |words| glossary(words, html));
            html.push_str("</main>\n");
        })
    }
}

fn header(experiment: &Experiment, html: &mut String) {
    let n_valid = experiment.n_valid_pairs();
    let mut facts = vec![format!("{} of runs", counted(n_valid as u64, "pair"))];
    facts.extend(not_counted(experiment));
    facts.extend(ran::at_a_glance(experiment));
    facts.extend(
        [&experiment.adapter.name, &experiment.machine.cpu].into_iter().filter(|name| !name.is_empty()).cloned(),
    );
    facts.extend(ran::date(experiment));
    top("praxis comparison", scene(experiment), &facts, html);
}

/// How many pairs were run besides those that count, if any.
fn not_counted(experiment: &Experiment) -> Option<String> {
    match experiment.pairs.len() - experiment.n_valid_pairs() {
        0 => None,
        1 => Some("1 more that does not count".to_owned()),
        n => Some(format!("{n} more that do not count")),
    }
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

/// A line's difference in percent and in its unit, each with its interval: `+3.1% (+2.9% … +3.3%), +12 µs (+11 … +13 µs)`.
fn with_intervals(line: &LineResult) -> String {
    let in_percent = (line.scale == Scale::Ratio)
        .then(|| [shown(line.difference.estimate, line), interval_text(&line.difference, line)]);
    let both = [in_percent, absolute(line)].into_iter().flatten();
    both.map(|[estimate, interval]| format!("{estimate} ({interval})")).collect::<Vec<_>>().join(", ")
}

/// Why most lines have no verdict.
fn why_not_judged(experiment: &Experiment) -> String {
    let n_judged = judged(experiment).count();
    format!("Shown, not judged: of so many lines some differ by chance, so only {n_judged} are judged.")
}

fn badge(experiment: &Experiment, line: &LineResult) -> String {
    let (class, text) = match (line.verdict, line.leaning()) {
        (Verdict::Regressed, _) => ("bad", "slower"),
        (Verdict::Improved, _) => ("good", "faster"),
        (Verdict::Same, _) => ("plain", "the same"),
        (Verdict::CantTell, None) => ("warn", "can't tell"),
        (Verdict::CantTell, Some(Leaning::Slower)) => ("warn", "can't tell, leans slower"),
        (Verdict::CantTell, Some(Leaning::Faster)) => ("warn", "can't tell, leans faster"),
        (Verdict::NotJudged, _) => {
            return format!("<span class=\"muted\" title=\"{}\">shown only</span>", why_not_judged(experiment));
        }
    };
    let is_moved = experiment.is_moved_with_clock(line);
    let clock = if is_moved { " <span class=\"badge plain\">moved with the clock</span>" } else { "" };
    format!("<span class=\"badge {class}\">{text}</span>{clock}")
}

/// A share in percent, with no more digits than it has: `2%`, `2.5%`.
fn percents(share: f64) -> String {
    format!("{}%", (1_000.0 * share).round() / 10.0)
}
