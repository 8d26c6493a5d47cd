//! The church: tower with clock and pyramid roof, nave with buttresses and traceried windows, chancel.

use super::roof::{Ends, Roof, gable};
use crate::catalog::{At, File, Node};
use crate::math::{Frame, PI, cos, sin};
use crate::mesh::Builder;
use crate::shape::{Opening, Wall, skip};
use glam::Vec3;

/// Half the tower's width.
pub const TOWER_HALF: f32 = 3.6;
/// Height of the tower's walls.
pub const TOWER_H: f32 = 23.0;
/// Height of the middle of the clock.
pub const CLOCK_Y: f32 = 16.4;
const NAVE_HALF: f32 = 5.6;
const NAVE_H: f32 = 8.6;
/// z of the nave's ends; the tower's front is at z = 0.
const NAVE_Z: (f32, f32) = (-6.4, -31.0);

/// Points of a pointed arch from the left springing over the tip to the right one, for a width and a springing height.
fn pointed_arch(w: f32, spring_y: f32) -> Vec<Vec3> {
    let n = 6;
    let half = w * 0.5;
    let mut points: Vec<Vec3> = (0..=n)
        .map(|i| {
            let a = PI - (PI / 3.0) * i as f32 / n as f32;
            Vec3::new(half + w * cos(a), spring_y + w * sin(a), 0.0)
        })
        .collect();
    points.extend((0..n).rev().map(|i| {
        let a = (PI / 3.0) * i as f32 / n as f32;
        Vec3::new(-half + w * cos(a), spring_y + w * sin(a), 0.0)
    }));
    points
}

/// What stands in an arched opening.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    Tracery,
    Louvres,
    Door,
}

/// Fills a rectangular opening `w` × `h` (origin: middle of its lower edge) with a pointed arch.
fn arch(w: f32, h: f32, depth: f32, wall: &'static str, fill: Fill) -> Builder {
    let mut b = Builder::default();
    let spring = h - w * 0.866;
    let curve = pointed_arch(w, spring);
    let tip = curve.len() / 2;
    let half = w * 0.5;
    for (i, pair) in curve.windows(2).enumerate() {
        let corner = Vec3::new(if i < tip { -half } else { half }, h, 0.0);
        b.polygon(wall, &[pair[0], pair[1], corner]);
        let back = Vec3::new(0.0, 0.0, -depth);
        b.polygon_ao("ashlar", &[pair[1], pair[0], pair[0] + back, pair[1] + back], &[0.85, 0.85, 0.5, 0.5]);
        // Hood mould standing proud of the wall.
        let out = |p: Vec3| {
            let from = Vec3::new(0.0, spring, 0.0);
            p + (p - from).normalize_or(Vec3::Y) * 0.11 + Vec3::Z * 0.05
        };
        let proud = Vec3::Z * 0.05;
        b.polygon("ashlar", &[pair[0] + proud, pair[1] + proud, out(pair[1]), out(pair[0])]);
        b.polygon_ao(
            "ashlar",
            &[out(pair[0]), out(pair[1]), out(pair[1]) - proud * 1.2, out(pair[0]) - proud * 1.2],
            &[0.9; 4],
        );
        b.polygon_ao("ashlar", &[pair[1] + proud, pair[0] + proud, pair[0], pair[1]], &[0.8; 4]);
    }
    for s in [-1.0f32, 1.0] {
        let (x, d) = (s * half, -depth);
        let mut jamb =
            [Vec3::new(x, 0.0, 0.0), Vec3::new(x, 0.0, d), Vec3::new(x, spring, d), Vec3::new(x, spring, 0.0)];
        if s > 0.0 {
            jamb.reverse();
        }
        b.polygon_ao("ashlar", &jamb, &[0.85, 0.6, 0.6, 0.85]);
        b.block(
            "ashlar",
            Vec3::new(x.min(x + s * 0.16), 0.0, -0.02),
            Vec3::new(x.max(x + s * 0.16), spring, 0.05),
            0.02,
            skip::BACK,
        );
    }
    b.block("ashlar", Vec3::new(-half - 0.2, -0.16, -depth), Vec3::new(half + 0.2, 0.0, 0.14), 0.03, skip::BACK);
    let z = -depth + 0.08;
    let mut face: Vec<Vec3> = vec![Vec3::new(-half, 0.0, z), Vec3::new(half, 0.0, z)];
    face.extend(curve.iter().rev().map(|p| Vec3::new(p.x, p.y, z)));
    match fill {
        Fill::Tracery => {
            b.polygon("glass_old", &face);
            let bar = 0.075;
            let n = if w > 1.5 { 3 } else { 2 };
            for i in 1..n {
                let x = -half + w * i as f32 / n as f32;
                b.block(
                    "ashlar",
                    Vec3::new(x - bar * 0.5, 0.0, z),
                    Vec3::new(x + bar * 0.5, spring + 0.45 * w * 0.5, z + 0.14),
                    0.02,
                    skip::BACK,
                );
            }
            let ring = |b: &mut Builder, c: Vec3, r: f32, n: usize| {
                let points: Vec<(Vec3, f32)> = (0..=n)
                    .map(|i| {
                        let a = 2.0 * PI * i as f32 / n as f32;
                        (c + Vec3::new(r * cos(a), r * sin(a), 0.0), 0.045)
                    })
                    .collect();
                b.tube("ashlar", &points, 5, false);
            };
            ring(&mut b, Vec3::new(0.0, spring + 0.38 * w, z + 0.07), 0.2 * w, 14);
            for i in 0..n {
                let (c, r) = (-half + w * (i as f32 + 0.5) / n as f32, w * 0.5 / n as f32);
                let points: Vec<(Vec3, f32)> = (0..=8)
                    .map(|k| {
                        let a = PI * k as f32 / 8.0;
                        (Vec3::new(c + r * cos(a), spring - 0.1 + r * 1.25 * sin(a), z + 0.07), 0.04)
                    })
                    .collect();
                b.tube("ashlar", &points, 5, false);
            }
            let n_bars = (spring / 0.55) as usize;
            for i in 1..=n_bars {
                let y = spring * i as f32 / (n_bars + 1) as f32;
                b.block(
                    "lead",
                    Vec3::new(-half, y - 0.012, z),
                    Vec3::new(half, y + 0.012, z + 0.03),
                    0.004,
                    skip::BACK | skip::ENDS,
                );
            }
        }
        Fill::Louvres => {
            b.polygon("interior", &face);
            let n = (h / 0.24) as usize;
            for i in 0..n {
                let y = h * i as f32 / n as f32;
                let reach = if y < spring { half } else { half * (1.0 - (y - spring) / (h - spring)).max(0.0) };
                if reach > 0.06 {
                    b.beam(
                        "planks_dark",
                        Vec3::new(-reach, y + 0.1, z + 0.1),
                        Vec3::new(reach, y + 0.1, z + 0.1),
                        0.03,
                        0.2,
                        0.008,
                    );
                }
            }
        }
        Fill::Door => {
            b.polygon("planks_dark", &face);
            for y in [0.5, 1.4, 2.2] {
                b.block(
                    "iron",
                    Vec3::new(-half, y, z),
                    Vec3::new(half, y + 0.07, z + 0.02),
                    0.006,
                    skip::BACK | skip::ENDS,
                );
            }
            b.block("timber", Vec3::new(-0.05, 0.0, z), Vec3::new(0.05, h - 0.3, z + 0.05), 0.01, skip::BACK);
        }
    }
    b
}

/// Builds the church; its origin is the middle of the tower's front, on the ground.
pub fn build(file: &mut File) {
    let windows = [
        ("church_window", 1.7, 4.6, Fill::Tracery, "rubble"),
        ("church_window_small", 1.1, 2.6, Fill::Tracery, "ashlar"),
        ("church_belfry", 1.5, 3.2, Fill::Louvres, "ashlar"),
        ("church_door", 2.0, 3.6, Fill::Door, "ashlar"),
    ]
    .map(|(name, w, h, fill, wall)| (file.add_mesh(name, arch(w, h, 0.5, wall, fill)), w, h));
    let [window, small, belfry, door] = windows;
    let mut children = Vec::new();

    let mut tower = Builder::default();
    for (side, turn) in [0.0f32, 90.0, 180.0, -90.0].into_iter().enumerate() {
        let frame = Frame::at(0.0, 0.0, -TOWER_HALF).yaw(turn);
        let face = frame.mul(Frame::at(0.0, 0.0, TOWER_HALF));
        let at =
            |y: f32| At { p: face.point(Vec3::new(0.0, y, 0.0)), turn_deg: Vec3::new(0.0, turn, 0.0), ..At::default() };
        let mut holes = vec![(belfry, 18.6)];
        if side == 0 {
            holes.extend([(door, 0.5), (small, 8.0)]);
        } else if side != 2 {
            holes.extend([(small, 3.0), (small, 9.5)]);
        }
        let openings: Vec<Opening> =
            holes.iter().map(|((_, w, h), y)| Opening { x: TOWER_HALF - w * 0.5, y: *y, w: *w, h: *h }).collect();
        tower.within(face.mul(Frame::at(-TOWER_HALF, 0.0, 0.0)), |b| {
            b.wall(&Wall {
                mat: "ashlar",
                reveal: "ashlar",
                width: 2.0 * TOWER_HALF,
                y0: -1.5,
                y1: TOWER_H,
                depth: 0.02,
                ao: (0.7, 0.72),
                openings: &openings,
            });
        });
        for ((mesh, ..), y) in holes {
            children.push(Node::mesh("arch", mesh, at(y)));
        }
        tower.within(face, clock_surround);
    }
    tower_trim(&mut tower);
    let tower = file.add_mesh("church_tower", tower);
    children.push(Node::mesh("tower", tower, At::default()));

    let mut nave = Builder::default();
    let length = NAVE_Z.0 - NAVE_Z.1;
    let n_bays = 5;
    let bay = length / n_bays as f32;
    for (turn, side) in [(90.0f32, 1.0f32), (-90.0, -1.0)] {
        let frame = Frame::at(side * NAVE_HALF, 0.0, 0.5 * (NAVE_Z.0 + NAVE_Z.1)).yaw(turn);
        let mut openings = Vec::new();
        for i in 0..n_bays {
            let x = bay * (i as f32 + 0.5);
            openings.push(Opening { x: x - window.1 * 0.5, y: 2.3, w: window.1, h: window.2 });
            let p = frame.point(Vec3::new(x - length * 0.5, 2.3, 0.0));
            children.push(Node::mesh("arch", window.0, At { p, turn_deg: Vec3::new(0.0, turn, 0.0), ..At::default() }));
        }
        nave.within(frame.mul(Frame::at(-length * 0.5, 0.0, 0.0)), |b| {
            b.wall(&Wall {
                mat: "rubble",
                reveal: "ashlar",
                width: length,
                y0: -1.5,
                y1: NAVE_H,
                depth: 0.02,
                ao: (0.68, 0.6),
                openings: &openings,
            });
            b.block(
                "ashlar",
                Vec3::new(0.0, -1.5, -0.1),
                Vec3::new(length, 0.55, 0.12),
                0.04,
                skip::BOTTOM | skip::BACK,
            );
            b.block(
                "ashlar",
                Vec3::new(0.0, NAVE_H - 0.45, -0.1),
                Vec3::new(length, NAVE_H - 0.1, 0.2),
                0.05,
                skip::BACK,
            );
            for i in 0..=n_bays {
                b.within(Frame::at(bay * i as f32, 0.0, 0.0), buttress);
            }
        });
    }
    for (turn, z) in [(0.0, NAVE_Z.0), (180.0, NAVE_Z.1)] {
        let frame = Frame::at(0.0, 0.0, z).yaw(turn);
        nave.within(frame, |b| {
            b.within(Frame::at(-NAVE_HALF, 0.0, 0.0), |b| {
                b.wall(&Wall {
                    mat: "rubble",
                    reveal: "rubble",
                    width: 2.0 * NAVE_HALF,
                    y0: -1.5,
                    y1: NAVE_H,
                    depth: 0.02,
                    ao: (0.68, 1.0),
                    openings: &[],
                });
            });
        });
    }
    let roof = Roof {
        mat: "slate",
        trim: "ashlar_grey",
        length,
        span: 2.0 * NAVE_HALF,
        eaves_y: NAVE_H,
        pitch_deg: 50.0,
        overhang: 0.35,
        verge: 0.12,
        ends: Ends::Gable,
        sag: 0.08,
    };
    let middle = Frame::at(0.0, 0.0, 0.5 * (NAVE_Z.0 + NAVE_Z.1)).yaw(90.0);
    nave.within(middle, |b| roof.build(b));
    for turn in [90.0, -90.0] {
        nave.within(middle.mul(Frame::IDENTITY.yaw(turn)).mul(Frame::at(0.0, 0.0, length * 0.5)), |b| {
            gable(b, "rubble", 2.0 * NAVE_HALF, NAVE_H, roof.ridge_y() - 0.05, None);
        });
    }
    chancel(&mut nave);
    let nave = file.add_mesh("church_nave", nave);
    children.push(Node::mesh("nave", nave, At::default()));
    file.models.push(Node::group("church", At::default(), children));

    for (name, length, width) in [("clock_hand_minute", 1.22, 0.10), ("clock_hand_hour", 0.86, 0.15)] {
        let mut b = Builder::default();
        let p = Vec3::new;
        b.polygon("gilt", &[p(-width, 0.0, 0.0), p(width * 0.0, -0.3, 0.0), p(width, 0.0, 0.0), p(0.0, length, 0.0)]);
        b.within(Frame::at(0.0, 0.0, 0.0).pitch(90.0), |b| b.cylinder("gilt", Vec3::ZERO, 0.09, 0.05, 12));
        file.add_single(name, b);
    }
}

fn clock_surround(b: &mut Builder) {
    use crate::mesh::Vertex;
    let n = 32;
    let r = 1.45;
    let ring = |r: f32, z: f32| -> Vec<Vec3> {
        (0..n)
            .map(|i| {
                let a = 2.0 * PI * i as f32 / n as f32;
                Vec3::new(r * cos(a), CLOCK_Y + r * sin(a), z)
            })
            .collect()
    };
    let face: Vec<Vertex> = ring(r, 0.07)
        .iter()
        .map(|p| Vertex {
            p: *p,
            n: Vec3::Z,
            uv_m: glam::Vec2::new(0.5 + p.x / (2.0 * r), 0.5 - (p.y - CLOCK_Y) / (2.0 * r)),
            ao: 1.0,
        })
        .collect();
    let triangles: Vec<[u32; 3]> = (1..n as u32 - 1).map(|i| [0, i, i + 1]).collect();
    b.add("clock_face", &face, &triangles);
    let rim: Vec<(Vec3, f32)> = (0..=n)
        .map(|i| {
            let a = 2.0 * PI * i as f32 / n as f32;
            (Vec3::new((r + 0.06) * cos(a), CLOCK_Y + (r + 0.06) * sin(a), 0.03), 0.11)
        })
        .collect();
    b.tube("ashlar", &rim, 8, false);
}

fn tower_trim(b: &mut Builder) {
    let t = TOWER_HALF;
    let c = Vec3::new(0.0, 0.0, -t);
    let p = Vec3::new;
    // String courses as frames of four blocks: whole slabs would close the openings.
    for (y, h, out) in [(7.0, 0.3, 0.14), (13.6, 0.3, 0.14), (TOWER_H - 0.5, 0.5, 0.28), (TOWER_H, 0.22, 0.42)] {
        b.block("ashlar", c + p(-t - out, y, t - 0.05), c + p(t + out, y + h, t + out), 0.05, 0);
        b.block("ashlar", c + p(-t - out, y, -t - out), c + p(t + out, y + h, -t + 0.05), 0.05, 0);
        b.block("ashlar", c + p(t - 0.05, y, -t), c + p(t + out, y + h, t), 0.05, skip::BACK);
        b.block("ashlar", c + p(-t - out, y, -t), c + p(-t + 0.05, y + h, t), 0.05, skip::BACK);
    }
    for turn in [0.0, 90.0, 180.0, -90.0] {
        b.within(Frame::at_point(c).yaw(turn), |b| {
            // A corbel table under the cornice, and one half as fine below the clock.
            for (y, n) in [(TOWER_H - 0.86, 13), (13.24, 7)] {
                for i in 0..n {
                    let x = (i as f32 - 0.5 * (n as f32 - 1.0)) * (2.0 * t - 2.2) / n as f32;
                    b.block(
                        "ashlar",
                        p(x - 0.13, y, t - 0.1),
                        p(x + 0.13, y + 0.36, t + 0.17),
                        0.035,
                        skip::BACK | skip::TOP,
                    );
                }
            }
            for s in [-1.0, 1.0] {
                b.within(Frame::at(s * (t - 0.45), 0.0, t), |b| {
                    for (y0, y1, d) in [(-1.5, 5.4, 0.95), (5.4, 11.0, 0.7), (11.0, 17.0, 0.42)] {
                        b.block(
                            "ashlar",
                            p(-0.45, y0, -0.1),
                            p(0.45, y1, d),
                            0.03,
                            skip::BOTTOM | skip::TOP | skip::BACK,
                        );
                        let cap = [
                            p(-0.47, y1, d + 0.02),
                            p(0.47, y1, d + 0.02),
                            p(0.47, y1 + 0.55, 0.0),
                            p(-0.47, y1 + 0.55, 0.0),
                        ];
                        b.polygon("ashlar", &cap);
                        for x in [-0.46f32, 0.46] {
                            let mut side = [p(x, y1, 0.0), p(x, y1, d), p(x, y1 + 0.55, 0.0)];
                            if x < 0.0 {
                                b.polygon("ashlar", &side);
                            } else {
                                side.reverse();
                                b.polygon("ashlar", &side);
                            }
                        }
                    }
                });
            }
            // Pyramid roof with a slight flare at the foot.
            let (e, y0, y1, y2) = (t + 0.55, TOWER_H + 0.15, TOWER_H + 1.3, TOWER_H + 10.5);
            let m = t - 0.35;
            b.patch("slate", [p(-e, y0, e), p(e, y0, e), p(m, y1, m), p(-m, y1, m)], 3, 1, 0.0);
            b.patch("slate", [p(-m, y1, m), p(m, y1, m), p(0.0, y2, 0.0), p(0.0, y2, 0.0)], 3, 6, 0.0);
            b.polygon_ao(
                "ashlar_grey",
                &[p(e, y0, e), p(-e, y0, e), p(-t, y0 - 0.02, t), p(t, y0 - 0.02, t)],
                &[0.55; 4],
            );
            b.tube("lead", &[(p(e, y0, e), 0.07), (p(m, y1, m), 0.07), (p(0.0, y2, 0.0), 0.05)], 6, false);
        });
    }
    b.within(Frame::at_point(c), |b| {
        b.lathe(
            "gilt",
            &[
                (0.04, TOWER_H + 10.3),
                (0.04, TOWER_H + 11.0),
                (0.24, TOWER_H + 11.2),
                (0.24, TOWER_H + 11.35),
                (0.04, TOWER_H + 11.6),
                (0.03, TOWER_H + 13.0),
                (0.0, TOWER_H + 13.05),
            ],
            12,
        );
    });
}

fn buttress(b: &mut Builder) {
    let p = Vec3::new;
    for (y0, y1, d) in [(-1.5, 3.6, 1.15), (3.6, 6.9, 0.75)] {
        b.block("ashlar", p(-0.38, y0, -0.1), p(0.38, y1, d), 0.03, skip::BOTTOM | skip::TOP | skip::BACK);
        b.polygon(
            "ashlar",
            &[p(-0.40, y1, d + 0.03), p(0.40, y1, d + 0.03), p(0.40, y1 + 0.75, 0.0), p(-0.40, y1 + 0.75, 0.0)],
        );
        b.polygon("ashlar", &[p(-0.39, y1, 0.0), p(-0.39, y1, d), p(-0.39, y1 + 0.75, 0.0)]);
        b.polygon("ashlar", &[p(0.39, y1 + 0.75, 0.0), p(0.39, y1, d), p(0.39, y1, 0.0)]);
    }
}

/// A half-octagon behind the nave with a conical roof.
fn chancel(b: &mut Builder) {
    let (r, h) = (4.2, 7.4);
    let n = 5;
    b.within(Frame::at(0.0, 0.0, NAVE_Z.1), |b| {
        let at = |i: usize, r: f32, y: f32| {
            let a = PI * i as f32 / n as f32;
            Vec3::new(r * cos(a), y, -r * sin(a))
        };
        for i in 0..n {
            let wall = [at(i, r, -1.5), at(i + 1, r, -1.5), at(i + 1, r, h), at(i, r, h)];
            b.polygon_ao("rubble", &wall, &[0.7, 0.7, 0.75, 0.75]);
            let e = r + 0.35;
            let eave = [at(i, e, h - 0.25), at(i + 1, e, h - 0.25), Vec3::new(0.0, h + 4.2, 0.0)];
            b.patch("slate", [eave[0], eave[1], eave[2], eave[2]], 2, 4, 0.0);
            b.polygon_ao(
                "ashlar_grey",
                &[at(i + 1, e, h - 0.25), at(i, e, h - 0.25), at(i, r - 0.1, h - 0.25), at(i + 1, r - 0.1, h - 0.25)],
                &[0.6; 4],
            );
        }
    });
}
