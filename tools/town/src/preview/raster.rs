//! The rasteriser: bands of rows in parallel, a z-buffer, one sample per pixel.

use super::flat::{Draw, Flat};
use super::images::{Images, Pixels};
use super::{HEIGHT, WIDTH};
use crate::material::Texture;
use crate::math::{PI, cos, lerp, pow, sin, smoothstep};
use crate::texture::srgb8;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// A camera.
pub struct View {
    /// Metres.
    pub eye: Vec3,
    /// Unit.
    pub right: Vec3,
    /// Unit.
    pub up: Vec3,
    /// Unit.
    pub forward: Vec3,
    /// Pixels.
    pub focal: f32,
}

impl View {
    pub fn new(eye: Vec3, target: Vec3, fov_y_deg: f32) -> Self {
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

/// The picture, RGB rows.
pub fn render(flat: &Flat, view: &View, images: &Images) -> Vec<u8> {
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
        let corner =
            |k: usize| (world[i[k]], d.frame.normal(d.part.normals[i[k]]), d.part.uvs[i[k]], d.part.shades[i[k]]);
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
            out.push(Tri {
                screen,
                world: v.map(|v| v.0),
                normal: v.map(|v| v.1),
                uv: v.map(|v| v.2),
                shade: v.map(|v| v.3),
                draw: d,
            });
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
fn raster(
    t: &Tri,
    view: &View,
    images: &Images,
    sun: Vec3,
    y0: usize,
    n_rows: usize,
    depth: &mut [f32],
    color: &mut [Vec3],
) {
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
            Texture::Set(s) => {
                (get(format!("{s}_base.jpg")), get(format!("{s}_normal.jpg")), get(format!("{s}_orm.jpg")))
            }
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
        let shine =
            pow(n.dot(h).max(0.0), 2.0 / (roughness * roughness).max(0.003)) * 0.25 / (roughness * roughness).max(0.02);
        let ambient = Vec3::new(0.26, 0.32, 0.42) * lerp(0.45, 1.0, 0.5 + 0.5 * n.y) * occlusion;
        let sun_color = Vec3::new(2.0, 1.6, 1.15);
        let fresnel = f0 + (Vec3::ONE - f0) * pow(1.0 - n.dot(eye).abs().min(1.0), 5.0);
        let mirror = n * 2.0 * n.dot(eye) - eye;
        let reflection = sky(mirror) * fresnel * (1.0 - roughness) * occlusion;
        let glow = Vec3::from(mat.emissive) / 4000.0;
        Some(diffuse * (sun_color * lit + ambient) + f0 * sun_color * (shine * lit) + reflection + glow)
    }
}
