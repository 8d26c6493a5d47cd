// Traces rays from a list.

struct TestRay {
    origin: vec3f,
    t_max: f32,
    direction: vec3f,
    _pad: f32,
}

@group(2) @binding(0) var<storage, read> test_rays: array<TestRay>;
// And from the second bit on what was foreseen.
@group(2) @binding(1) var<storage, read_write> is_blocked: array<u32>;

@compute @workgroup_size(64)
fn trace(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&test_rays) { return; }
    // The mask's finest level.
    set_ray_width(0.0);
    let ray = test_rays[id.x];
    is_blocked[id.x] = select(0u, 1u, sun_ray_is_blocked(ray.origin, ray.direction, ray.t_max)) | (foresee_ray(ray.origin) << 1u);
}
