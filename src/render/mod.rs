//! Draws a scene: GPU scene, what changed, passes.

mod layout;
mod shaders;
