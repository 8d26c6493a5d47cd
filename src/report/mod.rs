//! From a run file to what a person or a program reads: the terminal table and its JSON, the HTML page, the trace.
//!
//! Everything here is a function of the run, its Baseline and the Budgets; nothing is measured and nothing printed.

mod again;
mod aliasing;
mod experiment;
mod format;
mod html;
mod settle;
mod table;
mod trace;
mod verdict;

pub use experiment::{ExperimentReport, spread_table};
pub use format::format_value;
pub use html::{ExperimentPage, Page, PagePictures, Picture as ReportPicture, PictureSet};
pub use trace::{MOST_TRACE_FRAMES, write_trace};
pub use verdict::{Verdict, VerdictKind};

use serde_json::{Value, json};

use crate::measure::aliasing::Aliasing;
use crate::measure::experiment::MachineSpread;
use crate::measure::{
    Budget, BudgetOutcome, BudgetVerdict, Comparison, Drift, DriftVerdict, LineDrift, RayTotals, RunFile, compare,
    judge_budgets, judge_drift,
};
use format::{format_delta, without_error_number};

/// A run, beside its Baseline where there is one, and judged against Budgets.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The run.
    pub run: &'a RunFile,
    /// Its Baseline.
    pub baseline: Option<&'a RunFile>,
    /// Why the Baseline that is recorded can't be used, where that is so.
    pub baseline_fault: Option<String>,
    /// The run beside the Baseline.
    pub comparison: Option<Comparison>,
    /// What the difference comes to.
    pub drift: Option<Drift>,
    /// The Budgets, judged.
    pub budgets: Vec<BudgetOutcome>,
    /// The run's aliasing measures.
    pub aliasing: Option<Aliasing>,
    /// The Baseline's.
    pub baseline_aliasing: Option<Aliasing>,
}

impl<'a> Report<'a> {
    /// Compares and judges `run`.
    pub fn new(run: &'a RunFile, baseline: Option<&'a RunFile>, budgets: &[Budget]) -> Self {
        Self::with_spread(run, baseline, None, budgets)
    }

    /// The same, with what is known of how much the machine's runs spread.
    pub fn with_spread(
        run: &'a RunFile,
        baseline: Option<&'a RunFile>,
        spread: Option<&MachineSpread>,
        budgets: &[Budget],
    ) -> Self {
        let comparison = baseline.map(|baseline| compare(run, baseline));
        Self {
            run,
            baseline,
            baseline_fault: None,
            comparison,
            drift: baseline.map(|baseline| judge_drift(run, baseline, spread)),
            budgets: judge_budgets(run, budgets),
            aliasing: Aliasing::of_run(run),
            baseline_aliasing: baseline.and_then(Aliasing::of_run),
        }
    }

    /// Whether a Budget is breached.
    pub fn has_breach(&self) -> bool {
        self.budgets.iter().any(|outcome| outcome.verdict == BudgetVerdict::Breach)
    }

    /// Whether a line is suspect; see [`DriftVerdict::Suspect`].
    pub fn has_suspect(&self) -> bool {
        self.drift.as_ref().is_some_and(|drift| drift.with_verdict(DriftVerdict::Suspect).next().is_some())
    }

    /// The commands that settle a suspicion; empty where there is no Baseline.
    pub fn settling_commands(&self) -> Vec<String> {
        self.baseline.map(|baseline| settle::commands(self.run, baseline)).unwrap_or_default()
    }

    /// The report for a terminal; with `colour`, verdicts are coloured by ANSI escapes. Ends with a line break.
    pub fn to_text(&self, colour: bool) -> String {
        let mut text = self.heading().join("\n");
        text.push('\n');
        if self.run.lines.is_empty() {
            text.push_str("no line was measured\n");
        } else {
            text.push_str(&table::lines_table(self, colour));
            text.push('\n');
        }
        if let Some(aliasing) = &self.aliasing {
            text.push_str(&aliasing::table(aliasing, self.comparable_aliasing()));
            text.push('\n');
        }
        for note in self.notes() {
            text.push_str(&note);
            text.push('\n');
        }
        // The fault itself, with what to do, is what the command ends with.
        if self.baseline_fault.is_some() {
            text.push_str("not judged against the Baseline, which can't be used\n");
        }
        text
    }

    /// The same as one JSON document: the run without its samples, comparison, Budgets and notes.
    pub fn to_json(&self) -> Value {
        json!({
            "schema": "praxis.report/1",
            "run": self.run.clone().without_samples(),
            "baseline_fault": self.baseline_fault,
            "comparison": self.comparison,
            "drift": self.drift,
            "verdict": Verdict::of(self),
            "settle": if self.has_suspect() { self.settling_commands() } else { Vec::new() },
            "budgets": self.budgets,
            "aliasing": self.aliasing.as_ref().map(|run| aliasing::to_json(run, self.comparable_aliasing())),
            "notes": self.notes(),
        })
    }

    /// The Baseline's aliasing measures, if the run's can be set beside them.
    fn comparable_aliasing(&self) -> Option<&Aliasing> {
        self.baseline_aliasing
            .as_ref()
            .filter(|baseline| self.aliasing.as_ref().is_some_and(|run| run.is_comparable(baseline)))
    }

    /// What was measured, on what, and how.
    fn heading(&self) -> Vec<String> {
        let run = self.run;
        let (adapter, machine) = (&run.adapter, &run.machine);
        let mut heading = vec![format!("{}: {}", run.scene, counted(run.n_frames, "frame"))];
        let known =
            |parts: &[&str]| parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ");
        let drawn_by = known(&[&adapter.name, &adapter.backend, &adapter.driver_info]);
        if !drawn_by.is_empty() {
            heading.push(format!("adapter: {drawn_by}"));
        }
        if machine.n_cores > 0 {
            let n_cores = counted(u64::from(machine.n_cores), "core");
            heading.push(format!("machine: {}", known(&[&machine.cpu, &n_cores, &machine.os])));
        }
        let settings: Vec<String> =
            run.settings.iter().map(|(name, value)| format!("{name} {}", plain(value))).collect();
        if !settings.is_empty() {
            heading.push(format!("settings: {}", settings.join(", ")));
        }
        heading
    }

    /// What a reader has to know besides the numbers, worst first.
    fn notes(&self) -> Vec<String> {
        let run = self.run;
        let mut notes = Vec::new();
        if let Some(reason) = &run.void_reason {
            notes.push(format!("VOID: {reason}; the timings are of the wrong work and nothing is judged"));
        }
        for golden in run.goldens.iter().filter(|golden| !golden.passes) {
            let complaint = golden.complaint().unwrap_or_default();
            notes.push(format!("golden {}: {complaint}", golden.name));
        }
        if !run.complete {
            notes.push(format!("INCOMPLETE: the run was interrupted after {}", counted(run.n_frames, "frame")));
        }
        if !run.has_gpu_times() {
            let why = match run.adapter.timestamp_period_ns {
                None => "this adapter gave no timestamps",
                Some(_) => "no timestamp could be used",
            };
            notes.push(format!("no GPU times: {why}, so only CPU lines are shown"));
        }
        if run.counts.timestamps_bad > 0 {
            let faults = run.counts.timestamp_faults;
            notes.push(format!(
                "{} can't be true and are in no line: {} not written, {} reversed, {} wrapped, {} absurd",
                counted(run.counts.timestamps_bad, "GPU time"),
                faults.zero,
                faults.reversed,
                faults.wrapped,
                faults.absurd
            ));
        }
        notes.extend(self.drift_notes());
        for outcome in self.budgets.iter().filter(|outcome| outcome.value.is_none()) {
            let budget = &outcome.budget;
            notes.push(format!("Budget not judged: the run has no line {} ({})", budget.line, budget.statistic.name()));
        }
        if !run.counts.cores.is_empty() {
            let counts = &run.counts;
            notes.push(format!(
                "frames started on {}, {}",
                counted(counts.cores.len() as u64, "core"),
                counted(counts.migrations, "migration")
            ));
        }
        notes.extend(run.counts.rays.as_ref().map(rays_note));
        if run.counts.missed > 0 {
            notes.push(format!("{} missed the deadline", counted(run.counts.missed, "frame")));
        }
        notes.extend(run.warnings.iter().map(|warning| format!("warning: {}", without_error_number(warning))));
        notes.extend(self.baseline_notes());
        notes
    }

    /// What the lines' differences from the Baseline come to.
    fn drift_notes(&self) -> Vec<String> {
        let Some(drift) = &self.drift else { return Vec::new() };
        let mut notes = Vec::new();
        let both = |line: &LineDrift| match line.at_baseline_clock_percent {
            Some(percent) => format!(
                "{} as read, {} at the Baseline's clock",
                format_delta(Some(line.as_read_percent)),
                format_delta(Some(percent))
            ),
            None => format_delta(Some(line.as_read_percent)),
        };
        for line in drift.with_verdict(DriftVerdict::Suspect) {
            let margin = line.margin_percent;
            notes.push(format!("SUSPECT: {} moved by {}, beyond the margin of {margin:.1}%", line.name, both(line)));
        }
        if self.has_suspect() {
            notes.push("  a regression or drift of the machine, which interleaved runs tell apart:".to_owned());
            notes.extend(self.settling_commands().into_iter().map(|command| format!("  {command}")));
        }
        for line in drift.with_verdict(DriftVerdict::MovedWithClock) {
            notes.push(format!("moved with the clock: {}: {}", line.name, both(line)));
        }
        for line in drift.with_verdict(DriftVerdict::Faster) {
            notes.push(format!("faster than the Baseline: {}: {}", line.name, both(line)));
        }
        for creep in &drift.creeps {
            let since = [creep.since.as_deref(), creep.since_commit.as_deref()];
            let since: Vec<&str> = since.into_iter().flatten().collect();
            let since = if since.is_empty() { String::new() } else { format!(", since {}", since.join(", ")) };
            let n_records = counted(creep.n_records as u64, "recording");
            notes.push(format!(
                "CREEP: {} rose by {:.1}% over {n_records} of the Baseline{since}, little by little",
                creep.name, creep.percent
            ));
        }
        if !drift.obstacles.is_empty() {
            notes.push("not judged against the Baseline, which was measured otherwise (below)".to_owned());
        }
        notes
    }

    fn baseline_notes(&self) -> Vec<String> {
        let (Some(comparison), Some(baseline)) = (&self.comparison, self.baseline) else { return Vec::new() };
        let mut notes = Vec::new();
        if let Some(reason) = &baseline.void_reason {
            notes.push(format!("the Baseline is void: {reason}"));
        }
        if !baseline.complete {
            notes.push(format!("the Baseline was interrupted after {}", counted(baseline.n_frames, "frame")));
        }
        for mismatch in &comparison.mismatches {
            let (run, baseline) = (plain(&mismatch.run), plain(&mismatch.baseline));
            notes.push(format!("not as the Baseline: {} is {run}, there {baseline}", mismatch.field));
        }
        if self.aliasing.is_some() && self.baseline_aliasing.is_some() && self.comparable_aliasing().is_none() {
            notes.push("the Baseline's aliasing was measured at another size or at other places".to_owned());
        }
        if !comparison.only_in_baseline.is_empty() {
            notes.push(format!("only in the Baseline: {}", comparison.only_in_baseline.join(", ")));
        }
        notes
    }
}

fn rays_note(rays: &RayTotals) -> String {
    let n_frames = rays.n_frames.max(1) as f64;
    let thousands = |n: u64| format!("{:.0} thousand", n as f64 / n_frames / 1e3);
    let rate =
        rays.rays_per_second().map_or_else(String::new, |rate| format!("; {:.1} million rays a second", rate / 1e6));
    let n_rays = (rays.n_surface_rays + rays.n_edge_rays).max(1) as f64;
    let share = |n: u64| format!("{:.1}%", n as f64 / n_rays * 100.0);
    let foreseen = match rays.n_passing_still + rays.n_foreseen_blocked {
        0 => String::new(),
        _ => format!(
            "; the column map let {} past all that stands still and held {} to be blocked, {} were not traced",
            share(rays.n_passing_still),
            share(rays.n_foreseen_blocked),
            share(rays.n_untraced)
        ),
    };
    format!(
        "rays of a frame: {} from surfaces, {} at {:.1}% of the pixels for the edges of shadows{rate}{foreseen} ({} counted)",
        thousands(rays.n_surface_rays),
        thousands(rays.n_edge_rays),
        rays.n_edge_px as f64 / rays.n_px.max(1) as f64 * 100.0,
        counted(rays.n_frames, "frame")
    )
}

/// `1 frame`, `2 frames`.
fn counted(n: u64, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// A value as text, strings without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "unset".to_owned(),
        Value::String(text) => text.clone(),
        Value::Null => "unset".to_owned(),
        other => other.to_string(),
    }
}
