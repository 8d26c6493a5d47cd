//! The same arrays on the CPU, and random operations on both.

use praxis::measure::statistics::SplitMix64;
use praxis::resident::{Array, Comparison, Operand, Operation, OperationError, ResidentWorker, sum_of};

/// A number that is neither tiny nor huge, or 0.
fn value(random: &mut SplitMix64) -> f32 {
    (random.below(4001) as f32 - 2000.0) / 256.0
}

/// Arrays of one length, with what must be in them.
struct Group {
    arrays: Vec<Array>,
    mirrors: Vec<Vec<f32>>,
}

const N_ARRAYS: usize = 4;
/// Elements of each group's arrays. The last are shared among workgroups where there are several.
const LENGTHS: [usize; 10] = [1, 3, 4, 31, 33, 100, 129, 256, 300, 1_024];
const LARGE_LENGTHS: [usize; 3] = [2_500, 5_000, 33_333];
/// What the user's operation is.
pub const USER_OPERATION: &str = "
fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32 {
    return max(a, b) - parameters.y;
}";

/// An array of the mirror, by its group and place.
pub type Place = (usize, usize);

/// A random step, in places; what it does to the mirror is done already.
#[derive(Clone, Copy, Debug)]
enum Step {
    Fill { out: Place, value: f32 },
    Add { a: Place, b: Second, out: Place },
    Multiply { a: Place, b: Second, out: Place },
    Compare { a: Place, comparison: Comparison, b: Second, out: Place },
    Filter { a: Place, mask: Place, out: Place },
    User { a: Place, b: Second, y: f32, out: Place },
    Sum { a: Place },
}

#[derive(Clone, Copy, Debug)]
enum Second {
    Array(Place),
    Scalar(f32),
}

/// What a chain must answer.
#[derive(Debug, Default)]
pub struct Expected {
    /// By step, the sum's bits.
    pub sums: Vec<(usize, u32)>,
    /// By step, how many elements are kept.
    pub counts: Vec<(usize, usize)>,
    /// Everything that it reads or writes.
    pub reads: Vec<Place>,
    pub writes: Vec<Place>,
    /// Operations under test: sums that only check others are not among them.
    pub n_ops: u64,
    /// The step with the sum of the tally before which the chain adds 1 to it.
    pub tally: Option<usize>,
}

/// All arrays of a worker.
pub struct Mirror {
    groups: Vec<Group>,
    /// What a step alone left, which the next chain is to check.
    unchecked: Option<Place>,
}

/// The group of one small array that is only ever added 1 to: a step that is lost or run twice shows in it.
const TALLY: usize = 0;
const TALLY_PLACE: Place = (TALLY, 0);
const TALLY_LENGTH: usize = 4;
/// Beyond this it begins anew: further up not every number is one.
const MOST_TALLIED: f32 = 4e6;

impl Mirror {
    pub fn new(worker: &ResidentWorker, random: &mut SplitMix64) -> Result<Self, OperationError> {
        let mut groups = Vec::new();
        for n in [TALLY_LENGTH].into_iter().chain(LENGTHS).chain(LARGE_LENGTHS) {
            let mut group = Group { arrays: Vec::new(), mirrors: Vec::new() };
            for _ in 0..N_ARRAYS {
                let values: Vec<f32> = (0..n).map(|_| if n == TALLY_LENGTH { 0.0 } else { value(random) }).collect();
                group.arrays.push(worker.array_from(&values)?);
                group.mirrors.push(values);
            }
            groups.push(group);
        }
        Ok(Self { groups, unchecked: None })
    }

    pub fn array(&self, (group, idx): Place) -> &Array {
        &self.groups[group].arrays[idx]
    }

    pub fn values(&self, (group, idx): Place) -> &[f32] {
        &self.groups[group].mirrors[idx]
    }

    /// Any array.
    pub fn any(&self, random: &mut SplitMix64) -> Place {
        (random.below(self.groups.len()), random.below(N_ARRAYS))
    }

    /// New contents on both sides.
    pub fn rewrite(
        &mut self,
        worker: &ResidentWorker,
        place: Place,
        random: &mut SplitMix64,
    ) -> Result<(), OperationError> {
        let (group, idx) = place;
        let values = &mut self.groups[group].mirrors[idx];
        values.fill_with(|| if group == TALLY { 0.0 } else { value(random) });
        worker.write(&self.groups[group].arrays[idx], &self.groups[group].mirrors[idx])
    }

    /// A chain of random steps, done here, with what must come back, and its operations for the worker.
    pub fn chain<T>(
        &mut self,
        random: &mut SplitMix64,
        submit: impl FnOnce(&[Operation], &Expected) -> T,
    ) -> (T, Expected) {
        let mut steps = Vec::with_capacity(16);
        let mut expected = Expected::default();
        if let Some(place) = self.unchecked.take() {
            self.check_sum(place, &mut steps, &mut expected);
        } else if random.below(3) == 0 {
            self.unchecked = self.step_alone(random, &mut steps, &mut expected);
        } else {
            self.several_steps(random, &mut steps, &mut expected);
        }
        let operations: Vec<Operation> = steps.iter().map(|step| self.operation(step)).collect();
        (submit(&operations, &expected), expected)
    }

    fn several_steps(&mut self, random: &mut SplitMix64, steps: &mut Vec<Step>, expected: &mut Expected) {
        if random.below(4) == 0 {
            self.add_to_tally(steps, expected);
        }
        let is_large = random.below(64) == 0;
        let n_wanted = if is_large { 1 } else { 1 + random.below(3) };
        for _ in 0..n_wanted {
            let n_small = 1 + LENGTHS.len();
            let group =
                if is_large { n_small + random.below(LARGE_LENGTHS.len()) } else { 1 + random.below(LENGTHS.len()) };
            let step = self.step(random, group);
            self.push(step, steps, expected);
        }
    }

    /// A step without whatever checks it: the lanes that watch the ring do it alone, if it is small. Gives what it leaves.
    fn step_alone(&mut self, random: &mut SplitMix64, steps: &mut Vec<Step>, expected: &mut Expected) -> Option<Place> {
        if random.below(4) == 0 {
            let is_full = self.values(TALLY_PLACE)[0] > MOST_TALLIED;
            let add = Step::Add { a: TALLY_PLACE, b: Second::Scalar(1.0), out: TALLY_PLACE };
            return self.take(if is_full { Step::Fill { out: TALLY_PLACE, value: 0.0 } } else { add }, steps, expected);
        }
        let group = 1 + random.below(LENGTHS.len());
        let step = self.step(random, group);
        self.take(step, steps, expected)
    }

    fn add_to_tally(&mut self, steps: &mut Vec<Step>, expected: &mut Expected) {
        if self.values(TALLY_PLACE)[0] > MOST_TALLIED {
            self.push(Step::Fill { out: TALLY_PLACE, value: 0.0 }, steps, expected);
        }
        self.push(Step::Add { a: TALLY_PLACE, b: Second::Scalar(1.0), out: TALLY_PLACE }, steps, expected);
    }

    /// A random step whose results stay within numbers that all sides compute alike.
    fn step(&self, random: &mut SplitMix64, group: usize) -> Step {
        let mut place = || (group, random.below(N_ARRAYS));
        let (a, b, out) = (place(), place(), place());
        let b = if random.below(2) == 0 { Second::Array(b) } else { Second::Scalar(value(random)) };
        let step = match random.below(7) {
            0 => Step::Fill { out, value: value(random) },
            1 => Step::Add { a, b, out },
            2 => Step::Multiply { a, b, out },
            3 => Step::Compare { a, comparison: Comparison::ALL[random.below(6)], b, out },
            4 => {
                // An output that is neither of what is read.
                let out = (group, (0..N_ARRAYS).find(|idx| *idx != a.1 && *idx != out.1).unwrap_or(0));
                let mask = (group, (0..N_ARRAYS).find(|idx| *idx != out.1 && *idx != a.1).unwrap_or(0));
                Step::Filter { a, mask, out }
            }
            5 => Step::User { a, b, y: value(random), out },
            _ => Step::Sum { a },
        };
        let is_tame = |x: f32| x == 0.0 || (1e-6..1e6).contains(&x.abs());
        let is_wild = match step {
            Step::Add { a, b, .. } | Step::Multiply { a, b, .. } | Step::User { a, b, .. } => {
                !self.computed(&step, a, b).all(is_tame)
            }
            _ => false,
        };
        if is_wild { Step::Compare { a, comparison: Comparison::Less, b, out } } else { step }
    }

    fn computed<'a>(&'a self, step: &'a Step, a: Place, b: Second) -> impl Iterator<Item = f32> + 'a {
        let n = self.values(a).len();
        let second = move |idx: usize| match b {
            Second::Array(b) => self.values(b)[idx],
            Second::Scalar(b) => b,
        };
        (0..n).map(move |idx| {
            let (x, y) = (self.values(a)[idx], second(idx));
            match step {
                Step::Add { .. } => x + y,
                Step::Multiply { .. } => x * y,
                Step::User { y: parameter, .. } => x.max(y) - parameter,
                Step::Compare { comparison, .. } => f32::from(u8::from(holds(*comparison, x, y))),
                _ => x,
            }
        })
    }

    /// Does a step here, and adds it with whatever checks it.
    fn push(&mut self, step: Step, steps: &mut Vec<Step>, expected: &mut Expected) {
        if let Some(out) = self.take(step, steps, expected) {
            self.check_sum(out, steps, expected);
        }
    }

    /// The sum of what a step left.
    fn check_sum(&self, place: Place, steps: &mut Vec<Step>, expected: &mut Expected) {
        steps.push(Step::Sum { a: place });
        expected.reads.push(place);
        expected.sums.push((steps.len() - 1, sum_of(self.values(place)).to_bits()));
        if place == TALLY_PLACE {
            expected.tally = Some(steps.len() - 1);
        }
    }

    /// Does a step here, and adds it. Gives what it leaves, if not a sum.
    fn take(&mut self, step: Step, steps: &mut Vec<Step>, expected: &mut Expected) -> Option<Place> {
        steps.push(step);
        expected.n_ops += 1;
        let out = match step {
            Step::Fill { out, value } => {
                self.groups[out.0].mirrors[out.1].fill(value);
                out
            }
            Step::Add { a, b, out }
            | Step::Multiply { a, b, out }
            | Step::Compare { a, b, out, .. }
            | Step::User { a, b, out, .. } => {
                let values: Vec<f32> = self.computed(&step, a, b).collect();
                self.groups[out.0].mirrors[out.1].copy_from_slice(&values);
                expected.reads.push(a);
                if let Second::Array(b) = b {
                    expected.reads.push(b);
                }
                out
            }
            Step::Filter { a, mask, out } => {
                let kept: Vec<f32> =
                    self.values(a).iter().zip(self.values(mask)).filter(|(_, m)| **m != 0.0).map(|(x, _)| *x).collect();
                self.groups[out.0].mirrors[out.1][..kept.len()].copy_from_slice(&kept);
                expected.counts.push((steps.len() - 1, kept.len()));
                expected.reads.extend([a, mask, out]);
                out
            }
            Step::Sum { a } => {
                expected.reads.push(a);
                expected.sums.push((steps.len() - 1, sum_of(self.values(a)).to_bits()));
                return None;
            }
        };
        expected.writes.push(out);
        Some(out)
    }

    fn operation(&self, step: &Step) -> Operation<'_> {
        let of = |place: Place| self.array(place);
        let second = |b: Second| match b {
            Second::Array(place) => Operand::Array(of(place)),
            Second::Scalar(scalar) => Operand::Scalar(scalar),
        };
        match *step {
            Step::Fill { out, value } => Operation::Fill { out: of(out), value },
            Step::Add { a, b, out } => Operation::Add { a: of(a), b: second(b), out: of(out) },
            Step::Multiply { a, b, out } => Operation::Multiply { a: of(a), b: second(b), out: of(out) },
            Step::Compare { a, comparison, b, out } => {
                Operation::Compare { a: of(a), comparison, b: second(b), out: of(out) }
            }
            Step::Filter { a, mask, out } => Operation::Filter { a: of(a), mask: of(mask), out: of(out) },
            Step::User { a, b, y, out } => {
                Operation::User { a: of(a), b: second(b), parameters: [0.0, y, 0.0, 0.0], out: of(out) }
            }
            Step::Sum { a } => Operation::Sum { a: of(a), out: None },
        }
    }
}

fn holds(comparison: Comparison, x: f32, y: f32) -> bool {
    match comparison {
        Comparison::Less => x < y,
        Comparison::LessEqual => x <= y,
        Comparison::Greater => x > y,
        Comparison::GreaterEqual => x >= y,
        Comparison::Equal => x == y,
        Comparison::NotEqual => x != y,
    }
}
