//! The page of an experiment: two sides, compared by interleaved pairs of runs.

use super::charts::{self, Interval, NARROW, Size, Tone, WIDE};
use super::{anchor, document, escaped, push, sort_key, top, words};
use crate::measure::experiment::{
    Experiment, ExperimentKind, ExperimentState, Leaning, LineResult, Scale, Side, Verdict, VoidReason,
};
use crate::report::experiment::{interval_text, shown};
use crate::report::{ExperimentReport, counted, format_value};

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
            sides(experiment, html);
            intervals(experiment, html);
            table(experiment, html);
            lines(experiment, html);
            pairs(experiment, html);
            glossary(html);
            html.push_str("</main>\n");
        })
    }
}

fn header(experiment: &Experiment, html: &mut String) {
    let n_valid = experiment.n_valid_pairs();
    let n_void = experiment.pairs.len() - n_valid;
    let mut facts = vec![format!("{} of runs", counted(n_valid as u64, "pair"))];
    facts.extend((n_void > 0).then(|| format!("{n_void} void")));
    facts.extend(
        [&experiment.adapter.name, &experiment.machine.cpu].into_iter().filter(|name| !name.is_empty()).cloned(),
    );
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
    push(
        html,
        format_args!(
            "<p><b>{}</b> {what}: {} ({}).</p>\n",
            escaped(&line.name),
            shown(line.difference.estimate, line),
            escaped(&interval_text(&line.difference, line))
        ),
    );
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

/// What is compared with what, and which settings differ between the two.
fn sides(experiment: &Experiment, html: &mut String) {
    html.push_str("<section id=\"sides\">\n<h2>What is compared</h2>\n<div class=\"stacks\">\n");
    for (name, about, side) in
        [("A", "what was there before", &experiment.a), ("B", "what is in question", &experiment.b)]
    {
        let commit = side.build.commit.as_deref().map_or(String::new(), |commit| {
            let dirty = if side.build.dirty == Some(true) { ", with changes" } else { "" };
            format!("<p class=\"muted\">commit {}{dirty}</p>", escaped(commit))
        });
        push(
            html,
            format_args!(
                "<div class=\"stack\"><h3><i class=\"swatch side-{}\"></i>{name}: {}</h3>\n<p class=\"muted\">{about}</p>{commit}<pre class=\"command\"><code>{}</code></pre></div>\n",
                name.to_lowercase(),
                escaped(&side.label),
                escaped(&command(side))
            ),
        );
    }
    html.push_str("</div>\n");
    let other = |name: &str| experiment.b.settings.get(name);
    let differing: Vec<String> = experiment
        .a
        .settings
        .iter()
        .filter(|(name, value)| other(name) != Some(value))
        .map(|(name, value)| {
            let there = other(name).map_or("unset".to_owned(), crate::report::plain);
            format!(
                "<li>{}: {} in A, {} in B</li>",
                escaped(name),
                escaped(&crate::report::plain(value)),
                escaped(&there)
            )
        })
        .collect();
    if !differing.is_empty() {
        push(html, format_args!("<p>Settings that differ:</p><ul>{}</ul>\n", differing.concat()));
    }
    html.push_str("</section>\n");
}

fn command(side: &Side) -> String {
    let words = std::iter::once(side.program.display().to_string()).chain(side.arguments.iter().cloned());
    words.collect::<Vec<_>>().join(" ")
}

/// Every judged line's interval on one axis.
fn intervals(experiment: &Experiment, html: &mut String) {
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
             bar where the true difference lies with {percent:.0}% certainty, each line by itself; the band is the margin, within which nobody would care.</p>\n"
        ),
    );
    let height_px = 44 + 34 * rows.len() as u32;
    figure(html, "", &[WIDE, NARROW], |size| {
        charts::intervals(&rows, Size { height_px, ..size }, "How much B differs from A, by line")
    });
    html.push_str("</section>\n");
}

fn table(experiment: &Experiment, html: &mut String) {
    html.push_str(
        "<section id=\"lines\">\n<h2>Every line</h2>\n<p class=\"lead\">A and B are medians over runs of the run's median; B to A is the middle of \
         the pairs' own ratios, which cancel what drifts, and not the ratio of these two. A heading sorts; a name leads to the line's runs.</p>\n<div class=\"scroll\">\n<table id=\"table\">\n<thead><tr>",
    );
    for (class, title, hint) in [
        ("name", "line", "Sort by name"),
        ("kind wide-only", "kind", "Judged lines first"),
        ("number wide-only", "A", "The median of A's runs"),
        ("number wide-only", "B", "The median of B's runs"),
        ("number", "B to A", "How much more B takes"),
        ("number wide-only", "interval", "Where the true difference lies"),
        (
            "number wide-only",
            "detectable",
            "The least difference that so many pairs would have found nine times out of ten",
        ),
        ("verdicts", "verdict", "The verdict"),
    ] {
        push(
            html,
            format_args!(
                "<th scope=\"col\" class=\"{class}\" aria-sort=\"none\"><button type=\"button\" title=\"{hint}\">{title}</button></th>"
            ),
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (row_idx, line) in experiment.lines.iter().enumerate() {
        let number = |class: &str, key: f64, text: &str| {
            format!("<td class=\"number {class}\" data-v=\"{}\">{}</td>", sort_key(key), escaped(text))
        };
        let detectable = match (line.detectable, line.scale) {
            _ if line.verdict == Verdict::NotJudged => String::new(),
            (None, _) => "nothing yet".to_owned(),
            (Some(least), Scale::Ratio) => format!("{:.1}%", 100.0 * least),
            (Some(least), Scale::Difference) => format_value(least, line.unit),
        };
        let low = line.difference.low.unwrap_or(f64::MIN);
        push(
            html,
            format_args!(
                "<tr><th scope=\"row\" class=\"name\" data-v=\"{0}\"><a href=\"#{1}\" title=\"{2}\">{3}</a></th>\
                 <td class=\"kind wide-only\" data-v=\"{row_idx}\">{4}</td>{5}{6}{7}{8}{9}<td class=\"verdicts\" data-v=\"{10}\">{11}</td></tr>\n",
                escaped(&line.name),
                anchor(&line.name),
                escaped(&words::explain(&line.name)),
                super::lines::breakable(&line.name),
                words::kind(&line.name),
                number("wide-only", line.a, &format_value(line.a, line.unit)),
                number("wide-only", line.b, &format_value(line.b, line.unit)),
                number("", line.difference.estimate, &shown(line.difference.estimate, line)),
                number("wide-only", low, &interval_text(&line.difference, line)),
                number("wide-only", line.detectable.unwrap_or(-1.0), &detectable),
                grade(line.verdict),
                badge(line),
            ),
        );
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
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

/// Each line's runs, pair by pair.
fn lines(experiment: &Experiment, html: &mut String) {
    html.push_str(
        "<section id=\"details\">\n<h2>Run by run</h2>\n<p class=\"key\"><i class=\"swatch side-a\"></i>A <i class=\"swatch side-b\"></i>B. \
         Each dot is the median of one run; the two of a pair ran one after the other.</p>\n",
    );
    for (line_idx, line) in experiment.lines.iter().enumerate() {
        let halves: Vec<(f64, f64)> = experiment
            .pairs
            .iter()
            .filter_map(|pair| pair.halves())
            .filter_map(|(a, b)| Some((a.lines.get(&line.name)?.median, b.lines.get(&line.name)?.median)))
            .collect();
        let open = if line_idx < 2 { " open" } else { "" };
        push(
            html,
            format_args!(
                "<details class=\"line\" id=\"{}\"{open}><summary><span class=\"name\">{}</span> <span class=\"value\">{}</span> {}</summary>\n<p>{}</p>\n\
                 <div class=\"charts one\">\n",
                anchor(&line.name),
                escaped(&line.name),
                shown(line.difference.estimate, line),
                badge(line),
                escaped(&words::explain(&line.name)),
            ),
        );
        let label = format!("{} of each run, pair by pair", line.name);
        let caption =
            format!("{} in which both sides have the line. {}", counted(line.n_pairs.into(), "pair"), told(line));
        figure(html, &caption, &[WIDE, NARROW], |size| charts::pairs(&halves, line.unit, size, &label));
        html.push_str("</div>\n</details>\n");
    }
    html.push_str("</section>\n");
}

/// What is known of a line, in words.
fn told(line: &LineResult) -> String {
    let mut told = Vec::new();
    if let Some(spread) = line.spread {
        told.push(format!("A run's median spreads by {:.2}% about its pair's.", 100.0 * spread));
    }
    match (line.verdict, line.detectable, line.scale) {
        (Verdict::NotJudged, _, _) | (_, _, Scale::Difference) => {}
        (_, Some(least), Scale::Ratio) => {
            told.push(format!("A difference of {:.1}% would have been found nine times out of ten.", 100.0 * least));
        }
        (_, None, Scale::Ratio) => told.push("So few pairs could not have found any difference.".to_owned()),
    }
    if let Some(p99) = &line.p99 {
        told.push(format!("The 99th percentiles: {}.", shown(p99.estimate, line)));
    }
    if let Some(at_one) = &line.at_one_clock {
        told.push(format!("At one clock: {}.", shown(at_one.estimate, line)));
    }
    escaped(&told.join(" "))
}

/// The pairs that do not count, and why.
fn pairs(experiment: &Experiment, html: &mut String) {
    let void: Vec<(usize, &VoidReason)> =
        experiment.pairs.iter().enumerate().filter_map(|(idx, pair)| Some((idx, pair.void.as_ref()?))).collect();
    if void.is_empty() {
        return;
    }
    html.push_str("<section id=\"void\">\n<h2>Pairs that do not count</h2>\n<ul>\n");
    for (pair_idx, reason) in void {
        push(html, format_args!("<li>pair {pair_idx}: {}</li>\n", escaped(&reason.to_string())));
    }
    html.push_str("</ul>\n</section>\n");
}

fn glossary(html: &mut String) {
    const WORDS: [(&str, &str); 11] = [
        (
            "Run",
            "One execution of the benchmark, in a process of its own. Frames of one run resemble each other, so a run counts as one sample, never each of its frames.",
        ),
        (
            "Pair",
            "A run of A and a run of B, one after the other, in an order drawn by lot: whatever drifts on the machine drifts for both.",
        ),
        (
            "Line",
            "One thing that is measured in every frame. The judged ones get a verdict; the rest are <i>shown only</i>: they tell where a difference comes from, and are no evidence by themselves, since of so many lines some differ by chance.",
        ),
        (
            "B to A",
            "The middle of what the pairs say, each pair being a run of A and one of B that ran beside it (Hodges–Lehmann). Columns A and B are medians over all runs; where runs spread, their ratio may be quite another.",
        ),
        (
            "Interval",
            "Where the true difference lies, for that line by itself. Verdicts need more: that none of the judged lines is called different by chance.",
        ),
        (
            "Slower, faster",
            "All judged lines together, the test finds it at one of the looks; the interval is clear of 0, and the estimate beyond the margin. Before the first look there is no such verdict.",
        ),
        ("The same", "The interval lies within the margin: whatever the difference is, it is too small to matter."),
        ("Can't tell", "Neither: more pairs would tell."),
        ("Leans", "Can't be told yet, though the line's own interval is clear of 0: likely, not sure."),
        ("Detectable", "The least difference that so many pairs would have found nine times out of ten."),
        (
            "Clock chain",
            "The same piece of arithmetic, timed in every frame: the core's speed. Pairs whose chains differ too much are void and are run again.",
        ),
    ];
    html.push_str("<section id=\"words\">\n<h2>Words</h2>\n<dl class=\"words\">\n");
    for (word, meaning) in WORDS {
        push(html, format_args!("<div><dt>{word}</dt><dd>{meaning}</dd></div>\n"));
    }
    html.push_str("</dl>\n</section>\n");
}

/// A chart with its caption, for wide and for narrow screens.
fn figure(html: &mut String, caption: &str, [wide, narrow]: &[Size; 2], draw: impl Fn(Size) -> String) {
    push(
        html,
        format_args!(
            "<figure><div class=\"on-wide\">{}</div><div class=\"on-narrow\">{}</div><figcaption>{caption}</figcaption></figure>\n",
            draw(*wide),
            draw(*narrow)
        ),
    );
}
