//! A static triangle as the column map sees it, and how far the shader's test of it can be off.
//!
//! The test (`meets_triangle_along_z` in `bvh.wgsl`) takes the corners relative to the ray's origin o, a, b and c, each rounded by 2⁻²⁴ of
//! itself, and three edge functions such as u = c.x·b.y − c.y·b.x. Two products with two roundings of the corners each, one of
//! their own, and one of the difference: u is off by at most 2⁻²² |b||c|, contracted or not. A ray passes if the three have one sign and o
//! lies in the triangle's box, widened by 10⁻⁶ of its longer side. Within that box all corners are nearer than 1.42 L, L being the longest
//! side. So with A, twice the area:
//!
//! - u, v and w add up to A. If A > 2⁻¹⁹ L², not all three can be taken for the other sign. So a ray that passes has shares
//!   u / A, v / A, w / A of at least −τ, τ = 2.1 · 2⁻²² L² / A.
//! - A ray whose shares are all above τ passes.
//! - A point whose shares are at least −τ is nearer to the triangle than 4 τ L.
//! - The height at which it passes is the corners' heights, weighted by the shares as computed. Weights off by 2⁻²² 1.04 L² / A each, of
//!   numbers that differ by at most the triangle's depth d, and the roundings of quotients (2.5 units in the last place) and sums: off the
//!   triangle's plane by at most 0.8 · 2⁻²⁰ d (L² / A + 1), as long as τ is small. And never above the highest corner, since no share is negative.

use glam::{DVec2, DVec3};

use crate::render::layout::{RAY_OPAQUE, RayTriangle};

/// A / L² below which a triangle is a sliver, of which no more is used than its box.
const SLIVER: f64 = 1.0 / 4096.0;
/// By what the shader widens a triangle's box, of the longer side; a little more.
const BOX_SLACK: f64 = 1.1e-6;
/// Twice the area below which products could leave the range of normal numbers.
const SMALLEST_AREA2: f64 = 1e-24;

/// See the module. All in sun space.
pub struct Facet {
    pub corners: [DVec3; 3],
    /// Its box, as wide as the shader takes it.
    pub low: DVec2,
    pub high: DVec2,
    pub z_high: f64,
    pub is_opaque: bool,
    /// `None` for slivers.
    pub plane: Option<FacetPlane>,
}

/// Of a triangle that is no sliver.
#[derive(Clone, Copy)]
pub struct FacetPlane {
    pub gradient: DVec2,
    /// Relative to the first corner: gradients of the three corners' shares, which are 1, 0 and 0 there.
    pub share_gradients: [DVec2; 3],
    /// A ray that passes has shares above the negative of this, and one whose shares are above it passes.
    pub share_error: f64,
    /// Metres: what passes is this near to the triangle.
    pub reach: f64,
    /// Metres along z: how far off the plane it may be found to pass.
    pub z_error: f64,
}

/// The box of a triangle in xy, as wide as the shader takes it.
pub fn box_of(triangle: &RayTriangle) -> (DVec2, DVec2) {
    let [a, b, c] = [triangle.p0, triangle.p1, triangle.p2].map(|p| DVec2::new(p[0].into(), p[1].into()));
    let (low, high) = (a.min(b).min(c), a.max(b).max(c));
    let slack = BOX_SLACK * (high - low).max_element();
    (low - slack, high + slack)
}

impl Facet {
    pub fn new(triangle: &RayTriangle) -> Self {
        let corners = [triangle.p0, triangle.p1, triangle.p2].map(|p| DVec3::from_array(p.map(f64::from)));
        let (low, high) = box_of(triangle);
        Self {
            corners,
            low,
            high,
            z_high: corners[0].z.max(corners[1].z).max(corners[2].z),
            is_opaque: triangle.mask_material == RAY_OPAQUE,
            plane: FacetPlane::new(&corners),
        }
    }

    /// Shares of the corners at a point; meaningless for slivers.
    pub fn shares_at(&self, plane: &FacetPlane, at: DVec2) -> [f64; 3] {
        let from_first = at - self.corners[0].truncate();
        let [a, b, c] = plane.share_gradients.map(|gradient| gradient.dot(from_first));
        [1.0 + a, b, c]
    }

    /// Height of the plane at a point.
    pub fn z_at(&self, plane: &FacetPlane, at: DVec2) -> f64 {
        self.corners[0].z + plane.gradient.dot(at - self.corners[0].truncate())
    }
}

impl FacetPlane {
    fn new(corners: &[DVec3; 3]) -> Option<Self> {
        let [a, b, c] = corners.map(|corner| corner.truncate());
        let (e1, e2) = (b - a, c - a);
        let area2 = e1.perp_dot(e2);
        let longest2 = e1.length_squared().max(e2.length_squared()).max((c - b).length_squared());
        if !(area2.abs() > SLIVER * longest2 && area2.abs() > SMALLEST_AREA2) {
            return None;
        }
        // share_b = e2-perpendicular part, and so on.
        let share_b = DVec2::new(e2.y, -e2.x) / area2;
        let share_c = DVec2::new(-e1.y, e1.x) / area2;
        let share_a = -share_b - share_c;
        let [za, zb, zc] = corners.map(|corner| corner.z);
        let depth = za.max(zb).max(zc) - za.min(zb).min(zc);
        let slimness = longest2 / area2.abs();
        let share_error = 2.2 * 2f64.powi(-22) * slimness;
        Some(Self {
            gradient: share_b * (zb - za) + share_c * (zc - za),
            share_gradients: [share_a, share_b, share_c],
            share_error,
            reach: 4.0 * share_error * longest2.sqrt(),
            z_error: depth * (0.8 * slimness + 0.8) * 2f64.powi(-20),
        })
    }
}
