//! Textures as large as the picture.

use super::rays::RayMode;
use crate::gpu::{Gpu, GpuError};

/// The picture: gamma-encoded by hand, since no adapter stores sRGB.
pub const PICTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
/// Exposed radiance.
pub const HDR_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
/// Reversed: 1 at the near plane, 0 at infinity.
pub const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Triangle numbers in two halves.
pub const IDS_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Uint;

/// A byte for each sample: how much of the sun it sees.
pub const SUN_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R32Uint;

/// What the sun pass writes.
pub struct SunTargets {
    /// What shading reads.
    pub samples: wgpu::TextureView,
    /// The first rays' result, where edge rays follow.
    pub hard: Option<wgpu::TextureView>,
}

/// See the module.
pub struct Targets {
    pub size_px: [u32; 2],
    pub ids: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    pub hdr: wgpu::TextureView,
    pub sun: Option<SunTargets>,
    /// What blended geometry is drawn into, and (with more than one sample) resolved into.
    pub translucent: Option<Translucent>,
    /// The resolved blended geometry; transparent black if the scene has none.
    pub translucent_resolved: wgpu::TextureView,
    pub picture: wgpu::Texture,
    pub picture_view: wgpu::TextureView,
}

/// Targets of blended geometry.
pub struct Translucent {
    pub color: wgpu::TextureView,
    pub resolve: Option<wgpu::TextureView>,
}

impl Targets {
    /// For a picture of `size_px`, each side at least 1.
    pub fn new(
        gpu: &Gpu,
        size_px: [u32; 2],
        n_samples: u32,
        has_translucent: bool,
        rays: RayMode,
    ) -> Result<Self, GpuError> {
        let limit = gpu.device.limits().max_texture_dimension_2d;
        let needed = size_px[0].max(size_px[1]);
        if needed > limit {
            return Err(GpuError::Limit {
                what: "its picture",
                needed: needed.into(),
                limit: limit.into(),
                unit: "pixels",
                adapter: gpu.info.name.clone(),
            });
        }
        use wgpu::TextureUsages as Use;
        let n = n_samples;
        let texture = |label, size: [u32; 2], format, sample_count, usage| {
            gpu.factory.texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let view = |texture: &wgpu::Texture| texture.create_view(&wgpu::TextureViewDescriptor::default());
        let sampled_target = Use::RENDER_ATTACHMENT | Use::TEXTURE_BINDING;
        let resolved_size = if has_translucent { size_px } else { [1, 1] };
        let resolved = texture("translucent", resolved_size, HDR_FORMAT, 1, sampled_target);
        let translucent = has_translucent.then(|| match n {
            1 => Translucent { color: view(&resolved), resolve: None },
            _ => Translucent {
                color: view(&texture("translucent samples", size_px, HDR_FORMAT, n, Use::RENDER_ATTACHMENT)),
                resolve: Some(view(&resolved)),
            },
        });
        let sun_texture = || {
            let usage = Use::STORAGE_BINDING | Use::TEXTURE_BINDING | Use::COPY_SRC;
            view(&texture("sun", size_px, SUN_FORMAT, 1, usage))
        };
        let sun = (rays != RayMode::Off)
            .then(|| SunTargets { samples: sun_texture(), hard: (rays == RayMode::Edge).then(sun_texture) });
        let picture_usage = Use::STORAGE_BINDING | Use::TEXTURE_BINDING | Use::COPY_SRC;
        let picture = texture("picture", size_px, PICTURE_FORMAT, 1, picture_usage);
        Ok(Self {
            size_px,
            ids: view(&texture("ids", size_px, IDS_FORMAT, n, sampled_target)),
            depth: view(&texture("depth", size_px, DEPTH_FORMAT, n, sampled_target)),
            hdr: view(&texture("hdr", size_px, HDR_FORMAT, 1, Use::STORAGE_BINDING | Use::TEXTURE_BINDING)),
            sun,
            translucent,
            translucent_resolved: view(&resolved),
            picture_view: view(&picture),
            picture,
        })
    }
}
