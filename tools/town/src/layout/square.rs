//! The square: market, fountain, well, benches, lamps, bollards.

use super::frontage::lamp_post;
use super::plan::PAVING_M;
use super::traffic::standing_person;
use crate::catalog::At;
use crate::model::furniture::CANVASES;
use crate::rng::Rng;
use crate::scene::{Motion, SceneNode};
use glam::Vec3;

/// Middle of the fountain.
pub const FOUNTAIN: (f32, f32) = (5.5, -6.0);

/// Everything that stands in the square.
pub fn build() -> Vec<SceneNode> {
    let y = PAVING_M;
    let mut rng = Rng::new(680);
    let mut out = vec![
        SceneNode::model("fountain", At::new(FOUNTAIN.0, y, FOUNTAIN.1)),
        SceneNode::model("well", At::new(-22.5, y, 6.0).yaw(30.0)),
        SceneNode::model("notice_board", At::new(-24.0, y, 10.5).yaw(52.0)),
    ];
    out.push(SceneNode::group("market", At::new(0.0, y, 0.0), market(&mut rng)));
    for (x, z, yaw) in [
        (1.0f32, -1.2f32, -40.0f32),
        (10.2, -1.4, 40.0),
        (0.6, -10.6, 218.0),
        (10.4, -10.8, 142.0),
        (-27.6, -2.0, 90.0),
        (-18.0, 9.6, 0.0),
        (3.0, 9.6, 0.0),
        (13.0, 9.6, 0.0),
    ] {
        out.push(SceneNode::model("bench", At::new(x, y, z).yaw(yaw)));
    }
    for (x, z) in [
        (-27.5, 9.0),
        (-27.5, -5.0),
        (-27.5, -14.0),
        (27.5, 4.0),
        (27.5, -9.0),
        (27.5, -15.5),
        (-20.0, 21.0),
        (-10.0, 21.0),
        (11.0, 21.0),
        (20.0, 21.0),
        (-14.0, -20.6),
        (-7.0, -21.0),
        (7.0, -21.0),
        (14.0, -20.6),
        (-3.0, 2.8),
        (14.0, 2.8),
        (-3.0, -15.0),
        (14.0, -15.0),
    ] {
        out.push(lamp_post(Vec3::new(x, y, z), rng.range(0.0, 90.0)));
    }
    for i in 0..18 {
        let x = -21.25 + 2.5 * i as f32;
        out.push(SceneNode::model(
            "bollard",
            At::new(x, y, 12.2).yaw(rng.range(0.0, 90.0)).size(rng.range(0.97, 1.03)),
        ));
    }
    for (x, z) in [(-5.0, -21.4), (5.0, -21.4), (-4.2, -26.2), (4.2, -26.2)] {
        out.push(SceneNode::model("planter", At::new(x, y, z).yaw(rng.range(0.0, 360.0)).size(1.15)));
    }
    out
}

fn market(rng: &mut Rng) -> Vec<SceneNode> {
    let wares = ["wares_apples", "wares_oranges", "wares_cabbages", "wares_loaves"];
    let places: [(f32, f32, f32); 12] = [
        (-21.5, -4.0, 4.0),
        (-17.0, -4.4, -3.0),
        (-12.4, -4.1, 2.0),
        (-7.8, -4.5, -2.0),
        (-20.5, -12.0, 3.0),
        (-15.8, -12.5, -4.0),
        (-11.0, -12.2, 1.0),
        (17.5, -4.2, -2.0),
        (22.2, -4.0, 3.0),
        (17.0, -12.6, 2.0),
        (21.8, -12.2, -3.0),
        (-6.4, -12.4, -2.0),
    ];
    let mut out = Vec::new();
    for (i, (x, z, yaw)) in places.into_iter().enumerate() {
        let canvas = &CANVASES[if i % 2 == 0 { 0 } else { rng.below(4) }][7..];
        let sway = Motion::Swing {
            axis: Vec3::X,
            amplitude_deg: rng.range(5.0, 11.0),
            period_s: rng.range(1.4, 2.4),
            phase: rng.unit(),
        };
        let mut children = vec![
            SceneNode::model(format!("stall_roof_{canvas}"), At::default()),
            SceneNode::model(format!("stall_cloth_{canvas}"), At::new(0.0, 2.16, 0.95)).moving(sway),
        ];
        for k in 0..3 {
            for row in 0..2 {
                let at = At::new(-0.88 + 0.88 * k as f32, 0.90 + 0.03 * row as f32, 0.42 - 0.52 * row as f32)
                    .pitch(8.0)
                    .yaw(rng.range(-3.0, 3.0));
                children.push(SceneNode::model(wares[(i + k + row) % 4], at).tinted([
                    rng.range(0.9, 1.0),
                    rng.range(0.9, 1.0),
                    0.95,
                ]));
            }
        }
        children.push(standing_person(At::new(rng.range(-0.6, 0.6), 0.0, -0.95).yaw(180.0), rng));
        if rng.chance(0.7) {
            children.push(SceneNode::model(
                "barrel",
                At::new(1.75, 0.0, rng.range(-0.4, 0.4)).yaw(rng.range(0.0, 90.0)).size(0.9),
            ));
        }
        for _ in 0..2 {
            children.push(SceneNode::model(
                "crate",
                At::new(-1.8 + rng.range(-0.1, 0.1), 0.0, rng.range(-0.9, 0.9)).yaw(rng.range(-30.0, 30.0)),
            ));
        }
        if rng.chance(0.8) {
            children.push(standing_person(
                At::new(rng.range(-0.9, 0.9), 0.0, rng.range(1.5, 2.0)).yaw(rng.range(-35.0, 35.0)),
                rng,
            ));
        }
        out.push(SceneNode::model("stall", At::new(x, 0.0, z).yaw(yaw)).named(format!("stall_{i}")).with(children));
    }
    out
}
