// Alpha-masked geometry stops a ray where its texture's alpha reaches the cutoff.

// Metres that a ray covers across, set by who traces it: chooses the mip level.
var<private> ray_width: f32;
fn set_ray_width(width: f32) { ray_width = width; }

// `weights` are barycentric; `local_scale` is local metres per metre.
fn mask_stops_ray(material_idx: u32, triangle: u32, weights: vec3f, local_scale: f32) -> bool {
    let material = materials[material_idx];
    let vertex = vec3u(indices[3u * triangle], indices[3u * triangle + 1u], indices[3u * triangle + 2u]);
    let a0 = attributes[vertex.x];
    let a1 = attributes[vertex.y];
    let a2 = attributes[vertex.z];
    var alpha = material.base_color.a
        * dot(weights, vec3f(unpack4x8unorm(a0.color).a, unpack4x8unorm(a1.color).a, unpack4x8unorm(a2.color).a));
    let use_ = material.base_color_texture;
    if use_.image_idx != NO_TEXTURE {
        let uv0 = texture_coordinate(use_, a0.uv0, a0.uv1);
        let uv1 = texture_coordinate(use_, a1.uv0, a1.uv1);
        let uv2 = texture_coordinate(use_, a2.uv0, a2.uv1);
        let uv = uv0 * weights.x + uv1 * weights.y + uv2 * weights.z;
        // Texels per metre: the root of the ratio of the triangle's areas.
        let p0 = load_position(vertex.x);
        let across = cross(load_position(vertex.y) - p0, load_position(vertex.z) - p0);
        let e1 = uv1 - uv0;
        let e2 = uv2 - uv0;
        let size = vec2f(textureDimensions(textures[use_.image_idx]));
        let texels2 = abs(e1.x * e2.y - e1.y * e2.x) * size.x * size.y;
        let width2 = ray_width * ray_width * local_scale * local_scale;
        let level = 0.5 * log2(max(texels2 * width2, 1e-20) / max(length(across), 1e-20));
        alpha *= textureSampleLevel(textures[use_.image_idx], samplers[use_.sampler_and_set & 0xffffu], uv, clamp(level, 0.0, 4.0)).a;
    }
    return alpha >= material.alpha_cutoff;
}
