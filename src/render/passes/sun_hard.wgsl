// One ray towards the sun for each distinct surface of a pixel, from the middle of the samples that show it.

@group(2) @binding(3) var sun_samples: texture_storage_2d<r32uint, write>;

// Lists the pixel's rays and returns its word as if none of them was blocked, those apart that are known to be.
fn list_rays(px: vec2u, lane: u32) -> u32 {
    var seen: array<u32, N_SAMPLES>;
    for (var i = 0u; i < N_SAMPLES; i++) { seen[i] = load_id(px, i); }
    var word = SUN_UNTRACED;
    var is_done = 0u;
    for (var i = 0u; i < N_SAMPLES; i++) {
        if (is_done >> i & 1u) != 0u { continue; }
        var centroid = vec2f(0.0);
        var mask = 0u;
        for (var j = i; j < N_SAMPLES; j++) {
            if seen[j] == seen[i] {
                centroid += sample_position(j);
                mask |= 1u << j;
            }
        }
        is_done |= mask;
        if seen[i] == NO_TRIANGLE { continue; }
        let r = receiver(seen[i]);
        if !r.is_traced { continue; }
        count_ray(COUNT_SURFACE_RAYS);
        let is_blocked = list_ray(ray_start(r, vec2f(px) + centroid / f32(countOneBits(mask))), lane, mask);
        word = select(word | bytes_of(mask), word & ~bytes_of(mask), is_blocked);
    }
    return word;
}

@compute @workgroup_size(TILE.x, TILE.y)
fn sun_hard(
    @builtin(workgroup_id) tile: vec3u,
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let is_inside = all(id.xy < frame.size_px);
    if is_inside { atomicStore(&tile_words[lane], list_rays(id.xy, lane)); }
    workgroupBarrier();
    trace_listed(tile.xy * TILE, lane);
    workgroupBarrier();
    if is_inside { textureStore(sun_samples, id.xy, vec4u(atomicLoad(&tile_words[lane]))); }
}
