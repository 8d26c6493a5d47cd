//! Trees, hedges, ivy and tufts: bark tubes and alpha cards whose normals follow the crown.

use super::house_parts::card;
use crate::catalog::File;
use crate::math::{Frame, PI, TAU, cos, lerp, sin};
use crate::mesh::{Builder, Vertex};
use crate::rng::Rng;
use glam::{Vec2, Vec3};

/// A kind of tree.
struct Species {
    name: &'static str,
    leaf: &'static str,
    bark: &'static str,
    /// Metres.
    height: f32,
    /// Where the crown begins, metres.
    clear: f32,
    /// Half width of the crown, metres.
    half: f32,
    /// Trunk radius at the foot, metres.
    trunk: f32,
    n_cards: usize,
    card_m: f32,
}

/// Adds every kind in three shapes, and the smaller plants.
pub fn build(file: &mut File) {
    let species = [
        Species {
            name: "lime",
            leaf: "leaf_lime",
            bark: "bark",
            height: 11.5,
            clear: 2.6,
            half: 3.4,
            trunk: 0.24,
            n_cards: 330,
            card_m: 1.7,
        },
        Species {
            name: "oak",
            leaf: "leaf_oak",
            bark: "bark",
            height: 12.5,
            clear: 2.2,
            half: 5.2,
            trunk: 0.40,
            n_cards: 420,
            card_m: 2.0,
        },
        Species {
            name: "apple",
            leaf: "leaf_apple",
            bark: "bark_pale",
            height: 4.6,
            clear: 1.3,
            half: 2.1,
            trunk: 0.13,
            n_cards: 170,
            card_m: 1.15,
        },
        Species {
            name: "poplar",
            leaf: "leaf_poplar",
            bark: "bark_pale",
            height: 17.0,
            clear: 1.6,
            half: 1.9,
            trunk: 0.26,
            n_cards: 300,
            card_m: 1.8,
        },
        Species {
            name: "maple",
            leaf: "leaf_autumn",
            bark: "bark",
            height: 9.5,
            clear: 2.2,
            half: 3.3,
            trunk: 0.22,
            n_cards: 300,
            card_m: 1.6,
        },
    ];
    for (i, s) in species.iter().enumerate() {
        for variant in 0..3u64 {
            file.add_single(&format!("tree_{}_{variant}", s.name), tree(s, 800 + 10 * i as u64 + variant));
        }
    }
    file.add_single("hedge", hedge(3.0, 1.5, 0.8, 851));
    file.add_single("hedge_low", hedge(3.0, 0.75, 0.6, 852));
    file.add_single("bush", bush(853));
    for (name, seed, w, h) in [("ivy_large", 854u64, 5.0f32, 5.6f32), ("ivy_small", 855, 2.6, 3.2)] {
        file.add_single(name, ivy(seed, w, h));
    }
    for (name, mat, seed) in [("tufts_grass", "tuft_grass", 861u64), ("tufts_flowers", "tuft_flowers", 862)] {
        let mut b = Builder::default();
        let mut rng = Rng::new(seed);
        for _ in 0..14 {
            let r = 0.9 * rng.unit().sqrt();
            let a = rng.range(0.0, TAU);
            let h = rng.range(0.28, 0.5);
            b.within(Frame::at(r * cos(a), -0.04, r * sin(a)).yaw(rng.range(0.0, 180.0)), |b| {
                card(b, mat, h * 1.25, h, 0.6)
            });
        }
        file.add_single(name, b);
    }
}

/// A quad of leaves about a point, its normals turned towards `out`.
fn leaf_card(b: &mut Builder, mat: &'static str, center: Vec3, right: Vec3, up: Vec3, out: Vec3, ao: f32) {
    // The front faces outwards, so that whoever looks at the crown from outside sees the normals as they are meant.
    let right = if right.cross(up).dot(out) < 0.0 { -right } else { right };
    let face = right.cross(up).normalize_or(Vec3::Y);
    let n = (out * 0.9 + face * 0.22).normalize_or(Vec3::Y);
    let corner = |s: f32, t: f32| Vertex {
        p: center + right * s + up * t,
        n: (n + (right * s + up * t) * 0.25).normalize_or(n),
        uv_m: Vec2::new(0.5 + 0.5 * s, 0.5 - 0.5 * t),
        ao,
    };
    b.add(mat, &[corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)], &[[0, 1, 2], [0, 2, 3]]);
}

fn random_direction(rng: &mut Rng) -> Vec3 {
    let y = rng.range(-1.0, 1.0);
    let a = rng.range(0.0, TAU);
    let r = (1.0 - y * y).max(0.0).sqrt();
    Vec3::new(r * cos(a), y, r * sin(a))
}

fn tree(s: &Species, seed: u64) -> Builder {
    let mut rng = Rng::new(seed);
    let mut b = Builder::default();
    let crown_half = (s.height - s.clear) * 0.5;
    let center = Vec3::new(0.0, s.clear + crown_half, 0.0);
    let lean = Vec3::new(rng.range(-0.3, 0.3), 0.0, rng.range(-0.3, 0.3)) * s.half * 0.2;
    let trunk: Vec<(Vec3, f32)> = (0..=6)
        .map(|i| {
            let t = i as f32 / 6.0;
            let flare = if i == 0 { 1.35 } else { 1.0 };
            let wobble = Vec3::new(rng.range(-0.05, 0.05), 0.0, rng.range(-0.05, 0.05)) * t * s.half * 0.5;
            (lean * t + wobble + Vec3::Y * lerp(-0.3, s.height * 0.86, t), s.trunk * flare * (1.0 - 0.85 * t))
        })
        .collect();
    b.tube(s.bark, &trunk, 9, false);
    let mut tips = Vec::new();
    let n_limbs = 9;
    for i in 0..n_limbs {
        let t = 0.22 + 0.62 * (i as f32 + rng.unit() * 0.6) / n_limbs as f32;
        let base =
            trunk[((t * 6.0) as usize).min(5)].0.lerp(trunk[((t * 6.0) as usize + 1).min(6)].0, (t * 6.0).fract());
        let a = i as f32 * 2.4 + rng.range(-0.4, 0.4);
        let spread = s.half * (1.05 - 0.55 * t) * rng.range(0.65, 0.9);
        let rise = spread * rng.range(0.35, 0.9) * (0.6 * crown_half / s.half).max(0.7);
        let end = base + Vec3::new(cos(a) * spread, rise, sin(a) * spread);
        let mid = base.lerp(end, 0.5) + Vec3::Y * rng.range(-0.1, 0.25) * spread * 0.4;
        let r = s.trunk * 0.42 * (1.0 - 0.6 * t);
        b.tube(s.bark, &[(base, r), (mid, r * 0.65), (end, r * 0.25)], 5, false);
        tips.extend([end, mid.lerp(end, 0.5), mid]);
    }
    // Cards gather in clumps about the limbs' ends and on the crown's shell, so that the outline is lumpy and has gaps.
    let clumps: Vec<Vec3> = (0..26)
        .map(|_| {
            let d = random_direction(&mut rng);
            center + lean + Vec3::new(d.x * s.half, d.y * crown_half, d.z * s.half) * rng.range(0.62, 0.92)
        })
        .chain(tips)
        .collect();
    for _ in 0..s.n_cards {
        let clump = clumps[rng.below(clumps.len())];
        let spread = s.card_m * 0.55;
        let p = clump + random_direction(&mut rng) * spread * rng.unit();
        let rel = (p - center - lean) / Vec3::new(s.half, crown_half, s.half);
        let out = Vec3::new(rel.x, rel.y * 0.8 + 0.25, rel.z).normalize_or(Vec3::Y);
        let depth = rel.length().clamp(0.0, 1.1);
        let ao = lerp(0.42, 1.0, ((depth - 0.25) / 0.75).clamp(0.0, 1.0))
            * lerp(0.72, 1.0, (0.5 + 0.55 * rel.y).clamp(0.0, 1.0));
        let size = s.card_m * 0.5 * rng.range(0.75, 1.15);
        // Sprays point outward and droop a little.
        let up = (out + random_direction(&mut rng) * 0.75 - Vec3::Y * 0.15).normalize_or(Vec3::Y);
        let right = up.cross(random_direction(&mut rng)).normalize_or(Vec3::X);
        leaf_card(&mut b, s.leaf, p, right * size, up * size, out, ao.max(0.4) * rng.range(0.85, 1.0));
    }
    b
}

fn hedge(length: f32, height: f32, depth: f32, seed: u64) -> Builder {
    let mut rng = Rng::new(seed);
    let mut b = Builder::default();
    let n = (length * height * 34.0) as usize;
    for i in 0..n {
        let on_top = i % 4 == 0;
        let x = rng.range(-0.5, 0.5) * length;
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let (y, z, out) = if on_top {
            (height - 0.12, rng.range(-0.4, 0.4) * depth, Vec3::new(0.0, 1.0, 0.15 * side))
        } else {
            (rng.range(0.1, height - 0.1), side * depth * rng.range(0.30, 0.44), Vec3::new(0.0, 0.35, side))
        };
        let size = rng.range(0.24, 0.38);
        let tilt = random_direction(&mut rng) * 0.45;
        let face = (out + tilt).normalize_or(Vec3::Y);
        let right = face.cross(Vec3::Y + tilt * 0.3).normalize_or(Vec3::X);
        let up = right.cross(face);
        let ao = lerp(0.5, 1.0, (y / height).clamp(0.0, 1.0));
        leaf_card(&mut b, "leaf_hedge", Vec3::new(x, y, z), right * size, up * size, out.normalize(), ao);
    }
    // A dark core, so that no gap shows the other side.
    b.shaded(0.3, |b| {
        b.block(
            "leaf_core",
            Vec3::new(-length * 0.5, -0.2, -depth * 0.22),
            Vec3::new(length * 0.5, height * 0.8, depth * 0.22),
            0.08,
            0,
        );
    });
    b
}

fn bush(seed: u64) -> Builder {
    let mut rng = Rng::new(seed);
    let mut b = Builder::default();
    for _ in 0..90 {
        let d = random_direction(&mut rng);
        let out = Vec3::new(d.x, d.y.abs(), d.z);
        let p = Vec3::new(out.x * 0.75, 0.15 + out.y * 0.85, out.z * 0.75) * rng.range(0.6, 1.0);
        let right = out.cross(random_direction(&mut rng)).normalize_or(Vec3::X);
        let up = right.cross(out).normalize_or(Vec3::Y);
        let size = rng.range(0.25, 0.4);
        let mat = if rng.chance(0.15) { "tuft_flowers" } else { "leaf_hedge" };
        leaf_card(
            &mut b,
            mat,
            p,
            right * size,
            up * size,
            (out + Vec3::Y * 0.3).normalize(),
            lerp(0.5, 1.0, p.y.min(1.0)),
        );
    }
    b
}

/// Ivy climbing a wall in the plane z = 0, facing +Z: stems and overlapping cards, thinner towards its upper edge.
fn ivy(seed: u64, w: f32, h: f32) -> Builder {
    let mut rng = Rng::new(seed);
    let mut b = Builder::default();
    let top = |x: f32| h * (0.55 + 0.28 * sin(x * 2.3 / w * PI) + 0.17 * sin(x * 7.1 / w * PI + 1.0));
    for k in 0..7 {
        let mut x = rng.range(-0.12, 0.12) * w;
        let reach = (k as f32 - 3.0) / 3.0 * w * 0.42;
        let points: Vec<(Vec3, f32)> = (0..=7)
            .map(|i| {
                let t = i as f32 / 7.0;
                x += rng.range(-0.07, 0.07);
                (Vec3::new(x + reach * t, t * top(reach), 0.02), 0.022 * (1.0 - 0.7 * t))
            })
            .collect();
        b.tube("bark", &points, 5, false);
    }
    let n = (w * h * 13.0) as usize;
    for _ in 0..n {
        let x = rng.range(-0.5, 0.5) * w;
        let y = rng.unit() * h;
        let edge = (1.0 - y / top(x).max(0.1)).min(1.0 - (2.0 * x / w).abs() * 0.9);
        if edge < 0.0 || rng.unit() > 0.25 + 1.8 * edge {
            continue;
        }
        let size = rng.range(0.2, 0.34);
        let face = Vec3::new(rng.range(-0.35, 0.35), rng.range(-0.1, 0.5), 1.0).normalize();
        let right = Vec3::Y.cross(face).normalize();
        let roll = rng.range(-0.6, 0.6);
        let up = face.cross(right);
        let (r, u) = (right * cos(roll) + up * sin(roll), up * cos(roll) - right * sin(roll));
        let z = rng.range(0.05, 0.20);
        leaf_card(&mut b, "leaf_ivy", Vec3::new(x, y, z), r * size, u * size, Vec3::Z, lerp(0.62, 1.0, z / 0.2));
    }
    b
}
