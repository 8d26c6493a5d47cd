//! Counting rays: frames drawn again by pipelines that count, so that those that are timed don't have to.

use super::{Renderer, passes};
use crate::gpu::{Gpu, GpuError, read_buffer};
use crate::scene::Scene;

/// The rays of one picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RayCounts {
    /// Pixels of the picture.
    pub n_px: u64,
    /// First rays: one for each surface of a pixel that the sun could light.
    pub n_surface_rays: u64,
    /// Pixels that got edge rays.
    pub n_edge_px: u64,
    /// Edge rays.
    pub n_edge_rays: u64,
    /// Of both kinds, those that the column map found to pass everything that stands still.
    pub n_passing_still: u64,
    /// Of both kinds, those that the column map found to be blocked.
    pub n_foreseen_blocked: u64,
    /// Of both kinds, those of which nothing was left to trace.
    pub n_untraced: u64,
}

impl Renderer {
    /// Draws `frames` (frame indices) anew and counts the rays of the sun pass in each; none without rays. No frame may be in flight.
    ///
    /// # Errors
    /// The first fault of the GPU.
    pub fn count_rays(&mut self, gpu: &Gpu, scene: &mut Scene, frames: &[u32]) -> Result<Vec<RayCounts>, GpuError> {
        let Some(rays) = &self.rays else { return Ok(Vec::new()) };
        let counting = passes::Sun::new(gpu, &self.bindings, rays, &self.targets, self.n_samples, true);
        let timed = std::mem::replace(&mut self.sun, counting);
        let counted = self.draw_and_count(gpu, scene, frames);
        self.sun = timed;
        counted
    }

    fn draw_and_count(&mut self, gpu: &Gpu, scene: &mut Scene, frames: &[u32]) -> Result<Vec<RayCounts>, GpuError> {
        let [width, height] = self.targets.size_px;
        // The pipelines add to what is there.
        let mut before = [0; passes::N_RAY_COUNTS];
        let mut counted = Vec::new();
        for &frame_idx in frames {
            scene.update(frame_idx);
            self.prepare_frame(scene, frame_idx);
            let label = Some("praxis::render::count_rays");
            let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
            self.encode(&mut encoder)?;
            gpu.queue.submit([encoder.finish()]);
            let submission = self.submitted();
            gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
            // Each submission's timestamps are to be read once; these count for nothing.
            self.read_timestamps(submission, &mut Vec::new()).transpose()?;
            let Some(sun) = &self.sun else { break };
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(&read_buffer(gpu, &sun.ray_counts)?);
            let added: [u64; passes::N_RAY_COUNTS] =
                std::array::from_fn(|i| u64::from(words[i].wrapping_sub(before[i])));
            before = std::array::from_fn(|i| words[i]);
            counted.push(RayCounts {
                n_px: u64::from(width) * u64::from(height),
                n_surface_rays: added[0],
                n_edge_px: added[1],
                n_edge_rays: added[2],
                n_passing_still: added[3],
                n_foreseen_blocked: added[4],
                n_untraced: added[5],
            });
        }
        gpu.check_errors()?;
        Ok(counted)
    }
}
