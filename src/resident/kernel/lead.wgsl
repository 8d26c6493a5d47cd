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

const NOTHING: u32 = 0u;
const RUNG: u32 = 1u;
const END: u32 = 2u;
const NO_CALL: u32 = 0u;
const LAST_CALL: u32 = 0xffffffffu;

@compute @workgroup_size(N_LANES)
fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) n_workgroups: vec3<u32>,
) {
    if (settings.is_counting != 0u) {
        count_workgroups(lane, n_workgroups.x);
    } else if (workgroup.x == 0u) {
        lead(lane, n_workgroups.x);
    } else {
        follow(lane, workgroup.x);
    }
}

// --- The leader -------------------------------------------------------------------------------------------------------

fn lead(lane: u32, n_workgroups: u32) {
    let launch = settings.launch;
    var number = answer_for_interrupted(lane) + 1u;
    var beats = atomicLoad(&state[BEATS_WORD]);
    if (lane == 0u) {
        answers[LAUNCH_WORD] = launch;
    }
    var n_calls = 0u;
    for (var turn = 0u; turn < settings.n_turns; turn++) {
        if (lane == 0u) {
            found = watch(number, launch);
        }
        let event = workgroupUniformLoad(&found);
        if (event == END) {
            break;
        }
        if (event == NOTHING || (turn & 63u) == 0u) {
            beats += 1u;
            if (lane == 0u) {
                atomicStore(&state[BEATS_WORD], beats);
                answers[HEARTBEAT_WORD] = beats;
            }
        }
        if (event == RUNG) {
            // Only after the number was seen: the batch and the arrays were stored before it.
            if (IS_ACQUIRING) {
                storageBarrier();
            }
            take_slot(lane, number);
            if (lane == 0u) {
                // Before anything is done for it. Only the next launch reads it.
                atomicStore(&state[BEGAN_WORD], number);
            }
            let n_members = clamp(slot[2], 1u, min(n_workgroups, MAX_MEMBERS));
            if (n_members > 1u) {
                n_calls += 1u;
                call(lane, n_calls, n_members, number);
            }
            if (!work(lane, 0u, n_members, number, launch)) {
                break;
            }
            number += 1u;
        }
    }
    if (lane == 0u) {
        atomicStore(&state[CALL_WORD], LAST_CALL);
    }
}

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

fn follow(lane: u32, workgroup: u32) {
    var last = NO_CALL;
    loop {
        if (lane == 0u) {
            found = listen(last);
        }
        last = workgroupUniformLoad(&found);
        if (last == LAST_CALL) {
            break;
        }
        let n_members = last % (2u * MAX_MEMBERS);
        if (workgroup < n_members) {
            // The leader can't go on without this workgroup: number and slot stay as they are.
            storageBarrier();
            if (lane == 0u) {
                found = atomicLoad(&state[CALLED_NUMBER_WORD]);
            }
            let number = workgroupUniformLoad(&found);
            take_slot(lane, number);
            if (!work(lane, workgroup, n_members, number, settings.launch)) {
                break;
            }
        }
    }
}

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
    return LAST_CALL;
}

// --- Together ---------------------------------------------------------------------------------------------------------

// Works through a batch as member `member` of `n_members`, and answers. False if this launch is to end at once.
fn work(lane: u32, member: u32, n_members: u32, number: u32, launch: u32) -> bool {
    let n_steps = min(slot[1], MAX_STEPS);
    var n_meetings = 0u;
    for (var step = 0u; step < n_steps; step++) {
        let at = STEPS_WORD + step * STEP_WORDS;
        let is_last = step + 1u == n_steps;
        // Whether the next step needs what other lanes do in this one.
        let is_waited_for = is_last || (slot[at + STEP_WORDS + 7u] & 1u) != 0u;
        if (n_members == 1u) {
            run_alone(lane, step, at, number);
            if (is_waited_for && !is_last) {
                storageBarrier();
            }
        } else {
            let n_phases = select(1u, 2u, slot[at] == FILTER);
            for (var phase = 0u; phase < n_phases; phase++) {
                run_shared(lane, member, n_members, at, phase);
                let is_step_over = phase + 1u == n_phases;
                if (is_waited_for || !is_step_over) {
                    n_meetings += 1u;
                    if (!meet(lane, member, n_members, n_meetings, step, is_step_over, is_last, number)) {
                        return false;
                    }
                }
            }
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

// The end of a phase: nobody goes on before all have come. The last to come completes the step and, after the last step, answers;
// then only the leader waits for it. False if somebody did not come.
fn meet(
    lane: u32, member: u32, n_members: u32, n_meetings: u32, step: u32, is_step_over: bool, is_last: bool, number: u32,
) -> bool {
    // What this workgroup stored is there for whoever comes later.
    storageBarrier();
    if (lane == 0u) {
        found = atomicAdd(&state[ARRIVED_WORD], 1u) + 1u;
    }
    if (workgroupUniformLoad(&found) == n_meetings * n_members) {
        storageBarrier();
        if (is_step_over) {
            complete(lane, n_members, step, number);
            if (is_last) {
                answer(lane, number, STATUS_DONE, 0u);
            }
        }
        storageBarrier();
        if (lane == 0u) {
            atomicStore(&state[RELEASED_WORD], n_meetings);
        }
        return true;
    }
    if (is_last && is_step_over && member != 0u) {
        return true;
    }
    if (lane == 0u) {
        found = wait_for_release(n_meetings);
    }
    let is_released = workgroupUniformLoad(&found) != 0u;
    storageBarrier();
    if (!is_released && member == 0u) {
        answer(lane, number, STATUS_PARTED, step);
    }
    return is_released;
}

fn wait_for_release(n_meetings: u32) -> u32 {
    for (var look = 0u; look < settings.patience; look++) {
        if (atomicLoad(&state[RELEASED_WORD]) >= n_meetings) {
            return 1u;
        }
        if (atomicLoad(&state[CALL_WORD]) == LAST_CALL) {
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
