//! Meshes into shared buffers: positions apart from other attributes, indices absolute, four levels of detail.

use meshopt::{SimplifyOptions, VertexDataAdapter};
use rayon::prelude::*;

use super::layout::{self, N_LODS};
use crate::scene::assets::Mesh;

/// A mesh with fewer triangles than this has one level of detail.
const MIN_LOD_TRIANGLES: usize = 64;
/// Largest error of each coarser level, relative to the mesh's size.
const LOD_ERRORS: [f32; N_LODS - 1] = [0.005, 0.02, 0.06];

/// Every mesh of a scene, ready for upload.
#[derive(Default)]
pub struct PackedMeshes {
    /// Three floats per vertex.
    pub positions: Vec<[f32; 3]>,
    pub attributes: Vec<layout::Attributes>,
    /// Absolute: into `positions` and `attributes`.
    pub indices: Vec<u32>,
    pub meshes: Vec<layout::Mesh>,
}

/// Optimizes, simplifies and packs.
pub fn pack_meshes(meshes: &[Mesh]) -> PackedMeshes {
    let levels: Vec<_> = meshes.par_iter().map(levels_of_detail).collect();
    let mut packed = PackedMeshes::default();
    for (mesh, levels) in meshes.iter().zip(levels) {
        pack_mesh(&mut packed, mesh, levels);
    }
    packed
}

/// Indices and geometric error (metres) of one level.
struct Level {
    indices: Vec<u32>,
    error: f32,
}

fn levels_of_detail(mesh: &Mesh) -> Vec<Level> {
    let n_vertices = mesh.positions.len();
    let mut full = mesh.indices.clone();
    meshopt::optimize_vertex_cache_in_place(&mut full, n_vertices);
    let mut levels = vec![Level { indices: full, error: 0.0 }];
    if mesh.indices.len() < 3 * MIN_LOD_TRIANGLES {
        return levels;
    }
    let Ok(vertices) = VertexDataAdapter::new(bytemuck::cast_slice(&mesh.positions), 12, 0) else { return levels };
    let scale = meshopt::simplify_scale(&vertices);
    for max_error in LOD_ERRORS {
        let finer = &levels[levels.len() - 1];
        let target = finer.indices.len() / 4 / 3 * 3;
        let mut error = 0.0;
        // From the full mesh each time, so that errors don't add up.
        let mut indices = meshopt::simplify(
            &levels[0].indices,
            &vertices,
            target,
            max_error,
            SimplifyOptions::Permissive | SimplifyOptions::Prune,
            Some(&mut error),
        );
        // A level that saves little costs a draw for nothing.
        if indices.is_empty() || indices.len() * 10 > finer.indices.len() * 8 {
            continue;
        }
        meshopt::optimize_vertex_cache_in_place(&mut indices, n_vertices);
        let error = (error * scale).max(finer.error);
        levels.push(Level { indices, error });
    }
    levels
}

fn pack_mesh(packed: &mut PackedMeshes, mesh: &Mesh, levels: Vec<Level>) {
    let base = packed.positions.len() as u32;
    packed.positions.extend_from_slice(&mesh.positions);
    packed.attributes.extend((0..mesh.positions.len()).map(|i| layout::Attributes {
        normal: encode_normal(mesh.normals[i]),
        tangent: encode_tangent(mesh.tangents[i]),
        uv0: mesh.uv0[i],
        uv1: mesh.uv1[i],
        color: u32::from_le_bytes(mesh.colors[i]),
        _pad: 0,
    }));
    let center = mesh.bounds.center();
    let radius = mesh.positions.iter().map(|&p| (glam::Vec3::from(p) - center).length()).fold(0.0, f32::max);
    let mut out = layout::Mesh { center: center.into(), radius, ..Default::default() };
    for lod in 0..N_LODS {
        match levels.get(lod) {
            Some(level) => {
                out.first_index[lod] = packed.indices.len() as u32;
                out.n_indices[lod] = level.indices.len() as u32;
                out.lod_error[lod] = level.error;
                packed.indices.extend(level.indices.iter().map(|i| base + i));
            }
            None => out.lod_error[lod] = f32::MAX, // Never chosen.
        }
    }
    packed.meshes.push(out);
}

/// Octahedral mapping of a unit vector (Meyer et al. 2010), -1 to 1.
fn octahedral(v: [f32; 3]) -> [f32; 2] {
    let sum = v[0].abs() + v[1].abs() + v[2].abs();
    if sum <= 0.0 || !sum.is_finite() {
        return [0.0, 0.0];
    }
    let (x, y) = (v[0] / sum, v[1] / sum);
    if v[2] >= 0.0 {
        return [x, y];
    }
    let sign = |a: f32| if a >= 0.0 { 1.0 } else { -1.0 };
    [(1.0 - y.abs()) * sign(x), (1.0 - x.abs()) * sign(y)]
}

fn encode_normal(normal: [f32; 3]) -> u32 {
    let [x, y] = octahedral(normal).map(|c| (c * 32767.0).round() as i16 as u16 as u32);
    x | y << 16
}

fn encode_tangent(tangent: [f32; 4]) -> u32 {
    let [x, y] = octahedral([tangent[0], tangent[1], tangent[2]]);
    let x = ((x * 0.5 + 0.5) * 65535.0).round() as u32;
    let y = ((y * 0.5 + 0.5) * 32767.0).round() as u32;
    x | y << 16 | u32::from(tangent[3] < 0.0) << 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::assets::Aabb;
    use glam::Vec3;

    fn grid(n: u32) -> Mesh {
        let mut mesh = Mesh::default();
        for y in 0..=n {
            for x in 0..=n {
                mesh.positions.push([x as f32, y as f32, 0.0]);
            }
        }
        let n_vertices = mesh.positions.len();
        mesh.normals = vec![[0.0, 0.0, 1.0]; n_vertices];
        mesh.tangents = vec![[1.0, 0.0, 0.0, 1.0]; n_vertices];
        (mesh.uv0, mesh.uv1, mesh.colors) =
            (vec![[0.0; 2]; n_vertices], vec![[0.0; 2]; n_vertices], vec![[255; 4]; n_vertices]);
        for y in 0..n {
            for x in 0..n {
                let i = y * (n + 1) + x;
                mesh.indices.extend([i, i + 1, i + n + 2, i, i + n + 2, i + n + 1]);
            }
        }
        mesh.bounds = Aabb::from_points(mesh.positions.iter().map(|&p| p.into()));
        mesh
    }

    #[test]
    fn a_flat_grid_gets_coarser_levels_with_absolute_indices() {
        let packed = pack_meshes(&[grid(2), grid(16)]);
        let [small, large] = packed.meshes[..] else { panic!() };
        assert_eq!((small.n_indices, small.lod_error[1]), ([24, 0, 0, 0], f32::MAX));
        assert_eq!(large.n_indices[0], 16 * 16 * 6);
        assert!(large.n_indices[1] > 0 && large.n_indices[1] < large.n_indices[0] / 3, "{:?}", large.n_indices);
        assert!(large.lod_error[1] < 0.01, "a plane loses nothing: {:?}", large.lod_error);
        let first = packed.indices[large.first_index[0] as usize..].iter().min();
        assert_eq!(first, Some(&9), "the second mesh's vertices follow the first's nine");
    }

    #[test]
    fn octahedral_vectors_come_back() {
        for i in 0..200 {
            let z = 1.0 - 2.0 * (i as f32 + 0.5) / 200.0;
            let (sin, cos) = (i as f32 * 2.4).sin_cos();
            let v = Vec3::new((1.0 - z * z).sqrt() * cos, (1.0 - z * z).sqrt() * sin, z);
            let [x, y] = octahedral(v.into());
            let mut back = Vec3::new(x, y, 1.0 - x.abs() - y.abs());
            let fold = (-back.z).max(0.0);
            back.x += if back.x >= 0.0 { -fold } else { fold };
            back.y += if back.y >= 0.0 { -fold } else { fold };
            assert!(back.normalize().distance(v) < 1e-5, "{v} came back as {back}");
        }
        assert_eq!(octahedral([0.0; 3]), [0.0, 0.0]);
    }
}
