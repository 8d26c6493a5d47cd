//! The scene: assets in plain arrays, entities in a `bevy_ecs` world, transforms in a flat hierarchy. No GPU, no clock.

pub mod assets;
pub mod components;
pub mod hierarchy;

pub use components::*;
pub use hierarchy::{Hierarchy, HierarchyBuilder, NO_PARENT, Transform};
