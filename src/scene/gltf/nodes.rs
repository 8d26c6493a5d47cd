//! The node forest of a file: parents, transforms, and which nodes a scene shows.

use glam::{Affine3A, Mat4, Quat, Vec3};
use serde_json::Value;

use super::document::{Document, index, name_of, numbers};
use super::fault::Fault;
use crate::scene::hierarchy::Transform;

/// Parents and local transforms of every node of a file.
pub(super) struct Forest {
    /// The parent of each node.
    pub parent: Vec<Option<usize>>,
    /// `parent_from_local` of each node.
    pub local: Vec<Affine3A>,
    /// `file_from_local` of each node.
    world: Vec<Affine3A>,
    /// All nodes, parents before children.
    order: Vec<usize>,
}

impl Forest {
    /// Reads all nodes; two parents of one node, cycles and transforms that are no transforms are faults.
    pub fn read(document: &Document, warnings: &mut Vec<String>) -> Result<Self, Fault> {
        let nodes = document.array("nodes");
        let mut parent: Vec<Option<usize>> = vec![None; nodes.len()];
        for (node_idx, node) in nodes.iter().enumerate() {
            for (position, child) in children(node).enumerate() {
                if let Some(other) = parent[child].replace(node_idx) {
                    return Err(Fault::new(
                        format!("/nodes/{node_idx}/children/{position}"),
                        format!("node {child} is already a child of node {other}; a node has one parent at most"),
                    ));
                }
            }
        }
        let order = parents_first(nodes, &parent)?;
        let local = (0..nodes.len()).map(|node_idx| local_transform(document, node_idx, warnings));
        let local = local.collect::<Result<Vec<_>, _>>()?;
        let mut world = local.clone();
        for &node_idx in &order {
            if let Some(parent) = parent[node_idx] {
                world[node_idx] = world[parent] * local[node_idx];
            }
        }
        Ok(Self { parent, local, world, order })
    }

    /// `file_from_local` of a node.
    pub fn world(&self, node_idx: usize) -> Affine3A {
        self.world[node_idx]
    }

    /// The nodes that the file's default scene (or the first, or all roots) starts from.
    pub fn scene_roots(&self, document: &Document, warnings: &mut Vec<String>) -> Vec<usize> {
        let scenes = document.array("scenes");
        let scene_idx = index(&document.json["scene"]).unwrap_or(0);
        let Some(scene) = scenes.get(scene_idx) else {
            if !self.parent.is_empty() {
                warnings.push(format!("{}: has no scene; all its nodes are shown", document.path.display()));
            }
            return (0..self.parent.len()).filter(|&node_idx| self.parent[node_idx].is_none()).collect();
        };
        let listed: Vec<usize> = scene["nodes"].as_array().into_iter().flatten().filter_map(index).collect();
        let Some(&inner) = listed.iter().find(|&&node_idx| self.parent[node_idx].is_some()) else { return listed };
        let name = name_of(&document.array("nodes")[inner], inner);
        warnings.push(format!(
            "{}: /scenes/{scene_idx}/nodes: node {name:?} is listed but has a parent; it is shown once",
            document.path.display()
        ));
        let mut is_below_listed = vec![false; self.parent.len()];
        let mut is_listed = vec![false; self.parent.len()];
        listed.iter().for_each(|&node_idx| is_listed[node_idx] = true);
        for &node_idx in &self.order {
            if let Some(parent) = self.parent[node_idx] {
                is_below_listed[node_idx] = is_below_listed[parent] || is_listed[parent];
            }
        }
        listed.into_iter().filter(|&node_idx| !is_below_listed[node_idx]).collect()
    }
}

/// The children of a node, which the schema check has found in range.
pub(super) fn children(node: &Value) -> impl Iterator<Item = usize> + '_ {
    node["children"].as_array().into_iter().flatten().filter_map(index)
}

/// All nodes, parents before children. With one parent at most for each node, what no root reaches is part of a cycle or
/// hangs on one.
fn parents_first(nodes: &[Value], parent: &[Option<usize>]) -> Result<Vec<usize>, Fault> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&node_idx| parent[node_idx].is_none()).collect();
    let mut next = 0;
    while next < order.len() {
        order.extend(children(&nodes[order[next]]));
        next += 1;
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    let mut is_reached = vec![false; nodes.len()];
    order.iter().for_each(|&node_idx| is_reached[node_idx] = true);
    let lost = is_reached.iter().position(|reached| !reached).unwrap_or(0);
    let fault = format!("node {:?} is part of a cycle of children", name_of(&nodes[lost], lost));
    Err(Fault::new(format!("/nodes/{lost}"), fault))
}

fn local_transform(document: &Document, node_idx: usize, warnings: &mut Vec<String>) -> Result<Affine3A, Fault> {
    let node = &document.array("nodes")[node_idx];
    let at = format!("/nodes/{node_idx}");
    let has_trs = ["translation", "rotation", "scale"].iter().any(|name| node.get(*name).is_some());
    if node.get("matrix").is_none() {
        let [x, y, z, w] = numbers(&node["rotation"], [0.0, 0.0, 0.0, 1.0]);
        let rotation = Quat::from_xyzw(x, y, z, w);
        let length = rotation.length();
        if (length - 1.0).abs() > 1e-2 {
            warnings
                .push(format!("{}: {at}/rotation: has length {length}; it is scaled to 1", document.path.display()));
        }
        return Ok(Transform {
            translation: Vec3::from(numbers(&node["translation"], [0.0; 3])),
            rotation: if length > 1e-6 { rotation.normalize() } else { Quat::IDENTITY },
            scale: Vec3::from(numbers(&node["scale"], [1.0; 3])),
        }
        .to_affine());
    }
    if has_trs {
        return Err(Fault::new(at, "has both a matrix and a translation, rotation or scale; only one way is allowed"));
    }
    let mut identity = [0.0; 16];
    Mat4::IDENTITY.write_cols_to_slice(&mut identity);
    let matrix = Mat4::from_cols_array(&numbers(&node["matrix"], identity));
    let bottom = matrix.row(3);
    if (bottom - glam::Vec4::W).abs().max_element() > 1e-4 {
        return Err(Fault::new(format!("{at}/matrix"), format!("its bottom row is {bottom}; it must be [0, 0, 0, 1]")));
    }
    Ok(Affine3A::from_mat4(matrix))
}
