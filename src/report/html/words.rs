//! What each line is, for a reader who has never seen the project.

use crate::measure::names::{self, LineKind};

/// One or two sentences on the line called `name`.
pub(super) fn explain(name: &str) -> String {
    let known = match name {
        names::CPU_FRAME => {
            "What the main thread works for one frame, from the end of one wait to the end of that frame's submit. Waiting is \
             not in it: this is the time that a change of the CPU's code changes."
        }
        names::GPU_FRAME => "From the moment the GPU begins a frame's first pass to the moment it ends the last one.",
        names::FRAME_TIME => {
            "One turn of the loop, waits included: what a viewer would feel. Its inverse is the number of frames a second."
        }
        names::TLAS_CPU => {
            "What the CPU spends on the structure that lets rays find what moves (the top-level acceleration structure). It is \
             a part of prepare_frame and encode."
        }
        names::STAGE_WAIT => {
            "How long the main thread waited for the GPU. Where the GPU is the slower of the two, this is most of the frame."
        }
        names::STAGE_UPDATE => "The systems that move the scene.",
        names::STAGE_PREPARE_FRAME => "From what changed in the scene to bytes for the GPU.",
        names::STAGE_ENCODE => "Recording the frame's commands and translating them for the driver.",
        names::STAGE_SUBMIT => "Handing the recorded commands to the GPU's queue.",
        names::CHAIN_START => "The clock chain right after the wait, before any work.",
        names::CHAIN_AFTER_UPDATE => "The clock chain between update and prepare_frame.",
        names::CHAIN_AFTER_SUBMIT => "The clock chain after the submit.",
        "gpu.cull" => "Deciding on the GPU what of the scene the camera can see, and in how much detail.",
        "gpu.visibility" => "Drawing triangles: which of them each sample of each pixel sees.",
        "gpu.sun" => "Rays towards the sun: what stands in shadow.",
        "gpu.shade" => "Materials and light: the colour of each visible surface of each pixel.",
        "gpu.translucent" => "Whatever lets light through, drawn over the rest.",
        "gpu.post" => "From light to a picture that a display can show: exposure and tone mapping.",
        names::BLOCKED_ACQUIRE => "Blocked while the window's next image was fetched.",
        names::BLOCKED_SUBMIT => "Blocked inside the submit, or in the wait just before it where submitting blocks.",
        names::BLOCKED_POLL => "Blocked in the wait for the oldest frame in flight.",
        names::BLOCKED_PRESENT => "Blocked while a picture was handed to the window.",
        names::WAIT_OVERSHOOT => "How much later than the GPU was done the wait for it returned.",
        names::WAIT_LAST_POLL => "The poll that found the frame done, and freed what wgpu held for it.",
        names::CPU_TIME_MAIN => "CPU time of the main thread in a frame: what it ran, waits that spin among it.",
        "process.cpu" => "CPU time of all threads of the program, for each frame on average.",
        "main_thread.cycles" => "Clock cycles that the main thread ran, for each frame on average.",
        "main_thread.instructions" => "Instructions that the main thread ran, for each frame on average.",
        "main_thread.task_clock" => "Time that the main thread was on a core, for each frame on average.",
        "migrations" => "Frames that began on another core than the one before, in the whole run.",
        "missed" => "Frames that missed their deadline, in the whole run.",
        "system.propagate_world_transforms" => "Where everything that moved, and all that hangs on it, now is.",
        "system.move_nodes" => "Moves what has a motion.",
        "system.move_camera" => "Moves the camera along its path.",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    match LineKind::of(name) {
        LineKind::Stage => "A stage of the frame on the main thread.",
        LineKind::System => "One system of the scene's update, by its function's name.",
        LineKind::Pass => "One pass on the GPU.",
        LineKind::Chain => "A reading of the clock chain.",
        LineKind::Frame | LineKind::Other => "A line of this program's own.",
    }
    .to_owned()
}

/// The kind of a line, in a word or two.
pub(super) fn kind(name: &str) -> &'static str {
    match LineKind::of(name) {
        LineKind::Frame => "whole frame",
        LineKind::Stage => "CPU stage",
        LineKind::System => "CPU system",
        LineKind::Pass => "GPU pass",
        LineKind::Chain => "clock",
        LineKind::Other => "CPU",
    }
}

/// Words that the page uses, each with its meaning.
pub(super) const GLOSSARY: [(&str, &str); 11] = [
    (
        "Line",
        "One measured quantity, such as cpu_frame, with one value for each frame. Nothing is averaged before it is stored.",
    ),
    (
        "ns, µs, ms",
        "Nano-, micro- and milliseconds: 1 ms is 1,000 µs is 1,000,000 ns. A display that shows 60 pictures a second leaves 16.7 ms for each.",
    ),
    ("Median", "Half of all frames took less, half took more. One slow frame does not move it."),
    ("p95, p99", "95 (or 99) of 100 frames took less. They tell how bad the bad frames are."),
    (
        "Budget",
        "A ceiling that a line must stay below, fixed by the project: passed or breached. It does not depend on any other run.",
    ),
    ("Baseline", "A run recorded earlier on the same machine, adapter, driver and settings, to compare with."),
    (
        "Suspect",
        "Slower than the Baseline by more than the margin. Machines drift from day to day, so that one run can't prove a regression: runs of both programs in turn can.",
    ),
    (
        "Clock chain",
        "The same piece of arithmetic, timed three times in every frame. It always does the same work, so its time is the core's speed: if it takes 10% longer, the core ran 10% slower.",
    ),
    (
        "At the Baseline's clock",
        "A CPU line divided by how much longer the clock chain took than in the Baseline: what the line would have read at the Baseline's core speed.",
    ),
    (
        "Golden",
        "A stored picture that the scene must still draw. A run that draws another picture did other work, and its timings are void.",
    ),
    (
        "Mode",
        "A value around which many frames gather. Two modes mean that frames come in two kinds, a fast and a slow one, and the median falls in one of them.",
    ),
];
