//! The column map: what is known of a ray towards the sun from where it starts, without looking at a triangle.
//!
//! In sun space every ray goes along z, so that "does anything that stands still stop it?" is a question about a point and a height. The
//! map is a grid over the xy plane: tiles of one size, cut into more cells where there are more triangles. Each cell has a plane and two
//! heights relative to it. No ray that starts above the upper one is stopped, since all triangles of the cell are below; every ray that
//! starts below the lower one is, since an opaque triangle covers the whole cell above it. What starts between them asks the tree.
//!
//! Both heights are on the safe side of every rounding in the shader, here and there: a ray that the map decides is decided as the tree
//! would. The errors are bounded in `facet.rs` (triangles) and `tile.rs` (cells).

mod bins;
mod facet;
mod grid;
mod heights;
mod tile;

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use rayon::prelude::*;

use self::bins::Bins;
use crate::render::layout::{Frame, RAY_NONE, RayTriangle};

/// Bytes of all cells, at most.
const MOST_BYTES: u64 = 64 << 20;
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
    reach: f32,
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
        let farthest =
            DVec3::new(low.x.abs().max(high.x.abs()), low.y.abs().max(high.y.abs()), bottom.abs().max(top.abs()))
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
        let (grid, bins) = Bins::of(triangles, low, high, spread);
        let most_elements = most_bytes.min(MOST_BYTES) / size_of::<Cell>() as u64;
        let cell_bits = bins.choose_cells(&grid, spread, most_elements.checked_sub(grid.n_tiles() as u64)?);
        let built: Vec<_> = (0..grid.n_tiles())
            .into_par_iter()
            .map(|tile_idx| {
                tile::build(
                    triangles,
                    bins.of_tile(tile_idx),
                    grid.low(tile_idx),
                    grid.size,
                    cell_bits[tile_idx],
                    &margins,
                )
            })
            .collect();

        let n_cells: usize = built.iter().map(|tile| tile.cells.len()).sum();
        if (grid.n_tiles() + n_cells) as u64 > most_elements {
            return None;
        }
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
            reach: farthest as f32,
            elements,
        })
    }

    /// No corner has a coordinate beyond this, in sun space.
    pub fn reach(&self) -> f32 {
        self.reach
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

/// The least number of 32 bits that is not less.
fn at_least(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) < x { rounded.next_up() } else { rounded }
}
