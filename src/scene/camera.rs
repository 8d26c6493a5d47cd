//! Cameras by name, their paths, and the one that frames a model.

use bevy_ecs::prelude::*;
use glam::{Affine3A, Mat3A, Vec3, Vec3A};

use super::assets::Aabb;
use super::components::Projection;
use super::hierarchy::Hierarchy;
use super::motion::FrameIdx;
use super::spline::{catmull_rom, facing};

/// What a camera sees: all that the renderer needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraView {
    /// Rigid: looks along its -Z, +Y up.
    pub world_from_view: Affine3A,
    /// How depth becomes size.
    pub projection: Projection,
}

/// A camera of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCamera {
    /// Unique within the scene.
    pub name: String,
    /// Where it hangs.
    pub slot: u32,
    /// How depth becomes size.
    pub projection: Projection,
    /// Its keys, if it moves along a path.
    pub path: Vec<CameraKey>,
}

/// Where a camera is at one frame, and what it looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// Frame index.
    pub frame: u32,
    /// World space, metres.
    pub position: Vec3,
    /// World space, metres; not at the position.
    pub target: Vec3,
}

/// The scene's cameras, at least one, sorted by name but for a bare glTF file's.
#[derive(Resource, Clone, Debug, Default)]
pub struct Cameras {
    /// All of them.
    pub list: Vec<NamedCamera>,
    /// Index of the one in use.
    pub active: usize,
    /// Index of the one that the window and `capture` start with.
    pub default: usize,
    /// Index of the one that `bench` uses.
    pub bench: usize,
}

/// Moves the camera in use along its path, if it has one.
pub fn move_camera(frame_idx: Res<FrameIdx>, cameras: Res<Cameras>, mut hierarchy: ResMut<Hierarchy>) {
    if let Some(camera) = cameras.list.get(cameras.active)
        && !camera.path.is_empty()
    {
        hierarchy.set_local(camera.slot, view_at(&camera.path, frame_idx.0));
    }
}

/// `world_from_view` at a frame: Catmull-Rom through the keys (ascending by frame, at least one), clamped outside.
pub fn view_at(keys: &[CameraKey], frame: u32) -> Affine3A {
    let after = keys.partition_point(|key| key.frame <= frame);
    let (position, target) = if after == 0 || after == keys.len() {
        let key = &keys[after.saturating_sub(1)];
        (key.position, key.target)
    } else {
        // The frames are the knots, so that uneven keys make no jerks. Beyond the ends a key is mirrored.
        let (k1, k2) = (keys[after - 1], keys[after]);
        let step = (k2.frame - k1.frame) as f32;
        let beyond = |knot: f32, end: CameraKey, inner: CameraKey| {
            (knot, 2.0 * end.position - inner.position, 2.0 * end.target - inner.target)
        };
        let from_k1 = |key: CameraKey| (key.frame as f32 - k1.frame as f32, key.position, key.target);
        let first = if after >= 2 { from_k1(keys[after - 2]) } else { beyond(-step, k1, k2) };
        let last = keys.get(after + 1).map_or_else(|| beyond(2.0 * step, k2, k1), |&key| from_k1(key));
        let knots = [first.0, 0.0, step, last.0];
        let t = (frame - k1.frame) as f32;
        (
            catmull_rom([first.1, k1.position, k2.position, last.1], knots, t),
            catmull_rom([first.2, k1.target, k2.target, last.2], knots, t),
        )
    };
    looking_at(position, target)
}

/// `world_from_view` of an eye at `position` that looks at `target`.
pub fn looking_at(position: Vec3, target: Vec3) -> Affine3A {
    Affine3A { matrix3: facing(target - position), translation: position.into() }
}

/// A camera's slot can hang below scaled or mirrored nodes; a view is rigid.
pub fn rigid(world_from_local: &Affine3A) -> Affine3A {
    let matrix = world_from_local.matrix3;
    let back = matrix.z_axis.normalize_or(Vec3A::Z);
    let right = matrix.y_axis.cross(back).normalize_or(facing((-back).into()).x_axis);
    Affine3A { matrix3: Mat3A::from_cols(right, back.cross(right), back), translation: world_from_local.translation }
}

/// Vertical field of view of the framing camera.
const FRAMING_FOV_Y: f32 = 40.0 * std::f32::consts::PI / 180.0;
/// Room around what is framed.
const FRAMING_MARGIN: f32 = 1.05;
/// From the middle towards the framing camera: front, right and above.
const FRAMING_DIRECTION: Vec3 = Vec3::new(0.62, 0.42, 1.0);

/// A three-quarter view that `bounds` just fits into at this aspect (width by height).
pub fn framing(bounds: &Aabb, aspect: f32) -> CameraView {
    let center = bounds.center();
    let radius = if bounds.radius() > 0.0 { bounds.radius() } else { 1.0 };
    let matrix3 = facing(-FRAMING_DIRECTION);
    let tan_y = (0.5 * FRAMING_FOV_Y).tan();
    let tan_x = tan_y * if aspect.is_finite() && aspect > 0.0 { aspect } else { 1.0 };
    let mut distance = radius * 1e-3;
    for corner in 0..8 {
        let pick = |bit: u32, lo: f32, hi: f32| if corner >> bit & 1 == 0 { lo } else { hi };
        let corner = Vec3::new(
            pick(0, bounds.min.x, bounds.max.x),
            pick(1, bounds.min.y, bounds.max.y),
            pick(2, bounds.min.z, bounds.max.z),
        );
        let from_center = if bounds.is_empty() { Vec3::ZERO } else { corner - center };
        let in_view = matrix3.transpose() * Vec3A::from(from_center);
        distance = distance.max(in_view.z + FRAMING_MARGIN * (in_view.x.abs() / tan_x).max(in_view.y.abs() / tan_y));
    }
    if bounds.is_empty() || bounds.radius() == 0.0 {
        distance = 3.0 * radius;
    }
    CameraView {
        world_from_view: Affine3A { matrix3, translation: Vec3A::from(center) + matrix3.z_axis * distance },
        projection: Projection::Perspective { fov_y: FRAMING_FOV_Y, near: (0.01 * distance).max(1e-6) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_holds_every_corner_and_wastes_little() {
        for (size, aspect) in [(Vec3::ONE, 1.6), (Vec3::new(9.0, 0.1, 3.0), 1.0), (Vec3::new(0.01, 4.0, 0.01), 2.0)] {
            let bounds = Aabb { min: Vec3::new(3.0, -1.0, 5.0), max: Vec3::new(3.0, -1.0, 5.0) + size };
            let view = framing(&bounds, aspect);
            let view_from_world = view.world_from_view.inverse();
            let tan_y = (0.5 * FRAMING_FOV_Y).tan();
            let mut widest: f32 = 0.0;
            for corner in 0..8 {
                let pick = |bit: u32, v: f32, s: f32| if corner >> bit & 1 == 0 { v } else { v + s };
                let world = Vec3::new(pick(0, 3.0, size.x), pick(1, -1.0, size.y), pick(2, 5.0, size.z));
                let p = view_from_world.transform_point3(world);
                assert!(p.z < 0.0);
                widest = widest.max(p.y.abs() / (-p.z * tan_y)).max(p.x.abs() / (-p.z * tan_y * aspect));
            }
            assert!((0.8..=1.0).contains(&widest), "{widest}");
        }
    }

    #[test]
    fn camera_paths_go_through_their_keys_and_stay_at_their_ends() {
        let key =
            |frame, x: f32| CameraKey { frame, position: Vec3::new(x, 1.0, 0.0), target: Vec3::new(x, 1.0, -5.0) };
        let keys = [key(10, 0.0), key(20, 4.0), key(50, 5.0)];
        for (frame, x) in [(0, 0.0), (10, 0.0), (20, 4.0), (50, 5.0), (900, 5.0)] {
            assert!((view_at(&keys, frame).translation.x - x).abs() < 1e-5, "frame {frame}");
        }
        let between = view_at(&keys, 15).translation.x;
        assert!((0.5..3.5).contains(&between));
    }

    #[test]
    fn a_mirrored_scaled_slot_still_gives_a_rigid_view() {
        let slot = Affine3A::from_scale(Vec3::new(-2.0, 3.0, 0.5)) * Affine3A::from_rotation_y(0.7);
        let view = rigid(&slot);
        assert!((view.matrix3.determinant() - 1.0).abs() < 1e-5);
    }
}
