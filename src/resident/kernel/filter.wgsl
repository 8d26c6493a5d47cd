// Filters: stable, by prefix sums. Each subgroup has a piece of the arrays, so that what it keeps is in one piece: all count first; then each
// stores, behind what those before it keep.

// What each of this workgroup's subgroups keeps: there from the first time that a step is gone through to the second.
var<workgroup> counts: array<u32, N_LANES>;
// Parts of a sum over the workgroups before this one.
var<workgroup> counts_before: array<u32, N_LANES>;

fn filter_tiles(lane: u32, seat: Seat, member: u32, n_members: u32, step: Step, step_idx: u32, number: u32, round: u32) {
    let n = n_elements_of(step);
    // A quad for each lane.
    let n_tiles = n_quads_of_elements(n) / seat.width + u32(n_quads_of_elements(n) % seat.width != 0u);
    let n_pieces = n_members * seat.n_subgroups;
    let n_each = n_tiles / n_pieces + u32(n_tiles % n_pieces != 0u);
    let first = min((member * seat.n_subgroups + seat.subgroup) * n_each, n_tiles);
    let end = min(first + n_each, n_tiles);
    // Where this subgroup's piece ends.
    let n_end = min(n, end * seat.width * 4u);
    let first_quad = first * seat.width + seat.place;
    let n_turn_quads = SMALL_QUADS * seat.width;
    var pairs = pairs_at(step, first_quad, first_quad + seat.width);
    if (round == SHARE) {
        // All have read what an earlier step of this chain counted.
        workgroupBarrier();
        var own = 0u;
        for (var quad = first_quad; quad < end * seat.width; quad += n_turn_quads) {
            var masks = pairs.y;
            if (quad != first_quad) {
                masks = array(arena[step.b + quad], arena[step.b + quad + seat.width]);
            }
            own += count_of(kept_of(masks[0], left_of(n_end, quad)));
            own += count_of(kept_of(masks[1], left_of(n_end, quad + seat.width)));
        }
        own = subgroupAdd(own);
        if (seat.place == 0u) {
            counts[seat.subgroup] = own;
        }
        workgroupBarrier();
        if (n_members > 1u) {
            let n_kept = kept_up_to(seat, seat.n_subgroups);
            if (lane == 0u) {
                atomicStore(&state[MEMBER_COUNTS_WORD + member], n_kept);
            }
            return;
        }
    }
    let n_before = kept_before(lane, seat, member);
    var next = n_before + kept_up_to(seat, seat.subgroup);
    for (var quad = first_quad; quad < end * seat.width; quad += n_turn_quads) {
        if (quad != first_quad) {
            pairs = pairs_at(step, quad, quad + seat.width);
        }
        next = filter_pair(seat, step, n_end, quad, pairs, next);
    }
    // Behind the last piece is the number of all.
    if (member + 1u == n_members) {
        set_result(lane, number, n_members, step_idx, n_before + kept_up_to(seat, seat.n_subgroups));
    }
}

// What this workgroup's first subgroups keep.
fn kept_up_to(seat: Seat, n_subgroups: u32) -> u32 {
    var own = 0u;
    for (var other = seat.place; other < n_subgroups; other += seat.width) {
        own += counts[other];
    }
    return subgroupAdd(own);
}

// What the workgroups before this one keep.
fn kept_before(lane: u32, seat: Seat, member: u32) -> u32 {
    if (member == 0u) {
        return 0u;
    }
    var own = 0u;
    for (var other = lane; other < member; other += N_LANES) {
        own += atomicLoad(&state[MEMBER_COUNTS_WORD + other]);
    }
    own = subgroupAdd(own);
    if (seat.place == 0u) {
        counts_before[seat.subgroup] = own;
    }
    workgroupBarrier();
    var n_kept = 0u;
    for (var other = 0u; other < seat.n_subgroups; other++) {
        n_kept += counts_before[other];
    }
    return n_kept;
}

// Stores what is kept of `pairs`, which are quads `quad` and `quad + width`, from element `next` of the output on; where what comes behind goes.
fn filter_pair(seat: Seat, step: Step, n: u32, quad: u32, pairs: Pairs, next: u32) -> u32 {
    let is_kept = kept_of(pairs.y[0], left_of(n, quad));
    let is_other_kept = kept_of(pairs.y[1], left_of(n, quad + seat.width));
    let n_kept = count_of(is_kept);
    let n_others = count_of(is_other_kept);
    // All that lanes have to be together for comes before what each does by itself. Both sums in one: neither is more than four to a lane.
    let both = n_kept | n_others << 16u;
    let n_before = subgroupExclusiveAdd(both);
    let n_all = subgroupAdd(both);
    let next_others = next + (n_all & 0xffffu);
    put_kept(step, pairs.x[0], is_kept, next + (n_before & 0xffffu));
    put_kept(step, pairs.x[1], is_other_kept, next_others + (n_before >> 16u));
    return next_others + (n_all >> 16u);
}

// Which of a quad's first `n_left` elements are kept: those of which the mask isn't zero.
fn kept_of(mask: vec4<f32>, n_left: u32) -> vec4<bool> {
    // What is not a number isn't 0: see `compare`.
    return !(mask == vec4(0.0)) & (vec4(0u, 1u, 2u, 3u) < vec4(n_left));
}

fn count_of(is_kept: vec4<bool>) -> u32 {
    let ones = select(vec4(0u), vec4(1u), is_kept);
    return ones.x + ones.y + ones.z + ones.w;
}

// Stores what is kept of a quad, from element `first` of the output on.
fn put_kept(step: Step, quad: vec4<f32>, is_kept: vec4<bool>, first: u32) {
    let capacity = min(step.capacity, quads_within(step.out, 0x3fffffffu, N_ARENA_QUADS) * 4u);
    let ones = select(vec4(0u), vec4(1u), is_kept);
    let second = first + ones.x;
    let third = second + ones.y;
    // No loop: one component after another would be looked up.
    put(step, capacity, is_kept.x, first, quad.x);
    put(step, capacity, is_kept.y, second, quad.y);
    put(step, capacity, is_kept.z, third, quad.z);
    put(step, capacity, is_kept.w, third + ones.z, quad.w);
}

fn put(step: Step, capacity: u32, is_kept: bool, to: u32, x: f32) {
    if (is_kept && to < capacity) {
        arena[step.out + to / 4u][to % 4u] = x;
    }
}
