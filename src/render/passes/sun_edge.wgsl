// Edge rays: where light and shadow meet within a pixel or between neighbours, a ray for each of the four standard sample positions,
// on the surface that the sample sees.

@group(2) @binding(3) var hard_samples: texture_2d<u32>;
@group(2) @binding(4) var sun_samples: texture_storage_2d<r32uint, write>;

// With the neighbours around it.
const BORDERED: vec2u = TILE + 2u;
// Relative difference of depth between neighbours that may be one surface, for all we know.
const NEAR_ENOUGH: f32 = 0.01;

var<workgroup> hard: array<u32, BORDERED.x * BORDERED.y>;
var<workgroup> depths: array<f32, BORDERED.x * BORDERED.y>;
var<workgroup> n_edges: atomic<u32>;
var<workgroup> edges: array<u32, LANES>;

// Light and shadow that meet at a silhouette, on two surfaces of which one hides the other, are the geometry's edge and smooth already.
// Depth is affine across a plane, whatever its slope: what lies on the line through the pixel and its opposite neighbour is its surface.
fn is_one_surface(own: f32, neighbour: f32, opposite: f32) -> bool {
    let bend = abs(neighbour - 2.0 * own + opposite);
    return min(abs(neighbour - own), bend) <= NEAR_ENOUGH * own;
}

fn is_edge(at: vec2u) -> bool {
    let middle = (at.y + 1u) * BORDERED.x + at.x + 1u;
    let own = hard[middle];
    if own == SUN_UNTRACED { return false; }
    let is_dark = has_dark(own);
    let is_lit = has_lit(own);
    if is_dark && is_lit { return true; }
    var is_found = false;
    for (var y = 0u; y < 3u; y++) {
        for (var x = 0u; x < 3u; x++) {
            let there = (at.y + y) * BORDERED.x + at.x + x;
            let word = hard[there];
            let is_other = (is_dark && has_lit(word)) || (is_lit && has_dark(word));
            is_found |= is_other && is_one_surface(depths[middle], depths[there], depths[2u * middle - there]);
        }
    }
    return is_found;
}

// Lists the ray of one sample; its byte stays as if it was not blocked, unless it is known to be.
fn list_sample(px: vec2u, lane: u32, i: u32) {
    let id = load_id(px, min(i, N_SAMPLES - 1u));
    if id == NO_TRIANGLE { return; }
    let r = receiver(id);
    if !r.is_traced { return; }
    count_ray(COUNT_EDGE_RAYS);
    if list_ray(ray_start(r, vec2f(px) + standard_position(i)), lane, 1u << i) {
        atomicAnd(&tile_words[lane], ~(0xffu << (8u * i)));
    } else {
        atomicOr(&tile_words[lane], 0xffu << (8u * i));
    }
}

@compute @workgroup_size(TILE.x, TILE.y)
fn sun_edge(
    @builtin(workgroup_id) tile: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = tile.xy * TILE;
    for (var i = lane; i < BORDERED.x * BORDERED.y; i += LANES) {
        let px = vec2i(first + vec2u(i % BORDERED.x, i / BORDERED.x)) - 1;
        let is_inside = all(px >= vec2i(0)) && all(px < vec2i(frame.size_px));
        hard[i] = SUN_UNTRACED;
        depths[i] = 0.0;
        if is_inside {
            hard[i] = textureLoad(hard_samples, px, 0).x;
            depths[i] = textureLoad(depth, px, 0);
        }
    }
    workgroupBarrier();
    let is_edge_px = is_edge(local.xy);
    if is_edge_px {
        edges[atomicAdd(&n_edges, 1u)] = lane;
        atomicStore(&tile_words[lane], SUN_UNTRACED);
    } else {
        atomicStore(&tile_words[lane], hard[(local.y + 1u) * BORDERED.x + local.x + 1u]);
    }
    workgroupBarrier();
    let n_samples = 4u * atomicLoad(&n_edges);
    for (var i = lane; i < n_samples; i += LANES) {
        let px = edges[i / 4u];
        list_sample(first + vec2u(px % TILE.x, px / TILE.x), px, i % 4u);
    }
    workgroupBarrier();
    trace_listed(first, lane);
    if COUNTS_RAYS && lane == 0u { atomicAdd(&ray_counts[COUNT_EDGE_PX], atomicLoad(&n_edges)); }
    workgroupBarrier();
    if any(first + local.xy >= frame.size_px) { return; }
    var word = atomicLoad(&tile_words[lane]);
    if N_SAMPLES == 1u && is_edge_px {
        // All four are of one surface: their mean.
        word = (SUN_UNTRACED & 0xffffff00u) | (countOneBits(word & 0x01010101u) * 255u / 4u);
    }
    textureStore(sun_samples, first + local.xy, vec4u(word));
}
