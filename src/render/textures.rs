//! Images onto the GPU: mip levels averaged in linear light, and alpha that keeps its coverage where it is cut off.

use std::sync::LazyLock;

use rayon::prelude::*;

use crate::gpu::{Gpu, GpuError};
use crate::scene::assets::{AlphaMode, Assets, Image, MipFilter, Sampler, Wrap};

/// The scene's images and samplers, in the order of its assets; at least one of each, since a binding can't be empty.
pub struct SceneTextures {
    pub views: Vec<wgpu::TextureView>,
    pub samplers: Vec<wgpu::Sampler>,
}

impl SceneTextures {
    /// Builds mip levels in parallel and uploads.
    pub fn new(gpu: &Gpu, assets: &Assets) -> Result<Self, GpuError> {
        let limits = gpu.device.limits();
        let check = |what, needed: usize, limit: u32, unit| {
            let adapter = gpu.info.name.clone();
            let (needed, limit) = (needed as u64, u64::from(limit));
            if needed <= limit { Ok(()) } else { Err(GpuError::Limit { what, needed, limit, unit, adapter }) }
        };
        let n_images = assets.images.len();
        let most_images =
            limits.max_binding_array_elements_per_shader_stage.min(limits.max_sampled_textures_per_shader_stage - 8);
        check("its textures", n_images, most_images, "images")?;
        let most_samplers = limits.max_binding_array_sampler_elements_per_shader_stage;
        check("its textures", assets.samplers.len(), most_samplers, "samplers")?;
        let largest = assets.images.iter().map(|image| image.width.max(image.height)).max().unwrap_or(1);
        check("its largest image", largest as usize, limits.max_texture_dimension_2d, "pixels")?;

        let cutoffs = mask_cutoffs(assets);
        let mips: Vec<_> =
            assets.images.par_iter().zip(&cutoffs).map(|(image, cutoff)| mip_levels(image, *cutoff)).collect();
        let mut views: Vec<_> = assets.images.iter().zip(&mips).map(|(image, mips)| upload(gpu, image, mips)).collect();
        if views.is_empty() {
            let white = Image {
                name: "white".into(),
                width: 1,
                height: 1,
                rgba8: std::sync::Arc::new(vec![255; 4]),
                is_srgb: false,
            };
            views.push(upload(gpu, &white, &[]));
        }
        let mut samplers: Vec<_> = assets.samplers.iter().map(|sampler| make_sampler(gpu, sampler)).collect();
        if samplers.is_empty() {
            samplers.push(make_sampler(gpu, &Sampler::default()));
        }
        Ok(Self { views, samplers })
    }
}

/// For each image, the cutoff of the masked material that takes its alpha from it.
fn mask_cutoffs(assets: &Assets) -> Vec<Option<f32>> {
    let mut cutoffs = vec![None; assets.images.len()];
    for material in &assets.materials {
        if let (AlphaMode::Mask { cutoff }, Some(texture)) = (material.alpha_mode, &material.base_color_texture) {
            // The texture's alpha is multiplied by the material's before it is compared.
            cutoffs[texture.image.0 as usize] = Some(cutoff / material.base_color[3].max(1e-3));
        }
    }
    cutoffs
}

fn upload(gpu: &Gpu, image: &Image, mips: &[Vec<u8>]) -> wgpu::TextureView {
    let size = wgpu::Extent3d { width: image.width, height: image.height, depth_or_array_layers: 1 };
    let texture = gpu.factory.texture(&wgpu::TextureDescriptor {
        label: Some(&image.name),
        size,
        mip_level_count: 1 + mips.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: if image.is_srgb { wgpu::TextureFormat::Rgba8UnormSrgb } else { wgpu::TextureFormat::Rgba8Unorm },
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let levels = std::iter::once(image.rgba8.as_slice()).chain(mips.iter().map(Vec::as_slice));
    for (level, bytes) in levels.enumerate() {
        let size = size.mip_level_size(level as u32, wgpu::TextureDimension::D2);
        gpu.queue.write_texture(
            wgpu::TexelCopyTextureInfo { mip_level: level as u32, ..texture.as_image_copy() },
            bytes,
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * size.width), rows_per_image: None },
            size,
        );
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn make_sampler(gpu: &Gpu, sampler: &Sampler) -> wgpu::Sampler {
    let filter = |linear| if linear { wgpu::FilterMode::Linear } else { wgpu::FilterMode::Nearest };
    let wrap = |wrap| match wrap {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
    };
    let is_all_linear = sampler.is_mag_linear && sampler.is_min_linear && sampler.mip == Some(MipFilter::Linear);
    gpu.factory.sampler(&wgpu::SamplerDescriptor {
        label: Some("praxis::render::textures"),
        address_mode_u: wrap(sampler.wrap_u),
        address_mode_v: wrap(sampler.wrap_v),
        mag_filter: filter(sampler.is_mag_linear),
        min_filter: filter(sampler.is_min_linear),
        mipmap_filter: match sampler.mip {
            Some(MipFilter::Linear) => wgpu::MipmapFilterMode::Linear,
            _ => wgpu::MipmapFilterMode::Nearest,
        },
        lod_max_clamp: if sampler.mip.is_some() { 32.0 } else { 0.0 },
        // Anisotropic where everything is linear, which wgpu asks for; a software adapter pays for each tap.
        anisotropy_clamp: if is_all_linear && !gpu.is_software() { 8 } else { 1 },
        ..Default::default()
    })
}

/// Levels 1 and up.
fn mip_levels(image: &Image, mask_cutoff: Option<f32>) -> Vec<Vec<u8>> {
    let (mut width, mut height) = (image.width as usize, image.height as usize);
    let mut level: Vec<[f32; 4]> = image.rgba8.chunks_exact(4).map(|texel| decode(texel, image.is_srgb)).collect();
    let target_coverage = mask_cutoff.map(|cutoff| coverage(&level, cutoff, 1.0));
    let mut levels = Vec::new();
    while width > 1 || height > 1 {
        (level, width, height) = halve(&level, width, height);
        let alpha_scale = match (mask_cutoff, target_coverage) {
            (Some(cutoff), Some(target)) => alpha_scale_for(&level, cutoff, target),
            _ => 1.0,
        };
        levels.push(level.iter().flat_map(|texel| encode(texel, image.is_srgb, alpha_scale)).collect());
    }
    levels
}

/// Averages 2×2 texels (3 at an odd edge); colour is weighted by alpha, so that what can't be seen doesn't bleed in.
fn halve(level: &[[f32; 4]], width: usize, height: usize) -> (Vec<[f32; 4]>, usize, usize) {
    let (new_width, new_height) = ((width / 2).max(1), (height / 2).max(1));
    let span = |i: usize, n: usize, new_n: usize| {
        let first = i * n / new_n;
        first..((i + 1) * n).div_ceil(new_n).min(n)
    };
    let mut out = Vec::with_capacity(new_width * new_height);
    for y in 0..new_height {
        for x in 0..new_width {
            let mut color = [0.0; 3];
            let mut plain = [0.0; 3];
            let mut alpha = 0.0;
            let mut n = 0.0;
            for row in span(y, height, new_height) {
                for texel in &level[row * width..][span(x, width, new_width)] {
                    for c in 0..3 {
                        color[c] += texel[c] * texel[3];
                        plain[c] += texel[c];
                    }
                    alpha += texel[3];
                    n += 1.0;
                }
            }
            let rgb = if alpha > 1e-4 { color.map(|c| c / alpha) } else { plain.map(|c| c / n) };
            out.push([rgb[0], rgb[1], rgb[2], alpha / n]);
        }
    }
    (out, new_width, new_height)
}

/// Fraction of texels whose scaled alpha reaches the cutoff.
fn coverage(level: &[[f32; 4]], cutoff: f32, scale: f32) -> f32 {
    level.iter().filter(|texel| texel[3] * scale >= cutoff).count() as f32 / level.len() as f32
}

/// The factor on alpha that keeps the coverage of the full image (Castaño 2010), found by bisection.
fn alpha_scale_for(level: &[[f32; 4]], cutoff: f32, target: f32) -> f32 {
    let (mut low, mut high) = (0.0, 8.0);
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if coverage(level, cutoff, middle) < target { low = middle } else { high = middle }
    }
    // The upper end covers at least the target: where alpha is uniform, the choice is all or nothing.
    high
}

static LINEAR_FROM_SRGB: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let x = byte as f32 / 255.0;
        if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
    })
});

/// sRGB bytes of linear values in steps of 1/4095: fine enough that every byte comes back as itself.
static SRGB_FROM_LINEAR: LazyLock<[u8; 4096]> = LazyLock::new(|| {
    std::array::from_fn(|step| {
        let x = step as f32 / 4095.0;
        let y = if x <= 0.0031308 { x * 12.92 } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        (y * 255.0).round() as u8
    })
});

fn decode(texel: &[u8], is_srgb: bool) -> [f32; 4] {
    let channel = |byte: u8| if is_srgb { LINEAR_FROM_SRGB[byte as usize] } else { f32::from(byte) / 255.0 };
    [channel(texel[0]), channel(texel[1]), channel(texel[2]), f32::from(texel[3]) / 255.0]
}

fn encode(texel: &[f32; 4], is_srgb: bool, alpha_scale: f32) -> [u8; 4] {
    let unorm = |x: f32| (x * 255.0).round().clamp(0.0, 255.0) as u8;
    let channel =
        |x: f32| if is_srgb { SRGB_FROM_LINEAR[(x * 4095.0).round().clamp(0.0, 4095.0) as usize] } else { unorm(x) };
    [channel(texel[0]), channel(texel[1]), channel(texel[2]), unorm(texel[3] * alpha_scale)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, texels: Vec<[u8; 4]>, is_srgb: bool) -> Image {
        Image { name: String::new(), width, height, rgba8: std::sync::Arc::new(texels.concat()), is_srgb }
    }

    #[test]
    fn black_and_white_average_in_linear_light() {
        let texels = vec![[0, 0, 0, 255], [255, 255, 255, 255]];
        assert_eq!(mip_levels(&image(2, 1, texels.clone(), true), None), [vec![188, 188, 188, 255]]);
        assert_eq!(mip_levels(&image(2, 1, texels, false), None), [vec![128, 128, 128, 255]]);
    }

    #[test]
    fn odd_sizes_reach_one_texel_and_use_every_texel() {
        let levels = mip_levels(&image(3, 5, vec![[90, 90, 90, 255]; 15], false), None);
        assert_eq!(levels.iter().map(Vec::len).collect::<Vec<_>>(), [8, 4]);
        assert!(levels.concat().chunks(4).all(|texel| texel == [90, 90, 90, 255]));
    }

    #[test]
    fn masked_alpha_keeps_its_coverage() {
        // A quarter of the texels is covered, scattered, so that plain averages fall below the cutoff everywhere.
        let texels: Vec<_> = (0..64 * 64)
            .map(|i| if (i % 2 == 0) && (i / 64 % 2 == 0) { [255; 4] } else { [255, 255, 255, 0] })
            .collect();
        let masked = mip_levels(&image(64, 64, texels, true), Some(0.5));
        assert!(masked[1].chunks(4).any(|texel| texel[3] >= 128), "nothing is left of the leaves");
    }

    #[test]
    fn invisible_texels_do_not_bleed_their_colour() {
        let levels = mip_levels(&image(2, 1, vec![[255, 0, 0, 255], [0, 255, 0, 0]], false), None);
        assert_eq!(levels, [vec![255, 0, 0, 128]]);
    }
}
