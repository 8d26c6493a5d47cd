// Where in the sun's disc rays go: a pattern of blue noise over the picture, shifted from frame to frame and from sample to sample.

// Two values for each of 64 × 64 pixels; not looked at where the sun is a point.
@group(3) @binding(3) var<storage, read> sun_disc_pattern: array<u32>;

fn towards_sun(px: vec2u, sample: u32) -> vec3f {
    if frame.sun_radius == 0.0 { return frame.sun_direction; }
    let own = unpack2x16unorm(sun_disc_pattern[(px.y & 63u) * 64u + (px.x & 63u)]);
    // Four samples' points lie in a quarter each of the disc's rings and of its sectors (Hammersley 1960).
    let shift = vec2f(f32(sample), f32((sample & 1u) * 2u + (sample >> 1u))) * 0.25;
    let point = fract(own + unpack2x16unorm(frame.sun_pattern_shift) + shift);
    let radius = frame.sun_radius * sqrt(point.x);
    let angle = 2.0 * PI * point.y;
    return normalize(frame.sun_direction + radius * (cos(angle) * frame.sun_x + sin(angle) * frame.sun_y));
}
