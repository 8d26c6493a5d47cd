//! The three-arched bridge, in world space about the river's middle: along z, centred on x = 0.

use crate::layout::plan::{BANKS, PAVING_M, ground_y};
use crate::math::{Frame, PI, cos, lerp, sin, smoothstep};
use crate::mesh::Builder;
use crate::shape::skip;
use glam::{Vec2, Vec3};

/// Half the roadway with its footpaths.
pub const HALF_W: f32 = 4.0;
const MID_Z: f32 = 0.5 * (BANKS.0 + BANKS.1);
/// z of the deck's ends.
pub const ENDS: (f32, f32) = (70.5, 101.5);
const SPRING_Y: f32 = -5.3;
const SPAN: f32 = 6.2;
const PIER: f32 = 1.6;
const RISE: f32 = 2.35;

/// Height of the deck's middle line at z.
pub fn deck_y(z: f32) -> f32 {
    let end = ground_y(0.0, 74.0) + PAVING_M + 0.01;
    let t = smoothstep(0.0, 1.0, 1.0 - ((z - MID_Z) / (MID_Z - ENDS.0)).abs());
    end + 1.75 * t
}

/// The underside at a distance from the middle: an arch, or the river bed within a pier.
fn soffit_y(d: f32) -> f32 {
    let pitch = SPAN + PIER;
    let local = d - pitch * (d / pitch).round();
    if (d / pitch).round().abs() > 1.0 || local.abs() > SPAN * 0.5 {
        return -8.0;
    }
    let t = local / (SPAN * 0.5);
    SPRING_Y + RISE * (1.0 - t * t).max(0.0).sqrt()
}

/// All of its fabric.
pub fn build() -> Builder {
    let mut b = Builder::default();
    sides(&mut b);
    barrels(&mut b);
    deck(&mut b);
    parapets(&mut b);
    cutwaters(&mut b);
    b
}

fn sides(b: &mut Builder) {
    // Columns: fine within arches, one for each pier and abutment.
    let mut cuts: Vec<f32> = vec![ENDS.0 - MID_Z, ENDS.1 - MID_Z];
    for k in -1..=1 {
        let c = (SPAN + PIER) * k as f32;
        for i in 0..=16 {
            cuts.push(c - SPAN * 0.5 * cos(PI * i as f32 / 16.0));
        }
    }
    cuts.sort_by(f32::total_cmp);
    for side in [-1.0f32, 1.0] {
        for pair in cuts.windows(2) {
            if pair[1] - pair[0] < 1e-4 {
                continue;
            }
            let mid = 0.5 * (pair[0] + pair[1]);
            let low = |d: f32| {
                if soffit_y(mid) < -7.9 {
                    -8.0
                } else {
                    soffit_y(d.clamp(pair[0] + 1e-4, pair[1] - 1e-4)).max(SPRING_Y)
                }
            };
            let p = |d: f32, y: f32| Vec3::new(side * HALF_W, y, MID_Z + d);
            let (a, c) = if side > 0.0 { (pair[1], pair[0]) } else { (pair[0], pair[1]) };
            let quad = [p(a, low(a)), p(c, low(c)), p(c, deck_y(MID_Z + c)), p(a, deck_y(MID_Z + a))];
            b.polygon_ao("ashlar_grey", &quad, &[0.75, 0.75, 1.0, 1.0]);
        }
        for k in -1..=1 {
            let c = (SPAN + PIER) * k as f32;
            let n = 15;
            for i in 0..n {
                let at = |i: f32, out: f32| {
                    let a = PI * i / n as f32;
                    Vec3::new(
                        side * (HALF_W + 0.01),
                        SPRING_Y + (RISE + out) * sin(a),
                        MID_Z + c - (SPAN * 0.5 + out) * cos(a),
                    )
                };
                let mid = at(i as f32 + 0.5, 0.2);
                let long = if i % 2 == 0 { 0.56 } else { 0.46 };
                b.uv_offset = Vec2::new(0.3 * i as f32, 0.17 * i as f32);
                let tangent = (at(i as f32 + 1.0, 0.2) - at(i as f32, 0.2)).normalize();
                let up = Vec3::X.cross(tangent)
                    * if Vec3::X.cross(tangent).dot(mid - Vec3::new(mid.x, SPRING_Y, MID_Z + c)) < 0.0 {
                        -1.0
                    } else {
                        1.0
                    };
                let x = up.cross(tangent);
                let half = 0.5 * (at(i as f32 + 1.0, 0.2) - at(i as f32, 0.2)).length() - 0.006;
                let frame = Frame { linear: glam::Mat3::from_cols(x, up, tangent), origin: mid };
                b.within(frame, |b| {
                    b.block("ashlar", Vec3::new(-0.08, -0.24, -half), Vec3::new(0.08, long - 0.24, half), 0.02, 0)
                });
            }
        }
    }
    b.uv_offset = Vec2::ZERO;
}

fn barrels(b: &mut Builder) {
    let n = 16;
    for k in -1..=1 {
        let c = (SPAN + PIER) * k as f32;
        b.grid("ashlar_grey", n, 4, |i, j| {
            let a = PI * i as f32 / n as f32;
            let x = lerp(HALF_W, -HALF_W, j as f32 / 4.0);
            let dark = lerp(0.72, 0.5, 1.0 - (x / HALF_W).abs());
            let p = Vec3::new(x, SPRING_Y + RISE * sin(a), MID_Z + c - SPAN * 0.5 * cos(a));
            (p, Vec2::new(a * SPAN * 0.6, x), dark)
        });
        // Piers below the springing.
        for s in [-1.0f32, 1.0] {
            let z = MID_Z + c + s * SPAN * 0.5;
            let (l, r) = if s > 0.0 { (HALF_W, -HALF_W) } else { (-HALF_W, HALF_W) };
            let p = |x: f32, y: f32| Vec3::new(x, y, z);
            b.polygon_ao(
                "ashlar_grey",
                &[p(l, -8.0), p(r, -8.0), p(r, SPRING_Y), p(l, SPRING_Y)],
                &[0.5, 0.5, 0.65, 0.65],
            );
        }
    }
}

fn deck(b: &mut Builder) {
    let n = 24;
    let z_at = |j: usize| lerp(ENDS.1, ENDS.0, j as f32 / n as f32);
    let mut lane = |mat: &'static str, x0: f32, x1: f32, up: f32, ao: f32| {
        b.grid(mat, 2, n, |i, j| {
            let (x, z) = (lerp(x0, x1, i as f32 / 2.0), z_at(j));
            (Vec3::new(x, deck_y(z) + up, z), Vec2::new(x, z), ao)
        });
    };
    lane("cobble", -2.6, 2.6, 0.0, 0.98);
    lane("flagstone", -3.72, -2.75, 0.12, 0.9);
    lane("flagstone", 2.75, 3.72, 0.12, 0.9);
    for s in [-1.0f32, 1.0] {
        for j in 0..n {
            let (z0, z1) = (z_at(j), z_at(j + 1));
            let x = s * 2.68;
            b.beam("kerb", Vec3::new(x, deck_y(z0) + 0.05, z0), Vec3::new(x, deck_y(z1) + 0.05, z1), 0.16, 0.16, 0.02);
        }
    }
}

fn parapets(b: &mut Builder) {
    let n = 20;
    for s in [-1.0f32, 1.0] {
        for i in 0..n {
            let (z0, z1) = (lerp(ENDS.0, ENDS.1, i as f32 / n as f32), lerp(ENDS.0, ENDS.1, (i + 1) as f32 / n as f32));
            b.uv_offset = Vec2::new(0.7 * i as f32, 0.3 * (i % 3) as f32);
            let x = s * (HALF_W - 0.14);
            let (a, c) = (Vec3::new(x, deck_y(z0) + 0.48, z0), Vec3::new(x, deck_y(z1) + 0.48, z1));
            b.shaded(0.95, |b| b.beam("ashlar_grey", a, c, 0.30, 0.98, 0.012));
            let lift = Vec3::Y * 0.56;
            b.beam("ashlar", a + lift, c + lift, 0.46, 0.18, 0.035);
        }
        for z in [ENDS.0, ENDS.1] {
            let foot = Vec3::new(s * (HALF_W - 0.14), deck_y(z) - 1.2, z);
            b.post("ashlar", foot, Vec3::new(0.62, 2.5, 0.62), 0.03, skip::BOTTOM);
            b.post("ashlar", foot + Vec3::Y * 2.5, Vec3::new(0.78, 0.16, 0.78), 0.04, 0);
            b.ellipsoid("ashlar", foot + Vec3::Y * 2.9, Vec3::splat(0.27), 14, 8);
        }
    }
    b.uv_offset = Vec2::ZERO;
}

fn cutwaters(b: &mut Builder) {
    for s in [-1.0f32, 1.0] {
        for k in [-0.5f32, 0.5] {
            let z = MID_Z + (SPAN + PIER) * k;
            b.within(Frame::at(s * HALF_W, 0.0, z).yaw(if s > 0.0 { 90.0 } else { -90.0 }), |b| {
                let p = Vec3::new;
                let (h, d, top) = (PIER * 0.5 + 0.02, 1.3, -4.2);
                b.polygon_ao(
                    "ashlar_grey",
                    &[p(-h, -8.0, 0.0), p(0.0, -8.0, d), p(0.0, top, d), p(-h, top, 0.0)],
                    &[0.6, 0.6, 1.0, 1.0],
                );
                b.polygon_ao(
                    "ashlar_grey",
                    &[p(0.0, -8.0, d), p(h, -8.0, 0.0), p(h, top, 0.0), p(0.0, top, d)],
                    &[0.6, 0.6, 1.0, 1.0],
                );
                b.polygon("ashlar", &[p(-h - 0.05, top, 0.0), p(0.0, top, d + 0.08), p(0.0, top + 0.9, 0.0)]);
                b.polygon("ashlar", &[p(0.0, top, d + 0.08), p(h + 0.05, top, 0.0), p(0.0, top + 0.9, 0.0)]);
            });
        }
    }
}
