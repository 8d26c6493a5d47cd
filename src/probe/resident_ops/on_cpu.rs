//! The operations on one core, in plain loops that the compiler turns into vector instructions.

use super::{Data, Op};

/// How wide the vectors are that this program was compiled for.
pub(super) const fn vector_width() -> &'static str {
    if cfg!(target_feature = "avx512f") {
        "512 bits (AVX-512)"
    } else if cfg!(target_feature = "avx2") {
        "256 bits (AVX2)"
    } else if cfg!(target_feature = "sse2") {
        "128 bits (SSE2)"
    } else if cfg!(target_feature = "neon") {
        "128 bits (NEON)"
    } else {
        "unknown"
    }
}

/// What an operation gave besides its output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Result {
    pub sum: f32,
    pub n_kept: usize,
}

/// Does it; `out` is its output.
pub(super) fn run(data: &Data, op: Op, out: &mut [f32]) -> Result {
    let (a, b, mask) = (&data.a[..], &data.b[..], &data.mask[..]);
    let mut result = Result::default();
    match op {
        Op::Sum => result.sum = sum(a),
        Op::Compare => a.iter().zip(out).for_each(|(x, out)| *out = if *x > 0.5 { 1.0 } else { 0.0 }),
        Op::Filter => result.n_kept = filter(a, mask, out),
        Op::Multiply => a.iter().zip(out).for_each(|(x, out)| *out = x * 1.5),
        Op::Add => a.iter().zip(b).zip(out).for_each(|((x, y), out)| *out = x + y),
        Op::Chain => {
            for _ in 0..5 {
                out.iter_mut().for_each(|x| *x *= 0.5);
                out.iter_mut().zip(b).for_each(|(x, y)| *x += y);
            }
        }
    }
    result
}

/// Sixteen sums side by side: one alone would be a chain of additions that no compiler may break.
fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    let chunks = values.chunks_exact(16);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += x;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Every element is written, and the place only moves on if it is kept: no branch to mispredict.
fn filter(values: &[f32], mask: &[f32], out: &mut [f32]) -> usize {
    let mut n_kept = 0;
    for (x, mask) in values.iter().zip(mask) {
        out[n_kept.min(values.len() - 1)] = *x;
        n_kept += usize::from(*mask != 0.0);
    }
    n_kept
}
