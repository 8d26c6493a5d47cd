//! Everything that casts a shadow, and which of it can move.

use glam::Affine3A;

use crate::render::meshes::PackedMeshes;

/// An instance that stops rays: opaque or alpha-masked.
#[derive(Clone, Copy, Debug)]
pub struct Caster {
    /// Place among the GPU scene's instances.
    pub instance_idx: u32,
    /// Its transform's slot in the hierarchy.
    pub slot: u32,
    pub mesh_idx: u32,
    pub world_from_local: Affine3A,
    pub is_masked: bool,
    /// Whether something can ever move its slot.
    pub is_moving: bool,
}

/// See the module.
#[derive(Default)]
pub struct Casters {
    pub list: Vec<Caster>,
    /// What the instances refer to; rays meet the finest level of detail.
    pub meshes: PackedMeshes,
}

impl Casters {
    pub fn n_moving(&self) -> usize {
        self.list.iter().filter(|caster| caster.is_moving).count()
    }

    pub fn has_masked(&self) -> bool {
        self.list.iter().any(|caster| caster.is_masked)
    }

    /// The corners of each triangle of a mesh's finest level, and the triangle's place in the index buffer.
    pub fn triangles_of(&self, mesh_idx: u32) -> impl Iterator<Item = (u32, [[f32; 3]; 3])> {
        let mesh = &self.meshes.meshes[mesh_idx as usize];
        let first = mesh.first_index[0] as usize;
        let indices = &self.meshes.indices[first..first + mesh.n_indices[0] as usize];
        indices.chunks_exact(3).zip(mesh.first_index[0] / 3..).map(|(corners, triangle)| {
            (triangle, [0, 1, 2].map(|corner| self.meshes.positions[corners[corner] as usize]))
        })
    }
}
