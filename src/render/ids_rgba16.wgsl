// Visibility target Rgba16Uint: instance + 1 and triangle in two halves each.
fn pack_ids(instance_id: u32, triangle: u32) -> vec4u {
    return vec4u(instance_id & 0xffffu, instance_id >> 16u, triangle & 0xffffu, triangle >> 16u);
}
fn unpack_ids(texel: vec4u) -> vec2u { return vec2u(texel.x | (texel.y << 16u), texel.z | (texel.w << 16u)); }
