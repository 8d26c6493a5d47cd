//! Who and what goes about: people on pavements, cars and carts on their rounds, parked cars.

use super::plan::{PAVING_M, Street, ground_y, path_points, streets};
use crate::catalog::At;
use crate::model::bridge::deck_y;
use crate::model::people::{FIGURES, HIP, SHOULDER};
use crate::model::vehicles::{CARS, WHEELS};
use crate::rng::Rng;
use crate::scene::{Motion, Path, SceneNode};
use glam::Vec3;

/// A figure of a group of models in a pose; legs and arms swing when it walks.
fn figure(root: SceneNode, name: &str, stride_s: Option<f32>, rng: &mut Rng) -> SceneNode {
    let phase = rng.unit();
    let mut children = Vec::new();
    let limb = |part: &str, at: At, amplitude_deg: f32, shift: f32| {
        let node = SceneNode::model(format!("person_{name}_{part}"), at);
        match stride_s {
            Some(period_s) => {
                node.moving(Motion::Swing { axis: Vec3::X, amplitude_deg, period_s, phase: phase + shift })
            }
            None => node,
        }
    };
    let idle = stride_s.is_none();
    for (side, shift) in [(-1.0f32, 0.0f32), (1.0, 0.5)] {
        let bend = if idle { rng.range(-8.0, 42.0) } else { 4.0 };
        children.push(limb(
            "arm",
            At::new(side * SHOULDER.0, SHOULDER.1, 0.0).pitch(bend).roll(side * 6.0),
            24.0,
            shift + 0.5,
        ));
        children.push(limb("leg", At::new(side * HIP.0, HIP.1, 0.0), 25.0, shift));
    }
    let body = SceneNode::model(format!("person_{name}_body"), At::default());
    children.push(match stride_s {
        Some(period_s) => {
            body.moving(Motion::Bob { amplitude_m: Vec3::new(0.0, 0.018, 0.0), period_s: period_s * 0.5, phase })
        }
        None => body,
    });
    root.with(children)
}

fn size(rng: &mut Rng) -> f32 {
    rng.range(0.93, 1.04)
}

/// Someone who stands, some of them turning about.
pub fn standing_person(at: At, rng: &mut Rng) -> SceneNode {
    let f = rng.pick(&FIGURES);
    let mut root = SceneNode { at: at.size(size(rng)), ..SceneNode::default() };
    if rng.chance(0.16) {
        root.motion = Some(Motion::Swing {
            axis: Vec3::Y,
            amplitude_deg: rng.range(12.0, 40.0),
            period_s: rng.range(4.0, 9.0),
            phase: rng.unit(),
        });
    }
    figure(root, f.name, None, rng)
}

fn walker(path: &str, gap_m: f32, place: usize, rng: &mut Rng) -> SceneNode {
    // Neighbours on a walk are dressed differently.
    let f = FIGURES[(place * 3 + path.len()) % FIGURES.len()];
    let speed_mps = rng.range(1.05, 1.5);
    let root = SceneNode {
        at: At::new(rng.range(-0.45, 0.45), 0.0, 0.0).size(size(rng)),
        motion: Some(Motion::Follow {
            path: path.into(),
            speed_mps,
            offset_m: gap_m * (place as f32 + rng.range(-0.3, 0.3)),
        }),
        ..SceneNode::default()
    };
    figure(root, f.name, Some(1.42 / speed_mps), rng)
}

fn length(points: &[Vec3], is_closed: bool) -> f32 {
    let open: f32 = points.windows(2).map(|w| (w[1] - w[0]).length()).sum();
    match (is_closed, points.first(), points.last()) {
        (true, Some(a), Some(b)) => open + (*b - *a).length(),
        _ => open,
    }
}

/// Down one side of a street and up the other.
fn loop_of(street: &Street, from: f32, to: f32, offset: f32) -> Vec<Vec3> {
    let mut points = path_points(street, from, to, offset, 4.0);
    points.extend(path_points(street, to, from, -offset, 4.0));
    points
}

/// Adds paths and whoever goes along them.
pub fn build(paths: &mut Vec<Path>) -> Vec<SceneNode> {
    let mut rng = Rng::new(690);
    let all = streets();
    let find = |name: &str| all.iter().find(|s| s.name == name);
    let mut people = Vec::new();
    let walks: [(&str, f32, f32, f32, usize); 9] = [
        ("high_street", 1.0, 39.0, 4.3, 8),
        ("west_street", 1.0, 112.0, 4.3, 10),
        ("east_street", 1.0, 108.0, 4.3, 10),
        ("church_lane", 2.0, 90.0, 1.2, 3),
        ("mill_lane", 2.0, 90.0, 1.2, 3),
        ("tanner_lane", 1.0, 50.0, 1.2, 3),
        ("rope_lane", 1.0, 58.0, 1.2, 3),
        ("quay", 6.0, 186.0, 2.4, 9),
        ("south_quay", 4.0, 108.0, 1.4, 4),
    ];
    for (name, from, to, offset, n) in walks {
        let Some(street) = find(name) else { continue };
        let points = loop_of(street, from, to, offset);
        add_walk(paths, &mut people, &format!("walk_{name}"), points, n, &mut rng);
    }
    let flat = |list: &[(f32, f32)]| -> Vec<Vec3> {
        list.iter().map(|(x, z)| Vec3::new(*x, ground_y(*x, *z) + PAVING_M, *z)).collect()
    };
    let market = flat(&[
        (-24.5, -8.2),
        (-14.0, -8.4),
        (-5.0, -8.2),
        (0.5, -12.5),
        (10.0, -12.8),
        (15.0, -8.4),
        (24.5, -8.2),
        (24.8, -16.5),
        (12.0, -18.0),
        (0.0, -18.6),
        (-14.0, -17.0),
        (-24.6, -16.4),
    ]);
    add_walk(paths, &mut people, "walk_market", market, 7, &mut rng);
    let crossing = flat(&[
        (-25.0, -1.4),
        (-14.0, -0.4),
        (-2.0, 0.4),
        (12.0, 1.0),
        (24.0, 0.5),
        (24.5, 6.6),
        (10.0, 6.8),
        (-8.0, 6.6),
        (-18.5, 6.9),
        (-25.0, 3.0),
    ]);
    add_walk(paths, &mut people, "walk_square", crossing, 8, &mut rng);
    let mut bridge: Vec<Vec3> = flat(&[(-3.2, 65.0)]);
    let deck = |x: f32, z: f32| Vec3::new(x, deck_y(z) + 0.12, z);
    bridge.extend((0..=10).map(|i| deck(-3.2, 71.0 + 3.0 * i as f32)));
    bridge.extend(flat(&[(-2.6, 106.0), (2.6, 106.0)]));
    bridge.extend((0..=10).rev().map(|i| deck(3.2, 71.0 + 3.0 * i as f32)));
    bridge.extend(flat(&[(3.2, 65.0)]));
    add_walk(paths, &mut people, "walk_bridge", bridge, 6, &mut rng);

    let mut vehicles = Vec::new();
    if let (Some(west), Some(east)) = (find("west_street"), find("east_street")) {
        cars(paths, &mut vehicles, west, east, &mut rng);
    }
    carts(paths, &mut vehicles, &all, &mut rng);
    parked(&mut vehicles, &all, &mut rng);
    vec![SceneNode::group("people", At::default(), people), SceneNode::group("vehicles", At::default(), vehicles)]
}

fn add_walk(
    paths: &mut Vec<Path>,
    people: &mut Vec<SceneNode>,
    name: &str,
    points: Vec<Vec3>,
    n: usize,
    rng: &mut Rng,
) {
    let total = length(&points, true);
    let group = (0..n).map(|i| walker(name, total / n as f32, i, rng)).collect();
    paths.push(Path { name: name.into(), is_closed: true, points });
    people.push(SceneNode::group(format!("{name}_people"), At::default(), group));
}

fn car(paint: &str, at: At, speed_mps: Option<(f32, Motion)>) -> SceneNode {
    let (x, y, front, rear) = WHEELS;
    let rpm = speed_mps.as_ref().map(|(v, _)| -v / (std::f32::consts::TAU * y) * 60.0);
    let wheels = [(-x, front), (x, front), (-x, rear), (x, rear)]
        .map(|(x, z)| {
            let wheel = SceneNode::model("car_wheel", At::new(x, y, z));
            match rpm {
                Some(rpm) => wheel.moving(Motion::Spin { axis: Vec3::X, rpm, phase_deg: 0.0 }),
                None => wheel,
            }
        })
        .into();
    let root = SceneNode::model(paint, at).with(wheels);
    match speed_mps {
        Some((_, motion)) => root.moving(motion),
        None => root,
    }
}

/// One round: in from the west, across the square's south side, out to the east, and back on the other lane.
fn cars(paths: &mut Vec<Path>, out: &mut Vec<SceneNode>, west: &Street, east: &Street, rng: &mut Rng) {
    let road = |points: Vec<Vec3>| {
        points.into_iter().map(|p| Vec3::new(p.x, ground_y(p.x, p.z) + 0.055, p.z)).collect::<Vec<Vec3>>()
    };
    let square = |list: &[(f32, f32)]| list.iter().map(|(x, z)| Vec3::new(*x, PAVING_M, *z)).collect::<Vec<Vec3>>();
    let lane = 1.55;
    let mut points = road(path_points(west, 222.0, 2.0, -lane, 7.0));
    points.extend(square(&[
        (-26.5, 8.0),
        (-21.5, 15.0),
        (-13.0, 18.6),
        (0.0, 19.2),
        (13.0, 18.6),
        (21.5, 13.5),
        (26.5, 3.5),
    ]));
    points.extend(road(path_points(east, 2.0, 222.0, lane, 7.0)));
    points.extend(road(path_points(east, 226.0, 2.0, -lane, 7.0)));
    points.extend(square(&[
        (25.0, -0.5),
        (18.5, 10.5),
        (11.5, 15.0),
        (0.0, 15.8),
        (-11.5, 15.2),
        (-18.6, 12.0),
        (-24.0, 4.0),
    ]));
    points.extend(road(path_points(west, 2.0, 226.0, lane, 7.0)));
    let total = length(&points, true);
    paths.push(Path { name: "traffic".into(), is_closed: true, points });
    let n = 14;
    for i in 0..n {
        let paint = CARS[(i * 3 + i / 4) % 4];
        let speed_mps = 5.6;
        let offset_m = total * (i as f32 + rng.range(-0.2, 0.2)) / n as f32;
        out.push(car(
            paint,
            At::default(),
            Some((speed_mps, Motion::Follow { path: "traffic".into(), speed_mps, offset_m })),
        ));
    }
}

fn carts(paths: &mut Vec<Path>, out: &mut Vec<SceneNode>, all: &[Street], rng: &mut Rng) {
    for (name, from, to, offset, n) in [
        ("quay", 6.0f32, 186.0f32, 0.8f32, 3usize),
        ("church_lane", 2.0, 88.0, 0.5, 2),
        ("rope_lane", 2.0, 58.0, 0.5, 1),
        ("tanner_lane", 2.0, 50.0, 0.5, 1),
    ] {
        let Some(street) = all.iter().find(|s| s.name == name) else { continue };
        let points = loop_of(street, from, to, offset);
        let total = length(&points, true);
        let path = format!("cart_{name}");
        paths.push(Path { name: path.clone(), is_closed: true, points });
        for i in 0..n {
            let speed_mps = 0.95;
            let rpm = -speed_mps / (std::f32::consts::TAU * 0.55) * 60.0;
            let mut children: Vec<SceneNode> = [-0.76f32, 0.76]
                .map(|x| {
                    SceneNode::model("cart_wheel", At::new(x, 0.55, 0.1)).moving(Motion::Spin {
                        axis: Vec3::X,
                        rpm,
                        phase_deg: 0.0,
                    })
                })
                .into();
            let driver = SceneNode { at: At::new(0.0, 0.0, -2.1), ..SceneNode::default() };
            children.push(figure(driver, FIGURES[(i + 1) % 8].name, Some(1.4), rng));
            let offset_m = total * (i as f32 + 0.3) / n as f32;
            out.push(
                SceneNode::model("cart", At::default())
                    .moving(Motion::Follow { path: path.clone(), speed_mps, offset_m })
                    .with(children),
            );
        }
    }
}

/// Cars at the kerb of the wider streets, and a few carts left standing.
fn parked(out: &mut Vec<SceneNode>, all: &[Street], rng: &mut Rng) {
    for (x, z, yaw) in [(27.2f32, -3.0f32, 178.0f32), (27.3, -8.4, 182.0), (-27.4, -7.5, 1.0), (-27.2, -17.5, -2.0)] {
        out.push(car(CARS[rng.below(4)], At::new(x, PAVING_M, z).yaw(yaw), None));
    }
    let Some(quay) = all.iter().find(|s| s.name == "quay") else { return };
    for s in [18.0f32, 24.0, 47.0, 132.0, 139.0, 171.0] {
        let p = quay.beside(s, -4.4);
        let at = At::new(p.x, ground_y(p.x, p.y) + PAVING_M, p.y).yaw(90.0 + rng.range(-2.0, 2.0));
        out.push(car(CARS[rng.below(4)], at, None));
    }
    for (x, z, yaw) in [(-24.0f32, 15.0f32, 20.0f32), (34.0, 71.5, 70.0), (-33.0, 72.0, -80.0), (14.5, 101.8, 75.0)] {
        let wheels = [-0.76f32, 0.76].map(|x| SceneNode::model("cart_wheel", At::new(x, 0.55, 0.1).pitch(20.0))).into();
        out.push(SceneNode::model("cart", At::new(x, ground_y(x, z) + PAVING_M, z).yaw(yaw)).with(wheels));
    }
}
