// Small steps: worked on by the subgroup that watches the ring, so that nobody has to be told of them before the answer. Which chains are
// small the CPU says (batch.rs): one step of few elements, with no barrier before it or before its answer. Only where a sum or
// what a filter keeps is stored is anything clamped: wgpu's bounds checks keep a wild descriptor within the arena.

// Works on a step whose `first` pairs are on their way, and answers. All lanes of the watching subgroup come here together.
fn work_small(seat: Seat, number: u32, launch: u32, step: Step, first: Pairs) -> u32 {
    if (seat.place == 0u) {
        // Before anything is done for it, as for the others.
        atomicStore(&state[BEGAN_WORD], number);
    }
    var result = 0u;
    switch (opcode_of(step)) {
        case FILTER: {
            result = filter_pair(seat, step, step.n, seat.place, first, 0u);
        }
        case SUM: {
            let sum = small_sum(seat, step, first.x);
            if (seat.place == 0u) {
                store_sum(step, sum);
            }
            result = bitcast<u32>(sum);
        }
        default: {
            small_map(seat, step, first);
        }
    }
    if (IS_KILLABLE && subgroupAny(mailbox[KILL_WORD / 4u].y == launch)) {
        return END;
    }
    if (seat.place == 0u) {
        answer(number, STATUS_DONE, result);
    }
    return ANSWERED;
}

fn small_map(seat: Seat, step: Step, first: Pairs) {
    let n_quads = n_quads_of_elements(step.n);
    var pairs = first;
    for (var quad = seat.place; quad < n_quads; quad += SMALL_QUADS * seat.width) {
        let other = quad + seat.width;
        if (quad != seat.place) {
            pairs = pairs_at(step, quad, other);
        }
        arena[step.out + quad] = operated(step, pairs.x[0], pairs.y[0]);
        if (other < n_quads) {
            arena[step.out + other] = operated(step, pairs.x[1], pairs.y[1]);
        }
    }
}

// The first lane's is right. `first`: what is in quads `place` and `place + width`.
fn small_sum(seat: Seat, step: Step, first: array<vec4<f32>, SMALL_QUADS>) -> f32 {
    // The same tree, of which all but the first rows are zero. What they add is 0, and a compiler mustn't know it: it makes 0 of -0.
    let zero = bitcast<f32>(step.n & 0x80000000u);
    var own = (row_sum(step.n, seat.place, first[0]) + zero) + (row_sum(step.n, seat.place + seat.width, first[1]) + zero);
    var n_lanes = seat.width;
    if (step.n > SMALL_QUADS * seat.width * 4u || SMALL_QUADS * seat.width >= BLOCK_QUADS) {
        own = own_columns_sum(seat, false, step.a, step.n, seat.place / N_COLUMNS);
        n_lanes = min(seat.width, N_COLUMNS);
    }
    return columns_sum(n_lanes, own);
}

// Of quad `idx`, as far as it is within `n` elements.
fn row_sum(n: u32, idx: u32, quad: vec4<f32>) -> f32 {
    return quad_sum(quad, left_of(n, idx));
}
