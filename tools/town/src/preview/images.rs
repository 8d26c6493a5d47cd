//! Textures as the preview samples them.

use crate::material::{Texture, material};
use crate::math::pow;
use glam::Vec2;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// An image in linear floats with its mips.
pub struct Pixels {
    /// Pixels.
    pub width: usize,
    height: usize,
    rgba: Vec<[f32; 4]>,
    /// Half-size levels from 1 on.
    mips: Vec<(usize, usize, Vec<[f32; 4]>)>,
}

impl Pixels {
    pub fn decode(bytes: &[u8], is_srgb: bool) -> Result<Self, String> {
        let image = image::load_from_memory(bytes).map_err(|e| e.to_string())?.to_rgba8();
        let (width, height) = (image.width() as usize, image.height() as usize);
        let linear = |v: u8| {
            let x = v as f32 / 255.0;
            if !is_srgb {
                x
            } else if x <= 0.04045 {
                x / 12.92
            } else {
                pow((x + 0.055) / 1.055, 2.4)
            }
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

    pub fn sample(&self, uv: Vec2, texels: f32) -> [f32; 4] {
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

/// By file name.
pub type Images = BTreeMap<String, Pixels>;

/// Reads what some materials sample from assets/town.
pub fn decode_images(needed: &BTreeSet<&'static str>) -> Result<Images, String> {
    let folder = crate::root().join("assets/town");
    let mut names = BTreeSet::new();
    for name in needed {
        match material(name).texture {
            Texture::None => {}
            Texture::Set(set) => {
                names.extend([format!("{set}_base.jpg"), format!("{set}_normal.jpg"), format!("{set}_orm.jpg")])
            }
            Texture::Card(card) => names.extend([format!("{card}.png")]),
            Texture::Image(image) => names.extend([format!("{image}.jpg")]),
        }
    }
    names
        .into_par_iter()
        .map(|name| {
            let path = folder.join(&name);
            let bytes =
                std::fs::read(&path).map_err(|e| format!("{}: {e} (write the assets first)", path.display()))?;
            let is_srgb = !name.ends_with("_normal.jpg") && !name.ends_with("_orm.jpg");
            Ok((name, Pixels::decode(&bytes, is_srgb)?))
        })
        .collect()
}
