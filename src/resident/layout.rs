//! Where everything lies in the memory that CPU and kernel share, in words of 32 bits. The kernel is given these numbers as constants
//! in front of its text ([`super::kernel`]): they are written down here alone.

/// Words of a line: 128 bytes, which no line of a CPU or GPU that is known of exceeds.
pub const LINE_WORDS: usize = 32;

/// Mailbox, written by the CPU: launches up to the number in this word end.
pub const END_WORD: usize = 0;
/// Mailbox: the launch with this number ends at once, wherever it is. For fault injection.
pub const KILL_WORD: usize = 1;
/// Mailbox: where the slots begin.
pub const FIRST_SLOT_WORD: usize = 2 * LINE_WORDS;
/// Most steps of a chain.
pub const MAX_STEPS: usize = 16;
/// Words of a step: 64 bytes at a multiple of 64, which a CPU's write-combining buffer sends as one write as a rule.
pub const STEP_WORDS: usize = 16;
/// Words of a slot: its steps. The first one announces the batch.
pub const SLOT_WORDS: usize = MAX_STEPS * STEP_WORDS;
/// Of a step, in the slot's first: the batch's number.
pub const NUMBER_WORD: usize = 0;
/// Of a step: opcode, comparison and flags.
pub const WHAT_WORD: usize = 1;
/// Of a step: elements.
pub const N_WORD: usize = 2;
/// Of a step: where a lies.
pub const A_WORD: usize = 3;
/// Of a step: where b lies, or the scalar.
pub const B_WORD: usize = 4;
/// Of a step: where the output lies.
pub const OUT_WORD: usize = 5;
/// Of a step: elements that the output holds.
pub const CAPACITY_WORD: usize = 6;
/// Of a step, in the slot's first: steps, flags of the batch, and workgroups.
pub const HEADER_WORD: usize = 7;
/// Of a step: four parameters. Three spare words follow.
pub const PARAMETERS_WORD: usize = 8;
/// Of a step, in the slot's first: the check word of all others.
pub const CHECK_WORD: usize = 15;

/// In a step's second word: where the comparison stands.
pub const COMPARISON_SHIFT: u32 = 8;
/// In a step's second word: b is an array.
pub const HAS_ARRAY_B: u32 = 1 << 16;
/// In a step's second word: it needs what other lanes did in the step before.
pub const HAS_TO_WAIT: u32 = 1 << 17;
/// In the header, whose lowest byte is the number of steps: the CPU has written to arrays since the batch before.
pub const HAS_NEW_ARRAYS: u32 = 1 << 8;
/// In the header: the CPU looks at more than the answer's first quad, so that all of it has to be there first.
pub const HAS_MORE_TO_READ: u32 = 1 << 9;
/// In the header: one step of few elements, with nothing to wait for before it or before its answer.
pub const IS_SMALL: u32 = 1 << 10;
/// In the header: where the number of workgroups stands.
pub const MEMBERS_SHIFT: u32 = 16;

/// Answers, written by the kernel: the heartbeat.
pub const HEARTBEAT_WORD: usize = 0;
/// Answers: the launch that began last.
pub const LAUNCH_WORD: usize = LINE_WORDS;
/// Answers: the last number of which no store is outstanding.
pub const SETTLED_WORD: usize = 2 * LINE_WORDS;
/// Answers: where they begin.
pub const FIRST_ANSWER_WORD: usize = 3 * LINE_WORDS;
/// An answer's first quad: number; status, and from [`FAILED_STEP_SHIFT`] on the step that failed; the first step's result; check word.
/// Then the results of the steps after the first.
pub const LATER_RESULTS_WORD: usize = 4;
/// See [`LATER_RESULTS_WORD`].
pub const FAILED_STEP_SHIFT: u32 = 8;
/// Words of an answer: a line.
pub const ANSWER_WORDS: usize = LINE_WORDS;

/// What the kernel says of a ticket: the lowest byte of its answer's second word.
pub const STATUS_DONE: u32 = 1;
/// Its launch was killed while it worked on it: its arrays may hold anything.
pub const STATUS_INTERRUPTED: u32 = 2;
/// Workgroups that share it did not come to a meeting.
pub const STATUS_PARTED: u32 = 3;

/// Arrays begin on lines, so in units of four elements their offsets are multiples of this.
pub const ARRAY_ALIGN_QUADS: usize = LINE_WORDS / 4;
/// Elements whose sum is one tree.
pub const SUM_BLOCK: usize = 1024;

/// The state on the GPU: what was begun last.
pub const BEGAN_WORD: usize = 0;
/// Heartbeats so far.
pub const BEATS_WORD: usize = 1;
/// From here on it is zeroed before every launch: which shared batch is to be worked on.
pub const CALL_WORD: usize = 64;
/// The number of that batch.
pub const CALLED_NUMBER_WORD: usize = 65;
/// What its first step came to.
pub const FIRST_RESULT_WORD: usize = 66;
/// Arrivals of workgroups in it.
pub const ARRIVED_WORD: usize = 96;
/// Meetings that are over.
pub const RELEASED_WORD: usize = 128;
/// Workgroups counted by the check: those that came, and those that saw all others.
pub const COUNTED_WORD: usize = 160;
/// Lanes that the check found in subgroups that are not whole or have fewer than [`MIN_WIDTH`] lanes.
pub const PARTIAL_WORD: usize = COUNTED_WORD + 2;
/// Lanes of a subgroup, at least, that the kernel is made for.
pub const MIN_WIDTH: usize = 4;
/// What each workgroup counted in a filter's first phase.
pub const MEMBER_COUNTS_WORD: usize = 192;
/// Most workgroups of a launch.
pub const MAX_MEMBERS: usize = 1024;
/// Words of the state.
pub const STATE_WORDS: usize = MEMBER_COUNTS_WORD + MAX_MEMBERS;
/// Most shared batches of a launch: calls are counted in what the number of members leaves of a word.
pub const MAX_CALLS: usize = (1 << 31) / MAX_MEMBERS - 2;
/// Most turns of a launch with nothing in them: eighths of them are counted in a word.
pub const MAX_TURNS: u32 = 1 << 24;

/// Quads of each operand that a lane reads at once in a small step and in a filter: a small filter has no more.
pub const SMALL_QUADS: usize = 2;

/// What the kernel calls these.
pub(super) const CONSTANTS: &[(&str, usize)] = &[
    ("END_WORD", END_WORD),
    ("KILL_WORD", KILL_WORD),
    ("FIRST_SLOT_WORD", FIRST_SLOT_WORD),
    ("MAX_STEPS", MAX_STEPS),
    ("STEP_WORDS", STEP_WORDS),
    ("SLOT_WORDS", SLOT_WORDS),
    ("COMPARISON_SHIFT", COMPARISON_SHIFT as usize),
    ("HAS_ARRAY_B", HAS_ARRAY_B as usize),
    ("HAS_TO_WAIT", HAS_TO_WAIT as usize),
    ("HAS_NEW_ARRAYS", HAS_NEW_ARRAYS as usize),
    ("HAS_MORE_TO_READ", HAS_MORE_TO_READ as usize),
    ("IS_SMALL", IS_SMALL as usize),
    ("MEMBERS_SHIFT", MEMBERS_SHIFT as usize),
    ("HEARTBEAT_WORD", HEARTBEAT_WORD),
    ("LAUNCH_WORD", LAUNCH_WORD),
    ("SETTLED_WORD", SETTLED_WORD),
    ("FIRST_ANSWER_WORD", FIRST_ANSWER_WORD),
    ("LATER_RESULTS_WORD", LATER_RESULTS_WORD),
    ("FAILED_STEP_SHIFT", FAILED_STEP_SHIFT as usize),
    ("ANSWER_WORDS", ANSWER_WORDS),
    ("STATUS_DONE", STATUS_DONE as usize),
    ("STATUS_INTERRUPTED", STATUS_INTERRUPTED as usize),
    ("STATUS_PARTED", STATUS_PARTED as usize),
    ("SUM_BLOCK", SUM_BLOCK),
    ("BEGAN_WORD", BEGAN_WORD),
    ("BEATS_WORD", BEATS_WORD),
    ("CALL_WORD", CALL_WORD),
    ("CALLED_NUMBER_WORD", CALLED_NUMBER_WORD),
    ("FIRST_RESULT_WORD", FIRST_RESULT_WORD),
    ("ARRIVED_WORD", ARRIVED_WORD),
    ("RELEASED_WORD", RELEASED_WORD),
    ("COUNTED_WORD", COUNTED_WORD),
    ("PARTIAL_WORD", PARTIAL_WORD),
    ("MIN_WIDTH", MIN_WIDTH),
    ("MEMBER_COUNTS_WORD", MEMBER_COUNTS_WORD),
    ("MAX_MEMBERS", MAX_MEMBERS),
    ("MAX_CALLS", MAX_CALLS),
    ("SMALL_QUADS", SMALL_QUADS),
    ("STATE_WORDS", STATE_WORDS),
];

/// Words of the mailbox.
pub const fn mailbox_words(n_slots: usize) -> usize {
    FIRST_SLOT_WORD + n_slots * SLOT_WORDS
}

/// Words of the answers.
pub const fn answers_words(n_slots: usize) -> usize {
    FIRST_ANSWER_WORD + n_slots * ANSWER_WORDS
}

/// Where a slot begins in the mailbox.
pub const fn slot_word(slot_idx: usize) -> usize {
    FIRST_SLOT_WORD + slot_idx * SLOT_WORDS
}

/// Where a slot's answer begins.
pub const fn answer_word(slot_idx: usize) -> usize {
    FIRST_ANSWER_WORD + slot_idx * ANSWER_WORDS
}

const _: () = assert!(LATER_RESULTS_WORD + MAX_STEPS - 1 <= ANSWER_WORDS);
const _: () = assert!(SLOT_WORDS.is_multiple_of(LINE_WORDS) && LINE_WORDS * 4 >= 128);
// Both are looked at as quads; and end and kill word stand in one.
const _: () = assert!(FIRST_SLOT_WORD.is_multiple_of(STEP_WORDS) && FIRST_ANSWER_WORD.is_multiple_of(4));
const _: () = assert!(END_WORD == 0 && KILL_WORD == 1);
const _: () = assert!(MAX_STEPS < HAS_NEW_ARRAYS as usize && MAX_MEMBERS < 1 << 16);
