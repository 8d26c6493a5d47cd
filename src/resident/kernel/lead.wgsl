// The resident kernel. Constants in capitals are put in front of this text; operations are in operations.wgsl, behind it.
//
// Workgroup 0 leads: it watches the ring, works on small batches alone, and calls the other workgroups for large ones. Whatever the
// CPU or another workgroup writes while the kernel runs is in memory declared @coherent, or atomic.

struct Settings {
    launch: u32,        // this launch's number, from 1
    n_turns: u32,       // most turns of the leader's loop
    n_looks: u32,       // looks at the ring in a turn
    patience: u32,      // looks of a workgroup for another one before it gives up
    n_slots_mask: u32,
    is_counting: u32,   // this launch only counts which workgroups run at the same time
    is_killable: u32,   // whether the kill word is looked at
}

@group(0) @binding(0) @coherent var<storage, read_write> mailbox: array<u32>;
@group(0) @binding(1) @coherent var<storage, read_write> answers: array<u32>;
@group(0) @binding(2) @coherent var<storage, read_write> arena: array<vec4<f32>>;
@group(0) @binding(3) @coherent var<storage, read_write> readback: array<vec4<f32>>;
@group(0) @binding(4) @coherent var<storage, read_write> scratch: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> state: array<atomic<u32>, STATE_WORDS>;
@group(0) @binding(6) var<storage, read_write> settings: Settings;

// The batch's slot, in every workgroup that works on it.
var<workgroup> slot: array<u32, SLOT_WORDS>;
// What lane 0 found, for all lanes.
var<workgroup> found: u32;

// What the leader sees in the ring, and the others in the call's word.
const NOTHING: u32 = 0u;
const RUNG: u32 = 1u;
const NO_CALL: u32 = 0u;
const END: u32 = 0xffffffffu;

@compute @workgroup_size(N_LANES)
fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    if (settings.is_counting != 0u) {
        count_workgroups(lane, n_workgroups.x);
        return;
    }
    let member = workgroup.x;
    let is_leader = member == 0u;
    let launch = settings.launch;
    // The leader: the number that is next, and what keeps others from giving it up.
    var number = 0u;
    var beats = atomicLoad(&state[BEATS_WORD]);
    var n_calls = 0u;
    if (is_leader) {
        number = answer_for_interrupted(lane) + 1u;
        if (lane == 0u) {
            answers[LAUNCH_WORD] = launch;
        }
    }
    // The others: the last call that they saw.
    var last = NO_CALL;
    // Drivers inline every call: there is one loop for both, so that the kernel has everything once.
    for (var turn = 0u; !is_leader || turn < settings.n_turns; turn++) {
        if (lane == 0u) {
            if (is_leader) {
                found = watch(number, launch);
            } else {
                found = listen(last);
            }
        }
        let event = workgroupUniformLoad(&found);
        if (event == END) {
            break;
        }
        if (is_leader && (event == NOTHING || (turn & 63u) == 0u)) {
            beats += 1u;
            if (lane == 0u) {
                atomicStore(&state[BEATS_WORD], beats);
                answers[HEARTBEAT_WORD] = beats;
            }
        }
        if (event == NOTHING) {
            continue;
        }
        var n_members = event % (2u * MAX_MEMBERS);
        if (!is_leader) {
            last = event;
            if (member >= n_members) {
                continue;
            }
        }
        // Only after the number, or the call, was seen: what it announces was stored before it.
        if (IS_ACQUIRING || !is_leader) {
            storageBarrier();
        }
        if (!is_leader) {
            // The leader can't go on without this workgroup: number and slot stay as they are.
            if (lane == 0u) {
                found = atomicLoad(&state[CALLED_NUMBER_WORD]);
            }
            number = workgroupUniformLoad(&found);
        }
        take_slot(lane, number);
        if (is_leader) {
            n_members = clamp(slot[2], 1u, min(n_workgroups.x, MAX_MEMBERS));
            if (lane == 0u) {
                // Before anything is done for it. Only the next launch reads it.
                atomicStore(&state[BEGAN_WORD], number);
            }
            if (n_members > 1u) {
                n_calls += 1u;
                call(lane, n_calls, n_members, number);
            }
        }
        if (!work(lane, member, n_members, number, launch)) {
            break;
        }
        number += 1u;
    }
    if (is_leader && lane == 0u) {
        atomicStore(&state[CALL_WORD], END);
    }
}

// --- The leader -------------------------------------------------------------------------------------------------------

// What was begun last has its answer, unless its launch was killed: then this is it. Gives its number.
fn answer_for_interrupted(lane: u32) -> u32 {
    if (lane == 0u) {
        found = atomicLoad(&state[BEGAN_WORD]);
    }
    let began = workgroupUniformLoad(&found);
    let at = FIRST_ANSWER_WORD + (began & settings.n_slots_mask) * ANSWER_WORDS;
    if (lane == 0u) {
        found = answers[at];
    }
    if (workgroupUniformLoad(&found) != began) {
        answer(lane, began, STATUS_INTERRUPTED, 0u);
    }
    return began;
}

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

// Looks at the ring for a while.
fn watch(number: u32, launch: u32) -> u32 {
    let at = FIRST_SLOT_WORD + (number & settings.n_slots_mask) * SLOT_WORDS;
    let n_looks = settings.n_looks;
    for (var look = 0u; look < n_looks; look++) {
        let rung = mailbox[at];
        let end = mailbox[END_WORD];
        // An end comes first, or a busy ring could put it off for ever.
        if (end >= launch) {
            return END;
        }
        if (rung == number) {
            return RUNG;
        }
    }
    return NOTHING;
}

fn take_slot(lane: u32, number: u32) {
    let at = FIRST_SLOT_WORD + (number & settings.n_slots_mask) * SLOT_WORDS;
    for (var word = lane; word < SLOT_WORDS; word += N_LANES) {
        slot[word] = mailbox[at + word];
    }
    workgroupBarrier();
}

// The last word on a batch: all lanes call it, after their stores.
fn answer(lane: u32, number: u32, status: u32, step: u32) {
    let at = FIRST_ANSWER_WORD + (number & settings.n_slots_mask) * ANSWER_WORDS;
    if (lane == 0u) {
        answers[at + 1u] = status;
        answers[at + 2u] = step;
    }
    // Results before the flag that says they are there.
    storageBarrier();
    if (lane == 0u) {
        answers[at] = number;
    }
}

// --- The others -------------------------------------------------------------------------------------------------------

// Waits for another call, as long as the leader's heart beats.
fn listen(last: u32) -> u32 {
    var beats = atomicLoad(&state[BEATS_WORD]);
    for (var look = 0u; look < settings.patience; look++) {
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
fn work(lane: u32, member: u32, n_members: u32, number: u32, launch: u32) -> bool {
    let n_steps = min(slot[1], MAX_STEPS);
    var n_meetings = 0u;
    for (var step = 0u; step < n_steps; step++) {
        let at = STEPS_WORD + step * STEP_WORDS;
        let is_last = step + 1u == n_steps;
        // Whether the next step needs what other lanes do in this one.
        let is_waited_for = is_last || (slot[at + STEP_WORDS + 7u] & 1u) != 0u;
        var round = SHARE;
        loop {
            run(lane, member, n_members, at, step, number, round);
            if (n_members == 1u) {
                if (is_waited_for && !is_last) {
                    storageBarrier();
                }
                break;
            }
            let has_second = slot[at] == FILTER && round == SHARE;
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
                        if (member == 0u) {
                            answer(lane, number, STATUS_PARTED, step);
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
                if (slot[at] == SUM) {
                    round = REST;
                    continue;
                }
            }
            // Whoever came last, with nothing left to do.
            if (is_end) {
                answer(lane, number, STATUS_DONE, 0u);
            }
            storageBarrier();
            if (lane == 0u) {
                atomicStore(&state[RELEASED_WORD], n_meetings);
            }
            if (has_second) {
                round = SECOND;
                continue;
            }
            break;
        }
        if (settings.is_killable != 0u && member == 0u) {
            if (lane == 0u) {
                found = mailbox[KILL_WORD];
            }
            if (workgroupUniformLoad(&found) == launch) {
                return false;
            }
        }
    }
    if (n_members == 1u || n_steps == 0u) {
        answer(lane, number, STATUS_DONE, 0u);
    }
    return true;
}

fn wait_for_release(n_meetings: u32) -> u32 {
    for (var look = 0u; look < settings.patience; look++) {
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

// Whether all workgroups run at the same time: each waits until all have come.
fn count_workgroups(lane: u32, n_workgroups: u32) {
    if (lane == 0u) {
        atomicAdd(&state[COUNTED_WORD], 1u);
        for (var look = 0u; look < settings.patience; look++) {
            if (atomicLoad(&state[COUNTED_WORD]) >= n_workgroups) {
                atomicAdd(&state[COUNTED_WORD + 1u], 1u);
                break;
            }
        }
    }
}
