// Blended geometry, farthest first, lit like everything else; premultiplied, so that the resolve of its samples is right.

struct Fragment {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) instance_idx: u32,
    @location(1) position: vec3f,
    @location(2) normal: vec3f,
    @location(3) tangent: vec4f,
    @location(4) uv: vec4f,
    @location(5) color: vec4f,
}

@vertex
fn vertex(@location(0) position: vec3f, @builtin(instance_index) visible_idx: u32, @builtin(vertex_index) vertex_idx: u32) -> Fragment {
    let instance_idx = visible[visible_idx];
    let transform = transforms[instances[instance_idx].transform_idx];
    let side = determinant_sign(transform);
    let a = attributes[vertex_idx];
    let normal = decode_normal(a.normal);
    let tangent = decode_tangent(a.tangent);
    var out: Fragment;
    out.position = transform_point(transform, position) - frame.camera_position;
    out.clip = frame.clip_from_relative * vec4f(out.position, 1.0);
    out.instance_idx = instance_idx;
    out.normal = side * transform_normal(transform, normal);
    out.tangent = vec4f(transform_vector(transform, tangent.xyz), tangent.w * side);
    out.uv = vec4f(a.uv0, a.uv1);
    out.color = unpack4x8unorm(a.color);
    return out;
}

@fragment
fn fragment(in: Fragment) -> @location(0) vec4f {
    var v: Interpolated;
    v.position = in.position;
    let dx = dpdx(in.position);
    let dy = dpdy(in.position);
    // Screen y points down: dy × dx faces the camera. The outward side follows from the shading normal.
    let towards_camera = normalize(cross(dy, dx));
    v.geometric_normal = towards_camera * select(-1.0, 1.0, dot(towards_camera, in.normal) >= 0.0);
    v.normal = in.normal;
    v.tangent = normalize(in.tangent.xyz);
    v.handedness = in.tangent.w;
    v.uv0 = in.uv.xy; v.uv0_dx = dpdx(in.uv.xy); v.uv0_dy = dpdy(in.uv.xy);
    v.uv1 = in.uv.zw; v.uv1_dx = dpdx(in.uv.zw); v.uv1_dy = dpdy(in.uv.zw);
    v.color = in.color;
    let instance = instances[in.instance_idx];
    let surface = evaluate_material(materials[instance.material_idx], instance.tint, v);
    let is_culled = (materials[instance.material_idx].flags & FLAG_DOUBLE_SIDED) == 0u && dot(v.geometric_normal, surface.view) < 0.0;
    if is_culled { discard; }
    choose_sun_samples(vec2u(in.clip.xy), 1u);
    let alpha = saturate(surface.alpha);
    return vec4f(min(radiance_of(surface, in.clip.xy), vec3f(60000.0)) * alpha, alpha);
}
