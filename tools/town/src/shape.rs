//! Solids: bevelled boxes, turned profiles, tubes, patches, walls with openings.

use crate::material::material;
use crate::math::{PI, TAU, cos, lerp, sin};
use crate::mesh::{Builder, Vertex, surface_axes};
use glam::{Vec2, Vec3};

/// Faces of a box to leave out.
pub mod skip {
    /// -Y
    pub const BOTTOM: u8 = 1 << 2;
    /// +Y
    pub const TOP: u8 = 1 << 3;
    /// -Z
    pub const BACK: u8 = 1 << 4;
    /// -X and +X
    pub const ENDS: u8 = 3;
}

impl Builder {
    /// A box from `lo` to `hi` with rounded edges `bevel` metres wide; `skip` leaves faces (and their bevels) out.
    pub fn block(&mut self, mat: &'static str, lo: Vec3, hi: Vec3, bevel: f32, skip: u8) {
        let (c, h) = ((lo + hi) * 0.5, (hi - lo) * 0.5);
        let b = bevel.min(h.min_element() * 0.6).max(0.0);
        let has_grain = material(mat).has_grain;
        let longest = if h.x >= h.y && h.x >= h.z {
            0
        } else if h.y >= h.z {
            1
        } else {
            2
        };
        let axis = |k: usize| [Vec3::X, Vec3::Y, Vec3::Z][k];
        let face_uv = |k: usize, s: f32, p: Vec3| {
            let (mut right, mut up) = surface_axes(axis(k) * s);
            if has_grain && longest != k && right.dot(axis(longest)).abs() < 0.5 {
                (right, up) = (up, -right);
            }
            Vec2::new(p.dot(right), -p.dot(up))
        };
        let is_open = |k: usize, s: f32| skip >> (2 * k + usize::from(s > 0.0)) & 1 == 1;
        // The point of face (k, s) at signs (t on axis l, q on axis m), inset by the bevel.
        let at = |k: usize, s: f32, l: usize, t: f32, m: usize, q: f32| {
            let inset =
                |a: usize, sign: f32, other_open: bool| axis(a) * sign * (h[a] - if other_open { 0.0 } else { b });
            c + axis(k) * s * h[k] + inset(l, t, is_open(l, t)) + inset(m, q, is_open(m, q))
        };
        for k in 0..3 {
            let (l, m) = ((k + 1) % 3, (k + 2) % 3);
            for s in [-1.0, 1.0] {
                if is_open(k, s) {
                    continue;
                }
                let ring = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
                let quad: Vec<Vertex> = ring
                    .iter()
                    .map(|(t, q)| {
                        let p = at(k, s, l, *t, m, *q);
                        Vertex { p, n: axis(k) * s, uv_m: face_uv(k, s, p), ao: 1.0 }
                    })
                    .collect();
                self.facing(mat, &quad, axis(k) * s);
            }
        }
        if b < 1e-4 {
            return;
        }
        for m in 0..3 {
            let (k, l) = ((m + 1) % 3, (m + 2) % 3);
            for (s, t) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                if is_open(k, s) || is_open(l, t) {
                    continue;
                }
                let strip: Vec<Vertex> = [(k, s, l, t, -1.0), (k, s, l, t, 1.0), (l, t, k, s, 1.0), (l, t, k, s, -1.0)]
                    .iter()
                    .map(|&(face, fs, other, os, q)| {
                        let p = at(face, fs, other, os, m, q);
                        Vertex { p, n: axis(face) * fs, uv_m: face_uv(k, s, p), ao: 1.0 }
                    })
                    .collect();
                self.facing(mat, &strip, axis(k) * s + axis(l) * t);
            }
        }
        for sx in [-1.0, 1.0] {
            for sy in [-1.0, 1.0] {
                for sz in [-1.0, 1.0] {
                    if is_open(0, sx) || is_open(1, sy) || is_open(2, sz) {
                        continue;
                    }
                    let corner = [(0, sx, 1, sy, 2, sz), (1, sy, 2, sz, 0, sx), (2, sz, 0, sx, 1, sy)]
                        .map(|(k, s, l, t, m, q)| at(k, s, l, t, m, q));
                    let normals = [Vec3::X * sx, Vec3::Y * sy, Vec3::Z * sz];
                    let tri: Vec<Vertex> = (0..3)
                        .map(|i| Vertex { p: corner[i], n: normals[i], uv_m: face_uv(0, sx, corner[i]), ao: 1.0 })
                        .collect();
                    self.facing(mat, &tri, Vec3::new(sx, sy, sz));
                }
            }
        }
    }

    /// A convex polygon turned to face along `outward`.
    fn facing(&mut self, mat: &'static str, vertices: &[Vertex], outward: Vec3) {
        let n = (vertices[1].p - vertices[0].p).cross(vertices[2].p - vertices[0].p);
        let is_flipped = n.dot(outward) < 0.0;
        let triangles: Vec<[u32; 3]> =
            (1..vertices.len() as u32 - 1).map(|i| if is_flipped { [0, i + 1, i] } else { [0, i, i + 1] }).collect();
        self.add(mat, vertices, &triangles);
    }

    /// A box given by its centre's x and z, its foot and its size.
    pub fn post(&mut self, mat: &'static str, foot: Vec3, size: Vec3, bevel: f32, skip: u8) {
        let half = Vec3::new(size.x * 0.5, 0.0, size.z * 0.5);
        self.block(mat, foot - half, foot + half + Vec3::Y * size.y, bevel, skip);
    }

    /// A straight beam of rectangular section between two points. In the plane z = const, `width` lies in the plane and `depth`
    /// along z; a beam along z is `width` wide and `depth` high.
    pub fn beam(&mut self, mat: &'static str, from: Vec3, to: Vec3, width: f32, depth: f32, bevel: f32) {
        let along = to - from;
        let length = along.length();
        if length < 1e-3 {
            return;
        }
        let x = along / length;
        let guess = if x.z.abs() > 0.9 { Vec3::Y } else { Vec3::Z };
        let y = guess.cross(x).normalize();
        let z = x.cross(y);
        let frame = crate::math::Frame { linear: glam::Mat3::from_cols(x, y, z), origin: from };
        self.within(frame, |b| {
            b.block(
                mat,
                Vec3::new(0.0, -width * 0.5, -depth * 0.5),
                Vec3::new(length, width * 0.5, depth * 0.5),
                bevel,
                0,
            );
        });
    }

    /// A turned solid about +Y: `profile` holds (radius, y) from bottom to top; edges sharper than 35° stay sharp.
    pub fn lathe(&mut self, mat: &'static str, profile: &[(f32, f32)], n_sides: usize) {
        let n_seg = profile.len().saturating_sub(1);
        let seg_normal = |i: usize| {
            let (dr, dy) = (profile[i + 1].0 - profile[i].0, profile[i + 1].1 - profile[i].1);
            Vec2::new(dy, -dr).normalize_or(Vec2::X)
        };
        let mut along = 0.0;
        for i in 0..n_seg {
            let (a, b) = (profile[i], profile[i + 1]);
            let n = seg_normal(i);
            let soft = |m: Vec2| if m.dot(n) > 0.82 { (m + n).normalize_or(n) } else { n };
            let na = if i > 0 { soft(seg_normal(i - 1)) } else { n };
            let nb = if i + 1 < n_seg { soft(seg_normal(i + 1)) } else { n };
            let seg_len = Vec2::new(b.0 - a.0, b.1 - a.1).length();
            let girth = a.0.max(b.0).max(0.02) * TAU;
            let mut vertices = Vec::with_capacity(2 * (n_sides + 1));
            for k in 0..=n_sides {
                let turn = TAU * k as f32 / n_sides as f32;
                let (s, c) = (sin(turn), cos(turn));
                for (r, y, n, v) in [(a.0, a.1, na, along), (b.0, b.1, nb, along + seg_len)] {
                    vertices.push(Vertex {
                        p: Vec3::new(r * s, y, r * c),
                        n: Vec3::new(n.x * s, n.y, n.x * c),
                        uv_m: Vec2::new(girth * k as f32 / n_sides as f32, -v),
                        ao: 1.0,
                    });
                }
            }
            let mut triangles = Vec::with_capacity(2 * n_sides);
            for k in 0..n_sides as u32 {
                let (p, q) = (2 * k, 2 * k + 2);
                if a.0 > 1e-5 {
                    triangles.push([p, q, q + 1]);
                }
                if b.0 > 1e-5 {
                    triangles.push([p, q + 1, p + 1]);
                }
            }
            self.add(mat, &vertices, &triangles);
            along += seg_len;
        }
    }

    /// An upright cylinder with a closed top.
    pub fn cylinder(&mut self, mat: &'static str, foot: Vec3, r: f32, height: f32, n_sides: usize) {
        let e = (0.15 * r).min(0.02);
        self.within(crate::math::Frame::at_point(foot), |b| {
            b.lathe(mat, &[(r, 0.0), (r, height - e), (r - e, height), (0.0, height)], n_sides);
        });
    }

    /// An ellipsoid with the given half axes.
    pub fn ellipsoid(&mut self, mat: &'static str, center: Vec3, half: Vec3, n_sides: usize, n_rings: usize) {
        let profile: Vec<(f32, f32)> = (0..=n_rings)
            .map(|i| {
                let a = PI * (i as f32 / n_rings as f32 - 0.5);
                (if i == 0 || i == n_rings { 0.0 } else { cos(a) }, sin(a))
            })
            .collect();
        self.within(crate::math::Frame::at_point(center).scale(half.x, half.y, half.z), |b| {
            b.lathe(mat, &profile, n_sides);
        });
    }

    /// A tube through points with a radius at each, open at both ends unless `is_capped`.
    pub fn tube(&mut self, mat: &'static str, points: &[(Vec3, f32)], n_sides: usize, is_capped: bool) {
        if points.len() < 2 {
            return;
        }
        let n = points.len();
        let tangent = |i: usize| (points[(i + 1).min(n - 1)].0 - points[i.saturating_sub(1)].0).normalize_or(Vec3::Y);
        let t0 = tangent(0);
        let mut side = if t0.y.abs() < 0.9 { Vec3::Y.cross(t0).normalize() } else { Vec3::X };
        let mut along = 0.0;
        let girth = TAU * points[0].1.max(points[n - 1].1);
        let mut rings: Vec<(Vec3, Vec3, Vec3, f32, f32)> = Vec::with_capacity(n);
        for i in 0..n {
            let t = tangent(i);
            side = (side - t * side.dot(t)).normalize_or(Vec3::X);
            if i > 0 {
                along += (points[i].0 - points[i - 1].0).length();
            }
            rings.push((points[i].0, side, t.cross(side), points[i].1, along));
        }
        self.grid(mat, n_sides, n - 1, |k, j| {
            let (p, x, y, r, v) = rings[j];
            let turn = TAU * k as f32 / n_sides as f32;
            (p + (x * cos(turn) + y * sin(turn)) * r, Vec2::new(girth * k as f32 / n_sides as f32, -v), 1.0)
        });
        if is_capped {
            for (i, is_end) in [(0, false), (n - 1, true)] {
                let (p, x, y, r, _) = rings[i];
                let ring: Vec<Vec3> = (0..n_sides)
                    .map(|k| {
                        let turn = TAU * k as f32 / n_sides as f32 * if is_end { 1.0 } else { -1.0 };
                        p + (x * cos(turn) + y * sin(turn)) * r
                    })
                    .collect();
                self.polygon(mat, &ring);
            }
        }
    }

    /// A bilinear patch over corners (seen from outside: left bottom, right bottom, right top, left top), sagging by `sag_m`
    /// in its middle; texture coordinates are planar.
    pub fn patch(&mut self, mat: &'static str, corners: [Vec3; 4], nx: usize, ny: usize, sag_m: f32) {
        let [a, b, c, d] = corners;
        let n = ((b - a).cross(d - a) + (c - b).cross(d - c) + (b - a).cross(c - a)).normalize_or(Vec3::Y);
        let (right, up) = surface_axes(n);
        self.grid(mat, nx, ny, |i, j| {
            let (s, t) = (i as f32 / nx as f32, j as f32 / ny as f32);
            let flat = a.lerp(b, s).lerp(d.lerp(c, s), t);
            let dip = sag_m * sin(PI * s) * (0.25 + 0.75 * t);
            (flat - Vec3::Y * dip, Vec2::new(flat.dot(right), -flat.dot(up)), 1.0)
        });
    }
}

/// A rectangular hole in a wall, in metres from the wall's lower left corner.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Left edge.
    pub x: f32,
    /// Lower edge.
    pub y: f32,
    /// Width.
    pub w: f32,
    /// Height.
    pub h: f32,
}

/// A wall in the plane z = 0 facing +Z, from (0, y0) to (width, y1).
pub struct Wall<'a> {
    /// Its face.
    pub mat: &'static str,
    /// The openings' inner sides.
    pub reveal: &'static str,
    /// Metres.
    pub width: f32,
    /// Foot.
    pub y0: f32,
    /// Top.
    pub y1: f32,
    /// Depth of the openings' sides in metres.
    pub depth: f32,
    /// Occlusion at the foot and under the top.
    pub ao: (f32, f32),
    /// Holes.
    pub openings: &'a [Opening],
}

impl Builder {
    /// A wall with openings, its foot and the top under the eaves darkened.
    pub fn wall(&mut self, wall: &Wall) {
        let mut xs = vec![0.0, wall.width];
        let mut ys = vec![wall.y0, wall.y1];
        if wall.ao.0 < 1.0 {
            ys.push((wall.y0 + 0.7).min(lerp(wall.y0, wall.y1, 0.4)));
        }
        if wall.ao.1 < 1.0 {
            ys.push((wall.y1 - 0.8).max(lerp(wall.y0, wall.y1, 0.6)));
        }
        for o in wall.openings {
            xs.extend([o.x, o.x + o.w]);
            ys.extend([o.y, o.y + o.h]);
        }
        for list in [&mut xs, &mut ys] {
            list.sort_by(f32::total_cmp);
            list.dedup_by(|a, b| (*a - *b).abs() < 1e-4);
        }
        let shade = |y: f32| {
            let foot = lerp(wall.ao.0, 1.0, ((y - wall.y0) / 0.7).clamp(0.0, 1.0));
            let top = lerp(wall.ao.1, 1.0, ((wall.y1 - y) / 0.8).clamp(0.0, 1.0));
            foot * top
        };
        for y in ys.windows(2) {
            for x in xs.windows(2) {
                let (cx, cy) = (0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]));
                if wall.openings.iter().any(|o| cx > o.x && cx < o.x + o.w && cy > o.y && cy < o.y + o.h) {
                    continue;
                }
                let corners = [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])];
                let ao = corners.map(|(_, y)| shade(y));
                self.polygon_ao(wall.mat, &corners.map(|(x, y)| Vec3::new(x, y, 0.0)), &ao);
            }
        }
        for o in wall.openings {
            let (x0, x1, y0, y1, d) = (o.x, o.x + o.w, o.y, o.y + o.h, -wall.depth);
            let p = Vec3::new;
            let ao = [0.95, 0.62, 0.62, 0.95];
            self.polygon_ao(wall.reveal, &[p(x0, y0, 0.0), p(x0, y0, d), p(x0, y1, d), p(x0, y1, 0.0)], &ao);
            self.polygon_ao(wall.reveal, &[p(x1, y1, 0.0), p(x1, y1, d), p(x1, y0, d), p(x1, y0, 0.0)], &ao);
            self.polygon_ao(wall.reveal, &[p(x1, y0, 0.0), p(x1, y0, d), p(x0, y0, d), p(x0, y0, 0.0)], &ao);
            self.polygon_ao(
                wall.reveal,
                &[p(x0, y1, 0.0), p(x0, y1, d), p(x1, y1, d), p(x1, y1, 0.0)],
                &[0.75, 0.5, 0.5, 0.75],
            );
        }
    }
}
