//! An experiment for a terminal: a table of lines, and what a reader should know besides.

use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, Table};

use super::again::differing_options;
use super::counted;
use super::format::{DifferenceFormat, format_value, without_error_number};
use super::settle::shell_word;
use super::table::STYLE;
use crate::measure::experiment::{
    Estimate, Experiment, ExperimentKind, ExperimentState, Leaning, LineResult, MachineSpread, Scale, Verdict,
    VoidReason,
};

/// Instead of an interval.
const TOO_FEW: &str = "too few pairs";

/// An experiment, judged.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentReport<'a> {
    experiment: &'a Experiment,
}

impl<'a> ExperimentReport<'a> {
    /// The report of `experiment`.
    pub fn new(experiment: &'a Experiment) -> Self {
        Self { experiment }
    }

    /// The report for a terminal; with `colour`, verdicts are coloured by ANSI escapes. Ends with a line break.
    pub fn to_text(&self, colour: bool) -> String {
        let mut text = self.heading().join("\n");
        text.push('\n');
        text.push_str(&self.tables(colour));
        for note in self.notes() {
            text.push_str(&note);
            text.push('\n');
        }
        text
    }

    fn heading(&self) -> Vec<String> {
        let experiment = self.experiment;
        let (n_valid, n_all) = (experiment.n_valid_pairs(), experiment.pairs.len());
        let mut pairs = counted(n_valid as u64, "pair");
        if n_all > n_valid {
            pairs.push_str(&format!(" and {} void", n_all - n_valid));
        }
        let end = match experiment.state {
            ExperimentState::Unfinished => "not finished",
            ExperimentState::Decided => "decided",
            ExperimentState::Exhausted => "not all decided",
        };
        let mut heading = vec![
            format!("{}: {pairs}, {end}", experiment.scene),
            format!("A: {}", experiment.a.label),
            format!("B: {}", experiment.b.label),
        ];
        let name = &experiment.adapter.name;
        if !name.is_empty() {
            heading.push(format!(
                "adapter: {name}; machine: {}, {}",
                experiment.machine.cpu,
                counted(experiment.machine.n_cores.into(), "core")
            ));
        }
        heading
    }

    /// The judged lines, and the others in a table of their own: their longer names would make the judged ones' wider than a terminal.
    fn tables(&self, colour: bool) -> String {
        let (judged, others): (Vec<&LineResult>, Vec<&LineResult>) =
            self.experiment.lines.iter().partition(|line| line.verdict != Verdict::NotJudged);
        let mut text = String::new();
        if !judged.is_empty() {
            text.push_str(&self.table(&judged, "judged", &["verdict", "detectable"], colour));
            text.push('\n');
        }
        if !others.is_empty() {
            text.push_str(&self.table(&others, "not judged", &[], colour));
            text.push('\n');
        }
        text
    }

    fn table(&self, lines: &[&LineResult], title: &str, more: &[&str], colour: bool) -> String {
        let mut table = Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
        if colour {
            table.enforce_styling()
        } else {
            table.force_no_tty()
        };
        let level = format!("{}% interval", 100.0 * (1.0 - self.experiment.plan.alpha));
        let header = [title, "A", "B", "B − A", "B to A", &level, "p99"];
        table.set_header(header.iter().chain(more));
        for line in lines {
            let mut cells = row(line);
            if !more.is_empty() {
                cells.extend([coloured(line, colour), Cell::new(detectable(line))]);
            }
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(1).take(header.len() - 1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.trim_fmt()
    }

    /// What a reader has to know besides the numbers.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.cautions();
        notes.extend(differing_options(self.experiment));
        notes.extend(self.remarks());
        notes
    }

    /// What bears on how far the numbers can be trusted.
    pub(super) fn cautions(&self) -> Vec<String> {
        let experiment = self.experiment;
        let plan = &experiment.plan;
        let mut cautions = Vec::new();
        if plan.n_pairs < plan.fewest_pairs() {
            cautions.push(format!(
                "with fewer than {} pairs nothing can be called different (--pairs)",
                plan.fewest_pairs()
            ));
        }
        let is_one_setting =
            experiment.a.settings == experiment.b.settings && experiment.a.settings != Default::default();
        if experiment.kind == ExperimentKind::Ab && is_one_setting {
            cautions.push(format!(
                "warning: both sides ran with the same settings: {} or {} changes nothing here",
                experiment.a.label, experiment.b.label
            ));
        }
        if plan.spread_from.is_none() {
            cautions.push(format!(
                "this machine's own spread is not known: `praxis bench {} --self-test 20` measures it",
                shell_word(&experiment.scene)
            ));
        }
        if experiment.clock.is_moved {
            cautions.push("the change moves the clock: most pairs ran at two speeds, so none is void for it; see the lines at one clock".to_owned());
        }
        cautions.extend(void_pairs(experiment));
        cautions
            .extend(experiment.warnings.iter().map(|warning| format!("warning: {}", without_error_number(warning))));
        cautions
    }

    /// By what is judged, and what else the numbers say.
    pub(super) fn remarks(&self) -> Vec<String> {
        let experiment = self.experiment;
        let plan = &experiment.plan;
        let mut remarks = Vec::new();
        if plan.margins.is_empty() {
            remarks.push(format!("the same: within {:.1}%", 100.0 * plan.margin));
        } else {
            let wider = plan.margins.iter().map(|(name, margin)| format!("{name} {:.1}%", 100.0 * margin));
            let wider = wider.collect::<Vec<_>>().join(", ");
            remarks.push(format!(
                "the same: within {:.1}%, but for what spreads more on this machine: {wider}",
                100.0 * plan.margin
            ));
        }
        remarks.extend(plan.spread_from.iter().map(|from| format!("margins and clock gate from {from}")));
        if let Some(ratio) = experiment.clock.ratio {
            remarks.push(format!("clock chain: B to A {}", percent(ratio)));
        }
        let leaning = experiment.lines.iter().filter(|line| line.leaning().is_some());
        let leaning: Vec<&str> = leaning.map(|line| line.name.as_str()).collect();
        if !leaning.is_empty() {
            remarks.push(format!(
                "leans: can't be told yet, but the interval, which is for one line by itself, is clear of no difference, not by as much as lines judged \
                 together need; more pairs (--pairs) would tell: {}",
                leaning.join(", ")
            ));
        }
        for line in experiment.lines.iter().filter(|line| experiment.is_moved_with_clock(line)) {
            if let Some(at_one) = experiment.at_one_clock(line) {
                remarks.push(format!(
                    "{} moved with the clock: at one clock B to A is {}",
                    line.name,
                    percent(at_one.estimate)
                ));
            }
        }
        remarks
    }
}

/// Which pairs do not count, and why: those that the clock voids in one sentence, every other by itself.
fn void_pairs(experiment: &Experiment) -> Vec<String> {
    let (mut of_clock, mut told) = (Vec::new(), Vec::new());
    for (number, pair) in (1..).zip(&experiment.pairs) {
        match &pair.void {
            Some(VoidReason::Clock { .. }) => of_clock.push(number),
            Some(reason) => told.push(format!("pair {number} is void: {}", without_error_number(&reason.to_string()))),
            None => {}
        }
    }
    if !of_clock.is_empty() {
        let numbers = of_clock.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        told.insert(
            0,
            format!(
                "{} void (pair {numbers}): the clock changed by more than {:.1}% between its runs",
                counted(of_clock.len() as u64, "pair"),
                100.0 * experiment.plan.chain_gate
            ),
        );
    }
    told
}

/// What a table shows of every line, judged or not.
fn row(line: &LineResult) -> Vec<Cell> {
    let value = |value: f64| Cell::new(format_value(value, line.unit));
    vec![
        Cell::new(&line.name),
        value(line.a),
        value(line.b),
        Cell::new(absolute(line).map_or_else(|| "-".to_owned(), |[estimate, _]| estimate)),
        Cell::new(shown(line.difference.estimate, line)),
        Cell::new(interval_text(&line.difference, line)),
        Cell::new(line.p99.as_ref().map_or_else(|| "-".to_owned(), |p99| shown(p99.estimate, line))),
    ]
}

/// The least difference that would have been found.
pub(super) fn detectable(line: &LineResult) -> String {
    match (line.detectable, line.scale) {
        _ if line.verdict == Verdict::NotJudged => String::new(),
        (None, _) => "nothing yet".to_owned(),
        (Some(least), Scale::Ratio) => format!("{:.1}%", 100.0 * least),
        (Some(least), Scale::Difference) => format_value(least, line.unit),
    }
}

fn coloured(line: &LineResult, colour: bool) -> Cell {
    let (text, tint) = match (line.verdict, line.leaning()) {
        (Verdict::Regressed, _) => ("REGRESSED", Some(Color::Red)),
        (Verdict::Improved, _) => ("improved", Some(Color::Green)),
        (Verdict::Same, _) => ("same", None),
        (Verdict::CantTell, None) => ("can't tell", Some(Color::Yellow)),
        (Verdict::CantTell, Some(Leaning::Slower)) => ("leans slower", Some(Color::Yellow)),
        (Verdict::CantTell, Some(Leaning::Faster)) => ("leans faster", Some(Color::Yellow)),
        (Verdict::NotJudged, _) => ("", None),
    };
    match tint.filter(|_| colour) {
        Some(tint) => Cell::new(text).fg(tint),
        None => Cell::new(text),
    }
}

/// B − A of a line in its unit, and the interval of it.
pub(super) fn absolute(line: &LineResult) -> Option<[String; 2]> {
    let Estimate { estimate, low, high } = line.absolute?;
    let interval = match (low, high) {
        (Some(low), Some(high)) => {
            let format = DifferenceFormat::up_to(low.abs().max(high.abs()), line.unit);
            format.with_unit(&format!("{} … {}", format.number(low), format.number(high)))
        }
        _ => TOO_FEW.to_owned(),
    };
    // In a unit of its own: beside a wide interval it would be nothing.
    let format = DifferenceFormat::up_to(estimate, line.unit);
    Some([format.with_unit(&format.number(estimate)), interval])
}

/// A value on the line's scale: percent more or less, or a difference in the line's unit.
pub(super) fn shown(value: f64, line: &LineResult) -> String {
    match line.scale {
        Scale::Ratio => percent(value),
        Scale::Difference if value < 0.0 => format!("−{}", format_value(-value, line.unit)),
        Scale::Difference => format!("+{}", format_value(value, line.unit)),
    }
}

pub(super) fn interval_text(estimate: &Estimate, line: &LineResult) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{} … {}", shown(low, line), shown(high, line)),
        _ => TOO_FEW.to_owned(),
    }
}

/// A ratio as percent more or less.
fn percent(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    if percent.abs() < 0.05 { "0.0%".to_owned() } else { format!("{percent:+.1}%").replace('-', "−") }
}

/// A self-test for a terminal. Ends with a line break.
pub fn spread_table(spread: &MachineSpread) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    table.force_no_tty();
    table.set_header(["line", "run to run", "judged", "called different"]);
    for (name, line) in &spread.lines {
        let counts = match line.n_judged {
            0 => [String::new(), String::new()],
            n => [n.to_string(), line.n_false_alarms.to_string()],
        };
        let [n_judged, n_alarms] = counts;
        table.add_row([format!("  {name}"), format!("{:.2}%", 100.0 * line.spread), n_judged, n_alarms]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let (n_alarms, n_all) = (spread.n_false_alarms, spread.n_experiments);
    let chain = spread.chain.map_or_else(String::new, |chain| format!(" The chain spreads by {:.2}%.", 100.0 * chain));
    format!(
        "{}: {} of the program with itself, {}\n{}\n\
         {n_alarms} of {n_all} called some line different although nothing was.{chain}\n\
         Clock gate: pairs whose chains differ by more than {:.1}% are void; 95% of these pass.\n",
        spread.scene,
        counted(n_all.into(), "comparison"),
        counted(spread.n_pairs.into(), "pair"),
        table.trim_fmt(),
        100.0 * spread.chain_gate,
    )
}
