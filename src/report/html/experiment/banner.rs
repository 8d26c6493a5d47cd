//! What a comparison comes to: the verdict, what bears on trusting it, and what to do next.

use super::{judged, percents, with_intervals};
use crate::measure::experiment::{
    Experiment, ExperimentKind, ExperimentState, Leaning, LineResult, MOST_PAIRS, Outlook, Pairs, Verdict,
};
use crate::measure::names::LineKind;
use crate::report::again::again;
use crate::report::experiment::{interval_text, shown};
use crate::report::html::{command, escaped, push};
use crate::report::{ExperimentReport, counted};

/// The banner, what a reader has to know to trust it in the open, and the rest of the notes to be opened.
pub(super) fn section(experiment: &Experiment, html: &mut String) {
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
    told(experiment, html);
    undecided(experiment, html);
    next(experiment, html);
    html.push_str("</div>\n</section>\n");
    notes(experiment, html);
}

/// The verdict's class on the page, and its words: CPU and GPU by themselves where they come to something else.
pub(super) fn headline(experiment: &Experiment) -> (&'static str, String) {
    let all: Vec<&LineResult> = judged(experiment).collect();
    let has = |verdict| all.iter().any(|line| line.verdict == verdict);
    if experiment.lines.is_empty() {
        return ("plain", "No pair has been measured yet".to_owned());
    }
    if experiment.kind == ExperimentKind::SelfTest && (has(Verdict::Regressed) || has(Verdict::Improved)) {
        return ("warn", "A false alarm: a program differs from itself".to_owned());
    }
    let (gpu, cpu): (Vec<&LineResult>, Vec<&LineResult>) =
        all.iter().partition(|line| LineKind::of(&line.name).is_gpu(&line.name));
    let (of_gpu, of_cpu, of_all) = (Outcome::of(&gpu), Outcome::of(&cpu), Outcome::of(&all));
    match (of_gpu, of_cpu) {
        (Some(of_gpu), Some(of_cpu)) if of_gpu != of_cpu => {
            let class = of_all.unwrap_or(of_gpu).class();
            (class, format!("GPU: {}. CPU: {}", of_gpu.in_short(), of_cpu.in_short()))
        }
        _ => of_all.map_or(("plain", "No line is judged".to_owned()), |all| (all.class(), all.in_full().to_owned())),
    }
}

/// What some lines come to together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Mixed,
    Slower,
    Faster,
    Unsure,
    Same,
}

impl Outcome {
    fn of(lines: &[&LineResult]) -> Option<Self> {
        let has = |verdict| lines.iter().any(|line| line.verdict == verdict);
        match () {
            () if lines.is_empty() => None,
            () if has(Verdict::Regressed) && has(Verdict::Improved) => Some(Self::Mixed),
            () if has(Verdict::Regressed) => Some(Self::Slower),
            () if has(Verdict::Improved) => Some(Self::Faster),
            () if has(Verdict::CantTell) => Some(Self::Unsure),
            () => Some(Self::Same),
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Mixed | Self::Slower => "bad",
            Self::Faster | Self::Same => "good",
            Self::Unsure => "warn",
        }
    }

    fn in_full(self) -> &'static str {
        match self {
            Self::Mixed => "B is slower in some lines, faster in others",
            Self::Slower => "B is slower than A",
            Self::Faster => "B is faster than A",
            Self::Unsure => "Can't tell A from B yet",
            Self::Same => "A and B are the same, within the margin",
        }
    }

    /// After the name of what it is about.
    fn in_short(self) -> &'static str {
        match self {
            Self::Mixed => "B is slower in some lines, faster in others",
            Self::Slower => "B is slower",
            Self::Faster => "B is faster",
            Self::Unsure => "can't tell yet",
            Self::Same => "the same",
        }
    }
}

/// The lines of which something can be told.
fn told(experiment: &Experiment, html: &mut String) {
    for line in judged(experiment) {
        let what = match line.verdict {
            Verdict::Regressed => "takes longer",
            Verdict::Improved => "takes less",
            Verdict::Same | Verdict::CantTell | Verdict::NotJudged => continue,
        };
        push(html, format_args!("<p><b>{}</b> {what}: {}.</p>\n", escaped(&line.name), escaped(&with_intervals(line))));
    }
    let same: Vec<String> = judged(experiment)
        .filter(|line| line.verdict == Verdict::Same)
        .map(|line| {
            let margin = experiment.plan.margin_of(&line.name);
            let wider = if margin > experiment.plan.margin {
                format!(", its margin {}", percents(margin))
            } else {
                String::new()
            };
            format!("<b>{}</b> ({}{wider})", escaped(&line.name), escaped(&shown(line.difference.estimate, line)))
        })
        .collect();
    if !same.is_empty() {
        let margin = percents(experiment.plan.margin);
        push(html, format_args!("<p>The same, within the margin of {margin}: {}.</p>\n", same.join(", ")));
    }
}

/// The lines that can't be told, each with what it would take.
fn undecided(experiment: &Experiment, html: &mut String) {
    let lines: Vec<&LineResult> = judged(experiment).filter(|line| line.verdict == Verdict::CantTell).collect();
    if lines.is_empty() {
        return;
    }
    let (n, n_all) = (lines.len(), judged(experiment).count());
    push(
        html,
        format_args!(
            "<p>Can't tell yet: {n} of {n_all} judged lines, and what each would take at the spread that its runs have.</p>\n<ul>\n"
        ),
    );
    for line in lines {
        let seems = match line.leaning() {
            Some(Leaning::Slower) => " seems to take longer, which is not sure yet",
            Some(Leaning::Faster) => " seems to take less, which is not sure yet",
            None => "",
        };
        let [estimate, interval] = [shown(line.difference.estimate, line), interval_text(&line.difference, line)];
        let takes = experiment.outlook(line).map(|outlook| what_it_takes(line, outlook));
        push(
            html,
            format_args!(
                "<li><b>{}</b>{seems}: {} ({}){}</li>\n",
                escaped(&line.name),
                escaped(&estimate),
                escaped(&interval),
                escaped(&takes.unwrap_or_default())
            ),
        );
    }
    html.push_str("</ul>\n");
}

/// How many pairs a line needs, or why pairs won't do.
fn what_it_takes(line: &LineResult, outlook: Outlook) -> String {
    let margin = format!("a difference of the margin ({})", percents(line.margin));
    let as_seen = format!("a difference as large as it seems ({})", shown(line.difference.estimate, line));
    let factor = format!("; runs of one side differ by a factor of {:.1} among themselves", outlook.run_factor);
    match (outlook.for_estimate, outlook.for_margin) {
        (None, Pairs::About(n)) => format!(". About {n} pairs find {margin}"),
        (None, Pairs::TooMany) => format!(". {MOST_PAIRS} pairs would not find {margin}{factor}"),
        (Some(Pairs::About(n)), Pairs::About(most)) => {
            format!(". About {n} pairs find {as_seen}, about {most} {margin}")
        }
        (Some(Pairs::About(n)), Pairs::TooMany) => {
            format!(". About {n} pairs find {as_seen}; {MOST_PAIRS} would not find {margin}{factor}")
        }
        (Some(Pairs::TooMany), _) => format!(". {MOST_PAIRS} pairs would not even find {as_seen}{factor}"),
    }
}

/// How far it has come, and how to go on.
fn next(experiment: &Experiment, html: &mut String) {
    let n_pairs = counted(experiment.plan.n_pairs.into(), "pair");
    let n_undecided = judged(experiment).filter(|line| line.verdict == Verdict::CantTell).count();
    match experiment.state {
        ExperimentState::Unfinished => {
            push(
                html,
                format_args!(
                    "<p>It has not finished. To go on, up to {n_pairs}, with this page's folder as DIR:</p>\n"
                ),
            );
            html.push_str(&command("praxis bench --resume DIR"));
        }
        ExperimentState::Decided => html.push_str("<p>It stopped as soon as every judged line was decided.</p>\n"),
        ExperimentState::Exhausted if n_undecided == 0 => {}
        ExperimentState::Exhausted => {
            push(
                html,
                format_args!(
                    "<p>It made all the {n_pairs} that it was given, and can't take more: when it looks was fixed before the first one. {}</p>\n",
                    more_pairs(experiment)
                ),
            );
            let n_pairs = worth_trying(experiment);
            html.push_str(&again(experiment, n_pairs).map_or_else(String::new, |text| command(&text)));
        }
    }
}

/// What more pairs would do.
fn more_pairs(experiment: &Experiment) -> String {
    let is_hopeless = |line: &LineResult| {
        experiment.outlook(line).is_some_and(|of| of.for_estimate.unwrap_or(of.for_margin) == Pairs::TooMany)
    };
    let hopeless: Vec<String> =
        judged(experiment).filter(|line| is_hopeless(line)).map(|line| escaped(&line.name)).collect();
    match hopeless.is_empty() {
        true => "A new comparison with more:".to_owned(),
        false => format!(
            "For {} a quieter machine or longer runs (<code>--frames</code>) are needed. A new comparison with more pairs, for the rest:",
            hopeless.join(", ")
        ),
    }
}

/// As many pairs as the undecided line needs that needs the most of those that can be told; more than there were in any case.
fn worth_trying(experiment: &Experiment) -> u32 {
    let outlooks = judged(experiment).filter_map(|line| experiment.outlook(line));
    let needed = outlooks.filter_map(|outlook| outlook.for_estimate.unwrap_or(outlook.for_margin).number()).max();
    let more = experiment.plan.n_pairs.saturating_mul(2).min(MOST_PAIRS).max(experiment.plan.fewest_pairs());
    needed.filter(|n_pairs| *n_pairs > experiment.plan.n_pairs).unwrap_or(more)
}

/// What bears on trust stands in the open.
fn notes(experiment: &Experiment, html: &mut String) {
    let report = ExperimentReport::new(experiment);
    let list = |notes: &[String], html: &mut String| {
        html.push_str("<ul>\n");
        for note in notes {
            push(html, format_args!("<li>{}</li>\n", escaped(note)));
        }
        html.push_str("</ul>\n");
    };
    let (cautions, remarks) = (report.cautions(), report.remarks());
    if !cautions.is_empty() {
        html.push_str("<div class=\"notes\" id=\"cautions\"><p>What bears on how far this can be trusted:</p>\n");
        list(&cautions, html);
        html.push_str("</div>\n");
    }
    if !remarks.is_empty() {
        let n_notes = counted(remarks.len() as u64, "note");
        push(html, format_args!("<details class=\"notes\"><summary>{n_notes}</summary>\n"));
        list(&remarks, html);
        html.push_str("</details>\n");
    }
}
