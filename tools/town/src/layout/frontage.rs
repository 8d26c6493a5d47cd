//! What belongs to houses and streets: doors, awnings, signs, wall lanterns, things by the door, lamp posts, pennants.

use super::buildings::{Footprint, Lot};
use super::landmarks::WATERMILL_X;
use super::plan::{Kind, PAVING_M, Street, ground_y, streets};
use crate::catalog::At;
use crate::math::{PI, atan2};
use crate::model::furniture::{CABLE_M, CANVASES, LAMP_Y, PENNANTS, SIGNS, cable_dip};
use crate::model::house::{House, Style};
use crate::model::house_parts::PAINTS;
use crate::rng::Rng;
use crate::scene::{Light, Motion, SceneNode};
use glam::{Vec2, Vec3};

/// How many lamps the town has.
pub const N_LAMPS: usize = 200;

/// A warm lamp light.
pub fn lamp_light() -> Light {
    Light { color: [1.0, 0.72, 0.38], intensity_cd: 3500.0, range_m: 10.0 }
}

/// A lamp post in its place.
pub fn lamp_post(p: Vec3, yaw: f32) -> SceneNode {
    let light = SceneNode { at: At::new(0.0, LAMP_Y, 0.0), light: Some(lamp_light()), ..SceneNode::default() };
    SceneNode::model("lamp_post", At::point(p).yaw(yaw)).with(vec![light])
}

/// Houses with what hangs on them and stands before them.
pub fn houses(
    houses: &[House],
    lots: &[Lot],
    taken: &[Footprint],
    n_wall_lamps: usize,
    shade: &ShadeWall,
) -> Vec<SceneNode> {
    let mut rng = Rng::new(650);
    let lamp_every = lots.len() as f32 / n_wall_lamps.max(1) as f32;
    let mut n_lamps = 0;
    let mut out = Vec::new();
    for (i, lot) in lots.iter().enumerate() {
        let house = &houses[lot.house];
        let mut children = vec![door(house, &mut rng)];
        if let Some(p) = house.shop_front {
            let canvas = rng.pick(&CANVASES);
            let motion =
                Motion::Swing { axis: Vec3::X, amplitude_deg: 1.6, period_s: rng.range(2.2, 3.6), phase: rng.unit() };
            let awning = SceneNode::model(format!("awning_{}", &canvas[7..]), At::point(p));
            children.push(if rng.chance(0.4) { awning.moving(motion) } else { awning });
            children.push(sign(house, &mut rng));
        }
        if n_lamps < n_wall_lamps && i as f32 >= n_lamps as f32 * lamp_every {
            n_lamps += 1;
            let light = SceneNode { at: At::new(0.0, 0.42, 0.54), light: Some(lamp_light()), ..SceneNode::default() };
            children.push(SceneNode::model("lamp_wall", At::point(house.lantern)).with(vec![light]));
        }
        by_the_door(house, lot, &mut rng, &mut children);
        free_sides(house, lot, taken, (shade.lot == i).then_some(shade), &mut rng, &mut children);
        // Instance tint: sun-bleached, damp, dusty.
        let t = rng.range(0.86, 1.0);
        let tint = [t, t * rng.range(0.96, 1.0), t * rng.range(0.92, 1.0)];
        let k = rng.range(0.985, 1.015);
        let at = lot.at.scaled(1.0, k, 1.0);
        out.push(SceneNode::model(house.name.clone(), at).named(format!("lot_{i}")).tinted(tint).with(children));
    }
    out
}

fn door(house: &House, rng: &mut Rng) -> SceneNode {
    let paint = rng.pick(&PAINTS);
    let at = At::point(house.door + Vec3::new(0.01, 0.0, 0.0));
    let node = |at| SceneNode::model(format!("door_{}", &paint[6..]), at);
    if rng.chance(0.14) {
        let motion =
            Motion::Swing { axis: Vec3::Y, amplitude_deg: 26.0, period_s: rng.range(5.0, 11.0), phase: rng.unit() };
        node(at.yaw(32.0)).moving(motion)
    } else if rng.chance(0.15) {
        node(at.yaw(rng.range(10.0, 75.0)))
    } else {
        node(at)
    }
}

fn sign(house: &House, rng: &mut Rng) -> SceneNode {
    let motion = Motion::Swing {
        axis: Vec3::Z,
        amplitude_deg: rng.range(4.0, 10.0),
        period_s: rng.range(1.6, 2.6),
        phase: rng.unit(),
    };
    let board = SceneNode::model(format!("sign_{}", rng.pick(&SIGNS)), At::new(0.0, -0.02, 0.60)).moving(motion);
    SceneNode::model("sign_bracket", At::point(house.sign + Vec3::Y * 0.55)).with(vec![board])
}

fn by_the_door(house: &House, lot: &Lot, rng: &mut Rng, out: &mut Vec<SceneNode>) {
    let first = out.len();
    let side = (house.door.x + 0.5).signum();
    let free = -side;
    let x = free * house.width * rng.range(0.22, 0.36);
    match rng.below(7) {
        0 => out.push(SceneNode::model("planter", At::new(x, 0.02, 0.55).yaw(rng.range(0.0, 360.0)))),
        1 => {
            out.push(SceneNode::model("planter", At::new(x, 0.02, 0.5).size(0.9)));
            out.push(SceneNode::model("planter", At::new(x + free * 0.9, 0.02, 0.5).yaw(70.0).size(0.75)));
        }
        2 => {
            out.push(SceneNode::model("barrel", At::new(x, 0.02, 0.45).yaw(rng.range(0.0, 90.0))));
            out.push(SceneNode::model("barrel", At::new(x + 0.7, 0.02, 0.5).yaw(rng.range(0.0, 90.0)).size(0.9)));
        }
        3 => {
            out.push(SceneNode::model("crate", At::new(x, 0.02, 0.4).yaw(rng.range(-8.0, 8.0))));
            out.push(SceneNode::model("crate", At::new(x + 0.05, 0.44, 0.4).yaw(rng.range(-14.0, 14.0))));
            out.push(SceneNode::model("crate", At::new(x + 0.8, 0.02, 0.45).yaw(rng.range(-14.0, 14.0))));
        }
        4 => out.push(SceneNode::model("bicycle", At::new(x, 0.02, 0.36).yaw(90.0).roll(7.0))),
        5 if house.shop_front.is_none() => out.push(SceneNode::model("bench", At::new(x, 0.02, 0.45))),
        _ => {}
    }
    // Streets slope: what stands beside the door stands on the ground there.
    let frame = lot.at.frame();
    for node in &mut out[first..] {
        let p = frame.point(node.at.p);
        node.at.p.y += ground_y(p.x, p.z) + PAVING_M - lot.at.p.y;
        let (l, r) = (frame.point(node.at.p - Vec3::X * 0.5), frame.point(node.at.p + Vec3::X * 0.5));
        let tilt_deg = atan2(ground_y(r.x, r.z) - ground_y(l.x, l.z), 1.0) * 180.0 / PI;
        match node.model.as_str() {
            "bench" => node.at.turn_deg.z += tilt_deg,
            "bicycle" => node.at.turn_deg.x -= tilt_deg,
            _ => {}
        }
    }
}

/// Whether a neighbour leaves a side wall free, `out_m` metres away from it.
fn is_free(house: &House, lot: &Lot, taken: &[Footprint], side: f32, out_m: f32) -> bool {
    let frame = lot.at.frame();
    [1.5, house.depth * 0.5, house.depth - 1.5].iter().all(|z| {
        let p = frame.point(Vec3::new(side * (house.width * 0.5 + out_m), 0.0, -z));
        !taken.iter().any(|t| t.contains(Vec2::new(p.x, p.z), 0.0))
    })
}

/// Ivy or windows on side walls that no neighbour hides.
fn free_sides(
    house: &House,
    lot: &Lot,
    taken: &[Footprint],
    shade: Option<&ShadeWall>,
    rng: &mut Rng,
    out: &mut Vec<SceneNode>,
) {
    for side in [-1.0f32, 1.0] {
        let is_shade = shade.is_some_and(|s| s.side == side);
        if !is_shade && !is_free(house, lot, taken, side, 1.2) {
            continue;
        }
        let wall = |y: f32, z: f32| At::new(side * house.width * 0.5, y, z).yaw(side * 90.0);
        if is_shade {
            out.push(SceneNode::model("ivy_large", wall(-0.15, -house.depth * 0.36)));
            out.push(SceneNode::model("ivy_small", wall(-0.15, -house.depth * 0.80)));
            out.push(SceneNode::model("window_flush_stone", wall(4.27, -house.depth * 0.62)));
            continue;
        }
        if rng.chance(0.35) {
            let name = if rng.chance(0.65) { "ivy_large" } else { "ivy_small" };
            out.push(SceneNode::model(name, wall(-0.1, -house.depth * rng.range(0.35, 0.65))));
        } else {
            let kind = if house.style == Style::Timber { "window_flush_timber" } else { "window_flush_stone" };
            let n_floors = ((house.eaves_y - 3.4) / 2.75 + 1.2) as usize;
            let columns: &[f32] = if rng.chance(0.6) { &[0.27, 0.70] } else { &[0.48] };
            for floor in 0..n_floors {
                for z in columns {
                    if rng.chance(0.18) {
                        continue;
                    }
                    let y = if floor == 0 { 1.25 } else { 4.27 + 2.75 * (floor - 1) as f32 };
                    let name = if rng.chance(0.1) { format!("{kind}_lit") } else { kind.into() };
                    out.push(SceneNode::model(name, wall(y, -house.depth * z)));
                }
            }
        }
    }
}

/// The wall of the `shade` picture: a brick house on the south bank, turned so that the sun grazes its side.
pub struct ShadeWall {
    /// Index of its lot.
    pub lot: usize,
    side: f32,
    /// Where the camera stands.
    pub eye: Vec3,
    /// Where it looks.
    pub target: Vec3,
    /// Where a tree stands that shades the wall.
    pub tree: Vec3,
}

/// Where the house of the `shade` picture stands; its right wall's normal is 75° from the sun's azimuth.
pub fn shade_lot(houses: &[House]) -> Lot {
    let house = houses.iter().position(|h| h.style == Style::Brick && h.shop_front.is_none());
    let (x, z) = (-27.0, 128.0);
    let at = At::new(x, ground_y(x, z) + PAVING_M, z).yaw(-60.0);
    Lot { house: house.or(houses.iter().position(|h| h.style == Style::Brick)).unwrap_or(0), at }
}

/// The picture of the house that stands on `lot`.
pub fn shade_wall(houses: &[House], lot: &Lot, index: usize) -> ShadeWall {
    let house = &houses[lot.house];
    let frame = lot.at.frame();
    let (normal, along) = (frame.linear * Vec3::X, frame.linear * Vec3::Z);
    let middle = frame.point(Vec3::new(house.width * 0.5, 0.0, -house.depth * 0.45));
    let grounded = |p: Vec3, lift: f32| Vec3::new(p.x, ground_y(p.x, p.z) + lift, p.z);
    ShadeWall {
        lot: index,
        side: 1.0,
        // The eye stands on the sun's side, so that shadows fall away from it.
        eye: grounded(middle + along * 5.4 + normal * 2.9, 1.65),
        target: middle - along * 1.2 + normal * 0.3 + Vec3::Y * 1.9,
        tree: grounded(middle + along * 8.4 + normal * 1.4, 0.0),
    }
}

/// Gateways with their leaves, some of which swing.
pub fn gateways(gates: &[At]) -> Vec<SceneNode> {
    let mut rng = Rng::new(655);
    let mut out = Vec::new();
    for (i, at) in gates.iter().enumerate() {
        let mut leaves = Vec::new();
        for side in [-1.0f32, 1.0] {
            // Hung at the jambs, opening into the yard.
            let hinge = At::new(side * 1.22, 0.0, -0.35).scaled(-side, 1.0, 1.0);
            let open = -side * rng.range(35.0, 80.0);
            let leaf = SceneNode::model("gate_leaf", hinge.yaw(open));
            leaves.push(if i % 3 == 0 {
                leaf.moving(Motion::Swing {
                    axis: Vec3::Y,
                    amplitude_deg: 9.0,
                    period_s: rng.range(4.0, 7.0),
                    phase: rng.unit(),
                })
            } else {
                leaf
            });
        }
        let model = if i % 2 == 0 { "gateway_stone" } else { "gateway_plaster" };
        out.push(SceneNode::model(model, *at).with(leaves));
    }
    out
}

/// People who have stopped to talk on the pavements.
pub fn talkers() -> Vec<SceneNode> {
    let mut rng = Rng::new(656);
    let mut out = Vec::new();
    for street in streets().iter().filter(|s| s.kind == Kind::Street) {
        let mut s = 5.0;
        let mut side = 1.0;
        while s < street.length().min(110.0) {
            let offset = side * (street.half_m + rng.range(0.6, 1.0));
            let p = street.beside(s, offset);
            let y = ground_y(p.x, p.y) + PAVING_M + 0.01;
            let yaw = rng.range(0.0, 360.0);
            for turn in [0.0, 180.0] {
                // Each stands 45 cm behind the point they talk over, and looks at it.
                let at = At::new(p.x, y, p.y).yaw(yaw + turn + rng.range(-12.0, 12.0));
                let stand = at.frame().point(Vec3::new(0.0, 0.0, 0.45));
                let ground = ground_y(stand.x, stand.z) + PAVING_M + 0.01;
                out.push(super::traffic::standing_person(
                    At { p: Vec3::new(stand.x, ground, stand.z), ..at },
                    &mut rng,
                ));
            }
            s += rng.range(14.0, 22.0);
            side = -side;
        }
    }
    out
}

/// Lamp posts along the streets; `n` at most.
pub fn street_lamps(n: usize) -> Vec<SceneNode> {
    let mut out = Vec::new();
    for street in streets() {
        let (spacing, reach, offset) = match (street.kind, street.name) {
            (_, "quay") => (11.0, street.length(), 5.6),
            (_, "south_quay") => (16.0, street.length(), -2.3),
            (Kind::Street, _) => (12.0, 122.0, street.half_m + 0.42),
            (Kind::Lane, _) => (17.0, 100.0, street.half_m - 0.25),
            (Kind::Track, _) => continue,
        };
        let mut s = 7.0;
        let mut side = 1.0;
        while s < reach.min(street.length() - 3.0) {
            let p = street.beside(s, side * offset);
            let is_on_bridge = p.x.abs() < 6.5 && p.y > 60.0;
            let is_in_mill = (p.x - WATERMILL_X).abs() < 7.0 && p.y > 90.0;
            if !is_on_bridge && !is_in_mill && out.len() < n {
                out.push(lamp_post(Vec3::new(p.x, ground_y(p.x, p.y) + PAVING_M, p.y), 0.0));
            }
            s += spacing;
            if street.name != "quay" && street.name != "south_quay" {
                side = -side;
            }
        }
    }
    out
}

/// Cables with pennants over the main streets.
pub fn pennants() -> Vec<SceneNode> {
    let mut rng = Rng::new(660);
    let mut out = Vec::new();
    for street in streets().iter().filter(|s| s.kind == Kind::Street) {
        let mut s = 9.0;
        while s < street.length().min(105.0) {
            out.push(cable(street, s, &mut rng));
            s += 13.0;
        }
    }
    out
}

fn cable(street: &Street, s: f32, rng: &mut Rng) -> SceneNode {
    let (p, t) = street.at(s);
    let yaw = atan2(t.x, t.y) * 180.0 / PI;
    let n = 11;
    let children = (0..n)
        .map(|i| {
            let x = CABLE_M * ((i as f32 + 0.5) / n as f32 - 0.5);
            let motion = Motion::Swing {
                axis: Vec3::X,
                amplitude_deg: rng.range(10.0, 24.0),
                period_s: rng.range(1.1, 1.9),
                phase: rng.unit(),
            };
            SceneNode::model(PENNANTS[i % 4], At::new(x, -cable_dip(x) - 0.005, 0.0)).moving(motion)
        })
        .collect();
    let y = ground_y(p.x, p.y) + rng.range(5.8, 6.8);
    SceneNode::model("cable", At::new(p.x, y, p.y).yaw(yaw)).with(children)
}
