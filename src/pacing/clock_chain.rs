//! The clock chain: the core's speed, read through work.

use std::hint::black_box;
use std::time::Instant;

/// A fixed chain of dependent multiply-adds, timed.
///
/// Each step needs the value of the step before, so a core cannot run steps side by side, and the work is the same
/// every time: when the chain's time changes, the core's speed has changed (or the thread lost its core meanwhile).
/// It needs no counter and no privilege. A reading takes 2 to 4 µs; compare only readings of one build, since the
/// compiler's optimization level is part of the work.
///
/// ```
/// use praxis::pacing::ClockChain;
///
/// let mut chain = ClockChain::new();
/// let before_ns = chain.read_ns();
/// // … the frame …
/// let after_ns = chain.read_ns();
/// println!("the clock fell by {:.0}%", (after_ns as f64 / before_ns as f64 - 1.0) * 100.0);
/// ```
#[derive(Clone, Debug)]
pub struct ClockChain {
    value: u64,
}

/// Knuth's MMIX generator; any odd numbers would do.
const FACTOR: u64 = 6_364_136_223_846_793_005;
const ADDEND: u64 = 1_442_695_040_888_963_407;

impl ClockChain {
    /// Multiply-adds in one reading.
    pub const N_STEPS: u32 = 2_000;

    /// A chain; it holds 8 bytes.
    pub const fn new() -> Self {
        Self { value: 1 }
    }

    /// Runs the chain once; gives its time in ns.
    #[inline(never)]
    pub fn read_ns(&mut self) -> u64 {
        let started = Instant::now();
        // All three are opaque to the compiler. With factors that it knows, it folds eight steps into one: x·a + c twice
        // over is x·a² + (c·a + c). Opaque after the
        // clock is read, so that no step moves ahead of it. The start chains one reading to the next.
        let (mut value, factor, addend) = black_box((self.value, FACTOR, ADDEND));
        for _ in 0..Self::N_STEPS {
            value = value.wrapping_mul(factor).wrapping_add(addend);
        }
        self.value = black_box(value);
        super::elapsed_ns(started)
    }
}

impl Default for ClockChain {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_chain_does_all_its_steps() {
        let mut chain = ClockChain::new();
        let read_ns = (0..50).map(|_| chain.read_ns()).min().expect("50 readings");
        // A dependent 64-bit multiply-add takes at least 3 cycles; no core of today passes 8 GHz.
        assert!(read_ns > u64::from(ClockChain::N_STEPS) * 3 / 8, "{read_ns} ns: the chain was optimized away");
        assert!(read_ns < 1_000_000, "{read_ns} ns for {} steps", ClockChain::N_STEPS);

        let (mut expected, mut chain) = (1u64, ClockChain::new());
        chain.read_ns();
        for _ in 0..2_000 {
            expected = expected.wrapping_mul(FACTOR).wrapping_add(ADDEND);
        }
        assert_eq!(chain.value, expected);
    }
}
