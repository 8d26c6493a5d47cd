//! FLIP: how different two pictures look when one flips between them.
//!
//! Andersson et al., "FLIP: A Difference Evaluator for Alternating Images" (2020), by NVIDIA's own code (nv-flip).

use nv_flip::{DEFAULT_PIXELS_PER_DEGREE, FlipImageRgb8};
use serde::{Deserialize, Serialize};

use super::{Picture, PictureError, check_same_size, magma};
use crate::measure::quantile::quantile_by;

/// The side of the tiles among which the worst is looked for.
pub const TILE_PX: u32 = 16;

/// A tile of a picture and its mean error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tile {
    /// Its left edge.
    pub x_px: u32,
    /// Its top edge.
    pub y_px: u32,
    /// The mean FLIP error of its pixels, 0 to 1.
    pub mean: f64,
}

/// How different two pictures of one size look, in FLIP errors from 0 (the same) to 1.
///
/// The mean misses what is small, so the 99th percentile and the worst tile stand beside it. Alpha, which FLIP doesn't see,
/// is [`exact_difference`](super::exact_difference)'s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlipDifference {
    /// Over all pixels.
    pub mean: f64,
    /// The error that 99% of pixels stay below.
    pub p99: f64,
    /// The [`TILE_PX`]-square tile with the greatest mean. The last tiles of a row or column overlap their neighbours, so that
    /// all are whole; pictures smaller than a tile have one.
    pub worst_tile: Tile,
    /// The error of each pixel in the magma colour map: RGB bytes of the pictures' size.
    #[serde(skip)]
    pub error_map_rgb: Vec<u8>,
}

/// Compares as the eye does, at FLIP's standard distance of 67 pixels a degree.
///
/// # Errors
/// [`PictureError::Size`] for pictures of different sizes.
pub fn flip_difference(expected: &Picture, actual: &Picture) -> Result<FlipDifference, PictureError> {
    check_same_size(expected, actual)?;
    let image = |picture: &Picture| FlipImageRgb8::with_data(picture.width_px, picture.height_px, &picture.rgb());
    let errors = nv_flip::flip(image(expected), image(actual), DEFAULT_PIXELS_PER_DEGREE).to_vec();
    let mut sorted = errors.clone();
    sorted.sort_unstable_by(f32::total_cmp);
    Ok(FlipDifference {
        mean: mean(errors.iter().copied(), errors.len()),
        p99: quantile_by(sorted.len(), 0.99, |idx| f64::from(sorted[idx])).unwrap_or(0.0),
        worst_tile: worst_tile(&errors, expected.width_px, expected.height_px),
        error_map_rgb: magma(errors.iter().copied()),
    })
}

fn mean(errors: impl Iterator<Item = f32>, n_errors: usize) -> f64 {
    errors.map(f64::from).sum::<f64>() / n_errors.max(1) as f64
}

fn worst_tile(errors: &[f32], width_px: u32, height_px: u32) -> Tile {
    let (tile_width_px, tile_height_px) = (TILE_PX.min(width_px), TILE_PX.min(height_px));
    let starts = |size_px: u32, tile_px: u32| {
        (0..size_px.div_ceil(TILE_PX)).map(move |tile_idx| (tile_idx * TILE_PX).min(size_px - tile_px))
    };
    let mut worst = Tile { mean: -1.0, ..Tile::default() };
    for y_px in starts(height_px, tile_height_px) {
        for x_px in starts(width_px, tile_width_px) {
            let in_tile = (y_px..y_px + tile_height_px).flat_map(|row_px| {
                let start = row_px as usize * width_px as usize + x_px as usize;
                errors[start..start + tile_width_px as usize].iter().copied()
            });
            let mean = mean(in_tile, (tile_width_px * tile_height_px) as usize);
            if mean > worst.mean {
                worst = Tile { x_px, y_px, mean };
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_the_worst_tile_is_found_in_the_last_partial_column() {
        let (width_px, height_px) = (40, 20);
        let mut errors = vec![0.1f32; (width_px * height_px) as usize];
        for y_px in 4..20 {
            for x_px in 24..40 {
                errors[y_px * width_px as usize + x_px] = 0.9;
            }
        }
        let worst = worst_tile(&errors, width_px, height_px);
        assert_eq!((worst.x_px, worst.y_px), (24, 4));
        assert!((worst.mean - 0.9).abs() < 1e-6, "{worst:?}");
    }

    #[test]
    fn measure_pictures_smaller_than_a_tile_have_one() {
        let worst = worst_tile(&[0.5, 0.7, 0.6], 3, 1);
        assert_eq!((worst.x_px, worst.y_px), (0, 0));
        assert!((worst.mean - 0.6).abs() < 1e-6, "{worst:?}");
    }
}
