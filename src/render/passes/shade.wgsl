// Shades each distinct surface among a pixel's samples once and weights it by its coverage.

@group(2) @binding(2) var hdr: texture_storage_2d<rgba16float, write>;

// The surface of a triangle where a ray through `px` (pixels, from the top left) meets it.
fn interpolate(instance: Instance, triangle: u32, px: vec2f) -> Interpolated {
    let transform = transforms[instance.transform_idx];
    let vertex = vec3u(indices[3u * triangle], indices[3u * triangle + 1u], indices[3u * triangle + 2u]);
    let p0 = transform_point(transform, load_position(vertex.x)) - frame.camera_position;
    let p1 = transform_point(transform, load_position(vertex.y)) - frame.camera_position;
    let p2 = transform_point(transform, load_position(vertex.z)) - frame.camera_position;

    // Barycentrics in homogeneous clip space (Olano & Greer 1997): right for triangles that cross the near plane too.
    let c0 = (frame.clip_from_relative * vec4f(p0, 1.0)).xyw;
    let c1 = (frame.clip_from_relative * vec4f(p1, 1.0)).xyw;
    let c2 = (frame.clip_from_relative * vec4f(p2, 1.0)).xyw;
    let edges = mat3x3f(cross(c1, c2), cross(c2, c0), cross(c0, c1));
    let ndc_per_px = vec2f(2.0, -2.0) / vec2f(frame.size_px);
    let ndc = px * ndc_per_px + vec2f(-1.0, 1.0);
    let weights = vec3f(ndc, 1.0) * edges;
    let sum = weights.x + weights.y + weights.z;
    let inverse_sum = select(0.0, 1.0 / sum, sum != 0.0);
    let b = select(vec3f(1.0 / 3.0), weights * inverse_sum, sum != 0.0);
    let weights_dx = vec3f(edges[0].x, edges[1].x, edges[2].x) * ndc_per_px.x;
    let weights_dy = vec3f(edges[0].y, edges[1].y, edges[2].y) * ndc_per_px.y;
    let b_dx = (weights_dx - b * (weights_dx.x + weights_dx.y + weights_dx.z)) * inverse_sum;
    let b_dy = (weights_dy - b * (weights_dy.x + weights_dy.y + weights_dy.z)) * inverse_sum;

    let a0 = attributes[vertex.x];
    let a1 = attributes[vertex.y];
    let a2 = attributes[vertex.z];
    let side = determinant_sign(transform);
    var v: Interpolated;
    v.position = p0 * b.x + p1 * b.y + p2 * b.z;
    v.geometric_normal = normalize(cross(p1 - p0, p2 - p0)) * side;
    let normal = decode_normal(a0.normal) * b.x + decode_normal(a1.normal) * b.y + decode_normal(a2.normal) * b.z;
    // Normals transform with the cofactors, which mirror along with the transform.
    v.normal = side * vec3f(
        dot(cross(transform.row1.xyz, transform.row2.xyz), normal),
        dot(cross(transform.row2.xyz, transform.row0.xyz), normal),
        dot(cross(transform.row0.xyz, transform.row1.xyz), normal),
    );
    let t0 = decode_tangent(a0.tangent);
    let tangent = t0.xyz * b.x + decode_tangent(a1.tangent).xyz * b.y + decode_tangent(a2.tangent).xyz * b.z;
    v.tangent = normalize(transform_vector(transform, tangent));
    v.handedness = t0.w * side;
    v.uv0 = a0.uv0 * b.x + a1.uv0 * b.y + a2.uv0 * b.z;
    v.uv0_dx = a0.uv0 * b_dx.x + a1.uv0 * b_dx.y + a2.uv0 * b_dx.z;
    v.uv0_dy = a0.uv0 * b_dy.x + a1.uv0 * b_dy.y + a2.uv0 * b_dy.z;
    v.uv1 = a0.uv1 * b.x + a1.uv1 * b.y + a2.uv1 * b.z;
    v.uv1_dx = a0.uv1 * b_dx.x + a1.uv1 * b_dx.y + a2.uv1 * b_dx.z;
    v.uv1_dy = a0.uv1 * b_dy.x + a1.uv1 * b_dy.y + a2.uv1 * b_dy.z;
    v.color = unpack4x8unorm(a0.color) * b.x + unpack4x8unorm(a1.color) * b.y + unpack4x8unorm(a2.color) * b.z;
    return v;
}

fn ray_direction(px: vec2f) -> vec3f {
    let ndc = px / vec2f(frame.size_px) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    let on_plane = (ndc - frame.jitter_ndc) * frame.half_extent;
    let perspective = frame.camera_right.xyz * on_plane.x + frame.camera_up.xyz * on_plane.y - frame.camera_backward.xyz;
    return normalize(select(perspective, -frame.camera_backward.xyz, frame.is_orthographic != 0u));
}

fn radiance_at(id: u32, px: vec2f) -> vec3f {
    if id == NO_TRIANGLE { return background(ray_direction(px)); }
    let found = find_triangle(id);
    let instance = instances[found.instance_idx];
    let interpolated = interpolate(instance, found.triangle, px);
    let surface = evaluate_material(materials[instance.material_idx], instance.tint, interpolated);
    return radiance_of(surface, px);
}

@compute @workgroup_size(8, 8)
fn shade(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= frame.size_px) { return; }
    var seen: array<u32, N_SAMPLES>;
    for (var i = 0u; i < N_SAMPLES; i++) { seen[i] = load_id(id.xy, i); }

    var color = vec3f(0.0);
    var is_done = 0u;
    for (var i = 0u; i < N_SAMPLES; i++) {
        if (is_done >> i & 1u) != 0u { continue; }
        // The surface's samples and their centroid, which lies inside the triangle (its middle may not).
        var centroid = vec2f(0.0);
        var n = 0.0;
        var mask = 0u;
        for (var j = i; j < N_SAMPLES; j++) {
            if seen[j] == seen[i] {
                centroid += sample_position(j);
                n += 1.0;
                mask |= 1u << j;
            }
        }
        is_done |= mask;
        choose_sun_samples(id.xy, mask);
        color += n * radiance_at(seen[i], vec2f(id.xy) + centroid / n);
    }
    let weight = 1.0 / f32(N_SAMPLES);
    textureStore(hdr, id.xy, vec4f(min(color * weight, vec3f(60000.0)), 1.0));
}
