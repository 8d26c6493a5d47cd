// Visibility target Rg32Uint: instance + 1 and triangle as they are.
fn pack_ids(instance_id: u32, triangle: u32) -> vec4u { return vec4u(instance_id, triangle, 0u, 0u); }
fn unpack_ids(texel: vec4u) -> vec2u { return texel.xy; }
