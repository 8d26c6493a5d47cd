// Metallic-roughness BRDF: GGX distribution, height-correlated Smith visibility, Schlick Fresnel, and the energy that
// single scattering loses given back. alpha = roughness².
// Sources: Walter et al. 2007 (GGX), Heitz 2014 (Smith), Schlick 1994, Kulla & Conty 2017, Turquin 2019 (compensation),
// Fdez-Agüera 2019 (the same for image-based light).

fn distribution_ggx(n_dot_h: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let d = (n_dot_h * a2 - n_dot_h) * n_dot_h + 1.0;
    return a2 / (PI * d * d);
}

// Masking-shadowing over 4 (n·l)(n·v).
fn visibility_smith(n_dot_l: f32, n_dot_v: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let v = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2);
    let l = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    return 0.5 / max(v + l, 1e-7);
}

fn fresnel_schlick(f0: vec3f, cosine: f32) -> vec3f {
    let m = saturate(1.0 - cosine);
    let m2 = m * m;
    return f0 + (1.0 - f0) * (m2 * m2 * m);
}

struct Reflectance {
    f0: vec3f,
    diffuse: vec3f,
    alpha: f32,
    n_dot_v: f32,
    // Directional albedo of a white single-scattering specular lobe: scale and bias on f0.
    dfg: vec2f,
    // Factor on single scattering that restores what multiple scattering brings.
    compensation: vec3f,
}

fn reflectance(s: Surface) -> Reflectance {
    var r: Reflectance;
    r.f0 = mix(vec3f(0.04), s.base_color, s.metallic);
    r.diffuse = s.base_color * (1.0 - s.metallic);
    r.alpha = s.roughness * s.roughness;
    r.n_dot_v = clamp(abs(dot(s.normal, s.view)), 1e-3, 1.0);
    r.dfg = textureSampleLevel(dfg, linear_sampler, vec2f(r.n_dot_v, s.roughness), 0.0).xy;
    r.compensation = 1.0 + r.f0 * (1.0 / max(r.dfg.x + r.dfg.y, 1e-3) - 1.0);
    return r;
}

// BRDF times n·l, for light from direction `l`.
fn reflect_light(s: Surface, r: Reflectance, l: vec3f) -> vec3f {
    let n_dot_l = dot(s.normal, l);
    if n_dot_l <= 0.0 { return vec3f(0.0); }
    let h = normalize(l + s.view);
    let fresnel = fresnel_schlick(r.f0, saturate(dot(l, h)));
    let specular = distribution_ggx(saturate(dot(s.normal, h)), r.alpha) * visibility_smith(n_dot_l, r.n_dot_v, r.alpha);
    return (specular * fresnel * r.compensation + r.diffuse * (1.0 - fresnel) / PI) * n_dot_l;
}

// Image-based light: irradiance from spherical harmonics, reflection from the prefiltered cube.
fn reflect_environment(s: Surface, r: Reflectance) -> vec3f {
    let single = r.f0 * r.dfg.x + r.dfg.y;
    let lost = 1.0 - (r.dfg.x + r.dfg.y);
    let average_fresnel = r.f0 + (1.0 - r.f0) / 21.0;
    let multiple = single * average_fresnel / (1.0 - average_fresnel * lost) * lost;
    let diffuse = r.diffuse * (1.0 - single - multiple);

    let reflected = reflect(-s.view, s.normal);
    let level = s.roughness * f32(textureNumLevels(environment) - 1u);
    let radiance = textureSampleLevel(environment, linear_sampler, reflected, level).rgb;
    // Specular occlusion after Lagarde & de Rousiers 2014; reflections below the real surface are none.
    let specular_occlusion = saturate(pow(r.n_dot_v + s.occlusion, exp2(-16.0 * r.alpha - 1.0)) - 1.0 + s.occlusion);
    let horizon = saturate(1.0 + dot(reflected, s.geometric_normal));
    let irradiance = sky_irradiance(s.normal);
    return (multiple + diffuse) * irradiance / PI * s.occlusion + single * radiance * specular_occlusion * horizon * horizon;
}

// Irradiance on a plane facing n: nine spherical harmonics, already convolved with the cosine (Ramamoorthi & Hanrahan 2001).
fn sky_irradiance(n: vec3f) -> vec3f {
    var e = irradiance_sh[0].rgb
        + irradiance_sh[1].rgb * n.y + irradiance_sh[2].rgb * n.z + irradiance_sh[3].rgb * n.x
        + irradiance_sh[4].rgb * (n.x * n.y) + irradiance_sh[5].rgb * (n.y * n.z)
        + irradiance_sh[6].rgb * (3.0 * n.z * n.z - 1.0) + irradiance_sh[7].rgb * (n.x * n.z)
        + irradiance_sh[8].rgb * (n.x * n.x - n.y * n.y);
    return max(e, vec3f(0.0));
}
