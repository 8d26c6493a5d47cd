//! Ground: terrain chunks, the far ring, paving of streets, square and quays, the river.

use super::plan::{BANKS, Kind, PAVING_M, QUAY_X, SQUARE, Street, WATER_Y, ground_y, river_z, streets, terrain_y};
use crate::catalog::{At, File};
use crate::math::{TAU, cos, lerp, sin, smoothstep};
use crate::mesh::Builder;
use crate::noise::fbm;
use crate::scene::SceneNode;
use crate::shape::skip;
use glam::{Vec2, Vec3};

const CHUNK_M: f32 = 48.0;
const N_CHUNKS: i32 = 5;

/// Adds a mesh, already in world space, moved so that its origin is on its own ground; returns the scene's node.
fn place(file: &mut File, name: String, mut b: Builder, nodes: &mut Vec<SceneNode>) {
    if b.n_triangles() == 0 {
        return;
    }
    let (lo, hi) = b.bounds();
    let origin = ((lo + hi) * 0.5).round();
    b.parts.values_mut().flat_map(|p| &mut p.positions).for_each(|p| *p -= origin);
    file.add_single(&name, b);
    nodes.push(SceneNode::model(name, At::point(origin)));
}

/// Everything underfoot, as models in `file` and nodes.
pub fn build(file: &mut File) -> Vec<SceneNode> {
    let mut nodes = Vec::new();
    terrain(file, &mut nodes);
    far_ring(file, &mut nodes);
    water(file, &mut nodes);
    let all = streets();
    for street in &all {
        paving(file, street, &mut nodes);
    }
    square(file, &mut nodes);
    quay_walls(file, &mut nodes);
    nodes
}

fn terrain(file: &mut File, nodes: &mut Vec<SceneNode>) {
    let n = 16;
    for cz in -N_CHUNKS..N_CHUNKS {
        for cx in -N_CHUNKS..N_CHUNKS {
            let (x0, z0) = (cx as f32 * CHUNK_M, cz as f32 * CHUNK_M);
            let mut b = Builder::default();
            b.grid("grass", n, n, |i, j| {
                let (x, z) = (x0 + CHUNK_M * i as f32 / n as f32, z0 + CHUNK_M * (n - j) as f32 / n as f32);
                let patches = fbm(x / 512.0 + 0.5, z / 512.0 + 0.5, (26, 26), 3, 511);
                (
                    Vec3::new(x, terrain_y(x, z) - 0.03, z),
                    Vec2::new(x, z),
                    lerp(0.66, 1.0, smoothstep(0.3, 0.65, patches)),
                )
            });
            place(file, format!("terrain_{}_{}", cx + N_CHUNKS, cz + N_CHUNKS), b, nodes);
        }
    }
}

/// Country out to the hills, in sectors; its inner rim dips under the terrain chunks.
fn far_ring(file: &mut File, nodes: &mut Vec<SceneNode>) {
    let (n_sectors, n_around, n_out) = (12, 12, 26);
    let inner = CHUNK_M * N_CHUNKS as f32;
    for sector in 0..n_sectors {
        let mut b = Builder::default();
        b.grid("fields", n_around, n_out, |i, j| {
            let a = TAU * (sector as f32 + i as f32 / n_around as f32) / n_sectors as f32;
            let (dx, dz) = (sin(a), -cos(a));
            // The inner edge is the square of chunks, the outer a circle.
            let edge = (inner - 6.0) / dx.abs().max(dz.abs());
            let t = j as f32 / n_out as f32;
            let r = lerp(edge, 2600.0, t * t * (0.35 + 0.65 * t));
            let (x, z) = (dx * r, dz * r);
            let y = terrain_y(x, z) - if j == 0 { 2.5 } else { 0.15 };
            let haze = lerp(0.92, 1.0, fbm(x / 2048.0 + 0.5, z / 2048.0 + 0.5, (40, 40), 3, 512));
            (Vec3::new(x, y, z), Vec2::new(x, z), haze)
        });
        place(file, format!("country_{sector}"), b, nodes);
    }
}

fn water(file: &mut File, nodes: &mut Vec<SceneNode>) {
    let step = 60.0;
    for k in -10..10 {
        let x0 = k as f32 * step;
        let mut b = Builder::default();
        b.grid("water", 6, 4, |i, j| {
            let x = x0 + step * i as f32 / 6.0;
            let z = river_z(x) + lerp(17.0, -17.0, j as f32 / 4.0);
            (Vec3::new(x, WATER_Y, z), Vec2::new(x, z), 1.0)
        });
        place(file, format!("river_{}", k + 10), b, nodes);
    }
}

/// A strip between two offsets from a street's centre line, over part of its length.
fn strip(
    b: &mut Builder,
    mat: &'static str,
    street: &Street,
    span: (f32, f32),
    edge: [(f32, f32); 2],
    ao: [f32; 2],
    n_across: usize,
) {
    let n = ((span.1 - span.0) / 1.6).ceil().max(1.0) as usize;
    // Seen from above with the way going up, the left edge is the smaller offset.
    b.grid(mat, n_across, n, |i, j| {
        let (s, t) = (lerp(span.0, span.1, j as f32 / n as f32), i as f32 / n_across as f32);
        let offset = lerp(edge[0].0, edge[1].0, t);
        // Along the surface, so that steep strips are not stretched.
        let across_m = edge[0].0 + t * Vec2::new(edge[1].0 - edge[0].0, edge[1].1 - edge[0].1).length();
        let p = street.beside(s, offset);
        let y = ground_y(p.x, p.y) + lerp(edge[0].1, edge[1].1, t);
        let wear = 0.9 + 0.2 * (fbm(p.x / 256.0 + 0.5, p.y / 256.0 + 0.5, (40, 40), 3, 521) - 0.5);
        (Vec3::new(p.x, y, p.y), Vec2::new(across_m, -s), (lerp(ao[0], ao[1], t) * wear).min(1.0))
    });
}

fn paving(file: &mut File, street: &Street, nodes: &mut Vec<SceneNode>) {
    let length = street.length();
    let n_chunks = (length / 14.0).ceil().max(1.0) as usize;
    for k in 0..n_chunks {
        let span = (length * k as f32 / n_chunks as f32, length * (k + 1) as f32 / n_chunks as f32);
        let mut b = Builder::default();
        let (h, f, top) = (street.half_m, street.frontage(), PAVING_M);
        match street.kind {
            Kind::Street => {
                let road = top - 0.10;
                strip(&mut b, "cobble", street, span, [(-h, road), (0.0, road + 0.05)], [0.8, 1.0], 3);
                strip(&mut b, "cobble", street, span, [(0.0, road + 0.05), (h, road)], [1.0, 0.8], 3);
                for side in [-1.0f32, 1.0] {
                    let mut edge = |mat, a: (f32, f32), c: (f32, f32), ao: [f32; 2], n| {
                        if side > 0.0 {
                            strip(&mut b, mat, street, span, [a, c], ao, n);
                        } else {
                            strip(&mut b, mat, street, span, [(-c.0, c.1), (-a.0, a.1)], [ao[1], ao[0]], n);
                        }
                    };
                    edge("kerb", (h, road - 0.03), (h + 0.015, top - 0.01), [0.6, 0.9], 1);
                    edge("kerb", (h + 0.015, top - 0.01), (h + 0.16, top), [1.0, 1.0], 1);
                    edge("flagstone", (h + 0.16, top), (f, top + 0.02), [1.0, 0.95], 2);
                    edge("flagstone", (f, top + 0.02), (f + 0.5, top + 0.02), [0.72, 0.72], 1);
                    edge("kerb", (f + 0.5, top + 0.02), (f + 0.52, -0.5), [0.7, 0.7], 1);
                }
            }
            Kind::Lane | Kind::Track => {
                let (mat, n) = if street.kind == Kind::Lane { ("cobble_warm", 4) } else { ("gravel", 2) };
                strip(&mut b, mat, street, span, [(-h, top), (0.0, top - 0.04)], [0.85, 1.0], n);
                strip(&mut b, mat, street, span, [(0.0, top - 0.04), (h, top)], [1.0, 0.85], n);
                strip(&mut b, "kerb", street, span, [(h, top), (h + 0.3, top + 0.005)], [0.8, 0.75], 1);
                strip(&mut b, "kerb", street, span, [(-h - 0.3, top + 0.005), (-h, top)], [0.75, 0.8], 1);
                strip(&mut b, "kerb", street, span, [(h + 0.3, top + 0.005), (h + 0.32, -0.5)], [0.7, 0.7], 1);
                strip(&mut b, "kerb", street, span, [(-h - 0.32, -0.5), (-h - 0.3, top + 0.005)], [0.7, 0.7], 1);
            }
        }
        place(file, format!("paving_{}_{k}", street.name), b, nodes);
    }
}

/// The square: a flagstone field framed by bands of setts, in tiles.
fn square(file: &mut File, nodes: &mut Vec<SceneNode>) {
    let (n_x, n_z) = (4, 3);
    let (sx, sz) = (2.0 * SQUARE.x / n_x as f32, 2.0 * SQUARE.y / n_z as f32);
    for j in 0..n_z {
        for i in 0..n_x {
            let mut b = Builder::default();
            let (x0, z0) = (-SQUARE.x + sx * i as f32, -SQUARE.y + sz * j as f32);
            let mut field = |mat: &'static str, lo: (f32, f32), hi: (f32, f32)| {
                let (nx, nz) = (((hi.0 - lo.0) / 2.5).ceil() as usize, ((hi.1 - lo.1) / 2.5).ceil() as usize);
                b.grid(mat, nx.max(1), nz.max(1), |p, q| {
                    let x = lerp(lo.0, hi.0, p as f32 / nx.max(1) as f32);
                    let z = lerp(hi.1, lo.1, q as f32 / nz.max(1) as f32);
                    let wear = 0.86 + 0.28 * (fbm(x / 128.0 + 0.5, z / 128.0 + 0.5, (24, 24), 3, 531) - 0.35);
                    let rim = ((SQUARE.x + 2.0 - x.abs()).min(SQUARE.y + 2.0 - z.abs()) / 3.0).clamp(0.0, 1.0);
                    (Vec3::new(x, PAVING_M, z), Vec2::new(x, z), (wear * lerp(0.75, 1.0, rim)).min(1.0))
                });
            };
            // Bands 1.1 m wide along the tiles' edges; outer tiles run on under the houses' fronts.
            let band = 0.55;
            let out = |v: f32, edge: f32| if (v.abs() - edge).abs() < 0.01 { v + v.signum() * 0.6 } else { v };
            let (xa, xb) = (out(x0, SQUARE.x), out(x0 + sx, SQUARE.x));
            let (za, zb) = (out(z0, SQUARE.y), out(z0 + sz, SQUARE.y));
            field("cobble", (xa, za), (xb, z0 + band));
            field("cobble", (xa, z0 + sz - band), (xb, zb));
            field("cobble", (xa, z0 + band), (x0 + band, z0 + sz - band));
            field("cobble", (x0 + sx - band, z0 + band), (xb, z0 + sz - band));
            field("flagstone", (x0 + band, z0 + band), (x0 + sx - band, z0 + sz - band));
            if j == n_z - 1 {
                b.polygon(
                    "kerb",
                    &[
                        Vec3::new(xa, -0.8, zb),
                        Vec3::new(xb, -0.8, zb),
                        Vec3::new(xb, PAVING_M, zb),
                        Vec3::new(xa, PAVING_M, zb),
                    ],
                );
            }
            place(file, format!("square_{i}_{j}"), b, nodes);
        }
    }
    // The way to the church door.
    let mut b = Builder::default();
    b.grid("flagstone", 4, 3, |i, j| {
        let (x, z) = (lerp(-4.6, 4.6, i as f32 / 4.0), lerp(-21.9, -27.8, j as f32 / 3.0));
        (Vec3::new(x, PAVING_M - 0.005, z), Vec2::new(x, z), 0.94)
    });
    for s in [-1.0f32, 1.0] {
        b.block(
            "kerb",
            Vec3::new(s * 4.75 - 0.16, -0.5, -27.8),
            Vec3::new(s * 4.75 + 0.16, PAVING_M + 0.02, -22.6),
            0.02,
            skip::BOTTOM,
        );
    }
    place(file, "church_way".into(), b, nodes);
}

/// Stone walls along the river with a coping and a string of mooring rings' blocks.
fn quay_walls(file: &mut File, nodes: &mut Vec<SceneNode>) {
    let n = 12;
    let top = ground_y(0.0, 80.0) + PAVING_M;
    for (name, z, turn) in [("quay_wall_north", BANKS.0, 0.0), ("quay_wall_south", BANKS.1, 180.0)] {
        for k in 0..n {
            let w = 2.0 * QUAY_X / n as f32;
            let mut b = Builder::default();
            b.within(crate::math::Frame::at(-QUAY_X + w * (k as f32 + 0.5), 0.0, z).yaw(turn), |b| {
                let p = Vec3::new;
                let h = w / 2.0;
                let ao = [0.5, 0.5, 0.95, 0.95];
                b.polygon_ao(
                    "ashlar_grey",
                    &[p(-h, -8.0, 0.05), p(h, -8.0, 0.05), p(h, top - 0.2, 0.0), p(-h, top - 0.2, 0.0)],
                    &ao,
                );
                b.block("ashlar", p(-h, top - 0.22, -0.55), p(h, top + 0.06, 0.09), 0.03, skip::BOTTOM | skip::ENDS);
                for x in [-h + 0.01, 0.0] {
                    b.block(
                        "ashlar_grey",
                        p(x, -8.0, -0.2),
                        p(x + 0.7, top - 0.23, 0.22),
                        0.04,
                        skip::BOTTOM | skip::BACK,
                    );
                }
            });
            place(file, format!("{name}_{k}"), b, nodes);
        }
    }
}
