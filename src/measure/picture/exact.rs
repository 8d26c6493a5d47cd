//! Channel by channel: what two runs of one software rasterizer should agree on.

use serde::{Deserialize, Serialize};

use super::{Picture, PictureError, check_same_size, magma};

/// How far two pictures of one size differ, channel by channel. Colour and alpha are counted apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactDifference {
    /// Pixels of each picture.
    pub n_pixels: u64,
    /// Pixels of which red, green or blue differs by more than the tolerance.
    pub n_differing: u64,
    /// The greatest difference in red, green or blue, of 255.
    pub max_difference: u8,
    /// Pixels of which alpha differs by more than the tolerance.
    pub n_alpha_differing: u64,
    /// The greatest difference in alpha, of 255.
    pub max_alpha_difference: u8,
    /// Where they differ: RGB bytes of the pictures' size. Black is within the tolerance; beyond it even 2/255 is easy
    /// to see.
    #[serde(skip)]
    pub error_map_rgb: Vec<u8>,
}

impl ExactDifference {
    /// The part of all pixels whose colour differs.
    pub fn differing_fraction(&self) -> f64 {
        self.n_differing as f64 / self.n_pixels.max(1) as f64
    }

    /// The part of all pixels whose alpha differs.
    pub fn alpha_differing_fraction(&self) -> f64 {
        self.n_alpha_differing as f64 / self.n_pixels.max(1) as f64
    }
}

/// Compares pixel by pixel; differences of up to `tolerance` of 255 are none.
///
/// # Errors
/// [`PictureError::Size`] for pictures of different sizes.
pub fn exact_difference(expected: &Picture, actual: &Picture, tolerance: u8) -> Result<ExactDifference, PictureError> {
    check_same_size(expected, actual)?;
    let mut difference = ExactDifference {
        n_pixels: expected.pixels().len() as u64,
        n_differing: 0,
        max_difference: 0,
        n_alpha_differing: 0,
        max_alpha_difference: 0,
        error_map_rgb: Vec::new(),
    };
    let errors = expected.pixels().iter().zip(actual.pixels()).map(|(expected, actual)| {
        let [r, g, b, alpha] = std::array::from_fn(|channel| expected[channel].abs_diff(actual[channel]));
        let colour = r.max(g).max(b);
        difference.n_differing += u64::from(colour > tolerance);
        difference.n_alpha_differing += u64::from(alpha > tolerance);
        difference.max_difference = difference.max_difference.max(colour);
        difference.max_alpha_difference = difference.max_alpha_difference.max(alpha);
        match colour.max(alpha) {
            shown if shown > tolerance => 0.3 + 0.7 * f32::from(shown) / 255.0,
            _ => 0.0,
        }
    });
    let error_map_rgb = magma(errors);
    Ok(ExactDifference { error_map_rgb, ..difference })
}
