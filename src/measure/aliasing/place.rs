//! The numbers of one place: pictures along a sub-pixel pan, each beside its reference.

use serde::{Deserialize, Serialize};

use super::reference::{Levels, Reference};
use crate::measure::picture::{Picture, PictureError, flip_difference};

/// A pixel is at an edge where luma, 0 to 1, spans more than this in its 3×3 neighbourhood of the reference.
pub const EDGE_CONTRAST: f32 = 0.1;

/// One step of the pan.
#[derive(Clone, Copy, Debug)]
pub struct PanStep<'a> {
    /// As it was drawn.
    pub picture: Picture<'a>,
    /// What it should have been.
    pub reference: &'a Reference,
    /// The reference drawn without shadow rays: where the two differ is shadow. `None` where nothing casts any.
    pub unshadowed_reference: Option<&'a Reference>,
}

/// How far a place's pictures are from their references. Light is relative to displayed white.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaceAliasing {
    /// Where the scene and its camera stood still.
    pub frame_idx: u32,
    /// Mean FLIP error over pixels and steps, 0 to 1.
    pub flip_mean: f64,
    /// Mean absolute error of linear luminance over edge pixels and steps; `None` without edges.
    pub edge_error: Option<f64>,
    /// The part of all pixels that are at an edge.
    pub edge_fraction: f64,
    /// The same error over pixels at the edge of a shadow; `None` without shadow rays, or without such pixels.
    pub shadow_edge_error: Option<f64>,
    /// The part of all pixels that are at the edge of a shadow; `None` without shadow rays.
    pub shadow_edge_fraction: Option<f64>,
    /// Variance over the steps of picture minus reference, in linear luminance, as a mean over pixels.
    pub flicker_variance: f64,
}

/// Compares the pictures of a place with their references. Without steps all is zero.
///
/// # Errors
/// [`PictureError::Size`] unless all pictures and references have one size.
pub fn measure_place(frame_idx: u32, steps: &[PanStep]) -> Result<PlaceAliasing, PictureError> {
    let Some(first) = steps.first() else { return Ok(PlaceAliasing { frame_idx, ..PlaceAliasing::default() }) };
    let (width_px, height_px) = (first.picture.width_px(), first.picture.height_px());
    check_sizes(steps, (width_px, height_px))?;
    let mut edges = MaskedError::default();
    let mut shadow_edges = MaskedError::default();
    let mut errors = Vec::with_capacity(steps.len());
    for step in steps {
        let (picture, reference) = (Levels::of_picture(&step.picture), step.reference.levels());
        let signed = picture.luminance.iter().zip(&reference.luminance).map(|(picture, reference)| picture - reference);
        let error: Vec<f32> = signed.collect();
        edges.add(&error, &spans(&reference.luma, width_px as usize, height_px as usize));
        if let Some(unshadowed) = step.unshadowed_reference {
            let unshadowed = unshadowed.levels();
            let shadow: Vec<f32> = unshadowed.luma.iter().zip(&reference.luma).map(|(lit, seen)| lit - seen).collect();
            shadow_edges.add(&error, &spans(&shadow, width_px as usize, height_px as usize));
        }
        errors.push(error);
    }
    let has_shadows = steps.iter().any(|step| step.unshadowed_reference.is_some());
    Ok(PlaceAliasing {
        frame_idx,
        flip_mean: mean_flip(steps)?,
        edge_error: edges.mean(),
        edge_fraction: edges.fraction(),
        shadow_edge_error: shadow_edges.mean(),
        shadow_edge_fraction: has_shadows.then(|| shadow_edges.fraction()),
        flicker_variance: mean_variance(&errors),
    })
}

fn check_sizes(steps: &[PanStep], expected: (u32, u32)) -> Result<(), PictureError> {
    for step in steps {
        let picture = [step.picture.width_px(), step.picture.height_px()];
        let references = [Some(step.reference), step.unshadowed_reference];
        let sizes = references.into_iter().flatten().map(Reference::size_px).chain([picture]);
        for [width_px, height_px] in sizes {
            if (width_px, height_px) != expected {
                return Err(PictureError::Size { expected, actual: (width_px, height_px) });
            }
        }
    }
    Ok(())
}

/// FLIP takes seconds for a large picture, and hundreds of megabytes: several at once, but not all.
fn mean_flip(steps: &[PanStep]) -> Result<f64, PictureError> {
    let n_threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(4));
    let mut sum = 0.0;
    for some in steps.chunks(n_threads) {
        let means: Vec<Result<f64, PictureError>> = std::thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|step| scope.spawn(|| flip_of(step))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        for mean in means {
            sum += mean?;
        }
    }
    Ok(sum / steps.len() as f64)
}

fn flip_of(step: &PanStep) -> Result<f64, PictureError> {
    let reference = step.reference.to_rgba8();
    let [width_px, height_px] = step.reference.size_px();
    Ok(flip_difference(&Picture::new(width_px, height_px, &reference)?, &step.picture)?.mean)
}

/// Greatest minus least value of each pixel's 3×3 neighbourhood, which ends at the picture's border.
fn spans(values: &[f32], width: usize, height: usize) -> Vec<f32> {
    let around = |at: usize, size: usize| at.saturating_sub(1)..(at + 2).min(size);
    let span = |x: usize, y: usize| {
        let (mut least, mut greatest) = (f32::INFINITY, f32::NEG_INFINITY);
        for row in around(y, height) {
            for &value in &values[row * width..][around(x, width)] {
                (least, greatest) = (least.min(value), greatest.max(value));
            }
        }
        greatest - least
    };
    (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| span(x, y)).collect()
}

/// Mean absolute error over the pixels at an edge, of all steps.
#[derive(Default)]
struct MaskedError {
    sum: f64,
    n_edge: u64,
    n_pixels: u64,
}

impl MaskedError {
    fn add(&mut self, error: &[f32], span: &[f32]) {
        self.n_pixels += error.len() as u64;
        for (error, _) in error.iter().zip(span).filter(|(_, span)| **span > EDGE_CONTRAST) {
            self.sum += f64::from(error.abs());
            self.n_edge += 1;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.n_edge > 0).then(|| self.sum / self.n_edge as f64)
    }

    fn fraction(&self) -> f64 {
        self.n_edge as f64 / self.n_pixels.max(1) as f64
    }
}

/// The population variance over the steps of each pixel's error, as a mean over pixels: the steps are all there are, not a
/// sample of more.
fn mean_variance(errors: &[Vec<f32>]) -> f64 {
    let n_pixels = errors.first().map_or(0, Vec::len);
    let n_steps = errors.len().max(1) as f64;
    let variance = |pixel_idx: usize| {
        let of_pixel = || errors.iter().map(|error| f64::from(error[pixel_idx]));
        let mean = of_pixel().sum::<f64>() / n_steps;
        of_pixel().map(|error| (error - mean).powi(2)).sum::<f64>() / n_steps
    };
    (0..n_pixels).map(variance).sum::<f64>() / n_pixels.max(1) as f64
}
