//! Church, bridge, mills, boats, birds, flags.

use super::plan::{BANKS, PAVING_M, WATER_Y, ground_y};
use crate::catalog::At;
use crate::math::{PI, cos, sin};
use crate::model::church::{CLOCK_Y, TOWER_H, TOWER_HALF};
use crate::model::furniture::PENNANTS;
use crate::model::mills::SAIL_HUB;
use crate::rng::Rng;
use crate::scene::{Motion, SceneNode};
use glam::Vec3;

/// z of the church tower's front.
pub const CHURCH_Z: f32 = -27.4;
/// Where the windmill stands.
pub const WINDMILL: (f32, f32) = (84.0, -168.0);
/// x of the watermill's middle, on the south bank.
pub const WATERMILL_X: f32 = 33.0;

/// All landmarks.
pub fn build() -> Vec<SceneNode> {
    let mut out = vec![church(), SceneNode::model("bridge", At::default()), windmill(), watermill()];
    let top = ground_y(0.0, 80.0) + PAVING_M;
    for x in [-50.0f32, 20.0] {
        out.push(SceneNode::model("river_steps", At::new(x, top, BANKS.0)));
    }
    out.push(SceneNode::group("boats", At::default(), boats()));
    out.push(SceneNode::group("birds", At::default(), birds()));
    out.push(SceneNode::group("flags", At::default(), flags()));
    out
}

fn church() -> SceneNode {
    let mut hands = Vec::new();
    for turn in [0.0f32, 90.0, 180.0, -90.0] {
        let a = turn * PI / 180.0;
        for (model, rpm, phase_deg, out) in
            [("clock_hand_hour", -1.0 / 720.0, -145.0, 0.13), ("clock_hand_minute", -1.0 / 60.0, -300.0, 0.18)]
        {
            let reach = TOWER_HALF + out;
            let at = At::new(reach * sin(a), CLOCK_Y, -TOWER_HALF + reach * cos(a)).yaw(turn);
            hands.push(SceneNode::model(model, at).moving(Motion::Spin { axis: Vec3::Z, rpm, phase_deg }));
        }
    }
    SceneNode::model("church", At::new(0.0, 0.05, CHURCH_Z)).named("church").with(hands)
}

fn windmill() -> SceneNode {
    let (x, z) = WINDMILL;
    let sails = (0..4).map(|k| SceneNode::model("windmill_sail", At::default().roll(90.0 * k as f32))).collect();
    let hub = SceneNode::model("windmill_hub", At::new(0.0, SAIL_HUB.0, SAIL_HUB.1))
        .named("windmill_sails")
        .moving(Motion::Spin { axis: Vec3::Z, rpm: -6.0, phase_deg: 20.0 })
        .with(sails);
    SceneNode::model("windmill_tower", At::new(x, ground_y(x, z), z).yaw(-38.0)).named("windmill").with(vec![hub])
}

fn watermill() -> SceneNode {
    // The axle lies along z, through the quay wall into the mill.
    let at = At::new(WATERMILL_X, WATER_Y + 1.45, BANKS.1 - 1.15).yaw(90.0);
    SceneNode::model("mill_wheel", at).named("mill_wheel").moving(Motion::Spin {
        axis: Vec3::X,
        rpm: 4.0,
        phase_deg: 0.0,
    })
}

fn boats() -> Vec<SceneNode> {
    let mut rng = Rng::new(670);
    let moored = [
        (-62.0, 76.4),
        (-58.0, 76.5),
        (-31.0, 76.5),
        (-17.0, 95.4),
        (14.5, 76.5),
        (29.5, 76.6),
        (47.0, 76.5),
        (58.0, 95.4),
        (74.0, 76.5),
        (-76.0, 95.4),
        (-40.0, 84.0),
        (64.0, 86.0),
    ];
    moored
        .iter()
        .enumerate()
        .map(|(i, (x, z))| {
            let hull =
                SceneNode::model(if i % 3 == 0 { "boat_dark" } else { "boat" }, At::default()).moving(Motion::Swing {
                    axis: Vec3::Z,
                    amplitude_deg: rng.range(1.5, 3.5),
                    period_s: rng.range(2.8, 4.2),
                    phase: rng.unit(),
                });
            let yaw = if rng.chance(0.5) { 90.0 } else { -90.0 } + rng.range(-6.0, 6.0);
            SceneNode::group(format!("boat_{i}"), At::new(*x, WATER_Y, *z).yaw(yaw), vec![hull]).moving(Motion::Bob {
                amplitude_m: Vec3::new(0.02, 0.05, 0.0),
                period_s: rng.range(2.4, 3.8),
                phase: rng.unit(),
            })
        })
        .collect()
}

fn birds() -> Vec<SceneNode> {
    let mut rng = Rng::new(671);
    (0..26)
        .map(|i| {
            let kind = if i % 3 == 0 { "crow" } else { "bird" };
            let over_river = i >= 16;
            let (center, y) = if over_river {
                (Vec3::new(rng.range(-30.0, 40.0), 0.0, 84.0), rng.range(3.0, 9.0))
            } else {
                (Vec3::new(0.0, 0.0, CHURCH_Z - TOWER_HALF), TOWER_H + rng.range(2.0, 12.0))
            };
            let wings = [1.0f32, -1.0].map(|side| {
                let at = At::new(0.0, 0.02, 0.0).scaled(side, 1.0, 1.0);
                SceneNode::model(format!("{kind}_wing"), at).moving(Motion::Swing {
                    axis: Vec3::Z,
                    amplitude_deg: 34.0,
                    period_s: 0.42 + 0.013 * i as f32,
                    phase: 0.05 * i as f32,
                })
            });
            let body = SceneNode::model(format!("{kind}_body"), At::default().roll(-14.0).size(1.5)).with(wings.into());
            SceneNode::group(format!("bird_{i}"), At::point(center + Vec3::Y * y), vec![body]).moving(Motion::Circle {
                radius_m: rng.range(7.0, 17.0),
                period_s: rng.range(9.0, 15.0),
                phase: rng.unit(),
            })
        })
        .collect()
}

fn flags() -> Vec<SceneNode> {
    let mut rng = Rng::new(672);
    let places = [
        (-26.5, 20.0),
        (26.5, 20.0),
        (-26.5, -19.5),
        (26.5, -19.5),
        (-8.5, 68.0),
        (8.5, 68.0),
        (-9.5, 104.5),
        (9.5, 104.5),
    ];
    places
        .iter()
        .enumerate()
        .map(|(i, (x, z))| {
            let flag = SceneNode::model(
                format!("flag_{}", &PENNANTS[i % 4][8..]),
                At::new(0.0, 7.3, 0.0).yaw(rng.range(15.0, 40.0)),
            )
            .moving(Motion::Swing {
                axis: Vec3::Y,
                amplitude_deg: 13.0,
                period_s: rng.range(1.8, 3.0),
                phase: rng.unit(),
            });
            SceneNode::model("flagpole", At::new(*x, ground_y(*x, *z) + PAVING_M, *z)).with(vec![flag])
        })
        .collect()
}
