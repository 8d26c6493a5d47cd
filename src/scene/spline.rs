//! Catmull-Rom splines, and paths along them that are walked at constant speed.

use glam::{Affine3A, Mat3A, Vec3, Vec3A};

/// Arc length is tabulated at this many steps a segment; between them the parameter runs evenly, which keeps the speed
/// within 2% even where a long segment follows a short one.
const N_STEPS_PER_SEGMENT: usize = 128;

/// The point at knot value `t` (between `knots[1]` and `knots[2]`) of the Catmull-Rom segment from `points[1]` to
/// `points[2]`, by the pyramid of Barry and Goldman. Knots ascend strictly; their spacing is what keeps a short segment
/// beside a long one from overshooting.
pub fn catmull_rom(points: [Vec3; 4], knots: [f32; 4], t: f32) -> Vec3 {
    let mix = |a: Vec3, b: Vec3, from: f32, to: f32| a.lerp(b, (t - from) / (to - from));
    let [p0, p1, p2, p3] = points;
    let [k0, k1, k2, k3] = knots;
    let (a0, a1, a2) = (mix(p0, p1, k0, k1), mix(p1, p2, k1, k2), mix(p2, p3, k2, k3));
    mix(mix(a0, a1, k0, k2), mix(a1, a2, k1, k3), k1, k2)
}

/// Knots for four points by the square roots of their distances (centripetal): no loops, no cusps.
fn centripetal_knots(points: [Vec3; 4]) -> [f32; 4] {
    let step = |idx: usize| points[idx].distance(points[idx + 1]).sqrt().max(1e-3);
    let (first, second, third) = (step(0), step(1), step(2));
    [-first, 0.0, second, second + third]
}

/// A curve through points with a table of its arc length.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    points: Vec<Vec3>,
    is_closed: bool,
    /// Arc length at each step, metres, from 0 to the length.
    distance_at: Vec<f32>,
}

impl Path {
    /// Through at least two points; `None` if they are fewer or the curve has no length.
    pub fn new(points: Vec<Vec3>, is_closed: bool) -> Option<Self> {
        if points.len() < 2 {
            return None;
        }
        let mut path = Self { points, is_closed, distance_at: Vec::new() };
        let n_steps = path.n_segments() * N_STEPS_PER_SEGMENT;
        let mut distance = 0.0f64;
        let mut previous = path.points[0];
        path.distance_at.push(0.0);
        for step in 1..=n_steps {
            let point = path.at_parameter(step as f32 / N_STEPS_PER_SEGMENT as f32);
            distance += f64::from(point.distance(previous));
            path.distance_at.push(distance as f32);
            previous = point;
        }
        (path.length_m().is_finite() && path.length_m() > 1e-4).then_some(path)
    }

    /// Whether the last point leads back to the first.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Of the whole curve.
    pub fn length_m(&self) -> f32 {
        *self.distance_at.last().unwrap_or(&0.0)
    }

    fn n_segments(&self) -> usize {
        if self.is_closed { self.points.len() } else { self.points.len() - 1 }
    }

    /// A point by its number, wrapping round on a closed path and mirrored beyond an open one's ends.
    fn point(&self, idx: isize) -> Vec3 {
        let n = self.points.len() as isize;
        if self.is_closed {
            self.points[idx.rem_euclid(n) as usize]
        } else if idx < 0 {
            2.0 * self.points[0] - self.points[1]
        } else if idx >= n {
            2.0 * self.points[n as usize - 1] - self.points[n as usize - 2]
        } else {
            self.points[idx as usize]
        }
    }

    /// The point at a parameter whose whole part is the segment.
    fn at_parameter(&self, parameter: f32) -> Vec3 {
        let segment = (parameter as usize).min(self.n_segments() - 1);
        let points = [-1, 0, 1, 2].map(|offset| self.point(segment as isize + offset));
        let knots = centripetal_knots(points);
        catmull_rom(points, knots, knots[2] * (parameter - segment as f32))
    }

    /// The point `distance_m` along; beyond the ends it is clamped (open) or wraps round (closed).
    pub fn at_distance(&self, distance_m: f32) -> Vec3 {
        let distance = if self.is_closed {
            distance_m.rem_euclid(self.length_m())
        } else {
            distance_m.clamp(0.0, self.length_m())
        };
        let after = self.distance_at.partition_point(|&d| d <= distance).clamp(1, self.distance_at.len() - 1);
        let (from, to) = (self.distance_at[after - 1], self.distance_at[after]);
        let part = if to > from { (distance - from) / (to - from) } else { 0.0 };
        self.at_parameter((after as f32 - 1.0 + part) / N_STEPS_PER_SEGMENT as f32)
    }

    /// Where one is after walking `distance_m`, -Z along the way and +Y up: round and round a closed path, back and forth
    /// (turning round at the ends) on an open one. Negative distances walk the same way, earlier.
    pub fn frame_at(&self, distance_m: f32) -> Affine3A {
        let length = self.length_m();
        let (distance, is_forth) = if self.is_closed {
            (distance_m.rem_euclid(length), true)
        } else {
            let lap = distance_m.rem_euclid(2.0 * length);
            if lap <= length { (lap, true) } else { (2.0 * length - lap, false) }
        };
        let reach = (length * 1e-3).clamp(1e-3, 0.05);
        let ahead = self.at_distance(distance + reach) - self.at_distance(distance - reach);
        let way = if is_forth { ahead } else { -ahead };
        Affine3A { matrix3: facing(way), translation: self.at_distance(distance).into() }
    }
}

/// The rotation whose -Z points along `way` with +Y as far up as it can; looks along -Z where `way` is zero.
pub fn facing(way: Vec3) -> Mat3A {
    let back = -way.normalize_or(Vec3::NEG_Z);
    // Straight up or down, "up" is north.
    let up = if back.y.abs() > 0.9999 { Vec3::new(0.0, 0.0, -back.y.signum()) } else { Vec3::Y };
    let right = up.cross(back).normalize();
    Mat3A::from_cols(Vec3A::from(right), Vec3A::from(back.cross(right)), Vec3A::from(back))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Path {
        let points = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)];
        Path::new(points.iter().map(|&(x, z)| Vec3::new(x, 0.0, z)).collect(), true).unwrap()
    }

    #[test]
    fn speed_is_constant_along_uneven_points() {
        let points = [0.0, 1.0, 7.0, 8.0, 30.0].map(|x| Vec3::new(x, (x * 0.3).sin(), 0.0));
        let path = Path::new(points.to_vec(), false).unwrap();
        let step = path.length_m() / 500.0;
        for idx in 0..500 {
            let moved = path.at_distance((idx + 1) as f32 * step).distance(path.at_distance(idx as f32 * step));
            assert!((moved / step - 1.0).abs() < 0.02, "step {idx} moved {moved} instead of {step}");
        }
    }

    #[test]
    fn a_closed_path_comes_back_and_an_open_one_turns_round() {
        let path = square();
        assert!(path.at_distance(path.length_m()).distance(Vec3::ZERO) < 1e-3);
        let open = Path::new(vec![Vec3::ZERO, Vec3::new(8.0, 0.0, 0.0)], false).unwrap();
        let forth = open.frame_at(3.0);
        let back = open.frame_at(13.0);
        assert!(forth.translation.distance(back.translation) < 1e-3);
        assert!(forth.matrix3.z_axis.dot(back.matrix3.z_axis) < -0.999);
        assert!((-forth.matrix3.z_axis).dot(Vec3A::X) > 0.999, "-Z points along the way");
    }

    #[test]
    fn paths_without_length_are_refused() {
        assert!(Path::new(vec![Vec3::ONE], false).is_none());
        assert!(Path::new(vec![Vec3::ONE; 4], true).is_none());
    }

    #[test]
    fn facing_is_a_rotation_in_every_direction() {
        for way in [Vec3::X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::ZERO, Vec3::new(1.0, -2.0, 0.3)] {
            let rotation = facing(way);
            assert!((rotation.determinant() - 1.0).abs() < 1e-5, "{way}");
        }
    }
}
