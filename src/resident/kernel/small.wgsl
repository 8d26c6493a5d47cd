// Small steps: worked on by the subgroup that watches the ring, so that nobody has to be told of them before the answer. Which chains are
// small the CPU says (batch.rs): one step of few elements, with no barrier before it or before its answer.

// Some quads of each operand for a lane.
struct Pairs {
    x: array<vec4<f32>, SMALL_QUADS>,
    y: array<vec4<f32>, SMALL_QUADS>,
}

// Bounds checks keep a wild descriptor within the arena, here and wherever else a small step reads or writes.
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

// Works on a step whose `first` pairs are on their way, and answers. All lanes of the watching subgroup come here together.
fn work_small(place: u32, width: u32, number: u32, launch: u32, step: Step, first: Pairs) -> u32 {
    if (place == 0u) {
        // Before anything is done for it, as for the others.
        atomicStore(&state[BEGAN_WORD], number);
    }
    var result = 0u;
    switch (opcode_of(step)) {
        case FILTER: {
            result = small_filter(place, width, step, first);
        }
        case SUM: {
            let sum = small_sum(place, width, step, first.x);
            if (place == 0u && step.capacity > 0u && step.out < N_ARENA_QUADS) {
                arena[step.out].x = sum;
            }
            result = bitcast<u32>(sum);
        }
        default: {
            small_map(place, width, step, first);
        }
    }
    if (IS_KILLABLE && subgroupAny(mailbox[KILL_WORD / 4u].y == launch)) {
        return END;
    }
    if (place == 0u) {
        answer(number, STATUS_DONE, result);
    }
    return ANSWERED;
}

fn small_map(place: u32, width: u32, step: Step, first: Pairs) {
    let n_quads = n_quads_of_elements(step.n);
    var pairs = first;
    for (var quad = place; quad < n_quads; quad += 2u * width) {
        let other = quad + width;
        if (quad != place) {
            pairs = pairs_at(step, quad, other);
        }
        arena[step.out + quad] = operated(step, pairs.x[0], pairs.y[0]);
        if (other < n_quads) {
            arena[step.out + other] = operated(step, pairs.x[1], pairs.y[1]);
        }
    }
}

// How many are kept, of two quads to a lane at most.
fn small_filter(place: u32, width: u32, step: Step, first: Pairs) -> u32 {
    let is_kept = kept_of(first.y[0], left_of(step.n, place));
    let is_other_kept = kept_of(first.y[1], left_of(step.n, place + width));
    let n_kept = count_of(is_kept);
    let n_others = count_of(is_other_kept);
    // All that lanes have to be together for comes before what each does by itself.
    let to = subgroupExclusiveAdd(n_kept);
    let n_before_others = subgroupAdd(n_kept);
    let to_others = n_before_others + subgroupExclusiveAdd(n_others);
    let n_all = n_before_others + subgroupAdd(n_others);
    put_kept(step, first.x[0], is_kept, to);
    put_kept(step, first.x[1], is_other_kept, to_others);
    return n_all;
}

// --- The same tree as in `block_sum`, of one block at most ------------------------------------------------------------

// Lane 0's is right, for up to SMALL_ROWS quads to a lane, in a subgroup no wider than BLOCK_QUADS / SMALL_ROWS. `first`: rows 0 and 1, quads
// `place` and `place + width`.
fn small_sum(place: u32, width: u32, step: Step, first: array<vec4<f32>, SMALL_QUADS>) -> f32 {
    // What rows and levels that are not there add: zero, which a compiler mustn't know. It makes 0 of -0.
    let zero = row_sum(step.n, place + SMALL_ROWS * width, first[1]);
    var sum = (row_sum(step.n, place, first[0]) + zero) + (row_sum(step.n, place + width, first[1]) + zero);
    if (step.n > SMALL_QUADS * width * 4u) {
        sum = rows_sum(place, width, step, first);
        if (SMALL_ROWS * width < BLOCK_QUADS) {
            sum += zero;
        }
    }
    for (var half = width / 2u; half > 0u; half >>= 1u) {
        sum += subgroupShuffleDown(sum, half);
    }
    return sum;
}

// Nothing here is a loop that would have to be unrolled: rows are to be read all at once, and to stay in registers.
fn rows_sum(place: u32, width: u32, step: Step, first: array<vec4<f32>, SMALL_QUADS>) -> f32 {
    let at = step.a + place;
    let rows = array(
        arena[at + 2u * width],
        arena[at + 3u * width],
        arena[at + 4u * width],
        arena[at + 5u * width],
        arena[at + 6u * width],
        arena[at + 7u * width],
    );
    let low = vec4(
        row_sum(step.n, place, first[0]),
        row_sum(step.n, place + width, first[1]),
        row_sum(step.n, place + 2u * width, rows[0]),
        row_sum(step.n, place + 3u * width, rows[1]),
    );
    let high = vec4(
        row_sum(step.n, place + 4u * width, rows[2]),
        row_sum(step.n, place + 5u * width, rows[3]),
        row_sum(step.n, place + 6u * width, rows[4]),
        row_sum(step.n, place + 7u * width, rows[5]),
    );
    let four = low + high;
    let two = four.xy + four.zw;
    return two.x + two.y;
}

// Of quad `idx`, as far as it is within `n` elements.
fn row_sum(n: u32, idx: u32, quad: vec4<f32>) -> f32 {
    return quad_sum(quad, left_of(n, idx));
}
