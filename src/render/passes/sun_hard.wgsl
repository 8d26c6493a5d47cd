// One ray towards the sun for each distinct surface of a pixel, from the middle of the samples that show it.

@group(2) @binding(2) var sun_samples: texture_storage_2d<r32uint, write>;

@compute @workgroup_size(8, 8)
fn sun_hard(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= frame.size_px) { return; }
    var seen: array<u32, N_SAMPLES>;
    for (var i = 0u; i < N_SAMPLES; i++) { seen[i] = load_id(id.xy, i); }
    // Untraced, also in the bytes of samples that there are none of.
    var word = SUN_UNTRACED * 0x01010101u;
    var is_done = 0u;
    for (var i = 0u; i < N_SAMPLES; i++) {
        if (is_done >> i & 1u) != 0u { continue; }
        var centroid = vec2f(0.0);
        var n = 0.0;
        var bytes = 0u;
        for (var j = i; j < N_SAMPLES; j++) {
            if seen[j] == seen[i] {
                centroid += sample_position(j);
                n += 1.0;
                bytes |= 0xffu << (8u * j);
                is_done |= 1u << j;
            }
        }
        if seen[i] == NO_TRIANGLE { continue; }
        let r = receiver(seen[i]);
        if !r.is_traced { continue; }
        word |= bytes;
        if is_in_shadow(r, vec2f(id.xy) + centroid / n) { word &= ~bytes; }
    }
    textureStore(sun_samples, id.xy, vec4u(word));
}
