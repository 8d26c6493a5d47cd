//! Where the column map's tiles lie.

use glam::DVec2;

/// Square tiles over a rectangle. A tile's side is a power of two and its corners are multiples of it, so that the shader finds a point's
/// tile, and its place in the tile, without rounding.
pub struct TileGrid {
    /// Metres.
    pub size: f64,
    /// The first tile's corner, in tiles.
    pub first: [i32; 2],
    pub n: [usize; 2],
}

impl TileGrid {
    /// With about `n_aimed` tiles on the longer side, never more than twice as many, and no smaller ones than `least_size`.
    pub fn around(low: DVec2, high: DVec2, n_aimed: f64, least_size: f64) -> Self {
        let size = ((high - low).max_element() / n_aimed).max(least_size).log2().round().exp2();
        let [first, last] = [low, high].map(|corner| (corner / size).floor());
        Self {
            size,
            first: [first.x as i32, first.y as i32],
            n: [last.x - first.x, last.y - first.y].map(|n| n as usize + 1),
        }
    }

    pub fn n_tiles(&self) -> usize {
        self.n[0] * self.n[1]
    }

    /// A tile's lower corner.
    pub fn low(&self, tile_idx: usize) -> DVec2 {
        let at = [tile_idx % self.n[0], tile_idx / self.n[0]];
        self.size * DVec2::new(f64::from(self.first[0]) + at[0] as f64, f64::from(self.first[1]) + at[1] as f64)
    }

    /// The tiles that a box touches.
    pub fn tiles_within(&self, low: DVec2, high: DVec2) -> impl Iterator<Item = usize> + use<> {
        let place = |x: f64, first: i32, n: usize| {
            ((x / self.size).floor() - f64::from(first)).clamp(0.0, (n - 1) as f64) as usize
        };
        let columns = place(low.x, self.first[0], self.n[0])..=place(high.x, self.first[0], self.n[0]);
        let rows = place(low.y, self.first[1], self.n[1])..=place(high.y, self.first[1], self.n[1]);
        let n_in_row = self.n[0];
        rows.flat_map(move |row| columns.clone().map(move |column| row * n_in_row + column))
    }
}
