//! The operations on one core, in plain loops that the compiler turns into vector instructions: once for each kind that the CPU may have.
//! `multiversion` makes and chooses among them, so that no `unsafe` of ours is needed.

use multiversion::multiversion;
use multiversion::target::match_target;

use super::{Data, Op};

/// The name of a kind of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vectors(pub &'static str);

/// What [`run`] is chosen for on this CPU.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub(super) fn vectors() -> Vectors {
    Vectors(match_target! {
        "x86_64+avx512f" => "AVX-512",
        "x86_64+avx2" => "AVX2",
        "x86_64" => "SSE2",
        "aarch64" => "NEON",
        _ => "no vectors known",
    })
}

/// What an operation gave besides its output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Result {
    pub sum: f32,
    pub n_kept: usize,
}

/// Does it; `out` is its output.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
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

/// 64 sums side by side, four vectors of the widest: one alone would be a chain of additions that no compiler may break.
#[inline(always)]
fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 64];
    let chunks = values.chunks_exact(64);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += x;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Every element is written, and the place only moves on if it is kept: no branch to mispredict.
#[inline(always)]
fn filter(values: &[f32], mask: &[f32], out: &mut [f32]) -> usize {
    let mut n_kept = 0;
    for (x, mask) in values.iter().zip(mask) {
        out[n_kept.min(values.len() - 1)] = *x;
        n_kept += usize::from(*mask != 0.0);
    }
    n_kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_operations_on_a_core_give_what_plain_loops_do() {
        for n in [1usize, 63, 64, 65, 1_000] {
            let data = Data::new(n);
            let mut out = vec![0.0; n];
            let sum = run(&data, Op::Sum, &mut out).sum;
            let exact: f64 = data.a.iter().map(|x| f64::from(*x)).sum();
            assert!((f64::from(sum) - exact).abs() <= exact.abs() * 1e-5, "{n}: {sum}, not {exact}");
            run(&data, Op::Add, &mut out);
            assert!(out.iter().zip(data.a.iter().zip(&data.b)).all(|(out, (x, y))| *out == x + y), "{n}");
            let n_kept = run(&data, Op::Filter, &mut out).n_kept;
            let kept: Vec<f32> = data.a.iter().copied().filter(|x| *x > 0.5).collect();
            assert_eq!((&out[..n_kept], n_kept), (&kept[..], kept.len()), "{n}");
        }
        #[cfg(target_arch = "x86_64")]
        assert_eq!(vectors() != Vectors("SSE2"), std::arch::is_x86_feature_detected!("avx2"));
    }
}
