// What is known of the sun at a pixel: a byte for each sample, 0 in shadow to 255 in light. With one sample a pixel the first byte is
// its mean over the pixel. And the rays of a workgroup: threads list them first and then share them, so that pixels with several
// surfaces, and those with none that the sun could light, leave no thread waiting for its neighbours.

const SUN_UNTRACED: u32 = 0x80808080u;
const TILE: vec2u = vec2u(16u, 8u);
const LANES: u32 = TILE.x * TILE.y;

// Origin, then: the pixel's place in the tile, its samples' bits from bit 8 on, what is foreseen of the ray from bit 12 on, its width as a
// half from bit 16 on.
var<workgroup> tile_rays: array<vec4u, 4u * LANES>;
var<workgroup> n_tile_rays: atomic<u32>;
var<workgroup> tile_words: array<atomic<u32>, LANES>;

// What is counted where someone asks for it.
override COUNTS_RAYS: bool = false;
@group(2) @binding(2) var<storage, read_write> ray_counts: array<atomic<u32>, N_RAY_COUNTS>;
const N_RAY_COUNTS: u32 = 6u;
const COUNT_SURFACE_RAYS: u32 = 0u;
const COUNT_EDGE_PX: u32 = 1u;
const COUNT_EDGE_RAYS: u32 = 2u;
// Of both kinds: rays that the column map found to pass what stands still, or to be blocked; and those that were not traced at all.
const COUNT_PASSES_STILL: u32 = 3u;
const COUNT_BLOCKED: u32 = 4u;
const COUNT_UNTRACED: u32 = 5u;

fn count_ray(which: u32) {
    if COUNTS_RAYS { atomicAdd(&ray_counts[which], 1u); }
}

// Whether any byte is 0.
fn has_dark(word: u32) -> bool { return ((word - 0x01010101u) & ~word & 0x80808080u) != 0u; }
fn has_lit(word: u32) -> bool { return has_dark(~word); }

// Four bits to four bytes.
fn bytes_of(mask: u32) -> u32 { return ((mask * 0x00204081u) & 0x01010101u) * 0xffu; }

// Lists a ray to be traced, unless all of it is foreseen. Returns whether it is known to be blocked.
fn list_ray(start: RayStart, lane: u32, mask: u32) -> bool {
    let foreseen = foresee_ray(start.origin);
    if (foreseen & RAY_PASSES_STILL) != 0u { count_ray(COUNT_PASSES_STILL); }
    if foreseen == RAY_BLOCKED { count_ray(COUNT_BLOCKED); }
    if foreseen == RAY_BLOCKED || foreseen == RAY_PASSES {
        count_ray(COUNT_UNTRACED);
        return foreseen == RAY_BLOCKED;
    }
    let rest = lane | (mask << 8u) | (foreseen << 12u) | (pack2x16float(vec2f(start.width, 0.0)) << 16u);
    tile_rays[atomicAdd(&n_tile_rays, 1u)] = vec4u(bitcast<vec3u>(start.origin), rest);
    return false;
}

// Traces what all threads have listed, and takes the light from the samples of those that are blocked. Between two barriers.
fn trace_listed(tile_px: vec2u, lane: u32) {
    let n_rays = atomicLoad(&n_tile_rays);
    for (var i = lane; i < n_rays; i += LANES) {
        let ray = tile_rays[i];
        set_ray_width(unpack2x16float(ray.w >> 16u).x);
        let px = ray.w & 0xffu;
        let samples = (ray.w >> 8u) & 0xfu;
        let direction = towards_sun(tile_px + vec2u(px % TILE.x, px / TILE.x), firstTrailingBit(samples));
        if foreseen_ray_is_blocked(bitcast<vec3f>(ray.xyz), direction, 1e30, (ray.w >> 12u) & 0xfu) {
            atomicAnd(&tile_words[px], ~bytes_of(samples));
        }
    }
}
