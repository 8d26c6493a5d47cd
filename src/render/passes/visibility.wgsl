// Opaque geometry: which instance and which triangle each sample sees.

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) instance_id: u32,
    @location(1) @interpolate(flat) first_triangle: u32,
}

@vertex
fn vertex(@location(0) position: vec3f, @builtin(instance_index) visible_idx: u32) -> Fragment {
    let entry = visible[visible_idx];
    let instance_idx = entry & 0x3fffffffu;
    let instance = instances[instance_idx];
    let relative = transform_point(transforms[instance.transform_idx], position) - frame.camera_position;
    let first_index = meshes[instance.mesh_idx].first_index[entry >> 30u];
    return Fragment(frame.clip_from_relative * vec4f(relative, 1.0), instance_idx + 1u, first_index / 3u);
}

@fragment
fn fragment(in: Fragment, @builtin(primitive_index) primitive: u32) -> @location(0) vec4u {
    return pack_ids(in.instance_id, in.first_triangle + primitive);
}
