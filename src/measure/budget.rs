//! Budgets: ceilings on a line.

use serde::{Deserialize, Serialize};

use super::{RunFile, Summary, names};

/// Which number of a line is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The median.
    Median,
    /// The 95th percentile.
    P95,
}

impl Statistic {
    /// This number of a line.
    pub fn of(self, summary: &Summary) -> f64 {
        match self {
            Self::Median => summary.median,
            Self::P95 => summary.p95,
        }
    }

    /// The name in tables and run files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::P95 => "p95",
        }
    }
}

/// A ceiling on a line's median or p95; a line at the ceiling is over it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The line's name.
    pub line: String,
    /// What is judged.
    pub statistic: Statistic,
    /// The ceiling in the line's unit.
    pub ceiling: f64,
}

impl Budget {
    /// The M3 ceilings: CPU frame under 6 ms at the median and the p95, dynamic TLAS under 1.1 ms of CPU at the median.
    pub fn m3() -> Vec<Self> {
        let budget = |line: &str, statistic, ceiling_ns| Self { line: line.to_owned(), statistic, ceiling: ceiling_ns };
        vec![
            budget(names::CPU_FRAME, Statistic::Median, 6_000_000.0),
            budget(names::CPU_FRAME, Statistic::P95, 6_000_000.0),
            budget(names::TLAS_CPU, Statistic::Median, 1_100_000.0),
        ]
    }
}

/// How a run stands against a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetVerdict {
    /// Below the ceiling.
    Pass,
    /// At or above it.
    Breach,
    /// The run has no such line, or its timings are void: nothing was judged.
    NotJudged,
}

/// One Budget, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetOutcome {
    /// The ceiling.
    pub budget: Budget,
    /// What the run read; `None` when it has no such line.
    pub value: Option<f64>,
    /// The verdict.
    pub verdict: BudgetVerdict,
}

/// Judges `run` against `budgets`, in their order.
pub fn judge_budgets(run: &RunFile, budgets: &[Budget]) -> Vec<BudgetOutcome> {
    let judge = |budget: &Budget| {
        let value = run.lines.get(&budget.line).map(|line| budget.statistic.of(&line.summary));
        let verdict = match value {
            Some(_) if run.void_reason.is_some() => BudgetVerdict::NotJudged,
            Some(value) if value < budget.ceiling => BudgetVerdict::Pass,
            Some(_) => BudgetVerdict::Breach,
            None => BudgetVerdict::NotJudged,
        };
        BudgetOutcome { budget: budget.clone(), value, verdict }
    };
    budgets.iter().map(judge).collect()
}
