//! The market: stalls with wares under cloth, fountain, well, carts' loads.

use super::furniture::CANVASES;
use crate::catalog::File;
use crate::math::{Frame, PI, TAU, cos, sin};
use crate::mesh::Builder;
use crate::rng::Rng;
use crate::shape::skip;
use glam::{Vec2, Vec3};

fn p(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Adds everything.
pub fn build(file: &mut File) {
    file.add_single("stall", stall());
    for canvas in CANVASES {
        let short = &canvas[7..];
        file.add_single(&format!("stall_roof_{short}"), stall_roof(canvas));
        file.add_single(&format!("stall_cloth_{short}"), stall_cloth(canvas));
    }
    for (name, mats) in [
        ("apples", ["apple_red", "apple_green", "apple_red"]),
        ("oranges", ["orange", "orange", "apple_green"]),
        ("cabbages", ["cabbage", "cabbage", "cabbage"]),
        ("loaves", ["bread", "bread", "bread"]),
    ] {
        file.add_single(&format!("wares_{name}"), wares(name, &mats));
    }
    file.add_single("vegetable_bed", vegetable_bed());
    file.add_single("fountain", fountain());
    file.add_single("well", well());
}

/// A bed of 2.4 × 4.6 m: boards, soil, rows of cabbages and leaves.
fn vegetable_bed() -> Builder {
    let mut b = Builder::default();
    let mut rng = Rng::new(905);
    let (w, d) = (1.2f32, 2.3f32);
    for s in [-1.0f32, 1.0] {
        b.block("timber_grey", p(s * w - 0.03, -0.5, -d), p(s * w + 0.03, 0.14, d), 0.0, skip::BOTTOM);
        b.block("timber_grey", p(-w, -0.5, s * d - 0.03), p(w, 0.14, s * d + 0.03), 0.0, skip::BOTTOM);
    }
    b.grid("soil", 8, 2, |i, j| {
        let (x, z) = (w * (i as f32 / 4.0 - 1.0), d * (1.0 - j as f32));
        let ridge = if i % 2 == 1 { 0.05 } else { 0.0 };
        (p(x, 0.07 + ridge, z), Vec2::new(x, z), 0.95)
    });
    for row in 0..3 {
        let x = -0.8 + 0.8 * row as f32;
        for k in 0..7 {
            let z = -1.95 + 0.65 * k as f32 + rng.range(-0.06, 0.06);
            if row == 1 {
                for turn in [20.0, 110.0] {
                    b.within(Frame::at(x, 0.04, z).yaw(turn + 40.0 * k as f32), |b| {
                        super::house_parts::card(b, "tuft_grass", 0.55, 0.5, 0.7);
                    });
                }
            } else {
                let r = rng.range(0.12, 0.17);
                b.ellipsoid("cabbage", p(x, 0.10 + 0.7 * r, z), p(r, 0.8 * r, r), 6, 4);
                b.within(Frame::at(x, 0.07, z).yaw(33.0 * k as f32), |b| {
                    b.lathe("cabbage", &[(0.0, 0.02), (r * 1.2, 0.05), (r * 1.75, 0.13)], 6);
                    b.lathe("cabbage", &[(r * 1.75, 0.13), (r * 1.2, 0.06), (0.0, 0.03)], 6);
                });
            }
        }
    }
    b
}

/// A table 2.6 m long with four posts; the front is +Z.
fn stall() -> Builder {
    let mut b = Builder::default();
    for (x, z, h) in [(-1.3, 0.7, 2.2), (1.3, 0.7, 2.2), (-1.3, -0.7, 2.55), (1.3, -0.7, 2.55)] {
        b.post("timber_grey", p(x, -0.02, z), p(0.075, h, 0.075), 0.01, skip::BOTTOM);
    }
    for i in 0..5 {
        b.uv_offset = Vec2::new(0.37 * i as f32, 0.16 * i as f32);
        let z = -0.30 + 0.21 * i as f32;
        b.block("planks", p(-1.36, 0.86, z - 0.1), p(1.36, 0.90, z + 0.1), 0.008, 0);
    }
    for x in [-1.15, 1.15] {
        b.block("planks_dark", p(x - 0.03, 0.0, -0.3), p(x + 0.03, 0.86, 0.6), 0.008, skip::BOTTOM);
    }
    for (z, y) in [(0.7, 2.14), (-0.7, 2.5)] {
        b.beam("timber_grey", p(-1.42, y, z), p(1.42, y, z), 0.06, 0.06, 0.01);
    }
    b
}

fn stall_roof(canvas: &'static str) -> Builder {
    let mut b = Builder::default();
    b.grid(canvas, 10, 6, |i, j| {
        let (s, t) = (i as f32 / 10.0, j as f32 / 6.0);
        let x = (s - 0.5) * 3.0;
        let belly = 0.09 * sin(PI * t) * sin(PI * s);
        (p(x, 2.16 + 0.40 * t - belly, 0.95 - 1.85 * t), Vec2::new(x, -t * 1.9), 1.0 - 0.1 * (1.0 - t))
    });
    b
}

/// A valance that hangs from its upper edge (the origin), 3 m long.
fn stall_cloth(canvas: &'static str) -> Builder {
    let mut b = Builder::default();
    b.grid(canvas, 24, 2, |i, j| {
        let (s, t) = (i as f32 / 24.0, 1.0 - j as f32 / 2.0);
        let x = (s - 0.5) * 3.0;
        let scallop = if j == 0 { 0.06 * (sin(s * 12.0 * PI)).abs() } else { 0.0 };
        (p(x, -0.26 * t - scallop, 0.02 * sin(s * 31.0) * t), Vec2::new(x, t * 0.3), 1.0 - 0.12 * t)
    });
    b
}

/// A shallow tray 0.7 × 0.5 m heaped with something.
fn wares(kind: &str, mats: &[&'static str; 3]) -> Builder {
    let mut b = Builder::default();
    let mut rng = Rng::new(900 + kind.len() as u64);
    let (w, d) = (0.33, 0.24);
    for s in [-1.0f32, 1.0] {
        b.block("planks", p(-w, 0.0, s * d - 0.01), p(w, 0.11, s * d + 0.01), 0.004, 0);
        b.block("planks", p(s * w - 0.01, 0.0, -d), p(s * w + 0.01, 0.11, d), 0.004, 0);
    }
    b.shaded(0.6, |b| b.polygon("planks", &[p(-w, 0.02, d), p(w, 0.02, d), p(w, 0.02, -d), p(-w, 0.02, -d)]));
    let (r, nx, nz) = match kind {
        "cabbages" => (0.085, 4, 3),
        "loaves" => (0.07, 3, 4),
        _ => (0.045, 7, 5),
    };
    for layer in 0..2 {
        let (nx, nz) = (nx - layer, nz - layer);
        for i in 0..nx {
            for k in 0..nz {
                let x = (i as f32 + 0.5 - nx as f32 * 0.5) * (2.0 * w - 0.04) / (nx + layer) as f32;
                let z = (k as f32 + 0.5 - nz as f32 * 0.5) * (2.0 * d - 0.04) / (nz + layer) as f32;
                let c =
                    p(x + rng.range(-0.01, 0.01), 0.05 + r * (1.0 + 1.35 * layer as f32), z + rng.range(-0.01, 0.01));
                let half = if kind == "loaves" {
                    p(r * 1.5, r * 0.8, r * 0.85)
                } else {
                    Vec3::splat(r * rng.range(0.92, 1.08))
                };
                let mat = mats[rng.below(3)];
                b.shaded(if layer == 0 { 0.75 } else { 1.0 }, |b| b.ellipsoid(mat, c, half, 6, 4));
            }
        }
    }
    b
}

fn fountain() -> Builder {
    let mut b = Builder::default();
    // Octagonal basin on a step, a column with two bowls and a gilt finial.
    b.lathe("ashlar_grey", &[(3.3, -0.2), (3.3, 0.13), (3.24, 0.17), (2.7, 0.19)], 8);
    b.lathe(
        "ashlar",
        &[
            (2.62, 0.17),
            (2.62, 0.30),
            (2.48, 0.36),
            (2.46, 0.78),
            (2.60, 0.84),
            (2.60, 0.96),
            (2.54, 1.0),
            (2.24, 1.0),
            (2.18, 0.95),
            (2.18, 0.5),
        ],
        8,
    );
    b.lathe("water", &[(2.2, 0.82), (0.0, 0.82)], 24);
    b.lathe(
        "ashlar",
        &[
            (0.55, 0.4),
            (0.55, 0.95),
            (0.42, 1.02),
            (0.30, 1.12),
            (0.26, 1.7),
            (0.34, 1.78),
            (0.34, 1.86),
            (0.24, 1.92),
            (0.75, 2.10),
            (1.15, 2.28),
            (1.18, 2.36),
            (1.08, 2.36),
            (0.7, 2.24),
            (0.3, 2.22),
        ],
        24,
    );
    b.lathe("water", &[(1.06, 2.315), (0.0, 2.315)], 20);
    b.lathe(
        "ashlar",
        &[
            (0.24, 2.2),
            (0.20, 2.34),
            (0.15, 2.9),
            (0.2, 2.96),
            (0.14, 3.02),
            (0.42, 3.15),
            (0.58, 3.27),
            (0.54, 3.29),
            (0.2, 3.2),
            (0.12, 3.3),
            (0.1, 3.5),
            (0.0, 3.52),
        ],
        20,
    );
    b.ellipsoid("gilt", p(0.0, 3.66, 0.0), Vec3::splat(0.18), 14, 10);
    b.lathe("gilt", &[(0.05, 3.8), (0.02, 4.1), (0.0, 4.12)], 8);
    for k in 0..4 {
        let a = TAU * k as f32 / 4.0 + PI / 4.0;
        let dir = p(sin(a), 0.0, cos(a));
        let arc: Vec<(Vec3, f32)> = (0..=8)
            .map(|i| {
                let t = i as f32 / 8.0;
                (dir * (1.12 + 0.55 * t) + Vec3::Y * (2.36 + 0.22 * t - 1.75 * t * t), 0.022 + 0.012 * t)
            })
            .collect();
        b.tube("water", &arc, 6, false);
    }
    b.bake(|q, n| {
        if n.y < -0.2 {
            0.62
        } else if q.y < 0.5 && q.y > 0.2 {
            0.82
        } else {
            1.0
        }
    });
    b
}

fn well() -> Builder {
    let mut b = Builder::default();
    b.lathe("rubble", &[(0.95, -0.2), (0.92, 0.82)], 20);
    b.lathe(
        "ashlar",
        &[(0.98, 0.82), (1.0, 0.86), (1.0, 0.94), (0.96, 0.98), (0.70, 0.98), (0.66, 0.94), (0.64, 0.2)],
        20,
    );
    b.lathe("interior", &[(0.7, 0.3), (0.0, 0.3)], 16);
    for x in [-0.82, 0.82] {
        b.post("timber", p(x, 0.9, 0.0), p(0.14, 1.5, 0.14), 0.015, skip::BOTTOM);
    }
    b.within(Frame::at(0.0, 1.75, 0.0).roll(90.0), |b| {
        b.lathe("timber", &[(0.0, -0.8), (0.09, -0.8), (0.09, 0.8), (0.0, 0.8)], 10)
    });
    for s in [0.0, 180.0] {
        b.within(Frame::IDENTITY.yaw(s), |b| {
            b.patch(
                "clay_tile",
                [p(-1.15, 2.2, 0.85), p(1.15, 2.2, 0.85), p(1.15, 2.95, 0.0), p(-1.15, 2.95, 0.0)],
                4,
                2,
                0.04,
            );
            b.shaded(0.6, |b| {
                b.polygon(
                    "planks_dark",
                    &[p(1.15, 2.17, 0.85), p(-1.15, 2.17, 0.85), p(-1.15, 2.9, 0.0), p(1.15, 2.9, 0.0)],
                )
            });
        });
    }
    for x in [-1.1f32, 1.1] {
        let mut tri = [p(x, 2.25, 0.75), p(x, 2.25, -0.75), p(x, 2.88, 0.0)];
        if x < 0.0 {
            tri.reverse();
        }
        b.polygon("planks_dark", &tri);
    }
    b.tube("straw", &[(p(0.1, 1.7, 0.09), 0.012), (p(0.1, 1.15, 0.12), 0.012)], 5, false);
    b.lathe("planks", &[(0.0, 0.98), (0.12, 0.98), (0.15, 1.22), (0.13, 1.22), (0.12, 1.02)], 12);
    b
}
