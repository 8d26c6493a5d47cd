//! What a pixel shows: one sample's triangle number and depth, read back without a stall.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use glam::{Vec2, Vec3, Vec4};

use super::Renderer;
use super::bindings::{Kind, compute_pipeline, layout};
use super::camera::CameraMatrices;
use super::shaders;
use super::targets::Targets;
use crate::gpu::{Gpu, GpuError};
use crate::scene::CameraView;

const LABEL: &str = "praxis::render::pick";
const RESULT_BYTES: u64 = 16;

const PENDING: u8 = 0;
const READY: u8 = 1;
const FAILED: u8 = 2;

/// Picks one pixel at a time. A pick is recorded behind a frame's passes, its result copied out and mapped with that frame: it is
/// there when the frame was waited for anyway.
pub struct Picker {
    pipeline: wgpu::ComputePipeline,
    targets_layout: wgpu::BindGroupLayout,
    targets: wgpu::BindGroup,
    group: wgpu::BindGroup,
    px: wgpu::Buffer,
    result: wgpu::Buffer,
    readback: wgpu::Buffer,
    state: Arc<AtomicU8>,
    pending: Option<Pending>,
}

#[derive(Clone, Copy)]
struct Pending {
    px: [u32; 2],
    size_px: [u32; 2],
    view: CameraView,
    /// `None` between recording and submission.
    submission: Option<u64>,
}

/// What was at the pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picked {
    /// The number of the triangle that the pixel's first sample sees.
    pub triangle: u32,
    /// Where on it, in world space.
    pub position: Vec3,
}

impl Picker {
    /// For the pictures of `renderer`.
    pub fn new(gpu: &Gpu, renderer: &Renderer) -> Self {
        let n_samples = renderer.n_samples;
        let target = |sample_type| Kind::Texture(sample_type, wgpu::TextureViewDimension::D2, n_samples > 1);
        let kinds = [target(wgpu::TextureSampleType::Uint), target(wgpu::TextureSampleType::Depth)];
        let targets_layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &kinds);
        let own_layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE, &[Kind::Uniform, Kind::ReadWrite]);
        use wgpu::BufferUsages as Use;
        let px = gpu.factory.buffer(LABEL, RESULT_BYTES, Use::UNIFORM | Use::COPY_DST);
        let result = gpu.factory.buffer(LABEL, RESULT_BYTES, Use::STORAGE | Use::COPY_SRC);
        let resources = [px.as_entire_binding(), result.as_entire_binding()];
        let module = gpu.factory.shader(LABEL, shaders::pick(n_samples));
        let groups = [None, None, Some(&targets_layout), Some(&own_layout)];
        Self {
            pipeline: compute_pipeline(gpu, &module, "pick", &groups, &[]),
            targets: bind_targets(gpu, &targets_layout, &renderer.targets),
            group: gpu.factory.bind_group(LABEL, &own_layout, &resources),
            targets_layout,
            readback: gpu.factory.buffer(LABEL, RESULT_BYTES, Use::COPY_DST | Use::MAP_READ),
            px,
            result,
            state: Arc::new(AtomicU8::new(PENDING)),
            pending: None,
        }
    }

    /// After the renderer was resized.
    pub fn retarget(&mut self, gpu: &Gpu, renderer: &Renderer) {
        self.targets = bind_targets(gpu, &self.targets_layout, &renderer.targets);
    }

    /// Whether a pick is under way; a further one has to wait.
    pub fn is_busy(&self) -> bool {
        self.pending.is_some()
    }

    /// Records the pick of `px` (from the upper left) behind the passes of the frame that looks through `view`. Pixels outside of
    /// the picture are taken to its edge.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        renderer: &Renderer,
        view: &CameraView,
        px: [u32; 2],
    ) {
        let size_px = renderer.size_px();
        let px = [px[0].min(size_px[0] - 1), px[1].min(size_px[1] - 1)];
        gpu.queue.write_buffer(&self.px, 0, bytemuck::bytes_of(&px));
        {
            let mut pass =
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(LABEL), timestamp_writes: None });
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(2, &self.targets, &[]);
            pass.set_bind_group(3, &self.group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        encoder.copy_buffer_to_buffer(&self.result, 0, &self.readback, 0, RESULT_BYTES);
        self.pending = Some(Pending { px, size_px, view: *view, submission: None });
    }

    /// Call after the submission of what was recorded, with its number; otherwise it does nothing.
    pub fn submitted(&mut self, submission: u64) {
        let Some(pending @ Pending { submission: None, .. }) = &mut self.pending else { return };
        pending.submission = Some(submission);
        self.state.store(PENDING, Ordering::Release);
        let state = self.state.clone();
        self.readback.map_async(wgpu::MapMode::Read, .., move |result| {
            state.store(if result.is_ok() { READY } else { FAILED }, Ordering::Release);
        });
    }

    /// Submission `finished` has been waited on: the pick, if it was in there. The inner `None` is the background.
    ///
    /// # Errors
    /// A mapping that failed.
    pub fn take(&mut self, finished: u64) -> Result<Option<Option<Picked>>, GpuError> {
        let Some(pending) = self.pending.filter(|pending| pending.submission == Some(finished)) else {
            return Ok(None);
        };
        self.pending = None;
        let fault = |reason: String| GpuError::Map { label: LABEL, reason };
        if self.state.load(Ordering::Acquire) != READY {
            return Err(fault("the frame has not been waited on, or the device is lost".into()));
        }
        let words: [u32; 2] = {
            let bytes = self.readback.get_mapped_range(..8).map_err(|error| fault(error.to_string()))?;
            bytemuck::pod_read_unaligned(&bytes)
        };
        self.readback.unmap();
        let [triangle, depth] = [words[0], words[1]];
        let position = unproject(&pending.view, pending.size_px, pending.px, f32::from_bits(depth));
        Ok(Some(position.map(|position| Picked { triangle, position })))
    }
}

fn bind_targets(gpu: &Gpu, layout: &wgpu::BindGroupLayout, targets: &Targets) -> wgpu::BindGroup {
    let resources = [&targets.ids, &targets.depth].map(wgpu::BindingResource::TextureView);
    gpu.factory.bind_group(LABEL, layout, &resources)
}

/// The world position at the middle of pixel `px` (from the upper left) and `depth`; `None` for the background.
fn unproject(view: &CameraView, size_px: [u32; 2], px: [u32; 2], depth: f32) -> Option<Vec3> {
    if depth <= 0.0 {
        return None;
    }
    let camera = CameraMatrices::new(view, size_px, Vec2::ZERO);
    let share = |axis: usize| (px[axis] as f32 + 0.5) / size_px[axis] as f32;
    let clip = Vec4::new(2.0 * share(0) - 1.0, 1.0 - 2.0 * share(1), depth, 1.0);
    let relative = camera.clip_from_relative.inverse() * clip;
    let position = camera.position + relative.truncate() / relative.w;
    position.is_finite().then_some(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Projection;
    use crate::scene::camera::looking_at;

    fn seen(view: &CameraView, size_px: [u32; 2], at: Vec3) -> ([u32; 2], f32) {
        let camera = CameraMatrices::new(view, size_px, Vec2::ZERO);
        let clip = camera.clip_from_relative * (at - camera.position).extend(1.0);
        let ndc = clip.truncate() / clip.w;
        let share = Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y);
        ([(share.x * size_px[0] as f32) as u32, (share.y * size_px[1] as f32) as u32], ndc.z)
    }

    #[test]
    fn window_picks_lead_back_to_where_the_triangle_is() {
        let world_from_view = looking_at(Vec3::new(3.0, 2.0, 7.0), Vec3::new(0.0, 1.0, 0.0));
        let size_px = [1600, 900];
        for projection in [
            Projection::Perspective { fov_y: 0.8, near: 0.1 },
            Projection::Orthographic { half_height: 3.0, near: 0.1, far: 50.0 },
        ] {
            let view = CameraView { world_from_view, projection };
            for at in [Vec3::new(0.0, 1.0, 0.0), Vec3::new(1.0, 1.5, -2.0), Vec3::new(-1.0, 0.2, 3.0)] {
                let (px, depth) = seen(&view, size_px, at);
                let position = unproject(&view, size_px, px, depth).expect("not the background");
                assert!(position.distance(at) < 0.02, "{position} instead of {at}");
            }
            assert_eq!(unproject(&view, size_px, [3, 4], 0.0), None, "depth 0 is the background");
        }
    }
}
