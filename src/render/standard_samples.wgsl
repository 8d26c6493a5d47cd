// The standard positions of four samples in a pixel, which Vulkan, D3D and Metal share.
fn standard_position(sample: u32) -> vec2f {
    switch sample {
        case 0u: { return vec2f(0.375, 0.125); }
        case 1u: { return vec2f(0.875, 0.375); }
        case 2u: { return vec2f(0.125, 0.625); }
        default: { return vec2f(0.625, 0.875); }
    }
}
