//! The houses: which variants exist and where they stand.

use super::plan::{Kind, PAVING_M, SQUARE, Street, ground_y, streets};
use crate::catalog::{At, File};
use crate::math::{PI, atan2, cos, sin};
use crate::model::house::{House, Spec, Style, build};
use crate::model::house_parts::Parts;
use crate::model::roof::Ends;
use crate::model::yard::GATE_M;
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

/// What stands along the streets.
pub struct Fabric {
    /// Houses.
    pub lots: Vec<Lot>,
    /// Gateways between houses, in the world.
    pub gates: Vec<At>,
    /// All footprints, what was reserved included.
    pub taken: Vec<Footprint>,
}

struct Planner<'a> {
    houses: &'a [House],
    streets: Vec<Street>,
    rng: Rng,
    fabric: Fabric,
}

/// A line along which houses stand.
struct Front<F> {
    /// The facades' line by distance in metres.
    line: F,
    from: f32,
    to: f32,
    /// +1 where houses stand on its right, -1 on its left.
    side: f32,
    is_main: bool,
    has_gates: bool,
}

/// Places houses about the square and along every built side of every street.
pub fn fabric(houses: &[House], reserved: &[Footprint]) -> Fabric {
    let fabric = Fabric { lots: Vec::new(), gates: Vec::new(), taken: reserved.to_vec() };
    let mut planner = Planner { houses, streets: streets(), rng: Rng::new(601), fabric };
    planner.square_fronts();
    for street in streets() {
        for (built, side) in street.built.iter().zip([-1.0, 1.0]) {
            let Some((from, to)) = *built else { continue };
            planner.along(&Front {
                line: |s| street.beside(s, side * street.frontage()),
                from,
                to: to.min(street.length()),
                side,
                is_main: street.kind == Kind::Street,
                has_gates: street.name != "high_street",
            });
        }
    }
    planner.fabric
}

impl Planner<'_> {
    /// The sides of the square, leaving out the church's place and the streets' mouths.
    fn square_fronts(&mut self) {
        let (x, z) = (SQUARE.x, SQUARE.y);
        let sides = [
            (Vec2::new(-x, -z), Vec2::new(-x, z + 10.0)),
            (Vec2::new(-x, z), Vec2::new(x, z)),
            (Vec2::new(x, z + 10.0), Vec2::new(x, -z)),
            (Vec2::new(x, -z), Vec2::new(19.0, -z)),
            (Vec2::new(-19.0, -z), Vec2::new(-x, -z)),
        ];
        for (a, b) in sides {
            let length = (b - a).length();
            // Walking round with the square on the right puts the houses on the left.
            let line = |s: f32| a + (b - a) * (s / length);
            self.along(&Front { line, from: 0.0, to: length, side: -1.0, is_main: true, has_gates: false });
        }
    }

    /// Fills a frontage with houses and a gateway here and there.
    fn along(&mut self, front: &Front<impl Fn(f32) -> Vec2>) {
        let mut s = front.from;
        let mut last = None;
        let mut n_in_row = 0;
        while s < front.to - 4.0 {
            if front.has_gates && n_in_row >= 4 {
                n_in_row = 0;
                if let Some(end) = self.gate(front, s) {
                    (s, last) = (end, None);
                    continue;
                }
            }
            match (0..14).find_map(|_| self.try_house(front, s, last)) {
                Some((end, pick)) => {
                    (s, last) = (end, Some(pick));
                    n_in_row += 1;
                }
                None => {
                    s += 1.0;
                    (last, n_in_row) = (None, 0);
                }
            }
        }
    }

    /// Places one house picked by chance if it suits and fits; returns where it ends and which it is.
    fn try_house(&mut self, front: &Front<impl Fn(f32) -> Vec2>, s: f32, last: Option<usize>) -> Option<(f32, usize)> {
        let pick = self.rng.below(self.houses.len());
        let house = &self.houses[pick];
        let is_alike = last.map(|l| &self.houses[l]).is_some_and(|l| {
            l.wall == house.wall || l.name == house.name || l.eaves_y == house.eaves_y && self.rng.chance(0.6)
        });
        if is_alike || (front.is_main != house.shop_front.is_some() && self.rng.chance(0.6)) {
            return None;
        }
        let (end, at, full) = self.place(front, s, house.width, house.depth, 0.5)?;
        self.fabric.taken.push(full);
        self.fabric.lots.push(Lot { house: pick, at });
        Some((end, pick))
    }

    fn gate(&mut self, front: &Front<impl Fn(f32) -> Vec2>, s: f32) -> Option<f32> {
        let (end, at, _) = self.place(front, s, GATE_M, 5.0, 0.3)?;
        let frame = at.frame();
        // The yard behind stays open.
        let yard = frame.point(Vec3::new(0.0, 0.0, -4.5));
        self.fabric.taken.push(Footprint::new(Vec2::new(yard.x, yard.z), Vec2::new(1.5, 4.5), at.turn_deg.y));
        self.fabric.gates.push(at);
        Some(end)
    }

    /// Where something so wide and deep stands if it starts at `s`, and its footprint; `None` where it does not fit.
    fn place(
        &self,
        front: &Front<impl Fn(f32) -> Vec2>,
        s: f32,
        width: f32,
        depth: f32,
        slack: f32,
    ) -> Option<(f32, At, Footprint)> {
        let end = march(&front.line, s, front.to, width)?;
        let (a, b) = ((front.line)(s), (front.line)(end));
        let chord = (b - a).normalize_or(Vec2::X);
        let away = Vec2::new(-chord.y, chord.x) * front.side;
        let mid = (a + b) * 0.5;
        let yaw = atan2(-away.x, -away.y) * 180.0 / PI;
        let center = mid + away * (depth * 0.5);
        let half = Vec2::new(width, depth) * 0.5;
        let core = Footprint::new(center, half - Vec2::splat(slack), yaw);
        if self.fabric.taken.iter().any(|t| t.overlaps(&core)) || is_in_the_way(&core, &self.streets) {
            return None;
        }
        let y = ground_y(mid.x, mid.y) + PAVING_M;
        Some((end, At::point(Vec3::new(mid.x, y, mid.y)).yaw(yaw), Footprint::new(center, half, yaw)))
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
