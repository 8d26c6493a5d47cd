//! Trees, hedges, fences, tufts: avenue, gardens, churchyard, banks, fields.

use super::buildings::Footprint;
use super::frontage::ShadeWall;
use super::landmarks::{CHURCH_Z, WINDMILL};
use super::plan::{BANKS, PAVING_M, SQUARE, Street, ground_y, river_z, streets};
use crate::catalog::At;
use crate::math::{PI, atan2};
use crate::rng::Rng;
use crate::scene::SceneNode;
use glam::Vec2;

/// What is free for plants.
struct Land<'a> {
    taken: &'a [Footprint],
    streets: Vec<Street>,
}

impl Land<'_> {
    fn is_free(&self, p: Vec2, margin: f32) -> bool {
        let in_square = p.x.abs() < SQUARE.x + margin && p.y.abs() < SQUARE.y + margin;
        let in_river = if p.x.abs() < 100.0 { p.y > 60.0 && p.y < 106.0 } else { (p.y - river_z(p.x)).abs() < 20.0 };
        let on_bridge = p.x.abs() < 7.0 && p.y > 60.0 && p.y < 112.0;
        !in_square
            && !in_river
            && !on_bridge
            && !self.taken.iter().any(|t| t.contains(p, margin))
            && self.streets.iter().all(|s| s.distance(p) > s.frontage() + margin * 0.8)
    }
}

fn tinted(node: SceneNode, rng: &mut Rng) -> SceneNode {
    let k = rng.range(0.82, 1.0);
    node.tinted([k * rng.range(0.92, 1.0), k, k * rng.range(0.86, 1.0)])
}

fn tree(kind: &str, x: f32, z: f32, lift: f32, rng: &mut Rng) -> SceneNode {
    let name = format!("tree_{kind}_{}", rng.below(3));
    let k = rng.range(0.86, 1.12);
    let at =
        At::new(x, ground_y(x, z) + lift - 0.05, z).yaw(rng.range(0.0, 360.0)).scaled(k, k * rng.range(0.94, 1.08), k);
    tinted(SceneNode::model(name, at), rng)
}

/// All plants.
pub fn build(taken: &[Footprint]) -> Vec<SceneNode> {
    let land = Land { taken, streets: streets() };
    vec![
        SceneNode::group("avenue", At::default(), avenue()),
        SceneNode::group("gardens", At::default(), gardens(&land)),
        SceneNode::group("churchyard", At::default(), churchyard()),
        SceneNode::group("banks", At::default(), banks(&land)),
        SceneNode::group("fields", At::default(), fields(&land)),
    ]
}

/// The lime row along the quay.
fn avenue() -> Vec<SceneNode> {
    let mut rng = Rng::new(710);
    (0..20)
        .map(|i| -90.0 + 9.4 * i as f32)
        .filter(|x| x.abs() > 9.0)
        .map(|x| tree("lime", x, 72.3, PAVING_M, &mut rng))
        .collect()
}

fn gardens(land: &Land) -> Vec<SceneNode> {
    let mut rng = Rng::new(711);
    let mut out = Vec::new();
    let mut trunks: Vec<Vec2> = Vec::new();
    let mut beds: Vec<Vec2> = Vec::new();
    for _ in 0..2600 {
        let p = Vec2::new(rng.range(-125.0, 125.0), rng.range(-115.0, 60.0));
        let is_close = trunks.iter().any(|t| (*t - p).length() < 5.0) || beds.iter().any(|b| (*b - p).length() < 3.4);
        if trunks.len() < 165 && !is_close && land.is_free(p, 2.4) && p.length() < 128.0 {
            trunks.push(p);
            let kind = rng.pick(&["apple", "apple", "lime", "maple", "oak", "poplar"]);
            out.push(tree(kind, p.x, p.y, 0.0, &mut rng));
        } else if beds.len() < 44 && land.is_free(p, 2.8) && !is_close && !beds.iter().any(|b| (*b - p).length() < 5.6)
        {
            beds.push(p);
            let yaw = 15.0 * rng.range(-2.0, 2.0) + if p.x < 0.0 { 0.0 } else { 90.0 };
            out.push(SceneNode::model("vegetable_bed", At::new(p.x, ground_y(p.x, p.y) + 0.04, p.y).yaw(yaw)));
        } else if land.is_free(p, 0.9) && out.len() < 560 {
            let y = ground_y(p.x, p.y) - 0.03;
            let name = rng.pick(&["bush", "tufts_flowers", "tufts_grass", "tufts_grass"]);
            out.push(tinted(
                SceneNode::model(name, At::new(p.x, y, p.y).yaw(rng.range(0.0, 360.0)).size(rng.range(0.8, 1.2))),
                &mut rng,
            ));
        }
    }
    out
}

/// What grows and stands by the wall of the `shade` picture.
pub fn shade_garden(wall: &ShadeWall) -> Vec<SceneNode> {
    let mut rng = Rng::new(715);
    let mut out = vec![tree("apple", wall.tree.x, wall.tree.z, 0.0, &mut rng)];
    let (dx, dz) = (wall.target.x - wall.eye.x, wall.target.z - wall.eye.z);
    let at = |t: f32, right: f32| {
        let reach = (dx * dx + dz * dz).sqrt();
        let (fx, fz) = (dx / reach, dz / reach);
        let (x, z) = (wall.eye.x + fx * t - fz * right, wall.eye.z + fz * t + fx * right);
        At::new(x, ground_y(x, z), z)
    };
    for (t, right) in [(4.6, 0.2), (6.0, 1.4), (5.2, 2.3), (8.5, 0.9), (10.5, 2.6), (7.4, 3.3), (12.0, 0.6), (9.6, 4.6)]
    {
        let name = rng.pick(&["tufts_flowers", "tufts_grass"]);
        out.push(tinted(SceneNode::model(name, at(t, right).yaw(rng.range(0.0, 360.0))), &mut rng));
    }
    out.push(SceneNode::model("bench", at(9.0, 1.9).yaw(-150.0)));
    out.push(tree("lime", at(24.0, 9.0).p.x, at(24.0, 9.0).p.z, 0.0, &mut rng));
    out.push(tree("apple", at(15.0, 6.5).p.x, at(15.0, 6.5).p.z, 0.0, &mut rng));
    out
}

/// A wall, hedges, old trees and long grass about the church.
fn churchyard() -> Vec<SceneNode> {
    let mut rng = Rng::new(712);
    let mut out = Vec::new();
    let (x1, z0, z1) = (17.2, -24.4, -68.0);
    let n = 14;
    for i in 0..n {
        let z = z0 + (z1 - z0) * (i as f32 + 0.5) / n as f32;
        for x in [-x1, x1] {
            out.push(SceneNode::model("garden_wall", At::new(x, ground_y(x, z), z).yaw(90.0).scaled(1.03, 1.0, 1.0)));
        }
    }
    for i in 0..11 {
        let x = -15.5 + 3.1 * i as f32;
        out.push(SceneNode::model("garden_wall", At::new(x, ground_y(x, z1), z1).scaled(1.025, 1.0, 1.0)));
    }
    for side in [-1.0, 1.0] {
        for i in 0..3 {
            let x = side * (15.6 - 3.0 * i as f32);
            out.push(SceneNode::model("hedge_low", At::new(x, 0.0, z0)));
        }
    }
    for (kind, x, z) in [
        ("oak", -12.5, -62.0),
        ("oak", 13.0, -50.0),
        ("lime", -12.8, -33.0),
        ("maple", 12.6, -31.5),
        ("maple", -13.0, -47.0),
        ("lime", 8.0, -66.0),
    ] {
        out.push(tree(kind, x, z, 0.0, &mut rng));
    }
    for _ in 0..70 {
        let (x, z) = (rng.range(-16.4, 16.4), rng.range(z1 + 1.0, z0 - 1.0));
        if x.abs() > 7.6 || z < CHURCH_Z - 37.0 {
            let name = rng.pick(&["tufts_flowers", "tufts_grass"]);
            out.push(tinted(
                SceneNode::model(name, At::new(x, ground_y(x, z) - 0.02, z).yaw(rng.range(0.0, 360.0))),
                &mut rng,
            ));
        }
    }
    for z in [-38.0f32, -44.0, -50.0] {
        for side in [-1.0f32, 1.0] {
            out.push(SceneNode::model("ivy_small", At::new(side * 5.64, 0.0, CHURCH_Z + z + 27.6).yaw(side * 90.0)));
        }
    }
    out
}

/// Park and orchard on the south bank, reeds and tufts by the water.
fn banks(land: &Land) -> Vec<SceneNode> {
    let mut rng = Rng::new(713);
    let mut out = Vec::new();
    let mut trunks: Vec<Vec2> = Vec::new();
    for _ in 0..1500 {
        let p = Vec2::new(rng.range(-120.0, 120.0), rng.range(106.0, 175.0));
        if p.x < -20.0 && p.x > -70.0 && p.y < 124.0 && p.x + p.y > 40.0 {
            // Keeps the view from the south bank to the bridge open.
            continue;
        }
        if trunks.len() < 62 && land.is_free(p, 2.0) && !trunks.iter().any(|t| (*t - p).length() < 6.0) {
            trunks.push(p);
            let kind = if p.x > 20.0 { "apple" } else { rng.pick(&["oak", "lime", "poplar", "maple"]) };
            out.push(tree(kind, p.x, p.y, 0.0, &mut rng));
        } else if out.len() < 330 && land.is_free(p, 0.4) {
            let name = rng.pick(&["tufts_flowers", "tufts_grass", "tufts_grass", "bush"]);
            let y = ground_y(p.x, p.y) - 0.03;
            out.push(tinted(
                SceneNode::model(name, At::new(p.x, y, p.y).yaw(rng.range(0.0, 360.0)).size(rng.range(0.8, 1.25))),
                &mut rng,
            ));
        }
    }
    for i in 0..24 {
        let x = -94.0 + 8.0 * i as f32;
        if x.abs() > 9.0 && !(20.0..46.0).contains(&x) {
            out.push(SceneNode::model("hedge_low", At::new(x, ground_y(x, BANKS.1 + 7.2), BANKS.1 + 7.4)));
            out.push(SceneNode::model("hedge_low", At::new(x + 3.0, ground_y(x + 3.0, BANKS.1 + 7.2), BANKS.1 + 7.4)));
        }
    }
    out
}

/// Trees, hedgerows and fences between the town and the hills.
fn fields(land: &Land) -> Vec<SceneNode> {
    let mut rng = Rng::new(714);
    let mut out = Vec::new();
    let mut n = 0;
    for _ in 0..3000 {
        let p = Vec2::new(rng.range(-236.0, 236.0), rng.range(-236.0, 236.0));
        let away = (p - Vec2::new(0.0, -10.0)).length();
        let near_mill = (p - Vec2::new(WINDMILL.0, WINDMILL.1)).length() < 26.0;
        if n >= 150 || away < 130.0 || near_mill || !land.is_free(p, 2.5) {
            continue;
        }
        n += 1;
        let kind = rng.pick(&["oak", "oak", "poplar", "maple", "lime"]);
        out.push(tree(kind, p.x, p.y, 0.0, &mut rng));
    }
    // Rows: (from, to, model, spacing).
    for (from, to, model) in [
        ((-150.0f32, -60.0f32), (-60.0f32, -140.0f32), "hedge"),
        ((-60.0, -140.0), (20.0, -150.0), "hedge"),
        ((120.0, -40.0), (150.0, -120.0), "hedge"),
        ((-170.0, 40.0), (-120.0, 56.0), "hedge"),
        ((52.0, -118.0), (56.0, -142.0), "fence"),
        ((72.0, -116.0), (68.0, -136.0), "fence"),
        ((56.0, -142.0), (20.0, -150.0), "fence"),
        ((100.0, -190.0), (150.0, -120.0), "fence"),
        ((-30.0, 176.0), (60.0, 182.0), "fence"),
        ((60.0, 182.0), (110.0, 130.0), "hedge"),
    ] {
        let (a, b) = (Vec2::new(from.0, from.1), Vec2::new(to.0, to.1));
        let count = ((b - a).length() / 3.0) as usize;
        let yaw = atan2(-(b - a).y, (b - a).x) * 180.0 / PI;
        for i in 0..count {
            let p = a.lerp(b, (i as f32 + 0.5) / count as f32);
            if land.streets.iter().all(|s| s.distance(p) > s.frontage() + 1.0) {
                out.push(SceneNode::model(model, At::new(p.x, ground_y(p.x, p.y), p.y).yaw(yaw)));
            }
        }
    }
    out
}
