//! What houses share: windows, shutters, window boxes, chimneys, doors, awnings, dormers.

use crate::catalog::{At, File, Node};
use crate::math::Frame;
use crate::mesh::Builder;
use crate::rng::Rng;
use crate::shape::skip;
use glam::{Vec2, Vec3};

/// A window's size and panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Window {
    /// 0.95 × 1.35 m, two casements of three panes.
    Casement,
    /// 1.05 × 1.75 m sash of eight panes.
    Sash,
    /// 0.70 × 0.80 m, four panes.
    Small,
    /// 2.30 × 1.75 m shop front of six panes.
    Shop,
}

impl Window {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Casement, Self::Sash, Self::Small, Self::Shop];

    /// Width and height in metres.
    pub fn size(self) -> (f32, f32) {
        match self {
            Self::Casement => (0.95, 1.35),
            Self::Sash => (1.05, 1.75),
            Self::Small => (0.70, 0.80),
            Self::Shop => (2.30, 1.75),
        }
    }

    fn panes(self) -> (usize, usize) {
        match self {
            Self::Casement => (2, 3),
            Self::Sash => (2, 4),
            Self::Small => (2, 2),
            Self::Shop => (3, 2),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Casement => "casement",
            Self::Sash => "sash",
            Self::Small => "small",
            Self::Shop => "shop",
        }
    }
}

/// The meshes by what they are, as indices into the buildings file.
pub struct Parts {
    windows: Vec<((Window, &'static str, bool), usize)>,
    shutters: Vec<((Window, &'static str), usize)>,
    window_box: usize,
    chimneys: [usize; 2],
}

/// Paints that window frames come in.
pub const FRAMES: [&str; 4] = ["paint_white", "paint_grey", "paint_brown", "paint_teal"];
/// Paints that shutters and doors come in.
pub const PAINTS: [&str; 7] =
    ["paint_green", "paint_blue", "paint_red", "paint_brown", "paint_grey", "paint_teal", "paint_yellow"];

impl Parts {
    /// Makes the shared meshes in `file`.
    pub fn build(file: &mut File) -> Self {
        let mut windows = Vec::new();
        for kind in Window::ALL {
            for frame in FRAMES {
                for is_lit in [false, true] {
                    let name = format!("window_{}_{}{}", kind.name(), &frame[6..], if is_lit { "_lit" } else { "" });
                    windows.push(((kind, frame, is_lit), file.add_mesh(name, window(kind, frame, is_lit))));
                }
            }
        }
        let mut shutters = Vec::new();
        for kind in [Window::Casement, Window::Sash] {
            for paint in PAINTS {
                let name = format!("shutter_{}_{}", kind.name(), &paint[6..]);
                shutters.push(((kind, paint), file.add_mesh(name, shutter(kind, paint))));
            }
        }
        let window_box = file.add_mesh("window_box", window_box());
        let chimneys = [
            file.add_mesh("chimney_brick", chimney("brick_red", 2)),
            file.add_mesh("chimney_stone", chimney("ashlar_grey", 3)),
        ];
        Self { windows, shutters, window_box, chimneys }
    }

    /// A window node; its origin is the middle of the opening's lower edge, on the wall's face.
    pub fn window(&self, kind: Window, frame: &'static str, is_lit: bool, at: At) -> Node {
        let key = (kind, frame, is_lit);
        let mesh = self.windows.iter().find(|(k, _)| *k == key).map(|(_, m)| *m);
        Node { name: format!("window_{}", kind.name()), mesh, at, children: Vec::new() }
    }

    /// A pair of shutters, as children of a window.
    pub fn shutters(&self, kind: Window, paint: &'static str, rng: &mut Rng) -> Vec<Node> {
        let mesh = self.shutters.iter().find(|(k, _)| *k == (kind, paint)).map(|(_, m)| *m);
        let half = kind.size().0 * 0.5;
        let open = [rng.range(3.0, 9.0), rng.range(3.0, 9.0)];
        [(-1.0, open[0]), (1.0, open[1])]
            .map(|(side, angle)| {
                // The mesh hangs from its left edge; the left leaf is turned about so that it lies on the wall to the left.
                let at = if side > 0.0 {
                    At::new(half + 0.02, 0.0, 0.03).yaw(-angle)
                } else {
                    At::new(-half - 0.02, 0.0, 0.03).yaw(180.0 + angle)
                };
                Node { name: "shutter".into(), mesh, at, children: Vec::new() }
            })
            .into()
    }

    /// A box of geraniums below a window.
    pub fn window_box(&self, kind: Window) -> Node {
        Node::mesh("window_box", self.window_box, At::new(0.0, 0.0, 0.0).scaled(kind.size().0 / 0.95, 1.0, 1.0))
    }

    /// A chimney stack; its origin is where the stack meets the roof.
    pub fn chimney(&self, kind: usize, at: At) -> Node {
        Node::mesh("chimney", self.chimneys[kind % 2], at)
    }
}

fn window(kind: Window, paint: &'static str, is_lit: bool) -> Builder {
    let (w, h) = kind.size();
    let (nx, ny) = kind.panes();
    let mut b = Builder::default();
    let (front, back) = (-0.09, -0.15);
    let p = Vec3::new;
    let rail = 0.065;
    b.shaded(0.92, |b| {
        b.block(paint, p(-w / 2.0, 0.0, back), p(w / 2.0, rail, front), 0.012, skip::BACK | skip::ENDS | skip::BOTTOM);
        b.block(paint, p(-w / 2.0, h - rail, back), p(w / 2.0, h, front), 0.012, skip::BACK | skip::ENDS | skip::TOP);
        b.block(
            paint,
            p(-w / 2.0, rail, back),
            p(rail - w / 2.0, h - rail, front),
            0.012,
            skip::BACK | skip::BOTTOM | skip::TOP,
        );
        b.block(
            paint,
            p(w / 2.0 - rail, rail, back),
            p(w / 2.0, h - rail, front),
            0.012,
            skip::BACK | skip::BOTTOM | skip::TOP,
        );
    });
    let bar = 0.018;
    for i in 1..nx {
        let x = -w / 2.0 + w * i as f32 / nx as f32;
        let half = if kind != Window::Shop && nx == 2 { 0.035 } else { bar };
        b.block(
            paint,
            p(x - half, rail, back),
            p(x + half, h - rail, front - 0.005),
            0.0,
            skip::BACK | skip::BOTTOM | skip::TOP,
        );
    }
    for j in 1..ny {
        let y = if kind == Window::Shop { h * 0.74 } else { h * j as f32 / ny as f32 };
        b.block(
            paint,
            p(rail - w / 2.0, y - bar, back),
            p(w / 2.0 - rail, y + bar, front - 0.012),
            0.0,
            skip::BACK | skip::ENDS,
        );
    }
    let glass = match (is_lit, kind) {
        (true, Window::Shop) => "glass_shop",
        (true, _) => "glass_lit",
        (false, Window::Small) => "glass_old",
        _ => "glass",
    };
    // Panes are never quite in one plane: each leans by a fraction of a degree, so reflections break up.
    let mut rng = Rng::new(4000 + kind as u64);
    for i in 0..nx {
        for j in 0..ny {
            let (x0, x1) = (-w / 2.0 + w * i as f32 / nx as f32, -w / 2.0 + w * (i + 1) as f32 / nx as f32);
            let (y0, y1) = (h * j as f32 / ny as f32, h * (j + 1) as f32 / ny as f32);
            let z: Vec<f32> = (0..4).map(|_| -0.13 + rng.range(-0.0025, 0.0025)).collect();
            let ao = if is_lit { 1.0 } else { 0.8 };
            b.polygon_ao(glass, &[p(x0, y0, z[0]), p(x1, y0, z[1]), p(x1, y1, z[2]), p(x0, y1, z[3])], &[ao; 4]);
        }
    }
    b
}

fn shutter(kind: Window, paint: &'static str) -> Builder {
    let (w, h) = (kind.size().0 * 0.5, kind.size().1);
    let mut b = Builder::default();
    let p = Vec3::new;
    b.uv_offset = Vec2::new(0.13, 0.4);
    for (x0, x1) in [(0.0, 0.06), (w - 0.06, w)] {
        b.block(paint, p(x0, 0.0, -0.018), p(x1, h, 0.018), 0.006, 0);
    }
    for y in [0.0, h * 0.5 - 0.04, h - 0.08] {
        b.block(paint, p(0.06, y, -0.016), p(w - 0.06, y + 0.08, 0.016), 0.0, skip::ENDS);
    }
    let n_slats = (h / 0.11) as usize;
    for i in 0..n_slats {
        let y = 0.06 + (h - 0.12) * i as f32 / n_slats as f32;
        let (lo, hi) = (p(0.055, y, 0.012), p(w - 0.055, y + 0.10, -0.010));
        b.polygon_ao(paint, &[lo, p(hi.x, lo.y, lo.z), hi, p(lo.x, hi.y, hi.z)], &[1.0, 1.0, 0.6, 0.6]);
        b.polygon_ao(
            paint,
            &[
                p(hi.x, lo.y, lo.z - 0.005),
                p(lo.x, lo.y, lo.z - 0.005),
                p(lo.x, hi.y, hi.z - 0.005),
                p(hi.x, hi.y, hi.z - 0.005),
            ],
            &[0.7; 4],
        );
    }
    b
}

fn window_box() -> Builder {
    let mut b = Builder::default();
    let p = Vec3::new;
    b.block("planks_dark", p(-0.46, -0.20, 0.02), p(0.46, -0.02, 0.22), 0.012, skip::BACK);
    b.polygon("soil", &[p(-0.44, -0.035, 0.21), p(0.44, -0.035, 0.21), p(0.44, -0.035, 0.03), p(-0.44, -0.035, 0.03)]);
    for (i, x) in [-0.33f32, -0.1, 0.12, 0.34].into_iter().enumerate() {
        for turn in [25.0, 115.0] {
            let z = 0.12 + 0.02 * (i as f32 - 1.5);
            b.within(Frame::at(x, -0.06, z).yaw(turn + 31.0 * i as f32), |b| {
                card(b, "tuft_geranium", 0.36, 0.34, 0.85)
            });
        }
    }
    b
}

/// An upright alpha card, centred, standing on y = 0. Its normals lean up so that light falls on it softly, on both sides, which
/// is why it has two faces of its own instead of one that is drawn from both sides with its normal turned down.
pub fn card(b: &mut Builder, mat: &'static str, width: f32, height: f32, foot_ao: f32) {
    use crate::mesh::Vertex;
    let n = Vec3::new(0.0, 0.97, 0.24);
    let w = width * 0.5;
    let corner =
        |x: f32, y: f32, u: f32, v: f32, ao: f32| Vertex { p: Vec3::new(x, y, 0.0), n, uv_m: Vec2::new(u, v), ao };
    let off = b.uv_offset;
    b.uv_offset = Vec2::ZERO;
    b.add(
        mat,
        &[
            corner(-w, 0.0, 0.0, 1.0, foot_ao),
            corner(w, 0.0, 1.0, 1.0, foot_ao),
            corner(w, height, 1.0, 0.0, 1.0),
            corner(-w, height, 0.0, 0.0, 1.0),
        ],
        &[[0, 1, 2], [0, 2, 3], [0, 2, 1], [0, 3, 2]],
    );
    b.uv_offset = off;
}

fn chimney(mat: &'static str, n_pots: usize) -> Builder {
    let mut b = Builder::default();
    let w = 0.38 + 0.26 * n_pots as f32;
    let d = 0.55;
    b.post(mat, Vec3::new(0.0, -1.6, 0.0), Vec3::new(w, 3.0, d), 0.012, skip::BOTTOM | skip::TOP);
    b.post("lead", Vec3::new(0.0, -0.14, 0.0), Vec3::new(w + 0.05, 0.2, d + 0.05), 0.01, skip::BOTTOM);
    b.post(mat, Vec3::new(0.0, 1.15, 0.0), Vec3::new(w + 0.10, 0.09, d + 0.10), 0.015, 0);
    b.post(mat, Vec3::new(0.0, 1.24, 0.0), Vec3::new(w + 0.18, 0.12, d + 0.18), 0.018, 0);
    b.post("ashlar_grey", Vec3::new(0.0, 1.36, 0.0), Vec3::new(w + 0.06, 0.06, d + 0.06), 0.02, skip::BOTTOM);
    for i in 0..n_pots {
        let x = (i as f32 - (n_pots as f32 - 1.0) * 0.5) * 0.27;
        let tall = 0.42 + 0.06 * ((i * 2) % 3) as f32;
        b.within(Frame::at(x, 1.42, 0.0), |b| {
            b.lathe(
                "terracotta",
                &[
                    (0.12, 0.0),
                    (0.095, tall - 0.06),
                    (0.12, tall - 0.05),
                    (0.12, tall),
                    (0.085, tall),
                    (0.0, tall - 0.16),
                ],
                8,
            );
        });
    }
    b
}

/// A door leaf hung at its left edge; 1.0 × 2.1 m, thickness 5 cm, outside face at z = 0.
pub fn door_leaf(paint: &'static str) -> Builder {
    let mut b = Builder::default();
    let p = Vec3::new;
    let (w, h) = (0.98, 2.09);
    b.block(paint, p(0.0, 0.01, -0.05), p(w, h, -0.015), 0.004, 0);
    for (x0, x1) in [(0.0, 0.12), (w - 0.12, w)] {
        b.block(paint, p(x0, 0.01, -0.02), p(x1, h, 0.0), 0.006, skip::BACK);
    }
    for (y0, y1) in [(0.01, 0.24), (0.92, 1.06), (1.55, 1.65), (h - 0.13, h)] {
        b.block(paint, p(0.12, y0, -0.02), p(w - 0.12, y1, 0.0), 0.006, skip::BACK | skip::ENDS);
    }
    for (x0, x1) in [(0.18, 0.46), (0.52, 0.80)] {
        b.block(paint, p(x0, 0.30, -0.018), p(x1, 0.86, -0.006), 0.01, skip::BACK);
        b.block(paint, p(x0, 1.11, -0.018), p(x1, 1.50, -0.006), 0.01, skip::BACK);
        b.polygon("glass_old", &[p(x0, 1.69, -0.012), p(x1, 1.69, -0.012), p(x1, 1.92, -0.012), p(x0, 1.92, -0.012)]);
    }
    b.ellipsoid("brass", p(w - 0.07, 1.0, 0.035), Vec3::splat(0.032), 10, 6);
    b.ellipsoid("brass", p(w - 0.07, 1.0, 0.006), p(0.04, 0.06, 0.008), 10, 4);
    b.block("brass", p(0.36, 0.97, -0.001), p(0.62, 1.02, 0.004), 0.002, skip::BACK);
    b
}

/// An awning hinged at its upper edge (the origin), 2.6 m wide, reaching 1.3 m out.
pub fn awning(canvas: &'static str) -> Builder {
    let mut b = Builder::default();
    let (w, reach, drop) = (2.7, 1.2, 0.44);
    let n = 12;
    b.grid(canvas, n, 4, |i, j| {
        let (s, t) = (i as f32 / n as f32, 1.0 - j as f32 / 4.0);
        let belly = 0.05 * crate::math::sin(crate::math::PI * t) * (1.0 - 0.25 * crate::math::cos(s * 25.0));
        let x = (s - 0.5) * w;
        (Vec3::new(x, -drop * t - belly, reach * t), Vec2::new(x, t * 1.44), 1.0 - 0.1 * (1.0 - t))
    });
    // The valance: scallops hanging from the front rail.
    let m = 27;
    b.grid(canvas, m, 1, |i, j| {
        let x = (i as f32 / m as f32 - 0.5) * w;
        let hang = if j == 0 { 0.14 + 0.06 * if i % 2 == 0 { 0.0 } else { 1.0 } } else { 0.0 };
        (Vec3::new(x, -drop - hang, reach + 0.02 * hang), Vec2::new(x, 1.44 + hang), 1.0)
    });
    b.beam(
        "paint_white",
        Vec3::new(-w / 2.0, -drop, reach - 0.01),
        Vec3::new(w / 2.0, -drop, reach - 0.01),
        0.035,
        0.035,
        0.008,
    );
    for x in [-w / 2.0 + 0.04, w / 2.0 - 0.04] {
        b.tube("iron", &[(Vec3::new(x, -0.75, 0.03), 0.012), (Vec3::new(x, -drop, reach), 0.012)], 6, false);
    }
    b
}
