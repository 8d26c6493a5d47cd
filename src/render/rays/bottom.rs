//! The trees that are built once: one of everything that stands still, in world space, and one of each mesh that moves.

use glam::{Affine3A, Vec3, Vec3A};
use obvhs::Boundable;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use obvhs::cwbvh::node::CwBvhNode;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use rayon::prelude::*;

use super::casters::{Caster, Casters};
use super::top::TOP_STACK_SIZE;
use crate::render::layout::{RAY_OF_MOVER, RAY_OPAQUE, RAY_STACK_SIZE, RayTriangle};
use crate::scene::assets::Aabb;

impl Boundable for RayTriangle {
    fn aabb(&self) -> obvhs::aabb::Aabb {
        let corners = [self.p0, self.p1, self.p2].map(Vec3A::from);
        obvhs::aabb::Aabb::from_points(&corners)
    }
}

/// A mesh's tree.
#[derive(Clone, Copy, Debug)]
pub struct MeshTree {
    /// Node index.
    pub root: u32,
    /// Local space.
    pub bounds: Aabb,
}

/// See the module.
pub struct BottomLevels {
    /// The top level's room, then every tree; indices in them are absolute.
    pub nodes: Vec<CwBvhNode>,
    /// In the trees' order.
    pub triangles: Vec<RayTriangle>,
    /// They come first.
    pub n_static_triangles: usize,
    pub static_root: Option<u32>,
    /// By mesh; `None` for those that never move or have nothing to hit.
    pub mesh_trees: Vec<Option<MeshTree>>,
}

/// A tree whose indices begin at 0.
struct Tree {
    nodes: Vec<CwBvhNode>,
    triangles: Vec<RayTriangle>,
}

impl BottomLevels {
    /// Leaves room for `n_top_nodes` nodes in front.
    ///
    /// # Errors
    /// A tree too deep for traversal's stack.
    pub fn build(casters: &Casters, n_top_nodes: usize) -> Result<Self, String> {
        let mut is_moving = vec![false; casters.meshes.meshes.len()];
        for caster in casters.list.iter().filter(|caster| caster.is_moving) {
            is_moving[caster.mesh_idx as usize] = true;
        }
        let still: Vec<&Caster> = casters.list.iter().filter(|caster| !caster.is_moving).collect();
        let merged = still.par_iter().flat_map_iter(|caster| world_triangles(casters, caster)).collect();
        let static_tree = Tree::build(merged);
        let mesh_trees: Vec<Option<Tree>> = (0..is_moving.len() as u32)
            .into_par_iter()
            .map(|mesh_idx| {
                is_moving[mesh_idx as usize]
                    .then(|| Tree::build(local_triangles(casters, mesh_idx).collect()))
                    .flatten()
            })
            .collect();

        let n_static_triangles = static_tree.as_ref().map_or(0, |tree| tree.triangles.len());
        let mut all = Self {
            nodes: vec![CwBvhNode::default(); n_top_nodes],
            triangles: Vec::new(),
            n_static_triangles,
            static_root: None,
            mesh_trees: Vec::new(),
        };
        // The top level's root waits on the stack meanwhile.
        all.static_root = static_tree.map(|tree| all.append(tree, RAY_STACK_SIZE - 1)).transpose()?;
        for tree in mesh_trees {
            let bounds = tree.as_ref().map(|tree| bounds(&tree.triangles));
            let root = tree.map(|tree| all.append(tree, RAY_STACK_SIZE - TOP_STACK_SIZE)).transpose()?;
            all.mesh_trees.push(root.zip(bounds).map(|(root, bounds)| MeshTree { root, bounds }));
        }
        Ok(all)
    }

    /// Puts a tree behind the others and returns its root.
    fn append(&mut self, tree: Tree, most_levels: u32) -> Result<u32, String> {
        let depth = depth(&tree.nodes);
        if depth > most_levels as usize {
            return Err(format!(
                "a tree of {} triangles is {depth} levels deep, of which {most_levels} can be traversed: its triangles are degenerate",
                tree.triangles.len()
            ));
        }
        let (first_node, first_triangle) = (self.nodes.len() as u32, self.triangles.len() as u32);
        self.nodes.extend(tree.nodes.into_iter().map(|mut node| {
            node.child_base_idx += first_node;
            node.primitive_base_idx += first_triangle;
            node
        }));
        self.triangles.extend(tree.triangles);
        Ok(first_node)
    }
}

impl Tree {
    /// `None` for no triangles.
    fn build(triangles: Vec<RayTriangle>) -> Option<Self> {
        if triangles.is_empty() {
            return None;
        }
        let indices = (0..triangles.len() as u32).collect();
        let mut binary = PlocBuilder::with_capacity(triangles.len()).build(
            PlocSearchDistance::Low,
            &triangles,
            indices,
            SortPrecision::U64,
            2,
        );
        ReinsertionOptimizer::default().run(&mut binary, 0.02, None);
        let wide = bvh2_to_cwbvh(&binary, 3, true, false);
        let ordered = wide.primitive_indices.iter().map(|&i| triangles[i as usize]).collect();
        Some(Self { nodes: wide.nodes, triangles: ordered })
    }
}

pub(super) fn world_triangles(casters: &Casters, caster: &Caster) -> impl Iterator<Item = RayTriangle> {
    let mask_instance = if caster.is_masked { caster.instance_idx } else { RAY_OPAQUE };
    let (world_from_local, mesh_idx) = (caster.world_from_local, caster.mesh_idx);
    casters
        .triangles_of(mesh_idx)
        .filter_map(move |(triangle, corners)| ray_triangle(&world_from_local, corners, mask_instance, triangle))
}

pub(super) fn local_triangles(casters: &Casters, mesh_idx: u32) -> impl Iterator<Item = RayTriangle> {
    casters
        .triangles_of(mesh_idx)
        .filter_map(|(triangle, corners)| ray_triangle(&Affine3A::IDENTITY, corners, RAY_OF_MOVER, triangle))
}

/// `None` for a triangle that no ray can hit.
fn ray_triangle(to: &Affine3A, corners: [[f32; 3]; 3], mask_instance: u32, triangle: u32) -> Option<RayTriangle> {
    let [p0, p1, p2] = corners.map(|p| to.transform_point3(Vec3::from(p)));
    let is_hittable = p0.is_finite() && p1.is_finite() && p2.is_finite() && p0 != p1 && p1 != p2 && p2 != p0;
    is_hittable.then(|| RayTriangle { p0: p0.into(), mask_instance, p1: p1.into(), triangle, p2: p2.into(), _pad: 0 })
}

fn bounds(triangles: &[RayTriangle]) -> Aabb {
    Aabb::from_points(triangles.iter().flat_map(|triangle| [triangle.p0, triangle.p1, triangle.p2]).map(Vec3::from))
}

/// Levels of inner nodes.
pub(super) fn depth(nodes: &[CwBvhNode]) -> usize {
    // Children stand behind their parents.
    let mut depths = vec![1; nodes.len()];
    let mut deepest = 0;
    for (node_idx, node) in nodes.iter().enumerate() {
        deepest = deepest.max(depths[node_idx]);
        for child in 0..node.imask.count_ones() {
            depths[(node.child_base_idx + child) as usize] = depths[node_idx] + 1;
        }
    }
    deepest
}
