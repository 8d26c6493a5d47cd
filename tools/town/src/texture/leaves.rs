//! Alpha cards: sprays of leaves, ivy and meadow tufts, painted leaf by leaf.

use super::{Encoded, png, srgb8};
use crate::math::{PI, cos, mix, scale3, sin, smoothstep};
use crate::rng::Rng;

const SIZE: usize = 512;

struct Canvas {
    rgb: Vec<[f32; 3]>,
    alpha: Vec<f32>,
}

/// How one leaf is drawn.
struct Leaf {
    at: (f32, f32),
    angle: f32,
    length: f32,
    width: f32,
    /// Where along its length a leaf is widest, 0 to 1.
    belly: f32,
    /// Depth of the lobes, 0 for a smooth edge.
    lobes: f32,
    color: [f32; 3],
}

impl Canvas {
    fn new() -> Self {
        Self { rgb: vec![[0.0; 3]; SIZE * SIZE], alpha: vec![0.0; SIZE * SIZE] }
    }

    fn stroke(&mut self, from: (f32, f32), to: (f32, f32), width: f32, color: [f32; 3]) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let len2 = (dx * dx + dy * dy).max(1e-9);
        self.paint(
            from.0.min(to.0) - width,
            from.1.min(to.1) - width,
            from.0.max(to.0) + width,
            from.1.max(to.1) + width,
            |x, y| {
                let t = (((x - from.0) * dx + (y - from.1) * dy) / len2).clamp(0.0, 1.0);
                let (ex, ey) = (x - from.0 - t * dx, y - from.1 - t * dy);
                let d = (ex * ex + ey * ey).sqrt() / width;
                (d < 1.0).then(|| scale3(color, 1.1 - 0.5 * d))
            },
        );
    }

    fn leaf(&mut self, leaf: &Leaf) {
        let (s, c) = (sin(leaf.angle), cos(leaf.angle));
        let r = leaf.length;
        self.paint(leaf.at.0 - r, leaf.at.1 - r, leaf.at.0 + r, leaf.at.1 + r, |x, y| {
            let (dx, dy) = (x - leaf.at.0, y - leaf.at.1);
            let along = (dx * c + dy * s) / leaf.length;
            let across = (-dx * s + dy * c) / (0.5 * leaf.width);
            if !(0.0..=1.0).contains(&along) {
                return None;
            }
            let p = if along < leaf.belly { along / leaf.belly } else { (1.0 - along) / (1.0 - leaf.belly) };
            let mut half = (p * (2.0 - p)).sqrt();
            half *= 1.0 - leaf.lobes * (0.5 + 0.5 * cos(along * PI * 6.0));
            if across.abs() > half {
                return None;
            }
            let vein = smoothstep(0.10, 0.02, across.abs())
                .max(0.5 * smoothstep(0.12, 0.0, ((along * 7.0 - across.abs() * 1.6).rem_euclid(1.0) - 0.5).abs()));
            let side = if across > 0.0 { 1.12 } else { 0.88 };
            Some(mix(scale3(leaf.color, side * (0.82 + 0.3 * along)), scale3(leaf.color, 1.5), 0.45 * vein))
        });
    }

    fn disc(&mut self, at: (f32, f32), r: f32, color: [f32; 3]) {
        self.paint(at.0 - r, at.1 - r, at.0 + r, at.1 + r, |x, y| {
            let (dx, dy) = ((x - at.0) / r, (y - at.1) / r);
            let d2 = dx * dx + dy * dy;
            (d2 < 1.0).then(|| scale3(color, 0.7 + 0.5 * (1.0 - d2).sqrt() - 0.2 * dy))
        });
    }

    /// Calls `shade` at each texel centre (in 0..1) of a box; `None` leaves the texel as it is.
    fn paint(&mut self, x0: f32, y0: f32, x1: f32, y1: f32, shade: impl Fn(f32, f32) -> Option<[f32; 3]>) {
        let n = SIZE as f32;
        let bound = |v: f32| (v * n).clamp(0.0, n) as usize;
        for y in bound(y0)..bound(y1 + 1.0 / n).min(SIZE) {
            for x in bound(x0)..bound(x1 + 1.0 / n).min(SIZE) {
                if let Some(c) = shade((x as f32 + 0.5) / n, (y as f32 + 0.5) / n) {
                    self.rgb[y * SIZE + x] = c;
                    self.alpha[y * SIZE + x] = 1.0;
                }
            }
        }
    }

    /// Spreads colour into the transparent texels, so that filtering and mips bring in no black.
    fn bleed(&mut self) {
        let mut known: Vec<bool> = self.alpha.iter().map(|a| *a > 0.0).collect();
        for step in [1i32, 2, 4, 8, 16, 32, 64] {
            let before = known.clone();
            for y in 0..SIZE as i32 {
                for x in 0..SIZE as i32 {
                    let i = y as usize * SIZE + x as usize;
                    if before[i] {
                        continue;
                    }
                    let mut sum = [0.0; 3];
                    let mut n = 0.0;
                    for (dx, dy) in [(-step, 0), (step, 0), (0, -step), (0, step)] {
                        let (px, py) =
                            ((x + dx).rem_euclid(SIZE as i32) as usize, (y + dy).rem_euclid(SIZE as i32) as usize);
                        if before[py * SIZE + px] {
                            let c = self.rgb[py * SIZE + px];
                            sum = [sum[0] + c[0], sum[1] + c[1], sum[2] + c[2]];
                            n += 1.0;
                        }
                    }
                    if n > 0.0 {
                        self.rgb[i] = scale3(sum, 1.0 / n);
                        known[i] = true;
                    }
                }
            }
        }
    }

    fn encode(mut self, name: &str) -> Result<Encoded, String> {
        self.bleed();
        let mut rgba = Vec::with_capacity(SIZE * SIZE * 4);
        for (c, a) in self.rgb.iter().zip(&self.alpha) {
            // Few levels of colour make the PNG small; leaves need no more.
            rgba.extend(c.map(|v| srgb8(v.clamp(0.03, 0.85)) & 0xF8 | 4));
            rgba.push((a * 255.0) as u8);
        }
        png(format!("{name}.png"), &rgba, SIZE, SIZE)
    }
}

/// A spray: a twig from the bottom middle with side twigs and leaves towards the edges.
struct Spray {
    n_leaves: usize,
    length: (f32, f32),
    slenderness: f32,
    belly: f32,
    lobes: f32,
    dark: [f32; 3],
    light: [f32; 3],
    seed: u64,
}

fn spray(s: &Spray) -> Canvas {
    let mut rng = Rng::new(s.seed);
    let mut canvas = Canvas::new();
    let bark = [0.10, 0.075, 0.05];
    let mut tips = vec![((0.5, 0.62), -PI / 2.0)];
    canvas.stroke((0.5, 0.98), (0.5, 0.35), 0.007, bark);
    for i in 0..9 {
        let y = 0.92 - 0.065 * i as f32;
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        let reach = rng.range(0.24, 0.42);
        let tip = (0.5 + side * reach, y - rng.range(0.05, 0.3));
        canvas.stroke((0.5, y), tip, 0.005, bark);
        for k in 1..5 {
            let t = k as f32 / 4.0;
            tips.push(((0.5 + side * reach * t, y + (tip.1 - y) * t), if side > 0.0 { -0.4 } else { PI + 0.4 }));
        }
    }
    for i in 0..s.n_leaves {
        let (p, heading) = tips[rng.below(tips.len())];
        let length = rng.range(s.length.0, s.length.1);
        let at = (
            (p.0 + rng.range(-0.12, 0.12)).clamp(length, 1.0 - length),
            (p.1 + rng.range(-0.14, 0.12)).clamp(length, 1.0 - length),
        );
        // Leaves painted later lie on top and catch more light.
        let light = 0.15 + 0.6 * i as f32 / s.n_leaves as f32 + rng.range(-0.15, 0.25);
        canvas.leaf(&Leaf {
            at,
            angle: heading + rng.range(-1.3, 1.3),
            length,
            width: length * s.slenderness,
            belly: s.belly,
            lobes: s.lobes,
            color: mix(s.dark, s.light, light.clamp(0.0, 1.0)),
        });
    }
    canvas
}

/// Leaves all over, for hedges and ivy: no twig, even cover with holes towards the edge.
fn cover(
    n: usize,
    length: (f32, f32),
    slenderness: f32,
    lobes: f32,
    dark: [f32; 3],
    light: [f32; 3],
    seed: u64,
) -> Canvas {
    let mut rng = Rng::new(seed);
    let mut canvas = Canvas::new();
    for i in 0..n {
        let (x, y) = (rng.unit(), rng.unit());
        let length = rng.range(length.0, length.1);
        let rim = (x.min(1.0 - x).min(y).min(1.0 - y) / 0.18).min(1.0);
        if rng.unit() > 0.15 + 0.85 * rim {
            continue;
        }
        let t = (0.1 + 0.7 * i as f32 / n as f32 + rng.range(-0.2, 0.25)).clamp(0.0, 1.0);
        canvas.leaf(&Leaf {
            at: (x.clamp(length, 1.0 - length), y.clamp(length, 1.0 - length)),
            angle: rng.range(0.2, PI - 0.2) + if rng.chance(0.3) { PI } else { 0.0 },
            length,
            width: length * slenderness,
            belly: 0.35,
            lobes,
            color: mix(dark, light, t),
        });
    }
    canvas
}

/// A tuft of meadow seen from the side; `petals` is what its flowers are coloured, if it has some.
fn tuft(seed: u64, n_blades: usize, petals: &[[f32; 3]]) -> Canvas {
    let mut rng = Rng::new(seed);
    let mut canvas = Canvas::new();
    for _ in 0..n_blades {
        let x = rng.range(0.12, 0.88);
        let top = (x + rng.range(-0.14, 0.14), rng.range(0.15, 0.6));
        let color = mix([0.055, 0.10, 0.025], [0.16, 0.22, 0.06], rng.unit());
        let color = if rng.chance(0.12) { [0.32, 0.28, 0.13] } else { color };
        let mid = ((x + top.0) * 0.5 + rng.range(-0.02, 0.02), (1.0 + top.1) * 0.5);
        canvas.stroke((x, 1.0), mid, 0.009, color);
        canvas.stroke(mid, top, 0.006, scale3(color, 1.15));
    }
    if petals.is_empty() {
        return canvas;
    }
    for _ in 0..26 {
        let at = (rng.range(0.12, 0.88), rng.range(0.12, 0.62));
        canvas.stroke((at.0 + rng.range(-0.05, 0.05), 1.0), at, 0.005, [0.07, 0.12, 0.03]);
        let color = rng.pick(petals);
        let r = rng.range(0.022, 0.036);
        for k in 0..6 {
            let a = k as f32 * PI / 3.0 + rng.range(0.0, 0.5);
            canvas.disc((at.0 + 0.7 * r * cos(a), at.1 + 0.7 * r * sin(a)), 0.62 * r, color);
        }
        canvas.disc(at, 0.38 * r, [0.55, 0.38, 0.05]);
    }
    canvas
}

/// Every card.
pub fn render_all() -> Result<Vec<Encoded>, String> {
    let lime = Spray {
        n_leaves: 210,
        length: (0.07, 0.12),
        slenderness: 0.85,
        belly: 0.35,
        lobes: 0.0,
        dark: [0.035, 0.062, 0.016],
        light: [0.14, 0.21, 0.045],
        seed: 301,
    };
    let oak = Spray {
        n_leaves: 190,
        length: (0.08, 0.14),
        slenderness: 0.55,
        belly: 0.6,
        lobes: 0.28,
        dark: [0.032, 0.052, 0.015],
        light: [0.115, 0.16, 0.040],
        seed: 302,
    };
    let apple = Spray {
        n_leaves: 170,
        slenderness: 0.5,
        belly: 0.45,
        lobes: 0.0,
        light: [0.16, 0.22, 0.065],
        seed: 303,
        ..oak
    };
    let poplar = Spray { n_leaves: 330, length: (0.05, 0.08), light: [0.10, 0.16, 0.040], seed: 304, ..lime };
    let mut apple_card = spray(&apple);
    let mut rng = Rng::new(305);
    for _ in 0..9 {
        apple_card.disc((rng.range(0.15, 0.85), rng.range(0.2, 0.8)), 0.034, [0.42, 0.075, 0.035]);
    }
    let petals = [[0.70, 0.69, 0.64], [0.55, 0.09, 0.06], [0.30, 0.22, 0.55], [0.72, 0.55, 0.08]];
    Ok(vec![
        spray(&lime).encode("leaf_lime")?,
        spray(&oak).encode("leaf_oak")?,
        apple_card.encode("leaf_apple")?,
        spray(&poplar).encode("leaf_poplar")?,
        cover(1500, (0.035, 0.055), 0.55, 0.0, [0.024, 0.045, 0.014], [0.085, 0.135, 0.035], 306)
            .encode("leaf_hedge")?,
        cover(560, (0.07, 0.12), 0.95, 0.22, [0.020, 0.040, 0.014], [0.075, 0.125, 0.035], 307).encode("leaf_ivy")?,
        tuft(308, 190, &[]).encode("tuft_grass")?,
        tuft(309, 110, &petals).encode("tuft_flowers")?,
        tuft(310, 60, &[[0.60, 0.07, 0.06], [0.66, 0.16, 0.30], [0.70, 0.69, 0.64]]).encode("tuft_geranium")?,
    ])
}
