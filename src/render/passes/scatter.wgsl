// Writes what moved into the scene's transforms: one thread per entry of the frame's moved list. Each slot occurs once.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> moved: array<MovedTransform>;
@group(0) @binding(2) var<storage, read_write> transforms: array<Transform>;

@compute @workgroup_size(64)
fn scatter(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let entry = id.x + id.y * groups.x * 64u;
    if entry >= frame.n_moved { return; }
    let m = moved[entry];
    transforms[m.slot] = Transform(
        vec4f(m.m00, m.m01, m.m02, m.m03),
        vec4f(m.m10, m.m11, m.m12, m.m13),
        vec4f(m.m20, m.m21, m.m22, m.m23),
    );
}
