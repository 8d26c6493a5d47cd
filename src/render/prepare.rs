//! What changed since the last frame, as bytes: the frame's uniform and one compact list of moved transforms.

use glam::{Vec2, Vec3};

use super::camera::CameraMatrices;
use super::gpu_scene::GpuScene;
use super::layout::{Frame, MovedTransform, RAY_NONE};
use super::sky;
use super::{RenderOptions, Tonemap};
use crate::scene::Scene;

/// Pixels of geometric error that a coarser level of detail may show.
const LOD_ERROR_PX: f32 = 0.6;
/// Instances smaller than this across are not drawn.
const SMALLEST_PX: f32 = 0.5;

/// Made anew for each frame in buffers that are kept.
pub struct Prepared {
    pub frame: Frame,
    pub moved: Vec<MovedTransform>,
    sun_direction: Vec3,
    sun_illuminance: Vec3,
    exposure: f32,
    scene_radius: f32,
}

impl Prepared {
    /// For a scene whose sun and exposure stay as they are.
    pub fn new(scene: &Scene, gpu_scene: &GpuScene, options: &RenderOptions) -> Self {
        let sun = scene.sun();
        let ev100 = options.exposure_ev100.or(scene.exposure_ev100()).unwrap_or_else(|| sky::metered_ev100(&sun));
        Self {
            frame: Frame::default(),
            moved: Vec::with_capacity(gpu_scene.counts.n_transforms as usize),
            sun_direction: sun.direction(),
            sun_illuminance: sky::sun_illuminance(&sun),
            // Saturation-based sensitivity (ISO 12232): white at 1.2 · 2^EV100 nits.
            exposure: 1.0 / (1.2 * ev100.exp2()),
            scene_radius: scene.bounds().radius(),
        }
    }

    /// Collects what moved in the scene's last update.
    pub fn update(
        &mut self,
        scene: &Scene,
        gpu_scene: &GpuScene,
        size_px: [u32; 2],
        jitter_px: Vec2,
        tonemap: Tonemap,
        frame_idx: u32,
    ) {
        self.collect_moved(scene, gpu_scene);
        let camera = CameraMatrices::new(&scene.camera_view(), size_px, jitter_px);
        let axis = |axis: Vec3| axis.extend(0.0).into();
        let cluster_near = camera.near.max(self.scene_radius * 1e-3);
        self.frame = Frame {
            clip_from_relative: camera.clip_from_relative.to_cols_array_2d(),
            camera_right: axis(camera.axes[0]),
            camera_up: axis(camera.axes[1]),
            camera_backward: axis(camera.axes[2]),
            camera_position: camera.position.into(),
            is_orthographic: camera.is_orthographic.into(),
            planes: camera.planes.map(Into::into),
            size_px,
            half_extent: camera.half_extent.into(),
            sun_direction: self.sun_direction.into(),
            px_per_metre: camera.px_per_metre,
            sun_illuminance: self.sun_illuminance.into(),
            // The rays' own, which they fill in.
            sun_x: [0.0; 3],
            sun_y: [0.0; 3],
            sun_radius: 0.0,
            columns_first_tile: [0; 2],
            n_column_tiles: [0; 2],
            column_tiles_per_metre: 0.0,
            column_units_per_metre: 0.0,
            columns_top: 0.0,
            columns_bottom: 0.0,
            mover_map_low: [0.0; 2],
            mover_cells_per_metre: [0.0; 2],
            mover_map_reach: 0.0,
            _pad: [0.0; 3],
            sun_pattern_shift: sun_pattern_shift(frame_idx, jitter_px),
            exposure: self.exposure,
            cluster_near,
            cluster_far: (2.0 * self.scene_radius).max(2.0 * cluster_near),
            near: camera.near,
            frame_idx,
            n_lights: gpu_scene.counts.n_lights,
            n_light_words: gpu_scene.n_light_words(),
            n_moved: self.moved.len() as u32,
            n_translucent: gpu_scene.counts.n_translucent,
            lod_error_px: LOD_ERROR_PX,
            smallest_px: SMALLEST_PX,
            tonemap: tonemap as u32,
            triangle_block_bits: gpu_scene.triangle_block_bits,
            ray_static_root: RAY_NONE,
            jitter_ndc: camera.jitter_ndc.into(),
            n_ray_instances: 0,
        };
    }

    fn collect_moved(&mut self, scene: &Scene, gpu_scene: &GpuScene) {
        let hierarchy = scene.hierarchy();
        self.moved.clear();
        for &slot in hierarchy.world_moved() {
            let place = gpu_scene.transform_of_slot[slot as usize];
            if place != u32::MAX {
                self.moved.push(MovedTransform { slot: place, transform: hierarchy.world(slot).into() });
            }
        }
    }
}

/// By how much a frame shifts the pattern of points on the sun's disc, two times unorm 16. Frames follow a sequence that fills the square
/// evenly (Roberts 2018). Pictures of one frame that are shifted by parts of a pixel, to be averaged, get points of their own: the factors,
/// odd and unlike, keep 64 positions of a lattice in a pixel 64 different points of the disc, and those apart from their positions.
fn sun_pattern_shift(frame_idx: u32, jitter_px: Vec2) -> u32 {
    let shift = |step: f64, jitter: f32, factor: f64| {
        let shift = (f64::from(frame_idx) * step + f64::from(jitter) * factor).rem_euclid(1.0);
        (shift * 65_536.0) as u32 & 0xffff
    };
    shift(0.754_877_666_246_693, jitter_px.x, 25.0) | shift(0.569_840_290_998_053, jitter_px.y, 11.0) << 16
}
