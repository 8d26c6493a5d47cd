//! Frame records, summaries and run files, for any program that measures frames.
//!
//! Everything here is data and arithmetic: no clock is read, nothing is printed, no GPU is needed. A program records each
//! frame into a [`FrameLog`], makes a [`RunFile`] of it and writes that. [`crate::pacing`] reads the
//! clocks and describes the machine.
//!
//! ```
//! use praxis::measure::{FrameLog, RunFile, Unit, names};
//!
//! let mut log = FrameLog::with_capacity(100);
//! let cpu_frame = log.line(names::CPU_FRAME, Unit::Nanoseconds);
//! for frame in 0..100 {
//!     let frame_idx = log.begin_frame();
//!     log.set(cpu_frame, frame_idx, 500_000 + frame);
//! }
//! let mut run = RunFile::from_log("town", &log);
//! run.settings.set("width_px", 2560).set("wait", "spin");
//! assert_eq!(run.line(names::CPU_FRAME)?.summary.median, 500_049.5);
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("run.json");
//! run.write(&path)?;
//! assert_eq!(RunFile::read(&path)?, run);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`experiment`] compares two programs, or two settings, by interleaved runs, on the [`statistics`] beside it.
//!
//! [`picture`] compares pictures with their goldens: a benchmark that drew the wrong picture measured the wrong work.
//!
//! [`aliasing`] compares pictures with supersampled references, and measures how they flicker.
//!
//! # Invariants
//! - Values are stored per frame and never averaged before; a summary is always made from all of them.
//! - A value that isn't there is absent, never 0.

pub mod aliasing;
mod atomic_write;
mod baseline;
mod budget;
mod clock_alignment;
mod compare;
mod digits;
mod drift;
mod environment;
pub mod experiment;
mod frame_log;
mod frames_csv;
mod json_fault;
mod json_layout;
pub mod names;
pub mod picture;
mod quantile;
mod return_alignment;
mod run_file;
mod span_log;
pub mod statistics;
mod timestamps;

pub use atomic_write::{StagedFiles, WriteError, write_atomically};
pub use baseline::{
    BaselineRecord, MOST_RECORDS, RecordError, baseline_path, baseline_records, read_baseline, record_baseline,
};
pub use budget::{Budget, BudgetOutcome, BudgetVerdict, Statistic, judge_budgets};
pub use clock_alignment::ClockAlignment;
pub use compare::{Comparison, LineComparison, Mismatch, compare};
pub use digits::grouped;
pub use drift::{Creep, Drift, DriftVerdict, LineDrift, judge_drift};
pub use environment::{Adapter, Build, Cluster, Machine, Settings, machine_key};
pub use frame_log::{FrameLog, Line, LineId, Unit};
pub use frames_csv::write_frames_csv;
pub use quantile::{Summary, quantile};
pub use return_alignment::{ClockPair, ReturnAlignment};
pub use run_file::{Counts, MissingLine, RUN_SCHEMA, RayTotals, RunFile, RunFileError, RunLine, ThreadCounts};
pub use span_log::{Span, SpanClock, SpanId, SpanLine, SpanLog};
pub use timestamps::{BadTimestamp, BadTimestamps, LONGEST_PASS_NS, validate_pass_times};
