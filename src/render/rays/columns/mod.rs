//! The column map: what is known of a ray towards the sun from where it starts, without looking at a triangle.
//!
//! In sun space every ray goes along z, so that "does anything that stands still stop it?" is a question about a point and a height. The
//! map is a grid over the xy plane: tiles of one size, cut into more cells where there are more triangles. Each cell has a plane and two
//! heights relative to it. No ray that starts above the upper one is stopped, since all triangles of the cell are below; every ray that
//! starts below the lower one is, since an opaque triangle covers the whole cell above it. What starts between them asks the tree.
//!
//! Both heights are on the safe side of every rounding in the shader, here and there: a ray that the map decides is decided as the tree
//! would. The errors are bounded in `facet.rs` (triangles) and `tile.rs` (cells).

mod facet;
mod grid;
mod heights;
mod tile;

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use rayon::prelude::*;

use self::grid::TileGrid;
use crate::render::layout::{Frame, RAY_NONE, RayTriangle};

/// Tiles on a side, at most.
const MOST_TILES: f64 = 128.0;
/// Triangles in a tile, aimed at until the tiles get too many.
const TRIANGLES_IN_TILE: f64 = 32.0;
/// Cells on a tile's side, at most, as a power of two.
const MOST_CELL_BITS: u32 = 8;
/// Bytes of all cells, at most.
const MOST_BYTES: u64 = 64 << 20;
/// A cell is at least so many times as wide as rounding could move a ray.
const LEAST_CELL: f64 = 64.0;

/// A tile in the buffer, in front of all cells.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Tile {
    /// Its first cell's place in the buffer, in elements; `RAY_NONE` if nothing stands still there.
    first_cell: u32,
    /// On a side.
    n_cells: u32,
    /// Nothing in the tile is as high, in sun space.
    top: f32,
    _pad: u32,
}

/// A cell in the buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Cell {
    /// Of the plane, at the cell's middle; sun space.
    height: f32,
    /// By how much the plane rises from one side of the cell to the other.
    rise: [f32; 2],
    /// Two halves, in units: above the plane by more than the lower half word, a ray meets nothing; by less than the upper one, it is
    /// blocked.
    limits: u32,
}

/// See the module. Where the grid lies is told to the shader in the frame's uniform.
pub struct ColumnMap {
    first_tile: [i32; 2],
    n_tiles: [u32; 2],
    tiles_per_metre: f32,
    /// Heights above and below which the grid says nothing: above, nothing is; below, rounding is unknown.
    top: f32,
    bottom: f32,
    units_per_metre: f32,
    /// Tiles, then cells.
    elements: Vec<[u32; 4]>,
}

/// What bounds the rounding in all tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margins {
    /// Metres by which a ray's place in xy can differ between where it is looked up and where triangles are tested.
    spread: f64,
    /// Metres between the lowest and the highest corner.
    depth: f64,
    lowest: f64,
    units_per_metre: f64,
}

impl ColumnMap {
    /// For triangles in sun space. `None` for none, and for scenes so large or small that their numbers leave the range in which the bounds
    /// on rounding hold.
    pub fn build(triangles: &[RayTriangle], most_bytes: u64) -> Option<Self> {
        let (low, high) = extent(triangles)?;
        let depth = (high.z - low.z).max(1e-3 * (high - low).max_element());
        let bottom = low.z - depth;
        let top = high.z;
        let farthest = DVec3::new(
            low.x.abs().max(high.x.abs()),
            low.y.abs().max(high.y.abs()),
            bottom.abs().max(top.abs()),
        )
        .length();
        if !(1e-6..1e12).contains(&farthest) || !(1e-9..).contains(&(high - low).max_element()) {
            return None;
        }
        // A ray's origin is turned into sun space by three products and sums of each component, each rounded by 2⁻²⁴ of at most the origin's
        // length; where it is done twice the compiler may round differently. 2 · 3 · 2⁻²⁴, and a third more for rounding the bound.
        let spread = farthest * 2f64.powi(-21);
        let margins = Margins {
            spread,
            depth,
            lowest: low.z,
            // Planes are kept within a depth of the scene, rays between bottom and top: heights are less than four depths.
            units_per_metre: (32_768.0 / (4.0 * depth)).log2().floor().exp2(),
        };
        // What a triangle's own box is widened by, on top.
        let widened = 4.0 * spread + 4e-6 * (high - low).max_element();
        let (low, high) = (low.truncate() - widened, high.truncate() + widened);
        let grid = TileGrid::around(low, high, aimed_tiles(triangles.len()));
        let bins = Bins::of(triangles, &grid, spread);
        let most_cells = most_bytes.min(MOST_BYTES) / size_of::<Cell>() as u64;
        let cell_bits = choose_cells(&bins, &grid, spread, most_cells.checked_sub(grid.n_tiles() as u64)?);
        let built: Vec<_> = (0..grid.n_tiles())
            .into_par_iter()
            .map(|tile_idx| tile::build(triangles, bins.of_tile(tile_idx), grid.low(tile_idx), grid.size, cell_bits[tile_idx], &margins))
            .collect();

        let n_cells: usize = built.iter().map(|tile| tile.cells.len()).sum();
        let mut elements: Vec<[u32; 4]> = Vec::with_capacity(grid.n_tiles() + n_cells);
        let mut first_cell = grid.n_tiles();
        for tile in &built {
            let has_cells = !tile.cells.is_empty();
            elements.push(bytemuck::cast(Tile {
                first_cell: if has_cells { first_cell as u32 } else { RAY_NONE },
                n_cells: (tile.cells.len() as f64).sqrt() as u32,
                top: tile.top,
                _pad: 0,
            }));
            first_cell += tile.cells.len();
        }
        for tile in &built {
            elements.extend(tile.cells.iter().map(|&cell| bytemuck::cast::<Cell, [u32; 4]>(cell)));
        }
        Some(Self {
            first_tile: grid.first,
            n_tiles: grid.n.map(|n| n as u32),
            tiles_per_metre: (1.0 / grid.size) as f32,
            top: at_least(top + 2.0 * spread),
            bottom: -at_least(-(bottom + 2.0 * spread)),
            units_per_metre: margins.units_per_metre as f32,
            elements,
        })
    }

    /// What the shader reads.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.elements)
    }

    /// Tells the frame where the grid lies.
    pub fn describe(&self, frame: &mut Frame) {
        frame.columns_first_tile = self.first_tile;
        frame.n_column_tiles = self.n_tiles;
        frame.column_tiles_per_metre = self.tiles_per_metre;
        frame.column_units_per_metre = self.units_per_metre;
        frame.columns_top = self.top;
        frame.columns_bottom = self.bottom;
    }
}

/// Lowest and highest corner; `None` for no triangles.
fn extent(triangles: &[RayTriangle]) -> Option<(DVec3, DVec3)> {
    let of_one = |triangle: &RayTriangle| {
        let [a, b, c] = [triangle.p0, triangle.p1, triangle.p2].map(|p| DVec3::from_array(p.map(f64::from)));
        (a.min(b).min(c), a.max(b).max(c))
    };
    triangles.par_iter().map(of_one).reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Tiles on the longer side.
fn aimed_tiles(n_triangles: usize) -> f64 {
    (n_triangles as f64 / TRIANGLES_IN_TILE).sqrt().clamp(1.0, MOST_TILES)
}

/// The least number of 32 bits that is not less.
fn at_least(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) < x { rounded.next_up() } else { rounded }
}

/// The triangles whose boxes touch each tile.
struct Bins {
    /// By tile, and one more: where its triangles begin.
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Bins {
    fn of(triangles: &[RayTriangle], grid: &TileGrid, spread: f64) -> Self {
        let tiles_of = |triangle: &RayTriangle| {
            let (low, high) = facet::box_of(triangle);
            grid.tiles_within(low - 2.0 * spread, high + 2.0 * spread)
        };
        let mut starts = vec![0u32; grid.n_tiles() + 1];
        for triangle in triangles {
            tiles_of(triangle).for_each(|tile_idx| starts[tile_idx + 1] += 1);
        }
        for tile_idx in 0..grid.n_tiles() {
            starts[tile_idx + 1] += starts[tile_idx];
        }
        let mut ends = starts.clone();
        let mut binned = vec![0u32; starts[grid.n_tiles()] as usize];
        for (triangle_idx, triangle) in (0u32..).zip(triangles) {
            for tile_idx in tiles_of(triangle) {
                binned[ends[tile_idx] as usize] = triangle_idx;
                ends[tile_idx] += 1;
            }
        }
        Self { starts, triangles: binned }
    }

    fn of_tile(&self, tile_idx: usize) -> &[u32] {
        &self.triangles[self.starts[tile_idx] as usize..self.starts[tile_idx + 1] as usize]
    }
}

/// Cells on each tile's side, as powers of two: the more the more triangles are there, as many as fit.
fn choose_cells(bins: &Bins, grid: &TileGrid, spread: f64, most_cells: u64) -> Vec<u32> {
    let finest = (grid.size / (LEAST_CELL * spread)).log2().floor().clamp(0.0, f64::from(MOST_CELL_BITS)) as u32;
    let mut cells_per_triangle = 16.0;
    loop {
        let bits_of = |tile_idx| {
            let n = bins.of_tile(tile_idx).len() as f64;
            (0.5 * (cells_per_triangle * n).max(1.0).log2()).round().min(f64::from(finest)) as u32
        };
        let bits: Vec<u32> = (0..grid.n_tiles()).map(bits_of).collect();
        let n_cells: u64 = bits.iter().map(|&bits| 1u64 << (2 * bits)).sum();
        if n_cells <= most_cells || cells_per_triangle < 1e-9 {
            return bits;
        }
        cells_per_triangle *= 0.75;
    }
}

