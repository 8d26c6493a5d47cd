//! Everything that casts a shadow, and what moves it.

use glam::Affine3A;

use crate::render::layout::RAY_OPAQUE;
use crate::render::meshes::PackedMeshes;

/// An instance that stops rays: opaque or alpha-masked.
#[derive(Clone, Copy, Debug)]
pub struct Caster {
    /// Its transform's slot in the hierarchy.
    pub slot: u32,
    pub mesh_idx: u32,
    /// The material, if it is alpha-masked; else [`RAY_OPAQUE`].
    pub mask_material: u32,
    pub world_from_local: Affine3A,
    /// The slot whose motion moves it: its own, or the nearest one above that has a motion. `None` for what stands still.
    pub moved_by: Option<u32>,
}

impl Caster {
    /// Whether its material may have holes.
    pub fn is_masked(&self) -> bool {
        self.mask_material != RAY_OPAQUE
    }
}

/// See the module.
#[derive(Default)]
pub struct Casters {
    pub list: Vec<Caster>,
    /// What the instances refer to; rays meet the finest level of detail.
    pub meshes: PackedMeshes,
}

impl Casters {
    /// Those that nothing moves.
    pub fn still(&self) -> impl Iterator<Item = &Caster> {
        self.list.iter().filter(|caster| caster.moved_by.is_none())
    }

    pub fn n_moving(&self) -> usize {
        self.list.len() - self.still().count()
    }

    pub fn has_masked(&self) -> bool {
        self.list.iter().any(Caster::is_masked)
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
