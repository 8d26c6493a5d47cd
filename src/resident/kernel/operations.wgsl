// What a step does. Arrays begin on lines and are padded to them: a step works on whole vectors of four, and what it leaves in the
// padding is nobody's. Offsets are in such quads. Whatever a descriptor says, nothing outside of the arena is touched.

// Instead of an array's offset: operand b is a scalar.
const NO_ARRAY: u32 = 0xffffffffu;

var<workgroup> part: array<f32, SUM_BLOCK / 4u>;
var<workgroup> counts: array<u32, N_LANES>;

fn run_alone(lane: u32, step: u32, at: u32, number: u32) {
    switch (slot[at]) {
        case FILTER: {
            let n_tiles = (n_quads_of(at) + N_LANES - 1u) / N_LANES;
            set_result(lane, number, step, filter_tiles(lane, at, 0u, n_tiles, 0u));
        }
        case SUM: {
            if (n_elements_of(at) <= SUM_BLOCK) {
                set_sum(lane, at, number, step, block_sum(lane, false, slot[at + 2u], n_elements_of(at), 0u));
            } else {
                sum_blocks(lane, 0u, 1u, at);
                storageBarrier();
                set_sum(lane, at, number, step, sum_of_blocks(lane, at));
            }
        }
        default: {
            map(lane, 0u, 1u, at);
        }
    }
}

fn run_shared(lane: u32, member: u32, n_members: u32, at: u32, phase: u32) {
    switch (slot[at]) {
        case FILTER: {
            // Tiles one after another are one member's, so that what it keeps is in one piece.
            let n_tiles = (n_quads_of(at) + N_LANES - 1u) / N_LANES;
            let n_each = (n_tiles + n_members - 1u) / n_members;
            let first = min(member * n_each, n_tiles);
            let end = min(first + n_each, n_tiles);
            if (phase == 0u) {
                let n_kept = count_tiles(lane, at, first, end);
                if (lane == 0u) {
                    atomicStore(&state[MEMBER_COUNTS_WORD + member], n_kept);
                }
            } else {
                filter_tiles(lane, at, first, end, count_of_members(lane, member));
            }
        }
        case SUM: {
            sum_blocks(lane, member, n_members, at);
        }
        default: {
            map(lane, member, n_members, at);
        }
    }
}

// What one workgroup does when all have done their share of a step.
fn complete(lane: u32, n_members: u32, step: u32, number: u32) {
    let at = STEPS_WORD + step * STEP_WORDS;
    switch (slot[at]) {
        case FILTER: {
            set_result(lane, number, step, count_of_members(lane, n_members));
        }
        case SUM: {
            set_sum(lane, at, number, step, sum_of_blocks(lane, at));
        }
        default: {}
    }
}

fn set_result(lane: u32, number: u32, step: u32, result: u32) {
    if (lane == 0u) {
        let at = FIRST_ANSWER_WORD + (number & settings.n_slots_mask) * ANSWER_WORDS;
        answers[at + RESULTS_WORD + step] = result;
    }
}

// --- Element by element -----------------------------------------------------------------------------------------------

fn quads_within(offset: u32, n_quads: u32, n_all: u32) -> u32 {
    return min(n_quads, n_all - min(offset, n_all));
}

// Quads of a step that lie in the arena, whichever operand is the one that ends first.
fn n_quads_of(at: u32) -> u32 {
    let n_arena = arrayLength(&arena);
    var n_quads = slot[at + 1u] / 4u + u32((slot[at + 1u] & 3u) != 0u);
    if (slot[at] != FILL) {
        n_quads = quads_within(slot[at + 2u], n_quads, n_arena);
    }
    if (slot[at + 3u] != NO_ARRAY) {
        n_quads = quads_within(slot[at + 3u], n_quads, n_arena);
    }
    let n_out = select(n_arena, arrayLength(&readback), slot[at] == COPY);
    if (slot[at] == SUM) {
        return n_quads;
    }
    return quads_within(slot[at + 4u], n_quads, n_out);
}

fn n_elements_of(at: u32) -> u32 {
    return min(slot[at + 1u], n_quads_of(at) * 4u);
}

fn map(lane: u32, member: u32, n_members: u32, at: u32) {
    let opcode = slot[at];
    let a = slot[at + 2u];
    let b = slot[at + 3u];
    let out = slot[at + 4u];
    let scalar = bitcast<f32>(slot[at + 6u]);
    let comparison = slot[at + 7u] >> 1u;
    let parameters = bitcast<vec4<f32>>(vec4(slot[at + 8u], slot[at + 9u], slot[at + 10u], slot[at + 11u]));
    let n_quads = n_quads_of(at);
    for (var quad = member * N_LANES + lane; quad < n_quads; quad += n_members * N_LANES) {
        var x = vec4(0.0);
        if (opcode != FILL) {
            x = arena[a + quad];
        }
        var y = vec4(scalar);
        if (b != NO_ARRAY) {
            y = arena[b + quad];
        }
        switch (opcode) {
            case FILL: { arena[out + quad] = y; }
            case COPY: { readback[out + quad] = x; }
            case ADD: { arena[out + quad] = x + y; }
            case MULTIPLY: { arena[out + quad] = x * y; }
            case COMPARE: { arena[out + quad] = compare(comparison, x, y); }
            case USER: {
                arena[out + quad] = vec4(
                    user_operation(x.x, y.x, parameters),
                    user_operation(x.y, y.y, parameters),
                    user_operation(x.z, y.z, parameters),
                    user_operation(x.w, y.w, parameters),
                );
            }
            default: {}
        }
    }
}

fn compare(comparison: u32, x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    var holds = x == y;
    switch (comparison) {
        case LESS: { holds = x < y; }
        case LESS_EQUAL: { holds = x <= y; }
        case GREATER: { holds = x > y; }
        case GREATER_EQUAL: { holds = x >= y; }
        case NOT_EQUAL: { holds = x != y; }
        default: {}
    }
    return select(vec4(0.0), vec4(1.0), holds);
}

// --- Sum: one tree, whoever adds --------------------------------------------------------------------------------------

const BLOCK_QUADS: u32 = SUM_BLOCK / 4u;

// Blocks of 1,024 values: four to a quad, (x + y) + (z + w), then the quads' sums halved again and again. What is missing at the end
// is zero. The blocks' sums are summed alike, until there is one.
fn block_sum(lane: u32, is_scratch: bool, offset: u32, n: u32, block: u32) -> f32 {
    for (var j = lane; j < BLOCK_QUADS; j += N_LANES) {
        let quad = block * BLOCK_QUADS + j;
        let n_left = max(n, quad * 4u) - quad * 4u;
        var x = vec4(0.0);
        if (n_left > 0u) {
            if (is_scratch) {
                x = scratch[offset + quad];
            } else {
                x = arena[offset + quad];
            }
        }
        x = select(vec4(0.0), x, vec4(0u, 1u, 2u, 3u) < vec4(n_left));
        part[j] = (x.x + x.y) + (x.z + x.w);
    }
    for (var width = BLOCK_QUADS / 2u; width > 0u; width >>= 1u) {
        workgroupBarrier();
        for (var j = lane; j < width; j += N_LANES) {
            part[j] += part[j + width];
        }
    }
    return workgroupUniformLoad(&part[0]);
}

fn sum_blocks(lane: u32, member: u32, n_members: u32, at: u32) {
    let n = n_elements_of(at);
    let n_blocks = n / SUM_BLOCK + u32(n % SUM_BLOCK != 0u);
    for (var block = member; block < n_blocks; block += n_members) {
        let sum = block_sum(lane, false, slot[at + 2u], n, block);
        if (lane == 0u) {
            scratch[block / 4u][block % 4u] = sum;
        }
    }
}

// Of what `sum_blocks` left. The halves of the scratch memory take turns.
fn sum_of_blocks(lane: u32, at: u32) -> f32 {
    let n_half = arrayLength(&scratch) / 2u;
    let n = n_elements_of(at);
    var n_values = n / SUM_BLOCK + u32(n % SUM_BLOCK != 0u);
    var src = 0u;
    var dst = n_half;
    while (n_values > SUM_BLOCK) {
        let n_blocks = (n_values + SUM_BLOCK - 1u) / SUM_BLOCK;
        for (var block = 0u; block < n_blocks; block++) {
            let sum = block_sum(lane, true, src, n_values, block);
            if (lane == 0u) {
                scratch[dst + block / 4u][block % 4u] = sum;
            }
        }
        storageBarrier();
        n_values = n_blocks;
        let other = src;
        src = dst;
        dst = other;
    }
    return block_sum(lane, true, src, n_values, 0u);
}

fn set_sum(lane: u32, at: u32, number: u32, step: u32, sum: f32) {
    set_result(lane, number, step, bitcast<u32>(sum));
    if (lane == 0u && slot[at + 5u] > 0u && slot[at + 4u] < arrayLength(&arena)) {
        arena[slot[at + 4u]].x = sum;
    }
}

// --- Filter: stable, by prefix sums -----------------------------------------------------------------------------------

// Which of a quad's elements are kept: those of which the mask isn't zero.
fn kept(at: u32, quad: u32, n_quads: u32) -> vec4<bool> {
    if (quad >= n_quads) {
        return vec4(false);
    }
    let n_left = slot[at + 1u] - quad * 4u;
    return (arena[slot[at + 3u] + quad] != vec4(0.0)) & (vec4(0u, 1u, 2u, 3u) < vec4(n_left));
}

// The sum of `own` over the lanes before this one; `counts` then ends with the sum over all.
fn count_before(lane: u32, own: u32) -> u32 {
    workgroupBarrier();
    counts[lane] = own;
    for (var distance = 1u; distance < N_LANES; distance <<= 1u) {
        workgroupBarrier();
        var sum = counts[lane];
        if (lane >= distance) {
            sum += counts[lane - distance];
        }
        workgroupBarrier();
        counts[lane] = sum;
    }
    workgroupBarrier();
    return counts[lane] - own;
}

fn count_tiles(lane: u32, at: u32, first: u32, end: u32) -> u32 {
    let n_quads = n_quads_of(at);
    var own = 0u;
    for (var tile = first; tile < end; tile++) {
        let is_kept = select(vec4(0u), vec4(1u), kept(at, tile * N_LANES + lane, n_quads));
        own += is_kept.x + is_kept.y + is_kept.z + is_kept.w;
    }
    count_before(lane, own);
    return workgroupUniformLoad(&counts[N_LANES - 1u]);
}

// What the members before `end` counted.
fn count_of_members(lane: u32, end: u32) -> u32 {
    var own = 0u;
    for (var member = lane; member < end; member += N_LANES) {
        own += atomicLoad(&state[MEMBER_COUNTS_WORD + member]);
    }
    count_before(lane, own);
    return workgroupUniformLoad(&counts[N_LANES - 1u]);
}

// Writes what is kept of some tiles from element `base` of the output on; the element after it.
fn filter_tiles(lane: u32, at: u32, first: u32, end: u32, base: u32) -> u32 {
    let a = slot[at + 2u];
    let out = slot[at + 4u];
    let capacity = min(slot[at + 5u], quads_within(out, 0x3fffffffu, arrayLength(&arena)) * 4u);
    let n_quads = n_quads_of(at);
    var next = base;
    for (var tile = first; tile < end; tile++) {
        let quad = tile * N_LANES + lane;
        let is_kept = kept(at, quad, n_quads);
        let n_kept = select(vec4(0u), vec4(1u), is_kept);
        var to = next + count_before(lane, n_kept.x + n_kept.y + n_kept.z + n_kept.w);
        if (any(is_kept)) {
            let x = arena[a + quad];
            for (var c = 0u; c < 4u; c++) {
                if (is_kept[c]) {
                    if (to < capacity) {
                        arena[out + to / 4u][to % 4u] = x[c];
                    }
                    to += 1u;
                }
            }
        }
        next += workgroupUniformLoad(&counts[N_LANES - 1u]);
    }
    return next;
}
