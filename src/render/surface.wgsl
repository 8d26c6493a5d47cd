// A point on a surface with its material evaluated: what lighting needs to know.

struct Surface {
    // Relative to the camera.
    position: vec3f,
    // Towards the camera.
    view: vec3f,
    normal: vec3f,
    geometric_normal: vec3f,
    base_color: vec3f,
    alpha: f32,
    metallic: f32,
    // Perceptual.
    roughness: f32,
    occlusion: f32,
    emissive: vec3f,
    is_unlit: bool,
}

// Interpolated vertex attributes with screen-space derivatives of the texture coordinates.
struct Interpolated {
    position: vec3f,
    geometric_normal: vec3f,
    normal: vec3f,
    tangent: vec3f,
    // ±1
    handedness: f32,
    uv0: vec2f, uv0_dx: vec2f, uv0_dy: vec2f,
    uv1: vec2f, uv1_dx: vec2f, uv1_dy: vec2f,
    color: vec4f,
}

// xyz: tangent, w: handedness.
fn decode_tangent(packed: u32) -> vec4f {
    let x = f32(packed & 0xffffu) / 65535.0;
    let y = f32((packed >> 16u) & 0x7fffu) / 32767.0;
    return vec4f(decode_octahedral(vec2f(x, y) * 2.0 - 1.0), select(1.0, -1.0, (packed & 0x80000000u) != 0u));
}

fn view_vector(position: vec3f) -> vec3f {
    return select(normalize(-position), frame.camera_backward.xyz, frame.is_orthographic != 0u);
}

fn sample_texture(use_: TextureUse, v: Interpolated) -> vec4f {
    let is_second = (use_.sampler_and_set & 0x10000u) != 0u;
    let uv = select(v.uv0, v.uv1, is_second);
    let dx = select(v.uv0_dx, v.uv1_dx, is_second);
    let dy = select(v.uv0_dy, v.uv1_dy, is_second);
    let m = use_.uv_from_mesh;
    return textureSampleGrad(
        textures[use_.image_idx], samplers[use_.sampler_and_set & 0xffffu],
        vec2f(dot(m.xy, uv), dot(m.zw, uv)) + use_.uv_offset,
        vec2f(dot(m.xy, dx), dot(m.zw, dx)),
        vec2f(dot(m.xy, dy), dot(m.zw, dy)),
    );
}

fn evaluate_material(material: Material, tint: u32, v: Interpolated) -> Surface {
    var s: Surface;
    s.position = v.position;
    s.view = view_vector(v.position);
    s.is_unlit = (material.flags & FLAG_UNLIT) != 0u;

    var base = material.base_color * v.color;
    if material.base_color_texture.image_idx != NO_TEXTURE { base *= sample_texture(material.base_color_texture, v); }
    let tint_rgb = vec3f(vec3u(tint, tint >> 8u, tint >> 16u) & vec3u(0xffu)) / 127.0;
    s.base_color = base.rgb * tint_rgb;
    s.alpha = base.a;

    s.metallic = material.metallic;
    s.roughness = material.roughness;
    if material.metallic_roughness_texture.image_idx != NO_TEXTURE {
        let texel = sample_texture(material.metallic_roughness_texture, v);
        s.metallic *= texel.b;
        s.roughness *= texel.g;
    }
    // Below this a highlight of the sun would fall between samples.
    s.roughness = clamp(s.roughness, 0.045, 1.0);
    s.metallic = saturate(s.metallic);

    s.occlusion = 1.0;
    if material.occlusion_texture.image_idx != NO_TEXTURE {
        s.occlusion = mix(1.0, sample_texture(material.occlusion_texture, v).r, material.occlusion_strength);
    }
    s.emissive = material.emissive;
    if material.emissive_texture.image_idx != NO_TEXTURE { s.emissive *= sample_texture(material.emissive_texture, v).rgb; }

    // A back face that is seen belongs to a double-sided material: it is lit from the side it is seen from.
    let facing = select(-1.0, 1.0, dot(v.geometric_normal, s.view) >= 0.0);
    s.geometric_normal = v.geometric_normal * facing;
    var normal = normalize(v.normal) * facing;
    if material.normal_texture.image_idx != NO_TEXTURE {
        let texel = sample_texture(material.normal_texture, v).xyz * 2.0 - 1.0;
        let bitangent = v.handedness * cross(normalize(v.normal), v.tangent);
        let bent = v.tangent * (texel.x * material.normal_scale) + bitangent * (texel.y * material.normal_scale);
        normal = normalize(bent * facing + normal * texel.z);
    }
    s.normal = normal;
    return s;
}
