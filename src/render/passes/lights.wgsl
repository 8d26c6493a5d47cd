// Places the lights for this frame and tells each cluster which of them reach it: one bit per light, so that nothing can
// overflow and the order is fixed.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> transforms: array<Transform>;
@group(0) @binding(2) var<storage, read> lights: array<Light>;
@group(0) @binding(3) var<storage, read_write> placed_lights: array<PlacedLight>;
@group(0) @binding(4) var<storage, read_write> cluster_lights: array<u32>;

// Where a light shines; anywhere, if its node's scale is zero.
fn direction_of(t: Transform) -> vec3f {
    let d = -vec3f(t.row0.z, t.row1.z, t.row2.z);
    let length2 = dot(d, d);
    return select(vec3f(0.0, 0.0, -1.0), d * inverseSqrt(max(length2, 1e-30)), length2 > 1e-30);
}

@compute @workgroup_size(64)
fn place(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= frame.n_lights { return; }
    let light = lights[id.x];
    let transform = transforms[light.transform_idx];
    placed_lights[id.x] = PlacedLight(
        transform_point(transform, vec3f(0.0)) - frame.camera_position,
        light.range,
        direction_of(transform),
        light.kind,
        light.color,
        light.angle_scale,
        light.angle_offset,
        0.0, 0.0, 0.0,
    );
}

fn slice_depth(slice: u32) -> f32 {
    if slice == 0u { return 0.0; }
    return frame.cluster_near * pow(frame.cluster_far / frame.cluster_near, f32(slice) / f32(CLUSTERS.z));
}

// One thread per word of a cluster: 32 lights against the cluster's box in view space (x right, y up, z into the view).
@compute @workgroup_size(64)
fn assign(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let n_clusters = CLUSTERS.x * CLUSTERS.y * CLUSTERS.z;
    let thread = id.x + id.y * groups.x * 64u;
    if thread >= n_clusters * frame.n_light_words { return; }
    let cluster = thread / frame.n_light_words;
    let word = thread % frame.n_light_words;
    let x = cluster % CLUSTERS.x;
    let y = cluster / CLUSTERS.x % CLUSTERS.y;
    let z = cluster / (CLUSTERS.x * CLUSTERS.y);
    let near = slice_depth(z);
    let far = select(slice_depth(z + 1u), 1e30, z + 1u == CLUSTERS.z);

    // Corners on the unit plane; tile row 0 is the picture's top.
    let jitter = frame.jitter_ndc;
    let low_ndc = vec2f(f32(x) / f32(CLUSTERS.x) * 2.0 - 1.0, 1.0 - f32(y + 1u) / f32(CLUSTERS.y) * 2.0) - jitter;
    let high_ndc = vec2f(f32(x + 1u) / f32(CLUSTERS.x) * 2.0 - 1.0, 1.0 - f32(y) / f32(CLUSTERS.y) * 2.0) - jitter;
    let low = low_ndc * frame.half_extent;
    let high = high_ndc * frame.half_extent;
    let near_factor = select(near, 1.0, frame.is_orthographic != 0u);
    let far_factor = select(min(far, 1e15), 1.0, frame.is_orthographic != 0u);
    let box_min = vec3f(min(low * near_factor, low * far_factor), near);
    let box_max = vec3f(max(high * near_factor, high * far_factor), far);

    var bits = 0u;
    let n = min(32u, frame.n_lights - word * 32u);
    for (var i = 0u; i < n; i++) {
        let light = placed_lights[word * 32u + i];
        let view = vec3f(
            dot(frame.camera_right.xyz, light.position),
            dot(frame.camera_up.xyz, light.position),
            -dot(frame.camera_backward.xyz, light.position),
        );
        let gap = view - clamp(view, box_min, box_max);
        let is_near = dot(gap, gap) <= light.range * light.range;
        bits |= select(0u, 1u << i, is_near || light.kind == LIGHT_DIRECTIONAL);
    }
    cluster_lights[thread] = bits;
}
