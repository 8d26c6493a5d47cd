// What a sample sees, in 32 bits: the number of a triangle among all triangles of all levels of all instances. The GPU that
// Praxis was tuned on fills four samples a pixel at some 60 GB/s, so each byte of the target counts (docs/decisions/0004).
// Two halves, since WebGPU guarantees multisampling for 16-bit integers and not for 32-bit ones.

const NO_TRIANGLE: u32 = 0xffffffffu;

fn pack_id(id: u32) -> vec2u { return vec2u(id & 0xffffu, id >> 16u); }
fn unpack_id(texel: vec4u) -> u32 { return texel.x | (texel.y << 16u); }

// The number of the first triangle of an instance's level of detail.
fn first_triangle_of(instance: Instance, lod: u32) -> u32 {
    let n = meshes[instance.mesh_idx].n_indices / 3u;
    var first = instance.first_triangle;
    if lod > 0u { first += n.x; }
    if lod > 1u { first += n.y; }
    if lod > 2u { first += n.z; }
    return first;
}
