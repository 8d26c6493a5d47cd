//! The trees that are built once: one of everything that stands still, in sun space, and one of each shape that moves.

use glam::{Affine3A, DAffine3, Vec3, Vec3A};
use obvhs::aabb::Aabb as TreeBox;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh;
use obvhs::cwbvh::node::CwBvhNode;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use rayon::prelude::*;

use super::bodies::{Part, RigidBodies};
use super::casters::{Caster, Casters};
use super::sun_space::SunSpace;
use super::top::TOP_STACK_SIZE;
use crate::render::layout::{RAY_STACK_SIZE, RayTriangle};
use crate::scene::assets::Aabb;

/// A shape's tree.
#[derive(Clone, Copy, Debug)]
pub struct ShapeTree {
    /// Node index.
    pub root: u32,
    /// In the space of its bodies.
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
    /// By shape; `None` for those that have nothing to hit.
    pub shape_trees: Vec<Option<ShapeTree>>,
}

/// A tree whose indices begin at 0.
struct Tree {
    nodes: Vec<CwBvhNode>,
    triangles: Vec<RayTriangle>,
}

/// What the boxes' surface stands for while a tree is built.
#[derive(Clone, Copy)]
enum RaysGo {
    /// Any way: the surface is how likely a ray meets the box.
    Anywhere,
    /// Along z, or nearly: what counts is the side that faces z.
    AlongZ,
}

impl BottomLevels {
    /// Leaves room for `n_top_nodes` nodes in front.
    ///
    /// # Errors
    /// A tree too deep for traversal's stack.
    pub fn build(
        casters: &Casters,
        bodies: &RigidBodies,
        sun_space: &SunSpace,
        n_top_nodes: usize,
    ) -> Result<Self, String> {
        let sun_from_world = sun_space.sun_from_world();
        let still: Vec<&Caster> = casters.still().collect();
        let merged =
            still.par_iter().flat_map_iter(|caster| still_triangles(casters, caster, &sun_from_world)).collect();
        let static_tree = Tree::build(merged, RaysGo::AlongZ);
        let shape_trees: Vec<Option<Tree>> = bodies
            .shapes
            .par_iter()
            .map(|shape| Tree::build(shape_triangles(casters, shape).collect(), RaysGo::Anywhere))
            .collect();

        let n_static_triangles = static_tree.as_ref().map_or(0, |tree| tree.triangles.len());
        let mut all = Self {
            nodes: vec![CwBvhNode::default(); n_top_nodes],
            triangles: Vec::new(),
            n_static_triangles,
            static_root: None,
            shape_trees: Vec::new(),
        };
        all.static_root = static_tree.map(|tree| all.append(tree, RAY_STACK_SIZE)).transpose()?;
        for tree in shape_trees {
            let bounds = tree.as_ref().map(|tree| bounds(&tree.triangles));
            let root = tree.map(|tree| all.append(tree, RAY_STACK_SIZE - TOP_STACK_SIZE)).transpose()?;
            all.shape_trees.push(root.zip(bounds).map(|(root, bounds)| ShapeTree { root, bounds }));
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

/// Nodes that are taken out of a finished tree and put in where they cost less, as a share of all in each round. With 0.15 and a wide search the sun pass
/// takes 9% less than with 0.02 and a narrow one (town, H200).
const REINSERTED: f32 = 0.15;

impl Tree {
    /// `None` for no triangles.
    fn build(triangles: Vec<RayTriangle>, rays_go: RaysGo) -> Option<Self> {
        if triangles.is_empty() {
            return None;
        }
        let flattening = Flattening::of(rays_go);
        let boxes: Vec<TreeBox> = triangles.par_iter().map(|triangle| flattening.box_of(triangle)).collect();
        let indices = (0..triangles.len() as u32).collect();
        let mut binary = PlocBuilder::with_capacity(triangles.len()).build(
            PlocSearchDistance::High,
            &boxes,
            indices,
            SortPrecision::U64,
            2,
        );
        ReinsertionOptimizer::default().run(&mut binary, REINSERTED, None);
        let mut wide = bvh2_to_cwbvh(&binary, 3, true, false);
        wide.nodes.iter_mut().for_each(|node| flattening.undo(node));
        let ordered = wide.primitive_indices.iter().map(|&i| triangles[i as usize]).collect();
        Some(Self { nodes: wide.nodes, triangles: ordered })
    }
}

/// A builder that minimizes the surface of boxes minimizes what rays along z meet if the boxes are flat. Flattened by a power of two, a
/// finished tree unfolds without rounding.
#[derive(Clone, Copy)]
struct Flattening {
    exponent: u8,
}

impl Flattening {
    fn of(rays_go: RaysGo) -> Self {
        match rays_go {
            RaysGo::Anywhere => Self { exponent: 0 },
            RaysGo::AlongZ => Self { exponent: 4 },
        }
    }

    fn box_of(self, triangle: &RayTriangle) -> TreeBox {
        let scale = Vec3A::new(1.0, 1.0, (-f32::from(self.exponent)).exp2());
        TreeBox::from_points(&[triangle.p0, triangle.p1, triangle.p2].map(|corner| Vec3A::from(corner) * scale))
    }

    fn undo(self, node: &mut CwBvhNode) {
        node.p.z *= f32::from(self.exponent).exp2();
        node.e[2] = node.e[2].saturating_add(self.exponent).min(254);
    }
}

/// In sun space, or wherever `to_there` leads from the world.
pub(super) fn still_triangles(
    casters: &Casters,
    caster: &Caster,
    to_there: &DAffine3,
) -> impl Iterator<Item = RayTriangle> {
    let (to_there, mesh_idx, mask_material) = (*to_there, caster.mesh_idx, caster.mask_material);
    let world_from_local = caster.world_from_local;
    let place = move |p: Vec3| {
        // The same rounding as in the picture first.
        let world = world_from_local.transform_point3(p);
        to_there.transform_point3(world.as_dvec3()).as_vec3()
    };
    triangles(casters, mesh_idx, mask_material, place)
}

/// In the space of the shape's bodies.
pub(super) fn shape_triangles<'a>(casters: &'a Casters, shape: &'a [Part]) -> impl Iterator<Item = RayTriangle> + 'a {
    shape.iter().flat_map(|part| {
        let body_from_local: Affine3A = part.body_from_local;
        triangles(casters, part.mesh_idx, part.mask_material, move |p| body_from_local.transform_point3(p))
    })
}

/// Those that a ray can hit.
fn triangles(
    casters: &Casters,
    mesh_idx: u32,
    mask_material: u32,
    place: impl Fn(Vec3) -> Vec3,
) -> impl Iterator<Item = RayTriangle> {
    casters.triangles_of(mesh_idx).filter_map(move |(triangle, corners)| {
        let [p0, p1, p2] = corners.map(|p| place(p.into()));
        let is_hittable = p0.is_finite() && p1.is_finite() && p2.is_finite() && p0 != p1 && p1 != p2 && p2 != p0;
        is_hittable.then(|| RayTriangle {
            p0: p0.into(),
            mask_material,
            p1: p1.into(),
            triangle,
            p2: p2.into(),
            _pad: 0,
        })
    })
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
