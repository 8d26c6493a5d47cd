//! Open ground and water.

use super::Texel;
use crate::math::{TAU, mix, scale3, sin, smoothstep};
use crate::noise::{cells, fbm};

/// Garden soil: clods, crumbs, a few stones.
pub fn soil(u: f32, v: f32) -> Texel {
    let clods = cells(u * 22.0, v * 22.0, (22, 22), 1.0, 121);
    let crumbs = fbm(u, v, (60, 60), 3, 122);
    let damp = fbm(u, v, (4, 4), 3, 123);
    let mut albedo = mix([0.085, 0.058, 0.036], [0.20, 0.145, 0.095], crumbs * 0.7 + clods.id * 0.3);
    albedo = scale3(albedo, 0.75 + 0.5 * damp);
    if clods.id > 0.93 && clods.f1 < 0.3 {
        albedo = scale3([0.40, 0.37, 0.32], 0.8 + 0.4 * crumbs);
    }
    Texel { albedo, height_m: 0.018 * (1.0 - clods.f1).max(0.0) + 0.012 * crumbs, roughness: 0.95, metallic: 0.0 }
}

/// Meadow seen from above: overlapping blades in three directions, dry stalks, clover patches, a few daisies.
pub fn grass(u: f32, v: f32) -> Texel {
    let bend = 0.02 * (fbm(u, v, (8, 8), 3, 131) - 0.5);
    // Sheared noise keeps its period because the shears are whole numbers.
    let blades = |a: f32, b: f32, seed: u32| fbm(a + bend, b + bend, (110, 16), 3, seed);
    let (one, two, three) = (blades(u + v, v, 132), blades(u - v, v + u, 133), blades(v, u, 134));
    let top = one.max(two).max(three);
    let height = smoothstep(0.42, 0.78, top);
    let clump = fbm(u, v, (7, 7), 4, 135);
    let dry =
        smoothstep(0.60, 0.74, if one > two { one } else { three }) * smoothstep(0.4, 0.6, fbm(u, v, (5, 5), 3, 136));
    let mut albedo = mix([0.045, 0.075, 0.022], [0.125, 0.19, 0.048], height * 0.75 + clump * 0.35);
    albedo = mix(albedo, [0.30, 0.27, 0.12], 0.45 * dry);
    albedo = mix(albedo, [0.07, 0.14, 0.04], 0.5 * smoothstep(0.58, 0.68, fbm(u, v, (6, 6), 3, 137)));
    let flower = cells(u * 26.0, v * 26.0, (26, 26), 1.0, 138);
    if flower.id > 0.955 && flower.f1 < 0.17 {
        albedo = if flower.f1 < 0.06 { [0.62, 0.45, 0.06] } else { [0.72, 0.71, 0.66] };
    }
    Texel { albedo, height_m: 0.017 * height + 0.02 * clump, roughness: 0.9, metallic: 0.0 }
}

/// Far country from above: a patchwork of fields with furrows, dark hedgerows and copses.
pub fn fields(u: f32, v: f32) -> Texel {
    let wu = u + 0.03 * (fbm(u, v, (5, 5), 3, 141) - 0.5);
    let wv = v + 0.03 * (fbm(u, v, (5, 5), 3, 142) - 0.5);
    let c = cells(wu * 5.0, wv * 6.0, (5, 6), 0.8, 143);
    let kind = (c.id * 17.3).fract();
    let rows = 0.5 + 0.5 * sin(TAU * (60.0 * u + if kind > 0.5 { 40.0 } else { -24.0 } * v));
    let cloud = fbm(u, v, (12, 12), 4, 144);
    let mut albedo = match (c.id * 6.0) as u32 {
        0 => mix([0.30, 0.26, 0.10], [0.36, 0.31, 0.13], rows),
        1 => mix([0.17, 0.125, 0.08], [0.215, 0.16, 0.10], rows),
        2 => [0.13, 0.185, 0.055],
        _ => [0.10, 0.155, 0.045],
    };
    albedo = scale3(albedo, 0.7 + 0.6 * cloud);
    let copse = smoothstep(0.60, 0.64, fbm(u, v, (6, 6), 4, 145));
    let hedge = 1.0 - smoothstep(0.02, 0.05, c.f2 - c.f1);
    let crowns = fbm(u, v, (130, 130), 2, 146);
    let wood = copse.max(hedge * 0.9);
    albedo = mix(albedo, scale3([0.042, 0.068, 0.026], 0.5 + 1.1 * crowns), wood);
    Texel { albedo, height_m: wood * 1.6 * (0.5 + crowns), roughness: 0.95, metallic: 0.0 }
}

/// River water: small crossing waves; the colour is what comes back from the depth.
pub fn water(u: f32, v: f32) -> Texel {
    let ripples = fbm(u, v, (14, 9), 4, 151);
    let long = 0.5 + 0.5 * sin(TAU * (3.0 * u + 2.0 * v) + 4.0 * fbm(u, v, (3, 3), 2, 152));
    let murk = fbm(u, v, (5, 5), 3, 153);
    Texel {
        albedo: mix([0.032, 0.040, 0.030], [0.048, 0.060, 0.042], murk),
        height_m: 0.055 * ripples + 0.02 * long,
        roughness: 0.06,
        metallic: 0.0,
    }
}
