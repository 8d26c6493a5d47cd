// The same operations as dispatches of their own: what a program would submit.

struct Parameters {
    n: u32,
    n_tiles: u32,
}

@group(0) @binding(0) var<storage, read_write> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> mask: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> tiles: array<u32>;
@group(0) @binding(5) var<storage, read_write> result: array<f32, 4>;
@group(0) @binding(6) var<storage, read_write> parameters: Parameters;

const N_LANES: u32 = 256u;
var<workgroup> part: array<f32, N_LANES>;
var<workgroup> counts: array<u32, N_LANES>;

fn n_quads() -> u32 {
    return parameters.n / 4u;
}

@compute @workgroup_size(N_LANES)
fn add(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < n_quads()) {
        out[id.x] = a[id.x] + b[id.x];
    }
}

@compute @workgroup_size(N_LANES)
fn multiply(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < n_quads()) {
        out[id.x] = a[id.x] * 1.5;
    }
}

@compute @workgroup_size(N_LANES)
fn compare(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < n_quads()) {
        out[id.x] = select(vec4(0.0), vec4(1.0), a[id.x] > vec4(0.5));
    }
}

// Of the chain.
@compute @workgroup_size(N_LANES)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < n_quads()) {
        out[id.x] = out[id.x] * 0.5;
    }
}

// Of the chain.
@compute @workgroup_size(N_LANES)
fn increase(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < n_quads()) {
        out[id.x] = out[id.x] + b[id.x];
    }
}

fn sum_of_part(lane: u32) -> f32 {
    for (var width = N_LANES / 2u; width > 0u; width >>= 1u) {
        workgroupBarrier();
        if (lane < width) {
            part[lane] += part[lane + width];
        }
    }
    return workgroupUniformLoad(&part[0]);
}

@compute @workgroup_size(N_LANES)
fn sum_tiles(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) tile: vec3<u32>,
) {
    var x = vec4(0.0);
    if (id.x < n_quads()) {
        x = a[id.x];
    }
    part[lane] = (x.x + x.y) + (x.z + x.w);
    let sum = sum_of_part(lane);
    if (lane == 0u) {
        tiles[tile.x] = bitcast<u32>(sum);
    }
}

@compute @workgroup_size(N_LANES)
fn sum_end(@builtin(local_invocation_index) lane: u32) {
    var own = 0.0;
    for (var tile = lane; tile < parameters.n_tiles; tile += N_LANES) {
        own += bitcast<f32>(tiles[tile]);
    }
    part[lane] = own;
    let sum = sum_of_part(lane);
    if (lane == 0u) {
        result[0] = sum;
    }
}

fn kept(quad: u32) -> vec4<u32> {
    if (quad >= n_quads()) {
        return vec4(0u);
    }
    return select(vec4(0u), vec4(1u), mask[quad] != vec4(0.0));
}

@compute @workgroup_size(N_LANES)
fn filter_count(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) tile: vec3<u32>,
) {
    let is_kept = kept(id.x);
    count_before(lane, is_kept.x + is_kept.y + is_kept.z + is_kept.w);
    if (lane == N_LANES - 1u) {
        tiles[tile.x] = counts[lane];
    }
}

@compute @workgroup_size(N_LANES)
fn filter_scan(@builtin(local_invocation_index) lane: u32) {
    let n_tiles = parameters.n_tiles;
    var base = 0u;
    for (var first = 0u; first < n_tiles; first += N_LANES) {
        let tile = first + lane;
        var own = 0u;
        if (tile < n_tiles) {
            own = tiles[tile];
        }
        let before = base + count_before(lane, own);
        if (tile < n_tiles) {
            tiles[tile] = before;
        }
        base += workgroupUniformLoad(&counts[N_LANES - 1u]);
    }
    if (lane == 0u) {
        result[1] = f32(base);
    }
}

@compute @workgroup_size(N_LANES)
fn filter_write(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) tile: vec3<u32>,
) {
    let is_kept = kept(id.x);
    var to = tiles[tile.x] + count_before(lane, is_kept.x + is_kept.y + is_kept.z + is_kept.w);
    if (any(is_kept != vec4(0u))) {
        let x = a[id.x];
        for (var c = 0u; c < 4u; c++) {
            if (is_kept[c] != 0u) {
                out[to / 4u][to % 4u] = x[c];
                to += 1u;
            }
        }
    }
}
