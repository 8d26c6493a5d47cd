//! Chains as they stand in a slot.

use arrayvec::ArrayVec;

use super::arena::Array;
use super::checksum;
use super::error::Invalid;
use super::layout::{
    A_WORD, B_WORD, CAPACITY_WORD, CHECK_WORD, COMPARISON_SHIFT, HAS_ARRAY_B, HAS_MORE_TO_READ, HAS_NEW_ARRAYS,
    HAS_TO_WAIT, HEADER_WORD, IS_SMALL, MAX_STEPS, MEMBERS_SHIFT, N_WORD, NUMBER_WORD, OUT_WORD, PARAMETERS_WORD,
    SMALL_QUADS, STEP_WORDS, SUM_BLOCK, WHAT_WORD,
};
use super::operation::{Comparison, Operand, Operation};

/// The kernel's numbers for operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opcode {
    Fill = 1,
    Add,
    Multiply,
    Compare,
    Filter,
    Sum,
    User,
    /// Into the memory that the CPU reads from; no operation of the public kind.
    Copy,
}

impl Opcode {
    const ALL: [(&'static str, Self); 8] = [
        ("FILL", Self::Fill),
        ("ADD", Self::Add),
        ("MULTIPLY", Self::Multiply),
        ("COMPARE", Self::Compare),
        ("FILTER", Self::Filter),
        ("SUM", Self::Sum),
        ("USER", Self::User),
        ("COPY", Self::Copy),
    ];
}

/// Names and numbers of opcodes and comparisons, for the kernel's text.
pub(super) fn constants() -> impl Iterator<Item = (&'static str, usize)> {
    let comparisons = Comparison::ALL.iter().map(|comparison| (comparison.name(), *comparison as usize));
    Opcode::ALL.iter().map(|(name, opcode)| (*name, *opcode as usize)).chain(comparisons)
}

/// The second operand, as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Second {
    /// From this quad on.
    Array(u32),
    Scalar(f32),
}

/// A step, checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    opcode: Opcode,
    n: u32,
    a: u32,
    b: Second,
    out: u32,
    out_capacity: u32,
    comparison: Comparison,
    has_to_wait: bool,
    parameters: [f32; 4],
}

impl Step {
    /// Without arrays; their lengths are checked when they are given.
    fn new(opcode: Opcode) -> Self {
        Self {
            opcode,
            n: 0,
            a: 0,
            b: Second::Scalar(0.0),
            out: 0,
            out_capacity: 0,
            comparison: Comparison::Equal,
            has_to_wait: false,
            parameters: [0.0; 4],
        }
    }

    /// Copies `n` elements from quad `a` of the arena to the front of the memory that the CPU reads from.
    pub fn copy(a: u32, n: u32) -> Self {
        Self { n, a, out_capacity: n, ..Self::new(Opcode::Copy) }
    }

    /// Anything at all, but for the operation.
    #[cfg(test)]
    pub fn wild(mut random: impl FnMut() -> u32) -> Self {
        let (_, opcode) = Opcode::ALL[random() as usize % Opcode::ALL.len()];
        let (n, a, b, out, out_capacity) = (random(), random(), random(), random(), random());
        let b = if random().is_multiple_of(4) { Second::Scalar(f32::from_bits(b)) } else { Second::Array(b) };
        Self { n, a, b, out, out_capacity, ..Self::new(opcode) }
    }

    /// The same of `n` elements, from quad `at` on.
    #[cfg(test)]
    pub fn made_small(self, n: u32, at: u32) -> Self {
        let b = if let Second::Array(_) = self.b { Second::Array(at + 7) } else { self.b };
        Self { n, a: at, b, out: at + 11, ..self }
    }

    fn reading(self, a: &Array) -> Self {
        Self { a: a.quad(), n: a.len() as u32, ..self }
    }

    fn with(self, b: Operand) -> Self {
        let b = match b {
            Operand::Array(b) => Second::Array(b.quad()),
            Operand::Scalar(scalar) => Second::Scalar(scalar),
        };
        Self { b, ..self }
    }

    fn writing(self, out: &Array) -> Self {
        Self { out: out.quad(), out_capacity: out.len() as u32, n: out.len() as u32, ..self }
    }

    /// Whether each element depends on the same elements of its operands alone: one lane has them all.
    fn is_elementwise(&self) -> bool {
        !self.has_result()
    }

    /// Elements, as far as sharing them goes: a workgroup has several blocks of a sum at once, and to share it costs another meeting.
    fn work(&self) -> u32 {
        const SUM_LIGHTNESS: u32 = 4;
        if self.opcode == Opcode::Sum { self.n / SUM_LIGHTNESS } else { self.n }
    }

    fn has_result(&self) -> bool {
        matches!(self.opcode, Opcode::Filter | Opcode::Sum)
    }

    /// As it stands in a slot behind the first one.
    pub fn words(&self) -> [u32; STEP_WORDS] {
        let (b, b_flag) = match self.b {
            Second::Array(quad) => (quad, HAS_ARRAY_B),
            Second::Scalar(scalar) => (scalar.to_bits(), 0),
        };
        let wait_flag = if self.has_to_wait { HAS_TO_WAIT } else { 0 };
        let mut words = [0; STEP_WORDS];
        words[WHAT_WORD] = self.opcode as u32 | (self.comparison as u32) << COMPARISON_SHIFT | b_flag | wait_flag;
        words[N_WORD] = self.n;
        words[A_WORD] = self.a;
        words[B_WORD] = b;
        words[OUT_WORD] = self.out;
        words[CAPACITY_WORD] = self.out_capacity;
        words[PARAMETERS_WORD..][..4].copy_from_slice(&self.parameters.map(f32::to_bits));
        words
    }
}

/// Up to how many elements a step is worked on by the subgroup that watches the ring, and by nobody else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SmallLimits {
    /// Operations element by element.
    map: u32,
    /// The caller's: it may take long, and all lanes together have it done sooner.
    user: u32,
    /// Filters.
    pub filter: u32,
    /// Sums.
    pub sum: u32,
}

impl SmallLimits {
    /// For subgroups of at least `narrowest` lanes: what the kernel has room for (`small.wgsl`), and for operations element by
    /// element, which have no such bound, what is faster than telling the others (docs/resident.md).
    pub fn of(narrowest: u32) -> Self {
        const FASTER: u32 = 256;
        let elements = |n_quads: usize| n_quads as u32 * 4 * narrowest;
        Self { map: FASTER, user: elements(1), filter: elements(SMALL_QUADS), sum: SUM_BLOCK as u32 }
    }
}

/// A chain, checked: everything of a slot but its number. Lies on the stack: a submission allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    steps: ArrayVec<Step, MAX_STEPS>,
    n_most: u32,
}

impl Batch {
    /// Checks `operations` against each other. `owns` says whether an array is the worker's.
    pub fn of(operations: &[Operation], owns: impl Fn(&Array) -> bool, has_user: bool) -> Result<Self, Invalid> {
        if operations.is_empty() || operations.len() > MAX_STEPS {
            return Err(Invalid::Length { n_steps: operations.len(), most: MAX_STEPS });
        }
        let mut batch = Self::default();
        for (step_idx, operation) in operations.iter().enumerate() {
            batch.push(step_of(operation, step_idx, &owns, has_user)?);
        }
        Ok(batch)
    }

    /// A single step.
    pub fn only(step: Step) -> Self {
        let mut batch = Self::default();
        batch.push(step);
        batch
    }

    fn push(&mut self, mut step: Step) {
        if let Some(before) = self.steps.last() {
            step.has_to_wait = !(before.is_elementwise() && step.is_elementwise() && before.n == step.n);
        }
        self.n_most = self.n_most.max(step.work());
        self.steps.push(step);
    }

    /// Whether the lanes that watch the ring do it alone: one step within `limits`.
    fn is_small(&self, limits: SmallLimits) -> bool {
        let [step] = self.steps.as_slice() else { return false };
        let n_most = match step.opcode {
            Opcode::Copy => 0,
            Opcode::Filter => limits.filter,
            Opcode::Sum => limits.sum,
            Opcode::User => limits.user,
            _ => limits.map,
        };
        step.n <= n_most
    }

    /// What there is to share of its largest step, in elements: see [`Step::work`].
    pub fn n_most(&self) -> u32 {
        self.n_most
    }

    /// The steps behind the first one, which are written before it.
    pub fn later_steps(&self) -> &[Step] {
        self.steps.get(1..).unwrap_or_default()
    }

    /// The first step as it stands in the slot: it announces the batch as `number`, for `n_members` workgroups. `has_new_arrays`: the CPU
    /// has written to arrays since the batch before. `limits`: what of it is small.
    pub fn first_words(
        &self,
        number: u32,
        n_members: u32,
        has_new_arrays: bool,
        limits: SmallLimits,
    ) -> [u32; STEP_WORDS] {
        let mut words = self.steps.first().map_or([0; STEP_WORDS], Step::words);
        let has_more_to_read = self.later_steps().iter().any(Step::has_result)
            || self.steps.iter().any(|step| step.opcode == Opcode::Copy);
        let is_small = n_members == 1 && !has_new_arrays && !has_more_to_read && self.is_small(limits);
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        words[NUMBER_WORD] = number;
        words[HEADER_WORD] = self.steps.len() as u32
            | flag(has_new_arrays, HAS_NEW_ARRAYS)
            | flag(has_more_to_read, HAS_MORE_TO_READ)
            | flag(is_small, IS_SMALL)
            | n_members << MEMBERS_SHIFT;
        words[CHECK_WORD] = checksum::of_step(&words);
        words
    }
}

fn step_of(
    operation: &Operation,
    step_idx: usize,
    owns: &impl Fn(&Array) -> bool,
    has_user: bool,
) -> Result<Step, Invalid> {
    if operation.arrays().any(|array| !owns(array)) {
        return Err(Invalid::Foreign { step_idx });
    }
    let mut lengths = operation.arrays().map(Array::len);
    let first = lengths.next().unwrap_or(0);
    if let Some(other) = lengths.find(|n| *n != first)
        && !matches!(operation, Operation::Sum { .. })
    {
        return Err(Invalid::Lengths { step_idx, lengths: (first, other) });
    }
    Ok(match *operation {
        Operation::Fill { out, value } => Step::new(Opcode::Fill).with(value.into()).writing(out),
        Operation::Add { a, b, out } => Step::new(Opcode::Add).reading(a).with(b).writing(out),
        Operation::Multiply { a, b, out } => Step::new(Opcode::Multiply).reading(a).with(b).writing(out),
        Operation::Compare { a, comparison, b, out } => {
            Step { comparison, ..Step::new(Opcode::Compare).reading(a).with(b).writing(out) }
        }
        Operation::Filter { out, a, mask } if out.is_same(a) || out.is_same(mask) => {
            return Err(Invalid::InPlaceFilter { step_idx });
        }
        Operation::Filter { a, mask, out } => Step::new(Opcode::Filter).reading(a).with(mask.into()).writing(out),
        Operation::Sum { a, out: Some(out) } => Step::new(Opcode::Sum).writing(out).reading(a),
        Operation::Sum { a, out: None } => Step::new(Opcode::Sum).reading(a),
        Operation::User { .. } if !has_user => return Err(Invalid::NoUserOperation { step_idx }),
        Operation::User { a, b, parameters, out } => {
            Step { parameters, ..Step::new(Opcode::User).reading(a).with(b).writing(out) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(opcode: Opcode, n: u32) -> Step {
        Step { n, ..Step::new(opcode) }
    }

    fn batch(steps: &[Step]) -> Batch {
        let mut batch = Batch::default();
        steps.iter().for_each(|step| batch.push(*step));
        batch
    }

    #[test]
    fn resident_batches_say_what_the_cpu_reads_besides_the_answers_first_quad() {
        let has_more = |steps: &[Step]| {
            batch(steps).first_words(1, 1, false, SmallLimits::default())[HEADER_WORD] & HAS_MORE_TO_READ != 0
        };
        let (add, sum) = (step(Opcode::Add, 8), step(Opcode::Sum, 8));
        assert!(!has_more(&[add]) && !has_more(&[sum]) && !has_more(&[sum, add]));
        assert!(has_more(&[add, sum]) && has_more(&[sum, step(Opcode::Filter, 8)]) && has_more(&[Step::copy(0, 8)]));
    }

    #[test]
    fn resident_batches_wait_between_steps_unless_lanes_have_their_elements_alone() {
        let (add, sum) = (step(Opcode::Add, 8), step(Opcode::Sum, 8));
        let waits = |steps: &[Step]| -> Vec<bool> {
            batch(steps).later_steps().iter().map(|step| step.words()[WHAT_WORD] & HAS_TO_WAIT != 0).collect()
        };
        assert_eq!(waits(&[add, add, sum, add, step(Opcode::Add, 9)]), [false, true, true, true]);
    }

    #[test]
    fn resident_batches_are_announced_by_a_first_step_that_fits_its_check_word() {
        let words = batch(&[step(Opcode::Sum, 8); 3]).first_words(77, 5, true, SmallLimits::of(32));
        assert_eq!((words[NUMBER_WORD], words[CHECK_WORD]), (77, checksum::of_step(&words)));
        assert_eq!(words[HEADER_WORD], 3 | HAS_NEW_ARRAYS | HAS_MORE_TO_READ | 5 << MEMBERS_SHIFT);
    }

    #[test]
    fn resident_batches_are_small_if_the_watching_lanes_can_do_them_at_once() {
        let is_small = |steps: &[Step], limits: SmallLimits, n_members, has_new_arrays| {
            batch(steps).first_words(1, n_members, has_new_arrays, limits)[HEADER_WORD] & IS_SMALL != 0
        };
        let limits = SmallLimits::of(32);
        let fits = |opcode, n| is_small(&[step(opcode, n)], limits, 1, false);
        assert!(fits(Opcode::Add, 256) && !fits(Opcode::Add, 257));
        assert!(fits(Opcode::User, 128) && !fits(Opcode::User, 129));
        assert!(fits(Opcode::Filter, 256) && !fits(Opcode::Filter, 257));
        assert!(fits(Opcode::Sum, 1024) && !fits(Opcode::Sum, 1025));
        // The CPU reads what a copy leaves.
        assert!(!fits(Opcode::Copy, 8));
        let add = step(Opcode::Add, 8);
        assert!(!is_small(&[add, add], limits, 1, false), "the second step is not in the first line");
        assert!(!is_small(&[add], limits, 2, false) && !is_small(&[add], limits, 1, true));
        assert!(!is_small(&[add], SmallLimits::default(), 1, false));
    }
}
