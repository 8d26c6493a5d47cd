//! Houses: a shell of walls and roof, and below it nodes for windows, shutters, boxes and chimneys.

use super::house_parts::{FRAMES, PAINTS, Parts, Window};
use super::roof::{Ends, Roof, gable, gutter};
use crate::catalog::{At, File, Node};
use crate::math::Frame;
use crate::mesh::Builder;
use crate::rng::Rng;
use crate::shape::{Opening, Wall, skip};
use glam::{Vec2, Vec3};

/// How walls are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Timber frame filled with plaster over a stone or brick ground floor.
    Timber,
    /// Brick with stone quoins.
    Brick,
    /// Rendered.
    Render,
    /// Rubble.
    Stone,
}

/// What a house is to be.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Model name.
    pub name: String,
    /// For everything left to chance.
    pub seed: u64,
    /// Metres along the street.
    pub width: f32,
    /// Metres away from it.
    pub depth: f32,
    /// Storeys below the eaves.
    pub n_floors: usize,
    /// Walls.
    pub style: Style,
    /// The main walls' material.
    pub wall: &'static str,
    /// Roof covering.
    pub roof: &'static str,
    /// Whether the ridge points at the street.
    pub is_gable_front: bool,
    /// Roof ends.
    pub ends: Ends,
    /// Roof pitch.
    pub pitch_deg: f32,
    /// Whether the ground floor is a shop.
    pub is_shop: bool,
}

/// A finished house: where things attach, in its own space (front at z = 0, facing +Z, y = 0 on the pavement).
#[derive(Clone, Debug)]
pub struct House {
    /// Model name.
    pub name: String,
    /// Metres.
    pub width: f32,
    /// Metres.
    pub depth: f32,
    /// Height of the eaves.
    pub eaves_y: f32,
    /// Walls.
    pub style: Style,
    /// Wall material, for telling neighbours apart.
    pub wall: &'static str,
    /// Lower left corner of the door's opening; the leaf hangs there.
    pub door: Vec3,
    /// Middle of the shop window's upper edge.
    pub shop_front: Option<Vec3>,
    /// A place for a wall lantern.
    pub lantern: Vec3,
    /// A place for a hanging sign.
    pub sign: Vec3,
}

const GROUND_M: f32 = 3.1;
const UPPER_M: f32 = 2.75;
/// Height of the floor above the pavement.
const FLOOR_M: f32 = 0.32;

struct Facade<'a> {
    spec: &'a Spec,
    parts: &'a Parts,
    rng: Rng,
    frame_paint: &'static str,
    shutter_paint: Option<&'static str>,
    has_boxes: bool,
    children: Vec<Node>,
}

/// Builds a house into `file`.
pub fn build(file: &mut File, parts: &Parts, spec: &Spec) -> House {
    let mut rng = Rng::new(spec.seed);
    let mut b = Builder { uv_offset: Vec2::new(rng.range(0.0, 3.0), rng.range(0.0, 3.0)), ..Builder::default() };
    let (w, d) = (spec.width, spec.depth);
    let eaves_y = FLOOR_M + GROUND_M + UPPER_M * (spec.n_floors - 1) as f32;
    let mut f = Facade {
        spec,
        parts,
        frame_paint: rng.pick(&FRAMES),
        shutter_paint: (spec.style != Style::Timber && rng.chance(0.75)).then(|| rng.pick(&PAINTS)),
        has_boxes: rng.chance(0.45),
        rng: Rng::new(spec.seed ^ 0xFACADE),
        children: Vec::new(),
    };

    let plinth = if spec.style == Style::Brick { "ashlar_grey" } else { "rubble_dark" };
    b.shaded(0.85, |b| {
        b.block(
            plinth,
            Vec3::new(-w / 2.0 - 0.03, -1.6, -d - 0.05),
            Vec3::new(w / 2.0 + 0.03, FLOOR_M, 0.05),
            0.02,
            skip::BOTTOM,
        );
    });
    let door_x = if spec.is_shop { w * 0.5 - 1.22 } else { f.rng.pick(&[-1.0, 1.0]) * (w * 0.5 - 1.3) };
    let shop_front = front(&mut b, &mut f, door_x);
    back_and_sides(&mut b, &mut f);
    doorway(&mut b, door_x);

    let (length, span) = if spec.is_gable_front { (d, w) } else { (w, d) };
    let roof = Roof {
        mat: spec.roof,
        trim: if spec.style == Style::Timber { "timber" } else { "planks_dark" },
        length,
        span,
        eaves_y,
        pitch_deg: spec.pitch_deg,
        overhang: 0.32,
        verge: if spec.is_gable_front { 0.28 } else { 0.06 },
        ends: spec.ends,
        sag: rng.range(0.04, 0.13),
    };
    let turn = if spec.is_gable_front { 90.0 } else { 0.0 };
    let center = Frame::at(0.0, 0.0, -d / 2.0).yaw(turn);
    b.within(center, |b| roof.build(b));
    gables(&mut b, &mut f, &roof);
    if !spec.is_gable_front {
        let eave = roof.surface_y(span * 0.5 + roof.overhang);
        gutter(&mut b, "zinc", -w / 2.0, w / 2.0, eave, roof.overhang, -door_x.signum() * (w / 2.0 - 0.12));
    }
    if spec.ends != Ends::Hip && !spec.is_gable_front && d > 7.0 {
        dormers(&mut b, &mut f, &roof);
    }
    chimneys(&mut f, &roof);

    let mesh = file.add_mesh(format!("{}_shell", spec.name), b);
    file.models.push(Node::mesh(spec.name.clone(), mesh, At::default()).with(f.children));
    House {
        name: spec.name.clone(),
        width: w,
        depth: d,
        eaves_y,
        style: spec.style,
        wall: spec.wall,
        door: Vec3::new(door_x - 0.5, FLOOR_M, -0.10),
        shop_front,
        lantern: Vec3::new(door_x - door_x.signum() * 0.95, FLOOR_M + 2.3, 0.02),
        sign: Vec3::new(-door_x.signum() * (w * 0.5 - 0.7), FLOOR_M + GROUND_M - 0.05, 0.02),
    }
}

/// The street side; returns the middle of the shop window's upper edge.
fn front(b: &mut Builder, f: &mut Facade, door_x: f32) -> Option<Vec3> {
    let spec = f.spec;
    let w = spec.width;
    let mut ground = vec![Opening { x: w * 0.5 + door_x - 0.5, y: FLOOR_M, w: 1.0, h: 2.1 }];
    let mut shop_front = None;
    if spec.is_shop {
        let (sw, sh) = Window::Shop.size();
        let x = (-0.55f32).max(-w * 0.5 + sw * 0.5 + 0.35).min(door_x - 0.5 - sw * 0.5 - 0.2);
        ground.push(Opening { x: w * 0.5 + x - sw * 0.5, y: 0.85, w: sw, h: sh });
        let is_lit = f.rng.chance(0.6);
        f.children.push(f.parts.window(Window::Shop, f.frame_paint, is_lit, At::new(x, 0.85, 0.0)));
        let paint = f.rng.pick(&PAINTS);
        let p = Vec3::new;
        b.block(paint, p(x - sw / 2.0 - 0.12, FLOOR_M, -0.01), p(x + sw / 2.0 + 0.12, 0.80, 0.045), 0.012, skip::BACK);
        b.block(paint, p(-w / 2.0 + 0.15, 2.78, -0.01), p(w / 2.0 - 0.15, 3.2, 0.07), 0.015, skip::BACK);
        b.block(paint, p(-w / 2.0 + 0.12, 3.2, -0.01), p(w / 2.0 - 0.12, 3.28, 0.14), 0.02, skip::BACK);
        shop_front = Some(p(x, 2.74, 0.08));
    } else {
        let kind = if spec.style == Style::Stone { Window::Small } else { Window::Casement };
        let free = if door_x > 0.0 { (-w * 0.5 + 0.3, door_x - 0.8) } else { (door_x + 0.8, w * 0.5 - 0.3) };
        row(f, free, 1.15, kind, &mut ground, w * 0.5, At::default());
    }
    let stone_ground = spec.style == Style::Timber && spec.seed.is_multiple_of(2);
    let ground_mat = if stone_ground { "rubble" } else { spec.wall };
    let ao = (0.72, 1.0);
    b.within(Frame::at(-w / 2.0, 0.0, 0.0), |b| {
        b.wall(&Wall {
            mat: ground_mat,
            reveal: ground_mat,
            width: w,
            y0: FLOOR_M,
            y1: FLOOR_M + GROUND_M,
            depth: 0.14,
            ao,
            openings: &ground,
        });
    });
    surrounds(b, f, &ground, w * 0.5, 0);
    let kind = if spec.style == Style::Brick || spec.n_floors == 4 { Window::Sash } else { Window::Casement };
    for floor in 1..spec.n_floors {
        let y0 = FLOOR_M + GROUND_M + UPPER_M * (floor - 1) as f32;
        let mut openings = Vec::new();
        let kind = if floor == spec.n_floors - 1 && spec.n_floors > 2 { Window::Casement } else { kind };
        let sill = if kind == Window::Sash { 0.55 } else { 0.85 };
        row(f, (-w * 0.5 + 0.3, w * 0.5 - 0.3), y0 + sill, kind, &mut openings, w * 0.5, At::default());
        let top = floor == spec.n_floors - 1;
        let ao = (1.0, if top { 0.62 } else { 1.0 });
        b.within(Frame::at(-w / 2.0, 0.0, 0.0), |b| {
            b.wall(&Wall {
                mat: spec.wall,
                reveal: spec.wall,
                width: w,
                y0,
                y1: y0 + UPPER_M,
                depth: 0.14,
                ao,
                openings: &openings,
            });
        });
        surrounds(b, f, &openings, w * 0.5, floor);
        match spec.style {
            Style::Timber => framing(b, &mut f.rng, w, y0, y0 + UPPER_M, &openings),
            _ => b.block(
                "ashlar",
                Vec3::new(-w / 2.0, y0 - 0.07, -0.01),
                Vec3::new(w / 2.0, y0 + 0.07, 0.045),
                0.018,
                skip::BACK | skip::ENDS,
            ),
        }
    }
    if spec.style == Style::Timber && !stone_ground {
        framing(b, &mut f.rng, w, FLOOR_M, FLOOR_M + GROUND_M, &ground);
    }
    if spec.style == Style::Brick || spec.style == Style::Stone {
        quoins(b, w, FLOOR_M, FLOOR_M + GROUND_M + UPPER_M * (spec.n_floors - 1) as f32 - 0.1);
    }
    shop_front
}

/// A row of windows evenly spread between two x; adds openings (x from the wall's left edge) and nodes.
fn row(f: &mut Facade, free: (f32, f32), sill_y: f32, kind: Window, openings: &mut Vec<Opening>, left: f32, at: At) {
    let (ww, wh) = kind.size();
    let pitch = if f.shutter_paint.is_some() && kind != Window::Small { 2.0 } else { 1.65 };
    let n = (((free.1 - free.0 + 0.5) / pitch) as usize).max(usize::from(free.1 - free.0 > ww + 0.3));
    let frame = at.frame();
    for i in 0..n {
        let x = free.0 + (free.1 - free.0) * (i as f32 + 0.5) / n as f32;
        openings.push(Opening { x: left + x - ww * 0.5, y: sill_y, w: ww, h: wh });
        let is_lit = f.rng.chance(0.10);
        let mut place = at;
        place.p = frame.point(Vec3::new(x, sill_y, 0.0));
        let mut node = f.parts.window(kind, f.frame_paint, is_lit, place);
        let is_front = at.turn_deg.y == 0.0;
        let gap = (free.1 - free.0) / n as f32;
        if let Some(paint) = f.shutter_paint
            && is_front
            && kind != Window::Small
            && gap > 1.9
        {
            node.children.extend(f.parts.shutters(kind, paint, &mut f.rng));
        }
        if f.has_boxes && is_front && f.rng.chance(0.7) {
            node.children.push(f.parts.window_box(kind));
        }
        f.children.push(node);
    }
}

/// Sills and lintels of stone (timber sills in timber walls).
fn surrounds(b: &mut Builder, f: &Facade, openings: &[Opening], left: f32, floor: usize) {
    let p = Vec3::new;
    for o in openings {
        let (x0, x1) = (o.x - left, o.x + o.w - left);
        let is_door = o.h > 2.0;
        let mat = if f.spec.style == Style::Timber && floor > 0 { "timber" } else { "ashlar" };
        if !is_door {
            b.block(mat, p(x0 - 0.06, o.y - 0.07, -0.13), p(x1 + 0.06, o.y + 0.005, 0.075), 0.012, skip::BACK);
        }
        if f.spec.style != Style::Timber {
            b.block(
                mat,
                p(x0 - 0.12, o.y + o.h - 0.002, -0.02),
                p(x1 + 0.12, o.y + o.h + 0.19, 0.03),
                0.014,
                skip::BACK,
            );
            if f.spec.style == Style::Render || is_door {
                for x in [x0 - 0.12, x1] {
                    b.block(mat, p(x, o.y, -0.02), p(x + 0.12, o.y + o.h, 0.022), 0.0, skip::BACK);
                }
            }
        }
    }
}

/// Posts, rails and braces over a timber-framed storey.
fn framing(b: &mut Builder, rng: &mut Rng, w: f32, y0: f32, y1: f32, openings: &[Opening]) {
    let (back, face) = (-0.02, 0.035);
    let half = w * 0.5;
    let mut beam = |b: &mut Builder, x0: f32, y0: f32, x1: f32, y1: f32, proud: f32| {
        b.uv_offset = Vec2::new(rng.range(0.0, 1.2), rng.range(0.0, 1.2));
        b.block("timber", Vec3::new(x0, y0, back), Vec3::new(x1, y1, face + proud), 0.012, skip::BACK);
    };
    beam(b, -half, y0 - 0.02, half, y0 + 0.20, 0.035);
    beam(b, -half, y1 - 0.18, half, y1 - 0.02, 0.012);
    let mut posts = vec![-half + 0.09, half - 0.09];
    let mut sills: Vec<(f32, f32, f32)> = Vec::new();
    for o in openings {
        let (x0, x1) = (o.x - half, o.x + o.w - half);
        posts.extend([x0 - 0.08, x1 + 0.08]);
        if o.h < 2.0 {
            sills.push((x0, x1, o.y - 0.12));
        }
        sills.push((x0, x1, o.y + o.h + 0.01));
    }
    posts.sort_by(f32::total_cmp);
    posts.dedup_by(|a, b| (*a - *b).abs() < 0.17);
    for x in &posts {
        beam(b, x - 0.08, y0 + 0.2, x + 0.08, y1 - 0.18, 0.0);
    }
    for (x0, x1, y) in sills {
        beam(b, x0, y, x1, (y + 0.12).min(y1 - 0.18), -0.004);
    }
    for (i, pair) in posts.windows(2).enumerate() {
        let (x0, x1) = (pair[0] + 0.08, pair[1] - 0.08);
        let is_open = openings.iter().any(|o| o.x - half < x1 - 0.1 && o.x + o.w - half > x0 + 0.1);
        if is_open || x1 - x0 < 0.35 {
            continue;
        }
        let (lo, hi) = (y0 + 0.2, y1 - 0.18);
        let mid = 0.5 * (lo + hi);
        let z = 0.003;
        if x1 - x0 > 0.7 {
            b.beam("timber", Vec3::new(x0, lo, z), Vec3::new(x1, hi, z), 0.14, 0.055, 0.01);
            b.beam("timber", Vec3::new(x0, hi, z - 0.004), Vec3::new(x1, lo, z - 0.004), 0.14, 0.055, 0.01);
        } else if i % 2 == 0 {
            b.beam("timber", Vec3::new(x0, lo, z), Vec3::new(x1, mid, z), 0.13, 0.055, 0.01);
        }
        b.block(
            "timber",
            Vec3::new(x0, mid - 0.06, back),
            Vec3::new(x1, mid + 0.06, face - 0.006),
            0.01,
            skip::BACK | skip::ENDS,
        );
    }
}

fn quoins(b: &mut Builder, w: f32, y0: f32, y1: f32) {
    let n = ((y1 - y0) / 0.32) as usize;
    for i in 0..n {
        let y = y0 + 0.32 * i as f32;
        let long = if i % 2 == 0 { 0.46 } else { 0.28 };
        for side in [-1.0f32, 1.0] {
            let (x0, x1) =
                if side < 0.0 { (-w / 2.0 - 0.01, -w / 2.0 + long) } else { (w / 2.0 - long, w / 2.0 + 0.01) };
            b.block("ashlar", Vec3::new(x0, y + 0.006, -0.3), Vec3::new(x1, y + 0.314, 0.025), 0.016, skip::BACK);
        }
    }
}

fn back_and_sides(b: &mut Builder, f: &mut Facade) {
    let spec = f.spec;
    let (w, d) = (spec.width, spec.depth);
    let top = FLOOR_M + GROUND_M + UPPER_M * (spec.n_floors - 1) as f32;
    let at = At::new(0.0, 0.0, -d).yaw(180.0);
    let mut openings = Vec::new();
    for floor in 0..spec.n_floors {
        let y = FLOOR_M + if floor == 0 { 0.9 } else { GROUND_M + UPPER_M * (floor - 1) as f32 + 0.85 };
        row(f, (-w * 0.5 + 0.6, w * 0.5 - 0.6), y, Window::Casement, &mut openings, w * 0.5, at);
    }
    let side_mat = match spec.style {
        Style::Timber => "plaster_white",
        _ => spec.wall,
    };
    let wall = |width: f32, openings: &[Opening], b: &mut Builder| {
        b.wall(&Wall {
            mat: side_mat,
            reveal: side_mat,
            width,
            y0: FLOOR_M,
            y1: top,
            depth: 0.14,
            ao: (0.72, 0.7),
            openings,
        });
    };
    b.within(at.frame().mul(Frame::at(-w / 2.0, 0.0, 0.0)), |b| wall(w, &openings, b));
    for (turn, x) in [(-90.0, -w / 2.0), (90.0, w / 2.0)] {
        let at = At::new(x, 0.0, -d / 2.0).yaw(turn);
        b.within(at.frame().mul(Frame::at(-d / 2.0, 0.0, 0.0)), |b| wall(d, &[], b));
    }
}

/// Frame, steps and the dark behind the door.
fn doorway(b: &mut Builder, door_x: f32) {
    let p = Vec3::new;
    let (x0, x1, y0) = (door_x - 0.5, door_x + 0.5, FLOOR_M);
    b.polygon("interior", &[p(x0, y0, -0.14), p(x0, y0, -0.9), p(x0, y0 + 2.1, -0.9), p(x0, y0 + 2.1, -0.14)]);
    b.polygon("interior", &[p(x1, y0 + 2.1, -0.14), p(x1, y0 + 2.1, -0.9), p(x1, y0, -0.9), p(x1, y0, -0.14)]);
    b.polygon("interior", &[p(x0, y0, -0.9), p(x1, y0, -0.9), p(x1, y0 + 2.1, -0.9), p(x0, y0 + 2.1, -0.9)]);
    b.polygon(
        "interior",
        &[p(x0, y0 + 2.1, -0.14), p(x0, y0 + 2.1, -0.9), p(x1, y0 + 2.1, -0.9), p(x1, y0 + 2.1, -0.14)],
    );
    b.polygon("planks_dark", &[p(x1, y0, -0.14), p(x1, y0, -0.9), p(x0, y0, -0.9), p(x0, y0, -0.14)]);
    b.block("ashlar_grey", p(x0 - 0.2, -1.6, 0.0), p(x1 + 0.2, FLOOR_M - 0.005, 0.32), 0.022, skip::BOTTOM);
    b.block("ashlar_grey", p(x0 - 0.3, -1.6, 0.3), p(x1 + 0.3, FLOOR_M * 0.5, 0.62), 0.022, skip::BOTTOM);
}

fn gables(b: &mut Builder, f: &mut Facade, roof: &Roof) {
    let spec = f.spec;
    if roof.ends == Ends::Hip {
        return;
    }
    let d = spec.depth;
    let turn = if spec.is_gable_front { 90.0 } else { 0.0 };
    let ridge = roof.ridge_y();
    for side in [90.0, -90.0] {
        let at = At::new(0.0, 0.0, -d / 2.0).yaw(turn + side);
        let frame = at.frame().mul(Frame::at(0.0, 0.0, roof.length * 0.5));
        let is_front = spec.is_gable_front && side < 0.0;
        let mat = if spec.style == Style::Timber && !is_front { "plaster_white" } else { spec.wall };
        let mut opening = None;
        if ridge - roof.eaves_y > 2.4 && (spec.is_gable_front || f.rng.chance(0.7)) {
            let (w, h) = Window::Small.size();
            let y = roof.eaves_y + 0.45;
            opening = Some(Opening { x: -w / 2.0, y, w, h });
            let origin = frame.point(Vec3::new(0.0, y, 0.0));
            let place = At { p: origin, turn_deg: Vec3::new(0.0, turn + side, 0.0), ..At::default() };
            let is_lit = f.rng.chance(0.2);
            f.children.push(f.parts.window(Window::Small, f.frame_paint, is_lit, place));
        }
        // Half-hips cut the tip; the part of the wall above the cut stays inside the roof.
        let apex = if roof.ends == Ends::HalfHip { ridge - 0.1 } else { ridge - 0.05 };
        b.within(frame, |b| {
            if roof.ends == Ends::HalfHip {
                let y_cut = roof.eaves_y + 0.60 * (ridge - roof.eaves_y);
                let half = |y: f32| 0.5 * roof.span * (ridge - y) / (ridge - roof.eaves_y);
                let p = |x: f32, y: f32| Vec3::new(x, y, 0.0);
                let (y0, h0, h1) = (roof.eaves_y, half(roof.eaves_y), half(y_cut));
                if let Some(o) = opening {
                    let (y1, y2) = (o.y, (o.y + o.h).min(y_cut - 0.02));
                    b.polygon(mat, &[p(-h0, y0), p(h0, y0), p(half(y1), y1), p(-half(y1), y1)]);
                    b.polygon(mat, &[p(-half(y1), y1), p(o.x, y1), p(o.x, y2), p(-half(y2), y2)]);
                    b.polygon(mat, &[p(o.x + o.w, y1), p(half(y1), y1), p(half(y2), y2), p(o.x + o.w, y2)]);
                    b.polygon(mat, &[p(-half(y2), y2), p(half(y2), y2), p(h1, y_cut), p(-h1, y_cut)]);
                } else {
                    b.polygon(mat, &[p(-h0, y0), p(h0, y0), p(h1, y_cut), p(-h1, y_cut)]);
                }
            } else {
                gable(b, mat, roof.span, roof.eaves_y, apex, opening);
            }
            if spec.style == Style::Timber && is_front {
                let half = 0.5 * roof.span;
                b.block(
                    "timber",
                    Vec3::new(-half, roof.eaves_y - 0.1, -0.02),
                    Vec3::new(half, roof.eaves_y + 0.12, 0.06),
                    0.012,
                    skip::BACK,
                );
                for x in [-half * 0.5, -0.48, 0.48, half * 0.5] {
                    let rise = (ridge - roof.eaves_y) * (1.0 - x.abs() / half) - 0.25;
                    let rise = if roof.ends == Ends::HalfHip { rise.min(0.58 * (ridge - roof.eaves_y)) } else { rise };
                    b.block(
                        "timber",
                        Vec3::new(x - 0.07, roof.eaves_y + 0.12, -0.02),
                        Vec3::new(x + 0.07, roof.eaves_y + rise, 0.035),
                        0.012,
                        skip::BACK,
                    );
                }
            }
        });
    }
}

fn dormers(b: &mut Builder, f: &mut Facade, roof: &Roof) {
    let spec = f.spec;
    let n = match f.rng.below(4) {
        0 => 0,
        1 => 1,
        _ => ((spec.width / 3.2) as usize).clamp(1, 3),
    };
    let z_front = roof.span * 0.5 - 1.1;
    let y = roof.surface_y(z_front) + 0.05;
    for i in 0..n {
        let x = spec.width * ((i as f32 + 0.5) / n as f32 - 0.5);
        let (w, h) = Window::Small.size();
        let (half, top) = (0.62, 1.05);
        let z = -spec.depth / 2.0 + z_front;
        // How far back until the dormer's eaves meet the slope.
        let run = |dy: f32| dy * (roof.span * 0.5) / (roof.ridge_y() - roof.eaves_y);
        b.within(Frame::at(x, y, z), |b| {
            let p = Vec3::new;
            let front = Opening { x: half - w / 2.0, y: 0.12, w, h };
            b.within(Frame::at(-half, 0.0, 0.0), |b| {
                b.wall(&Wall {
                    mat: "planks_dark",
                    reveal: "planks_dark",
                    width: 2.0 * half,
                    y0: -0.2,
                    y1: top,
                    depth: 0.14,
                    ao: (0.8, 0.75),
                    openings: &[front],
                });
            });
            let back = -run(top + 0.05);
            for s in [-1.0f32, 1.0] {
                let (foot, behind, above) = (p(s * half, -0.2, 0.0), p(s * half, top, back), p(s * half, top, 0.0));
                if s > 0.0 {
                    b.polygon(spec.roof, &[foot, behind, above])
                } else {
                    b.polygon(spec.roof, &[foot, above, behind])
                }
            }
            b.polygon("planks_dark", &[p(-half, top, 0.0), p(half, top, 0.0), p(0.0, top + 0.55, 0.0)]);
            let (e, ridge) = (half + 0.16, top + 0.58);
            let ye = ridge - (e / half) * 0.56;
            let deep = -run(0.62 + top);
            b.patch(
                spec.roof,
                [p(e, ye, 0.16), p(e, ye, back - 0.1), p(0.0, ridge, deep), p(0.0, ridge, 0.16)],
                2,
                2,
                0.0,
            );
            b.patch(
                spec.roof,
                [p(-e, ye, back - 0.1), p(-e, ye, 0.16), p(0.0, ridge, 0.16), p(0.0, ridge, deep)],
                2,
                2,
                0.0,
            );
            for s in [-1.0, 1.0] {
                b.beam(f.frame_paint, p(s * e, ye - 0.04, 0.15), p(0.0, ridge - 0.04, 0.15), 0.10, 0.04, 0.01);
                b.shaded(0.6, |b| {
                    let under = [
                        p(s * e, ye - 0.02, 0.16),
                        p(0.0, ridge - 0.02, 0.16),
                        p(0.0, ridge - 0.02, deep),
                        p(s * e, ye - 0.02, back),
                    ];
                    let flip = s > 0.0;
                    let order: Vec<Vec3> = if flip { under.to_vec() } else { under.iter().rev().copied().collect() };
                    b.polygon("planks_dark", &order);
                });
            }
            b.tube(spec.roof, &[(p(0.0, ridge, 0.16), 0.08), (p(0.0, ridge, deep), 0.08)], 6, true);
        });
        let is_lit = f.rng.chance(0.2);
        f.children.push(f.parts.window(Window::Small, f.frame_paint, is_lit, At::new(x, y + 0.12, z)));
    }
}

fn chimneys(f: &mut Facade, roof: &Roof) {
    let spec = f.spec;
    let kind = usize::from(spec.style == Style::Stone || spec.style == Style::Render);
    let ridge = roof.ridge_y();
    let mut add = |along: f32, across: f32| {
        let at = if spec.is_gable_front {
            (across, along - spec.depth / 2.0, 90.0)
        } else {
            (along, across - spec.depth / 2.0, 0.0)
        };
        f.children.push(f.parts.chimney(kind, At::new(at.0, ridge - 0.15 - across.abs() * 0.8, at.1).yaw(at.2)));
    };
    let reach = if roof.ends == Ends::Gable { roof.length * 0.5 - 0.75 } else { roof.length * 0.18 };
    add(-reach, 0.0);
    if !spec.seed.is_multiple_of(3) {
        add(reach, if spec.is_gable_front { 0.9 } else { -0.7 });
    }
}
