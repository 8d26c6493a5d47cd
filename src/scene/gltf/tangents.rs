//! Tangents for meshes that come without: MikkTSpace's where a normal texture needs them, else any.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::Vec3;

use crate::scene::assets::Mesh;

/// A unit vector orthogonal to the normal, for shading that asks for some tangent but not for which.
pub(super) fn any_tangent(normal: [f32; 3]) -> [f32; 4] {
    let tangent = Vec3::from(normal).any_orthonormal_vector();
    [tangent.x, tangent.y, tangent.z, 1.0]
}

/// MikkTSpace tangents along texture coordinate set `uv_set` (0 or 1). A vertex whose corners get different tangents is split.
pub(super) fn generate(mesh: &mut Mesh, uv_set: u32) {
    let mut corners = Corners { uvs: if uv_set == 0 { &mesh.uv0 } else { &mesh.uv1 }, mesh, tangents: Vec::new() };
    corners.tangents = mesh.indices.iter().map(|&vertex| any_tangent(mesh.normals[vertex as usize])).collect();
    // Its error type has no values.
    let _ = generate_tangents(&mut corners);
    let tangents = corners.tangents;
    split_vertices(mesh, &tangents);
}

struct Corners<'a> {
    mesh: &'a Mesh,
    uvs: &'a [[f32; 2]],
    /// One for each index.
    tangents: Vec<[f32; 4]>,
}

impl Corners<'_> {
    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.mesh.indices[3 * face + corner] as usize
    }
}

impl Geometry for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.mesh.indices.len() / 3
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.mesh.positions[self.vertex(face, corner)]
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.mesh.normals[self.vertex(face, corner)]
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        // MikkTSpace counts v upwards, glTF downwards.
        let [u, v] = self.uvs[self.vertex(face, corner)];
        [u, 1.0 - v]
    }

    fn set_tangent(&mut self, tangent_space: Option<TangentSpace>, face: usize, corner: usize) {
        if let Some([x, y, z, w]) = tangent_space.map(|space| space.tangent_encoded())
            && let Some(unit) = Vec3::new(x, y, z).try_normalize()
        {
            self.tangents[3 * face + corner] = [unit.x, unit.y, unit.z, w];
        }
    }
}

/// Sets each corner's tangent, with one vertex for each distinct pair of old vertex and tangent, in order of first use.
fn split_vertices(mesh: &mut Mesh, corner_tangents: &[[f32; 4]]) {
    let mut vertex_of: HashMap<(u32, [u32; 4]), u32> = HashMap::with_capacity(mesh.positions.len());
    let mut source = Vec::with_capacity(mesh.positions.len());
    let mut tangents = Vec::with_capacity(mesh.positions.len());
    for (index, &tangent) in mesh.indices.iter_mut().zip(corner_tangents) {
        *index = *vertex_of.entry((*index, tangent.map(f32::to_bits))).or_insert_with(|| {
            source.push(*index as usize);
            tangents.push(tangent);
            source.len() as u32 - 1
        });
    }
    fn gather<T: Copy>(values: &mut Vec<T>, source: &[usize]) {
        *values = source.iter().map(|&vertex| values[vertex]).collect();
    }
    gather(&mut mesh.positions, &source);
    gather(&mut mesh.normals, &source);
    gather(&mut mesh.uv0, &source);
    gather(&mut mesh.uv1, &source);
    gather(&mut mesh.colors, &source);
    mesh.tangents = tangents;
}
