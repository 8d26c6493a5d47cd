//! What moves: every motion is a function of the frame index alone, so that each run draws the same frames.

use std::f32::consts::TAU;

use bevy_ecs::prelude::*;
use glam::{Affine3A, Quat, Vec3};

use super::components::Slot;
use super::hierarchy::Hierarchy;
use super::spline::Path;

/// Frames a second of scene time, whatever the rate at which they are drawn.
pub const FRAMES_PER_SECOND: f64 = 60.0;

/// The frame that the world shows.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameIdx(pub u32);

/// The paths that [`MotionKind::Follow`] refers to.
#[derive(Resource, Default)]
pub struct Paths(pub Vec<Path>);

/// Moves its slot each frame. `base` is the node's own transform, which the motion is composed with.
#[derive(Component, Clone, Debug, PartialEq)]
pub struct Motion {
    /// `parent_from_local` without the motion.
    pub base: Affine3A,
    /// How it moves.
    pub kind: MotionKind,
}

/// The ways to move. Axes have unit length, angles are radians, phases are in turns.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionKind {
    /// Turns on and on.
    Spin {
        /// Local.
        axis: Vec3,
        /// Radians a second.
        speed: f32,
        /// Radians at frame 0.
        start: f32,
    },
    /// Turns to and fro.
    Swing {
        /// Local.
        axis: Vec3,
        /// Radians to either side.
        amplitude: f32,
        /// Seconds.
        period_s: f32,
        /// Turns at frame 0.
        phase: f32,
    },
    /// Shifts to and fro.
    Bob {
        /// Metres to either side, in the parent's space.
        amplitude: Vec3,
        /// Seconds.
        period_s: f32,
        /// Turns at frame 0.
        phase: f32,
    },
    /// Goes round a circle in its XZ plane.
    Circle {
        /// Metres.
        radius: f32,
        /// Seconds.
        period_s: f32,
        /// Turns at frame 0.
        phase: f32,
    },
    /// Goes along a path.
    Follow {
        /// Index into [`Paths`].
        path: u32,
        /// Metres a second.
        speed: f32,
        /// Metres at frame 0.
        offset: f32,
    },
}

impl Motion {
    /// `parent_from_local` at a time in seconds. Time is 64-bit, so that hours later phases are still exact.
    pub fn local_at(&self, time_s: f64, paths: &[Path]) -> Affine3A {
        let turns =
            |period_s: f32, phase: f32| ((time_s / f64::from(period_s) + f64::from(phase)).fract() as f32) * TAU;
        match self.kind {
            MotionKind::Spin { axis, speed, start } => {
                let angle = (f64::from(speed) * time_s + f64::from(start)).rem_euclid(std::f64::consts::TAU) as f32;
                self.base * Affine3A::from_quat(Quat::from_axis_angle(axis, angle))
            }
            MotionKind::Swing { axis, amplitude, period_s, phase } => {
                let angle = amplitude * turns(period_s, phase).sin();
                self.base * Affine3A::from_quat(Quat::from_axis_angle(axis, angle))
            }
            MotionKind::Bob { amplitude, period_s, phase } => {
                Affine3A::from_translation(amplitude * turns(period_s, phase).sin()) * self.base
            }
            MotionKind::Circle { radius, period_s, phase } => {
                let turn = Affine3A::from_rotation_y(turns(period_s, phase));
                self.base * turn * Affine3A::from_translation(Vec3::new(radius, 0.0, 0.0))
            }
            MotionKind::Follow { path, speed, offset } => {
                let path = &paths[path as usize];
                let lap = 2.0 * f64::from(path.length_m());
                let distance = (f64::from(offset) + f64::from(speed) * time_s).rem_euclid(lap) as f32;
                path.frame_at(distance) * self.base
            }
        }
    }
}

/// Sets the local transform of everything that has a [`Motion`].
pub fn move_nodes(
    frame_idx: Res<FrameIdx>,
    paths: Res<Paths>,
    mut hierarchy: ResMut<Hierarchy>,
    movers: Query<(&Slot, &Motion)>,
) {
    let time_s = f64::from(frame_idx.0) / FRAMES_PER_SECOND;
    for (slot, motion) in &movers {
        hierarchy.set_local(slot.0, motion.local_at(time_s, &paths.0));
    }
}

/// Brings the world transforms up to date with what moved.
pub fn propagate_world_transforms(mut hierarchy: ResMut<Hierarchy>) {
    hierarchy.propagate();
}
