//! Rigid bodies: casters that one motion moves together are one instance of the top level, and bodies of the same parts in the same
//! places share a bottom level. A person's arm is skin, sleeve and button, and moves as one.

use std::collections::{BTreeMap, HashMap};

use glam::Affine3A;

use super::casters::{Caster, Casters};
use crate::scene::Hierarchy;

/// One mesh of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub mesh_idx: u32,
    /// As [`Caster::mask_material`].
    pub mask_material: u32,
    pub body_from_local: Affine3A,
}

/// What a body is made of.
pub type Shape = Vec<Part>;

/// An instance of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Its place is this slot's; no two bodies share one.
    pub slot: u32,
    pub shape_idx: u32,
}

/// See the module.
#[derive(Debug, Default)]
pub struct RigidBodies {
    pub shapes: Vec<Shape>,
    pub bodies: Vec<Body>,
}

/// What tells two shapes apart: the parts, transforms to the last bit.
type ShapeKey = Vec<(u32, u32, [u32; 12])>;

impl RigidBodies {
    /// Of everything that moves; in the same order in every run.
    pub fn of(casters: &Casters, hierarchy: &Hierarchy) -> Self {
        let mut moved_together: BTreeMap<u32, Vec<&Caster>> = BTreeMap::new();
        for caster in &casters.list {
            if let Some(mover) = caster.moved_by {
                moved_together.entry(mover).or_default().push(caster);
            }
        }
        let mut found = Self::default();
        let mut shape_of: HashMap<ShapeKey, u32> = HashMap::new();
        for casters in moved_together.values() {
            // The nearest node above all parts rather than the one that moves: bodies that differ only in how their parts hang below
            // the mover (a scale, a shift) still share their shape.
            let slots = casters.iter().map(|caster| caster.slot);
            let Some(slot) = slots.reduce(|a, b| nearest_above_both(hierarchy, a, b)) else { continue };
            let mut shape: Shape = casters
                .iter()
                .map(|caster| Part {
                    mesh_idx: caster.mesh_idx,
                    mask_material: caster.mask_material,
                    body_from_local: from_descendant(hierarchy, slot, caster.slot),
                })
                .collect();
            shape.sort_by_key(part_key);
            let key: ShapeKey = shape.iter().map(part_key).collect();
            let shape_idx = *shape_of.entry(key).or_insert_with(|| {
                found.shapes.push(shape);
                found.shapes.len() as u32 - 1
            });
            found.bodies.push(Body { slot, shape_idx });
        }
        found
    }
}

fn part_key(part: &Part) -> (u32, u32, [u32; 12]) {
    (part.mesh_idx, part.mask_material, part.body_from_local.to_cols_array().map(f32::to_bits))
}

/// A parent's slot is smaller than its children's.
fn nearest_above_both(hierarchy: &Hierarchy, mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a > b {
            a = hierarchy.parent(a);
        } else {
            b = hierarchy.parent(b);
        }
    }
    a
}

/// `ancestor_from_descendant`.
fn from_descendant(hierarchy: &Hierarchy, ancestor: u32, mut slot: u32) -> Affine3A {
    let mut transform = Affine3A::IDENTITY;
    while slot != ancestor {
        transform = *hierarchy.local(slot) * transform;
        slot = hierarchy.parent(slot);
    }
    transform
}
