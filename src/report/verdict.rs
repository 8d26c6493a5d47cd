//! What a run comes to, in one sentence.

use serde::Serialize;

use super::{Report, counted};
use crate::measure::{BudgetVerdict, DriftVerdict};

/// The kinds of verdict, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// The wrong work was measured.
    Void,
    /// A Budget is breached.
    Breach,
    /// A line is slower than its Baseline, by the run alone nobody can say why.
    Suspect,
    /// The run was interrupted.
    Incomplete,
    /// Nothing was judged: there is neither a Baseline that fits nor a Budget.
    NotJudged,
    /// All that could be judged is as it should be.
    Good,
}

/// A verdict and its reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What it is.
    pub kind: VerdictKind,
    /// In a few words.
    pub headline: String,
    /// Why, in whole sentences.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// The verdict on a report's run.
    pub fn of(report: &Report) -> Self {
        let run = report.run;
        let breaches = report.budgets.iter().filter(|outcome| outcome.verdict == BudgetVerdict::Breach);
        let mut breached: Vec<&str> = breaches.map(|outcome| outcome.budget.line.as_str()).collect();
        breached.dedup();
        let with_verdict = |verdict: DriftVerdict| -> Vec<&str> {
            let lines = report.drift.iter().flat_map(|drift| drift.with_verdict(verdict));
            lines.map(|line| line.name.as_str()).collect()
        };
        let suspects = with_verdict(DriftVerdict::Suspect);
        let n_budgets = report.budgets.iter().filter(|outcome| outcome.verdict == BudgetVerdict::Pass).count() as u64;
        let n_within = (with_verdict(DriftVerdict::Within).len()
            + with_verdict(DriftVerdict::Faster).len()
            + with_verdict(DriftVerdict::MovedWithClock).len()) as u64;

        let mut reasons = Vec::new();
        if let Some(reason) = &run.void_reason {
            reasons.push(format!("The timings are of the wrong work: {reason}."));
        }
        if !breached.is_empty() {
            reasons.push(format!("Over its Budget: {}.", breached.join(", ")));
        }
        if !suspects.is_empty() {
            reasons.push(format!(
                "Slower than the Baseline: {}. One run against a recording can't tell a regression from drift of the machine; \
                 interleaved runs can.",
                suspects.join(", ")
            ));
        }
        if !run.complete {
            reasons.push(format!("The run was interrupted after {}.", counted(run.n_frames, "frame")));
        }
        let kind = match () {
            () if run.void_reason.is_some() => VerdictKind::Void,
            () if !breached.is_empty() => VerdictKind::Breach,
            () if !suspects.is_empty() => VerdictKind::Suspect,
            () if !run.complete => VerdictKind::Incomplete,
            () if n_budgets + n_within == 0 => VerdictKind::NotJudged,
            () => VerdictKind::Good,
        };
        if n_budgets > 0 && run.void_reason.is_none() {
            reasons.push(format!("{} kept.", counted(n_budgets, "Budget")));
        }
        reasons.extend(baseline_reason(report, n_within, &with_verdict(DriftVerdict::MovedWithClock)));
        Self { kind, headline: headline(kind, report).to_owned(), reasons }
    }
}

fn headline(kind: VerdictKind, report: &Report) -> &'static str {
    let is_compared = report.drift.as_ref().is_some_and(|drift| drift.obstacles.is_empty());
    match kind {
        VerdictKind::Void => "Void: the wrong picture was drawn",
        VerdictKind::Breach => "A Budget is breached",
        VerdictKind::Suspect => "Suspect: slower than the Baseline",
        VerdictKind::Incomplete => "Interrupted before its end",
        VerdictKind::NotJudged => "Measured, not judged",
        VerdictKind::Good if is_compared => "As fast as the Baseline, within its Budgets",
        VerdictKind::Good => "Within its Budgets; nothing to compare with",
    }
}

fn baseline_reason(report: &Report, n_within: u64, moved_with_clock: &[&str]) -> Vec<String> {
    let Some(drift) = &report.drift else {
        return vec!["No Baseline is recorded for this scene on this machine.".to_owned()];
    };
    if !drift.obstacles.is_empty() {
        let fields: Vec<&str> = drift.obstacles.iter().map(|mismatch| mismatch.field.as_str()).collect();
        return vec![format!("Not judged against the Baseline, which was measured otherwise: {}.", fields.join(", "))];
    }
    let mut reasons = Vec::new();
    if n_within > 0 {
        reasons.push(format!("{} no slower than the Baseline, within the margin.", counted(n_within, "judged line")));
    }
    if !moved_with_clock.is_empty() {
        reasons.push(format!("Moved with the core's clock, not the code: {}.", moved_with_clock.join(", ")));
    }
    for creep in &drift.creeps {
        reasons.push(format!(
            "{} crept up by {:.1}% over the Baseline's last {}.",
            creep.name,
            creep.percent,
            counted(creep.n_records as u64, "recording")
        ));
    }
    reasons
}
