//! What a scene is made of before any GPU sees it: meshes, materials, images and samplers, in plain arrays.

use glam::{Affine2, Vec3};

/// Index into [`Assets::meshes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshId(pub u32);

/// Index into [`Assets::materials`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaterialId(pub u32);

/// Index into [`Assets::images`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId(pub u32);

/// Index into [`Assets::samplers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SamplerId(pub u32);

/// Everything that instances refer to. Material 0 always exists: glTF's default material.
#[derive(Clone, Debug)]
pub struct Assets {
    /// Triangle meshes, one per glTF primitive.
    pub meshes: Vec<Mesh>,
    /// Materials; index 0 is glTF's default material.
    pub materials: Vec<Material>,
    /// Decoded images. One that is used both as colour and as data appears twice, once per colour space.
    pub images: Vec<Image>,
    /// Samplers, each distinct one once.
    pub samplers: Vec<Sampler>,
}

impl Default for Assets {
    fn default() -> Self {
        Self { meshes: Vec::new(), materials: vec![Material::default()], images: Vec::new(), samplers: Vec::new() }
    }
}

/// A triangle list. Every attribute array is as long as `positions`.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// For messages: `file.glb#mesh/primitive`.
    pub name: String,
    /// Metres, local space.
    pub positions: Vec<[f32; 3]>,
    /// Unit length, local space.
    pub normals: Vec<[f32; 3]>,
    /// xyz: unit tangent; w: handedness, +1 or -1 (bitangent = w · normal × tangent).
    pub tangents: Vec<[f32; 4]>,
    /// First texture coordinate set; zeros where the file has none.
    pub uv0: Vec<[f32; 2]>,
    /// Second texture coordinate set; zeros where the file has none.
    pub uv1: Vec<[f32; 2]>,
    /// Linear RGBA factor on the base colour, 8 bits unorm; opaque white where the file has none.
    pub colors: Vec<[u8; 4]>,
    /// Three per triangle, counter-clockwise seen from the front; each below `positions.len()`.
    pub indices: Vec<u32>,
    /// Bounds of `positions`.
    pub bounds: Aabb,
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest corner.
    pub min: Vec3,
    /// Largest corner.
    pub max: Vec3,
}

impl Default for Aabb {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Aabb {
    /// Holds nothing; the union with it is the other box.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The smallest box around some points.
    pub fn from_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self { min: b.min.min(p), max: b.max.max(p) })
    }

    /// Whether it holds no point.
    pub fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// The smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Its middle; zero for an empty box.
    pub fn center(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { 0.5 * (self.min + self.max) }
    }

    /// Half its diagonal; zero for an empty box.
    pub fn radius(&self) -> f32 {
        if self.is_empty() { 0.0 } else { 0.5 * (self.max - self.min).length() }
    }

    /// The box around this one's eight corners after `world_from_local`.
    pub fn transformed(&self, world_from_local: &glam::Affine3A) -> Self {
        if self.is_empty() {
            return *self;
        }
        Self::from_points((0..8).map(|corner| {
            let pick = |bit: u32, lo: f32, hi: f32| if corner >> bit & 1 == 0 { lo } else { hi };
            world_from_local.transform_point3(Vec3::new(
                pick(0, self.min.x, self.max.x),
                pick(1, self.min.y, self.max.y),
                pick(2, self.min.z, self.max.z),
            ))
        }))
    }
}

/// glTF's metallic-roughness material. Factors are linear.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// For messages.
    pub name: String,
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// sRGB RGBA, times `base_color`.
    pub base_color_texture: Option<TextureRef>,
    /// 0 dielectric, 1 metal.
    pub metallic: f32,
    /// Perceptual roughness; alpha is its square.
    pub roughness: f32,
    /// G: roughness, B: metallic; linear.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent space, +Y up; linear.
    pub normal_texture: Option<TextureRef>,
    /// Scales x and y of the normal texture.
    pub normal_scale: f32,
    /// R: ambient occlusion; linear.
    pub occlusion_texture: Option<TextureRef>,
    /// 0 ignores the occlusion texture, 1 applies it whole.
    pub occlusion_strength: f32,
    /// Linear RGB, times KHR_materials_emissive_strength, in nits (cd/m²).
    pub emissive: [f32; 3],
    /// sRGB, times `emissive`.
    pub emissive_texture: Option<TextureRef>,
    /// How alpha is used.
    pub alpha_mode: AlphaMode,
    /// Whether back faces are drawn (with a flipped normal).
    pub is_double_sided: bool,
    /// KHR_materials_unlit: base colour only, no lighting.
    pub is_unlit: bool,
}

impl Default for Material {
    /// glTF's default material.
    fn default() -> Self {
        Self {
            name: "default".into(),
            base_color: [1.0; 4],
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: [0.0; 3],
            emissive_texture: None,
            alpha_mode: AlphaMode::Opaque,
            is_double_sided: false,
            is_unlit: false,
        }
    }
}

/// glTF's alphaMode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlphaMode {
    /// Alpha is ignored.
    Opaque,
    /// Drawn where alpha is at least `cutoff`.
    Mask {
        /// 0 to 1.
        cutoff: f32,
    },
    /// Blended over what is behind.
    Blend,
}

/// One use of an image by a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRef {
    /// The image.
    pub image: ImageId,
    /// How it is sampled.
    pub sampler: SamplerId,
    /// 0 or 1: which of the mesh's texture coordinate sets.
    pub uv_set: u32,
    /// KHR_texture_transform: maps the mesh's texture coordinate to the sampled one.
    pub uv_transform: Affine2,
}

/// A decoded image, RGBA, 8 bits a channel, rows from the top, tightly packed.
#[derive(Clone, PartialEq)]
pub struct Image {
    /// For messages.
    pub name: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// `4 * width * height` bytes. Shared where an image is used in both colour spaces.
    pub rgba8: std::sync::Arc<Vec<u8>>,
    /// Whether RGB are sRGB encoded (colour) or linear (data).
    pub is_srgb: bool,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({:?}, {}×{}, srgb: {})", self.name, self.width, self.height, self.is_srgb)
    }
}

/// Texture filtering and wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Horizontal wrapping.
    pub wrap_u: Wrap,
    /// Vertical wrapping.
    pub wrap_v: Wrap,
    /// Linear (or nearest) when magnified.
    pub is_mag_linear: bool,
    /// Linear (or nearest) when minified.
    pub is_min_linear: bool,
    /// Between mip levels; `None` samples level 0 only.
    pub mip: Option<MipFilter>,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            is_mag_linear: true,
            is_min_linear: true,
            mip: Some(MipFilter::Linear),
        }
    }
}

/// What happens outside 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Repeats.
    Repeat,
    /// Repeats, every second time mirrored.
    Mirror,
    /// The edge's colour goes on.
    Clamp,
}

/// How two mip levels are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MipFilter {
    /// The nearer level alone.
    Nearest,
    /// Both, weighted.
    Linear,
}
