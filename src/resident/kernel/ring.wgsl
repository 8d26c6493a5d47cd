// What the leader reads of the ring and writes of answers, and the check words of both.

fn slot_quad(number: u32) -> u32 {
    return FIRST_SLOT_WORD / 4u + (number & SLOTS_MASK) * SLOT_QUADS;
}

fn answer_quad(number: u32) -> u32 {
    return (FIRST_ANSWER_WORD + (number & SLOTS_MASK) * ANSWER_WORDS) / 4u;
}

// What was begun last has its answer, unless its launch was killed: then this is it. Gives its number. Whatever earlier launches stored
// is there: the queue runs them one after another.
fn answer_for_interrupted(lane: u32) -> u32 {
    if (lane == 0u) {
        found = atomicLoad(&state[BEGAN_WORD]);
    }
    let began = workgroupUniformLoad(&found);
    if (lane == 0u) {
        let quad = answers[answer_quad(began)];
        if (quad.x != began || quad.w != check_of_answer(quad)) {
            answer(began, STATUS_INTERRUPTED, 0u);
        }
        answers[SETTLED_WORD / 4u].x = began;
    }
    // What an interrupted batch announced is for this launch too.
    storageBarrier();
    return began;
}

// Looks at the ring for a while. All of a first step is read in every look, so that nothing is left to read when it is there; its check
// word says whether it is there whole. One lane of a subgroup looks and tells the others: a small step they work on at once.
fn watch(seat: Seat, number: u32, launch: u32) -> u32 {
    let at = slot_quad(number);
    var n_looks = 0u;
    loop {
        var quads: array<vec4<u32>, STEP_QUADS>;
        var seen = NOTHING;
        if (seat.place == 0u) {
            for (; n_looks < N_LOOKS && seen == NOTHING; n_looks++) {
                quads = array(mailbox[at], mailbox[at + 1u], mailbox[at + 2u], mailbox[at + 3u]);
                // An end comes first, or a busy ring could put it off for ever.
                if (mailbox[END_WORD / 4u].x >= launch) {
                    seen = END;
                } else if (quads[0].x == number) {
                    seen = RUNG;
                }
            }
        }
        seen = subgroupBroadcast(seen, 0u);
        if (seen != RUNG) {
            return seen;
        }
        let second = subgroupBroadcast(quads[1], 0u);
        let step = step_of(subgroupBroadcast(quads[0], 0u), second, subgroupBroadcast(quads[2], 0u));
        let is_small = (second.w & IS_SMALL) != 0u;
        // On their way while the check word is looked at. What is read for half of a step is read for nothing.
        var pairs: Pairs;
        if (is_small) {
            pairs = pairs_at(step, seat.place, seat.place + seat.width);
        }
        if (subgroupBroadcast(u32(quads[3].w == check_of_step(quads)), 0u) == 0u) {
            continue;
        }
        if (is_small) {
            return work_small(seat, number, launch, step, pairs);
        }
        if (seat.place == 0u) {
            slot[0] = quads[0];
            slot[1] = quads[1];
            slot[2] = quads[2];
        }
        return RUNG;
    }
    // Never reached; the language asks for it.
    return NOTHING;
}

fn take_steps(lane: u32, number: u32, first: u32, end: u32) {
    let at = slot_quad(number);
    for (var quad = first * STEP_QUADS + lane; quad < end * STEP_QUADS; quad += N_LANES) {
        slot[quad] = mailbox[at + quad];
    }
    workgroupBarrier();
}

// The last word on a batch, in one store. Lane 0's.
fn answer(number: u32, status: u32, result: u32) {
    let quad = vec4(number, status, result, 0u);
    answers[answer_quad(number)] = vec4(quad.xyz, check_of_answer(quad));
}

// Nothing that was stored for this batch is outstanding: the next may be worked on, and the CPU may write to its arrays.
fn settle(lane: u32, number: u32, is_answered_last: bool) {
    if (!is_answered_last) {
        storageBarrier();
    }
    if (lane == 0u) {
        answers[SETTLED_WORD / 4u].x = number;
    }
}

// As in checksum.rs.
fn folded(words: vec4<u32>) -> vec4<u32> {
    return words ^ (words >> vec4(16u));
}

fn check_of_step(quads: array<vec4<u32>, STEP_QUADS>) -> u32 {
    let last = vec4(quads[3].xyz, 0u);
    let terms = folded(quads[0]) * FACTORS[0] + folded(quads[1]) * FACTORS[1] + folded(quads[2]) * FACTORS[2]
        + folded(last) * FACTORS[3];
    return (terms.x + terms.y) + (terms.z + terms.w);
}

fn check_of_answer(quad: vec4<u32>) -> u32 {
    let terms = folded(quad) * FACTORS[0];
    return terms.x + terms.y + terms.z;
}
