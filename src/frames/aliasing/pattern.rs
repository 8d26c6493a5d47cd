//! Where in a pixel the camera stands: the steps of the pan, and the samples of the references.
//!
//! All of it lies on one lattice, the points (x, y) with y ≡ 19·x modulo 64 in units of 1/64 pixel. Any pixel-sized square
//! whose corner is on the lattice holds 64 of its points, each in a column and a row of its own, and none two closer than
//! 7.6 units (8.6 is the most that 64 points allow). The pan's steps are on the lattice too, so neighbouring references share
//! most of their samples: a place's eight references need 191 drawn pictures, not 512.

use glam::Vec2;

/// Steps of the pan.
pub const N_STEPS: u32 = 8;
/// Samples for each pixel of a reference.
pub const N_REFERENCE_SAMPLES: u32 = 64;

const UNITS_PER_PX: i32 = 64;
const ROW_OF_COLUMN: i32 = 19;

/// One picture of one sample a pixel, and the references that it is part of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferenceSample {
    /// How far the picture is shifted, right and down.
    pub jitter_px: Vec2,
    steps: u32,
}

impl ReferenceSample {
    /// Whether the reference of this step has it.
    pub fn is_in(&self, step_idx: u32) -> bool {
        self.steps >> step_idx & 1 != 0
    }
}

/// How far the picture of this step is shifted, right and down: an eighth of a pixel further in x with each step and three
/// eighths in y, which goes on at 0 after a whole pixel. Every eighth of x and of y is there once.
pub fn pan_px(step_idx: u32) -> Vec2 {
    px(pan_units(step_idx), 0.0)
}

/// The samples of all steps' references, in a fixed order. Each step has [`N_REFERENCE_SAMPLES`], spread evenly over the pixel
/// around its place.
pub fn reference_samples() -> Vec<ReferenceSample> {
    let half = UNITS_PER_PX / 2;
    let range = || -half..2 * UNITS_PER_PX;
    let on_lattice = range()
        .flat_map(|y| range().map(move |x| [x, y]))
        .filter(|[x, y]| (y - ROW_OF_COLUMN * x).rem_euclid(UNITS_PER_PX) == 0);
    on_lattice
        .filter_map(|units| {
            let is_near = |step_idx: &u32| {
                let pan = pan_units(*step_idx);
                (0..2).all(|axis| (-half..half).contains(&(units[axis] - pan[axis])))
            };
            let steps = (0..N_STEPS).filter(is_near).fold(0, |steps, step_idx| steps | 1 << step_idx);
            // Half a unit puts the middle of the 64 samples on the place itself.
            (steps != 0).then(|| ReferenceSample { jitter_px: px(units, 0.5), steps })
        })
        .collect()
}

/// On the lattice: 19 · 8 ≡ 24 modulo 64.
fn pan_units(step_idx: u32) -> [i32; 2] {
    let step = step_idx as i32;
    [8 * step, (24 * step).rem_euclid(UNITS_PER_PX)]
}

fn px(units: [i32; 2], offset: f32) -> Vec2 {
    (Vec2::new(units[0] as f32, units[1] as f32) + offset) / UNITS_PER_PX as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliasing_every_reference_has_its_samples_around_its_step() {
        let samples = reference_samples();
        assert_eq!(samples.len(), 191);
        for step_idx in 0..N_STEPS {
            let relative: Vec<Vec2> = samples
                .iter()
                .filter(|sample| sample.is_in(step_idx))
                .map(|sample| sample.jitter_px - pan_px(step_idx))
                .collect();
            assert_eq!(relative.len() as u32, N_REFERENCE_SAMPLES);
            assert!(relative.iter().all(|p| p.abs().max_element() < 0.5), "a pixel's box and no more");
            assert_eq!(relative.iter().copied().sum::<Vec2>(), Vec2::ZERO, "their middle is the step's place");
            // Each row and each column once: an edge along either axis shows 64 levels.
            for axis in 0..2 {
                let mut places: Vec<i32> = relative.iter().map(|p| (p[axis] * 64.0 - 0.5) as i32 + 32).collect();
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), 64);
            }
            let nearest = relative
                .iter()
                .enumerate()
                .flat_map(|(i, a)| relative[..i].iter().map(move |b| a.distance(*b)))
                .fold(f32::INFINITY, f32::min);
            assert!(nearest * 64.0 > 7.6, "{nearest}");
        }
    }

    #[test]
    fn aliasing_a_reference_knows_how_far_an_edge_covers_a_pixel() {
        let samples = reference_samples();
        let (mut sum, mut n_edges) = (0.0, 0);
        for (slope, at) in
            (-40..=40).flat_map(|slope| (-45..=45).map(move |at| (slope as f32 / 100.0, at as f32 / 150.0)))
        {
            for axis in 0..2 {
                // The edge crosses two opposite sides, and the middle line at `at`: what it covers is exact.
                let is_covered = |p: &Vec2| p[axis] + slope * p[1 - axis] <= at;
                let relative =
                    samples.iter().filter(|sample| sample.is_in(5)).map(|sample| sample.jitter_px - pan_px(5));
                let coverage = relative.filter(is_covered).count() as f32 / N_REFERENCE_SAMPLES as f32;
                sum += (coverage - (at + 0.5)).abs();
                n_edges += 1;
            }
        }
        // The four samples of MSAA are off by 0.06 on average.
        let mean = sum / n_edges as f32;
        assert!(mean < 0.01, "off by {mean} on average");
    }

    #[test]
    fn aliasing_the_pan_visits_every_eighth_of_a_pixel() {
        for axis in 0..2 {
            let mut eighths: Vec<f32> = (0..N_STEPS).map(|step_idx| pan_px(step_idx)[axis] * 8.0).collect();
            eighths.sort_unstable_by(f32::total_cmp);
            assert_eq!(eighths, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        }
    }
}
