//! Noise that repeats: every function takes its period in lattice cells, so that textures tile.

use crate::math::smoothstep;
use crate::rng::hash_unit;

fn wrap(i: i32, period: i32) -> i32 {
    i.rem_euclid(period.max(1))
}

/// Value noise in 0..1 at (x, y) in lattice cells, repeating after `period` cells in each direction.
pub fn value(x: f32, y: f32, period: (i32, i32), seed: u32) -> f32 {
    let (xf, yf) = (x.floor(), y.floor());
    let (xi, yi) = (xf as i32, yf as i32);
    let (tx, ty) = (smoothstep(0.0, 1.0, x - xf), smoothstep(0.0, 1.0, y - yf));
    let at = |dx: i32, dy: i32| hash_unit(wrap(xi + dx, period.0), wrap(yi + dy, period.1), seed);
    let top = at(0, 0) + (at(1, 0) - at(0, 0)) * tx;
    let bottom = at(0, 1) + (at(1, 1) - at(0, 1)) * tx;
    top + (bottom - top) * ty
}

/// Octaves of value noise over u, v in 0..1, starting with `cells` lattice cells across; result in 0..1, mean about 0.5.
pub fn fbm(u: f32, v: f32, cells: (i32, i32), n_octaves: u32, seed: u32) -> f32 {
    let (mut sum, mut weight, mut total) = (0.0, 1.0, 0.0);
    let mut period = cells;
    for octave in 0..n_octaves {
        sum += weight * value(u * period.0 as f32, v * period.1 as f32, period, seed.wrapping_add(octave * 101));
        total += weight;
        weight *= 0.5;
        period = (period.0 * 2, period.1 * 2);
    }
    sum / total
}

/// The two nearest feature points of a jittered lattice.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// Distance to the nearest, in cells.
    pub f1: f32,
    /// Distance to the second nearest, in cells.
    pub f2: f32,
    /// Uniform in 0..1, the same all over a cell.
    pub id: f32,
}

/// Cellular noise at (x, y) in lattice cells with feature points jittered by up to `jitter` (0 to 1) of a cell.
pub fn cells(x: f32, y: f32, period: (i32, i32), jitter: f32, seed: u32) -> Cells {
    let (xi, yi) = (x.floor() as i32, y.floor() as i32);
    let mut best = Cells { f1: 9.0, f2: 9.0, id: 0.0 };
    for dy in -1..=1 {
        for dx in -1..=1 {
            let (cx, cy) = (xi + dx, yi + dy);
            let (wx, wy) = (wrap(cx, period.0), wrap(cy, period.1));
            let px = cx as f32 + 0.5 + jitter * (hash_unit(wx, wy, seed) - 0.5);
            let py = cy as f32 + 0.5 + jitter * (hash_unit(wx, wy, seed ^ 0x51ED) - 0.5);
            let (ox, oy) = (x - px, y - py);
            let d = (ox * ox + oy * oy).sqrt();
            if d < best.f1 {
                let id = hash_unit(wx, wy, seed ^ 0xA17C);
                best = Cells { f1: d, f2: best.f1, id };
            } else if d < best.f2 {
                best.f2 = d;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_repeats_after_its_period() {
        for i in 0..50 {
            let (u, v) = (i as f32 * 0.03125, i as f32 * 0.0625);
            assert_eq!(value(u, v, (4, 4), 3), value(u + 4.0, v + 8.0, (4, 4), 3));
            let (a, b) = (cells(u, v, (4, 4), 1.0, 3), cells(u + 4.0, v, (4, 4), 1.0, 3));
            assert!((a.f1 - b.f1).abs() < 1e-4 && a.id == b.id);
        }
    }
}
