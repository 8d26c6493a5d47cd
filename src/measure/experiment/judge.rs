//! From pairs to verdicts. No clock, no file, no chance: the same pairs give the same verdicts.

use super::series::{Series, line_names};
use super::{
    Clock, Estimate, Experiment, ExperimentState, LineResult, Look, Pair, Plan, Scale, Verdict, VoidReason, gate_clock,
};
use crate::measure::names::{LineKind, has_waiting};
use crate::measure::statistics::{detectable_effect, hodges_lehmann, holm, median, robust_deviation, signed_rank_test};

/// The probability with which [`LineResult::detectable`] would have been found.
pub const POWER: f64 = 0.9;

/// What pairs say.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Whether to go on.
    pub state: ExperimentState,
    /// The result for each line, gated ones first, in the plan's order.
    pub lines: Vec<LineResult>,
    /// What the clock did.
    pub clock: Clock,
}

impl Judgement {
    /// Whether a gated line regressed.
    pub fn has_regression(&self) -> bool {
        self.lines.iter().any(|line| line.verdict == Verdict::Regressed)
    }
}

/// Judges `pairs` by `plan`, after marking those that the clock voids.
///
/// - A line's value in a pair is ln(B / A) of the runs' medians, or B − A for counts and where a median is 0.
/// - At each of the plan's looks that the pairs have reached, the signed-rank test of each gated line is corrected by Holm's procedure and
///   held against the part of α that the look may spend. A line that is called different there stays called so.
/// - *Regressed*, *improved*: called different, the interval of all pairs is clear of no difference, and the estimate is beyond the margin. *Same*: the
///   interval lies within the margin. Otherwise *can't tell*.
/// - It is decided when at a look no gated line is left that can't be told.
///
/// The detectable differences, which take longer than all the rest, are left out; [`Experiment::judge`] has them.
pub fn judge(plan: &Plan, pairs: &mut [Pair]) -> Judgement {
    let clock = gate_clock(plan, pairs);
    let valid: Vec<&Pair> = pairs.iter().filter(|pair| pair.halves().is_some()).collect();
    let is_gated = |name: &String| plan.gated.contains(name);
    let names = line_names(&valid);
    let gated: Vec<Series> =
        plan.gated.iter().filter(|name| names.contains(*name)).filter_map(|name| Series::of(name, &valid)).collect();
    let others: Vec<Series> =
        names.iter().filter(|name| !is_gated(name)).filter_map(|name| Series::of(name, &valid)).collect();

    let rejected_at = rejections(plan, &gated, valid.len());
    // What somebody stopped says nothing about the machine, and uses up no attempt.
    let n_attempts = pairs.iter().filter(|pair| pair.void != Some(VoidReason::Interrupted)).count();
    let is_exhausted = valid.len() >= plan.n_pairs as usize || n_attempts >= plan.n_attempts as usize;
    let is_at_look = is_exhausted || plan.looks.iter().any(|look| look.n_pairs as usize == valid.len());
    let mut lines: Vec<LineResult> =
        gated.iter().zip(rejected_at).map(|(series, at)| result(plan, series, Some(at))).collect();
    let is_decided = !lines.is_empty() && lines.iter().all(|line| line.verdict != Verdict::CantTell);
    lines.extend(others.iter().map(|series| result(plan, series, None)));
    let state = match () {
        () if is_at_look && is_decided => ExperimentState::Decided,
        () if is_exhausted => ExperimentState::Exhausted,
        () => ExperimentState::Unfinished,
    };
    Judgement { state, lines, clock }
}

/// For each gated line the look, in pairs, at which it was first called different.
fn rejections(plan: &Plan, gated: &[Series], n_valid: usize) -> Vec<Option<u32>> {
    let mut rejected_at = vec![None; gated.len()];
    for look in plan.looks.iter().filter(|look| look.n_pairs as usize <= n_valid) {
        let p_values: Vec<f64> =
            gated.iter().map(|series| signed_rank_test(series.first(look.n_pairs as usize)).p_value).collect();
        for (at, corrected) in rejected_at.iter_mut().zip(holm(&p_values)) {
            if corrected <= look.alpha {
                at.get_or_insert(look.n_pairs);
            }
        }
    }
    rejected_at
}

/// The line's result; `rejected_at` is `None` for a line that is only shown.
fn result(plan: &Plan, series: &Series, rejected_at: Option<Option<u32>>) -> LineResult {
    let relative_margin = plan.margin_of(&series.name);
    let a = median(&series.a).unwrap_or(0.0);
    let (scale, margin) = match series.scale {
        Scale::Ratio => (Scale::Ratio, relative_margin),
        Scale::Difference => (Scale::Difference, relative_margin * a),
    };
    let difference = estimate(plan, scale, &series.differences);
    let at_one_clock = estimate_at_one_clock(plan, series);
    let differs = |estimate: &Estimate| is_beyond(estimate, scale, margin);
    LineResult {
        name: series.name.clone(),
        unit: series.unit,
        verdict: match rejected_at {
            Some(at) => verdict(&difference, scale, margin, at.is_some()),
            None => Verdict::NotJudged,
        },
        n_pairs: series.differences.len() as u32,
        a,
        b: median(&series.b).unwrap_or(0.0),
        scale,
        difference,
        absolute: Some(estimate(plan, Scale::Difference, &series.absolute)),
        p_value: signed_rank_test(&series.differences).p_value,
        margin,
        detectable: None,
        spread: match scale {
            // A difference of two runs spreads √2 times as wide as a run.
            Scale::Ratio => robust_deviation(&series.differences).map(|spread| spread / std::f64::consts::SQRT_2),
            Scale::Difference => None,
        },
        p99: (!series.p99.is_empty()).then(|| estimate(plan, scale, &series.p99)),
        is_moved_with_clock: differs(&difference) && at_one_clock.as_ref().is_some_and(|at_one| !differs(at_one)),
        at_one_clock,
        rejected_at: rejected_at.flatten(),
    }
}

fn estimate(plan: &Plan, scale: Scale, differences: &[f64]) -> Estimate {
    let shown = |value: f64| match scale {
        Scale::Ratio => value.exp(),
        Scale::Difference => value,
    };
    match hodges_lehmann(differences, plan.alpha) {
        Some(found) => Estimate {
            estimate: shown(found.estimate),
            low: found.interval.map(|(low, _)| shown(low)),
            high: found.interval.map(|(_, high)| shown(high)),
        },
        None => Estimate { estimate: shown(0.0), low: None, high: None },
    }
}

/// A time that the CPU works, with the clock's part taken out of each pair.
fn estimate_at_one_clock(plan: &Plan, series: &Series) -> Option<Estimate> {
    let kind = LineKind::of(&series.name);
    let is_cpu = !kind.is_gpu(&series.name) && kind != LineKind::Chain && !has_waiting(&series.name);
    let is_time = series.unit == crate::measure::Unit::Nanoseconds && series.scale == Scale::Ratio;
    if !(is_cpu && is_time) || series.chain.len() != series.differences.len() {
        return None;
    }
    let corrected: Vec<f64> = series.differences.iter().zip(&series.chain).map(|(line, chain)| line - chain).collect();
    Some(estimate(plan, Scale::Ratio, &corrected))
}

/// How far beyond no difference, with its sign: on the ratios' scale the logarithm.
pub(super) fn distance(value: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Ratio => value.ln(),
        Scale::Difference => value,
    }
}

/// The margin as [`distance`] measures: 2% more is as far as 2% less the other way round.
pub(super) fn margin_distance(margin: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Ratio => margin.ln_1p(),
        Scale::Difference => margin,
    }
}

fn is_beyond(estimate: &Estimate, scale: Scale, margin: f64) -> bool {
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else { return false };
    let is_clear = distance(low, scale) > 0.0 || distance(high, scale) < 0.0;
    is_clear && distance(estimate.estimate, scale).abs() > margin_distance(margin, scale)
}

fn verdict(found: &Estimate, scale: Scale, margin: f64, is_rejected: bool) -> Verdict {
    let (Some(low), Some(high)) = (found.low, found.high) else { return Verdict::CantTell };
    if is_rejected && is_beyond(found, scale, margin) {
        return if distance(found.estimate, scale) > 0.0 { Verdict::Regressed } else { Verdict::Improved };
    }
    if is_within(low, high, scale, margin) { Verdict::Same } else { Verdict::CantTell }
}

/// Whether an interval lies within the margin.
pub(super) fn is_within(low: f64, high: f64, scale: Scale, margin: f64) -> bool {
    let margin = margin_distance(margin, scale);
    distance(low, scale) >= -margin && distance(high, scale) <= margin
}

/// The least difference that a look at `n_pairs` pairs finds with probability [`POWER`] if pairs spread as `differences` do and
/// `n_lines` lines are judged; as a line's margin is given. `None` when there is none.
pub fn detectable(
    plan: &Plan,
    differences: &[f64],
    scale: Scale,
    margin: f64,
    n_pairs: u32,
    n_lines: usize,
) -> Option<f64> {
    let look = look_at(plan, n_pairs)?;
    let alpha = look.alpha / n_lines.max(1) as f64;
    let needed = detectable_effect(differences, n_pairs as usize, alpha, margin_distance(margin, scale), POWER)?;
    Some(match scale {
        Scale::Ratio => needed.exp_m1(),
        Scale::Difference => needed,
    })
}

/// The last look that `n_pairs` pairs have reached, or the first one.
fn look_at(plan: &Plan, n_pairs: u32) -> Option<&Look> {
    plan.looks.iter().rfind(|look| look.n_pairs <= n_pairs).or(plan.looks.first())
}

impl Experiment {
    /// Judges the experiment's pairs anew: fills in `state`, `lines` and `clock`, without what could have been found.
    pub fn judge_so_far(&mut self) {
        let judgement = judge(&self.plan, &mut self.pairs);
        (self.state, self.lines, self.clock) = (judgement.state, judgement.lines, judgement.clock);
    }

    /// The same, with what could have been found, which takes a thousand times as long.
    pub fn judge(&mut self) {
        self.judge_so_far();
        let valid: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.halves().is_some()).collect();
        let is_judged = |line: &LineResult| line.verdict != Verdict::NotJudged;
        let n_lines = self.lines.iter().filter(|line| is_judged(line)).count();
        for line in self.lines.iter_mut().filter(|line| is_judged(line)) {
            if let Some(series) = Series::of(&line.name, &valid) {
                let differences = &series.differences;
                line.detectable = detectable(&self.plan, differences, line.scale, line.margin, line.n_pairs, n_lines);
            }
        }
    }

    /// Fills in the differences in the lines' units where the file they were read from is older than they are.
    pub(super) fn add_absolute(&mut self) {
        let valid: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.halves().is_some()).collect();
        for line in self.lines.iter_mut().filter(|line| line.absolute.is_none()) {
            line.absolute =
                Series::of(&line.name, &valid).map(|series| estimate(&self.plan, Scale::Difference, &series.absolute));
        }
    }
}
