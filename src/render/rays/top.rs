//! The top level: what moves, in sun space. In each frame in which some of it moved, boxes are fitted anew to a tree whose order of
//! instances is kept; the order is found again when the boxes have grown. All in buffers that are kept.

use glam::{Affine3A, Mat3A, Vec3A};
use obvhs::cwbvh::node::CwBvhNode;

use super::bodies::RigidBodies;
use super::bottom::BottomLevels;
use super::mover_map::MoverMap;
use super::sun_space::SunSpace;
use super::top_tree::{Bounds, fit, order, split_at_median};
use crate::render::layout::RayInstance;
use crate::scene::Hierarchy;

pub use super::top_tree::TOP_STACK_SIZE;

/// The boxes' surface, relative to what it was when the order was found, at which it is found again.
const MOST_GROWTH: f32 = 1.2;
const NOWHERE: u32 = u32::MAX;

/// Something that moves.
struct Mover {
    slot: u32,
    root: u32,
    center: Vec3A,
    half_extent: Vec3A,
    /// The box's farthest coordinate from the body's origin.
    reach: f32,
}

/// Where a mover is.
#[derive(Clone, Copy)]
struct Placed {
    bounds: Bounds,
    local_from_world: Affine3A,
}

/// See the module.
pub struct TopLevel {
    movers: Vec<Mover>,
    /// By slot: the mover, or `NOWHERE`.
    mover_of_slot: Vec<u32>,
    sun_from_world: Mat3A,
    is_built: bool,
    /// By mover: its place in the tree's order, or `NOWHERE` if it is squashed to nothing.
    place_of_mover: Vec<u32>,
    /// By place.
    mover_of_place: Vec<u32>,
    boxes: Vec<Bounds>,
    instances: Vec<RayInstance>,
    nodes: Vec<CwBvhNode>,
    /// By node.
    node_boxes: Vec<Bounds>,
    /// Work space of `order`.
    todo: Vec<(u32, std::ops::Range<usize>)>,
    sorted: Vec<(Bounds, u32)>,
    ordered_cost: f32,
    cost: f32,
    map: Option<MoverMap>,
}

impl TopLevel {
    /// Nodes for `n` instances, at most.
    pub fn most_nodes(n_instances: usize) -> usize {
        n_instances.max(1)
    }

    /// With a mover map to fit along with the boxes, if rays are parallel.
    pub fn new(
        bodies: &RigidBodies,
        bottom: &BottomLevels,
        hierarchy: &Hierarchy,
        sun_space: &SunSpace,
        map: Option<MoverMap>,
    ) -> Self {
        let mut mover_of_slot = vec![NOWHERE; hierarchy.len()];
        let mut movers = Vec::new();
        for body in &bodies.bodies {
            let Some(tree) = bottom.shape_trees[body.shape_idx as usize] else { continue };
            mover_of_slot[body.slot as usize] = movers.len() as u32;
            movers.push(Mover {
                slot: body.slot,
                root: tree.root,
                center: (0.5 * (tree.bounds.min + tree.bounds.max)).into(),
                half_extent: (0.5 * (tree.bounds.max - tree.bounds.min)).into(),
                reach: tree.bounds.min.abs().max(tree.bounds.max.abs()).max_element(),
            });
        }
        let n = movers.len();
        Self {
            mover_of_slot,
            sun_from_world: Mat3A::from_cols(sun_space.x.into(), sun_space.y.into(), sun_space.z.into()).transpose(),
            is_built: false,
            place_of_mover: vec![NOWHERE; n],
            mover_of_place: Vec::with_capacity(n),
            boxes: Vec::with_capacity(n),
            instances: Vec::with_capacity(n),
            nodes: Vec::with_capacity(Self::most_nodes(n)),
            node_boxes: Vec::with_capacity(Self::most_nodes(n)),
            todo: Vec::with_capacity(n),
            sorted: Vec::with_capacity(n),
            ordered_cost: 0.0,
            cost: 0.0,
            map,
            movers,
        }
    }

    pub fn most_instances(&self) -> usize {
        self.movers.len()
    }

    pub fn most_bytes(&self) -> u64 {
        let n = self.movers.len();
        (Self::most_nodes(n) * size_of::<CwBvhNode>() + n * size_of::<RayInstance>() + self.map_bytes().len()) as u64
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

    pub fn map(&self) -> Option<&MoverMap> {
        self.map.as_ref()
    }

    /// None without a mover map.
    pub fn map_bytes(&self) -> &[u8] {
        self.map.as_ref().map_or(&[], MoverMap::bytes)
    }

    /// The surface of all boxes in the tree: what a ray's work is proportional to.
    #[cfg(test)]
    pub fn cost(&self) -> f32 {
        self.cost
    }

    /// Builds if something moved since the last call. Returns whether it did.
    pub fn update(&mut self, hierarchy: &Hierarchy) -> bool {
        let mut has_moved = false;
        let mut has_order = self.is_built && self.cost <= MOST_GROWTH * self.ordered_cost;
        if has_order {
            for &slot in hierarchy.world_moved() {
                let mover_idx = self.mover_of_slot[slot as usize];
                if mover_idx != NOWHERE {
                    has_moved = true;
                    has_order &= self.move_in_place(mover_idx, hierarchy);
                }
            }
        } else if self.is_built {
            has_moved = hierarchy.world_moved().iter().any(|&slot| self.mover_of_slot[slot as usize] != NOWHERE);
        }
        if self.is_built && !has_moved {
            return false;
        }
        self.is_built = true;
        if !has_order {
            self.find_order(hierarchy);
        }
        self.cost = fit(&mut self.nodes, &self.boxes, &mut self.node_boxes);
        if let Some(map) = &mut self.map {
            map.fit(&self.boxes);
        }
        if !has_order {
            self.ordered_cost = self.cost;
        }
        true
    }

    /// Finds the order anew at the next update, whatever moved.
    #[cfg(test)]
    pub fn forget(&mut self) {
        self.is_built = false;
    }

    /// Where it was in the order. Returns whether it has a place there.
    fn move_in_place(&mut self, mover_idx: u32, hierarchy: &Hierarchy) -> bool {
        let placed = self.place(mover_idx, hierarchy);
        let place = self.place_of_mover[mover_idx as usize];
        match placed {
            Some(placed) if place != NOWHERE => {
                self.boxes[place as usize] = placed.bounds;
                self.instances[place as usize].local_from_world = (&placed.local_from_world).into();
                true
            }
            // It has vanished, or come back.
            placed => placed.is_none() && place == NOWHERE,
        }
    }

    fn place(&self, mover_idx: u32, hierarchy: &Hierarchy) -> Option<Placed> {
        let mover = &self.movers[mover_idx as usize];
        let world_from_local = hierarchy.world(mover.slot);
        let local_from_world = world_from_local.inverse();
        if !local_from_world.is_finite() {
            return None;
        }
        let sun_from_local = self.sun_from_world * world_from_local.matrix3;
        let center = self.sun_from_world * world_from_local.transform_point3a(mover.center);
        let [x, y, z] = [sun_from_local.x_axis, sun_from_local.y_axis, sun_from_local.z_axis].map(Vec3A::abs);
        let half = x * mover.half_extent.x + y * mover.half_extent.y + z * mover.half_extent.z;
        // The ray is moved into local space and rounded there: its box must be as much larger.
        let largest = world_from_local.translation.abs().max_element() + (x + y + z).max_element() * mover.reach;
        let half = half + 2e-6 * largest;
        Some(Placed { bounds: Bounds { min: center - half, max: center + half }, local_from_world })
    }

    fn find_order(&mut self, hierarchy: &Hierarchy) {
        self.sorted.clear();
        for mover_idx in 0..self.movers.len() as u32 {
            self.place_of_mover[mover_idx as usize] = NOWHERE;
            if let Some(placed) = self.place(mover_idx, hierarchy) {
                self.sorted.push((placed.bounds, mover_idx));
            }
        }
        order(&mut self.sorted, &mut self.nodes, &mut self.mover_of_place, &mut self.todo, split_at_median);
        self.boxes.clear();
        self.instances.clear();
        for place in 0..self.mover_of_place.len() {
            let mover_idx = self.mover_of_place[place];
            self.place_of_mover[mover_idx as usize] = place as u32;
            let Some(placed) = self.place(mover_idx, hierarchy) else { continue };
            self.boxes.push(placed.bounds);
            self.instances.push(RayInstance {
                local_from_world: (&placed.local_from_world).into(),
                root: self.movers[mover_idx as usize].root,
                _pad: [0; 3],
            });
        }
    }
}
