//! A supersampled picture: sums of displayed light, then 16 bits a channel.

use std::sync::LazyLock;

use crate::measure::picture::{Picture, PictureError};

/// What displayed white counts in [`ReferenceSum`]: large enough that the darkest step of 8 bits keeps three digits, small
/// enough for [`MOST_SAMPLES`] of them in 32 bits.
const WHITE: f64 = (1 << 24) as f64;

/// Samples of a pixel that a [`ReferenceSum`] holds at most.
pub const MOST_SAMPLES: u32 = 255;

/// Light that the display emits for each 16-bit sRGB-encoded value, 0 to 1. 8-bit values are in it at 257 times theirs.
static LIGHT_OF_ENCODED: LazyLock<Vec<f32>> =
    LazyLock::new(|| (0..=u16::MAX).map(|value| decode_srgb(f64::from(value) / 65_535.0) as f32).collect());

/// The same for 8-bit values, in units of 1 / [`WHITE`].
static UNITS_OF_BYTE: LazyLock<[u32; 256]> =
    LazyLock::new(|| std::array::from_fn(|byte| (decode_srgb(byte as f64 / 255.0) * WHITE).round() as u32));

/// sRGB (IEC 61966-2-1): from encoded to linear, both 0 to 1.
fn decode_srgb(encoded: f64) -> f64 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// sRGB (IEC 61966-2-1): from linear to encoded, both 0 to 1.
fn encode_srgb(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// Adds pictures up in linear light. The sums are integers: their order doesn't matter, and equal pictures average to
/// themselves exactly.
#[derive(Clone, Debug)]
pub struct ReferenceSum {
    width_px: u32,
    height_px: u32,
    n_added: u32,
    rgb: Vec<u32>,
}

impl ReferenceSum {
    /// Nothing yet, for pictures of this size.
    pub fn new(width_px: u32, height_px: u32) -> Self {
        let n_values = width_px as usize * height_px as usize * 3;
        Self { width_px, height_px, n_added: 0, rgb: vec![0; n_values] }
    }

    /// Adds one picture, its alpha left out. Pictures beyond [`MOST_SAMPLES`] are left out too.
    ///
    /// # Errors
    /// [`PictureError::Size`] for a picture of another size.
    pub fn add(&mut self, picture: &Picture) -> Result<(), PictureError> {
        let (expected, actual) = ((self.width_px, self.height_px), (picture.width_px(), picture.height_px()));
        if expected != actual {
            return Err(PictureError::Size { expected, actual });
        }
        if self.n_added < MOST_SAMPLES {
            self.n_added += 1;
            let units = &*UNITS_OF_BYTE;
            for (sum, pixel) in self.rgb.as_chunks_mut::<3>().0.iter_mut().zip(picture.pixels()) {
                for (sum, &byte) in sum.iter_mut().zip(pixel) {
                    *sum += units[byte as usize];
                }
            }
        }
        Ok(())
    }

    /// Pictures added so far.
    pub fn n_added(&self) -> u32 {
        self.n_added
    }

    /// The average of what was added; black if that is nothing.
    pub fn finish(self) -> Reference {
        let scale = 1.0 / (WHITE * f64::from(self.n_added.max(1)));
        // Large parts of a picture have one colour.
        let mut previous = (0, 0);
        let encode = |sum: u32| {
            if sum != previous.0 {
                previous = (sum, (encode_srgb(f64::from(sum) * scale) * 65_535.0).round() as u16);
            }
            previous.1
        };
        Reference {
            width_px: self.width_px,
            height_px: self.height_px,
            rgb: self.rgb.into_iter().map(encode).collect(),
        }
    }
}

/// A supersampled picture: RGB, 16 bits a channel, sRGB-encoded, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    width_px: u32,
    height_px: u32,
    rgb: Vec<u16>,
}

impl Reference {
    /// From its values, three for each pixel.
    ///
    /// # Errors
    /// [`PictureError::Bytes`] when the values don't fit the size; its counts are those of an 8-bit RGBA picture.
    pub fn new(width_px: u32, height_px: u32, rgb: Vec<u16>) -> Result<Self, PictureError> {
        let n_pixels = u64::from(width_px) * u64::from(height_px);
        if rgb.len() as u64 != n_pixels * 3 {
            let (expected, actual) = (n_pixels * 4, rgb.len() as u64 / 3 * 4);
            return Err(PictureError::Bytes { width_px, height_px, expected, actual });
        }
        Ok(Self { width_px, height_px, rgb })
    }

    /// Width and height.
    pub fn size_px(&self) -> [u32; 2] {
        [self.width_px, self.height_px]
    }

    /// Its values, three for each pixel.
    pub fn rgb(&self) -> &[u16] {
        &self.rgb
    }

    /// As an 8-bit picture: `4 * width * height` bytes, opaque.
    pub fn to_rgba8(&self) -> Vec<u8> {
        let byte = |value: u16| ((u32::from(value) + 128) / 257) as u8;
        self.rgb.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [byte(r), byte(g), byte(b), u8::MAX]).collect()
    }

    /// Luminance and luma of each pixel.
    pub(super) fn levels(&self) -> Levels {
        Levels::of(self.rgb.as_chunks::<3>().0.iter().copied())
    }
}

/// What the measures look at: one number for a pixel, in two spaces. 1 is displayed white.
pub(super) struct Levels {
    /// Linear light, weighted as the eye does (Rec. 709).
    pub luminance: Vec<f32>,
    /// The encoded values with the same weights: differences of it are about as large as they look.
    pub luma: Vec<f32>,
}

impl Levels {
    pub fn of_picture(picture: &Picture) -> Self {
        Self::of(picture.pixels().iter().map(|&[r, g, b, _]| [r, g, b].map(|byte| u16::from(byte) * 257)))
    }

    fn of(pixels: impl Iterator<Item = [u16; 3]>) -> Self {
        let light = &*LIGHT_OF_ENCODED;
        let (luminance, luma) = pixels
            .map(|rgb| {
                let weighted = |[r, g, b]: [f32; 3]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
                (weighted(rgb.map(|value| light[value as usize])), weighted(rgb.map(f32::from)) / 65_535.0)
            })
            .unzip();
        Self { luminance, luma }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn average(bytes: &[u8]) -> Reference {
        let mut sum = ReferenceSum::new(1, 1);
        for &byte in bytes {
            sum.add(&Picture::new(1, 1, &[byte, byte, byte, 255]).expect("one pixel")).expect("one size");
        }
        sum.finish()
    }

    #[test]
    fn aliasing_a_colour_averages_to_itself_exactly() {
        for byte in 0..=255u8 {
            let reference = average(&[byte; 64]);
            assert_eq!(reference.rgb(), [u16::from(byte) * 257; 3]);
            assert_eq!(reference.to_rgba8(), [byte, byte, byte, 255]);
            let pixel = [byte, byte, byte, 7];
            let of_picture = Levels::of_picture(&Picture::new(1, 1, &pixel).expect("one pixel"));
            assert_eq!(of_picture.luminance, reference.levels().luminance);
        }
    }

    #[test]
    fn aliasing_half_black_half_white_emits_half_the_light() {
        let reference = average(&[0, 255]);
        assert!((reference.levels().luminance[0] - 0.5).abs() < 2e-5);
        // sRGB's encoding of one half.
        assert_eq!(reference.to_rgba8(), [188, 188, 188, 255]);
    }

    #[test]
    fn aliasing_sums_hold_the_brightest_and_take_no_other_size() {
        assert_eq!(average(&[255; 300]).rgb(), [65_535; 3]);
        let mut sum = ReferenceSum::new(2, 1);
        assert!(sum.add(&Picture::new(1, 1, &[0; 4]).expect("one pixel")).is_err());
        assert!(Reference::new(2, 1, vec![0; 5]).is_err());
    }
}
