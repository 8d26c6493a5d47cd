//! Variants measured in turns, so that drift hits all alike.
//!
//! A round runs a block of operations of every variant, in an order of its own. What lasts longer than a round (another
//! program, a falling clock) is in every variant's samples, and cancels where rounds are paired.

use super::clock::{Clock, CpuTime};
use super::error::{OpError, ProbeError, caught};
use super::report::Ended;
use super::spread::{Difference, Spread};
use crate::measure::statistics::{SplitMix64, median};

/// How often what is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Rounds; each has a block of every variant. Six or more, or differences can't be told.
    pub n_rounds: u32,
    /// Recorded operations in a block.
    pub n_ops: u32,
    /// Operations before them that aren't recorded.
    pub n_warmup: u32,
}

/// What is measured: some variants of one thing, each operation giving `K` times in ns, the first of which is its whole.
pub trait Subject<const K: usize> {
    /// Runs one operation.
    ///
    /// # Errors
    /// Why the variant, or everything, is over.
    fn run(&mut self, variant_idx: usize) -> Result<[u64; K], OpError>;

    /// Before a block.
    ///
    /// # Errors
    /// As [`Self::run`].
    fn begin_block(&mut self, _variant_idx: usize) -> Result<(), OpError> {
        Ok(())
    }

    /// After a block that was begun, also one that failed.
    ///
    /// # Errors
    /// As [`Self::run`].
    fn end_block(&mut self, _variant_idx: usize) -> Result<(), OpError> {
        Ok(())
    }
}

/// What is told of progress, and asked whether to go on.
pub trait Watch {
    /// `n_done` of `n_all` steps are done. Returns whether to go on.
    fn step(&mut self, n_done: u64, n_all: u64) -> bool;
}

impl<F: FnMut(u64, u64) -> bool> Watch for F {
    fn step(&mut self, n_done: u64, n_all: u64) -> bool {
        self(n_done, n_all)
    }
}

/// One variant's samples.
#[derive(Clone, Debug)]
pub struct Samples<const K: usize> {
    /// Each part's samples in ns, in the order they were taken.
    pub parts_ns: [Vec<u64>; K],
    /// Its blocks.
    pub blocks: Vec<Block<K>>,
    /// Why there are none, or no more.
    pub unavailable: Option<String>,
}

/// One variant's share of a round.
#[derive(Clone, Copy, Debug)]
pub struct Block<const K: usize> {
    /// The round it belongs to.
    pub round_idx: u32,
    /// The median of each part in ns.
    pub medians_ns: [f64; K],
    /// CPU time of all its recorded operations.
    pub cpu: CpuTime,
    /// Wall time of the same.
    pub wall_ns: u64,
    /// How many they are.
    pub n_ops: u32,
}

/// All variants' samples.
#[derive(Debug)]
pub struct Interleaved<const K: usize> {
    /// In the variants' order.
    pub variants: Vec<Samples<K>>,
    /// Whether all rounds were run.
    pub ended: Ended,
}

/// Runs `plan` over `n_variants` variants.
///
/// A stop, or a fault, ends it between two operations; the samples until then are kept, and only whole blocks are paired.
pub fn measure_interleaved<const K: usize>(
    plan: Plan,
    n_variants: usize,
    subject: &mut impl Subject<K>,
    clock: &impl Clock,
    watch: &mut dyn Watch,
) -> Interleaved<K> {
    let empty = || Samples { parts_ns: std::array::from_fn(|_| Vec::new()), blocks: Vec::new(), unavailable: None };
    let mut variants: Vec<Samples<K>> = (0..n_variants).map(|_| empty()).collect();
    let n_all = u64::from(plan.n_rounds) * n_variants as u64;
    let mut n_done = 0;
    for round_idx in 0..plan.n_rounds {
        for variant_idx in round_order(n_variants, round_idx) {
            let samples = &mut variants[variant_idx];
            if samples.unavailable.is_none() {
                let began = caught(|| subject.begin_block(variant_idx));
                let ran = match began {
                    Ok(()) => {
                        let ran = caught(|| run_block(plan, round_idx, variant_idx, subject, clock, samples));
                        // The block's own fault is the one to tell.
                        let ended = caught(|| subject.end_block(variant_idx));
                        ran.and(ended)
                    }
                    began => began,
                };
                match ran {
                    Ok(()) => {}
                    Err(OpError::Unavailable(reason)) => samples.unavailable = Some(reason),
                    Err(OpError::Fatal(error)) => {
                        return Interleaved { variants, ended: Ended::Failed(one_line(&error)) };
                    }
                }
            }
            n_done += 1;
            if !watch.step(n_done, n_all) && n_done < n_all {
                return Interleaved { variants, ended: Ended::Interrupted };
            }
        }
    }
    Interleaved { variants, ended: Ended::Complete }
}

fn run_block<const K: usize>(
    plan: Plan,
    round_idx: u32,
    variant_idx: usize,
    subject: &mut impl Subject<K>,
    clock: &impl Clock,
    samples: &mut Samples<K>,
) -> Result<(), OpError> {
    for _ in 0..plan.n_warmup {
        subject.run(variant_idx)?;
    }
    let first = samples.parts_ns[0].len();
    let (cpu_before, started_ns) = (clock.cpu_ns(), clock.now_ns());
    for _ in 0..plan.n_ops {
        let parts_ns = subject.run(variant_idx)?;
        for (column, ns) in samples.parts_ns.iter_mut().zip(parts_ns) {
            column.push(ns);
        }
    }
    let wall_ns = clock.now_ns() - started_ns;
    let cpu = clock.cpu_ns().since(cpu_before);
    let medians_ns = std::array::from_fn(|part| {
        let block: Vec<f64> = samples.parts_ns[part][first..].iter().map(|&ns| ns as f64).collect();
        median(&block).unwrap_or(0.0)
    });
    samples.blocks.push(Block { round_idx, medians_ns, cpu, wall_ns, n_ops: plan.n_ops });
    Ok(())
}

/// A fault and its causes as one line.
pub(super) fn one_line(error: &ProbeError) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The order of a round: shuffled (Fisher and Yates), and the same in every run.
fn round_order(n_variants: usize, round_idx: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_variants).collect();
    let mut random = SplitMix64::new(u64::from(round_idx) + 1);
    for last in (1..n_variants).rev() {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    order
}

impl<const K: usize> Samples<K> {
    /// The spread of one part.
    pub fn spread(&self, part: usize) -> Option<Spread> {
        Spread::of(self.parts_ns[part].iter().copied())
    }

    /// The median of each round of one part: what drift there was.
    pub fn round_medians_ns(&self, part: usize) -> Vec<f64> {
        self.blocks.iter().map(|block| block.medians_ns[part]).collect()
    }

    /// CPU time and wall time of an operation in ns, over all blocks, and their ratio.
    pub fn cpu_per_op(&self, of: impl Fn(&CpuTime) -> Option<u64>) -> Option<CpuPerOp> {
        let n_ops: u64 = self.blocks.iter().map(|block| u64::from(block.n_ops)).sum();
        let cpu_ns = self.blocks.iter().map(|block| of(&block.cpu)).sum::<Option<u64>>()?;
        let wall_ns: u64 = self.blocks.iter().map(|block| block.wall_ns).sum();
        (n_ops > 0 && wall_ns > 0)
            .then(|| CpuPerOp { cpu_ns: cpu_ns as f64 / n_ops as f64, cpu_per_wall: cpu_ns as f64 / wall_ns as f64 })
    }

    /// How much longer one part took here than in `other`, round by round.
    pub fn less(&self, other: &Self, part: usize) -> Option<Difference> {
        let of_round = |round_idx| other.blocks.iter().find(|block| block.round_idx == round_idx);
        let pair = |block: &Block<K>| Some((block.medians_ns[part], of_round(block.round_idx)?.medians_ns[part]));
        let pairs: Vec<_> = self.blocks.iter().filter_map(pair).collect();
        Difference::of_pairs(&pairs)
    }
}

/// What an operation costs the CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuPerOp {
    /// CPU time of one, in ns.
    pub cpu_ns: f64,
    /// Cores kept busy meanwhile.
    pub cpu_per_wall: f64,
}

#[cfg(test)]
mod tests {
    use super::super::clock::FakeClock;
    use super::*;
    use crate::gpu::GpuError;

    /// Which variant fails, after how many operations, and how.
    type Failure = (usize, usize, fn() -> OpError);

    /// Variant `v` takes `costs[v]` and half of that as CPU time; a record of what was run.
    struct Fake<'a> {
        clock: &'a FakeClock,
        costs: Vec<u64>,
        ran: Vec<usize>,
        fails: Option<Failure>,
        open: Option<usize>,
    }

    impl Subject<2> for Fake<'_> {
        fn run(&mut self, variant_idx: usize) -> Result<[u64; 2], OpError> {
            assert_eq!(self.open, Some(variant_idx), "outside of its block");
            self.ran.push(variant_idx);
            if let Some((at, after, error)) = self.fails
                && at == variant_idx
                && self.ran.iter().filter(|ran| **ran == at).count() > after
            {
                return Err(error());
            }
            let cost = self.costs[variant_idx];
            self.clock.pass(cost, cost / 2);
            Ok([cost, cost / 4])
        }

        fn begin_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
            assert_eq!(self.open.replace(variant_idx), None, "blocks overlap");
            Ok(())
        }

        fn end_block(&mut self, variant_idx: usize) -> Result<(), OpError> {
            assert_eq!(self.open.take(), Some(variant_idx));
            Ok(())
        }
    }

    const PLAN: Plan = Plan { n_rounds: 7, n_ops: 5, n_warmup: 2 };

    fn fake<'a>(clock: &'a FakeClock, costs: &[u64]) -> Fake<'a> {
        Fake { clock, costs: costs.to_vec(), ran: Vec::new(), fails: None, open: None }
    }

    #[test]
    fn probe_every_round_has_every_variant_once_in_an_order_of_its_own() {
        let clock = FakeClock::default();
        let mut subject = fake(&clock, &[100, 200, 300]);
        let result = measure_interleaved(PLAN, 3, &mut subject, &clock, &mut |_, _| true);
        assert_eq!(result.ended, Ended::Complete);
        let blocks: Vec<usize> = subject.ran.chunks(7).map(|block| block[0]).collect();
        assert!(subject.ran.chunks(7).all(|block| block.iter().all(|ran| *ran == block[0])), "blocks are mixed");
        let mut orders: Vec<Vec<usize>> = blocks.chunks(3).map(<[usize]>::to_vec).collect();
        assert!(orders.iter().all(|order| (0..3).all(|variant| order.contains(&variant))), "{orders:?}");
        orders.sort();
        orders.dedup();
        assert!(orders.len() > 2, "the order is always {orders:?}");
    }

    #[test]
    fn probe_samples_leave_out_the_warm_up_and_cpu_time_is_of_the_recorded_ones() {
        let clock = FakeClock::default();
        let mut subject = fake(&clock, &[100, 200]);
        let result = measure_interleaved(PLAN, 2, &mut subject, &clock, &mut |_, _| true);
        let [fast, slow] = &result.variants[..] else { panic!("two variants") };
        assert_eq!((fast.parts_ns[0].len(), fast.parts_ns[1].len(), fast.blocks.len()), (35, 35, 7));
        assert_eq!(fast.spread(1).map(|spread| spread.median), Some(25.0));
        let cpu = slow.cpu_per_op(|cpu| cpu.process_ns).expect("the fake tells");
        assert_eq!(cpu, CpuPerOp { cpu_ns: 100.0, cpu_per_wall: 0.5 });
        let difference = slow.less(fast, 0).expect("seven rounds");
        assert_eq!((difference.n_rounds, difference.median, difference.is_clear()), (7, 100.0, true));
    }

    #[test]
    fn probe_a_stop_keeps_what_was_measured() {
        let clock = FakeClock::default();
        let mut subject = fake(&clock, &[100, 200]);
        let result = measure_interleaved(PLAN, 2, &mut subject, &clock, &mut |n_done, n_all| {
            assert_eq!(n_all, 14);
            n_done < 5
        });
        assert_eq!(result.ended, Ended::Interrupted);
        assert_eq!(result.variants.iter().map(|samples| samples.blocks.len()).sum::<usize>(), 5);
        // A stop that comes with the last block stopped nothing.
        let mut subject = fake(&clock, &[100]);
        let result = measure_interleaved(PLAN, 1, &mut subject, &clock, &mut |n_done, n_all| n_done < n_all);
        assert_eq!(result.ended, Ended::Complete);
    }

    #[test]
    fn probe_a_variant_that_cannot_be_had_leaves_the_others_alone() {
        let clock = FakeClock::default();
        let mut subject = fake(&clock, &[100, 200]);
        subject.fails = Some((0, 0, || OpError::Unavailable("not here".into())));
        let result = measure_interleaved(PLAN, 2, &mut subject, &clock, &mut |_, _| true);
        assert_eq!(result.ended, Ended::Complete);
        assert_eq!(result.variants[0].unavailable.as_deref(), Some("not here"));
        assert_eq!((result.variants[0].blocks.len(), result.variants[1].blocks.len()), (0, 7));
        assert_eq!(result.variants[0].less(&result.variants[1], 0), None);
    }

    #[test]
    fn probe_a_lost_device_ends_everything_and_keeps_the_samples() {
        let clock = FakeClock::default();
        let mut subject = fake(&clock, &[100, 200]);
        subject.fails = Some((1, 16, || OpError::Fatal(GpuError::Uncaptured("device\n lost".into()).into())));
        let result = measure_interleaved(PLAN, 2, &mut subject, &clock, &mut |_, _| true);
        assert_eq!(result.ended, Ended::Failed("the GPU API reported an error: device lost".into()));
        assert_eq!(result.variants[1].blocks.len(), 2);
        assert_eq!(subject.open, None, "the block was left open");
    }
}
