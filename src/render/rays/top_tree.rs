//! The top level's tree: an order of the instances, and boxes fitted to it. Its shape depends on the number of instances alone.

use std::ops::Range;

use glam::{Vec3, Vec3A};
use obvhs::cwbvh::node::CwBvhNode;

/// Groups that traversal puts off in the top level, at most: one for each of its levels (every level but the last divides the instances by 8
/// or nearly so) and one for the instances of the last.
pub const TOP_STACK_SIZE: u32 = 12;
/// Instances that can share a slot of a node.
const MOST_IN_LEAF: usize = 2;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub min: Vec3A,
    pub max: Vec3A,
}

impl Bounds {
    const EMPTY: Self = Self { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY };

    fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn half_surface(self) -> f32 {
        let size = self.max - self.min;
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

/// Halves the instances, by `split`, into eight at a time: as shallow as can be, whatever they do. Writes the tree's shape, without boxes,
/// and the instance at each place.
pub fn order(
    sorted: &mut [(Bounds, u32)],
    nodes: &mut Vec<CwBvhNode>,
    instance_of_place: &mut Vec<u32>,
    todo: &mut Vec<(u32, Range<usize>)>,
    split: impl Fn(&mut [(Bounds, u32)]),
) {
    nodes.clear();
    instance_of_place.clear();
    if sorted.is_empty() {
        return;
    }
    nodes.push(CwBvhNode::default());
    todo.push((0, 0..sorted.len()));
    while let Some((node_idx, range)) = todo.pop() {
        let (children, n_children) = split_into_eight(sorted, range, &split);
        let mut node = CwBvhNode {
            child_base_idx: nodes.len() as u32,
            primitive_base_idx: instance_of_place.len() as u32,
            ..Default::default()
        };
        let mut n_in_leaves = 0;
        for (child_idx, child) in children.into_iter().take(n_children).enumerate() {
            if child.len() <= MOST_IN_LEAF {
                // The number of instances in unary, then their place.
                node.child_meta[child_idx] = ((1 << child.len()) - 1) << 5 | n_in_leaves;
                n_in_leaves += child.len() as u8;
                instance_of_place.extend(sorted[child].iter().map(|&(_, instance)| instance));
            } else {
                node.child_meta[child_idx] = 1 << 5 | (24 + child_idx as u8);
                node.imask |= 1 << child_idx;
                todo.push((nodes.len() as u32, child));
                nodes.push(CwBvhNode::default());
            }
        }
        nodes[node_idx as usize] = node;
    }
}

fn split_into_eight(
    sorted: &mut [(Bounds, u32)],
    range: Range<usize>,
    split: impl Fn(&mut [(Bounds, u32)]),
) -> ([Range<usize>; 8], usize) {
    let mut children: [Range<usize>; 8] = std::array::from_fn(|_| 0..0);
    children[0] = range;
    let mut n_children = 1;
    while n_children < 8 {
        let Some(largest) = (0..n_children).max_by_key(|&child| (children[child].len(), 7 - child)) else { break };
        let Range { start, end } = children[largest];
        if end - start < 2 {
            break;
        }
        split(&mut sorted[start..end]);
        let half = start + (end - start) / 2;
        children[largest] = start..half;
        children[n_children] = half..end;
        n_children += 1;
    }
    (children, n_children)
}

/// Puts the half on one side of the median along the longest side of the boxes' middles in front.
pub fn split_at_median(instances: &mut [(Bounds, u32)]) {
    let middles = instances.iter().fold(Bounds::EMPTY, |all, (one, _)| {
        let middle = one.min + one.max;
        all.union(Bounds { min: middle, max: middle })
    });
    let axis = (middles.max - middles.min).max_position();
    // The instance's number makes the order, and so the tree, the same each time.
    instances.select_nth_unstable_by(instances.len() / 2, |(a, a_idx), (b, b_idx)| {
        (a.min[axis] + a.max[axis]).total_cmp(&(b.min[axis] + b.max[axis])).then(a_idx.cmp(b_idx))
    });
}

/// Writes the boxes of every node, from the last to the first, so that children come before their parents. Returns the sum of the boxes'
/// half surfaces.
pub fn fit(nodes: &mut [CwBvhNode], instances: &[Bounds], node_boxes: &mut Vec<Bounds>) -> f32 {
    node_boxes.clear();
    node_boxes.resize(nodes.len(), Bounds::EMPTY);
    let mut cost = 0.0;
    for (node_idx, node) in nodes.iter_mut().enumerate().rev() {
        let mut children = [Bounds::EMPTY; 8];
        let mut n_inner = 0;
        let mut all = Bounds::EMPTY;
        for (child_idx, child) in children.iter_mut().enumerate() {
            let meta = node.child_meta[child_idx];
            if node.imask >> child_idx & 1 == 1 {
                *child = node_boxes[(node.child_base_idx + n_inner) as usize];
                n_inner += 1;
            } else if meta != 0 {
                let first = (node.primitive_base_idx + u32::from(meta & 0x1f)) as usize;
                let n = (meta >> 5).count_ones() as usize;
                *child = instances[first..first + n].iter().fold(Bounds::EMPTY, |all, &one| all.union(one));
            } else {
                continue;
            }
            all = all.union(*child);
            cost += child.half_surface();
        }
        let grid = Grid::around(all);
        node.p = grid.origin.into();
        node.e = grid.exponents;
        for (child_idx, &child) in children.iter().enumerate() {
            if node.child_meta[child_idx] != 0 {
                grid.write_box(node, child_idx, child);
            }
        }
        node_boxes[node_idx] = all;
    }
    cost
}

/// The grid on which a node's children's boxes lie: bytes, in steps of powers of two.
struct Grid {
    origin: Vec3A,
    exponents: [u8; 3],
    /// A power of two, too.
    per_step: Vec3A,
}

impl Grid {
    fn around(all: Bounds) -> Self {
        // The smallest power of two of which 255 reach across, rounding allowed for.
        let exponents = Vec3::from((all.max - all.min) * (1.000_001 / 255.0)).to_array().map(|step| {
            let bits = step.max(f32::MIN_POSITIVE).to_bits();
            ((bits >> 23) + u32::from(bits & 0x7f_ffff != 0)).clamp(1, 253) as u8
        });
        let per_step = Vec3A::from_array(exponents.map(|e| f32::from_bits((254 - u32::from(e)) << 23)));
        Self { origin: all.min, exponents, per_step }
    }

    fn write_box(&self, node: &mut CwBvhNode, child: usize, bounds: Bounds) {
        let most = Vec3A::splat(255.0);
        let low = ((bounds.min - self.origin) * self.per_step).floor().clamp(Vec3A::ZERO, most);
        let high = ((bounds.max - self.origin) * self.per_step).ceil().clamp(Vec3A::ZERO, most);
        (node.child_min_x[child], node.child_max_x[child]) = (low.x as u8, high.x as u8);
        (node.child_min_y[child], node.child_max_y[child]) = (low.y as u8, high.y as u8);
        (node.child_min_z[child], node.child_max_z[child]) = (low.z as u8, high.z as u8);
    }
}
