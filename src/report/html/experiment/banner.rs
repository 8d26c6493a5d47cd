//! What a comparison comes to: the verdict, what bears on trusting it, and what to do next.

use super::headline::headline;
use super::{judged, percents, with_intervals};
use crate::measure::experiment::{
    Experiment, ExperimentState, Leaning, LineResult, MOST_PAIRS, Outlook, Pairs, Verdict,
};
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
    let margin = percents(line.margin);
    let too_far = format!("more than {MOST_PAIRS}");
    let noise = format!("Its runs of one side differ by a factor of {:.1}.", outlook.run_factor);
    match (outlook.for_estimate, outlook.for_margin) {
        (None, Pairs::About(n)) => format!(". To find a difference of {margin}: about {n} pairs."),
        (None, Pairs::TooMany) => {
            format!(". To find a difference of {margin}: {too_far} pairs. {noise}")
        }
        (Some(Pairs::About(n)), Pairs::About(most)) => {
            format!(". To confirm that: about {n} pairs; to find {margin}: about {most}.")
        }
        (Some(Pairs::About(n)), Pairs::TooMany) => {
            format!(". To confirm that: about {n} pairs; to find {margin}: {too_far}. {noise}")
        }
        (Some(Pairs::TooMany), _) => format!(". To confirm that: {too_far} pairs. {noise}"),
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
                    "<p>It made all the {n_pairs} that it was given. None can be added: at how many pairs it judges was fixed beforehand. {}</p>\n",
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
            "For {} take a quieter machine or longer runs (more <code>--frames</code>). A new comparison with more pairs, to confirm the rest:",
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
            push(html, format_args!("<li>{}</li>\n", with_code(note)));
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

/// A note, with what it has in backticks set as code.
fn with_code(note: &str) -> String {
    let parts = note.split('`').enumerate();
    // Before, code, after, code: an odd number of parts, or the last backtick has no other.
    let is_paired = note.matches('`').count().is_multiple_of(2);
    match is_paired {
        true => parts
            .map(|(idx, part)| match idx % 2 {
                0 => escaped(part),
                _ => format!("<code>{}</code>", escaped(part)),
            })
            .collect(),
        false => escaped(note),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Unit;
    use crate::measure::experiment::{
        EXPERIMENT_SCHEMA, ExperimentKind, GATED_LINES, LineStatistics, Pair, Plan, RunStatistics, Side, SideName,
    };

    /// Twelve pairs in which the GPU hardly spreads, and the CPU by tenths.
    fn experiment(cpu_spread: f64) -> Experiment {
        let run = |cpu: f64, gpu: f64| {
            let line = |median| LineStatistics { unit: Unit::Nanoseconds, median, p99: None };
            let lines = [("cpu_frame", line(cpu)), ("gpu_frame", line(gpu))];
            RunStatistics {
                lines: lines.map(|(name, line)| (name.to_owned(), line)).into(),
                ..RunStatistics::default()
            }
        };
        let pairs = (0..12).map(|pair| {
            let wobble = f64::from(pair) - 5.0;
            let b = run(1e6 * (1.0 + cpu_spread * wobble), 9e6 * (1.0 + 1e-4 * wobble));
            Pair { first: SideName::A, void: None, a: Some(run(1e6, 9e6)), b: Some(b) }
        });
        let side = |program: &str| Side {
            label: program.into(),
            program: program.into(),
            arguments: ["bench", "town", "--frames=60"].map(str::to_owned).into(),
            ..Side::default()
        };
        let mut experiment = Experiment {
            schema: EXPERIMENT_SCHEMA.into(),
            scene: "town".into(),
            date: None,
            kind: ExperimentKind::Vs,
            state: ExperimentState::Unfinished,
            a: side("/old"),
            b: side("/new"),
            machine: Default::default(),
            adapter: Default::default(),
            plan: Plan::new(12, 1, &GATED_LINES),
            pairs: pairs.collect(),
            lines: Vec::new(),
            clock: Default::default(),
            warnings: vec!["the goldens were left out".into()],
        };
        experiment.judge_so_far();
        experiment
    }

    #[test]
    fn report_comparisons_say_what_gpu_and_cpu_come_to_by_themselves() {
        assert_eq!(headline(&experiment(1e-4)), ("good", "A and B are the same, within the margin".into()));
        assert_eq!(headline(&experiment(0.05)), ("warn", "GPU: the same. CPU: can't tell yet".into()));
        let mut none = experiment(0.05);
        (none.pairs, none.lines) = (Vec::new(), Vec::new());
        assert_eq!(headline(&none).0, "plain");
    }

    #[test]
    fn report_comparisons_say_how_to_go_on() {
        let page = |experiment: &Experiment| {
            let mut html = String::new();
            section(experiment, &mut html);
            html
        };
        let mut experiment = experiment(0.05);
        let html = page(&experiment);
        for part in [
            "The same, within the margin of 2%: <b>gpu_frame</b>",
            "Can't tell yet: 1 of 2 judged lines",
            "more than 200 pairs. Its runs of one side differ by a factor of 1.7.",
            "/new bench town <span class=\"word\">--vs</span> /old <span class=\"word\">--frames=60</span>",
            "--pairs=",
            "<code>praxis bench town --self-test 20</code>",
            "<li>warning: the goldens were left out</li>",
        ] {
            assert!(html.contains(part), "{part:?} is missing: {html}");
        }
        assert!(!html.contains("--resume"), "a comparison at its end takes no more pairs: {html}");
        experiment.state = ExperimentState::Unfinished;
        assert!(page(&experiment).contains("--resume</span> DIR"));
    }

    #[test]
    fn report_notes_set_commands_as_code() {
        assert_eq!(with_code("`a b` and <c>"), "<code>a b</code> and &lt;c&gt;");
        assert_eq!(with_code("a ` b"), "a ` b");
    }
}
