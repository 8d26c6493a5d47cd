//! glTF 2.0's JSON schema as one table: what each property may hold. `check` walks a document along it, so that what
//! comes after need not ask again whether a `count` is a number.

/// One object's properties.
pub(super) type Schema = &'static [Property];

/// A property of an object.
pub(super) struct Property {
    pub name: &'static str,
    pub is_required: bool,
    pub kind: Kind,
}

/// What a property may hold.
pub(super) enum Kind {
    Bool,
    Str,
    /// At least one, all different.
    Strings,
    Choice(&'static [&'static str]),
    /// Of these numbers.
    IntChoice(&'static [u64]),
    /// Whole, at least this.
    Int(u64),
    /// Finite, within both bounds.
    Num(f64, f64),
    /// `n` numbers within both bounds.
    Nums(usize, f64, f64),
    /// Any count but none of finite numbers.
    AnyNums,
    /// An index into the array at this JSON pointer.
    Ref(&'static str),
    /// Indices into it, at least one, all different.
    Refs(&'static str),
    Object(Schema),
    /// At least one.
    Objects(Schema),
    /// An object whose values are accessor indices.
    Attributes,
    /// At least one of those.
    AttributeSets,
}

use Kind::*;

const fn must(name: &'static str, kind: Kind) -> Property {
    Property { name, is_required: true, kind }
}

const fn may(name: &'static str, kind: Kind) -> Property {
    Property { name, is_required: false, kind }
}

/// Any finite 32-bit number.
const ANY: (f64, f64) = (f32::MIN as f64, f32::MAX as f64);
/// The smallest that counts as above zero.
const ABOVE_0: f64 = f32::MIN_POSITIVE as f64;
const MAX: f64 = f32::MAX as f64;

const LIGHTS: &str = "/extensions/KHR_lights_punctual/lights";
const INDEX_TYPES: &[u64] = &[5121, 5123, 5125];
const COMPONENT_TYPES: &[u64] = &[5120, 5121, 5122, 5123, 5125, 5126];

/// The document itself.
pub(super) static ROOT: Schema = &[
    must("asset", Object(ASSET)),
    may("extensionsUsed", Strings),
    may("extensionsRequired", Strings),
    may("scene", Ref("/scenes")),
    may("scenes", Objects(&[may("name", Str), may("nodes", Refs("/nodes"))])),
    may("nodes", Objects(NODE)),
    may("meshes", Objects(MESH)),
    may("materials", Objects(MATERIAL)),
    may("textures", Objects(TEXTURE)),
    may("images", Objects(IMAGE)),
    may("samplers", Objects(SAMPLER)),
    may("accessors", Objects(ACCESSOR)),
    may("bufferViews", Objects(BUFFER_VIEW)),
    may("buffers", Objects(&[must("byteLength", Int(1)), may("uri", Str), may("name", Str)])),
    may("cameras", Objects(CAMERA)),
    may("skins", Objects(SKIN)),
    may("animations", Objects(ANIMATION)),
    may(
        "extensions",
        Object(&[
            may("KHR_lights_punctual", Object(&[must("lights", Objects(LIGHT))])),
            may("KHR_materials_variants", Object(&[must("variants", Objects(&[must("name", Str)]))])),
        ]),
    ),
];

static ASSET: Schema = &[must("version", Str), may("minVersion", Str), may("generator", Str), may("copyright", Str)];

static NODE: Schema = &[
    may("name", Str),
    may("children", Refs("/nodes")),
    may("mesh", Ref("/meshes")),
    may("camera", Ref("/cameras")),
    may("skin", Ref("/skins")),
    may("matrix", Nums(16, ANY.0, ANY.1)),
    may("translation", Nums(3, ANY.0, ANY.1)),
    may("rotation", Nums(4, -1.0 - 1e-3, 1.0 + 1e-3)),
    may("scale", Nums(3, ANY.0, ANY.1)),
    may("weights", AnyNums),
    may(
        "extensions",
        Object(&[
            may("KHR_lights_punctual", Object(&[must("light", Ref(LIGHTS))])),
            may("KHR_node_visibility", Object(&[may("visible", Bool)])),
        ]),
    ),
];

static MESH: Schema = &[must("primitives", Objects(PRIMITIVE)), may("weights", AnyNums), may("name", Str)];

static PRIMITIVE: Schema = &[
    must("attributes", Attributes),
    may("indices", Ref("/accessors")),
    may("material", Ref("/materials")),
    may("mode", IntChoice(&[0, 1, 2, 3, 4, 5, 6])),
    may("targets", AttributeSets),
];

static MATERIAL: Schema = &[
    may("name", Str),
    may(
        "pbrMetallicRoughness",
        Object(&[
            may("baseColorFactor", Nums(4, 0.0, 1.0)),
            may("baseColorTexture", Object(TEXTURE_INFO)),
            may("metallicFactor", Num(0.0, 1.0)),
            may("roughnessFactor", Num(0.0, 1.0)),
            may("metallicRoughnessTexture", Object(TEXTURE_INFO)),
        ]),
    ),
    may("normalTexture", Object(NORMAL_TEXTURE_INFO)),
    may("occlusionTexture", Object(OCCLUSION_TEXTURE_INFO)),
    may("emissiveTexture", Object(TEXTURE_INFO)),
    may("emissiveFactor", Nums(3, 0.0, 1.0)),
    may("alphaMode", Choice(&["OPAQUE", "MASK", "BLEND"])),
    may("alphaCutoff", Num(0.0, MAX)),
    may("doubleSided", Bool),
    may("extensions", Object(MATERIAL_EXTENSIONS)),
];

/// Those that are drawn, and the ranges of the common ones that are not drawn yet.
static MATERIAL_EXTENSIONS: Schema = &[
    may("KHR_materials_unlit", Object(&[])),
    may("KHR_materials_emissive_strength", Object(&[may("emissiveStrength", Num(0.0, MAX))])),
    may(
        "KHR_materials_volume",
        Object(&[
            may("thicknessFactor", Num(0.0, MAX)),
            may("thicknessTexture", Object(TEXTURE_INFO)),
            may("attenuationDistance", Num(ABOVE_0, MAX)),
            may("attenuationColor", Nums(3, 0.0, 1.0)),
        ]),
    ),
    may(
        "KHR_materials_anisotropy",
        Object(&[
            may("anisotropyStrength", Num(0.0, 1.0)),
            may("anisotropyRotation", Num(ANY.0, ANY.1)),
            may("anisotropyTexture", Object(TEXTURE_INFO)),
        ]),
    ),
    may(
        "KHR_materials_transmission",
        Object(&[may("transmissionFactor", Num(0.0, 1.0)), may("transmissionTexture", Object(TEXTURE_INFO))]),
    ),
    may(
        "KHR_materials_clearcoat",
        Object(&[may("clearcoatFactor", Num(0.0, 1.0)), may("clearcoatTexture", Object(TEXTURE_INFO))]),
    ),
];

static TEXTURE_TRANSFORM: Schema = &[
    may("offset", Nums(2, ANY.0, ANY.1)),
    may("rotation", Num(ANY.0, ANY.1)),
    may("scale", Nums(2, ANY.0, ANY.1)),
    may("texCoord", Int(0)),
];
static TEXTURE_INFO_EXTENSIONS: Schema = &[may("KHR_texture_transform", Object(TEXTURE_TRANSFORM))];
static TEXTURE_INFO: Schema =
    &[must("index", Ref("/textures")), may("texCoord", Int(0)), may("extensions", Object(TEXTURE_INFO_EXTENSIONS))];
static NORMAL_TEXTURE_INFO: Schema = &[
    must("index", Ref("/textures")),
    may("texCoord", Int(0)),
    may("scale", Num(ANY.0, ANY.1)),
    may("extensions", Object(TEXTURE_INFO_EXTENSIONS)),
];
static OCCLUSION_TEXTURE_INFO: Schema = &[
    must("index", Ref("/textures")),
    may("texCoord", Int(0)),
    may("strength", Num(0.0, 1.0)),
    may("extensions", Object(TEXTURE_INFO_EXTENSIONS)),
];

static TEXTURE: Schema = &[
    may("source", Ref("/images")),
    may("sampler", Ref("/samplers")),
    may("name", Str),
    may("extensions", Object(&[may("EXT_texture_webp", Object(&[must("source", Ref("/images"))]))])),
];

static IMAGE: Schema =
    &[may("uri", Str), may("bufferView", Ref("/bufferViews")), may("mimeType", Str), may("name", Str)];

static SAMPLER: Schema = &[
    may("magFilter", IntChoice(&[9728, 9729])),
    may("minFilter", IntChoice(&[9728, 9729, 9984, 9985, 9986, 9987])),
    may("wrapS", IntChoice(&[33071, 33648, 10497])),
    may("wrapT", IntChoice(&[33071, 33648, 10497])),
    may("name", Str),
];

static ACCESSOR: Schema = &[
    may("bufferView", Ref("/bufferViews")),
    may("byteOffset", Int(0)),
    must("componentType", IntChoice(COMPONENT_TYPES)),
    may("normalized", Bool),
    must("count", Int(1)),
    must("type", Choice(&["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"])),
    may("min", AnyNums),
    may("max", AnyNums),
    may("sparse", Object(SPARSE)),
    may("name", Str),
];

static SPARSE: Schema = &[
    must("count", Int(1)),
    must(
        "indices",
        Object(&[
            must("bufferView", Ref("/bufferViews")),
            may("byteOffset", Int(0)),
            must("componentType", IntChoice(INDEX_TYPES)),
        ]),
    ),
    must("values", Object(&[must("bufferView", Ref("/bufferViews")), may("byteOffset", Int(0))])),
];

static BUFFER_VIEW: Schema = &[
    must("buffer", Ref("/buffers")),
    may("byteOffset", Int(0)),
    must("byteLength", Int(0)), // At least 1 says the specification; exporters leave empty views behind.
    may("byteStride", Int(4)),
    may("target", IntChoice(&[34962, 34963])),
    may("name", Str),
];

static CAMERA: Schema = &[
    must("type", Choice(&["perspective", "orthographic"])),
    may(
        "perspective",
        Object(&[
            may("aspectRatio", Num(ABOVE_0, MAX)),
            must("yfov", Num(ABOVE_0, std::f64::consts::PI)),
            may("zfar", Num(ABOVE_0, MAX)),
            must("znear", Num(ABOVE_0, MAX)),
        ]),
    ),
    may(
        "orthographic",
        Object(&[
            must("xmag", Num(ANY.0, ANY.1)),
            must("ymag", Num(ANY.0, ANY.1)),
            must("zfar", Num(ABOVE_0, MAX)),
            must("znear", Num(0.0, MAX)),
        ]),
    ),
    may("name", Str),
];

static LIGHT: Schema = &[
    must("type", Choice(&["directional", "point", "spot"])),
    may("color", Nums(3, 0.0, MAX)),
    may("intensity", Num(0.0, MAX)),
    may("range", Num(ABOVE_0, MAX)),
    may("name", Str),
    may(
        "spot",
        Object(&[
            may("innerConeAngle", Num(0.0, std::f64::consts::FRAC_PI_2)),
            may("outerConeAngle", Num(ABOVE_0, std::f64::consts::FRAC_PI_2 + 1e-6)),
        ]),
    ),
];

static SKIN: Schema = &[
    may("inverseBindMatrices", Ref("/accessors")),
    may("skeleton", Ref("/nodes")),
    must("joints", Refs("/nodes")),
    may("name", Str),
];

static ANIMATION: Schema = &[
    must(
        "channels",
        Objects(&[must("sampler", Int(0)), must("target", Object(&[may("node", Ref("/nodes")), must("path", Str)]))]),
    ),
    must(
        "samplers",
        Objects(&[
            must("input", Ref("/accessors")),
            may("interpolation", Choice(&["LINEAR", "STEP", "CUBICSPLINE"])),
            must("output", Ref("/accessors")),
        ]),
    ),
    may("name", Str),
];
