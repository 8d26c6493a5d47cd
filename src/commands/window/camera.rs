//! The viewer's own camera: pure maths. It takes over whatever view the scene's camera has, so nothing jumps.

use glam::{Affine3A, Mat3A, Quat, Vec2, Vec3, Vec3A};
use praxis::scene::camera::{looking_at, rigid};
use praxis::scene::{CameraView, Projection};

use super::content::Content;

/// Radians of turning for a drag across the window's height.
const TURN_PER_HEIGHT: f32 = 3.0;
/// Radians of looking for a pixel: a mouse's own moves know no window.
const LOOK_PER_PX: f32 = 0.0025;
/// The distance's factor for one notch of the wheel towards the target.
const DOLLY_PER_NOTCH: f32 = 0.87;
/// The fly speed's factor for one notch.
const SPEED_PER_NOTCH: f32 = 1.25;
/// Fly speed at first: the lesser of so many scene radii and so many distances to the target a second.
const RADII_PER_SECOND: f32 = 0.2;
const DISTANCES_PER_SECOND: f32 = 0.4;
/// Fly speed's factor with shift.
const FAST: f32 = 5.0;
/// Least world-up part of the camera's up axis: keeps orbits and looks from tipping over the pole.
const LEAST_UP: f32 = 0.03;
/// How long turning to what was clicked takes, in seconds.
const FOCUS_S: f32 = 0.25;
/// The nearest a target may come, in scene radii.
const NEAREST_RADII: f32 = 1e-3;
/// The farthest, in scene radii.
const FARTHEST_RADII: f32 = 100.0;

/// Where fly keys push: -1, 0 or 1 an axis of the camera.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// Right.
    pub right: f32,
    /// World up.
    pub up: f32,
    /// Into the picture.
    pub forward: f32,
    /// Whether to hurry.
    pub is_fast: bool,
}

impl Push {
    /// Whether it pushes anywhere.
    pub fn is_any(&self) -> bool {
        self.right != 0.0 || self.up != 0.0 || self.forward != 0.0
    }
}

/// A rigid camera with a point before it that orbits turn about.
#[derive(Clone, Debug)]
pub struct ViewerCamera {
    world_from_view: Affine3A,
    projection: Projection,
    target_distance: f32,
    scene_radius: f32,
    speed: f32,
    turning: Option<Turning>,
}

/// On the way to look at something.
#[derive(Clone, Copy, Debug)]
struct Turning {
    from: Quat,
    to: Quat,
    elapsed_s: f32,
}

impl ViewerCamera {
    /// Takes over `view` of `content`; the target is what the view looks at.
    pub fn new(view: &CameraView, content: &Content) -> Self {
        let scene_radius = content.radius();
        let world_from_view = rigid(&finite_or_identity(view.world_from_view));
        let backward: Vec3 = world_from_view.matrix3.z_axis.into();
        let eye: Vec3 = world_from_view.translation.into();
        let target_distance = content.distance(eye, -backward);
        let speed = (RADII_PER_SECOND * scene_radius).min(DISTANCES_PER_SECOND * target_distance);
        Self { world_from_view, projection: view.projection, target_distance, scene_radius, speed, turning: None }
    }

    /// What it sees.
    pub fn view(&self) -> CameraView {
        let projection = match self.projection {
            // Close up, the scene camera's near plane would cut into what is looked at.
            Projection::Perspective { fov_y, near } => {
                Projection::Perspective { fov_y, near: near.min(0.1 * self.target_distance) }
            }
            orthographic => orthographic,
        };
        CameraView { world_from_view: self.world_from_view, projection }
    }

    /// Makes `point` the target: the camera stays where it is and [`Self::advance`] turns it there. Nothing happens if it is
    /// right above, below or at the camera.
    pub fn focus(&mut self, point: Vec3) {
        let eye: Vec3 = self.world_from_view.translation.into();
        let distance = eye.distance(point);
        let forward = (point - eye) / distance;
        if !(forward.is_finite() && forward.y.abs() < (1.0 - LEAST_UP * LEAST_UP).sqrt()) {
            return;
        }
        self.target_distance = distance.clamp(NEAREST_RADII * self.scene_radius, FARTHEST_RADII * self.scene_radius);
        self.turning = Some(Turning {
            from: Quat::from_mat3a(&self.world_from_view.matrix3),
            to: Quat::from_mat3a(&looking_at(eye, point).matrix3),
            elapsed_s: 0.0,
        });
    }

    /// Turns on towards what was focused on. Returns whether there is more to turn.
    pub fn advance(&mut self, elapsed_s: f32) -> bool {
        let Some(turning) = &mut self.turning else { return false };
        turning.elapsed_s += elapsed_s.max(0.0);
        let share = (turning.elapsed_s / FOCUS_S).min(1.0);
        // Starts and ends gently (smoothstep).
        let axes = Mat3A::from_quat(turning.from.slerp(turning.to, share * share * (3.0 - 2.0 * share)));
        if share >= 1.0 {
            self.turning = None;
        }
        self.set_axes(axes);
        self.turning.is_some()
    }

    /// Whether it turns on its own.
    pub fn is_turning(&self) -> bool {
        self.turning.is_some()
    }

    /// Turns about the target by a drag of `drag_px` in a window `height_px` high: what is dragged follows.
    pub fn orbit(&mut self, drag_px: Vec2, height_px: f32) {
        let target = self.target();
        self.turn(-drag_px * (TURN_PER_HEIGHT / height_px.max(1.0)));
        self.world_from_view.translation = target + self.backward() * self.target_distance;
    }

    /// Turns in place by a move of the mouse of `move_px`.
    pub fn look(&mut self, move_px: Vec2) {
        self.turn(-move_px * LOOK_PER_PX);
    }

    /// Shifts sideways so that what lies at the target's distance follows a drag of `drag_px`.
    pub fn pan(&mut self, drag_px: Vec2, height_px: f32) {
        let metres_per_px = 2.0 * self.half_height() / height_px.max(1.0);
        let axes = self.world_from_view.matrix3;
        let shift = axes.y_axis * drag_px.y - axes.x_axis * drag_px.x;
        self.shift(shift * metres_per_px);
    }

    /// Comes closer to the target by notches of the wheel, or backs away if negative.
    pub fn dolly(&mut self, n_notches: f32) {
        let nearest = NEAREST_RADII * self.scene_radius;
        let farthest = FARTHEST_RADII * self.scene_radius;
        let factor = DOLLY_PER_NOTCH.powf(n_notches.clamp(-50.0, 50.0));
        let distance = (self.target_distance * factor).clamp(nearest, farthest);
        if let Projection::Orthographic { half_height, .. } = &mut self.projection {
            // Coming closer changes nothing there: the picture's extent does.
            *half_height = (*half_height * factor).clamp(nearest, farthest);
            return;
        }
        self.shift(self.backward() * (distance - self.target_distance));
        self.target_distance = distance;
    }

    /// Flies for `elapsed_s` seconds.
    pub fn fly(&mut self, push: Push, elapsed_s: f32) {
        let axes = self.world_from_view.matrix3;
        let direction = axes.x_axis * push.right + Vec3A::Y * push.up - axes.z_axis * push.forward;
        let speed = self.speed * if push.is_fast { FAST } else { 1.0 };
        self.shift(direction.normalize_or_zero() * (speed * elapsed_s));
    }

    /// Makes flying faster by notches of the wheel, or slower if negative.
    pub fn change_speed(&mut self, n_notches: f32) {
        let factor = SPEED_PER_NOTCH.powf(n_notches.clamp(-50.0, 50.0));
        self.speed = (self.speed * factor).clamp(1e-3 * self.scene_radius, 10.0 * self.scene_radius);
    }

    /// Metres a second, without hurry.
    pub fn speed(&self) -> f32 {
        self.speed
    }

    /// How far what orbits turn about is, in metres.
    pub fn target_distance(&self) -> f32 {
        self.target_distance
    }

    /// What orbits turn about.
    fn target(&self) -> Vec3A {
        self.world_from_view.translation - self.backward() * self.target_distance
    }

    fn backward(&self) -> Vec3A {
        self.world_from_view.matrix3.z_axis
    }

    /// Half the picture's height at the target's distance, in metres.
    fn half_height(&self) -> f32 {
        match self.projection {
            Projection::Perspective { fov_y, .. } => self.target_distance * (0.5 * fov_y).tan(),
            Projection::Orthographic { half_height, .. } => half_height,
        }
    }

    /// Yaw about the world's up, then pitch about the camera's right, in radians.
    fn turn(&mut self, yaw_pitch: Vec2) {
        self.turning = None;
        let current = self.world_from_view.matrix3;
        let yawed = Mat3A::from_rotation_y(yaw_pitch.x) * current;
        let turned = yawed * Mat3A::from_rotation_x(yaw_pitch.y);
        // A camera that starts upside down may stay so, or come upright.
        let goes_over = turned.y_axis.y < LEAST_UP && turned.y_axis.y < current.y_axis.y;
        self.set_axes(if goes_over { yawed } else { turned });
    }

    fn set_axes(&mut self, matrix3: Mat3A) {
        let translation = self.world_from_view.translation;
        // Many small turns add up rounding; `rigid` makes the axes right-angled again.
        self.world_from_view = rigid(&Affine3A { matrix3, translation });
    }

    /// Moves, but never to where positions stop being numbers.
    fn shift(&mut self, by: Vec3A) {
        let moved = self.world_from_view.translation + by;
        if moved.is_finite() {
            self.world_from_view.translation = moved;
        }
    }
}

/// Some view, for a camera whose own is of no use.
fn finite_or_identity(world_from_view: Affine3A) -> Affine3A {
    if world_from_view.is_finite() { world_from_view } else { looking_at(Vec3::Z, Vec3::ZERO) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use praxis::scene::assets::Aabb;

    const HEIGHT_PX: f32 = 720.0;

    fn cube() -> Content {
        Content::from_boxes([Aabb { min: Vec3::NEG_ONE, max: Vec3::ONE }])
    }

    fn camera() -> ViewerCamera {
        let view = CameraView {
            world_from_view: looking_at(Vec3::new(0.0, 1.0, 5.0), Vec3::ZERO),
            projection: Projection::Perspective { fov_y: 0.8, near: 0.1 },
        };
        ViewerCamera::new(&view, &cube())
    }

    fn assert_rigid(camera: &ViewerCamera) {
        let axes = camera.world_from_view.matrix3;
        assert!((axes.transpose() * axes).abs_diff_eq(Mat3A::IDENTITY, 1e-4), "{axes}");
        assert!((axes.determinant() - 1.0).abs() < 1e-4);
    }

    #[test]
    fn window_camera_takes_the_view_over_as_it_is() {
        let view = CameraView {
            world_from_view: looking_at(Vec3::new(3.0, 2.0, 4.0), Vec3::ZERO) * Affine3A::from_rotation_z(0.4),
            projection: Projection::Perspective { fov_y: 0.8, near: 0.01 },
        };
        let camera = ViewerCamera::new(&view, &cube());
        assert!(camera.view().world_from_view.abs_diff_eq(view.world_from_view, 1e-5), "even a rolled one");
        assert!(Vec3::from(camera.target()).length() < 1e-4, "the middle is the target");
    }

    #[test]
    fn window_orbit_keeps_target_and_distance() {
        let mut camera = camera();
        let (target, distance) = (camera.target(), camera.world_from_view.translation.length());
        for step in 0..500 {
            camera.orbit(Vec2::new(37.0, if step % 70 < 40 { 23.0 } else { -31.0 }), HEIGHT_PX);
            assert!(camera.target().distance(target) < 1e-3);
            assert!((camera.world_from_view.translation.length() - distance).abs() < 1e-3);
        }
        assert_rigid(&camera);
    }

    #[test]
    fn window_orbit_follows_the_drag() {
        let mut dragged = camera();
        dragged.orbit(Vec2::new(100.0, 0.0), HEIGHT_PX);
        assert!(dragged.world_from_view.translation.x < 0.0, "to the right: the eye goes left, the content right");
        let mut dragged = camera();
        dragged.orbit(Vec2::new(0.0, 100.0), HEIGHT_PX);
        assert!(dragged.world_from_view.translation.y > 1.0, "down: the eye rises");
    }

    #[test]
    fn window_orbit_does_not_tip_over_the_poles() {
        for direction in [-1.0, 1.0] {
            let mut camera = camera();
            for _ in 0..200 {
                camera.orbit(Vec2::new(5.0, 40.0 * direction), HEIGHT_PX);
                assert!(camera.world_from_view.matrix3.y_axis.y > 0.0);
            }
            assert!(camera.world_from_view.matrix3.y_axis.y < 0.3, "and comes near them");
        }
    }

    #[test]
    fn window_pan_moves_the_target_with_the_mouse() {
        let mut camera = camera();
        let before = camera.view().world_from_view.inverse().transform_point3a(camera.target());
        let held = camera.target();
        camera.pan(Vec2::new(72.0, -36.0), HEIGHT_PX);
        let after = camera.view().world_from_view.inverse().transform_point3a(held);
        let metres_per_px = 2.0 * camera.half_height() / HEIGHT_PX;
        let moved_px = (after - before) / metres_per_px;
        assert!((moved_px.x - 72.0).abs() < 0.01 && (moved_px.y - 36.0).abs() < 0.01 && moved_px.z.abs() < 0.01);
    }

    #[test]
    fn window_dolly_comes_closer_and_stays_within_bounds() {
        let mut camera = camera();
        let target = camera.target();
        let before = camera.target_distance;
        camera.dolly(1.0);
        assert!((camera.target_distance / before - DOLLY_PER_NOTCH).abs() < 1e-4);
        for n_notches in [1e9, f32::MIN, 40.0, 40.0, 40.0] {
            camera.dolly(n_notches);
            assert!(camera.target_distance > 0.0 && camera.world_from_view.is_finite());
            assert!(camera.target().distance(target) < 1e-2, "{}", camera.target());
        }
        let Projection::Perspective { near, .. } = camera.view().projection else { panic!("a perspective") };
        assert!(near < camera.target_distance, "the near plane must not cut the target off");
    }

    #[test]
    fn window_dolly_of_an_orthographic_camera_changes_its_extent() {
        let view = CameraView {
            world_from_view: looking_at(Vec3::new(0.0, 0.0, 5.0), Vec3::ZERO),
            projection: Projection::Orthographic { half_height: 2.0, near: 0.1, far: 50.0 },
        };
        let mut camera = ViewerCamera::new(&view, &cube());
        camera.dolly(2.0);
        let Projection::Orthographic { half_height, .. } = camera.view().projection else { panic!("orthographic") };
        assert!((half_height - 2.0 * DOLLY_PER_NOTCH * DOLLY_PER_NOTCH).abs() < 1e-4);
        assert_eq!(camera.world_from_view.translation, view.world_from_view.translation);
    }

    #[test]
    fn window_flying_goes_where_it_is_pushed_at_an_even_speed() {
        let mut camera = camera();
        let start = camera.world_from_view.translation;
        camera.fly(Push { forward: 1.0, right: 1.0, ..Push::default() }, 2.0);
        let moved = camera.world_from_view.translation - start;
        assert!((moved.length() - 2.0 * camera.speed()).abs() < 1e-4, "diagonals are no faster");
        assert!(moved.x > 0.0 && moved.z < 0.0);

        let start = camera.world_from_view.translation;
        camera.fly(Push { up: -1.0, is_fast: true, ..Push::default() }, 1.0);
        let moved = camera.world_from_view.translation - start;
        assert!(moved.abs_diff_eq(Vec3A::new(0.0, -FAST * camera.speed(), 0.0), 1e-4));
        assert!(!Push { is_fast: true, ..Push::default() }.is_any());
    }

    #[test]
    fn window_focus_turns_to_a_point_and_orbits_about_it() {
        let mut camera = camera();
        let eye = camera.world_from_view.translation;
        let point = Vec3::new(2.0, 0.5, -1.0);
        camera.focus(point);
        assert!(camera.is_turning());
        let mut n_steps = 0;
        while camera.advance(0.016) {
            n_steps += 1;
            assert_rigid(&camera);
        }
        assert!((10..20).contains(&n_steps), "a quarter of a second: {n_steps}");
        assert_eq!(camera.world_from_view.translation, eye);
        assert!(Vec3::from(camera.target()).distance(point) < 1e-3, "{}", camera.target());
        camera.orbit(Vec2::new(50.0, 10.0), HEIGHT_PX);
        assert!(Vec3::from(camera.target()).distance(point) < 1e-3);

        // A drag ends the turning; what can't be looked at is left alone.
        camera.focus(Vec3::ZERO);
        camera.look(Vec2::ONE);
        assert!(!camera.is_turning());
        for nowhere in [eye.into(), Vec3::from(camera.world_from_view.translation) + Vec3::Y, Vec3::NAN] {
            let before = camera.world_from_view;
            camera.focus(nowhere);
            camera.advance(1.0);
            assert!(
                camera.world_from_view.is_finite() && (nowhere == Vec3::from(eye) || camera.world_from_view == before)
            );
        }
    }

    #[test]
    fn window_looking_turns_in_place() {
        let mut camera = camera();
        let eye = camera.world_from_view.translation;
        camera.look(Vec2::new(50.0, -20.0));
        assert_eq!(camera.world_from_view.translation, eye);
        assert!(-camera.backward().x > 0.0, "to the right");
        for _ in 0..10_000 {
            camera.look(Vec2::new(3.1, 0.7));
        }
        assert_rigid(&camera);
    }

    #[test]
    fn window_speed_changes_by_notches_and_stays_usable() {
        let mut camera = camera();
        let before = camera.speed();
        camera.change_speed(2.0);
        assert!((camera.speed() / before - SPEED_PER_NOTCH * SPEED_PER_NOTCH).abs() < 1e-4);
        camera.change_speed(-1e9);
        assert!(camera.speed() > 0.0);
    }

    #[test]
    fn window_camera_survives_views_that_are_no_views() {
        let view = CameraView {
            world_from_view: Affine3A::from_scale(Vec3::ZERO) * Affine3A::from_translation(Vec3::NAN),
            projection: Projection::Perspective { fov_y: 0.8, near: 0.1 },
        };
        let mut camera = ViewerCamera::new(&view, &Content::from_boxes([]));
        camera.orbit(Vec2::splat(10.0), 0.0);
        camera.pan(Vec2::splat(1e30), 0.0);
        camera.fly(Push { forward: 1.0, ..Push::default() }, f32::MAX);
        assert!(camera.view().world_from_view.is_finite());
    }
}
