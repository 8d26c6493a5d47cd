//! Roof coverings: rows run along u, the eaves are at the bottom (v = 1).

use super::Texel;
use crate::math::{PI, mix, scale3, sin, smoothstep};
use crate::noise::fbm;
use crate::rng::hash_unit;

/// Plain clay tiles: rows of 12.5 cm exposure would be too fine to read, so 20 cm; 17 cm wide, slightly cambered.
pub fn clay_tile(u: f32, v: f32) -> Texel {
    let (rows, columns) = (10, 12);
    let y = v * rows as f32;
    let row = y.floor() as i32;
    let shift = if row.rem_euclid(2) == 1 { 0.5 } else { 0.0 };
    let x = u * columns as f32 + shift;
    let column = x.floor() as i32;
    let id = (column.rem_euclid(columns), row.rem_euclid(rows));
    let tone = hash_unit(id.0, id.1, 61);
    let (fx, mut fy) = (x - column as f32, y - row as f32);
    // Each tile slips a little, so that rows are not ruled lines.
    fy += 0.05 * (hash_unit(id.0, id.1, 62) - 0.5);
    let gap = smoothstep(0.0, 0.035, fx.min(1.0 - fx));
    let camber = sin(fx * PI);
    let lip = smoothstep(1.01, 0.96, fy);
    let slope = fy.clamp(0.0, 1.0);
    let grain = fbm(u, v, (150, 150), 2, 63);
    let cloud = fbm(u, v, (26, 26), 3, 64);
    let mut albedo = mix([0.27, 0.095, 0.05], [0.47, 0.20, 0.105], tone);
    if hash_unit(id.0, id.1, 65) > 0.9 {
        albedo = mix([0.20, 0.09, 0.065], [0.32, 0.17, 0.12], tone);
    }
    albedo = scale3(albedo, 0.7 + 0.3 * grain + 0.32 * cloud);
    let lichen = smoothstep(0.60, 0.74, fbm(u, v, (14, 14), 4, 66));
    albedo = mix(albedo, [0.34, 0.33, 0.20], 0.45 * lichen);
    albedo = scale3(albedo, (0.45 + 0.55 * gap) * (0.6 + 0.4 * smoothstep(0.0, 0.16, fy)));
    Texel {
        albedo,
        height_m: 0.022 * slope * lip + 0.008 * camber * gap - 0.010 * (1.0 - gap) + 0.003 * tone + 0.002 * grain,
        roughness: 0.82 + 0.1 * lichen - 0.06 * grain,
        metallic: 0.0,
    }
}

/// Slate: rows of 16 cm, 20 cm wide, thin and flat, blue-grey with a few purple ones.
pub fn slate(u: f32, v: f32) -> Texel {
    let (rows, columns) = (10, 8);
    let y = v * rows as f32;
    let row = y.floor() as i32;
    let shift = if row.rem_euclid(2) == 1 { 0.5 } else { 0.0 };
    let x = u * columns as f32 + shift;
    let column = x.floor() as i32;
    let id = (column.rem_euclid(columns), row.rem_euclid(rows));
    let tone = hash_unit(id.0, id.1, 71);
    let ragged = 0.05 * (fbm(u, v, (40, 40), 2, 72) - 0.5);
    let (fx, fy) = (x - column as f32, y - row as f32 + 0.05 * (hash_unit(id.0, id.1, 73) - 0.5) + ragged);
    let gap = smoothstep(0.0, 0.03, fx.min(1.0 - fx));
    let lip = smoothstep(1.0, 0.97, fy);
    let layers = fbm(u, v, (20, 60), 3, 74);
    let mut albedo = mix([0.10, 0.115, 0.135], [0.19, 0.205, 0.225], tone);
    if hash_unit(id.0, id.1, 75) > 0.85 {
        albedo = [0.17, 0.14, 0.16];
    }
    albedo = scale3(albedo, 0.75 + 0.5 * layers);
    albedo = mix(albedo, [0.30, 0.31, 0.22], 0.35 * smoothstep(0.62, 0.78, fbm(u, v, (10, 10), 4, 76)));
    albedo = scale3(albedo, (0.5 + 0.5 * gap) * (0.7 + 0.3 * smoothstep(0.0, 0.12, fy)));
    Texel {
        albedo,
        height_m: 0.010 * fy.clamp(0.0, 1.0) * lip - 0.006 * (1.0 - gap) + 0.003 * layers + 0.002 * tone,
        roughness: 0.55 + 0.2 * layers,
        metallic: 0.0,
    }
}
