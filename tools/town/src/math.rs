//! Floating-point functions whose results are the same on every machine (libm, no SIMD), and a rigid-plus-scale transform.

use glam::{Mat3, Vec3};

/// π
pub const PI: f32 = core::f32::consts::PI;
/// 2π
pub const TAU: f32 = core::f32::consts::TAU;

/// Sine of an angle in radians.
pub fn sin(x: f32) -> f32 {
    libm::sinf(x)
}

/// Cosine of an angle in radians.
pub fn cos(x: f32) -> f32 {
    libm::cosf(x)
}

/// x to the power y.
pub fn pow(x: f32, y: f32) -> f32 {
    libm::powf(x, y)
}

/// e to the power x.
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// The angle of (x, y) from the x axis, in radians.
pub fn atan2(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}

/// Linear interpolation.
pub fn lerp(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// Linear interpolation of triples.
pub fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    [lerp(a[0], b[0], t), lerp(a[1], b[1], t), lerp(a[2], b[2], t)]
}

/// A triple times a factor.
pub fn scale3(a: [f32; 3], k: f32) -> [f32; 3] {
    [a[0] * k, a[1] * k, a[2] * k]
}

/// Hermite step from 0 at `a` to 1 at `b`; `a` may exceed `b`.
pub fn smoothstep(a: f32, b: f32, x: f32) -> f32 {
    let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Maps points and normals: `linear · p + origin`.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Rotation and scale.
    pub linear: Mat3,
    /// Metres.
    pub origin: Vec3,
}

impl Frame {
    /// Maps everything to itself.
    pub const IDENTITY: Self = Self { linear: Mat3::IDENTITY, origin: Vec3::ZERO };

    /// A translation in metres.
    pub fn at(x: f32, y: f32, z: f32) -> Self {
        Self { linear: Mat3::IDENTITY, origin: Vec3::new(x, y, z) }
    }

    /// A translation followed by nothing else.
    pub fn at_point(p: Vec3) -> Self {
        Self { linear: Mat3::IDENTITY, origin: p }
    }

    /// Then a turn about +Y by degrees, counter-clockwise seen from above.
    pub fn yaw(self, deg: f32) -> Self {
        self.then(rotation_y(deg))
    }

    /// Then a turn about +X by degrees.
    pub fn pitch(self, deg: f32) -> Self {
        let (s, c) = (sin(deg * PI / 180.0), cos(deg * PI / 180.0));
        self.then(Mat3::from_cols(Vec3::X, Vec3::new(0.0, c, s), Vec3::new(0.0, -s, c)))
    }

    /// Then a turn about +Z by degrees.
    pub fn roll(self, deg: f32) -> Self {
        let (s, c) = (sin(deg * PI / 180.0), cos(deg * PI / 180.0));
        self.then(Mat3::from_cols(Vec3::new(c, s, 0.0), Vec3::new(-s, c, 0.0), Vec3::Z))
    }

    /// Then a scale by axis.
    pub fn scale(self, x: f32, y: f32, z: f32) -> Self {
        self.then(Mat3::from_diagonal(Vec3::new(x, y, z)))
    }

    /// Then any linear map.
    pub fn then(self, linear: Mat3) -> Self {
        Self { linear: self.linear * linear, origin: self.origin }
    }

    /// The frame that applies `inner` first and this one after.
    pub fn mul(self, inner: Self) -> Self {
        Self { linear: self.linear * inner.linear, origin: self.point(inner.origin) }
    }

    /// Maps a point.
    pub fn point(self, p: Vec3) -> Vec3 {
        self.linear * p + self.origin
    }

    /// Maps a normal (inverse transpose, normalised).
    pub fn normal(self, n: Vec3) -> Vec3 {
        let m = self.linear;
        // The cofactor matrix is the inverse transpose times the determinant, and needs no division.
        let cof = Mat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis));
        let sign = if m.x_axis.dot(m.y_axis.cross(m.z_axis)) < 0.0 { -1.0 } else { 1.0 };
        (cof * n * sign).normalize_or(Vec3::Y)
    }

    /// Whether it mirrors.
    pub fn is_mirror(self) -> bool {
        let m = self.linear;
        m.x_axis.dot(m.y_axis.cross(m.z_axis)) < 0.0
    }
}

/// The turn about +Y by degrees.
pub fn rotation_y(deg: f32) -> Mat3 {
    let (s, c) = (sin(deg * PI / 180.0), cos(deg * PI / 180.0));
    Mat3::from_cols(Vec3::new(c, 0.0, -s), Vec3::Y, Vec3::new(s, 0.0, c))
}
