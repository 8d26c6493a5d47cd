//! Arguments of `praxis probe`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use praxis::probe::watchdog::LONGEST_S;

#[derive(Args, Debug)]
pub struct ProbeArgs {
    #[command(subcommand)]
    pub probe: Option<ProbeCommand>,
    #[command(flatten)]
    pub options: ProbeOptions,
}

/// What every probe takes.
#[derive(Args, Clone, Debug, Default)]
pub struct ProbeOptions {
    /// A few samples of each, to see that it works: under 5 s, or half a minute with --ops
    #[arg(long, global = true)]
    pub quick: bool,
    /// Part of an adapter's name (see `praxis info`)
    #[arg(long, value_name = "NAME", global = true)]
    pub adapter: Option<String>,
    /// The result as JSON on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// A page with tables and charts
    #[arg(long, value_name = "FILE", global = true)]
    pub html: Option<PathBuf>,
    /// Write PROBE.json for each probe, and probes.html, into this folder
    #[arg(long, value_name = "DIR", global = true)]
    pub out: Option<PathBuf>,
    /// No progress and no notes on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

#[derive(Subcommand, Clone, Debug, PartialEq)]
pub enum ProbeCommand {
    /// Where the time of an empty round trip goes, stage by stage
    Latency,
    /// What each way to wait for the GPU costs, and where the floor is
    Waits(WaitsArgs),
    /// What an operation costs when several go together
    Batch,
    /// Whether a running kernel and the CPU can talk, and how fast
    Resident(ResidentArgs),
    /// How long a kernel may run before the driver kills it
    Watchdog(WatchdogArgs),
    /// What a shared cache line costs, and how far apart per-thread slots must be
    Line,
    /// All of them, one after another
    All(WatchdogArgs),
}

#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct ResidentArgs {
    /// Instead: what small operations cost as submissions, through a resident worker, and on one core
    #[arg(long)]
    pub ops: bool,
    /// A kernel without the barrier behind the doorbell, to see what it costs
    #[arg(long, requires = "ops", hide = true)]
    pub no_acquire: bool,
    /// A kernel that answers only after all that it stored, to see what it costs
    #[arg(long, requires = "ops", hide = true)]
    pub answer_after_stores: bool,
}

#[derive(Args, Clone, Debug, PartialEq)]
pub struct WaitsArgs {
    /// How long "spin, then block" spins, in µs
    #[arg(long, value_name = "US", default_value_t = SPIN_US, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub spin_us: u64,
}

/// Longer than a discrete GPU's empty round trip, shorter than one on Apple silicon.
pub const SPIN_US: u64 = 50;

#[derive(Args, Clone, Debug, PartialEq)]
pub struct WatchdogArgs {
    /// The longest kernel to try, in seconds [default: 10, with --quick or in `all` 1]
    #[arg(value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.01..=LONGEST_S).contains(seconds))
        .ok_or_else(|| format!("use seconds from 0.01 to {LONGEST_S}"))
}

/// A worker of the `line` probe; started by the program itself.
#[derive(Args, Debug)]
pub struct LineWorkerArgs {
    pub file: PathBuf,
    pub worker_idx: usize,
    pub slot_offset: usize,
    #[arg(long)]
    pub private: bool,
    #[arg(long)]
    pub core: Option<u32>,
}
