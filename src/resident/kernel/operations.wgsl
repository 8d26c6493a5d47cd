// What a step does. Arrays begin on lines and are padded to them: a step works on whole vectors of four, and what it leaves in the
// padding is nobody's. Offsets are in such quads. Whatever a descriptor says, nothing outside of the arena is touched.

// A step, out of its quads in the slot.
struct Step {
    what: u32,      // opcode, comparison, flags
    n: u32,
    a: u32,
    b: u32,         // an array's offset or a scalar's bits, as a flag says
    out: u32,
    capacity: u32,
    parameters: vec4<f32>,
}

var<workgroup> part: array<f32, SUM_BLOCK / 4u>;
var<workgroup> counts: array<u32, N_LANES>;

fn step_at(step_idx: u32) -> Step {
    let at = step_idx * STEP_QUADS;
    return step_of(slot[at], slot[at + 1u], slot[at + 2u]);
}

fn step_of(first: vec4<u32>, second: vec4<u32>, third: vec4<u32>) -> Step {
    return Step(first.y, first.z, first.w, second.x, second.y, second.z, bitcast<vec4<f32>>(third));
}

fn opcode_of(step: Step) -> u32 {
    return step.what & 0xffu;
}

fn has_array_b(step: Step) -> bool {
    return (step.what & HAS_ARRAY_B) != 0u;
}

fn run(lane: u32, member: u32, n_members: u32, step: Step, step_idx: u32, number: u32, round: u32) {
    switch (opcode_of(step)) {
        case FILTER: {
            forget_quads();
            filter_tiles(lane, member, n_members, step, step_idx, number, round);
        }
        case SUM: {
            forget_quads();
            sum_blocks(lane, member, n_members, step, step_idx, number, round);
        }
        default: {
            map(lane, member, n_members, step);
        }
    }
}

// The first step's result goes with the answer, from wherever whoever answers finds it; the others lie behind it.
fn set_result(lane: u32, number: u32, n_members: u32, step_idx: u32, result: u32) {
    if (lane != 0u) {
        return;
    }
    if (step_idx > 0u) {
        let word = LATER_RESULTS_WORD + step_idx - 1u;
        answers[answer_quad(number) + word / 4u][word % 4u] = result;
    } else if (n_members == 1u) {
        first_result = result;
    } else {
        atomicStore(&state[FIRST_RESULT_WORD], result);
    }
}

// --- Element by element -----------------------------------------------------------------------------------------------

fn quads_within(offset: u32, n_quads: u32, n_all: u32) -> u32 {
    return min(n_quads, n_all - min(offset, n_all));
}

fn n_quads_of_elements(n: u32) -> u32 {
    return n / 4u + u32((n & 3u) != 0u);
}

// Quads of a step that lie in the arena, whichever operand is the one that ends first.
fn n_quads_of(step: Step) -> u32 {
    let opcode = opcode_of(step);
    var n_quads = n_quads_of_elements(step.n);
    if (opcode != FILL) {
        n_quads = quads_within(step.a, n_quads, N_ARENA_QUADS);
    }
    if (has_array_b(step) || opcode == FILTER) {
        n_quads = quads_within(step.b, n_quads, N_ARENA_QUADS);
    }
    if (opcode == SUM) {
        return n_quads;
    }
    return quads_within(step.out, n_quads, select(N_ARENA_QUADS, N_READBACK_QUADS, opcode == COPY));
}

fn n_elements_of(step: Step) -> u32 {
    return min(step.n, n_quads_of(step) * 4u);
}

fn map(lane: u32, member: u32, n_members: u32, step: Step) {
    let opcode = opcode_of(step);
    let n_quads = n_quads_of(step);
    let n_lanes = n_members * N_LANES;
    let has_one = n_quads <= n_lanes;
    if (!has_one) {
        forget_quads();
    }
    for (var quad = member * N_LANES + lane; quad < n_quads; quad += n_lanes) {
        // Both are on their way before either is looked at: keeping one comes behind its use.
        var x = vec4(0.0);
        if (opcode != FILL) {
            x = quad_of(step.a, quad);
        }
        var y = vec4(bitcast<f32>(step.b));
        if (has_array_b(step)) {
            y = quad_of(step.b, quad);
        }
        if (opcode == COPY) {
            readback[step.out + quad] = x;
            continue;
        }
        let z = operated(step, x, y);
        arena[step.out + quad] = z;
        if (has_one) {
            keep_quads(step, x, y, z);
        }
    }
}

fn operated(step: Step, x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    switch (opcode_of(step)) {
        case ADD: { return x + y; }
        case MULTIPLY: { return x * y; }
        case COMPARE: { return compare((step.what >> COMPARISON_SHIFT) & 0xffu, x, y); }
        case USER: {
            return vec4(
                user_operation(x.x, y.x, step.parameters),
                user_operation(x.y, y.y, step.parameters),
                user_operation(x.z, y.z, step.parameters),
                user_operation(x.w, y.w, step.parameters),
            );
        }
        // A fill's.
        default: { return y; }
    }
}

// Reading a quad takes as long as many additions, and a chain often reads what it has just stored or read. Where a lane has one quad of each
// array at most, it is the same quad in all steps and nobody else writes it: the lane keeps the one that it stored last and the one that it
// read last. Bits are the same as those in memory. Arrays don't overlap; with a descriptor that lets them, results may be anything anyway.
struct Kept {
    array: u32,     // its offset
    quad: vec4<f32>,
}

const NO_ARRAY: u32 = 0xffffffffu;

var<private> stored: Kept;
var<private> loaded: Kept;

fn forget_quads() {
    stored.array = NO_ARRAY;
    loaded.array = NO_ARRAY;
}

fn quad_of(array: u32, quad: u32) -> vec4<f32> {
    if (array == stored.array) {
        return stored.quad;
    }
    if (array == loaded.array) {
        return loaded.quad;
    }
    return arena[array + quad];
}

// Of a step that reads two arrays the second one is kept, unless it was stored by the step before: a chain reads on what it has stored.
fn keep_quads(step: Step, x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) {
    if (has_array_b(step) && step.b != stored.array) {
        loaded = Kept(step.b, y);
    } else if (opcode_of(step) != FILL && step.a != stored.array) {
        loaded = Kept(step.a, x);
    }
    stored = Kept(step.out, z);
    if (loaded.array == step.out) {
        loaded.array = NO_ARRAY;
    }
}

fn compare(comparison: u32, x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    var holds = x == y;
    switch (comparison) {
        case LESS: { holds = x < y; }
        case LESS_EQUAL: { holds = x <= y; }
        case GREATER: { holds = x > y; }
        case GREATER_EQUAL: { holds = x >= y; }
        // Not `x != y`: what is not a number is unequal to all, and that comparison may say otherwise.
        case NOT_EQUAL: { holds = !(x == y); }
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
        let n_left = left_of(n, quad);
        var x = vec4(0.0);
        if (n_left > 0u) {
            if (is_scratch) {
                x = scratch[offset + quad];
            } else {
                x = arena[offset + quad];
            }
        }
        part[j] = quad_sum(x, n_left);
    }
    for (var width = BLOCK_QUADS / 2u; width > 0u; width >>= 1u) {
        workgroupBarrier();
        for (var j = lane; j < width; j += N_LANES) {
            part[j] += part[j + width];
        }
    }
    return workgroupUniformLoad(&part[0]);
}

// Of `n` elements those from this quad on.
fn left_of(n: u32, quad: u32) -> u32 {
    return max(n, quad * 4u) - quad * 4u;
}

// Of a quad's first `n_left` elements.
fn quad_sum(quad: vec4<f32>, n_left: u32) -> f32 {
    let x = select(vec4(0.0), quad, vec4(0u, 1u, 2u, 3u) < vec4(n_left));
    return (x.x + x.y) + (x.z + x.w);
}

// Alone: all of it. Shared: a member's blocks; then, for whoever came last, the sum of what all left. The halves of the scratch memory
// take turns.
fn sum_blocks(lane: u32, member: u32, n_members: u32, step: Step, step_idx: u32, number: u32, round: u32) {
    let n_half = arrayLength(&scratch) / 2u;
    var n_values = n_elements_of(step);
    var is_scratch = false;
    var src = step.a;
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
        if (n_values == 1u) {
            // It is the sum: to add it to zeros once more would make 0 of -0.
            set_sum(lane, n_members, step, step_idx, number, scratch[0].x);
            return;
        }
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
            set_sum(lane, n_members, step, step_idx, number, sum);
            return;
        }
        storageBarrier();
        n_values = n_blocks;
        is_scratch = true;
        src = dst;
        dst = n_half - dst;
    }
}

fn set_sum(lane: u32, n_members: u32, step: Step, step_idx: u32, number: u32, sum: f32) {
    set_result(lane, number, n_members, step_idx, bitcast<u32>(sum));
    if (lane == 0u && step.capacity > 0u && step.out < N_ARENA_QUADS) {
        arena[step.out].x = sum;
    }
}

// --- Filter: stable, by prefix sums -----------------------------------------------------------------------------------

// Which of a quad's elements are kept: those of which the mask isn't zero.
fn kept(step: Step, quad: u32, n_quads: u32) -> vec4<bool> {
    if (quad >= n_quads) {
        return vec4(false);
    }
    return kept_of(arena[step.b + quad], step.n - quad * 4u);
}

fn kept_of(mask: vec4<f32>, n_left: u32) -> vec4<bool> {
    // What is not a number isn't 0: see `compare`.
    return !(mask == vec4(0.0)) & (vec4(0u, 1u, 2u, 3u) < vec4(n_left));
}

// Stores what is kept of a quad, from element `first` of the output on.
fn put_kept(step: Step, quad: vec4<f32>, is_kept: vec4<bool>, first: u32) {
    let capacity = min(step.capacity, quads_within(step.out, 0x3fffffffu, N_ARENA_QUADS) * 4u);
    var to = first;
    for (var c = 0u; c < 4u; c++) {
        if (is_kept[c]) {
            if (to < capacity) {
                arena[step.out + to / 4u][to % 4u] = quad[c];
            }
            to += 1u;
        }
    }
}

// Tiles one after another are one member's, so that what it keeps is in one piece. Shared, all count first; the second time each begins
// behind what the members before it keep.
fn filter_tiles(lane: u32, member: u32, n_members: u32, step: Step, step_idx: u32, number: u32, round: u32) {
    let n_quads = n_quads_of(step);
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
            is_kept = kept(step, quad, n_quads);
            own = count_of(is_kept);
        } else if (is_counting) {
            for (var tile = first; tile < end; tile++) {
                own += count_of(kept(step, tile * N_LANES + lane, n_quads));
            }
        } else {
            for (var other = lane; other < member; other += N_LANES) {
                own += atomicLoad(&state[MEMBER_COUNTS_WORD + other]);
            }
        }
        let to = next + count_before(lane, own);
        next += workgroupUniformLoad(&counts[N_LANES - 1u]);
        if (any(is_kept)) {
            put_kept(step, arena[step.a + quad], is_kept, to);
        }
    }
    if (is_counting) {
        if (lane == 0u) {
            atomicStore(&state[MEMBER_COUNTS_WORD + member], next);
        }
    } else if (member + 1u == n_members) {
        set_result(lane, number, n_members, step_idx, next);
    }
}

fn count_of(is_kept: vec4<bool>) -> u32 {
    let ones = select(vec4(0u), vec4(1u), is_kept);
    return ones.x + ones.y + ones.z + ones.w;
}
