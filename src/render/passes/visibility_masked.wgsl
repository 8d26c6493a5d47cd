// Alpha-masked geometry: as opaque, but each sample is drawn only where the texture's alpha at that sample reaches the cutoff.

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) material_idx: u32,
    @location(1) @interpolate(flat) first_triangle: u32,
    @location(2) uv: vec2f,
    @location(3) alpha: f32,
}

struct Samples {
    @location(0) id: vec2u,
    @builtin(sample_mask) mask: u32,
}

@vertex
fn vertex(@location(0) position: vec3f, @builtin(instance_index) visible_idx: u32, @builtin(vertex_index) vertex_idx: u32) -> Fragment {
    let entry = visible[visible_idx];
    let instance = instances[entry & 0x3fffffffu];
    let relative = transform_point(transforms[instance.transform_idx], position) - frame.camera_position;
    let first_triangle = first_triangle_of(instance, entry >> 30u);
    let a = attributes[vertex_idx];
    let material = materials[instance.material_idx];
    let alpha = material.base_color.a * unpack4x8unorm(a.color).a;
    let uv = texture_coordinate(material.base_color_texture, a.uv0, a.uv1);
    return Fragment(frame.clip_from_relative * vec4f(relative, 1.0), instance.material_idx, first_triangle, uv, alpha);
}

@fragment
fn fragment(in: Fragment, @builtin(primitive_index) primitive: u32) -> Samples {
    let material = materials[in.material_idx];
    let use_ = material.base_color_texture;
    let dx = dpdx(in.uv);
    let dy = dpdy(in.uv);
    let alpha_dx = dpdx(in.alpha);
    let alpha_dy = dpdy(in.alpha);
    var mask = 0u;
    for (var sample = 0u; sample < N_SAMPLES; sample++) {
        let offset = sample_position(sample) - 0.5;
        var alpha = in.alpha + alpha_dx * offset.x + alpha_dy * offset.y;
        if use_.image_idx != NO_TEXTURE {
            alpha *= textureSampleGrad(textures[use_.image_idx], samplers[use_.sampler_and_set & 0xffffu],
                in.uv + dx * offset.x + dy * offset.y, dx, dy).a;
        }
        mask |= select(0u, 1u << sample, alpha >= material.alpha_cutoff);
    }
    return Samples(pack_id(in.first_triangle + primitive), mask);
}
