//! A loaded scene: assets, the ECS world, and the one schedule that moves it.

use std::path::{Path, PathBuf};

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{Schedule, SingleThreadedExecutor};

use super::SceneError;
use super::assets::{Aabb, Assets};
use super::camera::{CameraView, Cameras, move_camera, rigid};
use super::components::{MeshInstance, Slot, Sun};
use super::error::nearest_names;
use super::hierarchy::Hierarchy;
use super::motion::{FrameIdx, move_nodes, propagate_world_transforms};
use super::spawn::{self, Spawned};
use super::timed::{SystemTime, SystemTimes};

/// What loading needs from outside: the scene itself reads no clock and knows no window.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Reads a monotonic clock, in nanoseconds; times the systems.
    pub clock_ns: fn() -> u64,
    /// Width by height of the picture, for cameras that frame a model.
    pub aspect: f32,
}

/// Everything that is drawn and how it moves.
pub struct Scene {
    /// The scene's name, or the file's.
    pub name: String,
    /// The entities; their transforms are in the [`Hierarchy`] resource.
    pub world: World,
    /// What the instances refer to.
    pub assets: Assets,
    schedule: Schedule,
    times: SystemTimes,
    sun: Entity,
    overriding_camera: Option<CameraView>,
    exposure_ev100: Option<f32>,
    warnings: Vec<String>,
    files: Vec<PathBuf>,
}

impl Scene {
    /// Loads a scene by its name in `scenes_dir`, or by a path to a `.ron`, `.gltf` or `.glb` file.
    ///
    /// # Errors
    /// The first fault of the file or of anything that it refers to.
    pub fn load(reference: &str, scenes_dir: &Path, options: &LoadOptions) -> Result<Self, SceneError> {
        let path = resolve_reference(reference, scenes_dir)?;
        let spawned = spawn::load(&path, options)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self::from_spawned(name, spawned, options))
    }

    fn from_spawned(name: String, spawned: Spawned, options: &LoadOptions) -> Self {
        let Spawned { world, assets, sun, exposure_ev100, warnings, files } = spawned;
        let mut times = SystemTimes::new(options.clock_ns);
        let mut schedule = Schedule::default();
        schedule.set_executor(SingleThreadedExecutor::new());
        schedule.add_systems(
            (
                times.timed("move_nodes", move_nodes),
                times.timed("move_camera", move_camera),
                times.timed("propagate_world_transforms", propagate_world_transforms),
            )
                .chain(),
        );
        let overriding_camera = None;
        let mut scene =
            Self { name, world, assets, schedule, times, sun, overriding_camera, exposure_ev100, warnings, files };
        scene.update(0);
        scene
    }

    /// Shows frame `frame_idx`: runs motion, the camera's path and [`propagate_world_transforms`].
    pub fn update(&mut self, frame_idx: u32) {
        self.world.resource_mut::<FrameIdx>().0 = frame_idx;
        self.schedule.run(&mut self.world);
        self.times.collect();
    }

    /// The transforms, by slot.
    pub fn hierarchy(&self) -> &Hierarchy {
        self.world.resource::<Hierarchy>()
    }

    /// The sun.
    pub fn sun(&self) -> Sun {
        self.world.get::<Sun>(self.sun).copied().unwrap_or_default()
    }

    /// Gives the sun's disc another size, in degrees; shadows are soft from then on in renderers made afterwards. 0 makes them hard.
    pub fn set_sun_angular_diameter_deg(&mut self, degrees: f32) {
        if let Some(mut sun) = self.world.get_mut::<Sun>(self.sun) {
            sun.angular_diameter_deg = degrees;
        }
    }

    /// The exposure that the scene asks for, in EV at ISO 100.
    pub fn exposure_ev100(&self) -> Option<f32> {
        self.exposure_ev100
    }

    /// All cameras.
    pub fn camera_names(&self) -> Vec<&str> {
        self.cameras().list.iter().map(|camera| camera.name.as_str()).collect()
    }

    /// Looks through the camera of this name from the next [`Self::update`] on.
    ///
    /// # Errors
    /// An unknown name; the error lists the nearest.
    pub fn set_camera(&mut self, name: &str) -> Result<(), SceneError> {
        let mut cameras = self.world.resource_mut::<Cameras>();
        match cameras.list.iter().position(|camera| camera.name == name) {
            Some(camera_idx) => {
                cameras.active = camera_idx;
                Ok(())
            }
            None => {
                let hint = nearest_names(name, cameras.list.iter().map(|camera| camera.name.as_str()));
                Err(SceneError::UnknownName { kind: "camera", name: name.to_string(), hint })
            }
        }
    }

    /// The name of the camera in use.
    pub fn camera_name(&self) -> &str {
        &self.cameras().list[self.cameras().active].name
    }

    /// The camera that the window and `capture` start with.
    pub fn default_camera(&self) -> &str {
        &self.cameras().list[self.cameras().default].name
    }

    /// The camera that `bench` uses.
    pub fn bench_camera(&self) -> &str {
        &self.cameras().list[self.cameras().bench].name
    }

    /// What the camera in use sees, as of the last [`Self::update`].
    pub fn camera_view(&self) -> CameraView {
        self.overriding_camera.unwrap_or_else(|| {
            let camera = &self.cameras().list[self.cameras().active];
            CameraView { world_from_view: rigid(self.hierarchy().world(camera.slot)), projection: camera.projection }
        })
    }

    /// Looks through a camera of the caller's own, or, with `None`, through the scene's again.
    pub fn override_camera(&mut self, camera: Option<CameraView>) {
        self.overriding_camera = camera;
    }

    /// World bounds of all instances, as of the last [`Self::update`]. Looks at each of them.
    pub fn bounds(&self) -> Aabb {
        let hierarchy = self.hierarchy();
        self.world.iter_entities().fold(Aabb::EMPTY, |bounds, entity| match (entity.get::<Slot>(), entity.get()) {
            (Some(slot), Some(&MeshInstance { mesh, .. })) => {
                bounds.union(self.assets.meshes[mesh.0 as usize].bounds.transformed(hierarchy.world(slot.0)))
            }
            _ => bounds,
        })
    }

    /// What each system took in the last update, in the order in which they ran.
    pub fn system_times(&self) -> &[SystemTime] {
        self.times.times()
    }

    /// What the clock that times the systems reads now.
    pub fn clock_ns(&self) -> u64 {
        self.times.now_ns()
    }

    /// What was found wrong but not fatal, or is not supported.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Every file that it was read from: the scene file, glTF files, their buffers and images.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    fn cameras(&self) -> &Cameras {
        self.world.resource::<Cameras>()
    }
}

/// The names of the scenes in a folder, sorted; none if it can't be read.
pub fn scene_names(scenes_dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(scenes_dir).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ext| ext == "ron"));
    let mut names: Vec<String> =
        paths.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

fn resolve_reference(reference: &str, scenes_dir: &Path) -> Result<PathBuf, SceneError> {
    let path = Path::new(reference);
    let is_path = path.components().count() > 1
        || path
            .extension()
            .is_some_and(|ext| ["ron", "gltf", "glb"].iter().any(|known| ext.eq_ignore_ascii_case(known)));
    if is_path {
        return Ok(path.to_path_buf());
    }
    let named = scenes_dir.join(format!("{reference}.ron"));
    if named.is_file() {
        return Ok(named);
    }
    let names = scene_names(scenes_dir);
    let hint = nearest_names(reference, names.iter().map(String::as_str));
    Err(SceneError::UnknownName { kind: "scene", name: reference.to_string(), hint })
}
