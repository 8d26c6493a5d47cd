//! The names of lines that every program shares.
//!
//! A line's name is lower case, its parts joined by dots; the part before the first dot says what kind it is.

/// The main thread's time from the end of one wait to the end of that frame's submit, less any waiting inside.
pub const CPU_FRAME: &str = "cpu_frame";
/// The time from the start of one frame's wait to the start of the next one's: all that the main thread does.
pub const FRAME_TIME: &str = "frame_time";
/// The time from the first pass's begin to the last pass's end of one frame on the GPU.
pub const GPU_FRAME: &str = "gpu_frame";
/// The CPU time of keeping the dynamic top-level acceleration structure.
pub const TLAS_CPU: &str = "tlas.cpu";

/// Waiting for the GPU, wherever in the frame it happens.
pub const STAGE_WAIT: &str = "stage.wait";
/// The systems that move the scene.
pub const STAGE_UPDATE: &str = "stage.update";
/// From what changed to GPU buffers.
pub const STAGE_PREPARE_FRAME: &str = "stage.prepare_frame";
/// Recording the passes, `finish()` included: wgpu translates the commands there.
pub const STAGE_ENCODE: &str = "stage.encode";
/// The submit, less any waiting inside.
pub const STAGE_SUBMIT: &str = "stage.submit";

/// Of the call that gets the window's next texture, the time in which the main thread did not run.
pub const BLOCKED_ACQUIRE: &str = "blocked.acquire";
/// Of the submit, the same.
pub const BLOCKED_SUBMIT: &str = "blocked.submit";
/// Of the waits for the GPU, the same.
pub const BLOCKED_POLL: &str = "blocked.poll";
/// Of the call that hands a finished frame to the display, the same.
pub const BLOCKED_PRESENT: &str = "blocked.present";

/// The clock chain at the frame's start, after the wait.
pub const CHAIN_START: &str = "chain.start";
/// The clock chain after update.
pub const CHAIN_AFTER_UPDATE: &str = "chain.after_update";
/// The clock chain after submit.
pub const CHAIN_AFTER_SUBMIT: &str = "chain.after_submit";

/// A span, not a line: waiting for the oldest frame at the frame's start.
pub const WAIT_SLOT: &str = "wait.slot";
/// A span, not a line: waiting for the newest frame just before the submit, where submitting blocks.
pub const WAIT_BEFORE_SUBMIT: &str = "wait.before_submit";
/// A span, not a line: from the submit's begin until a wait for the submission returned. The GPU's work lies within.
pub const IN_FLIGHT: &str = "in_flight";
/// From a frame's end on the GPU to the return of the wait for it, where it was waited for; see
/// [`ReturnAlignment`](super::ReturnAlignment) for what that can tell.
pub const WAIT_OVERSHOOT: &str = "wait.overshoot";
/// Of a wait that polls, the poll that found the frame done: wgpu frees in it what it held for the frame.
pub const WAIT_LAST_POLL: &str = "wait.last_poll";
/// What the main thread ran for from one frame's start to the next one's, whatever it did: a spinning wait counts.
pub const CPU_TIME_MAIN: &str = "cpu_time.main";

/// Begins the name of a CPU stage.
pub const STAGE_PREFIX: &str = "stage.";
/// Begins the name of an ECS system; the function's name follows.
pub const SYSTEM_PREFIX: &str = "system.";
/// Begins the name of a GPU pass.
pub const GPU_PREFIX: &str = "gpu.";
/// Begins the name of a clock chain reading.
pub const CHAIN_PREFIX: &str = "chain.";

/// Whether the line called `name` is waiting, or has waiting in it: its length follows the GPU, not the core's speed.
pub fn has_waiting(name: &str) -> bool {
    matches!(name, FRAME_TIME | STAGE_WAIT) || name.starts_with("blocked.") || name.starts_with("wait.")
}

/// Whether the line called `name` counts waits that spin, as CPU time.
pub fn counts_spinning(name: &str) -> bool {
    matches!(name, CPU_TIME_MAIN | "main_thread.task_clock" | "process.cpu")
}

/// What a line measures, told by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineKind {
    /// A whole frame: `cpu_frame`, `gpu_frame`, `frame_time`.
    Frame,
    /// A CPU stage.
    Stage,
    /// An ECS system.
    System,
    /// A GPU pass.
    Pass,
    /// A clock chain reading.
    Chain,
    /// Anything else, such as `tlas.cpu`.
    Other,
}

impl LineKind {
    /// The kind of the line called `name`.
    pub fn of(name: &str) -> Self {
        const PREFIXES: [(&str, LineKind); 4] = [
            (STAGE_PREFIX, LineKind::Stage),
            (SYSTEM_PREFIX, LineKind::System),
            (GPU_PREFIX, LineKind::Pass),
            (CHAIN_PREFIX, LineKind::Chain),
        ];
        if matches!(name, CPU_FRAME | GPU_FRAME | FRAME_TIME) {
            return Self::Frame;
        }
        let of_prefix = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix));
        of_prefix.map_or(Self::Other, |(_, kind)| *kind)
    }

    /// Whether the line is time spent on the GPU.
    pub fn is_gpu(self, name: &str) -> bool {
        self == Self::Pass || name == GPU_FRAME
    }
}
