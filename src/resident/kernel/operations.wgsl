// What a step does. Arrays begin on lines and are padded to them: a step works on whole vectors of four, and what it leaves in the
// padding is nobody's. Offsets are in such quads. Whatever a descriptor says, nothing outside of the arena is touched.

// Instead of an array's offset: operand b is a scalar.
const NO_ARRAY: u32 = 0xffffffffu;

var<workgroup> part: array<f32, SUM_BLOCK / 4u>;
var<workgroup> counts: array<u32, N_LANES>;

fn run(lane: u32, member: u32, n_members: u32, at: u32, step: u32, number: u32, round: u32) {
    switch (slot[at]) {
        case FILTER: {
            filter_tiles(lane, member, n_members, at, step, number, round);
        }
        case SUM: {
            sum_blocks(lane, member, n_members, at, step, number, round);
        }
        default: {
            map(lane, member, n_members, at);
        }
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

// Alone: all of it. Shared: a member's blocks; then, for whoever came last, the sum of what all left. The halves of the scratch memory
// take turns.
fn sum_blocks(lane: u32, member: u32, n_members: u32, at: u32, step: u32, number: u32, round: u32) {
    let n_half = arrayLength(&scratch) / 2u;
    var n_values = n_elements_of(at);
    var is_scratch = false;
    var src = slot[at + 2u];
    var dst = 0u;
    var first = member;
    var n_adding = n_members;
    if (round == REST) {
        n_values = n_values / SUM_BLOCK + u32(n_values % SUM_BLOCK != 0u);
        is_scratch = true;
        src = 0u;
        dst = n_half;
        first = 0u;
        n_adding = 1u;
    }
    loop {
        let n_blocks = n_values / SUM_BLOCK + u32(n_values % SUM_BLOCK != 0u);
        var sum = 0.0;
        for (var block = first; block < n_blocks; block += n_adding) {
            sum = block_sum(lane, is_scratch, src, n_values, block);
            if (lane == 0u && (n_blocks > 1u || n_adding > 1u)) {
                scratch[dst + block / 4u][block % 4u] = sum;
            }
        }
        if (n_adding > 1u) {
            return;
        }
        if (n_blocks <= 1u) {
            set_sum(lane, at, number, step, sum);
            return;
        }
        storageBarrier();
        n_values = n_blocks;
        is_scratch = true;
        src = dst;
        dst = n_half - dst;
    }
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

// Tiles one after another are one member's, so that what it keeps is in one piece. Shared, all count first; the second time each begins
// behind what the members before it keep.
fn filter_tiles(lane: u32, member: u32, n_members: u32, at: u32, step: u32, number: u32, round: u32) {
    let a = slot[at + 2u];
    let out = slot[at + 4u];
    let capacity = min(slot[at + 5u], quads_within(out, 0x3fffffffu, arrayLength(&arena)) * 4u);
    let n_quads = n_quads_of(at);
    let n_tiles = n_quads / N_LANES + u32(n_quads % N_LANES != 0u);
    let n_each = n_tiles / n_members + u32(n_tiles % n_members != 0u);
    let first = min(member * n_each, n_tiles);
    let end = min(first + n_each, n_tiles);
    let is_shared = n_members > 1u;
    let is_counting = is_shared && round == SHARE;
    var next = 0u;
    // The first turn is for what was or is to be counted, then there is one for each tile.
    let n_turns = select(1u + end - first, 1u, is_counting);
    for (var turn = select(1u, 0u, is_shared); turn < n_turns; turn++) {
        let quad = (first + turn - 1u) * N_LANES + lane;
        var is_kept = vec4(false);
        var own = 0u;
        if (turn > 0u) {
            is_kept = kept(at, quad, n_quads);
            own = count_of(is_kept);
        } else if (is_counting) {
            for (var tile = first; tile < end; tile++) {
                own += count_of(kept(at, tile * N_LANES + lane, n_quads));
            }
        } else {
            for (var other = lane; other < member; other += N_LANES) {
                own += atomicLoad(&state[MEMBER_COUNTS_WORD + other]);
            }
        }
        var to = next + count_before(lane, own);
        next += workgroupUniformLoad(&counts[N_LANES - 1u]);
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
    }
    if (is_counting) {
        if (lane == 0u) {
            atomicStore(&state[MEMBER_COUNTS_WORD + member], next);
        }
    } else if (member + 1u == n_members) {
        set_result(lane, number, step, next);
    }
}

fn count_of(is_kept: vec4<bool>) -> u32 {
    let ones = select(vec4(0u), vec4(1u), is_kept);
    return ones.x + ones.y + ones.z + ones.w;
}
