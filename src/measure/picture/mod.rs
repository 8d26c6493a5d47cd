//! How far two pictures differ.

mod exact;
mod flip;
mod golden;

pub use exact::{ExactDifference, exact_difference};
pub use flip::{FlipDifference, TILE_PX, Tile, flip_difference};
pub use golden::{
    Excess, GoldenCheck, GoldenComparison, GoldenLane, GoldenThresholds, GoldenView, Goldens, GoldensError,
    PictureNumbers, compare_with_golden,
};

/// An 8-bit RGBA picture in memory: rows from the top, tightly packed, colours sRGB-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture<'a> {
    width_px: u32,
    height_px: u32,
    rgba: &'a [u8],
}

/// Pictures that can't be made or compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// There are more or fewer bytes than the size says.
    #[error("a picture of {width_px}×{height_px} has {expected} bytes, not {actual}")]
    Bytes {
        /// Its width.
        width_px: u32,
        /// Its height.
        height_px: u32,
        /// width × height × 4.
        expected: u64,
        /// What there is.
        actual: u64,
    },
    /// It has no pixel, or more than 2^28, which no comparison here takes.
    #[error("a picture of {width_px}×{height_px} can't be compared: it needs 1 to 268,435,456 pixels")]
    Pixels {
        /// Its width.
        width_px: u32,
        /// Its height.
        height_px: u32,
    },
    /// The two have different sizes.
    #[error("the picture is {}×{}, its golden {}×{}", actual.0, actual.1, expected.0, expected.1)]
    Size {
        /// Width and height of the golden.
        expected: (u32, u32),
        /// Width and height of the picture.
        actual: (u32, u32),
    },
}

/// Keeps byte counts of RGB pictures within u32, which the FLIP library counts in.
const MOST_PIXELS: u64 = 1 << 28;

impl<'a> Picture<'a> {
    /// A picture of `width_px` × `height_px` over its `rgba` bytes.
    ///
    /// # Errors
    /// [`PictureError`] when the bytes don't fit the size, or there are no pixels, or too many.
    pub fn new(width_px: u32, height_px: u32, rgba: &'a [u8]) -> Result<Self, PictureError> {
        let n_pixels = u64::from(width_px) * u64::from(height_px);
        if !(1..=MOST_PIXELS).contains(&n_pixels) {
            return Err(PictureError::Pixels { width_px, height_px });
        }
        let (expected, actual) = (n_pixels * 4, rgba.len() as u64);
        if expected != actual {
            return Err(PictureError::Bytes { width_px, height_px, expected, actual });
        }
        Ok(Self { width_px, height_px, rgba })
    }

    /// Its width.
    pub fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Its height.
    pub fn height_px(&self) -> u32 {
        self.height_px
    }

    /// Its pixels, row by row.
    pub(super) fn pixels(&self) -> &'a [[u8; 4]] {
        self.rgba.as_chunks().0
    }

    fn rgb(&self) -> Vec<u8> {
        self.pixels().iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect()
    }
}

fn check_same_size(expected: &Picture, actual: &Picture) -> Result<(), PictureError> {
    let size = |picture: &Picture| (picture.width_px, picture.height_px);
    if size(expected) == size(actual) {
        return Ok(());
    }
    Err(PictureError::Size { expected: size(expected), actual: size(actual) })
}

/// Error values from 0 to 1 as RGB bytes in the magma colour map: black is none, pale yellow is 1.
fn magma(errors: impl Iterator<Item = f32>) -> Vec<u8> {
    let map = nv_flip::magma_lut().to_vec();
    let (colours, _) = map.as_chunks::<3>();
    let last_idx = colours.len().saturating_sub(1);
    let colour = |error: f32| {
        let idx = (error.clamp(0.0, 1.0) * last_idx as f32).round() as usize;
        colours.get(idx).copied().unwrap_or_default()
    };
    errors.flat_map(colour).collect()
}
