//! Options of pacing: priorities, and the table of waits.

use clap::{Args, ValueEnum};
use praxis::pacing::FramePriority;

use super::RenderArgs;

/// `--thread-priority`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThreadPriorityArg {
    Normal,
    High,
    Realtime,
}

impl From<ThreadPriorityArg> for FramePriority {
    fn from(priority: ThreadPriorityArg) -> Self {
        match priority {
            ThreadPriorityArg::Normal => Self::Normal,
            ThreadPriorityArg::High => Self::High,
            ThreadPriorityArg::Realtime => Self::Realtime,
        }
    }
}

/// What commands with a frame loop of their own take.
#[derive(Args, Clone, Copy, Debug)]
pub struct PriorityArgs {
    /// Priority of the thread that runs the frame loop; where the system refuses, a warning says so
    #[arg(long, value_enum, default_value_t = ThreadPriorityArg::Normal)]
    pub thread_priority: ThreadPriorityArg,
}

/// `praxis wait-table`.
#[derive(Args, Debug)]
pub struct WaitTableArgs {
    /// Scene name, or path of a .ron, .gltf or .glb file
    #[arg(default_value = "town")]
    pub scene: String,
    #[command(flatten)]
    pub render: RenderArgs,
    #[command(flatten)]
    pub priority: PriorityArgs,
    /// Rounds; each has every way to wait once, GPU-bound and CPU-bound
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: u32,
    /// Frames to measure for each way in each round [default: 120, on a software adapter 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: Option<u32>,
    /// Frames before those, so that Hybrid has learnt [default: 60, on a software adapter 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub warmup: Option<u32>,
    /// As JSON on stdout instead of a table in Markdown
    #[arg(long)]
    pub json: bool,
}
