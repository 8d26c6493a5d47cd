//! Pictures to and from PNG files.

use std::path::Path;

use anyhow::Context;
use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use praxis::measure::write_atomically;

/// An RGBA picture, 8 bits a channel, sRGB, rows from the top.
pub struct Rgba {
    pub width_px: u32,
    pub height_px: u32,
    pub pixels: Vec<u8>,
}

/// Writes a picture whole or not at all.
pub fn write(path: &Path, picture: &Rgba) -> anyhow::Result<()> {
    write_bytes(path, &picture.pixels, picture.width_px, picture.height_px, image::ExtendedColorType::Rgba8)
}

/// Writes an RGB picture whole or not at all.
pub fn write_rgb(path: &Path, pixels: &[u8], width_px: u32, height_px: u32) -> anyhow::Result<()> {
    write_bytes(path, pixels, width_px, height_px, image::ExtendedColorType::Rgb8)
}

fn write_bytes(
    path: &Path,
    pixels: &[u8],
    width: u32,
    height: u32,
    color: image::ExtendedColorType,
) -> anyhow::Result<()> {
    let png =
        encode_bytes(pixels, width, height, color).with_context(|| format!("could not encode {}", path.display()))?;
    write_atomically(path, |file| file.write_all(&png))?;
    Ok(())
}

/// A picture as the bytes of a PNG file.
pub fn encode(picture: &Rgba) -> anyhow::Result<Vec<u8>> {
    encode_bytes(&picture.pixels, picture.width_px, picture.height_px, image::ExtendedColorType::Rgba8)
}

/// An RGB picture as the bytes of a PNG file.
pub fn encode_rgb(pixels: &[u8], width_px: u32, height_px: u32) -> anyhow::Result<Vec<u8>> {
    encode_bytes(pixels, width_px, height_px, image::ExtendedColorType::Rgb8)
}

fn encode_bytes(pixels: &[u8], width: u32, height: u32, color: image::ExtendedColorType) -> anyhow::Result<Vec<u8>> {
    let mut png = Vec::new();
    // Goldens are kept for years: small before fast.
    PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive)
        .write_image(pixels, width, height, color)
        .context("could not encode a picture")?;
    Ok(png)
}

/// Reads a picture.
pub fn read(path: &Path) -> anyhow::Result<Rgba> {
    let decoded = image::ImageReader::open(path)
        .with_context(|| format!("could not open {}", path.display()))?
        .decode()
        .with_context(|| format!("{} is no readable picture", path.display()))?
        .into_rgba8();
    Ok(Rgba { width_px: decoded.width(), height_px: decoded.height(), pixels: decoded.into_raw() })
}
