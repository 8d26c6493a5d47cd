//! Rays against a brute-force tracer, and what shadows must look like.

mod agreement;
mod brute_force;
mod column_map;
mod limits;
mod scene_folder;
mod shadows;
mod soft;
mod top_level;
mod tracer;

use std::path::Path;

use glam::Vec3;

use super::*;
use crate::gpu::{GpuOptions, Readback};
use crate::render::{RenderOptions, Renderer, Tonemap};
use crate::scene::{LoadOptions, Scene};

use brute_force::{BruteForce, compare, random_rays};
use scene_folder::SceneFolder;
use tracer::{TestRay, Tracer};

const LIT: u8 = 255;
const DARK: u8 = 0;

fn gpu() -> Gpu {
    let options = GpuOptions { is_validating: true, ..Default::default() };
    Gpu::open(&options).expect("the tests need a Vulkan device; script/test installs a software one")
}

fn load(path: &Path) -> Scene {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let options = LoadOptions { clock_ns: || 0, aspect: 1.0 };
    let mut scene = Scene::load(&path.to_string_lossy(), &scenes, &options).expect("a scene that loads");
    // The sky is nothing that rays run into: the smallest is soonest baked.
    for mut sun in scene.world.query::<&mut Sun>().iter_mut(&mut scene.world) {
        sun.sky_px = 32;
    }
    scene
}

/// A deterministic number from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn within(&mut self, low: Vec3, high: Vec3) -> Vec3 {
        low + (high - low) * Vec3::new(self.next(), self.next(), self.next())
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.within(Vec3::NEG_ONE, Vec3::ONE);
            if (0.01..=1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }
}

/// A picture's bytes of the sun: one for each of the four samples of each pixel.
fn sun_bytes(scene: &mut Scene, size_px: [u32; 2], n_samples: u32, rays: RayMode) -> Vec<[u8; 4]> {
    sun_bytes_of_frame(scene, size_px, n_samples, rays, 0, None)
}

fn sun_bytes_of_frame(
    scene: &mut Scene,
    size_px: [u32; 2],
    n_samples: u32,
    rays: RayMode,
    frame_idx: u32,
    ray_backend: Option<RayBackend>,
) -> Vec<[u8; 4]> {
    sun_bytes_of_frames(scene, size_px, n_samples, rays, &[frame_idx], ray_backend).concat()
}

/// Of several frames that one renderer draws: pipelines take a software adapter longer than small pictures do.
fn sun_bytes_of_frames(
    scene: &mut Scene,
    size_px: [u32; 2],
    n_samples: u32,
    rays: RayMode,
    frames: &[u32],
    ray_backend: Option<RayBackend>,
) -> Vec<Vec<[u8; 4]>> {
    let gpu = gpu();
    let options = RenderOptions {
        size_px,
        n_samples,
        tonemap: Tonemap::Agx,
        exposure_ev100: None,
        rays,
        ray_backend,
        has_column_map: true,
        n_frames_in_flight: 1,
    };
    let mut renderer = Renderer::new(&gpu, scene, &options).expect("a small scene");
    let mut draw = |&frame_idx: &u32| {
        renderer.prepare_frame(scene, frame_idx);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.encode(&mut encoder).expect("the upload ring has room");
        let readback = Readback::new(&gpu, size_px[0], size_px[1]);
        readback.record(&mut encoder, renderer.targets.sun.as_ref().expect("rays").samples.texture());
        gpu.queue.submit([encoder.finish()]);
        let submission = renderer.submitted();
        let bytes = readback.read(&gpu).expect("a picture");
        // Each submission's timestamps are to be read once.
        if let Some(result) = renderer.read_timestamps(submission, &mut Vec::new()) {
            result.expect("the frame has been waited on");
        }
        gpu.check_errors().expect("no validation error");
        bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]).collect()
    };
    frames.iter().map(&mut draw).collect()
}
