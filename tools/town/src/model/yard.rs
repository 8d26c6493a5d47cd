//! Gateways into yards and steps down to the river.

use crate::catalog::File;
use crate::math::{Frame, PI, cos, sin};
use crate::mesh::Builder;
use crate::shape::skip;
use glam::Vec3;

fn p(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Width of a gateway in metres.
pub const GATE_M: f32 = 3.7;
/// Its depth.
pub const GATE_DEPTH_M: f32 = 0.7;

/// Adds everything.
pub fn build(file: &mut File) {
    file.add_single("gateway_stone", gateway("rubble", "ashlar"));
    file.add_single("gateway_plaster", gateway("plaster_cream", "ashlar_grey"));
    file.add_single("gate_leaf", gate_leaf());
    file.add_single("river_steps", river_steps());
}

/// A wall with a round-arched opening, tiled on top; the front is at z = 0, facing +Z.
fn gateway(wall: &'static str, stone: &'static str) -> Builder {
    let mut b = Builder::default();
    let (half, open, spring, rise, top, d) = (GATE_M * 0.5, 1.25, 2.0, 0.95, 3.7, -GATE_DEPTH_M);
    let n = 14;
    let arch = |i: usize, out: f32| {
        let a = PI * i as f32 / n as f32;
        (-(open + out) * cos(a), spring + (rise + out) * sin(a))
    };
    for (turn, z) in [(0.0, 0.0), (180.0, d)] {
        b.within(Frame::at(0.0, 0.0, z).yaw(turn), |b| {
            for s in [-1.0f32, 1.0] {
                let (x0, x1) = if s < 0.0 { (-half, -open) } else { (open, half) };
                b.polygon_ao(
                    wall,
                    &[p(x0, -1.2, 0.0), p(x1, -1.2, 0.0), p(x1, spring, 0.0), p(x0, spring, 0.0)],
                    &[0.55, 0.55, 1.0, 1.0],
                );
                b.polygon(wall, &[p(x0, spring, 0.0), p(x1, spring, 0.0), p(x1, top, 0.0), p(x0, top, 0.0)]);
            }
            for i in 0..n {
                let (a, c) = (arch(i, 0.0), arch(i + 1, 0.0));
                b.polygon(wall, &[p(a.0, a.1, 0.0), p(c.0, c.1, 0.0), p(c.0, top, 0.0), p(a.0, top, 0.0)]);
                let (e, f) = (arch(i, 0.26), arch(i + 1, 0.26));
                let z = 0.04;
                b.polygon(stone, &[p(a.0, a.1, z), p(c.0, c.1, z), p(f.0, f.1, z), p(e.0, e.1, z)]);
                b.polygon_ao(stone, &[p(e.0, e.1, z), p(f.0, f.1, z), p(f.0, f.1, 0.0), p(e.0, e.1, 0.0)], &[0.9; 4]);
                b.polygon_ao(stone, &[p(c.0, c.1, z), p(a.0, a.1, z), p(a.0, a.1, 0.0), p(c.0, c.1, 0.0)], &[0.75; 4]);
            }
            for s in [-1.0f32, 1.0] {
                let (x0, x1) = if s < 0.0 { (-open - 0.28, -open) } else { (open, open + 0.28) };
                b.block(stone, p(x0, -1.2, -0.02), p(x1, spring - 0.16, 0.05), 0.02, skip::BACK | skip::BOTTOM);
                b.block(stone, p(x0 - 0.04, spring - 0.16, -0.02), p(x1 + 0.04, spring, 0.09), 0.025, skip::BACK);
            }
            b.patch(
                "clay_tile",
                [
                    p(-half, top - 0.02, 0.28),
                    p(half, top - 0.02, 0.28),
                    p(half, top + 0.42, d * 0.5),
                    p(-half, top + 0.42, d * 0.5),
                ],
                3,
                1,
                0.02,
            );
            b.polygon_ao(
                "planks_dark",
                &[
                    p(-half, top - 0.05, 0.0),
                    p(half, top - 0.05, 0.0),
                    p(half, top - 0.05, 0.28),
                    p(-half, top - 0.05, 0.28),
                ],
                &[0.5; 4],
            );
        });
    }
    for i in 0..n {
        let (a, c) = (arch(i, 0.0), arch(i + 1, 0.0));
        b.polygon_ao(stone, &[p(c.0, c.1, 0.0), p(a.0, a.1, 0.0), p(a.0, a.1, d), p(c.0, c.1, d)], &[0.62; 4]);
    }
    b.polygon_ao(
        stone,
        &[p(-open, -1.2, 0.0), p(-open, -1.2, d), p(-open, spring, d), p(-open, spring, 0.0)],
        &[0.6; 4],
    );
    b.polygon_ao(stone, &[p(open, spring, 0.0), p(open, spring, d), p(open, -1.2, d), p(open, -1.2, 0.0)], &[0.6; 4]);
    b.tube("clay_tile", &[(p(-half, top + 0.42, d * 0.5), 0.11), (p(half, top + 0.42, d * 0.5), 0.11)], 8, true);
    b
}

/// Half of a boarded gate, hung at x = 0.
fn gate_leaf() -> Builder {
    let mut b = Builder::default();
    for i in 0..6 {
        b.uv_offset = glam::Vec2::new(0.3 * i as f32, 0.16 * i as f32);
        let x = 0.2 * i as f32;
        b.block("paint_green", p(x, 0.06, -0.03), p(x + 0.194, 2.0 + 0.1 * i as f32, 0.0), 0.008, 0);
    }
    for y in [0.3, 1.5] {
        b.block("timber", p(0.0, y, 0.0), p(1.19, y + 0.14, 0.05), 0.012, 0);
    }
    b.beam("timber", p(0.06, 0.44, 0.022), p(1.13, 1.5, 0.022), 0.12, 0.04, 0.01);
    b
}

/// A flight along a quay wall (the plane z = 0, water at +Z), from y = 0 at the left down to the right.
fn river_steps() -> Builder {
    let mut b = Builder::default();
    let n = 9;
    for i in 0..n {
        let (x, y) = (0.36 * i as f32, -0.19 * i as f32);
        b.uv_offset = glam::Vec2::new(0.37 * i as f32, 0.21 * i as f32);
        b.block("ashlar", p(x, -4.4, -0.02), p(x + 0.38, y, 1.5), 0.025, skip::BOTTOM | skip::BACK);
    }
    let end = 0.36 * n as f32;
    b.block("ashlar", p(end, -4.4, -0.02), p(end + 2.4, -0.19 * n as f32, 1.7), 0.03, skip::BOTTOM | skip::BACK);
    for x in [end + 0.4, end + 2.1] {
        b.post("timber", p(x, -4.0, 1.85), p(0.24, 3.3, 0.24), 0.03, skip::BOTTOM);
    }
    b.bake(|q, _| crate::math::lerp(0.6, 1.0, ((q.y + 2.4) / 1.0).clamp(0.0, 1.0)));
    b
}
