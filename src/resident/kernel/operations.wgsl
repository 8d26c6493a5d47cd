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

// Two quads of each operand for a lane, under way at once.
struct Pairs {
    x: array<vec4<f32>, SMALL_QUADS>,
    y: array<vec4<f32>, SMALL_QUADS>,
}

// Nothing is clamped: wgpu's bounds checks keep what a wild descriptor reads within the arena.
fn pairs_at(step: Step, quad: u32, other: u32) -> Pairs {
    let scalar = vec4(bitcast<f32>(step.b));
    var pairs = Pairs(array(vec4(0.0), vec4(0.0)), array(scalar, scalar));
    if (opcode_of(step) != FILL) {
        pairs.x = array(arena[step.a + quad], arena[step.a + other]);
    }
    if (has_array_b(step)) {
        pairs.y = array(arena[step.b + quad], arena[step.b + other]);
    }
    return pairs;
}

fn run(lane: u32, seat: Seat, member: u32, n_members: u32, step: Step, step_idx: u32, number: u32, round: u32) {
    switch (opcode_of(step)) {
        case FILTER: {
            forget_quads();
            filter_tiles(lane, seat, member, n_members, step, step_idx, number, round);
        }
        case SUM: {
            forget_quads();
            sum_blocks(lane, seat, member, n_members, step, step_idx, number, round);
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
        return;
    }
    first_result = result;
    if (n_members > 1u) {
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
