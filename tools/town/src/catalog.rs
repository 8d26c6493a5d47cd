//! The glTF files before they are written: meshes, and models made of nodes that share them.

use crate::math::{Frame, PI, cos, rotation_y, sin};
use crate::mesh::Builder;
use glam::Vec3;

/// Where something stands in its parent: translation · rotation (YXZ order) · scale.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Metres.
    pub p: Vec3,
    /// Pitch, yaw, roll in degrees.
    pub turn_deg: Vec3,
    /// By axis.
    pub scale: Vec3,
}

impl Default for At {
    fn default() -> Self {
        Self { p: Vec3::ZERO, turn_deg: Vec3::ZERO, scale: Vec3::ONE }
    }
}

impl At {
    /// A place in metres.
    pub fn new(x: f32, y: f32, z: f32) -> Self {
        Self { p: Vec3::new(x, y, z), ..Self::default() }
    }

    /// A place.
    pub fn point(p: Vec3) -> Self {
        Self { p, ..Self::default() }
    }

    /// Turned about +Y.
    pub fn yaw(mut self, deg: f32) -> Self {
        self.turn_deg.y = deg;
        self
    }

    /// Turned about its own +X.
    pub fn pitch(mut self, deg: f32) -> Self {
        self.turn_deg.x = deg;
        self
    }

    /// Turned about its own +Z.
    pub fn roll(mut self, deg: f32) -> Self {
        self.turn_deg.z = deg;
        self
    }

    /// Scaled the same in all directions.
    pub fn size(mut self, k: f32) -> Self {
        self.scale = Vec3::splat(k);
        self
    }

    /// Scaled by axis.
    pub fn scaled(mut self, x: f32, y: f32, z: f32) -> Self {
        self.scale = Vec3::new(x, y, z);
        self
    }

    /// As a frame.
    pub fn frame(&self) -> Frame {
        let Vec3 { x, y, z } = self.turn_deg;
        Frame { linear: rotation_y(y), origin: self.p }.pitch(x).roll(z).scale(self.scale.x, self.scale.y, self.scale.z)
    }

    /// The rotation as a quaternion x, y, z, w.
    pub fn quaternion(&self) -> [f32; 4] {
        let half = self.turn_deg * (PI / 360.0);
        let (sx, cx) = (sin(half.x), cos(half.x));
        let (sy, cy) = (sin(half.y), cos(half.y));
        let (sz, cz) = (sin(half.z), cos(half.z));
        [
            cy * sx * cz + sy * cx * sz,
            sy * cx * cz - cy * sx * sz,
            cy * cx * sz - sy * sx * cz,
            cy * cx * cz + sy * sx * sz,
        ]
    }
}

/// A node of a model.
#[derive(Clone, Debug)]
pub struct Node {
    /// Unique among its model's nodes where it matters.
    pub name: String,
    /// Index into [`File::meshes`].
    pub mesh: Option<usize>,
    /// In the parent.
    pub at: At,
    /// Below it.
    pub children: Vec<Node>,
}

impl Node {
    /// A node that draws a mesh.
    pub fn mesh(name: impl Into<String>, mesh: usize, at: At) -> Self {
        Self { name: name.into(), mesh: Some(mesh), at, children: Vec::new() }
    }

    /// A node that only groups.
    pub fn group(name: impl Into<String>, at: At, children: Vec<Node>) -> Self {
        Self { name: name.into(), mesh: None, at, children }
    }

    /// With children.
    pub fn with(mut self, children: Vec<Node>) -> Self {
        self.children.extend(children);
        self
    }
}

/// One glTF file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Name without extension.
    pub stem: &'static str,
    /// Meshes by name.
    pub meshes: Vec<(String, Builder)>,
    /// Top-level nodes, each a model that scenes name.
    pub models: Vec<Node>,
}

impl File {
    /// An empty file.
    pub fn new(stem: &'static str) -> Self {
        Self { stem, ..Self::default() }
    }

    /// Adds a mesh.
    pub fn add_mesh(&mut self, name: impl Into<String>, builder: Builder) -> usize {
        self.meshes.push((name.into(), builder));
        self.meshes.len() - 1
    }

    /// Adds a model of one mesh of the same name; returns the mesh.
    pub fn add_single(&mut self, name: &str, builder: Builder) -> usize {
        let mesh = self.add_mesh(name, builder);
        self.models.push(Node::mesh(name, mesh, At::default()));
        mesh
    }
}

/// A model by its name.
pub struct Found<'a> {
    /// The file that holds it.
    pub file: &'a File,
    /// Its top node.
    pub node: &'a Node,
}

/// All files.
#[derive(Default)]
pub struct Catalog {
    /// In the order in which they are written.
    pub files: Vec<File>,
}

impl Catalog {
    /// A model by its name.
    pub fn find(&self, model: &str) -> Option<Found<'_>> {
        self.files.iter().find_map(|file| {
            let node = file.models.iter().find(|n| n.name == model)?;
            Some(Found { file, node })
        })
    }
}
