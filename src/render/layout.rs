//! Twins of the structures in `layout.wgsl`, byte for byte. The test below compares each field with what naga says.

use bytemuck::{Pod, Zeroable};

/// Levels of detail of a mesh.
pub const N_LODS: usize = 4;
/// Most instances a draw group may hold: one workgroup culls a group.
pub const GROUP_SIZE: u32 = 1024;
/// Froxels across, down and into the view.
pub const CLUSTERS: [u32; 3] = [16, 9, 24];
/// No texture.
pub const NO_TEXTURE: u32 = u32::MAX;

/// No tree.
pub const RAY_NONE: u32 = u32::MAX;
/// Stops every ray.
pub const RAY_OPAQUE: u32 = u32::MAX;
/// Groups of siblings that traversal can put off.
pub const RAY_STACK_SIZE: u32 = 28;
/// Cells on a side of the mover map.
pub const MOVER_MAP_SIDE: u32 = 512;

pub const FLAG_MASKED: u32 = 1;
pub const FLAG_DOUBLE_SIDED: u32 = 2;
pub const FLAG_UNLIT: u32 = 4;

pub const LIGHT_POINT: u32 = 0;
pub const LIGHT_SPOT: u32 = 1;
pub const LIGHT_DIRECTIONAL: u32 = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Frame {
    pub clip_from_relative: [[f32; 4]; 4],
    pub camera_right: [f32; 4],
    pub camera_up: [f32; 4],
    pub camera_backward: [f32; 4],
    pub camera_position: [f32; 3],
    pub is_orthographic: u32,
    pub planes: [[f32; 4]; 6],
    pub size_px: [u32; 2],
    pub half_extent: [f32; 2],
    pub sun_direction: [f32; 3],
    pub px_per_metre: f32,
    pub sun_illuminance: [f32; 3],
    pub exposure: f32,
    pub sun_x: [f32; 3],
    pub sun_radius: f32,
    pub sun_y: [f32; 3],
    pub cluster_near: f32,
    pub cluster_far: f32,
    pub near: f32,
    pub frame_idx: u32,
    pub n_lights: u32,
    pub n_light_words: u32,
    pub n_moved: u32,
    pub n_translucent: u32,
    pub n_ray_instances: u32,
    pub lod_error_px: f32,
    pub smallest_px: f32,
    pub tonemap: u32,
    pub triangle_block_bits: u32,
    pub ray_static_root: u32,
    pub sun_pattern_shift: u32,
    pub jitter_ndc: [f32; 2],
    pub columns_first_tile: [i32; 2],
    pub n_column_tiles: [u32; 2],
    pub column_tiles_per_metre: f32,
    pub column_units_per_metre: f32,
    pub columns_top: f32,
    pub columns_bottom: f32,
    pub mover_map_low: [f32; 2],
    pub mover_cells_per_metre: [f32; 2],
    pub mover_map_reach: f32,
    pub _pad: [f32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Transform {
    pub rows: [[f32; 4]; 3],
}

impl From<&glam::Affine3A> for Transform {
    fn from(a: &glam::Affine3A) -> Self {
        let (m, t) = (a.matrix3, a.translation);
        let row = |i: usize| [m.x_axis[i], m.y_axis[i], m.z_axis[i], t[i]];
        Self { rows: [row(0), row(1), row(2)] }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct MovedTransform {
    pub slot: u32,
    pub transform: Transform,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Instance {
    pub transform_idx: u32,
    pub mesh_idx: u32,
    pub material_idx: u32,
    pub tint: u32,
    pub first_triangle: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Mesh {
    pub center: [f32; 3],
    pub radius: f32,
    pub first_index: [u32; N_LODS],
    pub n_indices: [u32; N_LODS],
    pub lod_error: [f32; N_LODS],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Attributes {
    pub normal: u32,
    pub tangent: u32,
    pub uv0: [f32; 2],
    pub uv1: [f32; 2],
    pub color: u32,
    pub _pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct TextureUse {
    pub uv_from_mesh: [f32; 4],
    pub uv_offset: [f32; 2],
    pub image_idx: u32,
    pub sampler_and_set: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Material {
    pub base_color: [f32; 4],
    pub emissive: [f32; 3],
    pub alpha_cutoff: f32,
    pub metallic: f32,
    pub roughness: f32,
    pub normal_scale: f32,
    pub occlusion_strength: f32,
    pub flags: u32,
    pub _pad: [u32; 3],
    /// Base colour, metallic-roughness, normal, occlusion, emissive.
    pub textures: [TextureUse; 5],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Light {
    pub color: [f32; 3],
    pub range: f32,
    pub transform_idx: u32,
    pub kind: u32,
    pub angle_scale: f32,
    pub angle_offset: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct PlacedLight {
    pub position: [f32; 3],
    pub range: f32,
    pub direction: [f32; 3],
    pub kind: u32,
    pub color: [f32; 3],
    pub angle_scale: f32,
    pub angle_offset: f32,
    pub _pad: [f32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct DrawGroup {
    pub first_instance: u32,
    pub n_instances: u32,
    pub mesh_idx: u32,
    pub first_command: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct DrawCommand {
    pub n_indices: u32,
    pub n_instances: u32,
    pub first_index: u32,
    pub base_vertex: i32,
    pub first_instance: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Bucket {
    pub first_command: u32,
    pub n_commands: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct RayInstance {
    pub local_from_world: Transform,
    pub root: u32,
    pub _pad: [u32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct RayTriangle {
    pub p0: [f32; 3],
    pub mask_material: u32,
    pub p1: [f32; 3],
    pub triangle: u32,
    pub p2: [f32; 3],
    pub _pad: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// Name, total size and (field, offset) pairs of a struct as naga lays it out.
    fn naga_layout(name: &str) -> (u32, Vec<(String, u32)>) {
        let module = naga::front::wgsl::parse_str(include_str!("layout.wgsl")).expect("layout.wgsl parses");
        let (_, ty) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).expect(name);
        let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
        (*span, members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset)).collect())
    }

    macro_rules! check_twin {
        ($ty:ident, $($field:ident $(as $first:literal)?),+ $(; skip $($skip:literal),+)?) => {{
            let (size, members) = naga_layout(stringify!($ty));
            assert_eq!(size as usize, size_of::<$ty>(), "size of {}", stringify!($ty));
            let skipped: &[&str] = &[$($($skip),+)?];
            let theirs: Vec<_> = members.iter().filter(|(name, _)| !skipped.contains(&name.as_str())).cloned().collect();
            let ours = vec![$({
                let name = stringify!($field);
                $(let name = { let _ = name; $first };)?
                (name.to_string(), offset_of!($ty, $field) as u32)
            }),+];
            assert_eq!(ours, theirs, "fields of {}", stringify!($ty));
        }};
    }

    #[test]
    fn rust_and_wgsl_agree_on_every_offset() {
        check_twin!(
            Frame,
            clip_from_relative,
            camera_right,
            camera_up,
            camera_backward,
            camera_position,
            is_orthographic,
            planes,
            size_px,
            half_extent,
            sun_direction,
            px_per_metre,
            sun_illuminance,
            exposure,
            sun_x,
            sun_radius,
            sun_y,
            cluster_near,
            cluster_far,
            near,
            frame_idx,
            n_lights,
            n_light_words,
            n_moved,
            n_translucent,
            n_ray_instances,
            lod_error_px,
            smallest_px,
            tonemap,
            triangle_block_bits,
            ray_static_root,
            sun_pattern_shift,
            jitter_ndc,
            columns_first_tile,
            n_column_tiles,
            column_tiles_per_metre,
            column_units_per_metre,
            columns_top,
            columns_bottom,
            mover_map_low,
            mover_cells_per_metre,
            mover_map_reach,
            _pad as "_pad0";
            skip "_pad1", "_pad2"
        );
        check_twin!(Transform, rows as "row0"; skip "row1", "row2");
        check_twin!(
            MovedTransform, slot, transform as "m00";
            skip "m01", "m02", "m03", "m10", "m11", "m12", "m13", "m20", "m21", "m22", "m23"
        );
        check_twin!(Instance, transform_idx, mesh_idx, material_idx, tint, first_triangle);
        check_twin!(Mesh, center, radius, first_index, n_indices, lod_error);
        check_twin!(Attributes, normal, tangent, uv0, uv1, color, _pad);
        check_twin!(TextureUse, uv_from_mesh, uv_offset, image_idx, sampler_and_set);
        check_twin!(
            Material, base_color, emissive, alpha_cutoff, metallic, roughness, normal_scale, occlusion_strength, flags,
            _pad as "_pad0", textures as "base_color_texture";
            skip "_pad1", "_pad2", "metallic_roughness_texture", "normal_texture", "occlusion_texture", "emissive_texture"
        );
        check_twin!(Light, color, range, transform_idx, kind, angle_scale, angle_offset);
        check_twin!(
            PlacedLight, position, range, direction, kind, color, angle_scale, angle_offset, _pad as "_pad0";
            skip "_pad1", "_pad2"
        );
        check_twin!(DrawGroup, first_instance, n_instances, mesh_idx, first_command);
        check_twin!(RayInstance, local_from_world as "row0", root, _pad as "_pad0"; skip "row1", "row2", "_pad1", "_pad2");
        check_twin!(RayTriangle, p0, mask_material, p1, triangle, p2, _pad);
        check_twin!(DrawCommand, n_indices, n_instances, first_index, base_vertex, first_instance);
        check_twin!(Bucket, first_command, n_commands);
    }

    #[test]
    fn constants_agree() {
        let source = include_str!("layout.wgsl");
        assert!(source.contains(&format!("const N_LODS: u32 = {N_LODS}u;")));
        assert!(source.contains(&format!("vec3u({}u, {}u, {}u)", CLUSTERS[0], CLUSTERS[1], CLUSTERS[2])));
        assert!(source.contains(&format!("const NO_TEXTURE: u32 = {NO_TEXTURE:#x}u;")));
        assert!(source.contains(&format!("const RAY_NONE: u32 = {RAY_NONE:#x}u;")));
        assert!(source.contains(&format!("const RAY_OPAQUE: u32 = {RAY_OPAQUE:#x}u;")));
        assert!(source.contains(&format!("const RAY_STACK_SIZE: u32 = {RAY_STACK_SIZE}u;")));
        assert!(source.contains(&format!("const MOVER_MAP_SIDE: u32 = {MOVER_MAP_SIDE}u;")));
        assert!(source.contains(&format!("const FLAG_UNLIT: u32 = {FLAG_UNLIT}u;")));
        assert!(source.contains(&format!("const LIGHT_DIRECTIONAL: u32 = {LIGHT_DIRECTIONAL}u;")));
    }
}
