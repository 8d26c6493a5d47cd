// How much of the sun a surface sees, by a ray of its own: for what is not in the visibility target.
var<private> chosen_px: vec2u;
fn choose_sun_samples(px: vec2u, mask: u32) { chosen_px = px; }
fn sun_visibility(s: Surface) -> f32 {
    if dot(s.geometric_normal, frame.sun_direction) <= 0.0 { return 0.0; }
    let depth = select(-dot(s.position, frame.camera_backward.xyz), 1.0, frame.is_orthographic != 0u);
    let width = depth / frame.px_per_metre;
    set_ray_width(width);
    // As in receiver.wgsl: the roundings of the numbers on the way, and a little of a pixel.
    let lift = 1.9e-6 * (length(frame.camera_position) + length(s.position)) + 0.05 * width;
    let origin = s.position + frame.camera_position + s.geometric_normal * lift;
    return select(1.0, 0.0, sun_ray_is_blocked(origin, towards_sun(chosen_px, 0u), 1e30));
}
