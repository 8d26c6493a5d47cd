// From exposed radiance to the picture: translucency over it, tone mapping, sRGB encoding by hand (no adapter stores sRGB).

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var hdr: texture_2d<f32>;
@group(0) @binding(2) var translucent: texture_2d<f32>;
@group(0) @binding(3) var picture: texture_storage_2d<rgba8unorm, write>;

const TONEMAP_NONE: u32 = 0u;
const TONEMAP_AGX: u32 = 1u;
const TONEMAP_ACES: u32 = 2u;
const TONEMAP_NEUTRAL: u32 = 3u;

fn encode_srgb(c: vec3f) -> vec3f {
    let x = saturate(c);
    return select(1.055 * pow(x, vec3f(1.0 / 2.4)) - 0.055, x * 12.92, x <= vec3f(0.0031308));
}

// One half of AgX's contrast curve: a hyperbola of power p through the pivot, with the slope there, that reaches `end`.
fn agx_half(x: vec3f, pivot: vec2f, slope: f32, power: f32, span: vec2f) -> vec3f {
    let at_end = slope * span.x;
    let scale = pow(pow(at_end, -power) * (pow(at_end / span.y, power) - 1.0), -1.0 / power);
    let term = slope * x / scale;
    return scale * term / pow(1.0 + pow(term, vec3f(power)), vec3f(1.0 / power));
}

// AgX (Sobotka 2019): log2 from 10 stops below to 6.5 above middle grey in slightly inset primaries, then a sigmoid of slope 2
// with toe 3 and shoulder 3.25. The curve's result is encoded with a power of 2.2.
fn agx(color: vec3f) -> vec3f {
    let inset = mat3x3f(
        0.842479062253094, 0.0423282422610123, 0.0423756549057051,
        0.0784335999999992, 0.878468636469772, 0.0784336,
        0.0792237451477643, 0.0791661274605434, 0.879142973793104,
    );
    let outset = mat3x3f(
        1.19687900512017, -0.0528968517574562, -0.0529716355144438,
        -0.0980208811401368, 1.15190312990417, -0.0980434501171241,
        -0.0990297440797205, -0.0989611768448433, 1.15107367264116,
    );
    let pivot = vec2f(10.0 / 16.5, 0.5);
    let stops = log2(max(inset * color, vec3f(1e-10)) / 0.18);
    let x = clamp((stops + 10.0) / 16.5, vec3f(0.0), vec3f(1.0)) - pivot.x;
    let toe = -agx_half(max(-x, vec3f(0.0)), pivot, 2.0, 3.0, pivot);
    let shoulder = agx_half(max(x, vec3f(0.0)), pivot, 2.0, 3.25, 1.0 - pivot);
    let encoded = outset * (select(shoulder, toe, x < vec3f(0.0)) + pivot.y);
    return pow(max(encoded, vec3f(0.0)), vec3f(2.2));
}

// ACES: the rational fit of the reference and output transforms by Stephen Hill, in its own primaries.
fn aces(color: vec3f) -> vec3f {
    let into = mat3x3f(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777);
    let out = mat3x3f(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602);
    let v = into * color;
    let fitted = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
    return saturate(out * fitted);
}

// Khronos PBR Neutral: colours stay as they are below 0.8; above, they are compressed and pulled to white.
fn neutral(color: vec3f) -> vec3f {
    let start = 0.8 - 0.04;
    let lowest = min(color.r, min(color.g, color.b));
    let offset = select(0.04, lowest - 6.25 * lowest * lowest, lowest < 0.08);
    let c = color - offset;
    let peak = max(c.r, max(c.g, c.b));
    if peak < start { return c; }
    let d = 1.0 - start;
    let new_peak = 1.0 - d * d / (peak + d - start);
    let g = 1.0 - 1.0 / (0.15 * (peak - new_peak) + 1.0);
    return mix(c * new_peak / peak, vec3f(new_peak), g);
}

@compute @workgroup_size(8, 8)
fn post(@builtin(global_invocation_id) id: vec3u) {
    if any(id.xy >= frame.size_px) { return; }
    let behind = textureLoad(hdr, id.xy, 0);
    // One transparent texel stands for all where the scene has nothing blended.
    let front = textureLoad(translucent, min(id.xy, textureDimensions(translucent) - 1u), 0);
    let color = behind.rgb * (1.0 - front.a) + front.rgb;
    var mapped = color;
    switch frame.tonemap {
        case TONEMAP_AGX: { mapped = agx(color); }
        case TONEMAP_ACES: { mapped = aces(color); }
        case TONEMAP_NEUTRAL: { mapped = neutral(color); }
        default: {}
    }
    textureStore(picture, id.xy, vec4f(encode_srgb(mapped), 1.0));
}
