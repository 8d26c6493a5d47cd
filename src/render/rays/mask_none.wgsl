// No geometry that casts a shadow has holes.
fn set_ray_width(width: f32) {}
fn mask_stops_ray(material_idx: u32, triangle: u32, weights: vec3f, local_scale: f32) -> bool { return true; }
