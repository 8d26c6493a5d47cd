//! Metallic-roughness materials, their textures and samplers.

use glam::{Affine2, Mat2, Vec2};
use serde_json::Value;

use super::check::whole;
use super::document::{Document, index, name_of, number, numbers};
use super::fault::Fault;
use super::images::Images;
use crate::scene::assets::{AlphaMode, Material, MipFilter, Sampler, SamplerId, TextureRef, Wrap};

/// Reads material `material_idx`; its images and samplers are added where they are new.
pub(super) fn import_material(
    document: &Document,
    material_idx: usize,
    images: &mut Images,
    samplers: &mut Vec<Sampler>,
    warnings: &mut Vec<String>,
) -> Result<Material, Fault> {
    let json = &document.array("materials")[material_idx];
    let at = format!("/materials/{material_idx}");
    let pbr = &json["pbrMetallicRoughness"];
    let extensions = &json["extensions"];
    let mut textures = Textures { document, images, samplers, warnings };
    let strength = number(&extensions["KHR_materials_emissive_strength"]["emissiveStrength"], 1.0);
    Ok(Material {
        name: name_of(json, material_idx),
        base_color: numbers(&pbr["baseColorFactor"], [1.0; 4]),
        base_color_texture: textures.import(pbr, "baseColorTexture", true, &at)?,
        metallic: number(&pbr["metallicFactor"], 1.0),
        roughness: number(&pbr["roughnessFactor"], 1.0),
        metallic_roughness_texture: textures.import(pbr, "metallicRoughnessTexture", false, &at)?,
        normal_texture: textures.import(json, "normalTexture", false, &at)?,
        normal_scale: number(&json["normalTexture"]["scale"], 1.0),
        occlusion_texture: textures.import(json, "occlusionTexture", false, &at)?,
        occlusion_strength: number(&json["occlusionTexture"]["strength"], 1.0),
        emissive: numbers(&json["emissiveFactor"], [0.0; 3]).map(|x| x * strength),
        emissive_texture: textures.import(json, "emissiveTexture", true, &at)?,
        alpha_mode: match json["alphaMode"].as_str() {
            Some("MASK") => AlphaMode::Mask { cutoff: number(&json["alphaCutoff"], 0.5) },
            Some("BLEND") => AlphaMode::Blend,
            _ => AlphaMode::Opaque,
        },
        is_double_sided: json["doubleSided"].as_bool().unwrap_or(false),
        is_unlit: extensions.get("KHR_materials_unlit").is_some(),
    })
}

struct Textures<'a> {
    document: &'a Document,
    images: &'a mut Images,
    samplers: &'a mut Vec<Sampler>,
    warnings: &'a mut Vec<String>,
}

impl Textures<'_> {
    /// The texture that `parent`'s property `name` refers to.
    fn import(&mut self, parent: &Value, name: &str, is_srgb: bool, at: &str) -> Result<Option<TextureRef>, Fault> {
        let info = &parent[name];
        let Some(texture_idx) = index(&info["index"]) else { return Ok(None) };
        let texture = &self.document.array("textures")[texture_idx];
        let source = texture["extensions"]["EXT_texture_webp"].get("source").or(texture.get("source"));
        let Some(image_idx) = source.and_then(index) else {
            let extensions: Vec<&str> =
                texture["extensions"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let why = if extensions.is_empty() {
                "has no source".to_string()
            } else {
                format!("has an image only for {}, which is not supported", extensions.join(", "))
            };
            self.warnings
                .push(format!("{}: /textures/{texture_idx}: {why}; drawn without", self.document.path.display()));
            return Ok(None);
        };
        let image = self.images.want(self.document, image_idx, is_srgb)?;
        let transform = &info["extensions"]["KHR_texture_transform"];
        let uv_set = whole(transform.get("texCoord").unwrap_or(&info["texCoord"])).unwrap_or(0);
        if uv_set > 1 {
            self.warnings.push(format!(
                "{}: {at}: {name} uses texture coordinate set {uv_set}; only 0 and 1 are supported, 0 is taken",
                self.document.path.display()
            ));
        }
        Ok(Some(TextureRef {
            image,
            sampler: self.sampler(index(&texture["sampler"])),
            uv_set: if uv_set == 1 { 1 } else { 0 },
            uv_transform: uv_transform(transform),
        }))
    }

    fn sampler(&mut self, sampler_idx: Option<usize>) -> SamplerId {
        let sampler =
            sampler_idx.map_or_else(Sampler::default, |idx| read_sampler(&self.document.array("samplers")[idx]));
        let found = self.samplers.iter().position(|other| *other == sampler);
        SamplerId(found.unwrap_or_else(|| {
            self.samplers.push(sampler);
            self.samplers.len() - 1
        }) as u32)
    }
}

/// KHR_texture_transform: translation · rotation · scale, the rotation counter-clockwise in a space whose v points down.
fn uv_transform(transform: &Value) -> Affine2 {
    let offset = Vec2::from(numbers(&transform["offset"], [0.0; 2]));
    let scale = Vec2::from(numbers(&transform["scale"], [1.0; 2]));
    let (sin, cos) = number(&transform["rotation"], 0.0).sin_cos();
    let rotation = Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos));
    Affine2::from_mat2_translation(rotation * Mat2::from_diagonal(scale), offset)
}

fn read_sampler(json: &Value) -> Sampler {
    let wrap = |value: &Value| match whole(value) {
        Some(33071) => Wrap::Clamp,
        Some(33648) => Wrap::Mirror,
        _ => Wrap::Repeat,
    };
    let min_filter = whole(&json["minFilter"]).unwrap_or(9987);
    Sampler {
        wrap_u: wrap(&json["wrapS"]),
        wrap_v: wrap(&json["wrapT"]),
        is_mag_linear: whole(&json["magFilter"]) != Some(9728),
        is_min_linear: matches!(min_filter, 9729 | 9985 | 9987),
        mip: match min_filter {
            9728 | 9729 => None,
            9984 | 9985 => Some(MipFilter::Nearest),
            _ => Some(MipFilter::Linear),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texture_transform_follows_the_extension_s_own_matrix() {
        // KHR_texture_transform's example: a quarter turn, then an offset.
        let json =
            serde_json::json!({ "offset": [0.0, 1.0], "rotation": std::f32::consts::FRAC_PI_2, "scale": [0.5, 0.5] });
        let uv = uv_transform(&json).transform_point2(Vec2::new(1.0, 0.0));
        assert!((uv - Vec2::new(0.0, 0.5)).length() < 1e-6, "{uv}");
    }
}
