//! The top level: what moves. Built on the CPU in each frame in which some of it moved, in buffers that are kept.

use glam::{Affine3A, Vec3};
use obvhs::cwbvh::node::CwBvhNode;

use super::bottom::BottomLevels;
use super::casters::Casters;
use crate::render::layout::{RAY_OPAQUE, RayInstance};
use crate::scene::Hierarchy;
use crate::scene::assets::Aabb;

/// Groups that traversal puts off in the top level, at most: one for each of its levels (every level but the last divides the instances by 8
/// or nearly so) and one for the instances of the last.
pub const TOP_STACK_SIZE: u32 = 12;
/// Instances that can share a slot of a node.
const MOST_IN_LEAF: usize = 2;

/// Something that moves.
struct Mover {
    slot: u32,
    root: u32,
    bounds: Aabb,
    mask_instance: u32,
}

/// Where a mover is.
#[derive(Clone, Copy)]
struct Placed {
    min: Vec3,
    max: Vec3,
    mover: u32,
}

/// See the module.
pub struct TopLevel {
    movers: Vec<Mover>,
    /// By slot.
    is_mover: Vec<bool>,
    is_built: bool,
    placed: Vec<Placed>,
    nodes: Vec<CwBvhNode>,
    instances: Vec<RayInstance>,
    /// Nodes to fill: index and range of `placed`.
    todo: Vec<(u32, std::ops::Range<usize>)>,
    /// By mover.
    local_from_world: Vec<Affine3A>,
}

impl TopLevel {
    /// Nodes for `n` instances, at most.
    pub fn most_nodes(n_instances: usize) -> usize {
        n_instances.max(1)
    }

    pub fn new(casters: &Casters, bottom: &BottomLevels, hierarchy: &Hierarchy) -> Self {
        let mut is_mover = vec![false; hierarchy.len()];
        let mut movers = Vec::new();
        for caster in casters.list.iter().filter(|caster| caster.is_moving) {
            let Some(tree) = bottom.mesh_trees[caster.mesh_idx as usize] else { continue };
            is_mover[caster.slot as usize] = true;
            movers.push(Mover {
                slot: caster.slot,
                root: tree.root,
                bounds: tree.bounds,
                mask_instance: if caster.is_masked { caster.instance_idx } else { RAY_OPAQUE },
            });
        }
        let n = movers.len();
        Self {
            is_mover,
            is_built: false,
            placed: Vec::with_capacity(n),
            nodes: Vec::with_capacity(Self::most_nodes(n)),
            instances: Vec::with_capacity(n),
            todo: Vec::with_capacity(n),
            local_from_world: vec![Affine3A::IDENTITY; n],
            movers,
        }
    }

    pub fn most_instances(&self) -> usize {
        self.movers.len()
    }

    pub fn most_bytes(&self) -> u64 {
        let n = self.movers.len();
        (Self::most_nodes(n) * size_of::<CwBvhNode>() + n * size_of::<RayInstance>()) as u64
    }

    /// Those of the last update that a ray can meet.
    pub fn n_instances(&self) -> u32 {
        self.instances.len() as u32
    }

    pub fn node_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.nodes)
    }

    pub fn instance_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.instances)
    }

    /// Builds if something moved since the last call. Returns whether it did.
    pub fn update(&mut self, hierarchy: &Hierarchy) -> bool {
        let has_moved = hierarchy.world_moved().iter().any(|&slot| self.is_mover[slot as usize]);
        if self.is_built && !has_moved {
            return false;
        }
        self.is_built = true;
        self.place(hierarchy);
        self.build();
        true
    }

    /// Builds at the next update, whatever moved.
    #[cfg(test)]
    pub fn forget(&mut self) {
        self.is_built = false;
    }

    fn place(&mut self, hierarchy: &Hierarchy) {
        self.placed.clear();
        for (mover_idx, mover) in self.movers.iter().enumerate() {
            let world_from_local = hierarchy.world(mover.slot);
            let local_from_world = world_from_local.inverse();
            if !local_from_world.is_finite() {
                continue; // Squashed to nothing.
            }
            self.local_from_world[mover_idx] = local_from_world;
            let bounds = mover.bounds.transformed(world_from_local);
            // The ray is moved into local space and rounded there: its box must be as much larger.
            let slack = 1e-6 * (bounds.min.abs().max(bounds.max.abs()).max_element());
            self.placed.push(Placed { min: bounds.min - slack, max: bounds.max + slack, mover: mover_idx as u32 });
        }
    }

    /// Splits at the median along the longest side, into eight at a time: as shallow as can be, whatever the instances do.
    fn build(&mut self) {
        self.nodes.clear();
        self.instances.clear();
        if self.placed.is_empty() {
            return;
        }
        self.nodes.push(CwBvhNode::default());
        self.todo.push((0, 0..self.placed.len()));
        while let Some((node_idx, range)) = self.todo.pop() {
            self.build_node(node_idx, range);
        }
    }

    fn build_node(&mut self, node_idx: u32, range: std::ops::Range<usize>) {
        let mut children: [std::ops::Range<usize>; 8] = std::array::from_fn(|_| 0..0);
        children[0] = range.clone();
        let mut n_children = 1;
        while n_children < 8 {
            let Some(largest) = (0..n_children).max_by_key(|&child| (children[child].len(), 7 - child)) else { break };
            if children[largest].len() < 2 {
                break;
            }
            let (left, right) = self.split(children[largest].clone());
            children[largest] = left;
            children[n_children] = right;
            n_children += 1;
        }

        let grid = Grid::around(&self.placed[range]);
        let mut node = CwBvhNode {
            p: grid.origin,
            e: grid.exponents,
            child_base_idx: self.nodes.len() as u32,
            primitive_base_idx: self.instances.len() as u32,
            ..Default::default()
        };
        let mut n_in_leaves = 0;
        for (child_idx, child) in children[..n_children].iter().enumerate() {
            grid.write_box(&mut node, child_idx, &self.placed[child.clone()]);
            if child.len() <= MOST_IN_LEAF {
                // The number of instances in unary, then their place.
                node.child_meta[child_idx] = ((1 << child.len()) - 1) << 5 | n_in_leaves;
                n_in_leaves += child.len() as u8;
                for placed in child.clone() {
                    let mover_idx = self.placed[placed].mover as usize;
                    let mover = &self.movers[mover_idx];
                    self.instances.push(RayInstance {
                        local_from_world: (&self.local_from_world[mover_idx]).into(),
                        root: mover.root,
                        mask_instance: mover.mask_instance,
                        _pad: [0; 2],
                    });
                }
            } else {
                node.child_meta[child_idx] = 1 << 5 | (24 + child_idx as u8);
                node.imask |= 1 << child_idx;
                self.todo.push((self.nodes.len() as u32, child.clone()));
                self.nodes.push(CwBvhNode::default());
            }
        }
        self.nodes[node_idx as usize] = node;
    }

    fn split(&mut self, range: std::ops::Range<usize>) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let placed = &mut self.placed[range.clone()];
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for one in placed.iter() {
            (low, high) = (low.min(one.min + one.max), high.max(one.min + one.max));
        }
        let axis = (high - low).max_position();
        let half = placed.len() / 2;
        // The mover's number makes the order, and so the tree, the same each time.
        let key = |one: &Placed| (one.min[axis] + one.max[axis], one.mover);
        placed.select_nth_unstable_by(half, |a, b| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        (range.start..range.start + half, range.start + half..range.end)
    }
}

/// The grid on which a node's children's boxes lie: bytes, in steps of powers of two.
struct Grid {
    origin: Vec3,
    exponents: [u8; 3],
    steps: Vec3,
}

impl Grid {
    fn around(placed: &[Placed]) -> Self {
        let (origin, high) = union(placed);
        // The smallest power of two of which 255 reach across, rounding allowed for.
        let exponents = ((high - origin) * (1.000_001 / 255.0)).to_array().map(|step| {
            let bits = step.max(f32::MIN_POSITIVE).to_bits();
            ((bits >> 23) + u32::from(bits & 0x7f_ffff != 0)).clamp(1, 254) as u8
        });
        let steps = Vec3::from_array(exponents.map(|e| f32::from_bits(u32::from(e) << 23)));
        Self { origin, exponents, steps }
    }

    fn write_box(&self, node: &mut CwBvhNode, child: usize, placed: &[Placed]) {
        let (low, high) = union(placed);
        let low = ((low - self.origin) / self.steps).floor().to_array().map(|q| q.clamp(0.0, 255.0) as u8);
        let high = ((high - self.origin) / self.steps).ceil().to_array().map(|q| q.clamp(0.0, 255.0) as u8);
        (node.child_min_x[child], node.child_max_x[child]) = (low[0], high[0]);
        (node.child_min_y[child], node.child_max_y[child]) = (low[1], high[1]);
        (node.child_min_z[child], node.child_max_z[child]) = (low[2], high[2]);
    }
}

fn union(placed: &[Placed]) -> (Vec3, Vec3) {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    placed.iter().fold(start, |(low, high), one| (low.min(one.min), high.max(one.max)))
}
