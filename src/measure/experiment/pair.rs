//! Two runs, one of each side: what an experiment is made of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::{RunFile, Unit, names::LineKind, quantile::quantile_by};

/// One of the two sides of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideName {
    /// What was there before.
    A,
    /// What is in question.
    B,
}

impl SideName {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

impl std::fmt::Display for SideName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// Two runs, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Which side ran first; drawn by lot.
    pub first: SideName,
    /// Why the pair does not count: a half that failed, or was interrupted, or clocks too far apart.
    pub void: Option<VoidReason>,
    /// The run of side A; `None` when it failed.
    pub a: Option<RunStatistics>,
    /// The run of side B; `None` when it failed.
    pub b: Option<RunStatistics>,
}

/// Why a pair does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "cause")]
pub enum VoidReason {
    /// A run ended with an error, or wrote no usable run file.
    Failed {
        /// Whose.
        side: SideName,
        /// What it said.
        message: String,
    },
    /// Ctrl-C, or the end of the program that ran it.
    Interrupted,
    /// The run measured the wrong work, by its own account.
    Void {
        /// Whose.
        side: SideName,
        /// What it said.
        message: String,
    },
    /// The chain ran at two speeds; see [`Plan::chain_gate`](super::Plan::chain_gate).
    Clock {
        /// The chain's time with B over that with A.
        ratio: f64,
    },
}

impl std::fmt::Display for VoidReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed { side, message } => write!(f, "a run of {side} failed: {message}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Void { side, message } => write!(f, "a run of {side} is void: {message}"),
            Self::Clock { ratio } => {
                let percent = 100.0 * (ratio - 1.0);
                let more = if percent < 0.0 { "less" } else { "more" };
                write!(
                    f,
                    "the clock changed between its runs: the clock chain took {:.1}% {more} with B",
                    percent.abs()
                )
            }
        }
    }
}

impl Pair {
    /// Both runs, if the pair counts.
    pub fn halves(&self) -> Option<(&RunStatistics, &RunStatistics)> {
        if self.void.is_some() { None } else { Some((self.a.as_ref()?, self.b.as_ref()?)) }
    }

    /// ln(B / A) of the chains' times; `None` when one of them was not read.
    pub fn chain_log_ratio(&self) -> Option<f64> {
        let chain_ns = |run: &Option<RunStatistics>| {
            run.as_ref()?.chain_ns.filter(|chain_ns| *chain_ns > 0.0 && chain_ns.is_finite())
        };
        Some((chain_ns(&self.b)? / chain_ns(&self.a)?).ln())
    }
}

/// What one run yields: one sample of each line, not one a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunStatistics {
    /// The run folder, relative to the experiment's; empty when it was not kept.
    pub run: String,
    /// Every line that has a value.
    pub lines: BTreeMap<String, LineStatistics>,
    /// The median of all the clock chain's readings.
    pub chain_ns: Option<f64>,
    /// Whatever was counted over the whole run, by name: `missed`, `migrations`.
    pub counts: BTreeMap<String, u64>,
}

/// One line of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineStatistics {
    /// What the values count.
    pub unit: Unit,
    /// The median of the frames.
    pub median: f64,
    /// The value that 99% of frames stay below; `None` for what is known of the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
}

impl RunStatistics {
    /// The line of this name, or the count, as one.
    pub fn line(&self, name: &str) -> Option<LineStatistics> {
        let of_count = |&count: &u64| LineStatistics { unit: Unit::Count, median: count as f64, p99: None };
        self.lines.get(name).copied().or_else(|| self.counts.get(name).map(of_count))
    }

    /// What `run`, kept in the folder `folder`, yields.
    pub fn of(run: &RunFile, folder: &str) -> Self {
        let mut lines: BTreeMap<String, LineStatistics> = run
            .lines
            .iter()
            .map(|(name, line)| {
                let statistics =
                    LineStatistics { unit: line.unit, median: line.summary.median, p99: Some(line.summary.p99) };
                (name.clone(), statistics)
            })
            .collect();
        lines.extend(lines_of_whole(run));
        let counts = [("missed", run.counts.missed), ("migrations", run.counts.migrations)];
        Self {
            run: folder.to_owned(),
            lines,
            chain_ns: chain_ns(run),
            counts: counts.map(|(name, count)| (name.to_owned(), count)).into(),
        }
    }
}

/// What is known of a run as a whole, for each frame on average: what the processor counted, and the CPU time of all threads.
fn lines_of_whole(run: &RunFile) -> impl Iterator<Item = (String, LineStatistics)> {
    let counts = run.counts.main_thread.unwrap_or_default();
    let n_frames = run.n_frames.max(1) as f64;
    let all = [
        ("main_thread.cycles", Unit::Count, counts.cycles),
        ("main_thread.instructions", Unit::Count, counts.instructions),
        ("main_thread.task_clock", Unit::Nanoseconds, counts.task_clock_ns),
        ("process.cpu", Unit::Nanoseconds, run.usage.get("process.cpu_ns").copied()),
    ];
    all.into_iter().filter_map(move |(name, unit, count)| {
        Some((name.to_owned(), LineStatistics { unit, median: count? as f64 / n_frames, p99: None }))
    })
}

/// The median of all readings of the chain, wherever in the frame; of the readings' medians where those alone were kept.
fn chain_ns(run: &RunFile) -> Option<f64> {
    let chains = || run.lines.iter().filter(|(name, _)| LineKind::of(name) == LineKind::Chain).map(|(_, line)| line);
    let mut readings: Vec<f64> =
        chains().flat_map(|line| line.samples.iter().flatten()).map(|reading| *reading as f64).collect();
    if readings.is_empty() {
        readings = chains().map(|line| line.summary.median).collect();
    }
    readings.sort_unstable_by(f64::total_cmp);
    quantile_by(readings.len(), 0.5, |idx| readings[idx])
}
