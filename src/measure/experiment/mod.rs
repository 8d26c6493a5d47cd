//! Experiments: two programs, or two values of a flag, compared by interleaved pairs of runs.
//!
//! The frames of a run resemble each other, so *a run is the sample, never a frame*: each run gives one number a line, and pairs of runs made one after the
//! other give one difference. An [`Experiment`] holds the pairs and the [`Plan`] that was made before the first of them.
//!
//! # Invariants
//! - Verdicts are a function of plan and pairs: they can be made again from the file.

mod file;
mod gate;
mod judge;
mod outlook;
mod pair;
mod plan;
mod result;
mod series;
mod spread;

pub use file::{Clock, EXPERIMENT_SCHEMA, Experiment, ExperimentError, ExperimentKind, ExperimentState, Side};
pub use gate::gate_clock;
pub use judge::{Judgement, POWER, detectable, judge};
pub use outlook::{MOST_PAIRS, Outlook, Pairs};
pub use pair::{LineStatistics, Pair, RunStatistics, SideName, VoidReason};
pub use plan::{ALPHA, CHAIN_GATE, GATED_LINES, Look, MARGIN, N_PAIRS, NO_CHAIN_GATE, Plan, WAITING_HINT};
pub use result::{Estimate, Leaning, LineResult, Scale, Verdict};
pub use spread::{LineSpread, MachineSpread, SPREAD_SCHEMA, SpreadError};
