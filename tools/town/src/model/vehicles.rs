//! Things on wheels and water, facing -Z: cars, carts, boats; and birds.

use crate::catalog::File;
use crate::math::{Frame, PI, TAU, cos, lerp, sin, smoothstep};
use crate::mesh::Builder;

use glam::{Vec2, Vec3};

fn p(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Paints of cars.
pub const CARS: [&str; 4] = ["car_red", "car_silver", "car_blue", "car_cream"];
/// A car wheel's centre: x to either side, y, z of front and rear.
pub const WHEELS: (f32, f32, f32, f32) = (0.72, 0.31, -1.22, 1.18);

/// Adds everything.
pub fn build(file: &mut File) {
    for paint in CARS {
        file.add_single(paint, car(paint));
    }
    file.add_single("car_wheel", car_wheel());
    file.add_single("cart", cart());
    file.add_single("cart_wheel", cart_wheel());
    file.add_single("boat", boat("planks"));
    file.add_single("boat_dark", boat("planks_tarred"));
    for (name, mat) in [("bird", "feather"), ("crow", "feather_dark")] {
        file.add_single(&format!("{name}_body"), bird_body(mat));
        file.add_single(&format!("{name}_wing"), bird_wing(mat));
    }
}

/// A small hatchback: body sections lofted along z, cabin of glass with a painted roof.
fn car(paint: &'static str) -> Builder {
    let mut b = Builder::default();
    let length = 3.7;
    let z_at = |t: f32| lerp(-length * 0.5, length * 0.5, t);
    // Upper edge of the body and half width along the car (t = 0 at the nose).
    let top = |t: f32| {
        0.62 + 0.24 * smoothstep(0.0, 0.18, t) + 0.05 * smoothstep(0.2, 0.4, t) - 0.10 * smoothstep(0.93, 1.0, t)
    };
    let half = |t: f32| 0.80 * (1.0 - 0.16 * smoothstep(0.16, 0.0, t) - 0.10 * smoothstep(0.88, 1.0, t));
    let n = 22;
    // A section from the left sill over the bonnet to the right sill.
    let section = 14;
    b.grid(paint, section, n, |i, j| {
        let t = 1.0 - j as f32 / n as f32;
        let a = PI * (1.0 - i as f32 / section as f32);
        let (c, s) = (cos(a), sin(a));
        let square = |v: f32| v.signum() * crate::math::pow(v.abs(), 0.42);
        let y0 = 0.30;
        let mut y = y0 + (top(t) - y0) * square(s).max(0.0);
        let end = smoothstep(0.035, 0.0, t) + smoothstep(0.965, 1.0, t);
        y = lerp(y, y0 + (y - y0) * 0.78, end);
        (p(half(t) * square(c) * lerp(1.0, 0.93, end), y, z_at(t)), Vec2::new(a, t), if y < 0.4 { 0.75 } else { 1.0 })
    });
    for (t, flip) in [(0.0f32, false), (1.0, true)] {
        let z = z_at(t);
        let (w, y1) = (half(t) * 0.93, 0.3 + (top(t) - 0.3) * 0.78);
        let mut face = vec![
            p(w, 0.3, z),
            p(-w, 0.3, z),
            p(-w * 0.96, y1 * 0.9, z),
            p(-w * 0.8, y1, z),
            p(w * 0.8, y1, z),
            p(w * 0.96, y1 * 0.9, z),
        ];
        if flip {
            face.reverse();
        }
        b.polygon(paint, &face);
    }
    b.shaded(0.5, |b| {
        b.polygon("rubber", &[p(-0.72, 0.3, -1.8), p(0.72, 0.3, -1.8), p(0.72, 0.3, 1.8), p(-0.72, 0.3, 1.8)])
    });
    // Cabin: windscreen, sides and rear in one loft of glass, then roof and pillars.
    let ring = [(0.74, 0.86, -0.72), (0.74, 0.88, 1.45)];
    let roof = [(0.58, 1.40, -0.12), (0.58, 1.42, 1.12)];
    let (fl, rl) = (p(-ring[0].0, ring[0].1, ring[0].2), p(-ring[1].0, ring[1].1, ring[1].2));
    let (fr, rr) = (p(ring[0].0, ring[0].1, ring[0].2), p(ring[1].0, ring[1].1, ring[1].2));
    let (tfl, trl) = (p(-roof[0].0, roof[0].1, roof[0].2), p(-roof[1].0, roof[1].1, roof[1].2));
    let (tfr, trr) = (p(roof[0].0, roof[0].1, roof[0].2), p(roof[1].0, roof[1].1, roof[1].2));
    b.polygon("glass", &[fr, fl, tfl, tfr]);
    b.polygon("glass", &[rl, rr, trr, trl]);
    b.polygon("glass", &[fl, rl, trl, tfl]);
    b.polygon("glass", &[rr, fr, tfr, trr]);
    b.grid(paint, 6, 6, |i, j| {
        let (s, t) = (i as f32 / 6.0 * 2.0 - 1.0, j as f32 / 6.0);
        let z = lerp(1.18, -0.16, t);
        (p(s * 0.61, 1.405 + 0.055 * (1.0 - s * s) * (0.6 + 0.4 * sin(PI * t)), z), Vec2::new(s, t), 1.0)
    });
    for (a, c) in [(fl, tfl), (fr, tfr), (rl, trl), (rr, trr)] {
        b.beam(paint, a, c, 0.07, 0.07, 0.02);
    }
    for s in [-1.0f32, 1.0] {
        b.beam(paint, p(s * 0.735, 0.88, 0.30), p(s * 0.59, 1.41, 0.34), 0.07, 0.05, 0.015);
        b.ellipsoid("head_light", p(s * 0.52, 0.60, -1.80), p(0.13, 0.085, 0.06), 10, 6);
        b.block("tail_light", p(s * 0.58 - 0.08, 0.62, 1.79), p(s * 0.58 + 0.08, 0.76, 1.86), 0.02, 0);
        b.ellipsoid(paint, p(s * 0.86, 0.93, -0.52), p(0.09, 0.06, 0.05), 8, 6);
        // Wheel arches: dark discs that close the gap over the tyres.
        for z in [WHEELS.2, WHEELS.3] {
            b.within(Frame::at(s * 0.782, 0.34, z).yaw(s * 90.0), |b| {
                let arch: Vec<Vec3> =
                    (0..=12).map(|i| PI * i as f32 / 12.0).map(|a| p(0.40 * cos(a), 0.36 * sin(a), 0.026)).collect();
                b.polygon("rubber", &arch);
            });
        }
        b.block("steel", p(s * 0.8 - 0.012, 0.74, 0.05), p(s * 0.8 + 0.012, 0.77, 0.22), 0.008, 0);
    }
    b.block("rubber", p(-0.72, 0.32, -1.90), p(0.72, 0.46, -1.78), 0.04, 0);
    b.block("rubber", p(-0.74, 0.34, 1.78), p(0.74, 0.50, 1.90), 0.04, 0);
    b.block("paper", p(-0.24, 0.40, -1.915), p(0.24, 0.50, -1.895), 0.004, 0);
    b.block("paper", p(-0.24, 0.52, 1.86), p(0.24, 0.62, 1.885), 0.004, 0);
    b
}

/// Its axle is x.
fn car_wheel() -> Builder {
    let mut b = Builder::default();
    b.within(Frame::IDENTITY.roll(90.0), |b| {
        b.lathe(
            "rubber",
            &[(0.19, -0.095), (0.29, -0.10), (0.31, -0.07), (0.31, 0.07), (0.29, 0.10), (0.19, 0.095)],
            16,
        );
        b.lathe("steel", &[(0.0, -0.075), (0.06, -0.08), (0.17, -0.06), (0.195, -0.095)], 12);
        b.lathe("steel", &[(0.195, 0.095), (0.17, 0.06), (0.06, 0.08), (0.0, 0.075)], 12);
    });
    for k in 0..5 {
        let a = TAU * k as f32 / 5.0;
        for x in [-0.077f32, 0.077] {
            b.beam(
                "lead",
                p(x, 0.05 * cos(a), 0.05 * sin(a)),
                p(x * 0.9, 0.17 * cos(a), 0.17 * sin(a)),
                0.035,
                0.01,
                0.0,
            );
        }
    }
    b
}

/// A farm cart with hay; wheels are separate. It is pushed or drawn by its shafts at -Z.
fn cart() -> Builder {
    let mut b = Builder::default();
    for i in 0..5 {
        b.uv_offset = Vec2::new(0.3 * i as f32, 0.16 * i as f32);
        let x = -0.48 + 0.24 * i as f32;
        b.block("planks", p(x - 0.115, 0.72, -1.0), p(x + 0.115, 0.765, 1.0), 0.008, 0);
    }
    for s in [-1.0f32, 1.0] {
        for (k, y) in [0.82f32, 1.0].into_iter().enumerate() {
            b.uv_offset = Vec2::new(0.5 * k as f32, 0.3);
            b.block("planks", p(s * 0.62 - 0.02, y, -1.0), p(s * 0.62 + 0.02, y + 0.14, 1.0), 0.008, 0);
        }
        for z in [-0.9, 0.0, 0.9] {
            b.post("timber", p(s * 0.655, 0.66, z), p(0.05, 0.55, 0.07), 0.008, 0);
        }
        b.beam("timber", p(s * 0.42, 0.68, 1.0), p(s * 0.36, 0.82, -2.5), 0.08, 0.07, 0.015);
        b.block("planks", p(-0.6, 0.80, s * 0.98 - 0.02), p(0.6, 1.12, s * 0.98 + 0.02), 0.008, 0);
    }
    b.beam("timber", p(-0.7, 0.55, 0.1), p(0.7, 0.55, 0.1), 0.1, 0.1, 0.015);
    b.beam("timber", p(-0.4, 0.80, -2.42), p(0.4, 0.80, -2.42), 0.05, 0.05, 0.01);
    hay(&mut b);
    b
}

/// A lumpy heap on the cart's bed.
fn hay(b: &mut Builder) {
    use crate::noise::value;
    let (nx, nz) = (12, 18);
    b.grid("hay", nx, nz, |i, j| {
        let (s, t) = (i as f32 / nx as f32 * 2.0 - 1.0, 1.0 - j as f32 / nz as f32 * 2.0);
        let dome = (1.0 - s * s).max(0.0) * (1.0 - t * t * t * t).max(0.0);
        let lumps = value(s * 4.0 + 8.0, t * 6.0 + 8.0, (64, 64), 951)
            + 0.5 * value(s * 9.0 + 20.0, t * 13.0 + 20.0, (64, 64), 952);
        let y = 0.80 + 0.5 * crate::math::pow(dome, 0.6) * (0.65 + 0.35 * lumps);
        (p(s * 0.59, y, t * 0.95), Vec2::new(s * 0.7, -t), lerp(0.6, 1.0, dome.min(1.0)))
    });
}

/// Spoked, radius 0.55 m; its axle is x.
fn cart_wheel() -> Builder {
    let mut b = Builder::default();
    b.within(Frame::IDENTITY.roll(90.0), |b| {
        b.lathe("timber", &[(0.47, -0.035), (0.53, -0.035), (0.53, 0.035), (0.47, 0.035), (0.47, -0.035)], 24);
        b.lathe("iron", &[(0.53, -0.038), (0.55, -0.036), (0.55, 0.036), (0.53, 0.038)], 24);
        b.lathe("timber", &[(0.0, -0.13), (0.07, -0.12), (0.095, 0.0), (0.07, 0.12), (0.0, 0.13)], 12);
    });
    for k in 0..10 {
        let a = TAU * k as f32 / 10.0;
        b.beam("timber", p(0.0, 0.06 * cos(a), 0.06 * sin(a)), p(0.0, 0.49 * cos(a), 0.49 * sin(a)), 0.05, 0.04, 0.01);
    }
    b
}

/// A clinker rowing boat 4.2 m long; y = 0 is the waterline.
fn boat(mat: &'static str) -> Builder {
    let mut b = Builder::default();
    let n = 16;
    let strakes = 8;
    let half = |t: f32| {
        0.78 * crate::math::pow((1.0 - crate::math::pow((2.0 * t - 1.08).abs().min(1.0), 2.6)).max(0.0), 0.7)
            .max(if t > 0.9 { 0.42 } else { 0.015 })
    };
    let sheer = |t: f32| 0.42 + 0.28 * (1.0 - t) * (1.0 - t) + 0.10 * t * t;
    let hull = |t: f32, a: f32, inset: f32| {
        let w = (half(t) - inset).max(0.008);
        let y = lerp(-0.22 + inset, sheer(t), 1.0 - crate::math::pow(cos(a * PI * 0.5).max(0.0), 1.4));
        let x = w * crate::math::pow(sin(a.abs() * PI * 0.5), 0.7) * a.signum();
        p(x, y, lerp(-2.1, 2.1, t))
    };
    for (inset, is_inside) in [(0.0, false), (0.03, true)] {
        b.shaded(if is_inside { 0.72 } else { 1.0 }, |b| {
            b.grid(mat, n, strakes * 2, |i, j| {
                let t = if is_inside { 1.0 - i as f32 / n as f32 } else { i as f32 / n as f32 };
                let a = j as f32 / strakes as f32 - 1.0;
                (hull(t, a, inset), Vec2::new(t * 4.2, a * 0.7), 1.0)
            });
        });
    }
    let stern: Vec<Vec3> = (0..=strakes * 2).map(|j| hull(1.0, j as f32 / strakes as f32 - 1.0, 0.0)).collect();
    b.polygon(mat, &stern);
    let inner: Vec<Vec3> =
        (0..=strakes * 2).rev().map(|j| hull(1.0, j as f32 / strakes as f32 - 1.0, 0.0) - Vec3::Z * 0.03).collect();
    b.polygon(mat, &inner);
    for s in [-1.0f32, 1.0] {
        let rail: Vec<(Vec3, f32)> =
            (0..=n).map(|i| (hull(i as f32 / n as f32, s, 0.01) + Vec3::Y * 0.01, 0.03)).collect();
        b.tube("timber", &rail, 6, true);
    }
    for z in [-0.7f32, 0.5, 1.5] {
        let w = half((z + 2.1) / 4.2) - 0.04;
        b.block("planks", p(-w, 0.22, z - 0.13), p(w, 0.26, z + 0.13), 0.01, 0);
    }
    for s in [-1.0, 1.0] {
        b.tube("timber_grey", &[(p(s * 0.25, 0.30, 1.5), 0.02), (p(s * 0.35, 0.34, -0.9), 0.02)], 6, true);
        b.block("timber_grey", p(s * 0.35 - 0.07, 0.33, -1.5), p(s * 0.35 + 0.07, 0.35, -0.9), 0.008, 0);
    }
    b
}

fn bird_body(mat: &'static str) -> Builder {
    let mut b = Builder::default();
    b.ellipsoid(mat, Vec3::ZERO, p(0.055, 0.055, 0.17), 8, 6);
    b.ellipsoid(mat, p(0.0, 0.03, -0.17), p(0.038, 0.04, 0.055), 8, 6);
    b.within(Frame::at(0.0, 0.03, -0.21).pitch(-90.0), |b| b.lathe("orange", &[(0.012, 0.0), (0.0, 0.05)], 5));
    b.polygon(mat, &[p(-0.05, 0.0, 0.12), p(-0.09, 0.0, 0.32), p(0.09, 0.0, 0.32), p(0.05, 0.0, 0.12)]);
    b.polygon(mat, &[p(0.05, -0.005, 0.12), p(0.09, -0.005, 0.32), p(-0.09, -0.005, 0.32), p(-0.05, -0.005, 0.12)]);
    b
}

/// The right wing, hinged at x = 0.
fn bird_wing(mat: &'static str) -> Builder {
    let mut b = Builder::default();
    let top = [
        p(0.03, 0.0, 0.09),
        p(0.26, 0.02, 0.10),
        p(0.50, 0.0, 0.06),
        p(0.44, 0.0, -0.04),
        p(0.24, 0.02, -0.10),
        p(0.03, 0.0, -0.08),
    ];
    b.polygon(mat, &top);
    let bottom: Vec<Vec3> = top.iter().rev().map(|q| *q - Vec3::Y * 0.006).collect();
    b.polygon(mat, &bottom);
    b
}
