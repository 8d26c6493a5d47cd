// One sample a pixel, in its middle.
const N_SAMPLES: u32 = 1u;
fn sample_position(sample: u32) -> vec2f { return vec2f(0.5); }
