//! The scene as a flat list of primitives in their places at a frame, and counts over it.

use super::raster::View;
use super::{HEIGHT, WIDTH, key_at};
use crate::catalog::{Catalog, Found, Node};
use crate::material::{Material, material};
use crate::math::{Frame, PI, TAU, cos, sin};
use crate::mesh::Part;
use crate::scene::{Camera, Motion, Path as FollowPath, Scene, SceneNode};
use glam::{Mat3, Vec3};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A primitive in its place.
pub struct Draw<'a> {
    /// Its mesh's name.
    pub mesh: &'a str,
    /// The primitive.
    pub part: &'a Part,
    /// Its material.
    pub mat: &'static Material,
    /// World from local.
    pub frame: Frame,
    /// Factor on the base colour.
    pub tint: Vec3,
    /// Whether it or something above it moves.
    pub is_moving: bool,
    /// Nodes above it.
    pub depth: usize,
}

/// A scene as a flat list.
pub struct Flat<'a> {
    /// Every mesh instance.
    pub draws: Vec<Draw<'a>>,
    /// Point lights.
    pub n_lights: usize,
    n_nodes: usize,
    /// Name, draws, moving draws, triangles.
    groups: Vec<(String, usize, usize, usize)>,
    /// Distinct primitives.
    pub meshes: BTreeSet<*const Part>,
    /// Distinct materials, by name.
    pub materials: BTreeSet<&'static str>,
}

impl<'a> Flat<'a> {
    /// The scene at a frame.
    pub fn build(catalog: &'a Catalog, scene: &Scene, frame_idx: u32) -> Result<Self, String> {
        let mut flat = Self {
            draws: Vec::new(),
            n_lights: 0,
            n_nodes: 0,
            groups: Vec::new(),
            meshes: BTreeSet::new(),
            materials: BTreeSet::new(),
        };
        let seconds = frame_idx as f32 / 60.0;
        for node in &scene.nodes {
            let (draws, moving, triangles) = flat.counts();
            flat.scene_node(catalog, scene, node, Frame::IDENTITY, seconds, false, 1)?;
            let now = flat.counts();
            flat.groups.push((node.name.clone(), now.0 - draws, now.1 - moving, now.2 - triangles));
        }
        Ok(flat)
    }

    #[allow(clippy::too_many_arguments)]
    fn scene_node(
        &mut self,
        catalog: &'a Catalog,
        scene: &Scene,
        node: &SceneNode,
        parent: Frame,
        seconds: f32,
        is_moving: bool,
        depth: usize,
    ) -> Result<(), String> {
        let local = match &node.motion {
            Some(motion) => moved(motion, node.at.frame(), &scene.paths, seconds)?,
            None => node.at.frame(),
        };
        self.n_nodes += 1;
        let is_moving = is_moving || node.motion.is_some();
        let frame = parent.mul(local);
        self.n_lights += usize::from(node.light.is_some());
        if !node.model.is_empty() {
            let found = catalog.find(&node.model).ok_or_else(|| format!("no model {:?}", node.model))?;
            let own = node.tint.map_or(Vec3::ONE, Vec3::from);
            self.model_node(&found, found.node, frame, own, is_moving, depth);
        }
        for child in &node.children {
            self.scene_node(catalog, scene, child, frame, seconds, is_moving, depth + 1)?;
        }
        Ok(())
    }

    fn model_node(
        &mut self,
        found: &Found<'a>,
        node: &'a Node,
        parent: Frame,
        tint: Vec3,
        is_moving: bool,
        depth: usize,
    ) {
        self.n_nodes += 1;
        let frame = parent.mul(node.at.frame());
        if let Some(mesh) = node.mesh {
            let (name, builder) = &found.file.meshes[mesh];
            for (mat, part) in &builder.parts {
                self.meshes.insert(part);
                self.materials.insert(mat);
                self.draws.push(Draw { mesh: name, part, mat: material(mat), frame, tint, is_moving, depth });
            }
        }
        node.children.iter().for_each(|c| self.model_node(found, c, frame, tint, is_moving, depth + 1));
    }

    fn counts(&self) -> (usize, usize, usize) {
        let moving = self.draws.iter().filter(|d| d.is_moving).count();
        (self.draws.len(), moving, self.draws.iter().map(|d| d.part.indices.len() / 3).sum())
    }

    /// Counts by top-level group, and of triangles within a camera's view.
    pub fn details(&self, scene: &Scene) -> String {
        let mut lines: Vec<String> = self
            .groups
            .iter()
            .map(|(name, draws, moving, triangles)| {
                format!("  {name}: {draws} instances, {moving} moving, {triangles} triangles")
            })
            .collect();
        for (name, camera) in &scene.cameras {
            let views: Vec<View> = match camera {
                Camera::Still { position, target, fov_y_deg } => vec![View::new(*position, *target, *fov_y_deg)],
                Camera::Path { keys, fov_y_deg } => {
                    (0..=18).map(|i| key_at(keys, 100.0 * i as f32)).map(|(p, t)| View::new(p, t, *fov_y_deg)).collect()
                }
            };
            let millions: Vec<String> =
                views.iter().map(|v| format!("{:.2}", self.triangles_in(v) as f64 / 1e6)).collect();
            lines.push(format!("  camera {name}: {} M triangles in view", millions.join(" ")));
        }
        let mut by_mesh: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for d in &self.draws {
            let entry = by_mesh.entry(d.mesh).or_default();
            entry.0 += 1;
            entry.1 += d.part.indices.len() / 3;
        }
        let mut heavy: Vec<_> = by_mesh.into_iter().collect();
        heavy.sort_by_key(|(_, (_, triangles))| std::cmp::Reverse(*triangles));
        lines
            .extend(heavy.iter().take(24).map(|(name, (n, t))| format!("  mesh {name}: {n} instances, {t} triangles")));
        lines.join("\n")
    }

    /// Triangles of instances whose bounding sphere touches the view.
    fn triangles_in(&self, view: &View) -> usize {
        let (tx, ty) = (0.5 * WIDTH as f32 / view.focal, 0.5 * HEIGHT as f32 / view.focal);
        let is_in = |d: &&Draw| {
            let points = d.part.positions.iter();
            let (lo, hi) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
            let c = d.frame.point((lo + hi) * 0.5) - view.eye;
            let r = (d.frame.linear * ((hi - lo) * 0.5)).length();
            let (x, y, z) = (c.dot(view.right), c.dot(view.up), c.dot(view.forward));
            z > -r && x.abs() - z * tx < r * (1.0 + tx * tx).sqrt() && y.abs() - z * ty < r * (1.0 + ty * ty).sqrt()
        };
        self.draws.par_iter().filter(is_in).map(|d| d.part.indices.len() / 3).sum()
    }

    /// Counts.
    pub fn summary(&self) -> String {
        let triangles: usize = self.draws.iter().map(|d| d.part.indices.len() / 3).sum();
        let moving = self.draws.iter().filter(|d| d.is_moving).count();
        let depth = self.draws.iter().map(|d| d.depth + 1).max().unwrap_or(0);
        format!(
            "{} mesh instances ({moving} moving) of {} meshes and {} materials; {} nodes, up to {depth} deep; {} lamps; {:.2} M triangles",
            self.draws.len(),
            self.meshes.len(),
            self.materials.len(),
            self.n_nodes,
            self.n_lights,
            triangles as f64 / 1e6
        )
    }
}

fn axis_turn(axis: Vec3, radians: f32) -> Mat3 {
    let (a, s, c) = (axis.normalize_or(Vec3::Y), sin(radians), cos(radians));
    let k = 1.0 - c;
    Mat3::from_cols(
        Vec3::new(c + a.x * a.x * k, a.y * a.x * k + a.z * s, a.z * a.x * k - a.y * s),
        Vec3::new(a.x * a.y * k - a.z * s, c + a.y * a.y * k, a.z * a.y * k + a.x * s),
        Vec3::new(a.x * a.z * k + a.y * s, a.y * a.z * k - a.x * s, c + a.z * a.z * k),
    )
}

fn moved(motion: &Motion, at: Frame, paths: &[FollowPath], seconds: f32) -> Result<Frame, String> {
    Ok(match motion {
        Motion::Spin { axis, rpm, phase_deg } => {
            at.then(axis_turn(*axis, (6.0 * rpm * seconds + phase_deg) * PI / 180.0))
        }
        Motion::Swing { axis, amplitude_deg, period_s, phase } => {
            at.then(axis_turn(*axis, amplitude_deg * PI / 180.0 * sin(TAU * (seconds / period_s + phase))))
        }
        Motion::Bob { amplitude_m, period_s, phase } => {
            Frame { origin: at.origin + *amplitude_m * sin(TAU * (seconds / period_s + phase)), ..at }
        }
        Motion::Circle { radius_m, period_s, phase } => {
            let turned = at.then(axis_turn(Vec3::Y, TAU * (seconds / period_s + phase)));
            turned.mul(Frame::at(*radius_m, 0.0, 0.0))
        }
        Motion::Follow { path, speed_mps, offset_m } => {
            let path = paths.iter().find(|p| p.name == *path).ok_or_else(|| format!("no path {path:?}"))?;
            follow(path, offset_m + speed_mps * seconds).mul(at)
        }
    })
}

fn follow(path: &FollowPath, distance: f32) -> Frame {
    let mut line = path.points.clone();
    if path.is_closed {
        line.push(path.points[0]);
    }
    let total: f32 = line.windows(2).map(|w| (w[1] - w[0]).length()).sum();
    let (mut s, mut is_back) = (distance.rem_euclid(total), false);
    if !path.is_closed {
        s = distance.rem_euclid(2.0 * total);
        if s > total {
            (s, is_back) = (2.0 * total - s, true);
        }
    }
    for w in line.windows(2) {
        let d = (w[1] - w[0]).length();
        if s <= d {
            let forward = ((w[1] - w[0]) / d.max(1e-6)) * if is_back { -1.0 } else { 1.0 };
            let right = forward.cross(Vec3::Y).normalize_or(Vec3::X);
            return Frame {
                linear: Mat3::from_cols(right, right.cross(forward), -forward),
                origin: w[0].lerp(w[1], s / d.max(1e-6)),
            };
        }
        s -= d;
    }
    Frame::at_point(line[0])
}
