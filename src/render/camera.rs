//! A camera's matrices. Depth is reversed: 1 at the near plane, 0 at infinity, so that precision lasts to the horizon.

use glam::{Mat3A, Mat4, Vec2, Vec3, Vec4};

use crate::scene::Projection;
use crate::scene::camera::CameraView;

/// What shaders need of a camera, for a picture of some size.
pub struct CameraMatrices {
    /// From positions relative to the camera, world axes.
    pub clip_from_relative: Mat4,
    /// World axes of the camera: right, up, backward.
    pub axes: [Vec3; 3],
    /// World space.
    pub position: Vec3,
    /// Inward planes in relative space.
    pub planes: [Vec4; 6],
    /// Half the view's width and height at distance 1 (anywhere, if orthographic).
    pub half_extent: Vec2,
    /// Pixels a metre covers at distance 1 (anywhere, if orthographic).
    pub px_per_metre: f32,
    pub near: f32,
    pub is_orthographic: bool,
    /// How far the jitter shifts the picture, in normalized device coordinates.
    pub jitter_ndc: Vec2,
}

impl CameraMatrices {
    /// `jitter_px` shifts the picture by a fraction of a pixel, right and down.
    pub fn new(view: &CameraView, size_px: [u32; 2], jitter_px: Vec2) -> Self {
        let rotation = view.world_from_view.matrix3;
        let aspect = size_px[0] as f32 / size_px[1] as f32;
        let (clip_from_view, half_extent, near, is_orthographic) = match view.projection {
            Projection::Perspective { fov_y, near } => {
                let half_y = (0.5 * fov_y).tan();
                let half = Vec2::new(half_y * aspect, half_y);
                (perspective(half, near), half, near, false)
            }
            Projection::Orthographic { half_height, near, far } => {
                let half = Vec2::new(half_height * aspect, half_height);
                (orthographic(half, near, far), half, near.max(1e-6), true)
            }
        };
        let jitter_ndc = 2.0 * jitter_px / Vec2::new(size_px[0] as f32, -(size_px[1] as f32));
        let jitter = Mat4::from_translation(jitter_ndc.extend(0.0));
        let view_from_relative = Mat4::from_mat3(Mat3A::transpose(&rotation).into());
        let clip_from_relative = jitter * clip_from_view * view_from_relative;
        Self {
            planes: planes(&clip_from_relative, is_orthographic),
            clip_from_relative,
            axes: [rotation.x_axis.into(), rotation.y_axis.into(), rotation.z_axis.into()],
            position: view.world_from_view.translation.into(),
            half_extent,
            px_per_metre: size_px[1] as f32 / (2.0 * half_extent.y),
            near,
            is_orthographic,
            jitter_ndc,
        }
    }
}

fn perspective(half: Vec2, near: f32) -> Mat4 {
    Mat4::from_cols(
        Vec4::new(1.0 / half.x, 0.0, 0.0, 0.0),
        Vec4::new(0.0, 1.0 / half.y, 0.0, 0.0),
        Vec4::new(0.0, 0.0, 0.0, -1.0),
        Vec4::new(0.0, 0.0, near, 0.0),
    )
}

fn orthographic(half: Vec2, near: f32, far: f32) -> Mat4 {
    let depth = far - near;
    Mat4::from_cols(
        Vec4::new(1.0 / half.x, 0.0, 0.0, 0.0),
        Vec4::new(0.0, 1.0 / half.y, 0.0, 0.0),
        Vec4::new(0.0, 0.0, 1.0 / depth, 0.0),
        Vec4::new(0.0, 0.0, far / depth, 1.0),
    )
}

/// Left, right, bottom, top, near, far (Gribb & Hartmann 2001), normals of unit length. A far plane at infinity holds all.
fn planes(clip_from_relative: &Mat4, is_orthographic: bool) -> [Vec4; 6] {
    let row = |i| clip_from_relative.row(i);
    let far = if is_orthographic { row(2) } else { Vec4::W };
    [row(3) + row(0), row(3) - row(0), row(3) + row(1), row(3) - row(1), row(3) - row(2), far].map(|plane| {
        let length = plane.truncate().length();
        if length > 0.0 { plane / length } else { plane }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Affine3A;

    const SIZE: [u32; 2] = [200, 100];

    fn matrices(projection: Projection) -> CameraMatrices {
        let world_from_view = crate::scene::camera::looking_at(Vec3::new(5.0, 1.0, 2.0), Vec3::new(6.0, 1.0, 2.0));
        CameraMatrices::new(&CameraView { world_from_view, projection }, SIZE, Vec2::ZERO)
    }

    fn is_inside(camera: &CameraMatrices, relative: Vec3) -> bool {
        camera.planes.iter().all(|plane| plane.dot(relative.extend(1.0)) >= 0.0)
    }

    #[test]
    fn depth_is_one_at_the_near_plane_and_falls_to_zero() {
        let camera = matrices(Projection::Perspective { fov_y: 1.0, near: 0.1 });
        let depth = |x: f32| {
            let clip = camera.clip_from_relative * Vec4::new(x, 0.0, 0.0, 1.0);
            clip.z / clip.w
        };
        assert!((depth(0.1) - 1.0).abs() < 1e-6 && depth(1e6) < 1e-6 && depth(1e6) > 0.0);
    }

    #[test]
    fn what_lies_to_the_right_appears_on_the_right_and_up_is_up() {
        let camera = matrices(Projection::Perspective { fov_y: 1.0, near: 0.1 });
        // Looking along +X, +Z is to the right.
        let clip = camera.clip_from_relative * Vec4::new(10.0, 1.0, 2.0, 1.0);
        assert!(clip.x / clip.w > 0.0 && clip.y / clip.w > 0.0);
    }

    #[test]
    fn planes_hold_what_is_seen_and_nothing_else() {
        for projection in [
            Projection::Perspective { fov_y: 1.0, near: 0.1 },
            Projection::Orthographic { half_height: 2.0, near: 0.1, far: 50.0 },
        ] {
            let camera = matrices(projection);
            assert!(is_inside(&camera, Vec3::new(10.0, 0.0, 0.0)));
            assert!(is_inside(&camera, Vec3::new(10.0, 1.9, -3.0)));
            assert!(!is_inside(&camera, Vec3::new(-1.0, 0.0, 0.0)), "behind");
            assert!(!is_inside(&camera, Vec3::new(0.05, 0.0, 0.0)), "before the near plane");
            assert!(!is_inside(&camera, Vec3::new(10.0, 8.0, 0.0)), "above");
            let is_perspective = matches!(projection, Projection::Perspective { .. });
            assert_eq!(is_inside(&camera, Vec3::new(1000.0, 0.0, 0.0)), is_perspective, "far away");
        }
    }

    #[test]
    fn jitter_moves_the_picture_by_pixels() {
        let view = CameraView {
            world_from_view: Affine3A::IDENTITY,
            projection: Projection::Perspective { fov_y: 1.0, near: 0.1 },
        };
        let pixel = |jitter| {
            let camera = CameraMatrices::new(&view, SIZE, jitter);
            let clip = camera.clip_from_relative * Vec4::new(0.3, 0.2, -3.0, 1.0);
            (Vec2::new(clip.x, -clip.y) / clip.w * 0.5 + 0.5) * Vec2::new(200.0, 100.0)
        };
        let moved = pixel(Vec2::new(0.25, -0.5)) - pixel(Vec2::ZERO);
        assert!(moved.distance(Vec2::new(0.25, -0.5)) < 1e-4, "{moved}");
    }
}
