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
/// A slot: number, steps, workgroups, and five spare words; then the steps.
pub const STEPS_WORD: usize = 8;
/// Words of a step: opcode, elements, a, b, out, capacity of out, scalar b, whether it waits with the comparison above, four parameters.
pub const STEP_WORDS: usize = 12;
/// Words of a slot, whole lines.
pub const SLOT_WORDS: usize = (STEPS_WORD + MAX_STEPS * STEP_WORDS).next_multiple_of(LINE_WORDS);

/// Answers, written by the kernel: the heartbeat.
pub const HEARTBEAT_WORD: usize = 0;
/// Answers: the launch that began last.
pub const LAUNCH_WORD: usize = LINE_WORDS;
/// Answers: where they begin.
pub const FIRST_ANSWER_WORD: usize = 2 * LINE_WORDS;
/// An answer: flag, status, step that failed, and a spare word; then a result for each step.
pub const RESULTS_WORD: usize = 4;
/// Words of an answer: a line.
pub const ANSWER_WORDS: usize = LINE_WORDS;

/// What the kernel says of a ticket in its answer's second word.
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
/// Arrivals of workgroups in it.
pub const ARRIVED_WORD: usize = 96;
/// Meetings that are over.
pub const RELEASED_WORD: usize = 128;
/// Workgroups counted by the check.
pub const COUNTED_WORD: usize = 160;
/// What each workgroup counted in a filter's first phase.
pub const MEMBER_COUNTS_WORD: usize = 192;
/// Most workgroups of a launch.
pub const MAX_MEMBERS: usize = 1024;
/// Words of the state.
pub const STATE_WORDS: usize = MEMBER_COUNTS_WORD + MAX_MEMBERS;
/// Most turns of a launch: calls are counted in what the number of members leaves of a word.
pub const MAX_TURNS: u32 = (1 << 31) / MAX_MEMBERS as u32 - 2;

/// What the kernel calls these.
pub(super) const CONSTANTS: &[(&str, usize)] = &[
    ("END_WORD", END_WORD),
    ("KILL_WORD", KILL_WORD),
    ("FIRST_SLOT_WORD", FIRST_SLOT_WORD),
    ("MAX_STEPS", MAX_STEPS),
    ("STEPS_WORD", STEPS_WORD),
    ("STEP_WORDS", STEP_WORDS),
    ("SLOT_WORDS", SLOT_WORDS),
    ("HEARTBEAT_WORD", HEARTBEAT_WORD),
    ("LAUNCH_WORD", LAUNCH_WORD),
    ("FIRST_ANSWER_WORD", FIRST_ANSWER_WORD),
    ("RESULTS_WORD", RESULTS_WORD),
    ("ANSWER_WORDS", ANSWER_WORDS),
    ("STATUS_DONE", STATUS_DONE as usize),
    ("STATUS_INTERRUPTED", STATUS_INTERRUPTED as usize),
    ("STATUS_PARTED", STATUS_PARTED as usize),
    ("SUM_BLOCK", SUM_BLOCK),
    ("BEGAN_WORD", BEGAN_WORD),
    ("BEATS_WORD", BEATS_WORD),
    ("CALL_WORD", CALL_WORD),
    ("CALLED_NUMBER_WORD", CALLED_NUMBER_WORD),
    ("ARRIVED_WORD", ARRIVED_WORD),
    ("RELEASED_WORD", RELEASED_WORD),
    ("COUNTED_WORD", COUNTED_WORD),
    ("MEMBER_COUNTS_WORD", MEMBER_COUNTS_WORD),
    ("MAX_MEMBERS", MAX_MEMBERS),
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

const _: () = assert!(RESULTS_WORD + MAX_STEPS <= ANSWER_WORDS);
const _: () = assert!(SLOT_WORDS.is_multiple_of(LINE_WORDS) && LINE_WORDS * 4 >= 128);
