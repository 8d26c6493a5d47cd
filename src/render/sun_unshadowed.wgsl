// How much of the sun a surface sees: all of it.
fn choose_sun_samples(px: vec2u, mask: u32) {}
fn sun_visibility(s: Surface) -> f32 {
    return 1.0;
}
