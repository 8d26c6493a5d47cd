//! The houses: which variants exist and where they stand.

use super::plan::{Kind, PAVING_M, SQUARE, Street, ground_y, streets};
use crate::catalog::{At, File};
use crate::math::{PI, atan2, cos, sin};
use crate::model::house::{House, Spec, Style, build};
use crate::model::house_parts::Parts;
use crate::model::roof::Ends;
use crate::rng::Rng;
use glam::{Vec2, Vec3};

/// A house in its place.
#[derive(Clone, Debug)]
pub struct Lot {
    /// Index of the variant.
    pub house: usize,
    /// In the world.
    pub at: At,
}

/// An oriented rectangle that something occupies.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    center: Vec2,
    half: Vec2,
    axes: [Vec2; 2],
}

impl Footprint {
    /// A rectangle `half` wide and deep about a centre, turned by yaw degrees.
    pub fn new(center: Vec2, half: Vec2, yaw_deg: f32) -> Self {
        let (s, c) = (sin(yaw_deg * PI / 180.0), cos(yaw_deg * PI / 180.0));
        Self { center, half, axes: [Vec2::new(c, -s), Vec2::new(s, c)] }
    }

    /// Whether two overlap.
    pub fn overlaps(&self, other: &Self) -> bool {
        let d = other.center - self.center;
        [self.axes[0], self.axes[1], other.axes[0], other.axes[1]].iter().all(|axis| {
            let reach = |f: &Self| f.half.x * f.axes[0].dot(*axis).abs() + f.half.y * f.axes[1].dot(*axis).abs();
            d.dot(*axis).abs() < reach(self) + reach(other)
        })
    }

    /// Whether a point is inside, grown by a margin.
    pub fn contains(&self, p: Vec2, margin: f32) -> bool {
        let d = p - self.center;
        d.dot(self.axes[0]).abs() < self.half.x + margin && d.dot(self.axes[1]).abs() < self.half.y + margin
    }

    /// Points over it, for testing against curves.
    fn samples(&self) -> impl Iterator<Item = Vec2> + '_ {
        (0..25).map(|i| {
            let (u, v) = ((i % 5) as f32 / 2.0 - 1.0, (i / 5) as f32 / 2.0 - 1.0);
            self.center + self.axes[0] * (u * self.half.x) + self.axes[1] * (v * self.half.y)
        })
    }
}

/// Makes the variants.
pub fn variants(file: &mut File, parts: &Parts) -> Vec<House> {
    let mut rng = Rng::new(600);
    let plasters = [
        "plaster_ochre",
        "plaster_white",
        "plaster_rose",
        "plaster_sage",
        "plaster_cream",
        "plaster_blue",
        "plaster_terracotta",
    ];
    let roofs = ["clay_tile", "clay_tile_brown", "slate", "clay_tile_orange", "clay_tile_brown", "clay_tile", "slate"];
    let mut out = Vec::new();
    for i in 0..30u64 {
        let style =
            [Style::Timber, Style::Render, Style::Brick, Style::Render, Style::Timber, Style::Stone][i as usize % 6];
        let is_shop = i % 2 == 0 && style != Style::Stone;
        let wall = match style {
            Style::Timber => ["plaster_white", "plaster_cream", "plaster_ochre", "plaster_white"][(i as usize / 2) % 4],
            Style::Render => plasters[(i as usize * 3 / 2) % 7],
            Style::Brick => ["brick_red", "brick_pale"][(i as usize / 6) % 2],
            Style::Stone => "rubble",
        };
        let n_floors = match style {
            Style::Stone => 2,
            Style::Brick => 3,
            _ => [2, 3, 3, 4][(i as usize * 7 + 3) / 3 % 4],
        };
        let width = [6.4, 7.6, 5.6, 8.8, 6.9, 7.2, 9.6, 6.1][(i as usize * 5) % 8];
        let is_gable_front = matches!((i * 7) % 5, 0 | 3) && width < 8.0;
        let spec = Spec {
            name: format!("house_{i:02}"),
            seed: 700 + i,
            width,
            depth: [8.5, 9.5, 10.5][(i as usize * 2) % 3],
            n_floors,
            style,
            wall,
            roof: if style == Style::Stone { "slate" } else { roofs[(i as usize * 3 + 1) % 7] },
            is_gable_front,
            ends: match (i * 11) % 7 {
                0 | 3 => Ends::HalfHip,
                1 if !is_gable_front && width > 7.0 => Ends::Hip,
                _ => Ends::Gable,
            },
            pitch_deg: rng.range(42.0, 52.0),
            is_shop,
        };
        out.push(build(file, parts, &spec));
    }
    out
}

/// Places houses along every built side of every street, then returns them and all footprints.
pub fn lots(houses: &[House], reserved: &[Footprint]) -> (Vec<Lot>, Vec<Footprint>) {
    let all = streets();
    let mut taken: Vec<Footprint> = reserved.to_vec();
    let mut lots: Vec<Lot> = Vec::new();
    let mut rng = Rng::new(601);
    square_fronts(houses, &all, &mut rng, &mut lots, &mut taken);
    for street in &all {
        for (side, built) in street.built.iter().enumerate() {
            let Some((from, to)) = *built else { continue };
            let sign = if side == 0 { -1.0 } else { 1.0 };
            let to = to.min(street.length());
            let front = |s: f32| street.beside(s, sign * street.frontage());
            along(houses, &all, street.kind == Kind::Street, (from, to), front, sign, &mut rng, &mut lots, &mut taken);
        }
    }
    (lots, taken)
}

/// The four sides of the square, leaving out the church's place and the streets' mouths.
fn square_fronts(houses: &[House], all: &[Street], rng: &mut Rng, lots: &mut Vec<Lot>, taken: &mut Vec<Footprint>) {
    let (x, z) = (SQUARE.x, SQUARE.y);
    let sides: [(Vec2, Vec2); 6] = [
        (Vec2::new(-x, -z), Vec2::new(-x, z + 10.0)),
        (Vec2::new(-x, z), Vec2::new(x, z)),
        (Vec2::new(x, z + 10.0), Vec2::new(x, -z)),
        (Vec2::new(x, -z), Vec2::new(19.0, -z)),
        (Vec2::new(-19.0, -z), Vec2::new(-x, -z)),
        (Vec2::new(x, z), Vec2::new(x, z)),
    ];
    for (a, b) in sides {
        let length = (b - a).length();
        if length > 4.0 {
            // Walking with the square on the left puts the houses on the right.
            along(houses, all, true, (0.0, length), |s| a + (b - a) * (s / length), -1.0, rng, lots, taken);
        }
    }
}

/// Fills a frontage: `front` gives the line of the facades by distance; houses stand on its `sign` side (right is +1).
#[allow(clippy::too_many_arguments)]
fn along(
    houses: &[House],
    all: &[Street],
    is_main: bool,
    (from, to): (f32, f32),
    front: impl Fn(f32) -> Vec2,
    sign: f32,
    rng: &mut Rng,
    lots: &mut Vec<Lot>,
    taken: &mut Vec<Footprint>,
) {
    let mut s = from;
    let mut last = usize::MAX;
    while s < to - 4.0 {
        let mut is_placed = false;
        for _ in 0..14 {
            let pick = rng.below(houses.len());
            let house = &houses[pick];
            let is_alike = last < houses.len()
                && (houses[last].wall == house.wall
                    || houses[last].name == house.name
                    || houses[last].eaves_y == house.eaves_y && rng.chance(0.6));
            if is_alike || (is_main != house.shop_front.is_some() && rng.chance(0.6)) {
                continue;
            }
            let Some(end) = march(&front, s, to, house.width) else { continue };
            let (a, b) = (front(s), front(end));
            let chord = (b - a).normalize_or(Vec2::X);
            let away = Vec2::new(-chord.y, chord.x) * sign;
            let mid = (a + b) * 0.5;
            let yaw = atan2(-away.x, -away.y) * 180.0 / PI;
            let center = mid + away * (house.depth * 0.5);
            let shrunk = Footprint::new(center, Vec2::new(house.width * 0.5 - 0.5, house.depth * 0.5 - 0.5), yaw);
            if taken.iter().any(|t| t.overlaps(&shrunk)) || is_in_the_way(&shrunk, all) {
                continue;
            }
            let y = ground_y(mid.x, mid.y) + PAVING_M;
            let full = Footprint::new(center, Vec2::new(house.width * 0.5, house.depth * 0.5), yaw);
            taken.push(full);
            lots.push(Lot { house: pick, at: At::point(Vec3::new(mid.x, y, mid.y)).yaw(yaw) });
            last = pick;
            s = end;
            is_placed = true;
            break;
        }
        if !is_placed {
            s += 1.0;
            last = usize::MAX;
        }
    }
}

/// The distance at which the frontage has gone `width` metres as the crow flies.
fn march(front: &impl Fn(f32) -> Vec2, s: f32, to: f32, width: f32) -> Option<f32> {
    let start = front(s);
    let mut e = s + 0.7 * width;
    while (front(e) - start).length() < width {
        e += 0.05;
        if e > to + 1.5 {
            return None;
        }
    }
    Some(e)
}

fn is_in_the_way(footprint: &Footprint, all: &[Street]) -> bool {
    footprint.samples().any(|p| {
        let in_square = p.x.abs() < SQUARE.x - 0.2 && p.y.abs() < SQUARE.y - 0.2;
        in_square || all.iter().any(|s| s.distance(p) < s.frontage() - 0.15)
    })
}
