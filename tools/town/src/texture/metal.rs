//! Metals, and the one image that is drawn for a single object: the church clock's face.

use super::{Encoded, Texel, jpeg, srgb8};
use crate::math::{TAU, atan2, mix, scale3, smoothstep};
use crate::noise::fbm;

/// Wrought iron under old black paint: hammer marks, rust where the paint is gone.
pub fn iron(u: f32, v: f32) -> Texel {
    let hammer = fbm(u, v, (14, 14), 2, 221);
    let grain = fbm(u, v, (90, 90), 2, 222);
    let rust = smoothstep(0.60, 0.72, fbm(u, v, (9, 9), 4, 223));
    let paint = scale3([0.040, 0.042, 0.045], 0.85 + 0.4 * grain);
    let albedo = mix(paint, scale3([0.20, 0.085, 0.040], 0.6 + 0.8 * grain), 0.8 * rust);
    Texel {
        albedo,
        height_m: 0.0035 * hammer + 0.001 * grain + 0.0006 * rust,
        roughness: 0.48 + 0.42 * rust,
        metallic: 0.0,
    }
}

/// Polished brass, a little tarnished.
pub fn brass(u: f32, v: f32) -> Texel {
    let scratches = fbm(u, v, (4, 90), 2, 231);
    let tarnish = smoothstep(0.5, 0.75, fbm(u, v, (6, 6), 4, 232));
    Texel {
        albedo: mix([0.80, 0.58, 0.25], [0.45, 0.30, 0.13], 0.6 * tarnish),
        height_m: 0.0003 * scratches,
        roughness: 0.24 + 0.3 * tarnish + 0.08 * scratches,
        metallic: 1.0,
    }
}

/// A white dial with twelve gilt batons, a minute ring and a dark rim.
pub fn clock_face() -> Result<Encoded, String> {
    let n = 512usize;
    let mut rgb = Vec::with_capacity(n * n * 3);
    for y in 0..n {
        for x in 0..n {
            let (px, py) = ((x as f32 + 0.5) / 256.0 - 1.0, 1.0 - (y as f32 + 0.5) / 256.0);
            let r = (px * px + py * py).sqrt();
            let turn = atan2(px, py) / TAU;
            let spoke = |n: f32| {
                let f = turn * n;
                (f - (f + 0.5).floor()).abs() / n * TAU * r
            };
            let soft = 0.008;
            let mut c = scale3([0.66, 0.63, 0.55], 0.9 + 0.12 * fbm(px * 0.5 + 0.5, py * 0.5 + 0.5, (9, 9), 4, 241));
            let ring =
                smoothstep(0.012, 0.012 - soft, (r - 0.80).abs()).max(smoothstep(0.012, 0.004, (r - 0.90).abs()));
            let minutes = smoothstep(0.010, 0.003, spoke(60.0)) * smoothstep(0.80, 0.81, r) * smoothstep(0.90, 0.89, r);
            c = mix(c, [0.04, 0.04, 0.05], ring.max(minutes));
            let width = if ((turn * 4.0) - (turn * 4.0 + 0.5).floor()).abs() < 0.04 { 0.050 } else { 0.030 };
            let baton =
                smoothstep(width, width - soft, spoke(12.0)) * smoothstep(0.56, 0.57, r) * smoothstep(0.77, 0.76, r);
            c = mix(c, [0.05, 0.045, 0.04], baton);
            c = mix(c, [0.07, 0.075, 0.085], smoothstep(0.93, 0.94, r));
            rgb.extend(c.map(srgb8));
        }
    }
    jpeg("clock_face.jpg".into(), &rgb, n, 88)
}
