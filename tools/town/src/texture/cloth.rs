//! Woven cloth.

use super::Texel;
use crate::math::{PI, mix, scale3, sin, smoothstep};
use crate::noise::fbm;

fn threads(u: f32, v: f32, n: f32) -> f32 {
    let (x, y) = (u * n, v * n);
    let over = (x.floor() as i32 + y.floor() as i32).rem_euclid(2) == 0;
    let (warp, weft) = (sin(PI * (x - x.floor())), sin(PI * (y - y.floor())));
    if over { 0.65 * warp + 0.35 * weft } else { 0.35 * warp + 0.65 * weft }
}

/// Plain weave, nearly white (materials tint it).
pub fn weave(u: f32, v: f32) -> Texel {
    let t = threads(u, v, 64.0);
    let slub = fbm(u, v, (8, 64), 2, 201) * 0.5 + fbm(u, v, (64, 8), 2, 202) * 0.5;
    let fold = fbm(u, v, (3, 3), 2, 203);
    Texel {
        albedo: scale3([0.68, 0.67, 0.65], 0.66 + 0.24 * t + 0.2 * slub + 0.1 * (fold - 0.5)),
        height_m: 0.0006 * t + 0.004 * fold,
        roughness: 0.92,
        metallic: 0.0,
    }
}

/// Awning canvas: white stripes every 25 cm; the others red.
pub fn stripes(u: f32, v: f32) -> Texel {
    let t = threads(u, v, 128.0);
    let x = u * 4.0;
    let f = x - x.floor();
    let colored = smoothstep(0.24, 0.26, f) * smoothstep(0.76, 0.74, f);
    let fade = fbm(u, v, (4, 4), 3, 211);
    let stain = smoothstep(0.55, 0.8, fbm(u, v, (5, 3), 4, 212));
    let mut albedo = mix([0.72, 0.69, 0.62], [0.46, 0.052, 0.040], colored);
    albedo = scale3(albedo, 0.78 + 0.14 * t + 0.16 * fade);
    albedo = mix(albedo, [0.42, 0.37, 0.29], 0.25 * stain);
    Texel { albedo, height_m: 0.0008 * t + 0.006 * fade, roughness: 0.88, metallic: 0.0 }
}
