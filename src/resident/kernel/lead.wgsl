// The resident kernel. Constants in capitals are put in front of this text; ring.wgsl, operations.wgsl, sum.wgsl, filter.wgsl
// and small.wgsl come behind it.
//
// Workgroup 0 leads: it watches the ring, works on most batches alone, and calls the other workgroups for large ones. Whatever the
// CPU or another workgroup writes while the kernel runs is in memory declared @coherent, or atomic.

struct Settings {
    launch: u32,        // this launch's number, from 1
    n_turns: u32,       // most turns of the leader's loop with nothing in them; eight with work count as one
    patience: u32,      // looks of a workgroup for another one before it gives up
    is_counting: u32,   // this launch only counts which workgroups run at the same time
}

@group(0) @binding(0) @coherent var<storage, read_write> mailbox: array<vec4<u32>>;
@group(0) @binding(1) @coherent var<storage, read_write> answers: array<vec4<u32>>;
@group(0) @binding(2) @coherent var<storage, read_write> arena: array<vec4<f32>>;
@group(0) @binding(3) @coherent var<storage, read_write> readback: array<vec4<f32>>;
@group(0) @binding(4) @coherent var<storage, read_write> scratch: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> state: array<atomic<u32>, STATE_WORDS>;
@group(0) @binding(6) var<storage, read_write> settings: Settings;

const STEP_QUADS: u32 = STEP_WORDS / 4u;
const SLOT_QUADS: u32 = SLOT_WORDS / 4u;

// The batch's slot, in every workgroup that works on it.
var<workgroup> slot: array<vec4<u32>, SLOT_QUADS>;
// What one lane found, for all lanes.
var<workgroup> found: u32;
// What the first step of a batch came to, where this workgroup worked it out: lane 0 writes it and reads it.
var<workgroup> first_result: u32;

// What the leader sees in the ring, and the others in the call's word.
const NOTHING: u32 = 0u;
const RUNG: u32 = 1u;
// It was a small step, and there is nothing left to do but to settle it.
const ANSWERED: u32 = 2u;
const NO_CALL: u32 = 0u;
const END: u32 = 0xffffffffu;

// Where a lane is among those that hand each other values. What a subgroup does alone is shared out by its width: all its lanes are there, as the
// check found (`has_full_subgroups`).
struct Seat {
    subgroup: u32,      // which of the workgroup's
    place: u32,         // within it
    width: u32,         // its lanes
    n_subgroups: u32,   // of the workgroup
}

@compute @workgroup_size(N_LANES)
fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) place: u32,
    @builtin(subgroup_size) width: u32,
    @builtin(num_subgroups) n_subgroups: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    let seat = Seat(subgroup, place, width, n_subgroups);
    if (settings.is_counting != 0u) {
        count_workgroups(lane, seat, n_workgroups.x);
        return;
    }
    let member = workgroup.x;
    let is_leader = member == 0u;
    // Read here once: a barrier lets go of what was read before.
    let launch = settings.launch;
    let n_turns = settings.n_turns;
    // The leader: the number that is next, and what keeps others from giving it up.
    var number = 0u;
    var beats = atomicLoad(&state[BEATS_WORD]);
    var n_calls = 0u;
    if (is_leader) {
        if (lane == 0u) {
            answers[LAUNCH_WORD / 4u].x = launch;
        }
        number = answer_for_interrupted(lane) + 1u;
    }
    // The others: the last call that they saw.
    var last = NO_CALL;
    // What is left of the leader's turns, in eighths: the least that one with work takes of the time of one without.
    var n_eighths = 8u * n_turns;
    // Drivers inline every call: there is one loop for both, so that the kernel has everything once.
    for (var turn = 0u; !is_leader || (n_eighths > 0u && n_calls < MAX_CALLS); turn++) {
        if (is_leader && subgroup == 0u) {
            let seen = watch(seat, number, launch);
            if (place == 0u) {
                found = seen;
            }
        }
        if (!is_leader && lane == 0u) {
            found = listen(last);
        }
        let event = workgroupUniformLoad(&found);
        if (event == END) {
            break;
        }
        if (is_leader && (event == NOTHING || (turn & 63u) == 0u)) {
            beats += 1u;
            if (lane == 0u) {
                atomicStore(&state[BEATS_WORD], beats);
                answers[HEARTBEAT_WORD / 4u].x = beats;
            }
        }
        n_eighths -= min(n_eighths, select(1u, 8u, event == NOTHING));
        if (event == NOTHING) {
            continue;
        }
        if (is_leader && event == ANSWERED) {
            settle(lane, number, false);
            number += 1u;
            continue;
        }
        var n_members = event % (2u * MAX_MEMBERS);
        if (!is_leader) {
            last = event;
            if (member >= n_members) {
                continue;
            }
            // Only after the call was seen: what it announces was stored before it.
            storageBarrier();
            // The leader can't go on without this workgroup: number and slot stay as they are.
            if (lane == 0u) {
                found = atomicLoad(&state[CALLED_NUMBER_WORD]);
            }
            number = workgroupUniformLoad(&found);
            take_steps(lane, number, 0u, MAX_STEPS);
        }
        let header = slot[1].w;
        let n_steps = min(header & 0xffu, MAX_STEPS);
        if (is_leader) {
            n_members = clamp(header >> MEMBERS_SHIFT, 1u, min(n_workgroups.x, MAX_MEMBERS));
            // What the CPU stored before the first step is read only after it. Arrays that an earlier batch announced were waited for then.
            if (IS_ACQUIRING && (n_steps > 1u || (header & HAS_NEW_ARRAYS) != 0u)) {
                storageBarrier();
            }
            if (n_steps > 1u) {
                take_steps(lane, number, 1u, n_steps);
            }
            if (lane == 0u) {
                // Before anything is done for it. Only the next launch reads it.
                atomicStore(&state[BEGAN_WORD], number);
            }
            if (n_members > 1u) {
                n_calls += 1u;
                call(lane, n_calls, n_members, number);
            }
        }
        let is_answered_last = ANSWERS_AFTER_STORES || n_members > 1u || (header & HAS_MORE_TO_READ) != 0u;
        if (!work(lane, seat, member, n_members, n_steps, is_answered_last, number, launch)) {
            break;
        }
        if (is_leader) {
            settle(lane, number, is_answered_last);
        }
        number += 1u;
    }
    if (is_leader && lane == 0u) {
        atomicStore(&state[CALL_WORD], END);
    }
}

// --- Workgroup 0 calls ------------------------------------------------------------------------------------------------

// The others are to work on this batch too. Everybody has arrived at the last meeting of the call before: nobody counts there.
fn call(lane: u32, n_calls: u32, n_members: u32, number: u32) {
    if (lane == 0u) {
        atomicStore(&state[ARRIVED_WORD], 0u);
        atomicStore(&state[RELEASED_WORD], 0u);
        atomicStore(&state[CALLED_NUMBER_WORD], number);
    }
    storageBarrier();
    if (lane == 0u) {
        // One word, so that whoever is late and not meant need look at nothing else.
        atomicStore(&state[CALL_WORD], n_calls * 2u * MAX_MEMBERS + n_members);
    }
}

// --- The others -------------------------------------------------------------------------------------------------------

// Waits for another call, as long as the leader's heart beats.
fn listen(last: u32) -> u32 {
    let patience = settings.patience;
    var beats = atomicLoad(&state[BEATS_WORD]);
    for (var look = 0u; look < patience; look++) {
        let call = atomicLoad(&state[CALL_WORD]);
        if (call != last) {
            return call;
        }
        if ((look & 1023u) == 1023u) {
            let now = atomicLoad(&state[BEATS_WORD]);
            if (now != beats) {
                beats = now;
                look = 0u;
            }
        }
    }
    return END;
}

// --- Together ---------------------------------------------------------------------------------------------------------

// How often a step is gone through: one's share of it; a filter's second time, when all have counted; and what is left to do when all
// have done their shares, for whoever came last.
const SHARE: u32 = 0u;
const SECOND: u32 = 1u;
const REST: u32 = 2u;

// Works through a batch as member `member` of `n_members`; the last to come answers. False if this launch is to end at once.
fn work(
    lane: u32,
    seat: Seat,
    member: u32,
    n_members: u32,
    n_steps: u32,
    is_answered_last: bool,
    number: u32,
    launch: u32,
) -> bool {
    var n_meetings = 0u;
    forget_quads();
    var next = step_at(0u);
    for (var step_idx = 0u; step_idx < n_steps; step_idx++) {
        let step = next;
        let is_last = step_idx + 1u == n_steps;
        // Read while this one is worked on. Behind the last one is nothing of this batch.
        next = step_at(min(step_idx + 1u, MAX_STEPS - 1u));
        // Whether the next step needs what other lanes do in this one.
        let is_waited_for = is_last || (next.what & HAS_TO_WAIT) != 0u;
        var round = SHARE;
        loop {
            run(lane, seat, member, n_members, step, step_idx, number, round);
            if (n_members == 1u) {
                if (is_waited_for && !is_last) {
                    storageBarrier();
                }
                break;
            }
            let has_second = opcode_of(step) == FILTER && round == SHARE;
            let is_end = is_last && !has_second;
            if (round != REST) {
                if (!is_waited_for && !has_second) {
                    break;
                }
                // What this workgroup stored is there for whoever comes later.
                storageBarrier();
                n_meetings += 1u;
                if (lane == 0u) {
                    found = atomicAdd(&state[ARRIVED_WORD], 1u) + 1u;
                }
                if (workgroupUniformLoad(&found) != n_meetings * n_members) {
                    if (is_end && member != 0u) {
                        break;
                    }
                    if (lane == 0u) {
                        found = wait_for_release(n_meetings);
                    }
                    let is_released = workgroupUniformLoad(&found) != 0u;
                    storageBarrier();
                    if (!is_released) {
                        if (member == 0u && lane == 0u) {
                            answer(number, STATUS_PARTED | (step_idx << FAILED_STEP_SHIFT), 0u);
                        }
                        return false;
                    }
                    if (has_second) {
                        round = SECOND;
                        continue;
                    }
                    break;
                }
                storageBarrier();
                if (opcode_of(step) == SUM) {
                    round = REST;
                    continue;
                }
            }
            // Whoever came last, with nothing left to do.
            storageBarrier();
            if (lane == 0u) {
                if (is_end) {
                    // Whoever did the rest of a sum has it.
                    if (round != REST || step_idx > 0u) {
                        first_result = atomicLoad(&state[FIRST_RESULT_WORD]);
                    }
                    answer(number, STATUS_DONE, first_result);
                }
                atomicStore(&state[RELEASED_WORD], n_meetings);
            }
            if (has_second) {
                round = SECOND;
                continue;
            }
            break;
        }
        if (IS_KILLABLE && member == 0u) {
            if (lane == 0u) {
                found = mailbox[KILL_WORD / 4u].y;
            }
            if (workgroupUniformLoad(&found) == launch) {
                return false;
            }
        }
    }
    if (n_members == 1u || n_steps == 0u) {
        // Whatever the CPU looks at besides the answer's quad is there before it.
        if (is_answered_last) {
            storageBarrier();
        }
        if (lane == 0u) {
            answer(number, STATUS_DONE, first_result);
        }
    }
    return true;
}

fn wait_for_release(n_meetings: u32) -> u32 {
    let patience = settings.patience;
    for (var look = 0u; look < patience; look++) {
        if (atomicLoad(&state[RELEASED_WORD]) >= n_meetings) {
            return 1u;
        }
        if (atomicLoad(&state[CALL_WORD]) == END) {
            return 0u;
        }
    }
    return 0u;
}

// --- The check --------------------------------------------------------------------------------------------------------

// Whether all workgroups run at the same time: each waits until all have come. And whether subgroups are whole.
fn count_workgroups(lane: u32, seat: Seat, n_workgroups: u32) {
    if (subgroupAdd(1u) != seat.width || seat.width < MIN_WIDTH) {
        atomicAdd(&state[PARTIAL_WORD], 1u);
    }
    if (lane == 0u) {
        let patience = settings.patience;
        atomicAdd(&state[COUNTED_WORD], 1u);
        for (var look = 0u; look < patience; look++) {
            if (atomicLoad(&state[COUNTED_WORD]) >= n_workgroups) {
                atomicAdd(&state[COUNTED_WORD + 1u], 1u);
                break;
            }
        }
    }
}
