//! How many pairs a line that can't be told would need.

use super::judge::{POWER, distance, margin_distance};
use super::series::Series;
use super::{Estimate, Experiment, GATED_LINES, LineResult, N_PAIRS, Pair, Plan, Scale, Verdict};
use crate::measure::names;
use crate::measure::statistics::detectable_effect;

/// More pairs than this nobody waits for.
pub const MOST_PAIRS: u32 = 200;

/// What it would take to tell a line that can't be told yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Pairs to find a difference as large as it seems to be now; `None` where that is within the margin.
    pub for_estimate: Option<Pairs>,
    /// Pairs to find a difference of the margin, or none.
    pub for_margin: Pairs,
    /// The greatest of one side's runs over its least: of the side whose runs differ more.
    pub run_factor: f64,
}

/// About how many pairs something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// So many.
    About(u32),
    /// More than [`MOST_PAIRS`].
    TooMany,
}

impl Pairs {
    /// The number, if it is one that somebody would wait for.
    pub fn number(self) -> Option<u32> {
        match self {
            Self::About(n_pairs) => Some(n_pairs),
            Self::TooMany => None,
        }
    }
}

impl Experiment {
    /// What it would take to tell `line`, by how its pairs spread; `None` for a line that is told or not judged, one that is no ratio, and before there are
    /// pairs enough for an interval.
    pub fn outlook(&self, line: &LineResult) -> Option<Outlook> {
        if line.verdict != Verdict::CantTell || line.scale != Scale::Ratio || line.difference.low.is_none() {
            return None;
        }
        let valid: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.halves().is_some()).collect();
        let series = Series::of(&line.name, &valid)?;
        let n_lines = self.lines.iter().filter(|line| line.verdict != Verdict::NotJudged).count();
        let needed = pairs_for(&series.differences, n_lines)?;
        let (seen, margin) =
            (distance(line.difference.estimate, line.scale).abs(), margin_distance(line.margin, line.scale));
        Some(Outlook {
            for_estimate: (seen > margin).then(|| needed(seen)),
            for_margin: needed(margin),
            run_factor: factor(&series.a).max(factor(&series.b)),
        })
    }

    /// `line` with the clock's part taken out of each pair; `None` for a line with waiting in it, which the clock does not explain.
    pub fn at_one_clock<'a>(&self, line: &'a LineResult) -> Option<&'a Estimate> {
        let spins =
            |name: Option<&serde_json::Value>| name.and_then(|wait| wait.as_str()).is_some_and(|wait| wait != "block");
        let has_spinning = [&self.a, &self.b].iter().any(|side| spins(side.settings.get("wait")));
        let has_waiting = names::has_waiting(&line.name) || has_spinning && names::counts_spinning(&line.name);
        line.at_one_clock.as_ref().filter(|_| !has_waiting)
    }

    /// Whether the clock explains that `line` differs.
    pub fn is_moved_with_clock(&self, line: &LineResult) -> bool {
        line.is_moved_with_clock && self.at_one_clock(line).is_some()
    }
}

/// How many pairs find a difference with probability [`POWER`], by its size. Drawn for one number of pairs; from there the least difference falls with the
/// root of their number.
fn pairs_for(differences: &[f64], n_lines: usize) -> Option<impl Fn(f64) -> Pairs> {
    let plan = Plan::new(N_PAIRS, 0, &GATED_LINES);
    let level = plan.looks.last()?.alpha / n_lines.max(1) as f64;
    let found = detectable_effect(differences, N_PAIRS as usize, level, 0.0, POWER)?;
    Some(move |size: f64| {
        let n_pairs = f64::from(N_PAIRS) * (found / size).powi(2);
        match () {
            () if n_pairs.is_nan() || n_pairs > f64::from(MOST_PAIRS) => Pairs::TooMany,
            // To the next five, or ten: nobody knows it better.
            () if n_pairs > 50.0 => Pairs::About((n_pairs / 10.0).ceil() as u32 * 10),
            () => Pairs::About(((n_pairs / 5.0).ceil() as u32 * 5).max(15)),
        }
    })
}

fn factor(runs: &[f64]) -> f64 {
    let (least, most) =
        runs.iter().fold((f64::INFINITY, 0.0f64), |(least, most), run| (least.min(*run), most.max(*run)));
    most / least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiment_pairs_needed_grow_with_the_square_of_the_spread() {
        let spread = |by: f64| (0..12).map(|idx| by * (f64::from(idx) - 5.5)).collect::<Vec<f64>>();
        let of = |by: f64, size: f64| pairs_for(&spread(by), 6).expect("twelve pairs")(size).number();
        let (near, far) = (of(0.01, 0.06).expect("few"), of(0.01, 0.03).expect("more"));
        assert!((15..60).contains(&near) && (3 * near..=5 * near).contains(&far), "{near} and {far}");
        assert_eq!(of(0.02, 0.06), Some(far), "twice the spread is half the difference");
        assert_eq!((of(0.1, 0.02), of(0.01, 0.0)), (None, None), "nobody waits for that");
        assert_eq!(of(0.0, 0.02), Some(15), "where nothing spreads the fewest will do");
        assert!(pairs_for(&[], 6).is_none());
    }
}
