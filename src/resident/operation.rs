//! Operations on arrays, and how they stand in a descriptor.

use super::arena::Array;
use super::error::Invalid;
use super::layout::{MAX_STEPS, STEP_WORDS, STEPS_WORD};

/// How two numbers are compared. As in WGSL, nothing but `NotEqual` holds for what is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// a < b
    Less,
    /// a ≤ b
    LessEqual,
    /// a > b
    Greater,
    /// a ≥ b
    GreaterEqual,
    /// a = b
    Equal,
    /// a ≠ b
    NotEqual,
}

impl Comparison {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Less, Self::LessEqual, Self::Greater, Self::GreaterEqual, Self::Equal, Self::NotEqual];

    const fn name(self) -> &'static str {
        match self {
            Self::Less => "LESS",
            Self::LessEqual => "LESS_EQUAL",
            Self::Greater => "GREATER",
            Self::GreaterEqual => "GREATER_EQUAL",
            Self::Equal => "EQUAL",
            Self::NotEqual => "NOT_EQUAL",
        }
    }
}

/// The second operand of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// Element by element.
    Array(&'a Array),
    /// The same for all.
    Scalar(f32),
}

impl<'a> From<&'a Array> for Operand<'a> {
    fn from(array: &'a Array) -> Self {
        Self::Array(array)
    }
}

impl From<f32> for Operand<'_> {
    fn from(scalar: f32) -> Self {
        Self::Scalar(scalar)
    }
}

/// One step of a chain. All arrays of a step have the same length; an output may be the array that it is made from, but for
/// [`Self::Filter`].
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// out = value
    Fill {
        /// Written.
        out: &'a Array,
        /// With this.
        value: f32,
    },
    /// out = a + b
    Add {
        /// Read.
        a: &'a Array,
        /// Read.
        b: Operand<'a>,
        /// Written.
        out: &'a Array,
    },
    /// out = a · b
    Multiply {
        /// Read.
        a: &'a Array,
        /// Read.
        b: Operand<'a>,
        /// Written.
        out: &'a Array,
    },
    /// out = 1 where the comparison of a with b holds, else 0
    Compare {
        /// Read.
        a: &'a Array,
        /// How.
        comparison: Comparison,
        /// Read.
        b: Operand<'a>,
        /// Written.
        out: &'a Array,
    },
    /// The elements of a whose mask isn't 0, in their order, at the front of out; what lies behind them there is left as it is. The
    /// step's result is their number.
    Filter {
        /// Read.
        a: &'a Array,
        /// Read.
        mask: &'a Array,
        /// Written.
        out: &'a Array,
    },
    /// The step's result is the sum of a, added in a fixed order ([`sum_of`](super::sum_of) adds in the same one).
    Sum {
        /// Read.
        a: &'a Array,
        /// Its first element is set to the sum, if there is one.
        out: Option<&'a Array>,
    },
    /// out = `user_operation(a, b, parameters)` of [`Config::user_operation`](super::Config::user_operation)
    User {
        /// Read.
        a: &'a Array,
        /// Read.
        b: Operand<'a>,
        /// The same for all elements.
        parameters: [f32; 4],
        /// Written.
        out: &'a Array,
    },
}

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

/// Instead of an array's offset: b is the scalar.
const NO_ARRAY: u32 = u32::MAX;

/// Names and numbers of opcodes and comparisons, for the kernel's text.
pub(super) fn constants() -> impl Iterator<Item = (&'static str, usize)> {
    let comparisons = Comparison::ALL.iter().map(|comparison| (comparison.name(), *comparison as usize));
    Opcode::ALL.iter().map(|(name, opcode)| (*name, *opcode as usize)).chain(comparisons)
}

/// A step as it stands in a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    opcode: Opcode,
    n: u32,
    a: u32,
    b: u32,
    out: u32,
    out_capacity: u32,
    scalar: f32,
    comparison: Comparison,
    has_to_wait: bool,
    parameters: [f32; 4],
}

impl Step {
    /// Without arrays; their lengths are checked when they are [given](Self::over).
    fn new(opcode: Opcode) -> Self {
        Self {
            opcode,
            n: 0,
            a: 0,
            b: NO_ARRAY,
            out: 0,
            out_capacity: 0,
            scalar: 0.0,
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
        Self { n, a, b, out, out_capacity, ..Self::new(opcode) }
    }

    fn reading(self, a: &Array) -> Self {
        Self { a: a.quad(), n: a.len() as u32, ..self }
    }

    fn with(self, b: Operand) -> Self {
        match b {
            Operand::Array(b) => Self { b: b.quad(), ..self },
            Operand::Scalar(scalar) => Self { scalar, ..self },
        }
    }

    fn writing(self, out: &Array) -> Self {
        Self { out: out.quad(), out_capacity: out.len() as u32, n: out.len() as u32, ..self }
    }

    /// Whether each element depends on the same elements of its operands alone: one lane has them all.
    fn is_elementwise(&self) -> bool {
        !matches!(self.opcode, Opcode::Filter | Opcode::Sum)
    }

    fn words(&self) -> [u32; STEP_WORDS] {
        let [x, y, z, w] = self.parameters.map(f32::to_bits);
        let flags = u32::from(self.has_to_wait) | (self.comparison as u32) << 1;
        let scalar = self.scalar.to_bits();
        [self.opcode as u32, self.n, self.a, self.b, self.out, self.out_capacity, scalar, flags, x, y, z, w]
    }
}

/// A chain, checked: everything of a slot but its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    steps: Vec<Step>,
    n_most: u32,
}

impl Batch {
    /// Checks `operations` against each other. `owns` says whether an array is the worker's.
    pub fn of(operations: &[Operation], owns: impl Fn(&Array) -> bool, has_user: bool) -> Result<Self, Invalid> {
        if operations.is_empty() || operations.len() > MAX_STEPS {
            return Err(Invalid::Length { n_steps: operations.len(), most: MAX_STEPS });
        }
        let mut batch = Self { steps: Vec::with_capacity(operations.len()), n_most: 0 };
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
        self.n_most = self.n_most.max(step.n);
        self.steps.push(step);
    }

    /// Elements of its largest step.
    pub fn n_most(&self) -> u32 {
        self.n_most
    }

    /// The slot's words after its number, for `n_members` workgroups.
    pub fn write_words(&self, n_members: u32, words: &mut Vec<u32>) {
        words.clear();
        words.extend([self.steps.len() as u32, n_members, 0, 0, 0, 0, 0]);
        debug_assert_eq!(words.len() + 1, STEPS_WORD);
        for step in &self.steps {
            words.extend(step.words());
        }
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

impl<'a> Operation<'a> {
    /// The arrays that it reads or writes.
    pub(super) fn arrays(&self) -> impl Iterator<Item = &'a Array> {
        let of = |operand: Operand<'a>| match operand {
            Operand::Array(array) => Some(array),
            Operand::Scalar(_) => None,
        };
        let arrays = match *self {
            Self::Fill { out, .. } => [Some(out), None, None],
            Self::Add { a, b, out } | Self::Multiply { a, b, out } => [Some(a), of(b), Some(out)],
            Self::Compare { a, b, out, .. } | Self::User { a, b, out, .. } => [Some(a), of(b), Some(out)],
            Self::Filter { a, mask, out } => [Some(a), Some(mask), Some(out)],
            Self::Sum { a, out } => [Some(a), out, None],
        };
        arrays.into_iter().flatten()
    }
}
