//! Building triangle meshes: parts by material, planar texture coordinates in metres, vertex colours as baked shade.

use crate::material::material;
use crate::math::Frame;
use glam::{Vec2, Vec3};
use std::collections::BTreeMap;

/// One primitive.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Metres.
    pub positions: Vec<Vec3>,
    /// Unit length.
    pub normals: Vec<Vec3>,
    /// In repeats of the material's texture.
    pub uvs: Vec<Vec2>,
    /// Linear factor on the base colour.
    pub shades: Vec<Vec3>,
    /// Counter-clockwise from outside.
    pub indices: Vec<u32>,
}

/// A mesh under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    /// By material name.
    pub parts: BTreeMap<&'static str, Part>,
    /// Applied to everything added.
    pub frame: Frame,
    /// Factor on the shade of everything added.
    pub shade: Vec3,
    /// Added to texture coordinates, in metres, so that neighbours do not show the same spot of a texture.
    pub uv_offset: Vec2,
}

impl Default for Builder {
    fn default() -> Self {
        Self { parts: BTreeMap::new(), frame: Frame::IDENTITY, shade: Vec3::ONE, uv_offset: Vec2::ZERO }
    }
}

/// A vertex before the builder's frame is applied.
#[derive(Clone, Copy, Debug)]
pub struct Vertex {
    /// Metres.
    pub p: Vec3,
    /// Unit length.
    pub n: Vec3,
    /// Metres on the surface, v down.
    pub uv_m: Vec2,
    /// Baked occlusion, 0.5 to 1.
    pub ao: f32,
}

impl Builder {
    /// Adds what `f` adds, in a frame inside the present one.
    pub fn within(&mut self, frame: Frame, f: impl FnOnce(&mut Self)) {
        let outer = self.frame;
        self.frame = outer.mul(frame);
        f(self);
        self.frame = outer;
    }

    /// Adds what `f` adds with its shade multiplied.
    pub fn shaded(&mut self, factor: f32, f: impl FnOnce(&mut Self)) {
        let outer = self.shade;
        self.shade = outer * factor;
        f(self);
        self.shade = outer;
    }

    /// Adds vertices and triangles that index them.
    pub fn add(&mut self, mat: &'static str, vertices: &[Vertex], triangles: &[[u32; 3]]) {
        let tile_m = material(mat).tile_m;
        let is_mirror = self.frame.is_mirror();
        let part = self.parts.entry(mat).or_default();
        let first = part.positions.len() as u32;
        for v in vertices {
            part.positions.push(self.frame.point(v.p));
            part.normals.push(self.frame.normal(v.n));
            part.uvs.push((v.uv_m + self.uv_offset) / tile_m);
            part.shades.push(self.shade * v.ao);
        }
        for t in triangles {
            let t = if is_mirror { [t[0], t[2], t[1]] } else { *t };
            part.indices.extend(t.map(|i| first + i));
        }
    }

    /// A flat convex polygon, counter-clockwise from outside, with occlusion by corner.
    pub fn polygon_ao(&mut self, mat: &'static str, points: &[Vec3], ao: &[f32]) {
        if points.len() < 3 {
            return;
        }
        let mut n = Vec3::ZERO;
        for i in 1..points.len() - 1 {
            n += (points[i] - points[0]).cross(points[i + 1] - points[0]);
        }
        let n = n.normalize_or(Vec3::Y);
        let (right, up) = surface_axes(n);
        let vertices: Vec<Vertex> = points
            .iter()
            .zip(ao.iter().copied().chain(std::iter::repeat(1.0)))
            .map(|(p, ao)| Vertex { p: *p, n, uv_m: Vec2::new(p.dot(right), -p.dot(up)), ao })
            .collect();
        let triangles: Vec<[u32; 3]> = (1..points.len() as u32 - 1).map(|i| [0, i, i + 1]).collect();
        self.add(mat, &vertices, &triangles);
    }

    /// A flat convex polygon, counter-clockwise from outside.
    pub fn polygon(&mut self, mat: &'static str, points: &[Vec3]) {
        self.polygon_ao(mat, points, &[]);
    }

    /// A surface over a grid of (nx + 1) × (ny + 1) points given by `at(i, j)`; seen from outside, i runs right and j runs up.
    /// Normals are smooth; `uv` gives metres; `ao` as for vertices.
    pub fn grid(&mut self, mat: &'static str, nx: usize, ny: usize, at: impl Fn(usize, usize) -> (Vec3, Vec2, f32)) {
        let row = nx + 1;
        let points: Vec<(Vec3, Vec2, f32)> =
            (0..=ny).flat_map(|j| (0..=nx).map(move |i| (i, j))).map(|(i, j)| at(i, j)).collect();
        let mut normals = vec![Vec3::ZERO; points.len()];
        let mut triangles = Vec::with_capacity(nx * ny * 2);
        for j in 0..ny {
            for i in 0..nx {
                let (a, b, c, d) = (j * row + i, j * row + i + 1, (j + 1) * row + i + 1, (j + 1) * row + i);
                for t in [[a, b, c], [a, c, d]] {
                    let n = (points[t[1]].0 - points[t[0]].0).cross(points[t[2]].0 - points[t[0]].0);
                    if n.length_squared() < 1e-14 {
                        continue;
                    }
                    t.iter().for_each(|i| normals[*i] += n);
                    triangles.push(t.map(|i| i as u32));
                }
            }
        }
        let vertices: Vec<Vertex> = points
            .iter()
            .zip(&normals)
            .map(|((p, uv_m, ao), n)| Vertex { p: *p, n: n.normalize_or(Vec3::Y), uv_m: *uv_m, ao: *ao })
            .collect();
        self.add(mat, &vertices, &triangles);
    }

    /// Multiplies every shade by a function of position (in the builder's outermost frame) and normal.
    pub fn bake(&mut self, f: impl Fn(Vec3, Vec3) -> f32) {
        for part in self.parts.values_mut() {
            for i in 0..part.positions.len() {
                part.shades[i] *= f(part.positions[i], part.normals[i]);
            }
        }
    }

    /// Triangles in all parts.
    pub fn n_triangles(&self) -> usize {
        self.parts.values().map(|p| p.indices.len() / 3).sum()
    }

    /// Smallest and largest corner over all parts.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let points = self.parts.values().flat_map(|p| &p.positions);
        points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)))
    }
}

/// Right and up on a surface with normal `n`, seen from outside: up is as near +Y as can be; on flat ground, north.
pub fn surface_axes(n: Vec3) -> (Vec3, Vec3) {
    if n.y.abs() > 0.985 {
        return (Vec3::X, Vec3::NEG_Z * n.y.signum());
    }
    let right = Vec3::Y.cross(n).normalize();
    (right, n.cross(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygon_faces_its_winding_and_mirrors_keep_it() {
        let square = [Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
        for mirror in [1.0, -1.0] {
            let mut b = Builder::default();
            b.within(Frame::IDENTITY.scale(mirror, 1.0, 1.0), |b| b.polygon("ashlar", &square));
            let part = &b.parts["ashlar"];
            for t in part.indices.chunks(3) {
                let p = |i: usize| part.positions[t[i] as usize];
                let n = (p(1) - p(0)).cross(p(2) - p(0));
                assert!(n.dot(part.normals[t[0] as usize]) > 0.0);
            }
        }
    }
}
