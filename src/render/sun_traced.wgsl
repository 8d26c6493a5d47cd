// How much of the sun a surface sees: 0 in shadow, 1 in light; from what the sun pass found for the samples that show it.
@group(2) @binding(3) var sun_samples: texture_2d<u32>;

var<private> chosen_px: vec2u;
var<private> chosen_mask: u32;

// The pixel and its samples (a bit each) whose surface is shaded next.
fn choose_sun_samples(px: vec2u, mask: u32) {
    chosen_px = px;
    chosen_mask = mask;
}

// Light that fades out where the triangle turns away from the sun while its smooth normal does not yet: without it the shadow that a
// coarse mesh casts on itself would end at a triangle's edge. Flat surfaces, whose two normals are one, keep all their light.
fn terminator(s: Surface) -> f32 {
    let ratio = dot(s.geometric_normal, frame.sun_direction) / max(dot(s.normal, frame.sun_direction), 1e-6);
    return smoothstep(0.0, 0.4, ratio);
}

fn sun_visibility(s: Surface) -> f32 {
    let word = textureLoad(sun_samples, chosen_px, 0).x;
    var lit = 0.0;
    for (var i = 0u; i < N_SAMPLES; i++) {
        if (chosen_mask >> i & 1u) != 0u { lit += f32(extractBits(word, 8u * i, 8u)); }
    }
    return lit / (255.0 * f32(countOneBits(chosen_mask))) * terminator(s);
}
