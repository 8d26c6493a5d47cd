//! Street furniture: lamps, signs, benches, bollards, barrels, fences, cables with pennants, doors and awnings.

use super::house_parts::{PAINTS, awning, door_leaf};
use crate::catalog::File;
use crate::math::{Frame, PI, TAU, cos, sin};
use crate::mesh::Builder;
use crate::shape::skip;
use glam::{Vec2, Vec3};

/// Canvases that awnings and stalls come in.
pub const CANVASES: [&str; 4] = ["canvas_red", "canvas_plain", "canvas_green", "canvas_blue"];
/// Colours of pennants.
pub const PENNANTS: [&str; 4] = ["pennant_red", "pennant_yellow", "pennant_blue", "pennant_white"];
/// What shop signs show.
pub const SIGNS: [&str; 4] = ["pretzel", "boot", "key", "barrel"];
/// Height of a lamp post's light.
pub const LAMP_Y: f32 = 3.42;
/// Between the ends of a cable over a main street, metres.
pub const CABLE_M: f32 = 10.4;

fn p(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Adds everything.
pub fn build(file: &mut File) {
    for paint in PAINTS {
        file.add_single(&format!("door_{}", &paint[6..]), door_leaf(paint));
    }
    for canvas in CANVASES {
        file.add_single(&format!("awning_{}", &canvas[7..]), awning(canvas));
    }
    for pennant in PENNANTS {
        file.add_single(pennant, self::pennant(pennant));
        file.add_single(&format!("flag_{}", &pennant[8..]), flag(pennant));
    }
    for sign in SIGNS {
        file.add_single(&format!("sign_{sign}"), self::sign(sign));
    }
    for (name, surround, frame) in [("stone", "ashlar", "paint_white"), ("timber", "timber", "paint_brown")] {
        file.add_single(&format!("window_flush_{name}"), window_flush(surround, frame, "glass"));
        file.add_single(&format!("window_flush_{name}_lit"), window_flush(surround, frame, "glass_lit"));
    }
    file.add_single("lamp_post", lamp_post());
    file.add_single("lamp_wall", lamp_wall());
    file.add_single("sign_bracket", sign_bracket());
    file.add_single("bench", bench());
    file.add_single("bollard", bollard());
    file.add_single("barrel", barrel());
    file.add_single("crate", crate_box());
    file.add_single("planter", planter());
    file.add_single("fence", fence());
    file.add_single("flagpole", flagpole());
    file.add_single("cable", cable());
    file.add_single("bicycle", bicycle());
    file.add_single("notice_board", notice_board());
    file.add_single("garden_wall", garden_wall());
}

/// A window that is set on a wall instead of into it, for walls whose mesh has no hole: its deep surround makes the niche.
fn window_flush(surround: &'static str, frame: &'static str, glass: &'static str) -> Builder {
    let mut b = Builder::default();
    let (w, h, deep) = (0.48, 1.3, 0.085);
    b.block(surround, p(-w - 0.14, -0.10, -0.02), p(w + 0.14, 0.0, deep + 0.06), 0.014, skip::BACK);
    b.block(surround, p(-w - 0.14, h, -0.02), p(w + 0.14, h + 0.17, deep), 0.014, skip::BACK);
    for s in [-1.0f32, 1.0] {
        b.block(
            surround,
            p((s * w).min(s * (w + 0.12)), 0.0, -0.02),
            p((s * w).max(s * (w + 0.12)), h, deep - 0.01),
            0.012,
            skip::BACK,
        );
        b.block(
            frame,
            p((s * w).min(s * (w - 0.06)), 0.0, -0.02),
            p((s * w).max(s * (w - 0.06)), h, 0.03),
            0.006,
            skip::BACK,
        );
    }
    b.block(frame, p(-w, 0.0, -0.02), p(w, 0.06, 0.031), 0.0, skip::BACK);
    b.block(frame, p(-w, h - 0.06, -0.02), p(w, h, 0.031), 0.0, skip::BACK);
    b.block(frame, p(-0.03, 0.06, -0.02), p(0.03, h - 0.06, 0.034), 0.0, skip::BACK);
    for y in [0.45, 0.86] {
        b.block(frame, p(-w, y - 0.015, -0.02), p(w, y + 0.015, 0.026), 0.0, skip::BACK);
    }
    b.polygon_ao(glass, &[p(-w, 0.0, 0.012), p(w, 0.0, 0.012), p(w, h, 0.012), p(-w, h, 0.012)], &[0.9, 0.9, 0.7, 0.7]);
    b
}

fn lantern(b: &mut Builder) {
    // Four tapered panes of lit glass in an iron frame; the origin is the lantern's foot.
    let (r0, r1, h) = (0.10, 0.165, 0.36);
    let corner = |k: usize, r: f32, y: f32| {
        let a = PI / 4.0 + PI / 2.0 * k as f32;
        p(r * sin(a) * 1.414, y, r * cos(a) * 1.414)
    };
    for k in 0..4 {
        b.polygon(
            "lamp_glass",
            &[corner(k, r0, 0.03), corner(k + 1, r0, 0.03), corner(k + 1, r1, h), corner(k, r1, h)],
        );
        b.beam("iron", corner(k, r0, 0.02), corner(k, r1, h + 0.01), 0.022, 0.022, 0.0);
        b.beam("iron", corner(k, r1, h), corner(k + 1, r1, h), 0.024, 0.024, 0.0);
    }
    b.lathe("iron", &[(0.0, -0.05), (0.05, -0.03), (0.15, 0.0), (0.15, 0.03), (0.0, 0.031)], 8);
    b.lathe(
        "iron",
        &[(0.0, h), (0.26, h), (0.26, h + 0.02), (0.15, h + 0.11), (0.06, h + 0.16), (0.05, h + 0.22), (0.0, h + 0.30)],
        8,
    );
}

fn lamp_post() -> Builder {
    let mut b = Builder::default();
    b.lathe(
        "iron",
        &[
            (0.19, -0.2),
            (0.19, 0.10),
            (0.17, 0.14),
            (0.115, 0.18),
            (0.10, 0.72),
            (0.125, 0.76),
            (0.125, 0.81),
            (0.07, 0.88),
            (0.052, 1.9),
            (0.043, 2.95),
            (0.075, 2.98),
            (0.075, 3.04),
            (0.04, 3.08),
            (0.035, 3.2),
            (0.0, 3.21),
        ],
        9,
    );
    b.tube("iron", &[(p(-0.34, 2.82, 0.0), 0.016), (p(0.34, 2.82, 0.0), 0.016)], 6, true);
    b.within(Frame::at(0.0, 3.24, 0.0), lantern);
    b
}

fn lamp_wall() -> Builder {
    let mut b = Builder::default();
    b.block("iron", p(-0.06, -0.30, 0.0), p(0.06, 0.20, 0.03), 0.01, skip::BACK);
    let curl: Vec<(Vec3, f32)> = (0..=6)
        .map(|i| {
            let a = PI * 0.5 * i as f32 / 6.0;
            (p(0.0, -0.22 + 0.42 * sin(a), 0.02 + 0.52 * (1.0 - cos(a))), 0.016)
        })
        .collect();
    b.tube("iron", &curl, 6, true);
    b.tube("iron", &[(p(0.0, 0.14, 0.02), 0.014), (p(0.0, 0.20, 0.56), 0.014)], 6, true);
    b.within(Frame::at(0.0, 0.24, 0.54), lantern);
    b
}

fn sign_bracket() -> Builder {
    let mut b = Builder::default();
    b.tube("iron", &[(p(0.0, 0.0, 0.0), 0.018), (p(0.0, 0.0, 0.95), 0.018)], 6, true);
    b.tube("iron", &[(p(0.0, 0.42, 0.0), 0.012), (p(0.0, 0.0, 0.62), 0.012)], 6, false);
    b.block("iron", p(-0.05, -0.10, -0.01), p(0.05, 0.50, 0.02), 0.008, skip::BACK);
    b.ellipsoid("gilt", p(0.0, 0.0, 0.97), Vec3::splat(0.035), 8, 6);
    b
}

/// Hangs below its origin, in the plane x = 0, along +z.
fn sign(kind: &str) -> Builder {
    let mut b = Builder::default();
    for z in [-0.22, 0.22] {
        b.tube("iron", &[(p(0.0, 0.0, z), 0.006), (p(0.0, -0.13, z), 0.006)], 5, false);
    }
    let paint = match kind {
        "pretzel" => "paint_red",
        "boot" => "paint_green",
        "key" => "paint_blue",
        _ => "paint_brown",
    };
    b.block(paint, p(-0.022, -0.72, -0.31), p(0.022, -0.13, 0.31), 0.012, 0);
    b.block("gilt", p(-0.026, -0.69, -0.28), p(0.026, -0.66, 0.28), 0.004, 0);
    b.block("gilt", p(-0.026, -0.19, -0.28), p(0.026, -0.16, 0.28), 0.004, 0);
    let x = 0.03;
    for s in [-x, x] {
        match kind {
            "pretzel" => {
                let curve: Vec<(Vec3, f32)> = (0..=24)
                    .map(|i| {
                        let t = TAU * i as f32 / 24.0;
                        (p(s, -0.43 + 0.14 * cos(t * 0.5 * 2.0), 0.17 * sin(t)), 0.024)
                    })
                    .collect();
                b.tube("gilt", &curve, 6, false);
                b.tube("gilt", &[(p(s, -0.54, -0.1), 0.02), (p(s, -0.32, 0.06), 0.02)], 6, true);
                b.tube("gilt", &[(p(s, -0.54, 0.1), 0.02), (p(s, -0.32, -0.06), 0.02)], 6, true);
            }
            "boot" => {
                b.block("gilt", p(s - 0.012, -0.57, -0.07), p(s + 0.012, -0.27, 0.06), 0.01, 0);
                b.block("gilt", p(s - 0.012, -0.58, -0.19), p(s + 0.012, -0.48, -0.05), 0.01, 0);
            }
            "key" => {
                b.tube("gilt", &[(p(s, -0.43, -0.2), 0.018), (p(s, -0.43, 0.1), 0.018)], 6, true);
                b.ellipsoid("gilt", p(s, -0.43, 0.14), p(0.015, 0.08, 0.08), 10, 6);
                b.block("gilt", p(s - 0.01, -0.53, -0.19), p(s + 0.01, -0.43, -0.12), 0.004, 0);
            }
            _ => b.ellipsoid("gilt", p(s, -0.43, 0.0), p(0.015, 0.17, 0.13), 14, 8),
        }
    }
    b
}

fn bench() -> Builder {
    let mut b = Builder::default();
    for x in [-0.72, 0.72] {
        b.tube(
            "iron",
            &[
                (p(x, 0.0, 0.22), 0.022),
                (p(x, 0.40, 0.19), 0.02),
                (p(x, 0.42, -0.17), 0.02),
                (p(x, 0.86, -0.27), 0.018),
            ],
            6,
            true,
        );
        b.tube("iron", &[(p(x, 0.0, -0.26), 0.022), (p(x, 0.42, -0.17), 0.02)], 6, true);
        b.tube("iron", &[(p(x, 0.42, 0.17), 0.018), (p(x, 0.63, 0.16), 0.018), (p(x, 0.64, -0.2), 0.018)], 6, true);
    }
    for i in 0..4 {
        b.uv_offset = Vec2::new(0.3 * i as f32, 0.16 * i as f32);
        let z = -0.15 + 0.11 * i as f32;
        b.block("planks", p(-0.85, 0.43, z - 0.045), p(0.85, 0.465, z + 0.045), 0.01, 0);
    }
    for i in 0..3 {
        let (y, z) = (0.56 + 0.12 * i as f32, -0.195 - 0.028 * i as f32);
        b.within(Frame::at(0.0, y, z).pitch(-13.0), |b| {
            b.block("planks", p(-0.85, -0.045, -0.015), p(0.85, 0.045, 0.015), 0.01, 0)
        });
    }
    b
}

fn bollard() -> Builder {
    let mut b = Builder::default();
    b.lathe(
        "ashlar_grey",
        &[
            (0.17, -0.3),
            (0.165, 0.10),
            (0.125, 0.16),
            (0.115, 0.66),
            (0.14, 0.70),
            (0.14, 0.76),
            (0.10, 0.85),
            (0.0, 0.88),
        ],
        14,
    );
    b
}

fn barrel() -> Builder {
    let mut b = Builder::default();
    b.lathe(
        "planks",
        &[
            (0.25, 0.0),
            (0.30, 0.2),
            (0.315, 0.42),
            (0.30, 0.64),
            (0.25, 0.85),
            (0.225, 0.85),
            (0.225, 0.81),
            (0.0, 0.81),
        ],
        18,
    );
    for (y, r) in [(0.07, 0.275), (0.24, 0.308), (0.58, 0.308), (0.76, 0.275)] {
        b.lathe(
            "iron",
            &[(r - 0.01, y - 0.025), (r + 0.003, y - 0.022), (r + 0.003, y + 0.022), (r - 0.01, y + 0.025)],
            18,
        );
    }
    b
}

fn crate_box() -> Builder {
    let mut b = Builder::default();
    let (w, h, d) = (0.34, 0.42, 0.25);
    for (i, y) in [0.02f32, 0.16, 0.30].into_iter().enumerate() {
        b.uv_offset = Vec2::new(0.21 * i as f32, 0.16 * i as f32);
        for s in [-1.0f32, 1.0] {
            b.block("planks", p(-w, y, s * d - 0.012), p(w, y + 0.115, s * d + 0.012), 0.0, 0);
            b.block("planks", p(s * w - 0.012, y, -d), p(s * w + 0.012, y + 0.115, d), 0.0, skip::BACK);
        }
    }
    for (x, z) in [(-w, -d), (w, -d), (-w, d), (w, d)] {
        b.post("planks_dark", p(x * 0.94, 0.0, z * 0.92), p(0.05, h, 0.05), 0.0, skip::BOTTOM);
    }
    b.shaded(0.6, |b| b.polygon("planks", &[p(-w, 0.05, d), p(w, 0.05, d), p(w, 0.05, -d), p(-w, 0.05, -d)]));
    b
}

fn planter() -> Builder {
    let mut b = Builder::default();
    b.lathe("terracotta", &[(0.24, 0.0), (0.34, 0.46), (0.38, 0.47), (0.38, 0.55), (0.33, 0.56), (0.32, 0.50)], 18);
    b.lathe("soil", &[(0.325, 0.50), (0.0, 0.53)], 14);
    for k in 0..5 {
        b.within(Frame::at(0.1 * cos(k as f32 * 2.4), 0.48, 0.1 * sin(k as f32 * 2.4)).yaw(37.0 * k as f32), |b| {
            super::house_parts::card(b, if k % 2 == 0 { "tuft_geranium" } else { "tuft_flowers" }, 0.75, 0.6, 0.7);
        });
    }
    b
}

/// Three metres of field fence along x.
fn fence() -> Builder {
    let mut b = Builder::default();
    for x in [-1.5, 0.0] {
        b.post("timber_grey", p(x, -0.5, 0.0), p(0.13, 1.65, 0.13), 0.02, skip::BOTTOM);
    }
    for (i, y) in [0.38f32, 0.72, 1.04].into_iter().enumerate() {
        b.uv_offset = Vec2::new(0.4 * i as f32, 0.2);
        b.block("timber_grey", p(-1.56, y - 0.05, 0.055), p(1.56, y + 0.05, 0.095), 0.012, 0);
    }
    b
}

/// Three metres of garden wall along x.
fn garden_wall() -> Builder {
    let mut b = Builder::default();
    b.block("rubble", p(-1.52, -1.0, -0.2), p(1.52, 1.55, 0.2), 0.03, skip::BOTTOM | skip::ENDS);
    b.block("ashlar_grey", p(-1.52, 1.54, -0.26), p(1.52, 1.68, 0.26), 0.035, skip::ENDS);
    b.bake(|q, _| crate::math::lerp(0.65, 1.0, (q.y / 0.7).clamp(0.0, 1.0)));
    b
}

fn flagpole() -> Builder {
    let mut b = Builder::default();
    b.lathe("paint_white", &[(0.06, -0.3), (0.055, 2.0), (0.035, 7.4), (0.0, 7.42)], 10);
    b.ellipsoid("gilt", p(0.0, 7.48, 0.0), Vec3::splat(0.08), 10, 8);
    b.cylinder("ashlar", p(0.0, -0.3, 0.0), 0.3, 0.6, 14);
    b
}

/// A flag hinged at the pole (x = 0), 1.9 × 1.2 m, its waves frozen.
fn flag(mat: &'static str) -> Builder {
    let mut b = Builder::default();
    b.grid(mat, 16, 4, |i, j| {
        let (s, t) = (i as f32 / 16.0, j as f32 / 4.0);
        let wave = 0.14 * s * sin(s * 9.0 + t * 1.4);
        (p(0.05 + 1.85 * s, -1.2 + 1.2 * t - 0.22 * s * s, wave), Vec2::new(s * 1.9, -t * 1.2), 1.0)
    });
    b
}

/// A triangle hanging from its upper edge.
fn pennant(mat: &'static str) -> Builder {
    let mut b = Builder::default();
    b.grid(mat, 2, 3, |i, j| {
        let (s, t) = (i as f32 / 2.0 - 0.5, 1.0 - j as f32 / 3.0);
        (p(s * 0.36 * (1.0 - t), -0.48 * t, 0.02 * sin(t * 5.0)), Vec2::new(s, t * 0.5), 1.0)
    });
    b
}

/// How far a cable hangs below its ends at x.
pub fn cable_dip(x: f32) -> f32 {
    let t = 2.0 * x / CABLE_M;
    0.65 * (1.0 - t * t)
}

fn cable() -> Builder {
    let mut b = Builder::default();
    let points: Vec<(Vec3, f32)> = (0..=14)
        .map(|i| {
            let x = CABLE_M * (i as f32 / 14.0 - 0.5);
            (p(x, -cable_dip(x), 0.0), 0.011)
        })
        .collect();
    b.tube("rubber", &points, 4, false);
    b
}

fn bicycle() -> Builder {
    let mut b = Builder::default();
    for z in [-0.52, 0.52] {
        let ring = |r: f32, tube: f32| -> Vec<(Vec3, f32)> {
            (0..=20)
                .map(|i| (p(0.0, 0.34 + r * cos(TAU * i as f32 / 20.0), z + r * sin(TAU * i as f32 / 20.0)), tube))
                .collect()
        };
        b.tube("rubber", &ring(0.32, 0.018), 5, false);
        b.tube("steel", &ring(0.295, 0.010), 4, false);
        for i in 0..8 {
            let a = TAU * i as f32 / 8.0;
            b.tube(
                "steel",
                &[(p(0.0, 0.34, z), 0.003), (p(0.0, 0.34 + 0.29 * cos(a), z + 0.29 * sin(a)), 0.003)],
                3,
                false,
            );
        }
        b.ellipsoid("steel", p(0.0, 0.34, z), p(0.035, 0.022, 0.022), 6, 4);
    }
    let mut bar = |a: Vec3, c: Vec3, r: f32| b.tube("paint_teal", &[(a, r), (c, r)], 7, true);
    let (hub, crank, seat, head) = (p(0.0, 0.34, 0.52), p(0.0, 0.30, 0.10), p(0.0, 0.82, 0.22), p(0.0, 0.80, -0.36));
    bar(crank, seat, 0.016);
    bar(crank, head, 0.018);
    bar(seat, head, 0.016);
    bar(seat, hub, 0.010);
    bar(crank, hub, 0.010);
    bar(p(0.0, 0.97, -0.33), p(0.0, 0.34, -0.52), 0.014);
    b.tube(
        "steel",
        &[
            (p(-0.28, 0.96, -0.26), 0.012),
            (p(-0.2, 0.97, -0.34), 0.012),
            (p(0.2, 0.97, -0.34), 0.012),
            (p(0.28, 0.96, -0.26), 0.012),
        ],
        6,
        true,
    );
    b.ellipsoid("leather", p(0.0, 0.90, 0.24), p(0.07, 0.035, 0.13), 10, 6);
    b.tube("steel", &[(seat, 0.012), (p(0.0, 0.89, 0.23), 0.012)], 6, false);
    b
}

fn notice_board() -> Builder {
    let mut b = Builder::default();
    for x in [-0.8, 0.8] {
        b.post("timber", p(x, -0.3, 0.0), p(0.12, 2.5, 0.12), 0.015, skip::BOTTOM);
    }
    b.block("planks_dark", p(-0.8, 0.9, -0.03), p(0.8, 2.0, 0.03), 0.01, 0);
    for s in [0.0, 180.0] {
        b.within(Frame::IDENTITY.yaw(s), |b| {
            b.patch(
                "clay_tile",
                [p(-1.05, 2.12, 0.36), p(1.05, 2.12, 0.36), p(1.05, 2.42, 0.0), p(-1.05, 2.42, 0.0)],
                2,
                1,
                0.0,
            );
            for (i, (x, y, w, h)) in [
                (-0.6f32, 1.15f32, 0.32f32, 0.45f32),
                (-0.2, 1.3, 0.25, 0.36),
                (0.15, 1.1, 0.4, 0.3),
                (0.2, 1.5, 0.3, 0.4),
                (-0.55, 1.68, 0.28, 0.22),
            ]
            .into_iter()
            .enumerate()
            {
                let z = 0.034 + 0.002 * i as f32;
                b.polygon("paper", &[p(x, y, z), p(x + w, y + 0.01, z), p(x + w, y + h, z), p(x, y + h - 0.01, z)]);
            }
        });
    }
    b
}
