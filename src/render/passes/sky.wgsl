// The sky from the sun's place, baked once when a scene is loaded: radiance cube, its prefiltered levels, irradiance, and the
// BRDF's directional albedo. Clear-air atmosphere with ozone and haze after Hillaire 2020, "A Scalable and Production Ready Sky
// and Atmosphere Rendering Technique"; transmittance table after Bruneton & Neyret 2008. Lengths in km, radiance in nits.

struct Sky {
    sun_direction: vec3f,
    // Haze, times the clear-air Mie coefficients.
    mie_scale: f32,
    // Lux above the atmosphere.
    sun_illuminance: vec3f,
    face_size: u32,
    ground_albedo: vec3f,
    roughness: f32,
}

@group(0) @binding(0) var<uniform> sky: Sky;
@group(0) @binding(1) var linear_sampler: sampler;
@group(0) @binding(2) var transmittance_lut: texture_2d<f32>;
@group(0) @binding(3) var multiscatter_lut: texture_2d<f32>;
@group(0) @binding(4) var source: texture_cube<f32>;
@group(0) @binding(5) var<storage, read> irradiance_in: array<vec4f>;
@group(1) @binding(0) var target_2d: texture_storage_2d<rgba16float, write>;
@group(1) @binding(1) var target_cube: texture_storage_2d_array<rgba16float, write>;
@group(1) @binding(2) var<storage, read_write> irradiance_out: array<vec4f>;

const PI: f32 = 3.14159265359;
const GROUND: f32 = 6360.0;
const TOP: f32 = 6460.0;
const RAYLEIGH: vec3f = vec3f(5.802e-3, 13.558e-3, 33.1e-3);
const MIE_SCATTERING: f32 = 3.996e-3;
// Single-scattering albedo 0.9 (Bruneton & Neyret 2008).
const MIE_EXTINCTION: f32 = 4.44e-3;
const OZONE: vec3f = vec3f(0.650e-3, 1.881e-3, 0.085e-3);
const MIE_G: f32 = 0.8;

struct Medium {
    rayleigh: vec3f,
    mie: f32,
    extinction: vec3f,
}

fn medium_at(radius: f32) -> Medium {
    let height = max(radius - GROUND, 0.0);
    let rayleigh = RAYLEIGH * exp(-height / 8.0);
    let haze = exp(-height / 1.2) * sky.mie_scale;
    let ozone = OZONE * max(0.0, 1.0 - abs(height - 25.0) / 15.0);
    return Medium(rayleigh, MIE_SCATTERING * haze, rayleigh + vec3f(MIE_EXTINCTION * haze) + ozone);
}

// Distance along a ray from radius r with zenith cosine mu to the sphere of radius `sphere`; negative if it misses.
fn far_hit(r: f32, mu: f32, sphere: f32) -> f32 {
    let d = r * r * (mu * mu - 1.0) + sphere * sphere;
    return select(-1.0, -r * mu + sqrt(max(d, 0.0)), d >= 0.0);
}

fn ground_hit(r: f32, mu: f32) -> f32 {
    let d = r * r * (mu * mu - 1.0) + GROUND * GROUND;
    return select(-1.0, -r * mu - sqrt(max(d, 0.0)), d >= 0.0 && mu < 0.0);
}

// Nearer to the ground than 10 m, rounding could take a point below it, from where the sun shows through the Earth.
fn sun_transmittance(radius: f32, mu: f32) -> vec3f {
    let r = max(radius, GROUND + 0.01);
    if ground_hit(r, mu) >= 0.0 { return vec3f(0.0); }
    let horizon = sqrt(TOP * TOP - GROUND * GROUND);
    let rho = sqrt(max(r * r - GROUND * GROUND, 0.0));
    let nearest = TOP - r;
    let x = (far_hit(r, mu, TOP) - nearest) / max(rho + horizon - nearest, 1e-4);
    return textureSampleLevel(transmittance_lut, linear_sampler, vec2f(x, rho / horizon), 0.0).rgb;
}

@compute @workgroup_size(8, 8)
fn transmittance(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(target_2d);
    if any(id.xy >= size) { return; }
    let uv = (vec2f(id.xy) + 0.5) / vec2f(size);
    let horizon = sqrt(TOP * TOP - GROUND * GROUND);
    let rho = horizon * uv.y;
    let r = sqrt(rho * rho + GROUND * GROUND);
    let nearest = TOP - r;
    let distance = nearest + uv.x * (rho + horizon - nearest);
    let mu = clamp((horizon * horizon - rho * rho - distance * distance) / max(2.0 * r * distance, 1e-4), -1.0, 1.0);
    let step = distance / 40.0;
    var depth = vec3f(0.0);
    for (var i = 0; i < 40; i++) {
        let t = (f32(i) + 0.5) * step;
        depth += medium_at(sqrt(r * r + t * t + 2.0 * r * mu * t)).extinction * step;
    }
    textureStore(target_2d, id.xy, vec4f(exp(-depth), 1.0));
}

// x: sun's zenith cosine -1..1; y: height. What all orders of scattering beyond the second add per unit of sun illuminance.
@compute @workgroup_size(8, 8)
fn multiscatter(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(target_2d);
    if any(id.xy >= size) { return; }
    let uv = (vec2f(id.xy) + 0.5) / vec2f(size);
    let mu_sun = uv.x * 2.0 - 1.0;
    let r = mix(GROUND + 0.001, TOP - 0.001, uv.y);
    let sun = vec3f(sqrt(max(1.0 - mu_sun * mu_sun, 0.0)), mu_sun, 0.0);
    var second_order = vec3f(0.0);
    var transfer = vec3f(0.0);
    for (var i = 0u; i < 64u; i++) {
        let z = 1.0 - 2.0 * (f32(i) + 0.5) / 64.0;
        let azimuth = 2.399963 * f32(i);
        let direction = vec3f(sqrt(1.0 - z * z) * cos(azimuth), z, sqrt(1.0 - z * z) * sin(azimuth));
        let to_ground = ground_hit(r, direction.y);
        let distance = select(far_hit(r, direction.y, TOP), to_ground, to_ground >= 0.0);
        let step = distance / 20.0;
        var through = vec3f(1.0);
        for (var k = 0; k < 20; k++) {
            let point = vec3f(0.0, r, 0.0) + direction * (f32(k) + 0.5) * step;
            let radius = length(point);
            let medium = medium_at(radius);
            let scattering = medium.rayleigh + vec3f(medium.mie);
            let kept = exp(-medium.extinction * step);
            let weight = through * (1.0 - kept) / max(medium.extinction, vec3f(1e-9));
            let lit = sun_transmittance(radius, dot(point, sun) / radius);
            second_order += weight * scattering * lit / (4.0 * PI) / 64.0;
            transfer += weight * scattering / 64.0;
            through *= kept;
        }
        if to_ground >= 0.0 {
            let point = vec3f(0.0, r, 0.0) + direction * distance;
            let mu = dot(point, sun) / length(point);
            second_order += through * sun_transmittance(GROUND, mu) * max(mu, 0.0) * sky.ground_albedo / PI / 64.0;
        }
    }
    textureStore(target_2d, id.xy, vec4f(second_order / (1.0 - min(transfer, vec3f(0.99))), 1.0));
}

fn face_direction(face: u32, uv: vec2f) -> vec3f {
    let p = uv * 2.0 - 1.0;
    switch face {
        case 0u: { return normalize(vec3f(1.0, -p.y, -p.x)); }
        case 1u: { return normalize(vec3f(-1.0, -p.y, p.x)); }
        case 2u: { return normalize(vec3f(p.x, 1.0, p.y)); }
        case 3u: { return normalize(vec3f(p.x, -1.0, -p.y)); }
        case 4u: { return normalize(vec3f(p.x, -p.y, 1.0)); }
        default: { return normalize(vec3f(-p.x, -p.y, -1.0)); }
    }
}

// In-scattered radiance; alpha is what comes through from the ground, 0 where the ray leaves the atmosphere.
@compute @workgroup_size(8, 8)
fn radiance(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= vec2u(sky.face_size)) { return; }
    let direction = face_direction(id.z, (vec2f(id.xy) + 0.5) / f32(sky.face_size));
    let r = GROUND + 0.01;
    let to_ground = ground_hit(r, direction.y);
    let distance = select(far_hit(r, direction.y, TOP), to_ground, to_ground >= 0.0);
    let cosine = dot(direction, sky.sun_direction);
    let rayleigh_phase = 3.0 / (16.0 * PI) * (1.0 + cosine * cosine);
    let g2 = MIE_G * MIE_G;
    let mie_phase = 3.0 / (8.0 * PI) * (1.0 - g2) * (1.0 + cosine * cosine)
        / ((2.0 + g2) * pow(1.0 + g2 - 2.0 * MIE_G * cosine, 1.5));
    var light = vec3f(0.0);
    var through = vec3f(1.0);
    for (var k = 0; k < 32; k++) {
        // Steps grow with distance: the air is densest here.
        let t0 = distance * pow(f32(k) / 32.0, 2.0);
        let t1 = distance * pow(f32(k + 1) / 32.0, 2.0);
        let point = vec3f(0.0, r, 0.0) + direction * mix(t0, t1, 0.5);
        let radius = length(point);
        let mu_sun = dot(point, sky.sun_direction) / radius;
        let medium = medium_at(radius);
        let kept = exp(-medium.extinction * (t1 - t0));
        let weight = through * (1.0 - kept) / max(medium.extinction, vec3f(1e-9));
        let uv = vec2f(mu_sun * 0.5 + 0.5, saturate((radius - GROUND) / (TOP - GROUND)));
        let more = textureSampleLevel(multiscatter_lut, linear_sampler, uv, 0.0).rgb;
        let once = sun_transmittance(radius, mu_sun) * (medium.rayleigh * rayleigh_phase + medium.mie * mie_phase);
        light += weight * (once + more * (medium.rayleigh + vec3f(medium.mie)));
        through *= kept;
    }
    let mean_through = select(0.0, (through.r + through.g + through.b) / 3.0, to_ground >= 0.0);
    textureStore(target_cube, id.xy, id.z, vec4f(light * sky.sun_illuminance, mean_through));
}

fn irradiance_up() -> vec3f {
    return irradiance_in[0].rgb + irradiance_in[1].rgb - irradiance_in[6].rgb - irradiance_in[8].rgb;
}

// Adds the ground, lit by the sun and by the sky above it.
@compute @workgroup_size(8, 8)
fn ground(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= vec2u(sky.face_size)) { return; }
    let direction = face_direction(id.z, (vec2f(id.xy) + 0.5) / f32(sky.face_size));
    let seen = textureSampleLevel(source, linear_sampler, direction, 0.0);
    let mu = sky.sun_direction.y;
    let sun = sky.sun_illuminance * sun_transmittance(GROUND, mu) * max(mu, 0.0);
    let lit = sky.ground_albedo / PI * (sun + max(irradiance_up(), vec3f(0.0)));
    textureStore(target_cube, id.xy, id.z, vec4f(seen.rgb + lit * seen.a, 1.0));
}

// Half the size: four texels into one.
@compute @workgroup_size(8, 8)
fn downsample(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= vec2u(sky.face_size)) { return; }
    let direction = face_direction(id.z, (vec2f(id.xy) + 0.5) / f32(sky.face_size));
    textureStore(target_cube, id.xy, id.z, textureSampleLevel(source, linear_sampler, direction, 0.0));
}

fn hammersley(i: u32, n: u32) -> vec2f {
    return vec2f((f32(i) + 0.5) / f32(n), f32(reverseBits(i)) * 2.3283064365386963e-10);
}

fn half_vector(xi: vec2f, alpha: f32) -> vec3f {
    let cosine = sqrt((1.0 - xi.y) / (1.0 + (alpha * alpha - 1.0) * xi.y));
    let sine = sqrt(max(1.0 - cosine * cosine, 0.0));
    return vec3f(sine * cos(2.0 * PI * xi.x), sine * sin(2.0 * PI * xi.x), cosine);
}

fn basis(n: vec3f) -> mat3x3f {
    let up = select(vec3f(0.0, 0.0, 1.0), vec3f(1.0, 0.0, 0.0), abs(n.z) > 0.9);
    let t = normalize(cross(up, n));
    return mat3x3f(t, cross(n, t), n);
}

// GGX-filtered radiance for reflection along `n` seen from `n` (Karis 2013), each sample from the level that its solid angle
// asks for (Křivánek & Colbert 2008).
@compute @workgroup_size(8, 8)
fn prefilter(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= vec2u(sky.face_size)) { return; }
    let n = face_direction(id.z, (vec2f(id.xy) + 0.5) / f32(sky.face_size));
    let frame_of_n = basis(n);
    let alpha = sky.roughness * sky.roughness;
    let source_size = f32(textureDimensions(source).x);
    let texel_angle = 4.0 * PI / (6.0 * source_size * source_size);
    var sum = vec3f(0.0);
    var weight = 0.0;
    let n_samples = 64u;
    for (var i = 0u; i < n_samples; i++) {
        let h = half_vector(hammersley(i, n_samples), alpha);
        let l = 2.0 * h.z * h - vec3f(0.0, 0.0, 1.0);
        if l.z <= 0.0 { continue; }
        let d = (h.z * h.z) * (alpha * alpha - 1.0) + 1.0;
        let pdf = alpha * alpha / (PI * d * d) / 4.0;
        let angle = 1.0 / (f32(n_samples) * pdf);
        let level = max(0.5 * log2(angle / texel_angle) + 1.0, 0.0);
        sum += textureSampleLevel(source, linear_sampler, frame_of_n * l, level).rgb * l.z;
        weight += l.z;
    }
    textureStore(target_cube, id.xy, id.z, vec4f(sum / max(weight, 1e-4), 1.0));
}

// x: n·v; y: perceptual roughness. Scale (x) and bias (y) on f0 of the specular directional albedo (Karis 2013).
@compute @workgroup_size(8, 8)
fn directional_albedo(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(target_2d);
    if any(id.xy >= size) { return; }
    let uv = (vec2f(id.xy) + 0.5) / vec2f(size);
    let n_dot_v = max(uv.x, 1e-3);
    let alpha = max(uv.y * uv.y, 1e-3);
    let v = vec3f(sqrt(1.0 - n_dot_v * n_dot_v), 0.0, n_dot_v);
    var result = vec2f(0.0);
    for (var i = 0u; i < 256u; i++) {
        let h = half_vector(hammersley(i, 256u), alpha);
        let v_dot_h = max(dot(v, h), 1e-4);
        let l = 2.0 * v_dot_h * h - v;
        if l.z <= 0.0 { continue; }
        let a2 = alpha * alpha;
        let smith = l.z * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2) + n_dot_v * sqrt(l.z * l.z * (1.0 - a2) + a2);
        let visibility = 0.5 / smith * 4.0 * l.z * v_dot_h / h.z;
        let fresnel = pow(1.0 - v_dot_h, 5.0);
        result += vec2f(1.0 - fresnel, fresnel) * visibility / 256.0;
    }
    textureStore(target_2d, id.xy, vec4f(result, 0.0, 1.0));
}

var<workgroup> partial: array<array<vec3f, 9>, 64>;

// Radiance into nine spherical harmonics, convolved with the cosine lobe and scaled so that a dot product with the
// polynomials in brdf.wgsl gives irradiance (Ramamoorthi & Hanrahan 2001). One workgroup; the order of additions is fixed.
@compute @workgroup_size(64)
fn project(@builtin(local_invocation_index) lane: u32) {
    var sum: array<vec3f, 9>;
    const N: u32 = 32u;
    for (var i = lane; i < 6u * N * N; i += 64u) {
        let uv = (vec2f(vec2u(i % N, i / N % N)) + 0.5) / f32(N);
        let d = face_direction(i / (N * N), uv);
        let p = uv * 2.0 - 1.0;
        let solid_angle = 4.0 / f32(N * N) / pow(1.0 + dot(p, p), 1.5);
        let light = textureSampleLevel(source, linear_sampler, d, 0.0).rgb * solid_angle;
        sum[0] += light * 0.282095 * 0.282095 * PI;
        sum[1] += light * d.y * (0.488603 * 0.488603 * 2.0 * PI / 3.0);
        sum[2] += light * d.z * (0.488603 * 0.488603 * 2.0 * PI / 3.0);
        sum[3] += light * d.x * (0.488603 * 0.488603 * 2.0 * PI / 3.0);
        sum[4] += light * (d.x * d.y) * (1.092548 * 1.092548 * PI / 4.0);
        sum[5] += light * (d.y * d.z) * (1.092548 * 1.092548 * PI / 4.0);
        sum[6] += light * (3.0 * d.z * d.z - 1.0) * (0.315392 * 0.315392 * PI / 4.0);
        sum[7] += light * (d.x * d.z) * (1.092548 * 1.092548 * PI / 4.0);
        sum[8] += light * (d.x * d.x - d.y * d.y) * (0.546274 * 0.546274 * PI / 4.0);
    }
    partial[lane] = sum;
    workgroupBarrier();
    if lane < 9u {
        var total = vec3f(0.0);
        for (var i = 0u; i < 64u; i++) { total += partial[i][lane]; }
        irradiance_out[lane] = vec4f(total, 0.0);
    }
}
