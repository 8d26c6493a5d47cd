//! Rays of some of the timed frames, drawn again after all of them.

use praxis::gpu::Gpu;
use praxis::measure::{RayTotals, RunFile};

use crate::commands::session::Stage;

/// Frames to count, spread over the run.
const N_FRAMES: u64 = 8;

/// Counts, and adds what the sun pass took for the same frames when they were timed. `None` without rays.
pub fn count(gpu: &Gpu, stage: &mut Stage, run: &RunFile) -> anyhow::Result<Option<RayTotals>> {
    let n = N_FRAMES.min(run.n_frames);
    let frames: Vec<u32> = (0..n).filter_map(|i| u32::try_from(i * run.n_frames / n).ok()).collect();
    let counted = stage.renderer.count_rays(gpu, &mut stage.scene, &frames)?;
    if counted.is_empty() {
        return Ok(None);
    }
    let timed = run.lines.get("gpu.sun").map(|line| &line.samples);
    let gpu_sun_ns = timed.and_then(|samples| frames.iter().map(|&idx| *samples.get(idx as usize)?).sum());
    let mut totals = RayTotals { n_frames: counted.len() as u64, gpu_sun_ns, ..RayTotals::default() };
    for frame in counted {
        totals.n_px += frame.n_px;
        totals.n_surface_rays += frame.n_surface_rays;
        totals.n_edge_px += frame.n_edge_px;
        totals.n_edge_rays += frame.n_edge_rays;
        totals.n_passing_still += frame.n_passing_still;
        totals.n_foreseen_blocked += frame.n_foreseen_blocked;
        totals.n_untraced += frame.n_untraced;
    }
    Ok(Some(totals))
}
