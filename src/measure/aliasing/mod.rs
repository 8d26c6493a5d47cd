//! How far pictures are from what they sample: docs/aliasing.md has the method, its spaces and its limits.
//!
//! Every picture along a sub-pixel pan of the camera is set beside a *reference*: the same view, many samples for each pixel.
//! [`ReferenceSum`] makes a reference of pictures, [`measure_place`] compares a place's pictures with theirs, and [`Aliasing`]
//! is what a run file keeps.

mod place;
mod reference;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RunFile;
use super::statistics::median;

pub use place::{EDGE_CONTRAST, PanStep, PlaceAliasing, measure_place};
pub use reference::{MOST_SAMPLES, Reference, ReferenceSum};

/// The schema that this version writes and reads.
pub const ALIASING_SCHEMA: &str = "praxis.aliasing/1";

/// The aliasing measures of a run, `aliasing` in its run file: medians over places, then each place.
///
/// Numbers compare between runs of one size and one set of places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aliasing {
    /// [`ALIASING_SCHEMA`].
    pub schema: String,
    /// The pictures' size, which is not always that of the timed frames.
    pub size_px: [u32; 2],
    /// Steps of the pan at each place.
    pub n_steps: u32,
    /// Samples for each pixel of a reference.
    pub n_reference_samples: u32,
    /// See [`PlaceAliasing::flip_mean`].
    pub flip_mean: f64,
    /// See [`PlaceAliasing::edge_error`].
    pub edge_error: Option<f64>,
    /// See [`PlaceAliasing::shadow_edge_error`].
    pub shadow_edge_error: Option<f64>,
    /// See [`PlaceAliasing::flicker_variance`].
    pub flicker_variance: f64,
    /// Every place.
    pub places: Vec<PlaceAliasing>,
}

impl Aliasing {
    /// The medians over `places`; `None` for no places.
    pub fn of_places(
        size_px: [u32; 2],
        n_steps: u32,
        n_reference_samples: u32,
        places: Vec<PlaceAliasing>,
    ) -> Option<Self> {
        let over_places =
            |number: fn(&PlaceAliasing) -> Option<f64>| median(&places.iter().filter_map(number).collect::<Vec<_>>());
        Some(Self {
            schema: ALIASING_SCHEMA.to_owned(),
            size_px,
            n_steps,
            n_reference_samples,
            flip_mean: over_places(|place| Some(place.flip_mean))?,
            edge_error: over_places(|place| place.edge_error),
            shadow_edge_error: over_places(|place| place.shadow_edge_error),
            flicker_variance: over_places(|place| Some(place.flicker_variance))?,
            places,
        })
    }

    /// What `run` holds; `None` where it was not measured, or by a program with measures of its own.
    pub fn of_run(run: &RunFile) -> Option<Self> {
        let value = run.aliasing.as_ref()?;
        (value.get("schema")? == ALIASING_SCHEMA).then(|| serde_json::from_value(value.clone()).ok()).flatten()
    }

    /// As a run file keeps it.
    pub fn to_value(&self) -> Value {
        serde_json::json!(self)
    }

    /// The flicker as an amplitude: the root of its variance, in displayed white.
    pub fn flicker_rms(&self) -> f64 {
        self.flicker_variance.sqrt()
    }

    /// Whether the numbers of both mean the same, so that a difference between them says something.
    pub fn is_comparable(&self, other: &Self) -> bool {
        let frames = |aliasing: &Self| aliasing.places.iter().map(|place| place.frame_idx).collect::<Vec<_>>();
        let method = |aliasing: &Self| (aliasing.size_px, aliasing.n_steps, aliasing.n_reference_samples);
        method(self) == method(other) && frames(self) == frames(other)
    }
}
