//! Rendered walls.

use super::Texel;
use crate::math::{mix, smoothstep};
use crate::noise::fbm;

/// Lime plaster, nearly white (materials tint it): trowel waves, fine grain, stains, hairline cracks.
pub fn plaster(u: f32, v: f32) -> Texel {
    let waves = fbm(u, v, (5, 7), 3, 11);
    let grain = fbm(u, v, (140, 140), 2, 12);
    let stain = smoothstep(0.45, 0.75, fbm(u, v, (4, 3), 4, 13));
    let streak = smoothstep(0.55, 0.8, fbm(u, v, (34, 3), 3, 14));
    let crack_field = (fbm(u, v, (6, 6), 4, 15) - 0.5).abs();
    let crack = 1.0 - smoothstep(0.0, 0.004, crack_field);
    let crack = crack * smoothstep(0.55, 0.7, fbm(u, v, (3, 3), 2, 16));
    let patch = smoothstep(0.62, 0.64, fbm(u, v, (5, 4), 3, 17));
    let mut albedo = mix([0.70, 0.68, 0.64], [0.78, 0.76, 0.72], grain * 0.6 + waves * 0.4);
    albedo = mix(albedo, [0.58, 0.54, 0.47], 0.35 * stain);
    albedo = mix(albedo, [0.50, 0.47, 0.42], 0.18 * streak);
    albedo = mix(albedo, [0.66, 0.64, 0.60], 0.5 * patch);
    albedo = mix(albedo, [0.36, 0.33, 0.29], 0.6 * crack);
    Texel {
        albedo,
        height_m: 0.010 * waves + 0.0022 * grain - 0.003 * crack - 0.0015 * patch,
        roughness: 0.88 - 0.06 * grain,
        metallic: 0.0,
    }
}
