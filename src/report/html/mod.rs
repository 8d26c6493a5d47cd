//! The page: a run for a reader who opens one file. It needs no network, and without scripts it still shows everything but
//! the frame that one would choose.

mod charts;
mod experiment;
mod lines;
mod machine;
mod pictures;
mod timeline;
mod words;

use std::fmt::Write;

use super::{Report, Verdict, VerdictKind, counted, format_value};
use crate::measure::Unit;
use crate::measure::names;

pub use experiment::ExperimentPage;
pub use pictures::{PagePictures, Picture, PictureSet};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A report as one HTML document.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// What it shows.
    pub report: &'a Report<'a>,
    /// The pictures that go with it.
    pub pictures: &'a PagePictures,
}

impl Page<'_> {
    /// The document.
    pub fn to_html(&self) -> String {
        let report = self.report;
        let title = format!("{}: {}", report.run.scene, Verdict::of(report).headline);
        document(&title, |html| {
            self.header(html);
            html.push_str("<main>\n");
            self.verdict(html);
            self.figures(html);
            lines::table(report, html);
            timeline::section(report, html);
            lines::details(report, html);
            pictures::section(self.pictures, report, html);
            machine::section(report, html);
            glossary(&words::GLOSSARY, html);
            html.push_str("</main>\n");
        })
    }

    fn header(&self, html: &mut String) {
        let run = self.report.run;
        let mut facts = vec![counted(run.n_frames, "frame")];
        let setting = |name: &str| run.settings.get(name).filter(|value| !value.is_null());
        if let (Some(width), Some(height)) = (setting("width_px"), setting("height_px")) {
            facts.push(format!("{width}×{height} pixels"));
        }
        facts.extend([&run.adapter.name, &run.machine.cpu].into_iter().filter(|name| !name.is_empty()).cloned());
        facts.extend(run.date.as_ref().map(|date| date.replace('T', " ").replace('Z', " UTC")));
        if let Some(commit) = &run.build.commit {
            let dirty = if run.build.dirty == Some(true) { ", with changes" } else { "" };
            facts.push(format!("commit {commit}{dirty}"));
        }
        top("praxis report", &run.scene, &facts, html);
    }

    /// What it comes to, why, and what else a reader must know.
    fn verdict(&self, html: &mut String) {
        let report = self.report;
        let verdict = Verdict::of(report);
        let (class, mark) = match verdict.kind {
            VerdictKind::Void | VerdictKind::Breach => ("bad", "✕"),
            VerdictKind::Suspect | VerdictKind::Incomplete => ("warn", "!"),
            VerdictKind::NotJudged => ("plain", "–"),
            VerdictKind::Good => ("good", "✓"),
        };
        push(
            html,
            format_args!(
                "<section class=\"verdict {class}\" id=\"verdict\">\n<p class=\"mark\" aria-hidden=\"true\">{mark}</p>\n<div>\
                 <h2>{}</h2>\n",
                escaped(&verdict.headline)
            ),
        );
        for reason in &verdict.reasons {
            push(html, format_args!("<p>{}</p>\n", escaped(reason)));
        }
        if report.has_suspect() {
            html.push_str("<p>To settle it, run both programs in turn:</p>\n");
            html.push_str(&command(&report.settling_commands().join("\n")));
        }
        html.push_str("</div>\n</section>\n");
        // What the verdict says already needs no second line.
        let is_said = |note: &String| ["VOID", "INCOMPLETE", "SUSPECT", "  "].iter().any(|said| note.starts_with(said));
        let mut notes: Vec<String> = report.notes().into_iter().filter(|note| !is_said(note)).collect();
        notes.extend(report.baseline_fault.iter().map(|fault| format!("warning: {fault}")));
        if !notes.is_empty() {
            let is_open = if notes.iter().any(|note| note.starts_with("warning")) { " open" } else { "" };
            push(
                html,
                format_args!(
                    "<details class=\"notes\"{is_open}><summary>{}</summary>\n<ul>\n",
                    counted(notes.len() as u64, "note")
                ),
            );
            for note in notes {
                push(html, format_args!("<li>{}</li>\n", escaped(&note)));
            }
            html.push_str("</ul>\n</details>\n");
        }
    }

    /// The few numbers that say what kind of frame it is.
    fn figures(&self, html: &mut String) {
        let report = self.report;
        let summary = |name: &str| report.run.lines.get(name).map(|line| line.summary);
        let tiles = [
            (names::CPU_FRAME, "CPU works", "a frame, without waiting"),
            (names::GPU_FRAME, "GPU works", "a frame, first pass to last"),
            (names::FRAME_TIME, "A frame takes", "waits included"),
            (names::STAGE_WAIT, "CPU waits", "for the GPU"),
        ];
        html.push_str("<section class=\"figures\">\n");
        for (name, title, below) in tiles {
            let Some(summary) = summary(name) else { continue };
            // Beside a Baseline of other settings a difference would say nothing.
            let drift = report.drift.as_ref().filter(|drift| drift.obstacles.is_empty());
            let delta = drift.and_then(|drift| Some(drift.line(name)?.as_read_percent));
            let delta = delta.map_or(String::new(), |percent| format!(" <span class=\"delta\">{percent:+.1}%</span>"));
            let rate = match name {
                names::FRAME_TIME if summary.median > 0.0 => format!(", {:.1} a second", 1e9 / summary.median),
                _ => String::new(),
            };
            push(
                html,
                format_args!(
                    "<div class=\"tile\"><p class=\"label\">{title}</p><p class=\"value\">{}{delta}</p>\
                     <p class=\"muted\">{below}{rate}<br>95% below {}</p></div>\n",
                    format_value(summary.median, Unit::Nanoseconds),
                    format_value(summary.p95, Unit::Nanoseconds)
                ),
            );
        }
        html.push_str("</section>\n");
        let (Some(cpu), Some(gpu)) = (summary(names::CPU_FRAME), summary(names::GPU_FRAME)) else { return };
        let (slower, other) = if gpu.median > cpu.median { ("GPU", "CPU") } else { ("CPU", "GPU") };
        let ratio = gpu.median.max(cpu.median) / gpu.median.min(cpu.median).max(1.0);
        let ratio = if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") };
        push(
            html,
            format_args!(
                "<p class=\"lead\">The {slower} is the slower of the two, by a factor of {ratio}: only what makes the {slower} \
                 faster makes this scene smoother. The {other} has time to spare.</p>\n"
            ),
        );
    }
}

/// A whole document around its body. Nothing is loaded, and nothing can be: the policy forbids it.
fn document(title: &str, fill: impl FnOnce(&mut String)) -> String {
    let mut html = String::with_capacity(1 << 20);
    html.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src \
         'unsafe-inline'; script-src 'unsafe-inline'\">\n",
    );
    push(&mut html, format_args!("<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n", escaped(title)));
    fill(&mut html);
    push(&mut html, format_args!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    html
}

/// What the page is about, and the switch between light and dark.
fn top(brand: &str, title: &str, facts: &[String], html: &mut String) {
    let facts: Vec<String> = facts.iter().map(|fact| format!("<li>{}</li>", escaped(fact))).collect();
    push(
        html,
        format_args!(
            "<header class=\"top\">\n<div><p class=\"brand\">{brand}</p>\n<h1>{}</h1>\n<ul class=\"facts\">{}</ul></div>\n\
             <button id=\"theme\" type=\"button\" aria-label=\"Switch between light and dark\">◐</button>\n</header>\n",
            escaped(title),
            facts.concat()
        ),
    );
}

fn glossary(glossary: &[(&str, &str)], html: &mut String) {
    html.push_str("<section id=\"words\">\n<h2>Words</h2>\n<dl class=\"words\">\n");
    for (word, meaning) in glossary {
        push(html, format_args!("<div><dt>{word}</dt><dd>{meaning}</dd></div>\n"));
    }
    html.push_str("</dl>\n</section>\n");
}

/// Command lines in a box, which breaks between words and not at the hyphens within one.
fn command(lines: &str) -> String {
    let word = |word: &str| match word.contains('-') {
        true => format!("<span class=\"word\">{}</span>", escaped(word)),
        false => escaped(word),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = lines.lines().map(line).collect();
    format!("<pre class=\"command\"><code>{}</code></pre>\n", lines.join("\n"))
}

/// Text as HTML shows it, in content and in quoted attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes into a string, which can't fail.
fn push(html: &mut String, text: std::fmt::Arguments) {
    let _ = html.write_fmt(text);
}

/// A number to sort by. Seven digits: a run file that is read back may differ in the last of an f64's, and its page should not.
fn sort_key(value: f64) -> String {
    format!("{value:.6e}")
}

/// A name as an anchor of the page.
fn anchor(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("line-{}", name.chars().map(plain).collect::<String>())
}
