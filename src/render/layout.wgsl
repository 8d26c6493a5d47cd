// What CPU and GPU share. Twin: layout.rs; a test compares each field's offset, type and size.

struct Frame {
    // Positions are relative to the camera before they meet this matrix, for precision far from the origin.
    clip_from_relative: mat4x4f,
    // Rows of the camera's rotation: right, up, backward (its Z).
    camera_right: vec4f,
    camera_up: vec4f,
    camera_backward: vec4f,
    camera_position: vec3f,
    is_orthographic: u32,
    // Frustum in relative space: dot(plane.xyz, p) + plane.w >= 0 inside. Left, right, bottom, top, near, far.
    planes: array<vec4f, 6>,
    size_px: vec2u,
    // 1 / (projection's x and y scale): half extents of the view at distance 1 (or anywhere, if orthographic).
    half_extent: vec2f,
    sun_direction: vec3f,
    // Pixels that one metre covers at distance 1 (or anywhere, if orthographic).
    px_per_metre: f32,
    // Lux on a surface that faces it.
    sun_illuminance: vec3f,
    // Multiplies radiance in nits.
    exposure: f32,
    // Sun space: the world turned so that its z axis is sun_direction. Its other two axes.
    sun_x: vec3f,
    // The tangent of half the sun's angular diameter; 0 for hard shadows.
    sun_radius: f32,
    sun_y: vec3f,
    cluster_near: f32,
    cluster_far: f32,
    near: f32,
    frame_idx: u32,
    n_lights: u32,
    n_light_words: u32,
    n_moved: u32,
    n_translucent: u32,
    // Instances in the rays' top level, which begins at node 0.
    n_ray_instances: u32,
    lod_error_px: f32,
    smallest_px: f32,
    tonemap: u32,
    // A block of the triangle table covers 1 << this many numbers.
    triangle_block_bits: u32,
    // The node where the tree of what stands still begins, or RAY_NONE.
    ray_static_root: u32,
    // By how much this frame shifts the pattern of points on the sun's disc, two times unorm 16.
    sun_pattern_shift: u32,
    // The shift of the picture by a fraction of a pixel, in clip space after the division.
    jitter_ndc: vec2f,
    // The column map: its first tile's place, in tiles; tiles on a side; a tile's size and the unit of heights, powers of two.
    columns_first_tile: vec2i,
    n_column_tiles: vec2u,
    column_tiles_per_metre: f32,
    column_units_per_metre: f32,
    // In sun space: nothing that stands still is above; below, the map says nothing.
    columns_top: f32,
    columns_bottom: f32,
    // The mover map: its lower corner and its cells' sides, in sun space; coordinates beyond which it says nothing.
    mover_map_low: vec2f,
    mover_cells_per_metre: vec2f,
    mover_map_reach: f32,
    _pad0: f32,
    _pad1: f32,
    _pad2: f32,
}

// world_from_local, three rows.
struct Transform {
    row0: vec4f,
    row1: vec4f,
    row2: vec4f,
}

struct MovedTransform {
    slot: u32,
    m00: f32, m01: f32, m02: f32, m03: f32,
    m10: f32, m11: f32, m12: f32, m13: f32,
    m20: f32, m21: f32, m22: f32, m23: f32,
}

struct Instance {
    transform_idx: u32,
    mesh_idx: u32,
    material_idx: u32,
    // R, G, B unorm 8 bits each, in units of 1/127.
    tint: u32,
    // The number of its first triangle, among those of all levels of all instances.
    first_triangle: u32,
}

struct Mesh {
    // Bounding sphere, local space.
    center: vec3f,
    radius: f32,
    first_index: vec4u,
    n_indices: vec4u,
    // Metres of geometric error, local space; level 0 has none.
    lod_error: vec4f,
}

struct Attributes {
    // Octahedral, 2 × snorm 16.
    normal: u32,
    // Octahedral: unorm 16, unorm 15, then 1 bit of handedness.
    tangent: u32,
    uv0: vec2f,
    uv1: vec2f,
    // Linear RGBA unorm 8.
    color: u32,
    _pad: u32,
}

struct TextureUse {
    uv_from_mesh: vec4f,
    uv_offset: vec2f,
    // NO_TEXTURE for none.
    image_idx: u32,
    // Bits 0..15: sampler; bit 16: texture coordinate set.
    sampler_and_set: u32,
}

struct Material {
    base_color: vec4f,
    emissive: vec3f,
    alpha_cutoff: f32,
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    occlusion_strength: f32,
    flags: u32,
    _pad0: u32,
    _pad1: u32,
    _pad2: u32,
    base_color_texture: TextureUse,
    metallic_roughness_texture: TextureUse,
    normal_texture: TextureUse,
    occlusion_texture: TextureUse,
    emissive_texture: TextureUse,
}

struct Light {
    // Candela (or lux, if directional).
    color: vec3f,
    range: f32,
    transform_idx: u32,
    kind: u32,
    // Spot: attenuation = saturate(cos_angle * scale + offset).
    angle_scale: f32,
    angle_offset: f32,
}

struct PlacedLight {
    // Relative to the camera.
    position: vec3f,
    range: f32,
    // Where it shines.
    direction: vec3f,
    kind: u32,
    color: vec3f,
    angle_scale: f32,
    angle_offset: f32,
    _pad0: f32,
    _pad1: f32,
    _pad2: f32,
}

// Instances of one mesh in one bucket, side by side; at most GROUP_SIZE of them.
struct DrawGroup {
    first_instance: u32,
    n_instances: u32,
    mesh_idx: u32,
    // Index of its first command: one per level of detail.
    first_command: u32,
}

struct DrawCommand {
    n_indices: u32,
    n_instances: u32,
    first_index: u32,
    base_vertex: i32,
    first_instance: u32,
}

struct Bucket {
    first_command: u32,
    n_commands: u32,
}

// An instance in the rays' top level: what moves and casts a shadow.
struct RayInstance {
    // local_from_world, three rows.
    row0: vec4f,
    row1: vec4f,
    row2: vec4f,
    // The node where its shape's tree begins.
    root: u32,
    _pad0: u32,
    _pad1: u32,
    _pad2: u32,
}

// A triangle that stops rays: in the space of the tree that it is in.
struct RayTriangle {
    p0: vec3f,
    // Its material if that has holes, else RAY_OPAQUE.
    mask_material: u32,
    p1: vec3f,
    // Index of its first index, over three.
    triangle: u32,
    p2: vec3f,
    _pad: u32,
}

const RAY_NONE: u32 = 0xffffffffu;
const RAY_OPAQUE: u32 = 0xffffffffu;
// What is foreseen of a ray, in bits: that nothing that stands still stops it, that nothing that moves does; or that something stops it.
const RAY_PASSES_STILL: u32 = 1u;
const RAY_PASSES_MOVERS: u32 = 2u;
const RAY_PASSES: u32 = 3u;
const RAY_BLOCKED: u32 = 4u;
// Cells on a side of the mover map.
const MOVER_MAP_SIDE: u32 = 512u;
// Groups of siblings that traversal can put off; deeper trees are refused when they are built.
const RAY_STACK_SIZE: u32 = 28u;

const NO_TEXTURE: u32 = 0xffffffffu;
const N_LODS: u32 = 4u;

const FLAG_MASKED: u32 = 1u;
const FLAG_DOUBLE_SIDED: u32 = 2u;
const FLAG_UNLIT: u32 = 4u;

const LIGHT_POINT: u32 = 0u;
const LIGHT_SPOT: u32 = 1u;
const LIGHT_DIRECTIONAL: u32 = 2u;

// Froxel grid of the light clusters.
const CLUSTERS: vec3u = vec3u(16u, 9u, 24u);

const PI: f32 = 3.14159265359;

fn transform_point(t: Transform, p: vec3f) -> vec3f {
    let h = vec4f(p, 1.0);
    return vec3f(dot(t.row0, h), dot(t.row1, h), dot(t.row2, h));
}

fn transform_vector(t: Transform, v: vec3f) -> vec3f {
    return vec3f(dot(t.row0.xyz, v), dot(t.row1.xyz, v), dot(t.row2.xyz, v));
}

// How much the transform enlarges, at most.
fn largest_scale(t: Transform) -> f32 {
    let x = vec3f(t.row0.x, t.row1.x, t.row2.x);
    let y = vec3f(t.row0.y, t.row1.y, t.row2.y);
    let z = vec3f(t.row0.z, t.row1.z, t.row2.z);
    // Where a parent's stretch shears the axes, more than the longest of them: Gershgorin's bound on the squared matrix.
    let xy = abs(dot(x, y));
    let yz = abs(dot(y, z));
    let zx = abs(dot(z, x));
    return sqrt(max(dot(x, x) + xy + zx, max(dot(y, y) + xy + yz, dot(z, z) + yz + zx)));
}

fn determinant_sign(t: Transform) -> f32 {
    return select(1.0, -1.0, dot(t.row0.xyz, cross(t.row1.xyz, t.row2.xyz)) < 0.0);
}
