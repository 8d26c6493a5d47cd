//! A small software rasteriser to look at the town without a GPU: z-buffer, textures, sun and sky, no shadows.

use crate::catalog::{Catalog, Found, Node};
use crate::material::{Material, Texture, material};
use crate::math::{Frame, PI, TAU, cos, lerp, pow, sin, smoothstep};
use crate::mesh::Part;
use crate::scene::{Camera, Motion, Path as FollowPath, Scene, SceneNode};
use crate::texture::srgb8;
use crate::town;
use glam::{Mat3, Vec2, Vec3};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const WIDTH: usize = 1280;
const HEIGHT: usize = 720;

/// A primitive in its place.
pub struct Draw<'a> {
    mesh: &'a str,
    part: &'a Part,
    mat: &'static Material,
    frame: Frame,
    tint: Vec3,
    is_moving: bool,
    depth: usize,
}

/// A scene as a flat list.
pub struct Flat<'a> {
    draws: Vec<Draw<'a>>,
    n_lights: usize,
    n_nodes: usize,
    /// Name, draws, moving draws, triangles.
    groups: Vec<(String, usize, usize, usize)>,
    meshes: BTreeSet<*const Part>,
    materials: BTreeSet<&'static str>,
}

impl<'a> Flat<'a> {
    /// The scene at a frame.
    pub fn build(catalog: &'a Catalog, scene: &Scene, frame_idx: u32) -> Result<Self, String> {
        let mut flat = Self { draws: Vec::new(), n_lights: 0, n_nodes: 0, groups: Vec::new(), meshes: BTreeSet::new(), materials: BTreeSet::new() };
        let seconds = frame_idx as f32 / 60.0;
        for node in &scene.nodes {
            let (draws, moving, triangles) = flat.counts();
            flat.scene_node(catalog, scene, node, Frame::IDENTITY, Vec3::ONE, seconds, false, 1)?;
            let now = flat.counts();
            flat.groups.push((node.name.clone(), now.0 - draws, now.1 - moving, now.2 - triangles));
        }
        Ok(flat)
    }

    #[allow(clippy::too_many_arguments)]
    fn scene_node(
        &mut self,
        catalog: &'a Catalog,
        scene: &Scene,
        node: &SceneNode,
        parent: Frame,
        tint: Vec3,
        seconds: f32,
        is_moving: bool,
        depth: usize,
    ) -> Result<(), String> {
        let local = match &node.motion {
            Some(motion) => moved(motion, node.at.frame(), &scene.paths, seconds)?,
            None => node.at.frame(),
        };
        self.n_nodes += 1;
        let is_moving = is_moving || node.motion.is_some();
        let frame = parent.mul(local);
        self.n_lights += usize::from(node.light.is_some());
        if !node.model.is_empty() {
            let found = catalog.find(&node.model).ok_or_else(|| format!("no model {:?}", node.model))?;
            let own = node.tint.map_or(Vec3::ONE, Vec3::from);
            self.model_node(&found, found.node, frame, own, is_moving, depth);
        }
        for child in &node.children {
            self.scene_node(catalog, scene, child, frame, tint, seconds, is_moving, depth + 1)?;
        }
        Ok(())
    }

    fn model_node(&mut self, found: &Found<'a>, node: &'a Node, parent: Frame, tint: Vec3, is_moving: bool, depth: usize) {
        self.n_nodes += 1;
        let frame = parent.mul(node.at.frame());
        if let Some(mesh) = node.mesh {
            let (name, builder) = &found.file.meshes[mesh];
            for (mat, part) in &builder.parts {
                self.meshes.insert(part);
                self.materials.insert(mat);
                self.draws.push(Draw { mesh: name, part, mat: material(mat), frame, tint, is_moving, depth });
            }
        }
        node.children.iter().for_each(|c| self.model_node(found, c, frame, tint, is_moving, depth + 1));
    }

    fn counts(&self) -> (usize, usize, usize) {
        let moving = self.draws.iter().filter(|d| d.is_moving).count();
        (self.draws.len(), moving, self.draws.iter().map(|d| d.part.indices.len() / 3).sum())
    }

    /// Counts by top-level group, and of triangles within a camera's view.
    pub fn details(&self, scene: &Scene) -> String {
        let mut lines: Vec<String> = self
            .groups
            .iter()
            .map(|(name, draws, moving, triangles)| format!("  {name}: {draws} instances, {moving} moving, {triangles} triangles"))
            .collect();
        for (name, camera) in &scene.cameras {
            let views: Vec<View> = match camera {
                Camera::Still { position, target, fov_y_deg } => vec![View::new(*position, *target, *fov_y_deg)],
                Camera::Path { keys, fov_y_deg } => (0..=18)
                    .map(|i| key_at(keys, 100.0 * i as f32))
                    .map(|(p, t)| View::new(p, t, *fov_y_deg))
                    .collect(),
            };
            let millions: Vec<String> = views.iter().map(|v| format!("{:.2}", self.triangles_in(v) as f64 / 1e6)).collect();
            lines.push(format!("  camera {name}: {} M triangles in view", millions.join(" ")));
        }
        let mut by_mesh: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for d in &self.draws {
            let entry = by_mesh.entry(d.mesh).or_default();
            entry.0 += 1;
            entry.1 += d.part.indices.len() / 3;
        }
        let mut heavy: Vec<_> = by_mesh.into_iter().collect();
        heavy.sort_by_key(|(_, (_, triangles))| std::cmp::Reverse(*triangles));
        lines.extend(heavy.iter().take(24).map(|(name, (n, t))| format!("  mesh {name}: {n} instances, {t} triangles")));
        lines.join("\n")
    }

    /// Triangles of instances whose bounding sphere touches the view.
    fn triangles_in(&self, view: &View) -> usize {
        let (tx, ty) = (0.5 * WIDTH as f32 / view.focal, 0.5 * HEIGHT as f32 / view.focal);
        let is_in = |d: &&Draw| {
            let points = d.part.positions.iter();
            let (lo, hi) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
            let c = d.frame.point((lo + hi) * 0.5) - view.eye;
            let r = (d.frame.linear * ((hi - lo) * 0.5)).length();
            let (x, y, z) = (c.dot(view.right), c.dot(view.up), c.dot(view.forward));
            z > -r && x.abs() - z * tx < r * (1.0 + tx * tx).sqrt() && y.abs() - z * ty < r * (1.0 + ty * ty).sqrt()
        };
        self.draws.par_iter().filter(is_in).map(|d| d.part.indices.len() / 3).sum()
    }

    /// Counts.
    pub fn summary(&self) -> String {
        let triangles: usize = self.draws.iter().map(|d| d.part.indices.len() / 3).sum();
        let moving = self.draws.iter().filter(|d| d.is_moving).count();
        let depth = self.draws.iter().map(|d| d.depth + 1).max().unwrap_or(0);
        format!(
            "{} mesh instances ({moving} moving) of {} meshes and {} materials; {} nodes, up to {depth} deep; {} lamps; {:.2} M triangles",
            self.draws.len(),
            self.meshes.len(),
            self.materials.len(),
            self.n_nodes,
            self.n_lights,
            triangles as f64 / 1e6
        )
    }
}

fn axis_turn(axis: Vec3, radians: f32) -> Mat3 {
    let (a, s, c) = (axis.normalize_or(Vec3::Y), sin(radians), cos(radians));
    let k = 1.0 - c;
    Mat3::from_cols(
        Vec3::new(c + a.x * a.x * k, a.y * a.x * k + a.z * s, a.z * a.x * k - a.y * s),
        Vec3::new(a.x * a.y * k - a.z * s, c + a.y * a.y * k, a.z * a.y * k + a.x * s),
        Vec3::new(a.x * a.z * k + a.y * s, a.y * a.z * k - a.x * s, c + a.z * a.z * k),
    )
}

fn moved(motion: &Motion, at: Frame, paths: &[FollowPath], seconds: f32) -> Result<Frame, String> {
    Ok(match motion {
        Motion::Spin { axis, rpm, phase_deg } => at.then(axis_turn(*axis, (6.0 * rpm * seconds + phase_deg) * PI / 180.0)),
        Motion::Swing { axis, amplitude_deg, period_s, phase } => {
            at.then(axis_turn(*axis, amplitude_deg * PI / 180.0 * sin(TAU * (seconds / period_s + phase))))
        }
        Motion::Bob { amplitude_m, period_s, phase } => {
            Frame { origin: at.origin + *amplitude_m * sin(TAU * (seconds / period_s + phase)), ..at }
        }
        Motion::Circle { radius_m, period_s, phase } => {
            let turned = at.then(axis_turn(Vec3::Y, TAU * (seconds / period_s + phase)));
            turned.mul(Frame::at(*radius_m, 0.0, 0.0))
        }
        Motion::Follow { path, speed_mps, offset_m } => {
            let path = paths.iter().find(|p| p.name == *path).ok_or_else(|| format!("no path {path:?}"))?;
            follow(path, offset_m + speed_mps * seconds).mul(at)
        }
    })
}

fn follow(path: &FollowPath, distance: f32) -> Frame {
    let mut line = path.points.clone();
    if path.is_closed {
        line.push(path.points[0]);
    }
    let total: f32 = line.windows(2).map(|w| (w[1] - w[0]).length()).sum();
    let (mut s, mut is_back) = (distance.rem_euclid(total), false);
    if !path.is_closed {
        s = distance.rem_euclid(2.0 * total);
        if s > total {
            (s, is_back) = (2.0 * total - s, true);
        }
    }
    for w in line.windows(2) {
        let d = (w[1] - w[0]).length();
        if s <= d {
            let forward = ((w[1] - w[0]) / d.max(1e-6)) * if is_back { -1.0 } else { 1.0 };
            let right = forward.cross(Vec3::Y).normalize_or(Vec3::X);
            return Frame { linear: Mat3::from_cols(right, right.cross(forward), -forward), origin: w[0].lerp(w[1], s / d.max(1e-6)) };
        }
        s -= d;
    }
    Frame::at_point(line[0])
}

struct Pixels {
    width: usize,
    height: usize,
    rgba: Vec<[f32; 4]>,
    /// Half-size levels from 1 on.
    mips: Vec<(usize, usize, Vec<[f32; 4]>)>,
}

impl Pixels {
    fn decode(bytes: &[u8], is_srgb: bool) -> Result<Self, String> {
        let image = image::load_from_memory(bytes).map_err(|e| e.to_string())?.to_rgba8();
        let (width, height) = (image.width() as usize, image.height() as usize);
        let linear = |v: u8| {
            let x = v as f32 / 255.0;
            if !is_srgb { x } else if x <= 0.04045 { x / 12.92 } else { pow((x + 0.055) / 1.055, 2.4) }
        };
        let table: Vec<f32> = (0..=255).map(linear).collect();
        let rgba: Vec<[f32; 4]> = image
            .pixels()
            .map(|p| [table[p[0] as usize], table[p[1] as usize], table[p[2] as usize], p[3] as f32 / 255.0])
            .collect();
        let mut mips = Vec::new();
        let (mut w, mut h, mut level) = (width, height, rgba.clone());
        while w > 1 && h > 1 {
            let (nw, nh) = (w / 2, h / 2);
            let mut next = Vec::with_capacity(nw * nh);
            for y in 0..nh {
                for x in 0..nw {
                    let mut sum = [0.0; 4];
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let t = level[(2 * y + dy) * w + 2 * x + dx];
                        (0..4).for_each(|c| sum[c] += 0.25 * t[c]);
                    }
                    next.push(sum);
                }
            }
            mips.push((nw, nh, next.clone()));
            (w, h, level) = (nw, nh, next);
        }
        Ok(Self { width, height, rgba, mips })
    }

    fn sample(&self, uv: Vec2, texels: f32) -> [f32; 4] {
        let level = (libm::log2f(texels.max(1.0)) + 0.3) as usize;
        let (w, h, data) = match level {
            0 => (self.width, self.height, &self.rgba),
            n => match self.mips.get(n.min(self.mips.len()).wrapping_sub(1)) {
                Some((w, h, d)) => (*w, *h, d),
                None => (self.width, self.height, &self.rgba),
            },
        };
        let at = |v: f32, n: usize| ((v - v.floor()) * n as f32) as usize % n;
        data[at(uv.y, h) * w + at(uv.x, w)]
    }
}

type Images = BTreeMap<String, Pixels>;

fn decode_images(needed: &BTreeSet<&'static str>) -> Result<Images, String> {
    let folder = crate::root().join("assets/town");
    let mut names = BTreeSet::new();
    for name in needed {
        match material(name).texture {
            Texture::None => {}
            Texture::Set(set) => names.extend([format!("{set}_base.jpg"), format!("{set}_normal.jpg"), format!("{set}_orm.jpg")]),
            Texture::Card(card) => names.extend([format!("{card}.png")]),
            Texture::Image(image) => names.extend([format!("{image}.jpg")]),
        }
    }
    names
        .into_par_iter()
        .map(|name| {
            let path = folder.join(&name);
            let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e} (write the assets first)", path.display()))?;
            let is_srgb = !name.ends_with("_normal.jpg") && !name.ends_with("_orm.jpg");
            Ok((name, Pixels::decode(&bytes, is_srgb)?))
        })
        .collect()
}

struct View {
    eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    focal: f32,
}

impl View {
    fn new(eye: Vec3, target: Vec3, fov_y_deg: f32) -> Self {
        let forward = (target - eye).normalize_or(Vec3::NEG_Z);
        let right = forward.cross(Vec3::Y).normalize_or(Vec3::X);
        let half = fov_y_deg * PI / 360.0;
        Self { eye, right, up: right.cross(forward), forward, focal: 0.5 * HEIGHT as f32 * cos(half) / sin(half) }
    }

    /// Pixel x, y and distance along the view.
    fn project(&self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        let z = d.dot(self.forward);
        let k = self.focal / z.max(1e-4);
        Vec3::new(WIDTH as f32 * 0.5 + d.dot(self.right) * k, HEIGHT as f32 * 0.5 - d.dot(self.up) * k, z)
    }
}

const NEAR: f32 = 0.1;
const BAND: usize = 48;

/// A triangle on screen with what shading needs at its corners.
struct Tri<'a> {
    screen: [Vec3; 3],
    world: [Vec3; 3],
    normal: [Vec3; 3],
    uv: [Vec2; 3],
    shade: [Vec3; 3],
    draw: &'a Draw<'a>,
}

fn render(flat: &Flat, view: &View, images: &Images) -> Vec<u8> {
    let triangles: Vec<Tri> = flat.draws.par_iter().flat_map_iter(|d| project_draw(d, view)).collect();
    let n_bands = HEIGHT.div_ceil(BAND);
    let mut bins: Vec<Vec<u32>> = vec![Vec::new(); n_bands];
    for (i, t) in triangles.iter().enumerate() {
        let lo = t.screen.iter().map(|p| p.y).fold(f32::INFINITY, f32::min).max(0.0) as usize / BAND;
        let hi = t.screen.iter().map(|p| p.y).fold(0.0, f32::max).min(HEIGHT as f32 - 1.0) as usize / BAND;
        (lo..=hi.min(n_bands - 1)).for_each(|b| bins[b].push(i as u32));
    }
    let sun = sun_direction();
    let mut rgb = vec![0u8; WIDTH * HEIGHT * 3];
    rgb.par_chunks_mut(WIDTH * BAND * 3).enumerate().for_each(|(band, out)| {
        let y0 = band * BAND;
        let n_rows = out.len() / (WIDTH * 3);
        let mut depth = vec![f32::INFINITY; WIDTH * n_rows];
        let mut color = vec![Vec3::ZERO; WIDTH * n_rows];
        for (i, c) in color.iter_mut().enumerate() {
            let (x, y) = ((i % WIDTH) as f32 - WIDTH as f32 / 2.0, HEIGHT as f32 / 2.0 - (y0 + i / WIDTH) as f32);
            *c = sky((view.forward * view.focal + view.right * x + view.up * y).normalize());
        }
        for i in &bins[band] {
            raster(&triangles[*i as usize], view, images, sun, y0, n_rows, &mut depth, &mut color);
        }
        for (c, px) in color.iter().zip(out.chunks_mut(3)) {
            let mapped = *c * 1.1 / (Vec3::ONE + *c * 0.45);
            px.copy_from_slice(&mapped.to_array().map(srgb8));
        }
    });
    rgb
}

fn sun_direction() -> Vec3 {
    let (e, a) = (28.0 * PI / 180.0, 225.0 * PI / 180.0);
    Vec3::new(cos(e) * sin(a), sin(e), -cos(e) * cos(a))
}

fn sky(d: Vec3) -> Vec3 {
    let t = smoothstep(-0.1, 0.7, d.y);
    Vec3::new(lerp(0.80, 0.22, t), lerp(0.82, 0.38, t), lerp(0.85, 0.75, t))
}

fn project_draw<'a>(d: &'a Draw<'a>, view: &View) -> Vec<Tri<'a>> {
    let world: Vec<Vec3> = d.part.positions.iter().map(|p| d.frame.point(*p)).collect();
    let screen: Vec<Vec3> = world.iter().map(|p| view.project(*p)).collect();
    let is_mirror = d.frame.is_mirror();
    let mut out = Vec::new();
    for t in d.part.indices.chunks(3) {
        let ids = if is_mirror { [t[0], t[2], t[1]] } else { [t[0], t[1], t[2]] };
        let i = ids.map(|i| i as usize);
        let s = i.map(|i| screen[i]);
        if s.iter().all(|p| p.z < NEAR)
            || s.iter().all(|p| p.x < 0.0)
            || s.iter().all(|p| p.x > WIDTH as f32)
            || s.iter().all(|p| p.y < 0.0)
            || s.iter().all(|p| p.y > HEIGHT as f32)
        {
            continue;
        }
        let corner = |k: usize| {
            (world[i[k]], d.frame.normal(d.part.normals[i[k]]), d.part.uvs[i[k]], d.part.shades[i[k]])
        };
        let mut ring: Vec<(Vec3, Vec3, Vec2, Vec3)> = (0..3).map(corner).collect();
        if s.iter().any(|p| p.z < NEAR) {
            ring = clip(&ring, view);
        }
        for k in 1..ring.len().saturating_sub(1) {
            let v = [ring[0], ring[k], ring[k + 1]];
            let screen = v.map(|v| view.project(v.0));
            let area = (screen[1] - screen[0]).truncate().perp_dot((screen[2] - screen[0]).truncate());
            if area >= 0.0 && !d.mat.is_double_sided {
                continue;
            }
            out.push(Tri { screen, world: v.map(|v| v.0), normal: v.map(|v| v.1), uv: v.map(|v| v.2), shade: v.map(|v| v.3), draw: d });
        }
    }
    out
}

fn clip(ring: &[(Vec3, Vec3, Vec2, Vec3)], view: &View) -> Vec<(Vec3, Vec3, Vec2, Vec3)> {
    let depth = |p: Vec3| (p - view.eye).dot(view.forward) - NEAR * 1.01;
    let mut out = Vec::new();
    for k in 0..ring.len() {
        let (a, b) = (ring[k], ring[(k + 1) % ring.len()]);
        let (da, db) = (depth(a.0), depth(b.0));
        if da >= 0.0 {
            out.push(a);
        }
        if (da >= 0.0) != (db >= 0.0) {
            let t = da / (da - db);
            out.push((a.0.lerp(b.0, t), a.1.lerp(b.1, t), a.2.lerp(b.2, t), a.3.lerp(b.3, t)));
        }
    }
    out
}

#[allow(clippy::too_many_arguments)]
fn raster(t: &Tri, view: &View, images: &Images, sun: Vec3, y0: usize, n_rows: usize, depth: &mut [f32], color: &mut [Vec3]) {
    let [a, b, c] = t.screen;
    let area = (b - a).truncate().perp_dot((c - a).truncate());
    if area.abs() < 1e-9 {
        return;
    }
    let lo = a.min(b).min(c);
    let hi = a.max(b).max(c);
    let (x_lo, x_hi) = (lo.x.max(0.0) as usize, (hi.x.min(WIDTH as f32 - 1.0)) as usize);
    let (y_lo, y_hi) = ((lo.y.max(y0 as f32)) as usize, hi.y.min((y0 + n_rows) as f32 - 1.0).max(0.0) as usize);
    let shader = Shader::new(t, images, sun);
    let uv_area = ((t.uv[1] - t.uv[0]).perp_dot(t.uv[2] - t.uv[0])).abs();
    let texels_per_px = (uv_area / area.abs()).sqrt();
    for y in y_lo..=y_hi {
        for x in x_lo..=x_hi {
            let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            let w0 = (b.truncate() - p).perp_dot(c.truncate() - p) / area;
            let w1 = (c.truncate() - p).perp_dot(a.truncate() - p) / area;
            let w2 = 1.0 - w0 - w1;
            if w0 < 0.0 || w1 < 0.0 || w2 < 0.0 {
                continue;
            }
            let inv = w0 / a.z + w1 / b.z + w2 / c.z;
            let z = 1.0 / inv;
            let i = (y - y0) * WIDTH + x;
            if z >= depth[i] {
                continue;
            }
            let w = [w0 / a.z * z, w1 / b.z * z, w2 / c.z * z];
            if let Some(c) = shader.shade(w, view, texels_per_px) {
                depth[i] = z;
                let fog = 1.0 - crate::math::exp(-z / 2600.0);
                color[i] = c.lerp(Vec3::new(0.78, 0.82, 0.88), fog);
            }
        }
    }
}

struct Shader<'a> {
    t: &'a Tri<'a>,
    base: Option<&'a Pixels>,
    normal: Option<&'a Pixels>,
    orm: Option<&'a Pixels>,
    tangent: Vec3,
    handedness: f32,
    sun: Vec3,
}

impl<'a> Shader<'a> {
    fn new(t: &'a Tri<'a>, images: &'a Images, sun: Vec3) -> Self {
        let get = |name: String| images.get(&name);
        let (base, normal, orm) = match t.draw.mat.texture {
            Texture::None => (None, None, None),
            Texture::Set(s) => (get(format!("{s}_base.jpg")), get(format!("{s}_normal.jpg")), get(format!("{s}_orm.jpg"))),
            Texture::Card(s) => (get(format!("{s}.png")), None, None),
            Texture::Image(s) => (get(format!("{s}.jpg")), None, None),
        };
        let (e1, e2) = (t.world[1] - t.world[0], t.world[2] - t.world[0]);
        let (d1, d2) = (t.uv[1] - t.uv[0], t.uv[2] - t.uv[0]);
        let det = d1.x * d2.y - d2.x * d1.y;
        let tangent = (e1 * d2.y - e2 * d1.y) * det.signum();
        Self { t, base, normal, orm, tangent, handedness: -det.signum(), sun }
    }

    fn shade(&self, w: [f32; 3], view: &View, texels_per_px: f32) -> Option<Vec3> {
        let t = self.t;
        let mat = t.draw.mat;
        let uv = t.uv[0] * w[0] + t.uv[1] * w[1] + t.uv[2] * w[2];
        let mut albedo = Vec3::from(mat.factor());
        if let Some(base) = self.base {
            let s = base.sample(uv, texels_per_px * base.width as f32);
            if matches!(mat.texture, Texture::Card(_)) && s[3] < 0.5 {
                return None;
            }
            albedo *= Vec3::new(s[0], s[1], s[2]);
        }
        let shade = t.shade[0] * w[0] + t.shade[1] * w[1] + t.shade[2] * w[2];
        albedo *= shade * t.draw.tint;
        let world = t.world[0] * w[0] + t.world[1] * w[1] + t.world[2] * w[2];
        let eye = (view.eye - world).normalize_or(Vec3::Y);
        let mut n = (t.normal[0] * w[0] + t.normal[1] * w[1] + t.normal[2] * w[2]).normalize_or(Vec3::Y);
        let face = (t.world[1] - t.world[0]).cross(t.world[2] - t.world[0]);
        if mat.is_double_sided && face.dot(eye) < 0.0 {
            n = -n;
        }
        let (mut occlusion, mut roughness, mut metallic) = (1.0, mat.roughness, mat.metallic);
        if let Some(orm) = self.orm {
            let s = orm.sample(uv, texels_per_px * orm.width as f32);
            (occlusion, roughness, metallic) = (s[0], s[1] * roughness, s[2] * metallic);
        }
        if let Some(map) = self.normal {
            let s = map.sample(uv, texels_per_px * map.width as f32);
            let tx = (self.tangent - n * n.dot(self.tangent)).normalize_or(Vec3::X);
            let ty = n.cross(tx) * -self.handedness;
            // v runs down, +Y of the map runs up.
            n = (tx * (s[0] * 2.0 - 1.0) - ty * (s[1] * 2.0 - 1.0) + n * (s[2] * 2.0 - 1.0)).normalize_or(n);
        }
        let diffuse = albedo * (1.0 - metallic);
        let f0 = Vec3::splat(0.04).lerp(albedo, metallic);
        let lit = n.dot(self.sun).max(0.0);
        let h = (self.sun + eye).normalize_or(n);
        let shine = pow(n.dot(h).max(0.0), 2.0 / (roughness * roughness).max(0.003)) * 0.25 / (roughness * roughness).max(0.02);
        let ambient = Vec3::new(0.26, 0.32, 0.42) * lerp(0.45, 1.0, 0.5 + 0.5 * n.y) * occlusion;
        let sun_color = Vec3::new(2.0, 1.6, 1.15);
        let fresnel = f0 + (Vec3::ONE - f0) * pow(1.0 - n.dot(eye).abs().min(1.0), 5.0);
        let mirror = n * 2.0 * n.dot(eye) - eye;
        let reflection = sky(mirror) * fresnel * (1.0 - roughness) * occlusion;
        let glow = Vec3::from(mat.emissive) / 4000.0;
        Some(diffuse * (sun_color * lit + ambient) + f0 * sun_color * (shine * lit) + reflection + glow)
    }
}

fn save(path: &Path, rgb: &[u8]) -> Result<(), String> {
    image::save_buffer(path, rgb, WIDTH as u32, HEIGHT as u32, image::ExtendedColorType::Rgb8).map_err(|e| format!("{}: {e}", path.display()))
}

/// Draws cameras of the scene: NAME or NAME@FRAME.
pub fn cameras(folder: &Path, names: &[&str]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (catalog, scene) = town::build();
    let mut cache: Option<Images> = None;
    let stills: Vec<&str> = scene.cameras.iter().filter(|c| matches!(c.1, Camera::Still { .. })).map(|c| c.0).collect();
    for name in if names.is_empty() { &stills } else { names } {
        let (camera, frame) = name.split_once('@').map_or((*name, 0), |(n, f)| (n, f.parse().unwrap_or(0)));
        let view = if let Some(six) = camera.strip_prefix("at:") {
            let v: Vec<f32> = six.split(',').filter_map(|n| n.parse().ok()).collect();
            if v.len() != 7 {
                return Err(format!("{camera}: want at:X,Y,Z,X,Y,Z,FOV"));
            }
            View::new(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]), v[6])
        } else {
            let found = scene.cameras.iter().find(|c| c.0 == camera).ok_or_else(|| format!("no camera {camera:?}"))?;
            match &found.1 {
                Camera::Still { position, target, fov_y_deg } => View::new(*position, *target, *fov_y_deg),
                Camera::Path { keys, fov_y_deg } => {
                    let (p, t) = key_at(keys, frame as f32);
                    View::new(p, t, *fov_y_deg)
                }
            }
        };
        let flat = Flat::build(&catalog, &scene, frame)?;
        let images = match cache.take() {
            Some(images) => images,
            None => decode_images(&flat.materials)?,
        };
        let file = camera.replace([':', ','], "_");
        save(&folder.join(format!("{file}_{frame}.png")), &render(&flat, &view, &images))?;
        cache = Some(images);
    }
    Ok(())
}

fn key_at(keys: &[crate::scene::Key], frame: f32) -> (Vec3, Vec3) {
    let i = keys.partition_point(|k| (k.frame as f32) <= frame).clamp(1, keys.len() - 1);
    let get = |k: isize| &keys[k.clamp(0, keys.len() as isize - 1) as usize];
    let (a, b) = (get(i as isize - 1), get(i as isize));
    let t = ((frame - a.frame as f32) / (b.frame - a.frame).max(1) as f32).clamp(0.0, 1.0);
    let spline = |f: fn(&crate::scene::Key) -> Vec3| {
        let (p0, p1, p2, p3) = (f(get(i as isize - 2)), f(a), f(b), f(get(i as isize + 1)));
        0.5 * (p1 * 2.0 + (p2 - p0) * t + (p0 * 2.0 - p1 * 5.0 + p2 * 4.0 - p3) * (t * t) + (p1 * 3.0 - p0 - p2 * 3.0 + p3) * (t * t * t))
    };
    (spline(|k| k.position), spline(|k| k.target))
}

/// Draws models on their own, framed by their bounds.
pub fn models(folder: &Path, names: &[&str]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (catalog, _) = town::build();
    for name in names {
        let (model, turn) = name.split_once('@').map_or((*name, 35.0), |(n, t)| (n, t.parse().unwrap_or(35.0)));
        let scene = Scene { nodes: vec![SceneNode::model(model, crate::catalog::At::default())], ..Scene::default() };
        let flat = Flat::build(&catalog, &scene, 0)?;
        let points = flat.draws.iter().flat_map(|d| d.part.positions.iter().map(|p| d.frame.point(*p)));
        let (lo, hi) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)));
        let (center, radius) = ((lo + hi) * 0.5, (hi - lo).length() * 0.5);
        let a = turn * PI / 180.0;
        let eye = center + Vec3::new(sin(a) * 0.93, 0.36, cos(a) * 0.93) * radius * 2.5;
        let images = decode_images(&flat.materials)?;
        println!("{model}: {}; {lo:.2} to {hi:.2}", flat.summary());
        save(&folder.join(format!("{model}.png")), &render(&flat, &View::new(eye, center, 42.0), &images))?;
    }
    Ok(())
}

