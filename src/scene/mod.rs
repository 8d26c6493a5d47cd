//! The scene: assets in plain arrays, entities in a `bevy_ecs` world, transforms in a flat hierarchy. No GPU, no clock.

pub mod assets;
pub mod camera;
pub mod components;
mod error;
mod gltf;
pub mod hierarchy;
pub mod motion;
mod read;
#[allow(clippy::module_inception)] // A scene is what this module is about.
mod scene;
mod scene_file;
mod spawn;
pub mod spline;
mod timed;

pub use camera::CameraView;
pub use components::*;
pub use error::{SceneError, nearest_names};
pub use hierarchy::{Hierarchy, HierarchyBuilder, NO_PARENT, Transform};
pub use motion::FrameIdx;
pub use scene::{LoadOptions, Scene, scene_names};
pub use timed::SystemTime;
