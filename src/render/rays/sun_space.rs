//! Sun space: the world turned so that its z axis points at the sun. Rays that all go there are points in its xy plane: a box is met if its
//! rectangle holds the point and its far end is not behind it, without a multiplication for each of its sides.

use glam::{DAffine3, DMat3, DVec3, Vec3};

/// See the module. Rows of `sun_from_world`, unit vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SunSpace {
    pub x: Vec3,
    pub y: Vec3,
    /// Towards the sun.
    pub z: Vec3,
}

impl SunSpace {
    /// For a sun in that direction (unit length).
    pub fn new(direction: Vec3) -> Self {
        let z = direction.as_dvec3().normalize();
        // Level, so that upright walls stay upright rectangles.
        let x = DVec3::Y.cross(z).try_normalize().unwrap_or(DVec3::X);
        Self { x: x.as_vec3(), y: z.cross(x).as_vec3(), z: direction }
    }

    /// For what is placed there once: in 64 bits, so that its corners are rounded once.
    pub fn sun_from_world(&self) -> DAffine3 {
        DAffine3::from_mat3(DMat3::from_cols(self.x.as_dvec3(), self.y.as_dvec3(), self.z.as_dvec3()).transpose())
    }
}
