// The same operations as dispatches of their own: what a program would submit. Sums and filters by subgroups, as in the worker's kernel, or
// the kernels would be compared and not the ways to run them.

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
// What each subgroup of a workgroup has.
var<workgroup> sums: array<f32, N_LANES>;
var<workgroup> counts: array<u32, N_LANES>;

// Where a lane is: its place among all lanes of the workgroup, in the order of subgroups, and its subgroup.
struct Seat {
    lane: u32,
    place: u32,     // in the subgroup
    subgroup: u32,
    n_subgroups: u32,
}

fn seat_of(subgroup: u32, place: u32, width: u32) -> Seat {
    return Seat(subgroup * width + place, place, subgroup, N_LANES / width);
}

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

// Over all lanes.
fn sum_of(seat: Seat, own: f32) -> f32 {
    let own_sum = subgroupAdd(own);
    if (seat.place == 0u) {
        sums[seat.subgroup] = own_sum;
    }
    workgroupBarrier();
    var sum = 0.0;
    for (var other = 0u; other < seat.n_subgroups; other++) {
        sum += sums[other];
    }
    return sum;
}

@compute @workgroup_size(N_LANES)
fn sum_tiles(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) place: u32,
    @builtin(subgroup_size) width: u32,
    @builtin(workgroup_id) tile: vec3<u32>,
) {
    let seat = seat_of(subgroup, place, width);
    let quad = tile.x * N_LANES + seat.lane;
    var x = vec4(0.0);
    if (quad < n_quads()) {
        x = a[quad];
    }
    let sum = sum_of(seat, (x.x + x.y) + (x.z + x.w));
    if (seat.lane == 0u) {
        tiles[tile.x] = bitcast<u32>(sum);
    }
}

@compute @workgroup_size(N_LANES)
fn sum_end(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) place: u32,
    @builtin(subgroup_size) width: u32,
) {
    let seat = seat_of(subgroup, place, width);
    var own = 0.0;
    for (var tile = seat.lane; tile < parameters.n_tiles; tile += N_LANES) {
        own += bitcast<f32>(tiles[tile]);
    }
    let sum = sum_of(seat, own);
    if (seat.lane == 0u) {
        result[0] = sum;
    }
}

fn kept(quad: u32) -> vec4<u32> {
    if (quad >= n_quads()) {
        return vec4(0u);
    }
    return select(vec4(0u), vec4(1u), mask[quad] != vec4(0.0));
}

fn count_of(is_kept: vec4<u32>) -> u32 {
    return is_kept.x + is_kept.y + is_kept.z + is_kept.w;
}

struct Counted {
    n_before: u32,  // over the lanes before this one
    n_all: u32,
}

fn count(seat: Seat, own: u32) -> Counted {
    let n_before = subgroupExclusiveAdd(own);
    let n_own = subgroupAdd(own);
    if (seat.place == 0u) {
        counts[seat.subgroup] = n_own;
    }
    workgroupBarrier();
    var counted = Counted(n_before, 0u);
    for (var other = 0u; other < seat.n_subgroups; other++) {
        counted.n_before += select(0u, counts[other], other < seat.subgroup);
        counted.n_all += counts[other];
    }
    // Before somebody counts again.
    workgroupBarrier();
    return counted;
}

@compute @workgroup_size(N_LANES)
fn filter_count(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) place: u32,
    @builtin(subgroup_size) width: u32,
    @builtin(workgroup_id) tile: vec3<u32>,
) {
    let seat = seat_of(subgroup, place, width);
    let counted = count(seat, count_of(kept(tile.x * N_LANES + seat.lane)));
    if (seat.lane == 0u) {
        tiles[tile.x] = counted.n_all;
    }
}

@compute @workgroup_size(N_LANES)
fn filter_scan(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) place: u32,
    @builtin(subgroup_size) width: u32,
) {
    let seat = seat_of(subgroup, place, width);
    let n_tiles = parameters.n_tiles;
    var base = 0u;
    for (var first = 0u; first < n_tiles; first += N_LANES) {
        let tile = first + seat.lane;
        var own = 0u;
        if (tile < n_tiles) {
            own = tiles[tile];
        }
        let counted = count(seat, own);
        if (tile < n_tiles) {
            tiles[tile] = base + counted.n_before;
        }
        base += counted.n_all;
    }
    if (seat.lane == 0u) {
        result[1] = f32(base);
    }
}

@compute @workgroup_size(N_LANES)
fn filter_write(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) place: u32,
    @builtin(subgroup_size) width: u32,
    @builtin(workgroup_id) tile: vec3<u32>,
) {
    let seat = seat_of(subgroup, place, width);
    let quad = tile.x * N_LANES + seat.lane;
    let is_kept = kept(quad);
    var to = tiles[tile.x] + count(seat, count_of(is_kept)).n_before;
    if (any(is_kept != vec4(0u))) {
        let x = a[quad];
        for (var c = 0u; c < 4u; c++) {
            if (is_kept[c] != 0u) {
                out[to / 4u][to % 4u] = x[c];
                to += 1u;
            }
        }
    }
}
