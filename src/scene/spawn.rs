//! Fills a world: collects nodes and what hangs on them, sorts the nodes into slots, then spawns the entities.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use bevy_ecs::prelude::*;
use glam::Affine3A;

use super::SceneError;
use super::assets::{Aabb, Assets};
use super::camera::{CameraKey, CameraView, Cameras, NamedCamera, framing};
use super::components::{Camera, MeshInstance, Projection, Slot, Sun};
use super::gltf::{Importer, Light, Model, ModelNode};
use super::hierarchy::{HierarchyBuilder, NO_PARENT};
use super::motion::{FrameIdx, Motion, Paths};
use super::scene::LoadOptions;

/// A filled world.
pub(super) struct Spawned {
    pub world: World,
    pub assets: Assets,
    /// Has the [`Sun`].
    pub sun: Entity,
    pub exposure_ev100: Option<f32>,
    pub warnings: Vec<String>,
    /// Every file that it was read from.
    pub files: Vec<PathBuf>,
}

/// Name of the camera that frames everything.
pub(super) const FRAMING_CAMERA: &str = "framing";

/// Loads a `.ron`, `.gltf` or `.glb` file, told apart by the extension.
pub(super) fn load(path: &Path, options: &LoadOptions) -> Result<Spawned, SceneError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "gltf" | "glb" => load_gltf(path, options),
        "ron" => super::scene_file::load(path, options),
        _ => Err(SceneError::file(path, "is no scene; a .ron, .gltf or .glb file is needed")),
    }
}

fn load_gltf(path: &Path, options: &LoadOptions) -> Result<Spawned, SceneError> {
    let mut importer = Importer::default();
    let model = importer.model(path, None)?;
    let files = importer.source_files();
    let (assets, warnings) = importer.finish()?;
    let mut builder = SpawnBuilder::default();
    builder.add_model(&model, NO_PARENT, [1.0; 3], true);
    builder.finish(assets, warnings, SceneSettings { aspect: options.aspect, files, ..SceneSettings::default() }, path)
}

/// What applies to a scene as a whole.
#[derive(Default)]
pub(super) struct SceneSettings {
    pub aspect: f32,
    pub sun: Sun,
    pub exposure_ev100: Option<f32>,
    pub paths: Paths,
    /// Names that exist; `None` for the framing camera.
    pub default_camera: Option<String>,
    pub bench_camera: Option<String>,
    /// Every file that the scene was read from.
    pub files: Vec<PathBuf>,
}

/// A component waiting for its node's slot.
enum Part {
    Mesh(MeshInstance),
    Light(Light),
    Motion(Motion),
}

struct PendingCamera {
    node: u32,
    name: String,
    projection: Projection,
    path: Vec<CameraKey>,
}

/// Collects nodes, parts and cameras; [`SpawnBuilder::finish`] makes the world.
#[derive(Default)]
pub(super) struct SpawnBuilder {
    hierarchy: HierarchyBuilder,
    parts: Vec<(u32, Part)>,
    cameras: Vec<PendingCamera>,
}

impl SpawnBuilder {
    /// Adds a node without anything on it; `parent` is an earlier return value or [`NO_PARENT`].
    pub fn add_node(&mut self, parent: u32, local: Affine3A) -> u32 {
        self.hierarchy.add(parent, local)
    }

    pub fn add_motion(&mut self, node: u32, motion: Motion) {
        self.parts.push((node, Part::Motion(motion)));
    }

    pub fn add_light(&mut self, node: u32, light: Light) {
        self.parts.push((node, Part::Light(light)));
    }

    /// Adds a camera on a root node of its own. `path` is empty for one that stands still.
    pub fn add_camera(&mut self, name: String, view: CameraView, path: Vec<CameraKey>) {
        let node = self.add_node(NO_PARENT, view.world_from_view);
        self.cameras.push(PendingCamera { node, name, projection: view.projection, path });
    }

    /// Places a copy of a model below `parent`.
    pub fn add_model(&mut self, model: &Model, parent: u32, tint: [f32; 3], with_cameras: bool) {
        // A root that leaves things where they are needs no slot of its own.
        let is_root_merged =
            |node: &ModelNode| node.parent.is_none() && parent != NO_PARENT && node.local == Affine3A::IDENTITY;
        let mut node_of = Vec::with_capacity(model.nodes.len());
        for node in &model.nodes {
            let added = if is_root_merged(node) {
                parent
            } else {
                self.add_node(node.parent.map_or(parent, |parent_idx| node_of[parent_idx]), node.local)
            };
            node_of.push(added);
            for &(mesh, material) in &node.meshes {
                self.parts.push((added, Part::Mesh(MeshInstance { mesh, material, tint })));
            }
            if let Some(light) = node.light {
                self.add_light(added, light);
            }
            if let Some((name, projection)) = node.camera.as_ref().filter(|_| with_cameras) {
                let name = self.unused_camera_name(name);
                self.cameras.push(PendingCamera { node: added, name, projection: *projection, path: Vec::new() });
            }
        }
    }

    fn unused_camera_name(&self, wanted: &str) -> String {
        let taken: HashSet<&str> = self.cameras.iter().map(|camera| camera.name.as_str()).collect();
        let is_free = |name: &str| name != FRAMING_CAMERA && !taken.contains(name);
        let numbered = (2..).map(|n| format!("{wanted} {n}"));
        std::iter::once(wanted.to_string()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
    }

    /// Sorts the nodes into slots and spawns the entities. A camera that frames everything is added where none is chosen.
    pub fn finish(
        mut self,
        assets: Assets,
        mut warnings: Vec<String>,
        settings: SceneSettings,
        path: &Path,
    ) -> Result<Spawned, SceneError> {
        let bounds = self.bounds(&assets, path)?;
        if bounds.is_empty() {
            warnings.push(format!("{}: there is nothing to draw", path.display()));
        }
        let SceneSettings { aspect, sun, exposure_ev100, paths, default_camera, bench_camera, files } = settings;
        let default_camera = default_camera.unwrap_or_else(|| {
            self.add_camera(FRAMING_CAMERA.to_string(), framing(&bounds, aspect), Vec::new());
            FRAMING_CAMERA.to_string()
        });
        let bench_camera = bench_camera.as_ref().unwrap_or(&default_camera);
        let index_of = |name: &str| self.cameras.iter().position(|camera| camera.name == name).unwrap_or(0);
        let (default, bench) = (index_of(&default_camera), index_of(bench_camera));

        let (hierarchy, slot_of) = self.hierarchy.build();
        let mut world = World::new();
        let mut cameras = Cameras { list: Vec::new(), active: default, default, bench };
        for PendingCamera { node, name, projection, path } in self.cameras {
            let slot = slot_of[node as usize];
            world.spawn((Slot(slot), Camera { projection }));
            cameras.list.push(NamedCamera { name, slot, projection, path });
        }
        for (node, part) in self.parts {
            let slot = Slot(slot_of[node as usize]);
            match part {
                Part::Mesh(instance) => world.spawn((slot, instance)),
                Part::Motion(motion) => world.spawn((slot, motion)),
                Part::Light(Light::Point(light)) => world.spawn((slot, light)),
                Part::Light(Light::Spot(light)) => world.spawn((slot, light)),
                Part::Light(Light::Directional(light)) => world.spawn((slot, light)),
            };
        }
        world.insert_resource(hierarchy);
        world.insert_resource(cameras);
        world.insert_resource(paths);
        world.insert_resource(FrameIdx::default());
        let sun = world.spawn(sun).id();
        Ok(Spawned { world, assets, sun, exposure_ev100, warnings, files })
    }

    /// World bounds of all instances without their motion; a transform that is not finite is a fault.
    fn bounds(&self, assets: &Assets, path: &Path) -> Result<Aabb, SceneError> {
        let worlds = self.hierarchy.world_transforms();
        if let Some(node) = worlds.iter().position(|world| !world.is_finite()) {
            return Err(SceneError::file(
                path,
                format!(
                    "the transforms above node {node} multiply to something too large for 32 bits; use smaller scales"
                ),
            ));
        }
        Ok(self.parts.iter().fold(Aabb::EMPTY, |bounds, (node, part)| match part {
            Part::Mesh(instance) => {
                bounds.union(assets.meshes[instance.mesh.0 as usize].bounds.transformed(&worlds[*node as usize]))
            }
            _ => bounds,
        }))
    }
}
