//! What is said about a line.

use serde::{Deserialize, Serialize};

use super::judge::is_within;
use crate::measure::Unit;

/// What an experiment says about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// B takes more than A: the interval is clear of no difference and the estimate beyond the margin.
    Regressed,
    /// B takes less than A, likewise.
    Improved,
    /// The interval lies within the margin.
    Same,
    /// Neither: more pairs would tell.
    CantTell,
    /// The line is shown, not judged.
    NotJudged,
}

/// How A and B are set beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// B / A; 1 is no difference.
    #[default]
    Ratio,
    /// B − A in the line's unit; 0 is no difference. For counts, and times that were 0.
    Difference,
}

/// How B stands to A, on the line's [`Scale`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The Hodges–Lehmann estimate over the pairs.
    pub estimate: f64,
    /// The interval's lower end; `None` when there are too few pairs for one.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

/// One line of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineResult {
    /// The line's name.
    pub name: String,
    /// What its values count.
    pub unit: Unit,
    /// The verdict.
    pub verdict: Verdict,
    /// Pairs in which both runs have the line.
    pub n_pairs: u32,
    /// The median of A's runs.
    pub a: f64,
    /// The median of B's runs.
    pub b: f64,
    /// How B stands to A.
    pub scale: Scale,
    /// B beside A, with the interval that covers the true value with a probability of 1 − α, for this line at this look.
    #[serde(flatten)]
    pub difference: Estimate,
    /// B − A in the line's unit, over the same pairs, with the interval at the same level: the middle of the pairs' own differences, as `difference` is of their ratios.
    /// `None` in a file from before it was written, if its pairs can't give it.
    #[serde(default)]
    pub absolute: Option<Estimate>,
    /// The signed-rank test's p-value for no difference, before Holm's correction.
    pub p_value: f64,
    /// Up to which difference the line counts as the same: relative on the scale of ratios, in the line's unit on that of
    /// differences.
    pub margin: f64,
    /// The least difference that this many pairs would have found nine times out of ten, given how much they spread; as
    /// `margin`. `None` when no difference could have been, and for lines that are not judged.
    pub detectable: Option<f64>,
    /// The spread from run to run: standard deviation of a run's ln value about its pair's level, from the pairs' median absolute deviation.
    /// `None` on the scale of differences.
    pub spread: Option<f64>,
    /// The same of the runs' 99th percentiles, which are not judged.
    pub p99: Option<Estimate>,
    /// For a CPU line of an experiment in which the clock moved: the same at one clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_one_clock: Option<Estimate>,
    /// Whether the clock explains a difference: as read the line differs by more than the margin, at one clock it does not.
    #[serde(default)]
    pub is_moved_with_clock: bool,
    /// The look, counted in pairs, at which the test first called the line different.
    #[serde(default)]
    pub rejected_at: Option<u32>,
}

/// Where a line that can't be told seems to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaning {
    /// B seems to take more.
    Slower,
    /// B seems to take less.
    Faster,
}

impl LineResult {
    /// Whether the interval lies within the margin: the line is the same, or would be, were it judged.
    pub fn is_within_margin(&self) -> bool {
        let ends = self.difference.low.zip(self.difference.high);
        ends.is_some_and(|(low, high)| is_within(low, high, self.scale, self.margin))
    }

    /// Where the line leans: nothing can be told, and yet its interval, which is for this line by itself, is clear of no difference. Several lines judged
    /// together need more than that, since one of them may well look so by chance.
    pub fn leaning(&self) -> Option<Leaning> {
        let none = match self.scale {
            Scale::Ratio => 1.0,
            Scale::Difference => 0.0,
        };
        match (self.verdict, self.difference.low, self.difference.high) {
            (Verdict::CantTell, Some(low), _) if low > none => Some(Leaning::Slower),
            (Verdict::CantTell, _, Some(high)) if high < none => Some(Leaning::Faster),
            _ => None,
        }
    }
}
