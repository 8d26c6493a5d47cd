//! Brick, dressed stone and rubble.

use super::Texel;
use crate::math::{lerp, mix, scale3, smoothstep};
use crate::noise::{cells, fbm};
use crate::rng::hash_unit;

/// Distances (in metres) of a point to the edges of its block in a bond of rows.
struct Block {
    edge_m: f32,
    id: (i32, i32),
}

/// A bond of `rows` × `columns` blocks on a tile of `tile_m`; odd rows shift by half; block edges wander by `wander_m`.
fn bond(u: f32, v: f32, rows: i32, columns: i32, tile_m: f32, wander_m: f32, seed: u32) -> Block {
    let wu = u + wander_m / tile_m * (fbm(u, v, (24, 24), 2, seed) - 0.5) * 2.0;
    let wv = v + wander_m / tile_m * (fbm(u, v, (24, 24), 2, seed + 1) - 0.5) * 2.0;
    let y = wv * rows as f32;
    let row = y.floor() as i32;
    let shift = if row.rem_euclid(2) == 1 { 0.5 } else { 0.0 };
    let x = wu * columns as f32 + shift;
    let column = x.floor() as i32;
    let (fx, fy) = (x - column as f32, y - row as f32);
    let (w, h) = (tile_m / columns as f32, tile_m / rows as f32);
    let edge_m = (fx.min(1.0 - fx) * w).min(fy.min(1.0 - fy) * h);
    Block { edge_m, id: (column.rem_euclid(columns), row.rem_euclid(rows)) }
}

/// Old red brick: 8 × 26 bricks of 25 × 7.7 cm with lime mortar, some burnt, chipped edges.
pub fn brick(u: f32, v: f32) -> Texel {
    let b = bond(u, v, 26, 8, 2.0, 0.003, 31);
    let chips = 0.006 * (fbm(u, v, (60, 60), 3, 33) - 0.45).max(0.0);
    let face = smoothstep(0.004, 0.010, b.edge_m - chips);
    let tone = hash_unit(b.id.0, b.id.1, 34);
    let grain = fbm(u, v, (150, 150), 2, 35);
    let cloud = fbm(u, v, (30, 30), 3, 36);
    let mut albedo = mix([0.30, 0.105, 0.06], [0.46, 0.20, 0.12], tone);
    if hash_unit(b.id.0, b.id.1, 37) > 0.86 {
        albedo = mix([0.13, 0.07, 0.06], [0.20, 0.11, 0.09], tone);
    }
    albedo = scale3(albedo, 0.75 + 0.3 * cloud + 0.2 * grain);
    let lime = smoothstep(0.6, 0.8, fbm(u, v, (7, 9), 4, 38));
    albedo = mix(albedo, [0.50, 0.42, 0.36], 0.25 * lime);
    let mortar = scale3([0.44, 0.40, 0.34], 0.8 + 0.3 * grain);
    Texel {
        albedo: mix(mortar, albedo, face),
        height_m: 0.009 * face + 0.002 * (tone - 0.5) * face + 0.0022 * grain + 0.002 * cloud,
        roughness: lerp(0.95, 0.84, face) - 0.05 * grain,
        metallic: 0.0,
    }
}

/// Dressed limestone: blocks 60 × 30 cm with fine joints, tooled faces and weathering.
pub fn ashlar(u: f32, v: f32) -> Texel {
    let b = bond(u, v, 8, 4, 2.4, 0.003, 41);
    let chips = 0.008 * (fbm(u, v, (30, 30), 3, 42) - 0.5).max(0.0);
    let face = smoothstep(0.003, 0.012, b.edge_m - chips);
    let joint = 1.0 - smoothstep(0.001, 0.006, b.edge_m - chips);
    let tone = hash_unit(b.id.0, b.id.1, 43);
    let grain = fbm(u, v, (130, 130), 2, 44);
    let cloud = fbm(u, v, (10, 10), 4, 45);
    let pits = smoothstep(0.66, 0.8, fbm(u, v, (70, 70), 2, 46));
    let mut albedo = mix([0.44, 0.40, 0.32], [0.58, 0.53, 0.43], 0.6 * tone + 0.4 * cloud);
    albedo = mix(albedo, [0.33, 0.31, 0.28], 0.5 * smoothstep(0.52, 0.8, fbm(u, v, (5, 6), 4, 47)));
    albedo = mix(albedo, [0.40, 0.36, 0.18], 0.3 * smoothstep(0.66, 0.8, fbm(u, v, (13, 13), 3, 48)));
    albedo = scale3(albedo, 0.86 + 0.2 * grain - 0.2 * pits);
    Texel {
        albedo: mix(albedo, [0.35, 0.32, 0.27], 0.8 * joint),
        height_m: 0.008 * face + 0.003 * tone + 0.0025 * grain - 0.003 * pits + 0.006 * cloud,
        roughness: 0.86 + 0.06 * joint,
        metallic: 0.0,
    }
}

/// Fieldstone laid roughly in courses, domed faces, wide mortar.
pub fn rubble(u: f32, v: f32) -> Texel {
    let wu = u + 0.012 * (fbm(u, v, (12, 12), 2, 51) - 0.5);
    let wv = v + 0.012 * (fbm(u, v, (12, 12), 2, 52) - 0.5);
    let c = cells(wu * 9.0, wv * 14.0, (9, 14), 0.75, 53);
    let gap = c.f2 - c.f1;
    let face = smoothstep(0.05, 0.16, gap);
    let dome = smoothstep(0.0, 0.55, gap);
    let grain = fbm(u, v, (110, 110), 3, 54);
    let cloud = fbm(u, v, (24, 24), 3, 55);
    let warm = mix([0.30, 0.26, 0.20], [0.50, 0.43, 0.32], c.id);
    let grey = mix([0.24, 0.24, 0.235], [0.42, 0.41, 0.38], c.id);
    let mut albedo = if (c.id * 7.3).fract() > 0.45 { warm } else { grey };
    albedo = scale3(albedo, 0.72 + 0.3 * grain + 0.28 * cloud);
    albedo = mix(albedo, [0.20, 0.23, 0.10], 0.35 * smoothstep(0.6, 0.78, fbm(u, v, (6, 6), 4, 56)));
    let mortar = scale3([0.40, 0.36, 0.29], 0.8 + 0.3 * grain);
    Texel {
        albedo: mix(mortar, albedo, face),
        height_m: 0.030 * dome * (0.7 + 0.5 * c.id) + 0.006 * cloud * face + 0.004 * grain,
        roughness: lerp(0.95, 0.86, face),
        metallic: 0.0,
    }
}
