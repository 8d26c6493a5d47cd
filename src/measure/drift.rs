//! A run against its Baseline: what moved, what the clock explains, and what only an interleaved comparison can tell.

use serde::{Deserialize, Serialize};

use super::experiment::{GATED_LINES, MachineSpread};
use super::names::{self, LineKind};
use super::statistics::median;
use super::{BaselineRecord, Mismatch, RunFile, baseline_records, compare};

/// How far a median may be from the Baseline's before anyone is told, at least, in percent. Two runs of one program on one
/// machine some days apart differ by that much without anything being wrong.
const LEAST_MARGIN_PERCENT: f64 = 5.0;
/// A difference smaller than this is not looked at, whatever it is in percent: reading the clock costs as much.
const LEAST_DIFFERENCE_NS: f64 = 1_000.0;
/// Recordings, the run among them, from which on a trend can be told from chance.
const LEAST_FOR_A_CREEP: usize = 5;
/// Kendall's τ of a trend that counts as one: of all pairs of recordings, four of five rise.
const LEAST_TAU: f64 = 0.6;

/// How a line stands against the Baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftVerdict {
    /// Within the margin.
    Within,
    /// Slower by more than the margin, and the clock does not explain it: a regression, or drift of the machine. One run a
    /// side can't tell; interleaved runs can.
    Suspect,
    /// Beyond the margin as read, within it at the Baseline's clock.
    MovedWithClock,
    /// Faster by more than the margin: if that is meant, the Baseline should be recorded anew.
    Faster,
    /// A line that is shown only, or a Baseline of other settings.
    NotJudged,
}

/// One line against the Baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineDrift {
    /// The line's name.
    pub name: String,
    /// How much more the run's median is, in percent of the Baseline's.
    pub as_read_percent: f64,
    /// The run's median as it would be at the Baseline's clock; `None` for what the core's clock doesn't time: waits and the GPU.
    pub at_baseline_clock: Option<f64>,
    /// How much more that is, in percent of the Baseline's.
    pub at_baseline_clock_percent: Option<f64>,
    /// From where on a difference counts, in percent.
    pub margin_percent: f64,
    /// What it comes to.
    pub verdict: DriftVerdict,
}

/// A line that rose slowly over the Baseline's recordings, none of which was far from the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Creep {
    /// The line's name.
    pub name: String,
    /// How much more the run's median is than the oldest recording's, in percent; at the same clock where that is known.
    pub percent: f64,
    /// Recordings, the run not counted.
    pub n_records: usize,
    /// The oldest recording's date.
    pub since: Option<String>,
    /// The oldest recording's commit.
    pub since_commit: Option<String>,
}

/// A run against its Baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// How much longer the clock chain took than in the Baseline, as a ratio: above 1 the core ran slower. `None` where
    /// either has no chain.
    pub clock_ratio: Option<f64>,
    /// What keeps the lines from being judged; empty where they are.
    pub obstacles: Vec<Mismatch>,
    /// Every line that both have, sorted by name.
    pub lines: Vec<LineDrift>,
    /// Lines that crept up.
    pub creeps: Vec<Creep>,
}

impl Drift {
    /// The line called `name`.
    pub fn line(&self, name: &str) -> Option<&LineDrift> {
        self.lines.iter().find(|line| line.name == name)
    }

    /// Lines with this verdict.
    pub fn with_verdict(&self, verdict: DriftVerdict) -> impl Iterator<Item = &LineDrift> {
        self.lines.iter().filter(move |line| line.verdict == verdict)
    }
}

/// Holds `run` against `baseline`, which should be of its machine and scene.
///
/// Nothing is judged where the two differ in machine, adapter, driver or settings (see [`Mismatch::prevents_judging`]), or
/// where either is void or was interrupted. The margin is 5%, or three times the spread between the Baseline's recordings, or
/// between a self-test's runs (`spread`, made on this machine with these settings), where one of them is more.
pub fn judge_drift(run: &RunFile, baseline: &RunFile, spread: Option<&MachineSpread>) -> Drift {
    let comparison = compare(run, baseline);
    let obstacles: Vec<Mismatch> = comparison.mismatches.into_iter().filter(Mismatch::prevents_judging).collect();
    let is_sound = |run: &RunFile| run.complete && run.void_reason.is_none();
    let is_judged = obstacles.is_empty() && is_sound(run) && is_sound(baseline);
    let records = baseline_records(baseline);
    let (now, then) = (BaselineRecord::of(run), BaselineRecord::of(baseline));
    let clock_ratio = clock_ratio(&now, &then);

    let lines = comparison.lines.iter().filter_map(|line| {
        let as_read_percent = line.median_delta_percent?;
        let at_baseline_clock = clock_ratio.filter(|_| is_timed_by_core(&line.name)).map(|r| line.run.median / r);
        let at_clock_percent = at_baseline_clock.map(|median| (median / line.baseline.median - 1.0) * 100.0);
        let margin_percent = margin_percent(&line.name, &records, spread);
        let is_tiny = (line.run.median - line.baseline.median).abs() < LEAST_DIFFERENCE_NS;
        let beyond = |percent: f64| percent.abs() > margin_percent;
        let verdict = match () {
            () if !is_judged || !GATED_LINES.contains(&line.name.as_str()) => DriftVerdict::NotJudged,
            () if is_tiny || !beyond(as_read_percent) => DriftVerdict::Within,
            () if at_clock_percent.is_some_and(|p| !beyond(p) || p.signum() != as_read_percent.signum()) => {
                DriftVerdict::MovedWithClock
            }
            () if as_read_percent > 0.0 => DriftVerdict::Suspect,
            () => DriftVerdict::Faster,
        };
        Some(LineDrift {
            name: line.name.clone(),
            as_read_percent,
            at_baseline_clock,
            at_baseline_clock_percent: at_clock_percent,
            margin_percent,
            verdict,
        })
    });
    let creeps = match is_judged {
        true => GATED_LINES.iter().filter_map(|name| creep(name, &records, &now, spread)).collect(),
        false => Vec::new(),
    };
    Drift { clock_ratio, obstacles, lines: lines.collect(), creeps }
}

/// Whether the line's time is the core's work, so that it follows the core's clock.
pub(super) fn is_timed_by_core(name: &str) -> bool {
    match LineKind::of(name) {
        LineKind::Stage => name != names::STAGE_WAIT,
        LineKind::System => true,
        _ => name == names::CPU_FRAME || name == names::TLAS_CPU,
    }
}

/// The median of the chain's readings in `now` over those in `then`, each with its own kind.
fn clock_ratio(now: &BaselineRecord, then: &BaselineRecord) -> Option<f64> {
    let ratios: Vec<f64> = [names::CHAIN_START, names::CHAIN_AFTER_UPDATE, names::CHAIN_AFTER_SUBMIT]
        .iter()
        .filter_map(|name| Some(now.medians.get(*name)? / then.medians.get(*name)?))
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .collect();
    median(&ratios)
}

/// Three standard deviations of the difference between two recordings, as those from one recording to the next tell them (so
/// that a trend does not widen the margin) or as a self-test does, and no less than [`LEAST_MARGIN_PERCENT`].
fn margin_percent(name: &str, records: &[BaselineRecord], spread: Option<&MachineSpread>) -> f64 {
    let medians: Vec<f64> = records.iter().filter_map(|record| record.medians.get(name).copied()).collect();
    let steps = medians.windows(2).filter(|pair| pair[0] > 0.0).map(|pair| (pair[1] / pair[0] - 1.0).abs() * 100.0);
    let steps: Vec<f64> = steps.collect();
    // Of normal values 1.4826 times the median absolute deviation is the standard deviation.
    let of_records = if steps.len() < 3 { 0.0 } else { median(&steps).unwrap_or(0.0) * 1.4826 };
    let of_machine = spread.and_then(|spread| spread.lines.get(name)).map_or(0.0, |line| line.spread * 100.0);
    (3.0 * of_records).max(3.0 * std::f64::consts::SQRT_2 * of_machine).max(LEAST_MARGIN_PERCENT)
}

/// A creep of `name` over `records` to `now`: a rise beyond the margin that has a trend (Kendall 1938) and no single step
/// that is most of it.
fn creep(
    name: &str,
    records: &[BaselineRecord],
    now: &BaselineRecord,
    spread: Option<&MachineSpread>,
) -> Option<Creep> {
    let with_line: Vec<&BaselineRecord> =
        records.iter().chain([now]).filter(|record| record.medians.contains_key(name)).collect();
    let oldest = *with_line.first()?;
    let at_oldest_clock = |record: &&BaselineRecord| {
        let ratio = clock_ratio(record, oldest).filter(|_| is_timed_by_core(name)).unwrap_or(1.0);
        record.medians.get(name).map(|median| median / ratio)
    };
    let values: Vec<f64> = with_line.iter().filter_map(at_oldest_clock).collect();
    let (first, last) = (*values.first()?, *values.last()?);
    let largest_step = values.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    let percent = (last / first - 1.0) * 100.0;
    let is_creep = values.len() >= LEAST_FOR_A_CREEP
        && first > 0.0
        && last - first > LEAST_DIFFERENCE_NS
        && percent > margin_percent(name, records, spread)
        && largest_step < 0.6 * (last - first)
        && tau(&values) >= LEAST_TAU;
    is_creep.then(|| Creep {
        name: name.to_owned(),
        percent,
        n_records: with_line.len() - 1,
        since: oldest.date.clone(),
        since_commit: oldest.commit.clone(),
    })
}

/// Kendall's τ of values against their order: 1 when each is above the one before, −1 when each is below.
fn tau(values: &[f64]) -> f64 {
    let mut score = 0i64;
    for (idx, earlier) in values.iter().enumerate() {
        for later in &values[idx + 1..] {
            score += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    let n_pairs = values.len() * values.len().saturating_sub(1) / 2;
    score as f64 / n_pairs.max(1) as f64
}
