//! Wood: the grain runs along u, except bark, whose furrows run along v.

use super::Texel;
use crate::math::{TAU, mix, scale3, sin, smoothstep};
use crate::noise::{cells, fbm};
use crate::rng::hash_unit;

fn rings(u: f32, v: f32, n_rings: f32, seed: u32) -> f32 {
    let drift = fbm(u, v, (2, 6), 3, seed) * 5.0;
    0.5 + 0.5 * sin(TAU * (v * n_rings + drift))
}

/// Oak beams, dark with age: grain, checks (long cracks), adze marks.
pub fn timber(u: f32, v: f32) -> Texel {
    let grain = rings(u, v, 24.0, 161);
    let fine = fbm(u, v, (6, 150), 2, 162);
    let check_line = (fbm(u, v, (2, 12), 3, 163) - 0.5).abs();
    let check = (1.0 - smoothstep(0.0, 0.012, check_line)) * smoothstep(0.5, 0.62, fbm(u, v, (3, 4), 2, 164));
    let cloud = fbm(u, v, (4, 5), 3, 165);
    let mut albedo = mix([0.075, 0.052, 0.036], [0.17, 0.118, 0.078], 0.45 * grain + 0.55 * fine);
    albedo = mix(albedo, [0.20, 0.175, 0.145], 0.4 * smoothstep(0.45, 0.7, cloud));
    Texel {
        albedo: scale3(albedo, 1.0 - 0.6 * check),
        height_m: 0.0025 * fine + 0.0015 * grain - 0.006 * check + 0.006 * cloud,
        roughness: 0.82 - 0.08 * grain,
        metallic: 0.0,
    }
}

/// Weathered boards, eight to the tile (16 cm), butt joints, nail heads.
pub fn planks(u: f32, v: f32) -> Texel {
    let y = v * 8.0;
    let board = y.floor() as i32;
    let fy = y - board as f32;
    let b = board.rem_euclid(8);
    let x = u + hash_unit(b, 0, 171);
    let fx = x - x.floor();
    let seam = smoothstep(0.0, 0.04, fy.min(1.0 - fy)) * smoothstep(0.0, 0.004, fx.min(1.0 - fx));
    let grain = fbm(u, v, (5, 120), 3, 172 + b as u32);
    let cup = 1.0 - (2.0 * fy - 1.0).powi(2);
    let tone = hash_unit(b, 1, 173);
    let mut albedo = mix([0.17, 0.125, 0.085], [0.33, 0.265, 0.20], 0.55 * grain + 0.45 * tone);
    albedo = mix(albedo, [0.30, 0.29, 0.27], 0.4 * smoothstep(0.45, 0.65, fbm(u, v, (4, 9), 3, 174)));
    let nail_u = (fx - 0.03).abs().min((fx - 0.97).abs());
    let nail = 1.0 - smoothstep(0.004, 0.007, (nail_u.powi(2) + ((fy - 0.5).abs() - 0.28).powi(2) / 64.0).sqrt());
    albedo = mix(albedo, [0.09, 0.075, 0.065], nail);
    Texel {
        albedo: scale3(albedo, 0.35 + 0.65 * seam),
        height_m: 0.008 * seam + 0.003 * cup + 0.0025 * grain,
        roughness: 0.85 - 0.08 * grain,
        metallic: 0.0,
    }
}

/// Joinery paint, nearly white (materials tint it): brush strokes, a few chips that show grey wood.
pub fn painted(u: f32, v: f32) -> Texel {
    let strokes = fbm(u, v, (4, 110), 2, 181);
    let dirt = fbm(u, v, (6, 6), 4, 182);
    let chip = smoothstep(0.79, 0.80, fbm(u, v, (22, 40), 3, 183));
    let mut albedo = scale3([0.72, 0.72, 0.71], 0.84 + 0.14 * strokes + 0.12 * dirt);
    albedo = mix(albedo, [0.30, 0.27, 0.235], chip);
    Texel {
        albedo,
        height_m: 0.0009 * strokes + 0.0004 * dirt - 0.0012 * chip,
        roughness: 0.46 + 0.14 * dirt + 0.3 * chip,
        metallic: 0.0,
    }
}

/// Furrowed bark: plates between wandering vertical cracks, lichen.
pub fn bark(u: f32, v: f32) -> Texel {
    let wu = u + 0.08 * (fbm(u, v, (3, 4), 3, 191) - 0.5);
    let c = cells(wu * 12.0, v * 4.0, (12, 4), 1.0, 192);
    let plate = smoothstep(0.0, 0.35, c.f2 - c.f1);
    let fine = fbm(u, v, (70, 24), 3, 193);
    let lichen = smoothstep(0.58, 0.70, fbm(u, v, (6, 6), 4, 194));
    let mut albedo = mix([0.055, 0.042, 0.033], [0.20, 0.162, 0.125], 0.6 * plate * (0.6 + 0.4 * c.id) + 0.4 * fine);
    albedo = mix(albedo, [0.24, 0.25, 0.17], 0.4 * lichen * plate);
    Texel { albedo, height_m: 0.020 * plate + 0.006 * fine, roughness: 0.93, metallic: 0.0 }
}
