//! The plan: height of the ground, the river, the streets' centre lines.

use crate::math::{exp, lerp, sin, smoothstep};
use crate::noise::fbm;
use glam::{Vec2, Vec3};

/// Height of the river's surface in metres.
pub const WATER_Y: f32 = -5.4;
/// Half the square: x and z.
pub const SQUARE: Vec2 = Vec2::new(30.0, 22.5);
/// Paved surfaces lie this much above the ground.
pub const PAVING_M: f32 = 0.12;
/// z of the quay walls' faces within the town.
pub const BANKS: (f32, f32) = (75.0, 97.0);
/// |x| up to which the banks are walled.
pub const QUAY_X: f32 = 96.0;

/// z of the river's middle.
pub fn river_z(x: f32) -> f32 {
    let bend = smoothstep(100.0, 420.0, x.abs());
    86.0 + bend * 46.0 * sin(x / 130.0)
}

/// Height of the natural ground (streets, quays and the river bed are cut into it elsewhere).
pub fn ground_y(x: f32, z: f32) -> f32 {
    let south = -3.6 * smoothstep(26.0, 62.0, z);
    let north = 5.0 * smoothstep(-30.0, -135.0, z);
    let slope =
        (1.0 - smoothstep(36.0, 60.0, z)) * (1.6 * smoothstep(36.0, 130.0, -x) - 1.0 * smoothstep(36.0, 130.0, x));
    let (hx, hz) = ((x - 84.0) / 52.0, (z + 168.0) / 44.0);
    let mill_hill = 15.0 * exp(-(hx * hx + hz * hz));
    let south_bank = 0.028 * (z - 125.0).clamp(0.0, 120.0);
    let away = (Vec2::new(x, z) - Vec2::new(0.0, -10.0)).length();
    let river = smoothstep(24.0, 90.0, (z - river_z(x)).abs());
    let u = |v: f32| v / 4096.0 + 0.5;
    let swell = (fbm(u(x), u(z), (24, 24), 4, 501) - 0.5) * 16.0 * smoothstep(120.0, 260.0, away) * river;
    let valley = smoothstep(60.0, 460.0, (z - river_z(x)).abs());
    let ring = smoothstep(280.0, 1150.0, away) * (22.0 + 130.0 * fbm(u(x), u(z), (9, 9), 5, 502));
    south + north + slope + mill_hill + south_bank + swell + ring * lerp(0.12, 1.0, valley)
}

/// The ground with the river's bed cut in.
pub fn terrain_y(x: f32, z: f32) -> f32 {
    let y = ground_y(x, z);
    let away = (z - river_z(x)).abs();
    // Within the town the drop hides under the quays' paving; outside the banks slope.
    let is_quay = 1.0 - smoothstep(QUAY_X - 2.0, QUAY_X + 6.0, x.abs());
    let hard = smoothstep(13.6, 13.2, away);
    let soft = smoothstep(19.0, 6.0, away);
    lerp(y, -8.0, lerp(soft, hard, is_quay))
}

/// What a street is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Carriageway with kerbs and pavements.
    Street,
    /// One surface from wall to wall.
    Lane,
    /// Gravel.
    Track,
}

/// A street's centre line, sampled every half metre or so.
#[derive(Clone, Debug)]
pub struct Street {
    /// Also a path's name.
    pub name: &'static str,
    /// Its make.
    pub kind: Kind,
    /// Half of the carriageway.
    pub half_m: f32,
    /// Each pavement's width.
    pub pavement_m: f32,
    /// Samples: x and z.
    pub points: Vec<Vec2>,
    /// Arc length at each sample.
    pub lengths: Vec<f32>,
    /// Which sides have houses: left and right of the way along it, from and to in metres of arc.
    pub built: [Option<(f32, f32)>; 2],
}

impl Street {
    fn new(
        name: &'static str,
        kind: Kind,
        widths: (f32, f32),
        knots: &[(f32, f32)],
        built: [Option<(f32, f32)>; 2],
    ) -> Self {
        let knots: Vec<Vec2> = knots.iter().map(|(x, z)| Vec2::new(*x, *z)).collect();
        let points = catmull_rom(&knots, 0.5);
        let mut lengths = vec![0.0];
        for pair in points.windows(2) {
            let last = *lengths.last().unwrap_or(&0.0);
            lengths.push(last + (pair[1] - pair[0]).length());
        }
        Self { name, kind, half_m: widths.0, pavement_m: widths.1, points, lengths, built }
    }

    /// Metres from end to end.
    pub fn length(&self) -> f32 {
        self.lengths.last().copied().unwrap_or(0.0)
    }

    /// From the centre line to the houses' fronts.
    pub fn frontage(&self) -> f32 {
        self.half_m + self.pavement_m
    }

    /// The point at an arc length and the unit direction there.
    pub fn at(&self, s: f32) -> (Vec2, Vec2) {
        let i = self.lengths.partition_point(|l| *l <= s).clamp(1, self.points.len() - 1);
        let (a, b) = (self.points[i - 1], self.points[i]);
        let t = (s - self.lengths[i - 1]) / (self.lengths[i] - self.lengths[i - 1]).max(1e-6);
        (a.lerp(b, t), (b - a).normalize_or(Vec2::X))
    }

    /// A point `offset` metres to the right of the way at an arc length.
    pub fn beside(&self, s: f32, offset: f32) -> Vec2 {
        // Directions averaged over 4 m, so that offset lines stay smooth.
        let (p, _) = self.at(s);
        let (a, _) = self.at((s - 2.0).max(0.0));
        let (b, _) = self.at((s + 2.0).min(self.length()));
        let t = (b - a).normalize_or(Vec2::X);
        p + Vec2::new(-t.y, t.x) * offset
    }

    /// Distance of a point to the centre line.
    pub fn distance(&self, p: Vec2) -> f32 {
        self.points.iter().step_by(3).map(|q| (*q - p).length_squared()).fold(f32::INFINITY, f32::min).sqrt()
    }
}

/// A smooth curve through knots, sampled about every `step_m`.
pub fn catmull_rom(knots: &[Vec2], step_m: f32) -> Vec<Vec2> {
    let mut out = Vec::new();
    for i in 0..knots.len() - 1 {
        let p0 = if i == 0 { knots[0] * 2.0 - knots[1] } else { knots[i - 1] };
        let p3 = if i + 2 < knots.len() { knots[i + 2] } else { knots[i + 1] * 2.0 - knots[i] };
        let (p1, p2) = (knots[i], knots[i + 1]);
        let n = ((p2 - p1).length() / step_m).ceil().max(1.0) as usize;
        for k in 0..n {
            let t = k as f32 / n as f32;
            let (t2, t3) = (t * t, t * t * t);
            out.push(
                0.5 * (p1 * 2.0
                    + (p2 - p0) * t
                    + (p0 * 2.0 - p1 * 5.0 + p2 * 4.0 - p3) * t2
                    + (p1 * 3.0 - p0 - p2 * 3.0 + p3) * t3),
            );
        }
    }
    out.extend(knots.last());
    out
}

/// Every street.
pub fn streets() -> Vec<Street> {
    let (main, lane) = ((3.2, 2.0), (2.7, 0.0));
    let all = Some((0.0, 999.0));
    let street = Street::new;
    vec![
        street("high_street", Kind::Street, main, &[(3.0, 22.5), (5.0, 36.0), (1.0, 50.0), (0.0, 62.5)], [all, all]),
        street(
            "west_street",
            Kind::Street,
            main,
            &[
                (-30.0, 3.0),
                (-46.0, 6.0),
                (-66.0, 2.0),
                (-88.0, -12.0),
                (-112.0, -18.0),
                (-150.0, -14.0),
                (-230.0, -30.0),
            ],
            [Some((0.0, 118.0)), Some((0.0, 118.0))],
        ),
        street(
            "east_street",
            Kind::Street,
            main,
            &[(30.0, -3.0), (46.0, -7.0), (66.0, -4.0), (86.0, 8.0), (108.0, 12.0), (150.0, 4.0), (230.0, 20.0)],
            [Some((0.0, 112.0)), Some((0.0, 112.0))],
        ),
        street(
            "church_lane",
            Kind::Lane,
            lane,
            &[(-27.0, -22.5), (-30.0, -40.0), (-27.0, -62.0), (-12.0, -82.0), (8.0, -96.0)],
            [Some((0.0, 999.0)), Some((44.0, 999.0))],
        ),
        street(
            "mill_lane",
            Kind::Lane,
            lane,
            &[(27.0, -22.5), (29.0, -42.0), (34.0, -62.0), (46.0, -84.0), (58.0, -104.0)],
            [Some((46.0, 999.0)), Some((0.0, 80.0))],
        ),
        street(
            "tanner_lane",
            Kind::Lane,
            lane,
            &[(-62.0, 8.0), (-58.0, 28.0), (-52.0, 46.0), (-50.0, 61.5)],
            [all, all],
        ),
        street("rope_lane", Kind::Lane, lane, &[(58.0, 0.5), (56.0, 20.0), (52.0, 42.0), (53.0, 61.5)], [all, all]),
        street(
            "quay",
            Kind::Lane,
            (6.1, 0.0),
            &[(-96.0, 68.4), (-40.0, 68.4), (40.0, 68.4), (96.0, 68.4)],
            [Some((4.0, 188.0)), None],
        ),
        street(
            "south_road",
            Kind::Lane,
            (3.0, 0.0),
            &[(0.0, 103.0), (-1.0, 118.0), (-14.0, 140.0), (-44.0, 168.0), (-90.0, 210.0)],
            [Some((12.0, 52.0)), Some((12.0, 40.0))],
        ),
        street("south_quay", Kind::Lane, (3.0, 0.0), &[(-96.0, 100.6), (96.0, 100.6)], [None, None]),
        street(
            "mill_track",
            Kind::Track,
            (1.8, 0.0),
            &[(58.0, -104.0), (66.0, -122.0), (62.0, -140.0), (70.0, -156.0), (80.0, -160.0)],
            [None, None],
        ),
    ]
}

/// The middle line of a street as 3D points on its paving, every few metres, shifted `offset` metres to the right.
pub fn path_points(street: &Street, from: f32, to: f32, offset: f32, step_m: f32) -> Vec<Vec3> {
    let n = ((to - from).abs() / step_m).ceil().max(2.0) as usize;
    (0..=n)
        .map(|i| {
            let p = street.beside(lerp(from, to, i as f32 / n as f32), offset);
            Vec3::new(p.x, ground_y(p.x, p.y) + PAVING_M, p.y)
        })
        .collect()
}
