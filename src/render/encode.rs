//! The order of a frame's passes, on one screen. What a scene holds decides at load which there are; what it does changes none.

use super::Renderer;
use crate::gpu::{GpuError, UploadSlice};

/// Passes with timestamps of their own, in order.
pub const PASSES: [&str; 6] = ["gpu.cull", "gpu.visibility", "gpu.sun", "gpu.shade", "gpu.translucent", "gpu.post"];
const CULL: u32 = 0;
const VISIBILITY: u32 = 1;
const SUN: u32 = 2;
const SHADE: u32 = 3;
const TRANSLUCENT: u32 = 4;
const POST: u32 = 5;

impl Renderer {
    /// Records the frame that was prepared last into `encoder`.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        self.encode_uploads(encoder)?;
        let (scene, bindings, targets) = (&self.gpu_scene, &self.bindings, &self.targets);
        let timestamps = self.timestamps.as_ref();
        let compute_writes = |pass_idx| timestamps.map(|timestamps| timestamps.compute_writes(pass_idx));
        let render_writes = |pass_idx| timestamps.map(|timestamps| timestamps.render_writes(pass_idx));
        let compute_pass = |label, pass_idx| wgpu::ComputePassDescriptor {
            label: Some(label),
            timestamp_writes: compute_writes(pass_idx),
        };
        {
            let mut pass = encoder.begin_compute_pass(&compute_pass("praxis::render::cull", CULL));
            self.scatter.record(&mut pass, self.prepared.frame.n_moved);
            self.lights.record(&mut pass);
            self.cull.record(&mut pass);
        }
        self.visibility.record(encoder, scene, bindings, targets, render_writes(VISIBILITY));
        if let (Some(sun), Some(rays)) = (&self.sun, &self.rays) {
            let mut pass = encoder.begin_compute_pass(&compute_pass("praxis::render::sun", SUN));
            sun.record(&mut pass, bindings, rays, targets.size_px);
        }
        {
            let mut pass = encoder.begin_compute_pass(&compute_pass("praxis::render::shade", SHADE));
            self.shade.record(&mut pass, bindings, targets.size_px);
        }
        let rays = self.rays.as_ref();
        self.translucent.record(encoder, scene, bindings, rays, targets, render_writes(TRANSLUCENT));
        {
            let mut pass = encoder.begin_compute_pass(&compute_pass("praxis::render::post", POST));
            self.post.record(&mut pass, targets.size_px);
        }
        if let Some(timestamps) = timestamps {
            timestamps.resolve(encoder, self.n_submitted);
        }
        Ok(())
    }

    /// Writes the uniform, the moved list and the rays' top level into the ring and records their copies.
    fn encode_uploads(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let frame = bytemuck::bytes_of(&self.prepared.frame);
        let moved: &[u8] = bytemuck::cast_slice(&self.prepared.moved);
        // What is mapped begins at a multiple of 8.
        let rays_offset = ((frame.len() + moved.len()) as u64).next_multiple_of(wgpu::MAP_ALIGNMENT);
        if let Some(rays) = &mut self.rays {
            rays.write(&mut self.uploads, rays_offset)?;
        }
        let UploadSlice { buffer, slot } = self.uploads.write(&[(0, frame), (frame.len() as u64, moved)])?;
        encoder.copy_buffer_to_buffer(buffer, 0, &self.gpu_scene.buffers.frame, 0, frame.len() as u64);
        if !moved.is_empty() {
            let target = &self.gpu_scene.buffers.moved;
            encoder.copy_buffer_to_buffer(buffer, frame.len() as u64, target, 0, moved.len() as u64);
        }
        if let Some(rays) = &mut self.rays {
            rays.record_upload(encoder, buffer, rays_offset);
        }
        self.upload_slot = Some(slot);
        Ok(())
    }
}
