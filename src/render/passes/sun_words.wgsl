// What is known of the sun at a pixel: a byte for each sample, 0 in shadow to 255 in light. With one sample a pixel the first byte is
// its mean over the pixel. And the rays of a workgroup: threads list them first and then share them, so that pixels with several
// surfaces, and those with none that the sun could light, leave no thread waiting for its neighbours.

const SUN_UNTRACED: u32 = 0x80808080u;
const TILE: vec2u = vec2u(16u, 8u);
const LANES: u32 = TILE.x * TILE.y;

// Origin, then: the pixel's place in the tile, its samples' bits from bit 8 on, the ray's width as a half from bit 16 on.
var<workgroup> tile_rays: array<vec4u, 4u * LANES>;
var<workgroup> n_tile_rays: atomic<u32>;
var<workgroup> tile_words: array<atomic<u32>, LANES>;

// What is counted where someone asks for it: first rays, pixels that got edge rays, edge rays.
override COUNTS_RAYS: bool = false;
@group(2) @binding(2) var<storage, read_write> ray_counts: array<atomic<u32>, 4>;

// Whether any byte is 0.
fn has_dark(word: u32) -> bool { return ((word - 0x01010101u) & ~word & 0x80808080u) != 0u; }
fn has_lit(word: u32) -> bool { return has_dark(~word); }

// Four bits to four bytes.
fn bytes_of(mask: u32) -> u32 { return ((mask * 0x00204081u) & 0x01010101u) * 0xffu; }

fn list_ray(start: RayStart, lane: u32, mask: u32) {
    let rest = lane | (mask << 8u) | (pack2x16float(vec2f(start.width, 0.0)) << 16u);
    tile_rays[atomicAdd(&n_tile_rays, 1u)] = vec4u(bitcast<vec3u>(start.origin), rest);
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
        if sun_ray_is_blocked(bitcast<vec3f>(ray.xyz), direction, 1e30) {
            atomicAnd(&tile_words[px], ~bytes_of(samples));
        }
    }
}
