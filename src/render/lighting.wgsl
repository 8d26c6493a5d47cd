// Everything that lights a surface: sun, sky, clustered lights. Radiance in nits, times the exposure.

fn cluster_of(position: vec3f, px: vec2f) -> u32 {
    let depth = -dot(frame.camera_backward.xyz, position);
    let t = log(max(depth, 1e-6) / frame.cluster_near) / log(frame.cluster_far / frame.cluster_near);
    let z = u32(clamp(t * f32(CLUSTERS.z), 0.0, f32(CLUSTERS.z) - 1.0));
    let tile = min(vec2u(px / vec2f(frame.size_px) * vec2f(CLUSTERS.xy)), CLUSTERS.xy - 1u);
    return tile.x + CLUSTERS.x * (tile.y + CLUSTERS.y * z);
}

// KHR_lights_punctual: inverse square, windowed so that it ends at the range.
fn distance_attenuation(distance2: f32, range: f32) -> f32 {
    let ratio2 = distance2 / (range * range);
    let window = saturate(1.0 - ratio2 * ratio2);
    return window / max(distance2, 1e-4);
}

fn reflect_punctual(s: Surface, r: Reflectance, light: PlacedLight) -> vec3f {
    if light.kind == LIGHT_DIRECTIONAL { return light.color * reflect_light(s, r, -light.direction); }
    let to_light = light.position - s.position;
    let distance2 = dot(to_light, to_light);
    if distance2 > light.range * light.range { return vec3f(0.0); }
    let l = to_light * inverseSqrt(max(distance2, 1e-12));
    var attenuation = distance_attenuation(distance2, light.range);
    if light.kind == LIGHT_SPOT {
        let angle = saturate(dot(-l, light.direction) * light.angle_scale + light.angle_offset);
        attenuation *= angle * angle;
    }
    return light.color * attenuation * reflect_light(s, r, l);
}

fn radiance_of(s: Surface, px: vec2f) -> vec3f {
    // Unlit colours are meant as they are on the screen: white is the display's white, whatever the exposure.
    if s.is_unlit { return s.base_color; }
    let r = reflectance(s);
    var radiance = s.emissive + reflect_environment(s, r);
    if any(frame.sun_illuminance > vec3f(0.0)) && dot(s.normal, frame.sun_direction) > 0.0 {
        radiance += frame.sun_illuminance * sun_visibility(s) * reflect_light(s, r, frame.sun_direction);
    }
    let first_word = cluster_of(s.position, px) * frame.n_light_words;
    for (var word = 0u; word < frame.n_light_words; word++) {
        var bits = cluster_lights[first_word + word];
        while bits != 0u {
            let bit = firstTrailingBit(bits);
            bits &= bits - 1u;
            radiance += reflect_punctual(s, r, placed_lights[word * 32u + bit]);
        }
    }
    return radiance * frame.exposure;
}

// The sky (and the ground below it) in a direction, with the sun's disc.
fn background(direction: vec3f) -> vec3f {
    let sky = textureSampleLevel(environment, linear_sampler, direction, 0.0).rgb;
    // 0.267° of radius; its edge is 5% of that wide.
    let cosine = dot(direction, frame.sun_direction);
    let angle = sqrt(max(2.0 - 2.0 * cosine, 0.0)) / 0.00466;
    let disc = saturate((1.0 - angle) * 20.0 + 0.5) * select(0.0, 1.0, direction.y > -0.01);
    let disc_radiance = frame.sun_illuminance / (PI * 0.00466 * 0.00466);
    return min((sky + disc * disc_radiance) * frame.exposure, vec3f(60000.0));
}
