//! Which triangles touch which tile, and how many cells a tile is worth.

use glam::DVec2;

use super::facet::box_of;
use super::grid::TileGrid;
use crate::render::layout::RayTriangle;

/// Tiles on a side, at most.
const MOST_TILES: f64 = 128.0;
/// Triangles in a tile, aimed at until the tiles get too many.
const TRIANGLES_IN_TILE: f64 = 32.0;
/// Tiles that a triangle touches on average, at most: where large triangles touch more, tiles get larger.
const MOST_TOUCHED: usize = 8;
/// Cells on a tile's side, at most, as a power of two.
const MOST_CELL_BITS: u32 = 8;
/// A cell is at least so many times as wide as rounding could move a ray.
const LEAST_CELL: f64 = 64.0;
/// Cells for each triangle in a tile, where there is room.
const CELLS_PER_TRIANGLE: f64 = 16.0;
/// Pairs of a triangle and a cell that its box touches, at most: they are what building takes.
const MOST_PAIRS: f64 = 50e6;

/// See the module.
pub struct Bins {
    /// By tile, and one more: where its triangles begin.
    starts: Vec<u32>,
    triangles: Vec<u32>,
    /// By tile.
    loads: Vec<Load>,
}

/// What the triangles' boxes come to in a tile, in tiles.
#[derive(Clone, Copy, Default)]
struct Load {
    area: f64,
    /// Half of it.
    outline: f64,
}

impl Bins {
    /// With the grid, which covers the rectangle from `low` to `high`, all that triangles touch.
    pub fn of(triangles: &[RayTriangle], low: DVec2, high: DVec2, spread: f64) -> (TileGrid, Self) {
        let mut n_aimed = (triangles.len() as f64 / TRIANGLES_IN_TILE).sqrt().clamp(1.0, MOST_TILES);
        loop {
            let grid = TileGrid::around(low, high, n_aimed, LEAST_CELL * spread);
            let boxes = || triangles.iter().map(|triangle| widened(triangle, spread));
            let mut n_in_tile = vec![0usize; grid.n_tiles()];
            boxes().for_each(|(low, high)| grid.tiles_within(low, high).for_each(|tile_idx| n_in_tile[tile_idx] += 1));
            if grid.n_tiles() > 4 && n_in_tile.iter().sum::<usize>() > MOST_TOUCHED * triangles.len() + grid.n_tiles() {
                n_aimed *= 0.5;
                continue;
            }
            let bins = Self::fill(&grid, &n_in_tile, boxes());
            return (grid, bins);
        }
    }

    fn fill(grid: &TileGrid, n_in_tile: &[usize], boxes: impl Iterator<Item = (DVec2, DVec2)>) -> Self {
        let mut starts = Vec::with_capacity(n_in_tile.len() + 1);
        let mut n_total = 0;
        starts.push(0);
        for n in n_in_tile {
            n_total += n;
            starts.push(n_total as u32);
        }
        let mut ends = starts.clone();
        let mut binned = vec![0u32; n_total];
        let mut loads = vec![Load::default(); n_in_tile.len()];
        for (triangle_idx, (low, high)) in (0u32..).zip(boxes) {
            for tile_idx in grid.tiles_within(low, high) {
                binned[ends[tile_idx] as usize] = triangle_idx;
                ends[tile_idx] += 1;
                let corner = grid.low(tile_idx);
                let part = ((high.min(corner + grid.size) - low.max(corner)) / grid.size).max(DVec2::ZERO);
                loads[tile_idx].area += part.x * part.y;
                loads[tile_idx].outline += part.x + part.y;
            }
        }
        Self { starts, triangles: binned, loads }
    }

    /// Their indices, in order.
    pub fn of_tile(&self, tile_idx: usize) -> &[u32] {
        &self.triangles[self.starts[tile_idx] as usize..self.starts[tile_idx + 1] as usize]
    }

    /// Cells on each tile's side, as powers of two: the more the more triangles are there, as many as `most_cells` and the time allow.
    pub fn choose_cells(&self, grid: &TileGrid, spread: f64, most_cells: u64) -> Vec<u32> {
        let finest = (grid.size / (LEAST_CELL * spread)).log2().floor().clamp(0.0, f64::from(MOST_CELL_BITS));
        let mut cells_per_triangle = CELLS_PER_TRIANGLE;
        loop {
            let bits: Vec<u32> = (0..grid.n_tiles())
                .map(|tile_idx| {
                    let n = self.of_tile(tile_idx).len() as f64;
                    (0.5 * (cells_per_triangle * n).max(1.0).log2()).round().min(finest) as u32
                })
                .collect();
            let n_cells: u64 = bits.iter().map(|&bits| 1u64 << (2 * bits)).sum();
            let n_pairs: f64 = bits.iter().enumerate().map(|(tile_idx, &bits)| self.n_pairs(tile_idx, bits)).sum();
            if (n_cells <= most_cells && n_pairs <= MOST_PAIRS) || cells_per_triangle < 1e-9 {
                return bits;
            }
            cells_per_triangle *= 0.75;
        }
    }

    fn n_pairs(&self, tile_idx: usize, cell_bits: u32) -> f64 {
        let n = f64::from(cell_bits).exp2();
        let Load { area, outline } = self.loads[tile_idx];
        self.of_tile(tile_idx).len() as f64 + n * outline + n * n * area
    }
}

fn widened(triangle: &RayTriangle, spread: f64) -> (DVec2, DVec2) {
    let (low, high) = box_of(triangle);
    (low - 2.0 * spread, high + 2.0 * spread)
}
