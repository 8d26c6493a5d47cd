// Four samples a pixel, at the standard positions.
const N_SAMPLES: u32 = 4u;
fn sample_position(sample: u32) -> vec2f { return standard_position(sample); }
