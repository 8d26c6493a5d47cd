//! The same sum on the CPU.

use super::layout::SUM_BLOCK;

/// The sum of `values` as the kernel's `Sum` adds them: bit for bit the same, unless a denormal number or a NaN takes part.
///
/// Blocks of 1,024: of each four neighbours (x + y) + (z + w), then these sums halved again and again, what is missing at the end being
/// zero. The blocks' sums are summed alike, until there is one.
pub fn sum_of(values: &[f32]) -> f32 {
    if values.len() <= SUM_BLOCK {
        return block_sum(values);
    }
    let blocks: Vec<f32> = values.chunks(SUM_BLOCK).map(block_sum).collect();
    sum_of(&blocks)
}

fn block_sum(values: &[f32]) -> f32 {
    const N_QUADS: usize = SUM_BLOCK / 4;
    let mut part = [0.0f32; N_QUADS];
    let quads = values.chunks_exact(4);
    let last = quads.remainder();
    for (sum, quad) in part.iter_mut().zip(quads) {
        *sum = (quad[0] + quad[1]) + (quad[2] + quad[3]);
    }
    if !last.is_empty() {
        let at = |idx: usize| last.get(idx).copied().unwrap_or(0.0);
        part[values.len() / 4] = (at(0) + at(1)) + (at(2) + at(3));
    }
    let mut width = N_QUADS / 2;
    while width > 0 {
        let (low, high) = part.split_at_mut(width);
        for (a, b) in low.iter_mut().zip(high) {
            *a += *b;
        }
        width /= 2;
    }
    part[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_sums_are_near_the_true_one_and_exact_for_whole_numbers() {
        for n in [1usize, 3, 4, 5, 1023, 1024, 1025, 70_000, 1 << 20, (1 << 20) + 1] {
            let values: Vec<f32> = (0..n).map(|k| (k % 13) as f32 - 6.0).collect();
            let exact: i64 = (0..n).map(|k| (k % 13) as i64 - 6).sum();
            assert_eq!(sum_of(&values), exact as f32, "{n}");
        }
        assert_eq!(sum_of(&[]), 0.0);
        let tenths = vec![0.1f32; 1_000_000];
        assert!((f64::from(sum_of(&tenths)) - 100_000.0).abs() < 0.05, "{}", sum_of(&tenths));
    }
}
