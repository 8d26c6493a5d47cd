//! What streets and squares are laid with.

use super::Texel;
use crate::math::{lerp, mix, scale3, smoothstep};
use crate::noise::{cells, fbm};
use crate::rng::hash_unit;

/// Granite setts, 20 × 20 to the tile (12 cm), in staggered rows, domed and worn, sand joints with moss.
pub fn cobble(u: f32, v: f32) -> Texel {
    let wu = u + 0.006 * (fbm(u, v, (16, 16), 2, 81) - 0.5);
    let wv = v + 0.010 * (fbm(u, v, (8, 8), 2, 82) - 0.5);
    let y = wv * 20.0;
    let row = y.floor() as i32;
    let r = row.rem_euclid(20);
    let x = wu * 18.0 + if r % 2 == 1 { 0.5 } else { 0.0 };
    let column = x.floor() as i32;
    // Stones differ in length: the joint between two columns wanders by row.
    let joint = |c: i32| 0.36 * (hash_unit(c.rem_euclid(18), r, 83) - 0.5);
    let (mut c, mut f) = (column, x - column as f32);
    if f < joint(column) {
        c -= 1;
        f += 1.0;
    } else if f > 1.0 + joint(column + 1) {
        c += 1;
        f -= 1.0;
    }
    let (lo, hi) = (joint(c), 1.0 + joint(c + 1));
    let fy = y - row as f32;
    let dx = (f - lo).min(hi - f);
    let dy = fy.min(1.0 - fy);
    // Rounded corners: a soft minimum of the two edge distances.
    let edge = {
        let (a, b) = ((dx / 0.22).min(1.0), (dy / 0.22).min(1.0));
        (1.0 - ((1.0 - a).powi(2) + (1.0 - b).powi(2)).sqrt()).max(0.0)
    };
    let id = (c.rem_euclid(18), r);
    let tone = hash_unit(id.0, id.1, 84);
    let face = smoothstep(0.05, 0.28, edge);
    let grain = fbm(u, v, (160, 160), 2, 85);
    let cloud = fbm(u, v, (40, 40), 3, 86);
    let mut albedo = mix([0.17, 0.165, 0.16], [0.33, 0.31, 0.285], tone);
    if hash_unit(id.0, id.1, 87) > 0.8 {
        albedo = mix([0.25, 0.19, 0.15], [0.34, 0.27, 0.22], tone);
    }
    albedo = scale3(albedo, 0.72 + 0.3 * grain + 0.26 * cloud);
    let moss = smoothstep(0.5, 0.7, fbm(u, v, (9, 9), 3, 88));
    let bed = mix([0.20, 0.17, 0.13], [0.13, 0.15, 0.065], 0.7 * moss);
    Texel {
        albedo: mix(scale3(bed, 0.7 + 0.5 * grain), albedo, face),
        height_m: 0.020 * smoothstep(0.0, 0.9, edge) + 0.006 * (tone - 0.5) * face + 0.003 * cloud + 0.0015 * grain,
        roughness: lerp(0.95, 0.66 + 0.14 * grain, face),
        metallic: 0.0,
    }
}

/// Sandstone slabs of mixed sizes: a 5 × 4 grid of 64 × 80 cm fields, some halved, worn smooth in the middle.
pub fn flagstone(u: f32, v: f32) -> Texel {
    let wu = u + 0.004 * (fbm(u, v, (20, 20), 2, 91) - 0.5);
    let wv = v + 0.004 * (fbm(u, v, (20, 20), 2, 92) - 0.5);
    let y = wv * 5.0;
    let row = y.floor() as i32;
    let r = row.rem_euclid(5);
    let x = wu * 4.0 + hash_unit(r, 7, 93);
    let column = x.floor() as i32;
    let c = column.rem_euclid(4);
    let (mut fx, fy) = (x - column as f32, y - row as f32);
    let (mut w, h) = (0.8f32, 0.64f32);
    let mut part = 0;
    let split = hash_unit(c, r, 94);
    if split > 0.45 {
        let at = 0.35 + 0.3 * hash_unit(c, r, 95);
        part = if fx < at { 1 } else { 2 };
        (fx, w) = if fx < at { (fx / at, w * at) } else { ((fx - at) / (1.0 - at), w * (1.0 - at)) };
    }
    let chips = 0.012 * (fbm(u, v, (40, 40), 3, 96) - 0.5).max(0.0);
    let edge_m = (fx.min(1.0 - fx) * w).min(fy.min(1.0 - fy) * h) - chips;
    let face = smoothstep(0.004, 0.016, edge_m);
    let tone = hash_unit(c + 10 * part, r, 97);
    let grain = fbm(u, v, (170, 170), 2, 98);
    let cloud = fbm(u, v, (9, 9), 4, 99);
    let riven = fbm(u, v, (22, 30), 3, 100 + (tone * 8.0) as u32);
    let mut albedo = mix([0.19, 0.175, 0.155], [0.37, 0.335, 0.275], 0.75 * tone + 0.25 * cloud);
    if hash_unit(c + 10 * part, r, 101) > 0.75 {
        albedo = mix(albedo, [0.30, 0.225, 0.175], 0.75);
    }
    albedo = scale3(albedo, 0.78 + 0.22 * grain + 0.22 * riven);
    albedo = mix(albedo, [0.13, 0.125, 0.115], 0.5 * smoothstep(0.5, 0.75, fbm(u, v, (6, 6), 4, 102)));
    let bed = mix([0.13, 0.115, 0.09], [0.09, 0.105, 0.05], smoothstep(0.5, 0.65, cloud));
    Texel {
        albedo: mix(scale3(bed, 0.75 + 0.4 * grain), albedo, face),
        height_m: 0.012 * face + 0.005 * (tone - 0.5) * face + 0.004 * riven * face + 0.001 * grain,
        roughness: lerp(0.95, 0.70 + 0.12 * riven, face),
        metallic: 0.0,
    }
}

/// Rounded pebbles of two sizes in sand.
pub fn gravel(u: f32, v: f32) -> Texel {
    let big = cells(u * 34.0, v * 34.0, (34, 34), 1.0, 111);
    let small = cells(u * 70.0, v * 70.0, (70, 70), 1.0, 112);
    let (stone, size) = if big.id > 0.45 && big.f1 < 0.5 { (big, 1.0) } else { (small, 0.5) };
    let dome = (1.0 - stone.f1 * stone.f1 * 3.0).max(0.0);
    let grain = fbm(u, v, (120, 120), 2, 113);
    let tint = (stone.id * 13.7).fract();
    let mut albedo = mix([0.30, 0.27, 0.22], [0.52, 0.48, 0.42], tint);
    if (stone.id * 31.1).fract() > 0.75 {
        albedo = mix([0.22, 0.21, 0.21], [0.34, 0.32, 0.31], tint);
    }
    albedo = mix([0.33, 0.28, 0.20], albedo, smoothstep(0.0, 0.25, dome));
    Texel {
        albedo: scale3(albedo, 0.7 + 0.25 * grain + 0.2 * fbm(u, v, (6, 6), 3, 114)),
        height_m: 0.012 * size * dome.sqrt() + 0.002 * grain,
        roughness: 0.88,
        metallic: 0.0,
    }
}
