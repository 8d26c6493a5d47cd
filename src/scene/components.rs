//! What an entity can be. Transforms live in the [`Hierarchy`](super::Hierarchy)'s flat arrays; an entity holds its slot.

use bevy_ecs::prelude::*;

use super::assets::{MaterialId, MeshId};

/// This entity's place in the [`Hierarchy`](super::Hierarchy): an index into its arrays.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// One mesh drawn with one material at one slot. An entity per glTF primitive; several can share a slot.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct MeshInstance {
    /// What is drawn.
    pub mesh: MeshId,
    /// With what.
    pub material: MaterialId,
    /// Linear RGB factor on the base colour; ones for none.
    pub tint: [f32; 3],
}

/// Looks along -Z of its slot, +Y up.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// How depth becomes size.
    pub projection: Projection,
}

/// A camera's projection. The far plane is at infinity for `Perspective`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Things shrink with distance.
    Perspective {
        /// Vertical field of view, radians, 0 to π.
        fov_y: f32,
        /// Metres, above 0.
        near: f32,
    },
    /// Things keep their size.
    Orthographic {
        /// Half the height of the view, metres; the width follows from the picture's aspect.
        half_height: f32,
        /// Metres.
        near: f32,
        /// Metres, beyond `near`.
        far: f32,
    },
}

/// The sun and the sky that follows from it. One entity has it at most.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Degrees above the horizon, -90 to 90.
    pub elevation_deg: f32,
    /// Degrees clockwise from north (-Z) seen from above: 90 is east (+X), 225 south-west.
    pub azimuth_deg: f32,
    /// Haze: optical depth of the air with its haze over that of pure air (Linke). 1 is pure air, 1.5 to 2.5 clear, 5 hazy.
    pub turbidity: f32,
    /// Pixels on a side of the sky's six faces: 32, 64, 128 or 256. A finer sky takes longer to bake.
    pub sky_px: u32,
    /// Degrees across, of the disc that shadows are cast by: 0 for hard shadows, 0.53 for those of the real sun.
    pub angular_diameter_deg: f32,
}

impl Default for Sun {
    fn default() -> Self {
        Self { elevation_deg: 40.0, azimuth_deg: 140.0, turbidity: 1.6, sky_px: 256, angular_diameter_deg: 0.0 }
    }
}

impl Sun {
    /// Unit vector from the scene towards the sun.
    pub fn direction(&self) -> glam::Vec3 {
        let (elevation, azimuth) = (self.elevation_deg.to_radians(), self.azimuth_deg.to_radians());
        glam::Vec3::new(azimuth.sin() * elevation.cos(), elevation.sin(), -azimuth.cos() * elevation.cos())
    }
}

/// Shines from its slot in all directions.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct PointLight {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Candela.
    pub intensity_cd: f32,
    /// Metres at which it has faded to nothing.
    pub range: f32,
}

/// Shines from its slot along -Z.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct SpotLight {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Candela.
    pub intensity_cd: f32,
    /// Metres at which it has faded to nothing.
    pub range: f32,
    /// Half angle of full intensity, radians.
    pub inner_angle: f32,
    /// Half angle at which it has faded to nothing, radians, beyond `inner_angle`.
    pub outer_angle: f32,
}

/// A directional light of a glTF file, beside the sun: shines along -Z of its slot.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct DirectionalLight {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Lux.
    pub illuminance_lux: f32,
}
