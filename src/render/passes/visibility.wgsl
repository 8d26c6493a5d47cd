// Opaque geometry: which triangle each sample sees.

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) first_triangle: u32,
}

@vertex
fn vertex(@location(0) position: vec3f, @builtin(instance_index) visible_idx: u32) -> Fragment {
    let entry = visible[visible_idx];
    let instance = instances[entry & 0x3fffffffu];
    let relative = transform_point(transforms[instance.transform_idx], position) - frame.camera_position;
    return Fragment(frame.clip_from_relative * vec4f(relative, 1.0), first_triangle_of(instance, entry >> 30u));
}

@fragment
fn fragment(in: Fragment, @builtin(primitive_index) primitive: u32) -> @location(0) vec2u {
    return pack_id(in.first_triangle + primitive);
}
