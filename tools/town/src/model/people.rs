//! Simple, proportioned figures, 1.75 m tall, facing -Z: a body, and arms and legs that hang from their joints.

use crate::catalog::File;
use crate::math::Frame;
use crate::mesh::Builder;
use crate::shape::skip;
use glam::Vec3;

/// Clothes of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Stem of the models' names: person_NAME_body, _arm, _leg.
    pub name: &'static str,
    top: &'static str,
    bottom: &'static str,
    skin: &'static str,
    hair: &'static str,
    wears_skirt: bool,
    hat: Option<&'static str>,
    apron: Option<&'static str>,
}

/// Shoulder joint: x to either side, y.
pub const SHOULDER: (f32, f32) = (0.200, 1.40);
/// Hip joint: x to either side, y.
pub const HIP: (f32, f32) = (0.095, 0.90);

/// All figures.
pub const FIGURES: [Figure; 8] = [
    Figure {
        name: "clerk",
        top: "cloth_navy",
        bottom: "cloth_grey",
        skin: "skin",
        hair: "hair_brown",
        wears_skirt: false,
        hat: None,
        apron: None,
    },
    Figure {
        name: "farmer",
        top: "cloth_brown",
        bottom: "cloth_denim",
        skin: "skin",
        hair: "hair_grey",
        wears_skirt: false,
        hat: Some("straw"),
        apron: None,
    },
    Figure {
        name: "baker",
        top: "cloth_cream",
        bottom: "cloth_grey",
        skin: "skin_dark",
        hair: "cloth_cream",
        wears_skirt: false,
        hat: Some("cloth_cream"),
        apron: Some("cloth_cream"),
    },
    Figure {
        name: "lady",
        top: "cloth_red",
        bottom: "cloth_navy",
        skin: "skin",
        hair: "hair_brown",
        wears_skirt: true,
        hat: Some("cloth_red"),
        apron: None,
    },
    Figure {
        name: "student",
        top: "cloth_mustard",
        bottom: "cloth_denim",
        skin: "skin_dark",
        hair: "cloth_black",
        wears_skirt: false,
        hat: None,
        apron: None,
    },
    Figure {
        name: "florist",
        top: "cloth_green",
        bottom: "cloth_brown",
        skin: "skin",
        hair: "hair_grey",
        wears_skirt: true,
        hat: None,
        apron: Some("cloth_cream"),
    },
    Figure {
        name: "walker",
        top: "cloth_grey",
        bottom: "cloth_black",
        skin: "skin",
        hair: "cloth_black",
        wears_skirt: false,
        hat: Some("cloth_black"),
        apron: None,
    },
    Figure {
        name: "girl",
        top: "cloth_cream",
        bottom: "cloth_red",
        skin: "skin_dark",
        hair: "cloth_black",
        wears_skirt: true,
        hat: None,
        apron: None,
    },
];

/// Adds every figure's models.
pub fn build(file: &mut File) {
    for f in FIGURES {
        file.add_single(&format!("person_{}_body", f.name), body(&f));
        file.add_single(&format!("person_{}_arm", f.name), arm(&f));
        file.add_single(&format!("person_{}_leg", f.name), leg(&f));
    }
}

fn body(f: &Figure) -> Builder {
    let mut b = Builder::default();
    let oval = Frame::IDENTITY.scale(1.0, 1.0, 0.66);
    let waist = [
        (0.0, 0.80),
        (0.165, 0.82),
        (0.185, 0.90),
        (0.160, 1.06),
        (0.175, 1.18),
        (0.205, 1.32),
        (0.190, 1.42),
        (0.105, 1.485),
        (0.06, 1.50),
    ];
    b.within(oval, |b| b.lathe(f.top, &waist, 14));
    if f.wears_skirt {
        b.within(Frame::IDENTITY.scale(1.0, 1.0, 0.8), |b| {
            b.lathe(
                f.bottom,
                &[(0.0, 0.50), (0.26, 0.42), (0.285, 0.43), (0.245, 0.66), (0.195, 0.90), (0.165, 1.03), (0.0, 1.04)],
                16,
            );
        });
    } else {
        // A belt where jacket and trousers meet.
        b.within(oval, |b| b.lathe("leather", &[(0.172, 0.955), (0.180, 0.96), (0.178, 0.995), (0.165, 1.0)], 14));
    }
    if let Some(apron) = f.apron {
        b.within(Frame::at(0.0, 0.0, -0.012), |b| {
            b.grid(apron, 6, 5, |i, j| {
                let (s, t) = (i as f32 / 6.0 - 0.5, j as f32 / 5.0);
                let y = 0.62 + 0.66 * t;
                let x = -s * (0.34 - 0.12 * t);
                let r = if y < 0.95 { 0.225 } else { 0.155 };
                (Vec3::new(x, y, -(r * r * 0.8 - x * x * 0.6).max(0.004).sqrt()), glam::Vec2::new(s, -y), 1.0)
            });
        });
    }
    b.lathe(f.skin, &[(0.058, 1.46), (0.052, 1.52), (0.055, 1.56)], 10);
    b.within(Frame::IDENTITY.scale(1.0, 1.0, 0.66), |b| {
        b.lathe(f.top, &[(0.095, 1.475), (0.085, 1.505), (0.070, 1.50)], 12)
    });
    let head = Vec3::new(0.0, 1.635, -0.015);
    b.ellipsoid(f.skin, head, Vec3::new(0.082, 0.118, 0.100), 14, 10);
    b.ellipsoid(f.skin, head + Vec3::new(0.0, -0.015, -0.100), Vec3::new(0.016, 0.026, 0.020), 6, 4);
    for s in [-1.0, 1.0] {
        b.ellipsoid(f.skin, head + Vec3::new(s * 0.083, -0.01, 0.008), Vec3::new(0.012, 0.030, 0.020), 6, 4);
        b.ellipsoid("rubber", head + Vec3::new(s * 0.032, 0.018, -0.088), Vec3::new(0.012, 0.008, 0.010), 6, 4);
    }
    b.ellipsoid(f.hair, head + Vec3::new(0.0, 0.030, 0.022), Vec3::new(0.090, 0.104, 0.096), 12, 8);
    if f.wears_skirt {
        b.ellipsoid(f.hair, head + Vec3::new(0.0, -0.03, 0.085), Vec3::new(0.065, 0.09, 0.05), 10, 6);
    }
    if let Some(hat) = f.hat {
        let wide = if hat == "straw" { 0.21 } else { 0.135 };
        b.within(Frame::at(0.0, 1.695, 0.005).pitch(-5.0), |b| {
            b.lathe(
                hat,
                &[
                    (0.09, -0.012),
                    (wide, -0.02),
                    (wide, 0.0),
                    (0.100, 0.008),
                    (0.092, 0.085),
                    (0.06, 0.105),
                    (0.0, 0.108),
                ],
                16,
            );
        });
    }
    // Shade under the jacket's hem and the chin.
    b.bake(|p, n| {
        if n.y < -0.3 {
            0.7
        } else if p.y > 1.45 && p.y < 1.54 {
            0.82
        } else {
            1.0
        }
    });
    b
}

fn arm(f: &Figure) -> Builder {
    let mut b = Builder::default();
    let p = Vec3::new;
    b.tube(
        f.top,
        &[
            (p(0.0, 0.035, 0.0), 0.030),
            (p(0.0, 0.0, 0.0), 0.058),
            (p(0.0, -0.14, 0.005), 0.052),
            (p(0.0, -0.29, 0.0), 0.044),
            (p(0.0, -0.42, -0.06), 0.040),
            (p(0.0, -0.52, -0.11), 0.038),
        ],
        9,
        true,
    );
    b.ellipsoid(f.skin, p(0.0, -0.575, -0.135), p(0.026, 0.062, 0.040), 8, 6);
    b
}

fn leg(f: &Figure) -> Builder {
    let mut b = Builder::default();
    let p = Vec3::new;
    let cloth = if f.wears_skirt { f.skin } else { f.bottom };
    let w = if f.wears_skirt { 0.78 } else { 1.0 };
    b.tube(
        cloth,
        &[
            (p(0.0, 0.03, 0.0), 0.085 * w),
            (p(0.0, -0.10, 0.0), 0.088 * w),
            (p(0.0, -0.42, -0.012), 0.064 * w),
            (p(0.0, -0.62, 0.01), 0.060 * w),
            (p(0.0, -0.80, 0.012), 0.050 * w),
        ],
        9,
        false,
    );
    b.block("leather", p(-0.046, -0.90, -0.175), p(0.046, -0.835, 0.075), 0.024, 0);
    b.block("leather", p(-0.044, -0.86, -0.03), p(0.044, -0.775, 0.07), 0.02, skip::BOTTOM);
    b
}
