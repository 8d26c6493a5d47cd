//! A tile of the column map: a plane for each of its cells, and the two heights relative to it.

use glam::{DVec2, DVec3};

use super::facet::{Facet, FacetPlane};
use super::heights::{NEVER, half_at_least, half_at_most};
use super::{Cell, Margins, at_least};
use crate::render::layout::RayTriangle;

/// Rise over run beyond which a cell's plane is taken level instead: what rounding moves a ray sideways it moves its height by as much more.
const STEEPEST: f64 = 64.0;
const NO_FACET: u32 = u32::MAX;

/// See the module.
pub struct TileCells {
    /// Row by row; none if there are no triangles.
    pub cells: Vec<Cell>,
    /// Height above which nothing in the tile is.
    pub top: f32,
}

/// A cell before its heights are known.
#[derive(Clone, Copy)]
struct Draft {
    /// The facet that is highest in the middle of what of its box lies in the cell, and how high.
    highest: u32,
    highest_z: f64,
    /// The opaque facet that covers the whole cell and is highest at its middle.
    cover: u32,
    cover_z: f64,
}

/// A plane as the shader will read it.
#[derive(Clone, Copy)]
struct CellPlane {
    middle: DVec2,
    /// At the middle.
    z: f64,
    gradient: DVec2,
}

/// The cells of a tile and what is to be known of all of them.
struct CellGrid {
    low: DVec2,
    cell_size: f64,
    n: usize,
    /// Half a cell, and what rounding could move a ray by.
    reach: f64,
}

/// How a facet lies to a cell.
enum Lies {
    Outside,
    Across,
    OverAll,
}

/// Finds the cells of the tile at `low`, 2^`cell_bits` on a side, that the triangles at `indices` touch.
pub fn build(
    triangles: &[RayTriangle],
    indices: &[u32],
    low: DVec2,
    size: f64,
    cell_bits: u32,
    margins: &Margins,
) -> TileCells {
    if indices.is_empty() {
        return TileCells { cells: Vec::new(), top: f32::MIN };
    }
    let n = 1usize << cell_bits;
    let cell_size = size / n as f64;
    // The place in a tile is rounded by 2⁻²⁵ of the tile just below 0.
    let grid = CellGrid { low, cell_size, n, reach: 0.5 * cell_size + margins.spread + size * 2f64.powi(-24) };
    let mut facets: Vec<Facet> = indices.iter().map(|&idx| Facet::new(&triangles[idx as usize])).collect();
    // The highest first: most of the others then change nothing.
    facets.sort_by(|a, b| b.z_high.total_cmp(&a.z_high));
    let drafts = draft_cells(&grid, &facets);
    let planes: Vec<CellPlane> =
        drafts.iter().enumerate().map(|(cell_idx, draft)| grid.plane_of(cell_idx, draft, &facets, margins)).collect();
    let uppers = find_uppers(&grid, &facets, &planes);
    let cells = planes
        .iter()
        .zip(&drafts)
        .zip(uppers)
        .map(|((plane, draft), upper)| {
            let lower = cover_height(&grid, plane, draft, &facets);
            finish_cell(&grid, plane, upper, lower, margins)
        })
        .collect();
    TileCells { cells, top: at_least(facets[0].z_high + 2.0 * margins.spread) }
}

impl CellGrid {
    fn middle_of(&self, cell_idx: usize) -> DVec2 {
        self.low + self.cell_size * (DVec2::new((cell_idx % self.n) as f64, (cell_idx / self.n) as f64) + 0.5)
    }

    /// Visits the cells that a facet's box touches: index, middle, and the part of the box in the cell as lower and upper corner.
    fn for_each_touched(&self, facet: &Facet, mut visit: impl FnMut(usize, DVec2, DVec2, DVec2)) {
        let widened = self.reach - 0.5 * self.cell_size;
        let last = self.n as f64 - 1.0;
        let place = |x: f64| ((x / self.cell_size).floor().clamp(0.0, last)) as usize;
        let (low, high) = (facet.low - self.low - widened, facet.high - self.low + widened);
        for row in place(low.y)..=place(high.y) {
            for column in place(low.x)..=place(high.x) {
                let cell_idx = row * self.n + column;
                let middle = self.middle_of(cell_idx);
                let part_low = (middle - self.reach).max(facet.low);
                let part_high = (middle + self.reach).min(facet.high);
                if part_low.x <= part_high.x && part_low.y <= part_high.y {
                    visit(cell_idx, middle, part_low, part_high);
                }
            }
        }
    }

    fn relation(&self, facet: &Facet, plane: &FacetPlane, middle: DVec2) -> Lies {
        let shares = facet.shares_at(plane, middle);
        let mut lies = Lies::OverAll;
        for (share, gradient) in shares.into_iter().zip(plane.share_gradients) {
            let change = (gradient.x.abs() + gradient.y.abs()) * self.reach;
            if share + change < -plane.share_error {
                return Lies::Outside;
            }
            if share - change <= plane.share_error {
                lies = Lies::Across;
            }
        }
        lies
    }

    /// The plane of the highest facet, or a level one where that is too steep, as 32 bits hold it.
    fn plane_of(&self, cell_idx: usize, draft: &Draft, facets: &[Facet], margins: &Margins) -> CellPlane {
        let middle = self.middle_of(cell_idx);
        let level = CellPlane { middle, z: draft.highest_z.max(margins.lowest), gradient: DVec2::ZERO };
        let mut chosen = level;
        if let Some(facet) = facets.get(draft.highest as usize)
            && let Some(plane) = &facet.plane
        {
            let z = facet.z_at(plane, middle);
            let rise = plane.gradient.abs().element_sum();
            let is_near = (z - draft.highest_z).abs() + rise * self.cell_size < margins.depth;
            if rise < STEEPEST && is_near {
                chosen = CellPlane { middle, z, gradient: plane.gradient };
            }
        }
        // As the shader will have them.
        let as_stored = |x: f64| f64::from(x as f32);
        CellPlane {
            middle,
            z: as_stored(chosen.z),
            gradient: DVec2::new(
                as_stored(chosen.gradient.x * self.cell_size),
                as_stored(chosen.gradient.y * self.cell_size),
            ) / self.cell_size,
        }
    }
}

impl CellPlane {
    fn z_at(&self, at: DVec2) -> f64 {
        self.z + self.gradient.dot(at - self.middle)
    }
}

fn draft_cells(grid: &CellGrid, facets: &[Facet]) -> Vec<Draft> {
    let none = Draft { highest: NO_FACET, highest_z: f64::NEG_INFINITY, cover: NO_FACET, cover_z: f64::NEG_INFINITY };
    let mut drafts = vec![none; grid.n * grid.n];
    for (facet_idx, facet) in (0u32..).zip(facets) {
        grid.for_each_touched(facet, |cell_idx, middle, part_low, part_high| {
            let draft = &mut drafts[cell_idx];
            let may_cover = facet.is_opaque && facet.z_high > draft.cover_z;
            if facet.z_high <= draft.highest_z && !may_cover {
                return;
            }
            let mut z = facet.z_high;
            if let Some(plane) = &facet.plane {
                match grid.relation(facet, plane, middle) {
                    Lies::Outside => return,
                    Lies::Across => {}
                    Lies::OverAll => {
                        let z = facet.z_at(plane, middle);
                        if may_cover && z > draft.cover_z {
                            (draft.cover, draft.cover_z) = (facet_idx, z);
                        }
                    }
                }
                z = z.min(facet.z_at(plane, 0.5 * (part_low + part_high)));
            }
            if z > draft.highest_z {
                (draft.highest, draft.highest_z) = (facet_idx, z);
            }
        });
    }
    drafts
}

/// For each cell, how far above its plane a ray may be stopped at all: metres, without what rounding adds in the shader.
fn find_uppers(grid: &CellGrid, facets: &[Facet], planes: &[CellPlane]) -> Vec<f64> {
    let mut uppers = vec![f64::NEG_INFINITY; planes.len()];
    for facet in facets {
        grid.for_each_touched(facet, |cell_idx, middle, part_low, part_high| {
            let plane = &planes[cell_idx];
            let upper = &mut uppers[cell_idx];
            let part_middle = 0.5 * (part_low + part_high);
            let part_half = 0.5 * (part_high - part_low);
            // A facet's highest corner over the plane's lowest place.
            let mut bound = facet.z_high - plane.z_at(part_middle) + plane.gradient.abs().dot(part_half);
            if bound <= *upper {
                return;
            }
            if let Some(own) = &facet.plane {
                let is_across = match grid.relation(facet, own, middle) {
                    Lies::Outside => return,
                    Lies::Across => true,
                    Lies::OverAll => false,
                };
                let apart = (own.gradient - plane.gradient).abs();
                let between_planes =
                    facet.z_at(own, part_middle) - plane.z_at(part_middle) + apart.dot(part_half) + own.z_error;
                bound = bound.min(between_planes);
                if is_across && bound > *upper {
                    bound = bound.min(highest_above(facet, own, plane, part_low, part_high));
                }
            }
            *upper = upper.max(bound);
        });
    }
    uppers
}

/// How far the part of a facet in a rectangle rises above a plane; negative infinity for none.
fn highest_above(facet: &Facet, own: &FacetPlane, plane: &CellPlane, low: DVec2, high: DVec2) -> f64 {
    // A ray that passes is within `reach` of a point of the facet.
    let clipped = Polygon::of(&facet.corners).clipped(low - own.reach, high + own.reach);
    let apart = (own.gradient - plane.gradient).abs().element_sum();
    let over = clipped.corners().iter().map(|corner| corner.z - plane.z_at(corner.truncate()));
    over.fold(f64::NEG_INFINITY, f64::max) + apart * own.reach + own.z_error
}

/// How far above the cell's plane every ray is stopped by the facet that covers it; negative infinity without one.
fn cover_height(grid: &CellGrid, plane: &CellPlane, draft: &Draft, facets: &[Facet]) -> f64 {
    let Some(facet) = facets.get(draft.cover as usize) else { return f64::NEG_INFINITY };
    let Some(own) = &facet.plane else { return f64::NEG_INFINITY };
    let apart = (own.gradient - plane.gradient).abs().element_sum();
    facet.z_at(own, plane.middle) - plane.z - apart * grid.reach - own.z_error
}

/// Widens the two heights by what the shader's arithmetic is off by, and packs them.
fn finish_cell(grid: &CellGrid, plane: &CellPlane, upper: f64, lower: f64, margins: &Margins) -> Cell {
    let rise = plane.gradient * grid.cell_size;
    let run = plane.gradient.abs().element_sum();
    let error_at = |height: f64| {
        // Where a ray at that height is, at most; a ray that is farther off is so by more than its larger error.
        let farthest =
            (plane.middle.abs() + grid.cell_size).length() + plane.z.abs() + height.abs() + rise.abs().element_sum();
        // The origin in sun space, twice (as `Margins::spread`); then height − plane, in four roundings; and the cell's edge at a tile's.
        let moved = farthest * 2f64.powi(-21);
        let evaluated = farthest * 2f64.powi(-22);
        1.01 * (moved * (1.0 + run) + evaluated) + rise.abs().element_sum() * 2f64.powi(-16)
    };
    let units = margins.units_per_metre;
    let upper = match upper == f64::NEG_INFINITY {
        true => NEVER ^ 0x8000,
        false => half_at_least((upper + error_at(upper)) * units),
    };
    let lower = match lower == f64::NEG_INFINITY {
        true => NEVER ^ 0x8000,
        false => half_at_most((lower - error_at(lower)) * units),
    };
    Cell {
        height: plane.z as f32,
        rise: [rise.x as f32, rise.y as f32],
        limits: u32::from(upper) | u32::from(lower) << 16,
    }
}

/// A triangle, cut by up to four lines.
#[derive(Clone, Copy)]
struct Polygon {
    corners: [DVec3; 8],
    n: usize,
}

impl Polygon {
    fn of(triangle: &[DVec3; 3]) -> Self {
        let mut corners = [DVec3::ZERO; 8];
        corners[..3].copy_from_slice(triangle);
        Self { corners, n: 3 }
    }

    fn corners(&self) -> &[DVec3] {
        &self.corners[..self.n]
    }

    /// What lies in a rectangle of the xy plane (Sutherland & Hodgman 1974).
    fn clipped(self, low: DVec2, high: DVec2) -> Self {
        self.cut(|p| p.x - low.x).cut(|p| high.x - p.x).cut(|p| p.y - low.y).cut(|p| high.y - p.y)
    }

    /// What lies where `inside` is not negative.
    fn cut(self, inside: impl Fn(DVec3) -> f64) -> Self {
        let mut kept = Self { corners: [DVec3::ZERO; 8], n: 0 };
        for i in 0..self.n {
            let (from, to) = (self.corners[i], self.corners[(i + 1) % self.n]);
            let (d_from, d_to) = (inside(from), inside(to));
            if d_from >= 0.0 {
                kept.push(from);
            }
            if (d_from >= 0.0) != (d_to >= 0.0) {
                kept.push(from + (to - from) * (d_from / (d_from - d_to)));
            }
        }
        kept
    }

    fn push(&mut self, corner: DVec3) {
        if self.n < self.corners.len() {
            self.corners[self.n] = corner;
            self.n += 1;
        }
    }
}
