// The picture onto the window's surface, pixel by pixel. The picture is sRGB encoded; a surface that encodes by itself
// needs it decoded first.

@group(0) @binding(0) var picture: texture_2d<f32>;

@vertex
fn whole_surface(@builtin(vertex_index) vertex_idx: u32) -> @builtin(position) vec4f {
    // One triangle twice as large as the surface.
    let corner = vec2f(f32(vertex_idx & 1u), f32(vertex_idx >> 1u));
    return vec4f(corner * 4.0 - 1.0, 0.0, 1.0);
}

// Between two sizes the surface can be larger than the picture: its edge goes on then.
fn picture_at(position: vec4f) -> vec3f {
    let last = textureDimensions(picture) - 1u;
    return textureLoad(picture, min(vec2u(position.xy), last), 0).rgb;
}

@fragment
fn as_it_is(@builtin(position) position: vec4f) -> @location(0) vec4f {
    return vec4f(picture_at(position), 1.0);
}

@fragment
fn decoded(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let c = picture_at(position);
    let linear = select(pow((c + 0.055) / 1.055, vec3f(2.4)), c / 12.92, c <= vec3f(0.04045));
    return vec4f(linear, 1.0);
}
