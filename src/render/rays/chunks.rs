//! What stands still, cut into chunks: triangles that are near each other, few enough for a bottom level that a driver builds well.

use glam::{DAffine3, Vec3};
use rayon::prelude::*;

use super::bottom::still_triangles;
use super::casters::{Caster, Casters};
use crate::render::layout::RayTriangle;

/// Triangles that lie side by side and are either all opaque or all of materials with holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub triangles: std::ops::Range<usize>,
    pub is_opaque: bool,
}

/// World space, chunk by chunk, of `most` triangles at most.
pub fn cut_into_chunks(casters: &Casters, most: usize) -> (Vec<RayTriangle>, Vec<Chunk>) {
    let mut all = Vec::new();
    let mut chunks = Vec::new();
    for is_opaque in [true, false] {
        let still: Vec<&Caster> = casters.still().filter(|caster| caster.is_masked() != is_opaque).collect();
        let mut triangles: Vec<RayTriangle> =
            still.par_iter().flat_map_iter(|caster| still_triangles(casters, caster, &DAffine3::IDENTITY)).collect();
        let first = all.len();
        let mut cuts = Vec::new();
        halve(&mut triangles, first, most.max(1), &mut cuts);
        chunks.extend(cuts.into_iter().map(|triangles| Chunk { triangles, is_opaque }));
        all.append(&mut triangles);
    }
    (all, chunks)
}

/// Halves what is too much along the longest side of the triangles' middles; `first` is the place of the first of them.
fn halve(triangles: &mut [RayTriangle], first: usize, most: usize, cuts: &mut Vec<std::ops::Range<usize>>) {
    if triangles.is_empty() {
        return;
    }
    if triangles.len() <= most {
        cuts.push(first..first + triangles.len());
        return;
    }
    let (low, high) = triangles.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), triangle| {
        let middle = middle_of(triangle);
        (low.min(middle), high.max(middle))
    });
    let axis = (high - low).max_position();
    let half = triangles.len() / 2;
    // The triangle's number makes the order the same each time.
    let key = |triangle: &RayTriangle| (middle_of(triangle)[axis], triangle.triangle, triangle.p0.map(f32::to_bits));
    triangles.select_nth_unstable_by(half, |a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
    });
    let (left, right) = triangles.split_at_mut(half);
    halve(left, first, most, cuts);
    halve(right, first + half, most, cuts);
}

fn middle_of(triangle: &RayTriangle) -> Vec3 {
    (Vec3::from(triangle.p0) + Vec3::from(triangle.p1) + Vec3::from(triangle.p2)) / 3.0
}
