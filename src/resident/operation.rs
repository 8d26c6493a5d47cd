//! Operations on arrays.

use super::arena::Array;

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

    /// As the kernel has it.
    pub(super) const fn name(self) -> &'static str {
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

/// One step of a chain. All arrays of a step have the same length, but for what [`Self::Sum`] writes to; an output may be the array that it is made
/// from, but for [`Self::Filter`].
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
