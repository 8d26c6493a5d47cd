//! Tiling texture sets: base colour, normal (+Y up), occlusion-roughness-metallic, from one description of a surface.

pub mod cloth;
pub mod ground;
pub mod leaves;
pub mod masonry;
pub mod metal;
pub mod paving;
pub mod roofing;
pub mod wall;
pub mod wood;

use crate::math::pow;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use rayon::prelude::*;

/// A surface at one point.
#[derive(Clone, Copy, Debug)]
pub struct Texel {
    /// Linear RGB reflectance.
    pub albedo: [f32; 3],
    /// Metres above the surface's base.
    pub height_m: f32,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// 0 or 1.
    pub metallic: f32,
}

/// What a texture set is made from.
pub struct SetSpec {
    /// Also the files' stem.
    pub name: &'static str,
    /// Pixels on a side.
    pub size_px: u32,
    /// Metres that one repeat covers.
    pub tile_m: f32,
    /// The surface at (u, v) in 0..1, v down.
    pub surface: fn(f32, f32) -> Texel,
    /// How strongly hollows darken the occlusion channel (1: physical guess).
    pub cavity: f32,
}

/// What a set's base colour is multiplied by, so that the brightest material made from it has a factor of at most 1, which is
/// all that glTF allows.
pub fn gain(set: &str) -> [f32; 3] {
    match set {
        "brick" => [1.45, 1.7, 1.7],
        "clay_tile" => [1.18, 1.15, 1.0],
        "cobble" => [1.12, 1.0, 1.0],
        "timber" => [1.9, 2.0, 2.1],
        "bark" => [1.5, 1.45, 1.35],
        "cloth" => [1.05, 1.02, 1.0],
        _ => [1.0; 3],
    }
}

/// Every tiling set.
pub fn sets() -> Vec<SetSpec> {
    let set = |name, size_px, tile_m, cavity, surface| SetSpec { name, size_px, tile_m, surface, cavity };
    vec![
        set("plaster", 1024, 3.0, 1.0, wall::plaster as fn(f32, f32) -> Texel),
        set("brick", 1024, 2.0, 1.0, masonry::brick),
        set("ashlar", 1024, 2.4, 1.0, masonry::ashlar),
        set("rubble", 1024, 2.4, 0.8, masonry::rubble),
        set("clay_tile", 1024, 2.0, 0.8, roofing::clay_tile),
        set("slate", 512, 1.6, 1.0, roofing::slate),
        set("cobble", 1024, 2.4, 0.8, paving::cobble),
        set("flagstone", 1024, 3.2, 1.0, paving::flagstone),
        set("gravel", 512, 1.2, 0.8, paving::gravel),
        set("soil", 512, 2.0, 0.8, ground::soil),
        set("grass", 1024, 3.0, 0.6, ground::grass),
        set("fields", 512, 320.0, 0.0, ground::fields),
        set("water", 512, 8.0, 0.0, ground::water),
        set("timber", 512, 1.2, 1.0, wood::timber),
        set("planks", 512, 1.28, 1.0, wood::planks),
        set("painted_wood", 512, 1.0, 1.0, wood::painted),
        set("bark", 512, 0.8, 0.7, wood::bark),
        set("cloth", 512, 0.25, 0.5, cloth::weave),
        set("stripes", 512, 1.0, 0.5, cloth::stripes),
        set("iron", 512, 0.6, 1.0, metal::iron),
        set("brass", 256, 0.3, 1.0, metal::brass),
    ]
}

/// One encoded file.
pub struct Encoded {
    /// Relative to assets/town.
    pub path: String,
    /// The file's content.
    pub bytes: Vec<u8>,
}

/// The 8-bit sRGB code of a linear value.
pub fn srgb8(linear: f32) -> u8 {
    let x = linear.clamp(0.0, 1.0);
    let s = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * pow(x, 1.0 / 2.4) - 0.055 };
    (s * 255.0 + 0.5) as u8
}

/// Makes a set's three files: NAME_base.jpg, NAME_normal.jpg, NAME_orm.jpg.
pub fn render(spec: &SetSpec) -> Result<Vec<Encoded>, String> {
    let n = spec.size_px as usize;
    let texels: Vec<Texel> = (0..n * n)
        .into_par_iter()
        .map(|i| (spec.surface)(((i % n) as f32 + 0.5) / n as f32, ((i / n) as f32 + 0.5) / n as f32))
        .collect();
    let heights: Vec<f32> = texels.iter().map(|t| t.height_m).collect();
    let cavity = cavity_occlusion(&heights, n, spec.tile_m, spec.cavity);

    let mut base = Vec::with_capacity(n * n * 3);
    let gain = gain(spec.name);
    for t in &texels {
        // Reflectances outside this range do not occur outdoors, and break exposure.
        base.extend([0, 1, 2].map(|c| srgb8((t.albedo[c] * gain[c]).clamp(0.03, 0.85))));
    }
    let normal = normals_from_heights(&heights, n, spec.tile_m);
    let mut orm = Vec::with_capacity(n * n * 3);
    for (t, ao) in texels.iter().zip(&cavity) {
        orm.extend([*ao, t.roughness, t.metallic].map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8));
    }
    let (orm, orm_size) = if n > 512 { (halve(&orm, n), n / 2) } else { (orm, n) };
    Ok(vec![
        jpeg(format!("{}_base.jpg", spec.name), &base, n, 87)?,
        jpeg(format!("{}_normal.jpg", spec.name), &normal, n, 86)?,
        jpeg(format!("{}_orm.jpg", spec.name), &orm, orm_size, 84)?,
    ])
}

fn normals_from_heights(heights: &[f32], n: usize, tile_m: f32) -> Vec<u8> {
    let texel_m = tile_m / n as f32;
    let at = |x: usize, y: usize| heights[(y % n) * n + x % n];
    let mut out = Vec::with_capacity(n * n * 3);
    for y in 0..n {
        for x in 0..n {
            let dx = (at(x + 1, y) - at(x + n - 1, y)) / (2.0 * texel_m);
            let dy_down = (at(x, y + 1) - at(x, y + n - 1)) / (2.0 * texel_m);
            let normal = glam::Vec3::new(-dx, dy_down, 1.0).normalize();
            out.extend(normal.to_array().map(|c| ((c * 0.5 + 0.5) * 255.0 + 0.5) as u8));
        }
    }
    out
}

/// Points below their surroundings (over about 2% and 0.5% of the tile) see less sky.
fn cavity_occlusion(heights: &[f32], n: usize, tile_m: f32, strength: f32) -> Vec<f32> {
    if strength == 0.0 {
        return vec![1.0; n * n];
    }
    let mut ao = vec![1.0f32; n * n];
    for radius in [n / 128, n / 40] {
        let radius = radius.max(1);
        let blurred = box_blur(&box_blur(heights, n, radius), n, radius);
        let span_m = radius as f32 * tile_m / n as f32;
        for (a, (h, b)) in ao.iter_mut().zip(heights.iter().zip(&blurred)) {
            let depth = ((b - h) / span_m).max(0.0);
            *a *= 1.0 / (1.0 + 1.6 * strength * depth);
        }
    }
    ao
}

fn box_blur(src: &[f32], n: usize, radius: usize) -> Vec<f32> {
    let pass = |src: &[f32], stride_along: usize, stride_across: usize| {
        let mut out = vec![0.0f32; n * n];
        let width = 2 * radius + 1;
        for line in 0..n {
            let at = |i: usize| src[line * stride_across + (i % n) * stride_along];
            let mut sum: f64 = (0..width).map(|k| at(k + n - radius) as f64).sum();
            for i in 0..n {
                out[line * stride_across + i * stride_along] = (sum / width as f64) as f32;
                sum += at(i + radius + 1) as f64 - at(i + n - radius) as f64;
            }
        }
        out
    };
    pass(&pass(src, 1, n), n, 1)
}

fn halve(rgb: &[u8], n: usize) -> Vec<u8> {
    let half = n / 2;
    let mut out = Vec::with_capacity(half * half * 3);
    for y in 0..half {
        for x in 0..half {
            for c in 0..3 {
                let at = |dx: usize, dy: usize| rgb[((2 * y + dy) * n + 2 * x + dx) * 3 + c] as u32;
                out.push(((at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) / 4) as u8);
            }
        }
    }
    out
}

/// Encodes RGB rows as JPEG.
pub fn jpeg(path: String, rgb: &[u8], n: usize, quality: u8) -> Result<Encoded, String> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, quality)
        .write_image(rgb, n as u32, n as u32, ExtendedColorType::Rgb8)
        .map_err(|e| format!("{path}: {e}"))?;
    Ok(Encoded { path, bytes })
}

/// Encodes RGBA rows as PNG.
pub fn png(path: String, rgba: &[u8], width: usize, height: usize) -> Result<Encoded, String> {
    let mut bytes = Vec::new();
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::Adaptive)
        .write_image(rgba, width as u32, height as u32, ExtendedColorType::Rgba8)
        .map_err(|e| format!("{path}: {e}"))?;
    Ok(Encoded { path, bytes })
}

/// Every image of the town.
pub fn render_all() -> Result<Vec<Encoded>, String> {
    let mut all = Vec::new();
    for spec in sets() {
        all.extend(render(&spec)?);
    }
    all.extend(leaves::render_all()?);
    all.push(metal::clock_face()?);
    Ok(all)
}
