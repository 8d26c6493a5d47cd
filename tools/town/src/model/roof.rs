//! Roofs: gable, hip and half-hip, with sagging slopes, ridge tiles, verges, soffits and gutters.

use crate::math::{Frame, PI, cos, lerp, sin};
use crate::mesh::Builder;
use crate::shape::Opening;
use glam::Vec3;

/// How a roof ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Walls up to the ridge.
    Gable,
    /// Slopes on all sides.
    Hip,
    /// Gables with their tips sloped.
    HalfHip,
}

/// A roof whose ridge runs along X through the origin of its frame.
pub struct Roof {
    /// Covering.
    pub mat: &'static str,
    /// Boards and soffits.
    pub trim: &'static str,
    /// Along the ridge, wall to wall, metres.
    pub length: f32,
    /// Across, wall to wall, metres.
    pub span: f32,
    /// Where the slopes meet the walls, metres.
    pub eaves_y: f32,
    /// Degrees.
    pub pitch_deg: f32,
    /// Beyond the walls at the eaves, metres.
    pub overhang: f32,
    /// Beyond the walls at the gables, metres.
    pub verge: f32,
    /// How it ends.
    pub ends: Ends,
    /// Of the ridge, metres.
    pub sag: f32,
}

impl Roof {
    fn slope(&self) -> f32 {
        sin(self.pitch_deg * PI / 180.0) / cos(self.pitch_deg * PI / 180.0)
    }

    /// The ridge's height in metres.
    pub fn ridge_y(&self) -> f32 {
        self.eaves_y + 0.5 * self.span * self.slope()
    }

    /// The surface's height at a distance across from the ridge.
    pub fn surface_y(&self, z: f32) -> f32 {
        self.ridge_y() - z.abs() * self.slope()
    }

    /// Adds it.
    pub fn build(&self, b: &mut Builder) {
        let (hl, hs) = (self.length * 0.5, self.span * 0.5 + self.overhang);
        let (ye, yr) = (self.surface_y(hs), self.ridge_y());
        let verge = if self.ends == Ends::Hip { self.overhang } else { self.verge };
        let hw = hl + verge;
        // How far in from the ends the ridge stops, and how high up the end slopes begin.
        let (inset, y_hip) = match self.ends {
            Ends::Gable => (0.0, yr),
            Ends::Hip => ((hs).min(hw * 0.92), ye),
            Ends::HalfHip => (0.36 * hs, lerp(ye, yr, 0.64)),
        };
        let at = |y: f32| hs * (yr - y) / (yr - ye);
        let (z_hip, r) = (at(y_hip), hw - inset);
        let nx = (self.length / 1.2).clamp(4.0, 12.0) as usize;
        for turn in [0.0, 180.0] {
            b.within(Frame::IDENTITY.yaw(turn), |b| {
                let p = Vec3::new;
                if self.ends == Ends::HalfHip {
                    self.slab(
                        b,
                        [p(-hw, ye, hs), p(hw, ye, hs), p(hw, y_hip, z_hip), p(-hw, y_hip, z_hip)],
                        nx,
                        3,
                        0.0,
                    );
                    self.slab(
                        b,
                        [p(-hw, y_hip, z_hip), p(hw, y_hip, z_hip), p(r, yr, 0.0), p(-r, yr, 0.0)],
                        nx,
                        2,
                        self.sag,
                    );
                } else {
                    self.slab(b, [p(-hw, ye, hs), p(hw, ye, hs), p(r, yr, 0.0), p(-r, yr, 0.0)], nx, 5, self.sag);
                }
                if self.ends != Ends::Gable {
                    self.slab(b, [p(hw, y_hip, z_hip), p(hw, y_hip, -z_hip), p(r, yr, 0.0), p(r, yr, 0.0)], 3, 3, 0.0);
                    for z in [z_hip, -z_hip] {
                        self.cap(b, p(hw, y_hip, z), p(r, yr, 0.0), 0.0);
                    }
                }
                if self.ends != Ends::Hip {
                    for side in [-1.0, 1.0] {
                        let x = side * (hw - 0.02);
                        b.beam(self.trim, p(x, ye - 0.07, hs), p(x, y_hip - 0.07, z_hip), 0.05, 0.17, 0.0);
                    }
                }
                // Fascia under the first row of tiles, and the soffit back to the wall.
                b.block(self.trim, p(-hw, ye - 0.17, hs - 0.035), p(hw, ye - 0.015, hs - 0.005), 0.0, 0);
                let soffit = [
                    p(-hw, ye - 0.12, hs - 0.3 - self.overhang),
                    p(hw, ye - 0.12, hs - 0.3 - self.overhang),
                    p(hw, ye - 0.12, hs),
                    p(-hw, ye - 0.12, hs),
                ];
                b.polygon_ao(self.trim, &soffit, &[0.5, 0.5, 0.7, 0.7]);
            });
        }
        self.cap(b, Vec3::new(-r, yr, 0.0), Vec3::new(r, yr, 0.0), self.sag);
    }

    /// A slope with its underside and the thickness of its lower edge.
    fn slab(&self, b: &mut Builder, c: [Vec3; 4], nx: usize, ny: usize, sag: f32) {
        b.patch(self.mat, c, nx, ny, sag);
        let down = Vec3::new(0.0, -0.06, 0.0);
        let under = [c[1] + down, c[0] + down, c[3] + down, c[2] + down];
        let (n, _) = ((under[1] - under[0]).cross(under[3] - under[0]), ());
        if n.length_squared() > 1e-6 {
            b.shaded(0.6, |b| b.polygon(self.trim, &under));
        }
        b.polygon(self.mat, &[c[0] + down, c[1] + down, c[1], c[0]]);
        if self.ends != Ends::Hip {
            b.polygon(self.mat, &[c[1] + down, c[2] + down, c[2], c[1]]);
            b.polygon(self.mat, &[c[3] + down, c[0] + down, c[0], c[3]]);
        }
    }

    /// Ridge tiles along an edge.
    fn cap(&self, b: &mut Builder, from: Vec3, to: Vec3, sag: f32) {
        let n = 8;
        let points: Vec<(Vec3, f32)> = (0..=n)
            .map(|i| {
                let t = i as f32 / n as f32;
                (from.lerp(to, t) - Vec3::Y * (sag * sin(PI * t) + 0.02), 0.115)
            })
            .collect();
        b.tube(self.mat, &points, 8, true);
    }
}

/// The triangle of wall under a gable, facing +Z, centred on x = 0, with an opening if there is one.
pub fn gable(b: &mut Builder, mat: &'static str, span: f32, y0: f32, apex: f32, opening: Option<Opening>) {
    let half = |y: f32| 0.5 * span * (apex - y) / (apex - y0);
    let p = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    let Some(o) = opening else {
        b.polygon_ao(mat, &[p(-half(y0), y0), p(half(y0), y0), p(0.0, apex)], &[1.0, 1.0, 0.8]);
        return;
    };
    let (y1, y2) = (o.y, o.y + o.h);
    b.polygon(mat, &[p(-half(y0), y0), p(half(y0), y0), p(half(y1), y1), p(-half(y1), y1)]);
    b.polygon(mat, &[p(-half(y1), y1), p(o.x, y1), p(o.x, y2), p(-half(y2), y2)]);
    b.polygon(mat, &[p(o.x + o.w, y1), p(half(y1), y1), p(half(y2), y2), p(o.x + o.w, y2)]);
    b.polygon_ao(mat, &[p(-half(y2), y2), p(half(y2), y2), p(0.0, apex)], &[1.0, 1.0, 0.8]);
}

/// A half-round gutter along the eaves and a downpipe to the ground, on the +Z side of a wall at z = 0.
pub fn gutter(b: &mut Builder, mat: &'static str, x0: f32, x1: f32, eaves_y: f32, overhang: f32, pipe_x: f32) {
    let p = Vec3::new;
    let z = overhang + 0.05;
    b.tube(mat, &[(p(x0, eaves_y - 0.04, z), 0.06), (p(x1, eaves_y - 0.04, z), 0.06)], 7, true);
    let r = 0.042;
    let run = [
        (p(pipe_x, eaves_y - 0.06, z), r),
        (p(pipe_x, eaves_y - 0.22, z - 0.04), r),
        (p(pipe_x, eaves_y - 0.52, 0.10), r),
        (p(pipe_x, eaves_y - 0.70, 0.075), r),
        (p(pipe_x, 0.35, 0.075), r),
        (p(pipe_x, 0.22, 0.20), r),
    ];
    b.tube(mat, &run, 7, true);
    for y in [0.8, eaves_y * 0.5, eaves_y - 0.9] {
        b.post("iron", p(pipe_x, y, 0.05), p(0.13, 0.035, 0.14), 0.006, 0);
    }
}
