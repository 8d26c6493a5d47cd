//! The generator's own random numbers: SplitMix64, integers only, so that every machine draws the same.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B);
        rng.next_u64();
        rng
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix64(self.0)
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Uniform between two bounds.
    pub fn range(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (hi - lo) * self.unit()
    }

    /// Uniform in 0..n (0 where n is 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next_u64() % n as u64) as usize }
    }

    /// True with probability p.
    pub fn chance(&mut self, p: f32) -> bool {
        self.unit() < p
    }

    /// One of some choices.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// SplitMix64's finaliser.
pub fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Uniform in 0..1 from a lattice point and a seed.
pub fn hash_unit(x: i32, y: i32, seed: u32) -> f32 {
    let key = (x as u32 as u64) | ((y as u32 as u64) << 32);
    (mix64(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ ((seed as u64) << 17 | 0x5bd1)) >> 40) as f32 / (1u64 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_is_pinned() {
        let mut rng = Rng::new(7);
        let first: Vec<u64> = (0..2).map(|_| rng.next_u64()).collect();
        let mut again = Rng::new(7);
        assert_eq!(first, [again.next_u64(), again.next_u64()]);
        assert_ne!(first[0], Rng::new(8).next_u64());
    }

    #[test]
    fn units_stay_in_range_and_spread() {
        let mut rng = Rng::new(1);
        let draws: Vec<f32> = (0..4000).map(|_| rng.unit()).collect();
        assert!(draws.iter().all(|d| (0.0..1.0).contains(d)));
        let mean = draws.iter().sum::<f32>() / 4000.0;
        assert!((mean - 0.5).abs() < 0.02, "mean {mean}");
    }
}
