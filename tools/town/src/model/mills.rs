//! The windmill and the watermill's wheel.

use crate::catalog::File;
use crate::math::{Frame, PI, TAU, cos, lerp, sin};
use crate::mesh::Builder;
use crate::shape::skip;
use glam::{Vec2, Vec3};

fn p(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Where the windmill's sails turn: height, and how far before the tower's axis.
pub const SAIL_HUB: (f32, f32) = (11.3, 3.35);

/// Adds everything.
pub fn build(file: &mut File) {
    file.add_single("windmill_tower", tower());
    file.add_single("windmill_sail", sail());
    file.add_single("windmill_hub", hub());
    file.add_single("mill_wheel", wheel());
}

/// A tapered octagonal tower of boards on a stone foot, with a boat-shaped cap; sails face +Z.
fn tower() -> Builder {
    let mut b = Builder::default();
    b.lathe("rubble", &[(4.0, -1.5), (3.9, 2.6), (3.98, 2.7), (0.0, 2.75)], 8);
    let (r0, r1, y0, y1) = (3.6, 2.3, 2.6, 10.2);
    for k in 0..8 {
        let a = |k: usize| TAU * (k as f32 + 0.5) / 8.0;
        let q = |k: usize, r: f32, y: f32| p(r * sin(a(k)), y, r * cos(a(k)));
        b.patch("planks_tarred", [q(k, r0, y0), q(k + 1, r0, y0), q(k + 1, r1, y1), q(k, r1, y1)], 2, 6, 0.0);
        b.beam("paint_white", q(k, r0 + 0.02, y0), q(k, r1 + 0.02, y1), 0.16, 0.16, 0.02);
    }
    // Gallery with a railing.
    b.lathe("planks", &[(3.7, 2.75), (5.2, 2.75), (5.2, 2.9), (3.6, 2.9)], 16);
    for k in 0..16 {
        let a = TAU * k as f32 / 16.0;
        let foot = p(5.05 * sin(a), 2.9, 5.05 * cos(a));
        b.post("timber_grey", foot, p(0.09, 1.0, 0.09), 0.012, skip::BOTTOM);
        let next = TAU * (k + 1) as f32 / 16.0;
        let rail = p(5.05 * sin(next), 2.9, 5.05 * cos(next));
        b.beam("timber_grey", foot + Vec3::Y * 0.98, rail + Vec3::Y * 0.98, 0.08, 0.08, 0.012);
        b.beam("timber_grey", foot + Vec3::Y * 0.5, rail + Vec3::Y * 0.5, 0.05, 0.05, 0.01);
        b.beam(
            "timber_grey",
            p(3.8 * sin(a), 1.4, 3.8 * cos(a)),
            p(4.9 * sin(a), 2.75, 4.9 * cos(a)),
            0.14,
            0.14,
            0.02,
        );
    }
    b.lathe("paint_white", &[(2.3, 10.1), (2.5, 10.15), (2.5, 10.4), (2.2, 10.45)], 16);
    b.within(Frame::at(0.0, 10.3, 0.0).scale(2.45, 2.3, 3.0), |b| {
        let profile: Vec<(f32, f32)> =
            (0..=7).map(|i| PI * 0.5 * i as f32 / 7.0).map(|a| (cos(a).max(0.0), sin(a))).collect();
        b.lathe("slate", &profile, 18);
    });
    for (turn, y) in [(0.0f32, 4.2f32), (135.0, 5.0), (225.0, 7.2), (45.0, 7.0)] {
        let r = lerp(r0, r1, (y - y0) / (y1 - y0)) * 0.924;
        b.within(Frame::at(0.0, y, 0.0).yaw(turn), |b| {
            b.within(Frame::at(0.0, 0.0, r - 0.04).pitch(-9.5), |b| {
                b.polygon("glass", &[p(-0.35, 0.0, 0.06), p(0.35, 0.0, 0.06), p(0.35, 0.9, 0.06), p(-0.35, 0.9, 0.06)]);
                for (lo, hi) in [
                    (p(-0.45, -0.08, 0.0), p(0.45, 0.0, 0.14)),
                    (p(-0.45, 0.9, 0.0), p(0.45, 0.98, 0.12)),
                    (p(-0.45, 0.0, 0.0), p(-0.35, 0.9, 0.12)),
                    (p(0.35, 0.0, 0.0), p(0.45, 0.9, 0.12)),
                    (p(-0.025, 0.0, 0.0), p(0.025, 0.9, 0.09)),
                    (p(-0.35, 0.43, 0.0), p(0.35, 0.47, 0.09)),
                ] {
                    b.block("paint_white", lo, hi, 0.01, skip::BACK);
                }
            });
        });
    }
    b.within(Frame::at(0.0, 0.0, 3.7), |b| {
        b.block("paint_green", p(-0.55, 0.0, 0.0), p(0.55, 2.1, 0.12), 0.02, skip::BACK);
        b.block("ashlar", p(-0.75, -0.8, -0.1), p(0.75, 0.02, 0.7), 0.03, 0);
    });
    b
}

fn hub() -> Builder {
    let mut b = Builder::default();
    b.within(Frame::IDENTITY.pitch(90.0), |b| {
        b.lathe("iron", &[(0.32, -1.2), (0.32, 0.25), (0.2, 0.35), (0.0, 0.38)], 12)
    });
    b
}

/// One sail along +Y from the hub: stock, lattice and cloth.
fn sail() -> Builder {
    let mut b = Builder::default();
    b.beam("timber", p(0.0, 0.0, 0.0), p(0.0, 8.2, 0.0), 0.24, 0.20, 0.025);
    for x in [0.55f32, 1.1, 1.65] {
        b.beam("timber_grey", p(x, 1.4, 0.02), p(x, 8.1, 0.12), 0.05, 0.05, 0.008);
    }
    for i in 0..12 {
        let y = 1.4 + 6.7 * i as f32 / 11.0;
        b.beam("timber_grey", p(-0.3, y, 0.0), p(1.7, y, 0.10), 0.06, 0.05, 0.008);
    }
    b.grid("canvas_plain", 4, 12, |i, j| {
        let (s, t) = (i as f32 / 4.0, j as f32 / 12.0);
        let belly = 0.10 * sin(PI * s) * (0.4 + 0.6 * (sin(t * 34.0)).abs());
        (p(0.14 + 1.5 * s, 1.5 + 6.5 * t, 0.10 + 0.06 * s + belly), Vec2::new(s * 1.5, -t * 6.5), 1.0)
    });
    b
}

/// An undershot wheel, radius 2.2 m, 1.5 m wide; its axle is x.
fn wheel() -> Builder {
    let mut b = Builder::default();
    let (r, half) = (2.2f32, 0.75f32);
    let n = 16;
    for k in 0..n {
        let a = TAU * k as f32 / n as f32;
        let next = TAU * (k + 1) as f32 / n as f32;
        b.uv_offset = Vec2::new(0.31 * k as f32, 0.17 * k as f32);
        let at = |x: f32, r: f32, a: f32| p(x, r * cos(a), r * sin(a));
        for x in [-half, half] {
            b.beam("planks_dark", at(x, r * 0.90, a), at(x, r * 0.90, next), 0.30, 0.09, 0.015);
            if k % 2 == 0 {
                b.beam("timber", at(x, 0.2, a), at(x, r * 0.86, a), 0.16, 0.12, 0.02);
            }
        }
        b.within(
            Frame {
                linear: glam::Mat3::from_cols(Vec3::X, at(0.0, 1.0, a), p(0.0, -sin(a), cos(a))),
                origin: Vec3::ZERO,
            },
            |b| {
                b.block("planks_dark", p(-half, r * 0.74, -0.025), p(half, r * 1.02, 0.025), 0.01, 0);
            },
        );
    }
    b.uv_offset = Vec2::ZERO;
    b.within(Frame::IDENTITY.roll(90.0), |b| {
        b.lathe("timber", &[(0.0, -1.5), (0.24, -1.5), (0.24, 1.5), (0.0, 1.5)], 12)
    });
    b
}
