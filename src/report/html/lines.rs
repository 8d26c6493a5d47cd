//! The table of lines, and each line with its charts.

use super::charts::{self, Marks, NARROW, Size, Strip, WIDE};
use super::{anchor, escaped, push, sort_key, words};
use crate::measure::statistics::{Mode, modes};
use crate::measure::{BudgetVerdict, DriftVerdict, RunLine, baseline_records, names};
use crate::report::format::format_delta;
use crate::report::table::{SECTIONS, section, short_name};
use crate::report::{Report, format_value};

/// All lines, sortable by every column.
pub(super) fn table(report: &Report, html: &mut String) {
    let has_baseline = report.comparison.is_some();
    let has_clock = report.drift.as_ref().is_some_and(|drift| drift.clock_ratio.is_some());
    html.push_str(
        "<section id=\"lines\">\n<h2>Every line</h2>\n<p class=\"lead\">One row for each thing measured, over all frames. Less is \
         better in all of them. A heading sorts; a name leads to the line's charts.</p>\n",
    );
    if report.drift.as_ref().is_some_and(|drift| !drift.obstacles.is_empty()) {
        html.push_str(
            "<p><span class=\"badge warn\">not comparable</span> The Baseline was measured otherwise (Machine and settings has what \
             differs): Δ says nothing about the program.</p>\n",
        );
    }
    html.push_str("<div class=\"scroll\">\n<table id=\"table\">\n<thead><tr>");
    let mut column = |class: &str, title: &str, hint: &str| {
        push(
            html,
            format_args!(
                "<th scope=\"col\" class=\"{class}\" aria-sort=\"none\"><button type=\"button\" title=\"{hint}\">{title}</button></th>"
            ),
        );
    };
    column("name", "line", "Sort by name");
    column("kind wide-only", "kind", "Sort by kind, the order of a frame");
    column("number", "median", "Half of all frames took less");
    column("number wide-only", "p95", "95 of 100 frames took less");
    column("number wide-only", "p99", "99 of 100 frames took less");
    if has_baseline {
        column("number wide-only", "Baseline", "The Baseline's median");
        column("number", "Δ", "How much more the median is than the Baseline's");
        if has_clock {
            column("number wide-only", "Δ at its clock", "The same, had the core run at the Baseline's clock");
        }
    }
    column("verdicts", "verdict", "Budget and Baseline");
    html.push_str("</tr></thead>\n<tbody>\n");
    let mut row_idx = 0;
    for (kind, _) in SECTIONS {
        for (name, line) in section(report, *kind) {
            row(report, name, line, row_idx, has_clock, html);
            row_idx += 1;
        }
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
    if report.budgets.iter().any(|outcome| outcome.value.is_some()) {
        html.push_str(
            "<p class=\"muted\">A Budget is a ceiling that the project has set for a line; at or above it, it is breached.</p>\n",
        );
    }
    html.push_str("</section>\n");
}

fn row(report: &Report, name: &str, line: &RunLine, row_idx: usize, has_clock: bool, html: &mut String) {
    let number = |class: &str, value: f64| {
        format!("<td class=\"number {class}\" data-v=\"{}\">{}</td>", sort_key(value), format_value(value, line.unit))
    };
    let percent = |class: &str, percent: Option<f64>| {
        let key = percent.map_or_else(String::new, sort_key);
        format!("<td class=\"number {class}\" data-v=\"{key}\">{}</td>", format_delta(percent))
    };
    let summary = line.summary;
    push(
        html,
        format_args!(
            "<tr><th scope=\"row\" class=\"name\" data-v=\"{0}\"><a href=\"#{1}\" title=\"{2}\">{7}</a></th>\
             <td class=\"kind wide-only\" data-v=\"{row_idx}\">{3}</td>{4}{5}{6}",
            escaped(name),
            anchor(name),
            escaped(&words::explain(name)),
            words::kind(name),
            number("", summary.median),
            number("wide-only", summary.p95),
            number("wide-only", summary.p99),
            breakable(name),
        ),
    );
    if let Some(comparison) = &report.comparison {
        match comparison.line(name) {
            Some(compared) => {
                html.push_str(&number("wide-only", compared.baseline.median));
                html.push_str(&percent("", compared.median_delta_percent));
            }
            None => html
                .push_str("<td class=\"number wide-only\" data-v=\"\">new</td><td class=\"number\" data-v=\"\">-</td>"),
        }
        if has_clock {
            let drift = report.drift.as_ref().and_then(|drift| drift.line(name));
            html.push_str(&percent("wide-only", drift.and_then(|line| line.at_baseline_clock_percent)));
        }
    }
    let badges = badges(report, name, line);
    // The gravest first when sorted.
    let grade = badges.iter().map(|badge| badge.grade).max().unwrap_or(0);
    let badges: Vec<String> = badges.iter().map(Badge::to_html).collect();
    push(html, format_args!("<td class=\"verdicts\" data-v=\"{grade}\">{}</td></tr>\n", badges.join(" ")));
}

struct Badge {
    class: &'static str,
    text: String,
    /// What a narrow screen has no room for.
    more: String,
    grade: u8,
}

impl Badge {
    fn to_html(&self) -> String {
        let more = match self.more.is_empty() {
            true => String::new(),
            false => format!("<span class=\"wide-only\"> {}</span>", escaped(&self.more)),
        };
        format!("<span class=\"badge {}\">{}{more}</span>", self.class, escaped(&self.text))
    }
}

fn badges(report: &Report, name: &str, line: &RunLine) -> Vec<Badge> {
    let mut badges = Vec::new();
    for outcome in report.budgets.iter().filter(|outcome| outcome.budget.line == name) {
        let limit =
            format!("{} < {}", outcome.budget.statistic.name(), format_value(outcome.budget.ceiling, line.unit));
        let (class, text, grade) = match outcome.verdict {
            BudgetVerdict::Pass => ("good", "✓ Budget", 1),
            BudgetVerdict::Breach => ("bad", "✕ Budget", 5),
            BudgetVerdict::NotJudged => continue,
        };
        badges.push(Badge { class, text: text.to_owned(), more: limit, grade });
    }
    let drift = report.drift.as_ref().and_then(|drift| drift.line(name));
    let badge = drift.and_then(|line| match line.verdict {
        DriftVerdict::Suspect => Some(("warn", "suspect", 4)),
        DriftVerdict::MovedWithClock => Some(("plain", "moved with the clock", 2)),
        DriftVerdict::Faster => Some(("good", "faster", 3)),
        DriftVerdict::Within => Some(("plain", "as the Baseline", 1)),
        DriftVerdict::NotJudged => None,
    });
    badges.extend(badge.map(|(class, text, grade)| Badge { class, text: text.to_owned(), more: String::new(), grade }));
    let is_creep = report.drift.as_ref().is_some_and(|drift| drift.creeps.iter().any(|creep| creep.name == name));
    if is_creep {
        badges.push(Badge { class: "warn", text: "creeps up".to_owned(), more: String::new(), grade: 3 });
    }
    badges
}

/// Each line by itself: what it is, frame by frame, how its values are spread, and beside the Baseline.
pub(super) fn details(report: &Report, html: &mut String) {
    html.push_str("<section id=\"details\">\n<h2>Line by line</h2>\n");
    html.push_str(
        "<p class=\"key\"><span class=\"swatch series\"></span>this run <span class=\"swatch median\"></span>its median",
    );
    if report.comparison.is_some() {
        html.push_str(" <span class=\"swatch baseline\"></span>the Baseline");
    }
    html.push_str(" <span class=\"swatch budget\"></span>a Budget</p>\n");
    for (kind, title) in SECTIONS {
        let lines = section(report, *kind);
        if lines.is_empty() {
            continue;
        }
        push(html, format_args!("<h3>{}</h3>\n", capitalized(title)));
        for (name, line) in lines {
            let is_open = matches!(name, names::CPU_FRAME | names::GPU_FRAME);
            detail(report, name, line, is_open, html);
        }
    }
    html.push_str("</section>\n");
}

fn detail(report: &Report, name: &str, line: &RunLine, is_open: bool, html: &mut String) {
    let open = if is_open { " open" } else { "" };
    let badges: Vec<String> = badges(report, name, line).iter().map(Badge::to_html).collect();
    push(
        html,
        format_args!(
            "<details class=\"line\" id=\"{}\"{open}><summary><span class=\"name\">{}</span> <span class=\"value\">{}</span> {}</summary>\n\
             <p>{}</p>\n",
            anchor(name),
            escaped(short_name(name)),
            format_value(line.summary.median, line.unit),
            badges.join(" "),
            escaped(&words::explain(name))
        ),
    );
    let compared = report.comparison.as_ref().and_then(|comparison| comparison.line(name));
    let budget =
        report.budgets.iter().find(|outcome| outcome.budget.line == name).map(|outcome| outcome.budget.ceiling);
    let marks =
        Marks { median: line.summary.median, baseline: compared.map(|compared| compared.baseline.median), budget };
    html.push_str("<div class=\"charts\">\n");
    if line.samples.is_empty() {
        html.push_str("<p class=\"muted\">This file keeps the summary alone, no frames.</p>\n");
    } else if line.samples.iter().flatten().all(|value| *value == 0) {
        html.push_str("<p class=\"muted\">none: 0 in every frame</p>\n");
    } else {
        let n_cut = charts::n_cut(&line.samples, marks);
        let cut = match n_cut {
            0 => String::new(),
            n => format!(" {n} beyond the upper edge, up to {}.", format_value(line.summary.max as f64, line.unit)),
        };
        let label = format!("{name}, frame by frame");
        figure(
            html,
            "wide2",
            &format!("Frame by frame.{cut}"),
            |size| charts::series(&line.samples, line.unit, marks, size, &label),
            &[WIDE, NARROW],
        );
        let label = format!("how often {name} took how long");
        let found = modes(&line.samples.iter().flatten().map(|value| *value as f64).collect::<Vec<_>>());
        figure(
            html,
            "",
            &format!("How many frames took how long. {}", modes_text(&found, line)),
            |size| charts::histogram(&line.samples, line.unit, marks, size, &label),
            &[NARROW],
        );
    }
    if let Some(compared) = compared {
        let strip = |name, summary: crate::measure::Summary| Strip {
            name,
            min: summary.min as f64,
            median: summary.median,
            p95: summary.p95,
            p99: summary.p99,
        };
        let pair = [strip("this run", compared.run), strip("Baseline", compared.baseline)];
        let label = format!("{name} beside the Baseline");
        let caption = format!(
            "Beside the Baseline: {} at the median, {} at p95. Thin: least to p99; box: median to p95.",
            format_delta(compared.median_delta_percent),
            format_delta(compared.p95_delta_percent)
        );
        figure(html, "wide2", &caption, |size| charts::strips(&pair, line.unit, low(size), &label), &[WIDE, NARROW]);
    }
    history(report, name, line, html);
    html.push_str("</div>\n</details>\n");
}

/// The Baseline's recordings and this run, where there are at least three to see.
fn history(report: &Report, name: &str, line: &RunLine, html: &mut String) {
    let Some(baseline) = report.baseline else { return };
    if report.drift.as_ref().is_none_or(|drift| !drift.obstacles.is_empty()) {
        return;
    }
    let records = baseline_records(baseline);
    let mut medians: Vec<f64> = records.iter().filter_map(|record| record.medians.get(name).copied()).collect();
    if medians.len() < 2 {
        return;
    }
    medians.push(line.summary.median);
    let date = |date: &Option<String>| {
        date.as_ref().map_or("unknown", |date| date.split('T').next().unwrap_or(date)).to_owned()
    };
    let since = records.first().map(|record| date(&record.date)).unwrap_or_default();
    let label = format!("{name} over the Baseline's recordings");
    let caption =
        format!("The Baseline's last {} recordings since {}, and this run.", medians.len() - 1, escaped(&since));
    figure(html, "", &caption, |size| charts::history(&medians, line.unit, low(size), &label), &[NARROW]);
}

fn low(size: Size) -> Size {
    Size { height_px: 120, ..size }
}

/// What the modes of a line come to, in words.
fn modes_text(modes: &[Mode], line: &RunLine) -> String {
    let [first, second, ..] = modes else { return "They gather around one value.".to_owned() };
    let part = |mode: &Mode| format!("{:.0}% around {}", 100.0 * mode.occupancy, format_value(mode.centre, line.unit));
    let more = if modes.len() > 2 { ", and more" } else { "" };
    format!("They come in {} kinds: {}, {}{more}.", modes.len(), part(first), part(second))
}

/// A chart with its caption: for each screen the size that suits it.
pub(super) fn figure(html: &mut String, class: &str, caption: &str, draw: impl Fn(Size) -> String, sizes: &[Size]) {
    push(html, format_args!("<figure class=\"{class}\">"));
    match sizes {
        [wide, narrow] => {
            push(html, format_args!("<div class=\"on-wide\">{}</div>", draw(*wide)));
            push(html, format_args!("<div class=\"on-narrow\">{}</div>", draw(*narrow)));
        }
        _ => sizes.iter().for_each(|size| html.push_str(&draw(*size))),
    }
    if !caption.is_empty() {
        push(html, format_args!("<figcaption>{caption}</figcaption>"));
    }
    html.push_str("</figure>\n");
}

/// A line's name, which a narrow column may break after each of its parts.
pub(super) fn breakable(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>").replace('_', "_<wbr>")
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
