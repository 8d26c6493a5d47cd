//! Where in sun space something that moves could stop a ray: a bit for each cell of a grid over the bodies' boxes, made anew with the top
//! level. Most rays start where there is none, and need not look for what moves.

use glam::{Vec2, Vec3A};

use super::top_tree::Bounds;
use crate::render::layout::{Frame, MOVER_MAP_SIDE};

const WORDS_IN_ROW: usize = MOVER_MAP_SIDE as usize / 32;

/// See the module.
pub struct MoverMap {
    /// Row by row; the first cell's bit is the lowest.
    words: Vec<u32>,
    low: Vec2,
    cells_per_metre: Vec2,
    /// Coordinates in sun space beyond which rounding is not allowed for.
    reach: f32,
    /// What stands still reaches as far.
    still_reach: f32,
}

impl MoverMap {
    pub const BYTES: usize = 4 * MOVER_MAP_SIDE as usize * WORDS_IN_ROW;

    /// In a scene whose still part has no coordinate beyond `still_reach`.
    pub fn new(still_reach: f32) -> Self {
        Self { words: vec![0; Self::BYTES / 4], low: Vec2::ZERO, cells_per_metre: Vec2::ZERO, reach: 0.0, still_reach }
    }

    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// Tells the frame where the grid lies.
    pub fn describe(&self, frame: &mut Frame) {
        frame.mover_map_low = self.low.into();
        frame.mover_cells_per_metre = self.cells_per_metre.into();
        frame.mover_map_reach = self.reach;
    }

    /// Of the boxes in sun space.
    pub fn fit(&mut self, boxes: &[Bounds]) {
        self.words.fill(0);
        let all = boxes
            .iter()
            .fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(low, high), one| (low.min(one.min), high.max(one.max)));
        let farthest = all.0.abs().max(all.1.abs()).max_element();
        self.reach = 2.0 * farthest.max(self.still_reach);
        if boxes.is_empty() || !self.reach.is_finite() {
            // No ray is within reach, or of use to look up.
            self.reach = 0.0;
            return;
        }
        // A node's children's boxes lie on a grid of 255 steps, which are twice too long at worst: what is tested in a body can stick out of it
        // by 2 / 255 of its size. And an origin's place in sun space is rounded by 2⁻²² of its distance, at most √3 · reach.
        let pad_of = |one: &Bounds| 0.01 * (one.max - one.min) + 2e-6 * self.reach;
        let largest_pad = boxes.iter().fold(Vec3A::ZERO, |pad, one| pad.max(pad_of(one)));
        let (low, high) = (flat(all.0 - 1.01 * largest_pad), flat(all.1 + 1.01 * largest_pad));
        self.low = low;
        self.cells_per_metre = (MOVER_MAP_SIDE as f32 - 1.0) / (high - low).max(Vec2::splat(1e-30));
        // Differences and products here and there, in cells.
        let slack = 1e-3;
        let last = Vec2::splat(MOVER_MAP_SIDE as f32 - 1.0);
        for one in boxes {
            let pad = pad_of(one);
            let from = ((flat(one.min - pad) - low) * self.cells_per_metre - slack).clamp(Vec2::ZERO, last).as_uvec2();
            let to = ((flat(one.max + pad) - low) * self.cells_per_metre + slack).clamp(Vec2::ZERO, last).as_uvec2();
            for row in from.y..=to.y {
                let words = &mut self.words[row as usize * WORDS_IN_ROW..][..WORDS_IN_ROW];
                set_bits(words, from.x, to.x);
            }
        }
    }
}

fn flat(p: Vec3A) -> Vec2 {
    p.truncate()
}

/// From one bit to another, both included.
fn set_bits(words: &mut [u32], from: u32, to: u32) {
    let (first, last) = ((from / 32) as usize, (to / 32) as usize);
    let from_mask = u32::MAX << (from % 32);
    let to_mask = u32::MAX >> (31 - to % 32);
    if first == last {
        words[first] |= from_mask & to_mask;
        return;
    }
    words[first] |= from_mask;
    words[first + 1..last].fill(u32::MAX);
    words[last] |= to_mask;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bits_are_set_and_no_others() {
        for (from, to) in [(0, 0), (0, 31), (5, 9), (31, 32), (3, 100), (64, 95), (0, 127)] {
            let mut words = [0u32; 4];
            set_bits(&mut words, from, to);
            for bit in 0..128 {
                let is_set = words[bit as usize / 32] >> (bit % 32) & 1 == 1;
                assert_eq!(is_set, (from..=to).contains(&bit), "bit {bit} of {from} to {to}");
            }
        }
    }

    #[test]
    fn boxes_mark_their_cells_and_few_others() {
        let at = |x: f32, y: f32| Bounds { min: Vec3A::new(x, y, 3.0), max: Vec3A::new(x + 1.0, y + 2.0, 5.0) };
        let boxes = [at(0.0, 0.0), at(90.0, 10.0), at(-60.0, 98.0)];
        let mut map = MoverMap::new(10.0);
        map.fit(&boxes);
        let n_set: u32 = map.words.iter().map(|word| word.count_ones()).sum();
        // 151 m and 100 m across: cells of 0.3 m and 0.2 m.
        assert!((3 * 30..3 * 80).contains(&n_set), "{n_set} cells");
        for one in &boxes {
            let cell = ((flat(0.5 * (one.min + one.max)) - map.low) * map.cells_per_metre).as_uvec2();
            let word = map.words[cell.y as usize * WORDS_IN_ROW + cell.x as usize / 32];
            assert_eq!(word >> (cell.x % 32) & 1, 1);
        }
        map.fit(&[]);
        assert!(map.words.iter().all(|&word| word == 0) && map.reach == 0.0);
    }
}
