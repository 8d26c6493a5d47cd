// Edge rays: where light and shadow meet within a pixel or between neighbours, a ray for each of the four standard sample positions,
// on the surface that the sample sees. A workgroup first lists its edge pixels, then shares their rays among its threads.

@group(2) @binding(2) var hard_samples: texture_2d<u32>;
@group(2) @binding(3) var sun_samples: texture_storage_2d<r32uint, write>;

const TILE: u32 = 8u;
// With the neighbours around it.
const BORDERED: u32 = TILE + 2u;
const UNTRACED: u32 = SUN_UNTRACED * 0x01010101u;

var<workgroup> hard: array<u32, BORDERED * BORDERED>;
var<workgroup> n_edges: atomic<u32>;
var<workgroup> edges: array<u32, TILE * TILE>;
var<workgroup> traced: array<atomic<u32>, TILE * TILE>;

fn is_edge(at: vec2u) -> bool {
    var is_dark_near = false;
    var is_lit_near = false;
    for (var y = 0u; y < 3u; y++) {
        for (var x = 0u; x < 3u; x++) {
            let word = hard[(at.y + y) * BORDERED + at.x + x];
            is_dark_near |= has_dark(word);
            is_lit_near |= has_lit(word);
        }
    }
    let own = hard[(at.y + 1u) * BORDERED + at.x + 1u];
    return is_dark_near && is_lit_near && own != UNTRACED;
}

// The byte of one sample.
fn trace_sample(px: vec2u, i: u32) -> u32 {
    let id = load_id(px, min(i, N_SAMPLES - 1u));
    if id == NO_TRIANGLE { return SUN_UNTRACED; }
    let r = receiver(id);
    if !r.is_traced { return SUN_UNTRACED; }
    return select(SUN_LIT, 0u, is_in_shadow(r, vec2f(px) + standard_position(i)));
}

@compute @workgroup_size(TILE, TILE)
fn sun_edge(
    @builtin(workgroup_id) tile: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = tile.xy * TILE;
    for (var i = lane; i < BORDERED * BORDERED; i += TILE * TILE) {
        let px = vec2i(first + vec2u(i % BORDERED, i / BORDERED)) - 1;
        let is_inside = all(px >= vec2i(0)) && all(px < vec2i(frame.size_px));
        hard[i] = UNTRACED;
        if is_inside { hard[i] = textureLoad(hard_samples, px, 0).x; }
    }
    workgroupBarrier();
    let own = hard[(local.y + 1u) * BORDERED + local.x + 1u];
    let is_edge_px = is_edge(local.xy);
    if is_edge_px { edges[atomicAdd(&n_edges, 1u)] = lane; }
    workgroupBarrier();
    let n_rays = 4u * atomicLoad(&n_edges);
    for (var ray = lane; ray < n_rays; ray += TILE * TILE) {
        let px = edges[ray / 4u];
        let i = ray % 4u;
        let byte = trace_sample(first + vec2u(px % TILE, px / TILE), i);
        atomicOr(&traced[px], byte << (8u * i));
    }
    workgroupBarrier();
    var word = own;
    if is_edge_px {
        word = atomicLoad(&traced[lane]);
        if N_SAMPLES == 1u {
            // All four are of one surface.
            word = (UNTRACED & 0xffffff00u) | (countOneBits(word & 0x01010101u) * 255u / 4u);
        }
    }
    if all(first + local.xy < frame.size_px) { textureStore(sun_samples, first + local.xy, vec4u(word)); }
}
