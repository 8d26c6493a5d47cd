//! The lines in charts: each judged one's interval, and every line's runs, pair by pair.

use super::{badge, judged, percents, why_not_judged, with_intervals};
use crate::measure::experiment::{Experiment, LineResult, Pair, RunStatistics, Scale, Verdict, VoidReason};
use crate::report::counted;
use crate::report::experiment::shown;
use crate::report::format::without_error_number;
use crate::report::html::charts::{self, Interval, NARROW, PairDots, Size, Tone, WIDE};
use crate::report::html::lines::figure;
use crate::report::html::{anchor, escaped, push, words};

/// Every judged line's interval on one axis.
pub(super) fn intervals(experiment: &Experiment, html: &mut String) {
    let rows: Vec<Interval> = judged(experiment)
        .filter(|line| line.scale == Scale::Ratio)
        .map(|line| Interval {
            name: line.name.clone(),
            estimate: line.difference.estimate,
            ends: line.difference.low.zip(line.difference.high),
            margin: line.margin,
            tone: match line.verdict {
                Verdict::Regressed => Tone::Bad,
                Verdict::Improved => Tone::Good,
                Verdict::CantTell => Tone::Unsure,
                Verdict::Same | Verdict::NotJudged => Tone::Plain,
            },
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let percent = 100.0 * (1.0 - experiment.plan.alpha);
    push(
        html,
        format_args!(
            "<section id=\"intervals\">\n<h2>How much B differs from A</h2>\n<p class=\"lead\">Right of 0, B takes longer. The dot is the estimate, the \
             bar where the true difference lies with {percent:.0}% certainty, each line by itself; the band is the margin ({}), within which nobody would care.</p>\n",
            percents(experiment.plan.margin)
        ),
    );
    let height_px = 44 + 34 * rows.len() as u32;
    let draw = |size: Size| charts::intervals(&rows, Size { height_px, ..size }, "How much B differs from A, by line");
    figure(html, "", "", draw, &[WIDE, NARROW]);
    html.push_str("</section>\n");
}

/// Each line's runs, pair by pair.
pub(super) fn run_by_run(experiment: &Experiment, html: &mut String) {
    html.push_str(
        "<section id=\"details\">\n<h2>Run by run</h2>\n<p class=\"key\"><i class=\"swatch side-a\"></i>A <i class=\"swatch side-b\"></i>B. \
         Each dot is the median of one run; the two of a pair ran one after the other. Hollow dots are of a pair that does not count.</p>\n",
    );
    for (line_idx, line) in experiment.lines.iter().enumerate() {
        let open = if line_idx < 2 { " open" } else { "" };
        push(
            html,
            format_args!(
                "<details class=\"line\" id=\"{}\"{open}><summary><span class=\"name\">{}</span> <span class=\"value\">{}</span> {}</summary>\n<p>{}</p>\n\
                 <div class=\"charts one\">\n",
                anchor(&line.name),
                escaped(&line.name),
                escaped(&with_intervals(line)),
                badge(experiment, line),
                escaped(&words::explain(&line.name)),
            ),
        );
        runs(experiment, line, html);
        html.push_str("</div>\n</details>\n");
    }
    html.push_str("</section>\n");
}

/// The runs of both sides as dots, or one line where there is nothing to see.
fn runs(experiment: &Experiment, line: &LineResult, html: &mut String) {
    let dots: Vec<PairDots> = (1..)
        .zip(&experiment.pairs)
        .filter_map(|(number, pair)| {
            let median = |run: &Option<RunStatistics>| Some(run.as_ref()?.line(&line.name)?.median);
            Some(PairDots { number, a: median(&pair.a)?, b: median(&pair.b)?, is_void: pair.void.is_some() })
        })
        .collect();
    if dots.iter().all(|pair| pair.is_void || pair.a == 0.0 && pair.b == 0.0) {
        html.push_str("<p class=\"muted\">none: 0 in every run of both sides</p>\n");
        return;
    }
    let label = format!("{} of each run, pair by pair", line.name);
    let counting = counted(line.n_pairs.into(), "pair");
    let caption = format!("{counting} that count and in which both sides have the line. {}", told(experiment, line));
    let draw = |size| charts::pairs(&dots, experiment.pairs.len(), line.unit, size, &label);
    figure(html, "", &caption, draw, &[WIDE, NARROW]);
}

/// What is known of a line, in words.
fn told(experiment: &Experiment, line: &LineResult) -> String {
    let mut told = Vec::new();
    if line.verdict == Verdict::NotJudged {
        told.push(why_not_judged(experiment));
        if line.is_within_margin() {
            told.push("Its interval lies within the margin: were it judged, it would be the same.".to_owned());
        }
    }
    if let Some(spread) = line.spread {
        told.push(format!(
            "From run to run its median varies by {:.1}% (a standard deviation, from the pairs' median absolute deviation, so that single outliers don't count), without what the two runs of a pair have in common.",
            100.0 * spread
        ));
    }
    match (line.verdict, line.detectable, line.scale) {
        (Verdict::NotJudged, _, _) | (_, _, Scale::Difference) => {}
        (_, Some(least), Scale::Ratio) => {
            told.push(format!(
                "Had B been slower by {:.1}%, so many pairs would have found it nine times in ten.",
                100.0 * least
            ));
        }
        (_, None, Scale::Ratio) => told.push("So few pairs could not have found any difference.".to_owned()),
    }
    if let Some(p99) = &line.p99 {
        told.push(format!(
            "Of each run's 99th percentile instead of its median, B to A is {}; that is not judged.",
            shown(p99.estimate, line)
        ));
    }
    if let Some(at_one) = experiment.at_one_clock(line) {
        told.push(format!(
            "At one clock, with each pair's difference in the core's speed (the clock chain) taken out, B to A is {}.",
            shown(at_one.estimate, line)
        ));
    }
    escaped(&told.join(" "))
}

/// The pairs that do not count, and why.
pub(super) fn void_pairs(experiment: &Experiment, html: &mut String) {
    let void: Vec<(usize, &Pair, &VoidReason)> =
        (1..).zip(&experiment.pairs).filter_map(|(number, pair)| Some((number, pair, pair.void.as_ref()?))).collect();
    if void.is_empty() {
        return;
    }
    html.push_str("<section id=\"void\">\n<h2>Pairs that do not count</h2>\n<ul>\n");
    for (number, pair, reason) in void {
        let runs = [&pair.a, &pair.b].into_iter().flatten().map(|run| run.run.as_str()).filter(|run| !run.is_empty());
        let runs = runs.collect::<Vec<_>>().join(", ");
        let runs = if runs.is_empty() { runs } else { format!(" ({runs})") };
        let reason = without_error_number(&reason.to_string());
        push(html, format_args!("<li>pair {number}: {}{}</li>\n", escaped(&reason), escaped(&runs)));
    }
    html.push_str("</ul>\n</section>\n");
}
