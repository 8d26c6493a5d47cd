//! Draws what the aliasing measure compares: pictures along a sub-pixel pan, and the supersampled reference of each.
//!
//! The scene stands still at a few frame indices; what moves is the picture, by fractions of a pixel. docs/aliasing.md says
//! what is measured and why so.

mod pattern;
mod scene_hash;
#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};

use glam::Vec2;

use super::FrameError;
use crate::gpu::{Gpu, GpuError, Readback};
use crate::measure::aliasing::{Aliasing, PanStep, PlaceAliasing, Reference, ReferenceSum, measure_place};
use crate::measure::picture::{Picture, PictureError};
use crate::render::Renderer;
use crate::scene::Scene;

pub use pattern::{N_REFERENCE_SAMPLES, N_STEPS};
use pattern::{pan_px, reference_samples};
use scene_hash::{hash_assets, hash_world};

/// Pictures of one sample that are part of a reference's key: a change that escapes every other part shows in them.
const N_FINGERPRINTS: usize = 4;

/// Keeps references between runs: they are most of the work, and stay the same while the scene does.
pub trait ReferenceStore {
    /// The reference that was saved under `key` for a step; `None` if there is none that is whole.
    fn load(&self, key: &str, step_idx: u32) -> Option<Reference>;

    /// Keeps one. A store that can't is no fault of the measure.
    fn save(&self, key: &str, step_idx: u32, reference: &Reference);
}

/// What draws: all of one size, and no frame of any in flight.
pub struct AliasingRenderers<'a> {
    /// Draws the pictures that are measured.
    pub pictures: &'a mut Renderer,
    /// Draws the references, with one sample a pixel; `None` where `pictures` draws the same.
    pub references: Option<&'a mut Renderer>,
    /// As `references`, but without shadow rays: where the two differ is shadow. `None` where nothing casts any.
    pub unshadowed: Option<&'a mut Renderer>,
}

/// What to measure.
pub struct AliasingOptions<'a> {
    /// The places: frame indices at which the scene stands still.
    pub frames: &'a [u32],
    /// Names everything outside of the scene that a reference depends on: build, adapter, size, tone mapping …
    pub context: &'a str,
    /// Where references are kept.
    pub store: &'a dyn ReferenceStore,
}

/// What was measured, and what it looks like.
pub struct MeasuredAliasing {
    /// The numbers.
    pub aliasing: Aliasing,
    /// The first step of each place.
    pub shown: Vec<ShownStep>,
}

/// A picture beside its reference: RGBA, 8 bits a channel, sRGB, rows from the top.
pub struct ShownStep {
    /// As it was drawn.
    pub picture: Vec<u8>,
    /// What it should have been.
    pub reference: Vec<u8>,
}

/// Why aliasing could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum AliasingError {
    /// A picture could not be drawn.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Pictures could not be compared.
    #[error(transparent)]
    Picture(#[from] PictureError),
}

impl From<GpuError> for AliasingError {
    fn from(error: GpuError) -> Self {
        Self::Frame(error.into())
    }
}

impl AliasingRenderers<'_> {
    /// Pictures that [`measure_aliasing`] draws for one place, if no reference is kept.
    pub fn n_pictures_per_place(&self) -> u32 {
        let n_references = 1 + u32::from(self.unshadowed.is_some());
        N_STEPS + n_references * (N_FINGERPRINTS + reference_samples().len()) as u32
    }
}

/// Measures how far pictures are from their references.
///
/// `progress` is told how many pictures of all are done, and says whether to go on; `None` if it said no, or if there are no
/// places.
///
/// # Errors
/// The first fault of the GPU, or renderers of different sizes.
pub fn measure_aliasing(
    gpu: &Gpu,
    scene: &mut Scene,
    mut renderers: AliasingRenderers,
    options: &AliasingOptions,
    progress: &mut dyn FnMut(u32) -> bool,
) -> Result<Option<MeasuredAliasing>, AliasingError> {
    let size_px = renderers.pictures.size_px();
    let n_pictures_per_place = renderers.n_pictures_per_place();
    let context = format!("{}\nassets: {:016x}", options.context, hash_assets(&scene.assets));
    let mut drawing = Drawing { gpu, readback: Readback::new(gpu, size_px[0], size_px[1]), n_drawn: 0, progress };
    let (mut places, mut shown) = (Vec::new(), Vec::new());
    for (place_idx, &frame_idx) in options.frames.iter().enumerate() {
        scene.update(frame_idx);
        let view = View { scene, frame_idx };
        let Some(drawn) = draw_place(&mut drawing, &view, &mut renderers, &context, options.store)? else {
            return Ok(None);
        };
        places.push(drawn.compare(frame_idx, size_px)?);
        if let (Some(picture), Some(reference)) = (drawn.pictures.into_iter().next(), drawn.references.first()) {
            shown.push(ShownStep { picture, reference: reference.to_rgba8() });
        }
        // Where references were kept, fewer pictures were drawn than announced.
        if !drawing.skip_to((place_idx as u32 + 1) * n_pictures_per_place) {
            return Ok(None);
        }
    }
    let aliasing = Aliasing::of_places(size_px, N_STEPS, N_REFERENCE_SAMPLES, places);
    Ok(aliasing.map(|aliasing| MeasuredAliasing { aliasing, shown }))
}

/// Everything of one place; `None` if stopped.
fn draw_place(
    drawing: &mut Drawing,
    view: &View,
    renderers: &mut AliasingRenderers,
    context: &str,
    store: &dyn ReferenceStore,
) -> Result<Option<DrawnPlace>, AliasingError> {
    let Some(pictures) = draw_pictures(drawing, view, renderers.pictures)? else { return Ok(None) };
    let drawer = renderers.references.as_deref_mut().unwrap_or(&mut *renderers.pictures);
    let Some(references) = find_references(drawing, view, drawer, context, store)? else { return Ok(None) };
    let unshadowed = match renderers.unshadowed.as_deref_mut() {
        Some(drawer) => {
            let context = format!("{context}\nwithout shadow rays");
            let Some(unshadowed) = find_references(drawing, view, drawer, &context, store)? else { return Ok(None) };
            Some(unshadowed)
        }
        None => None,
    };
    Ok(Some(DrawnPlace { pictures, references, unshadowed }))
}

/// The picture of each step of the pan; `None` if stopped.
fn draw_pictures(
    drawing: &mut Drawing,
    view: &View,
    renderer: &mut Renderer,
) -> Result<Option<Vec<Vec<u8>>>, AliasingError> {
    (0..N_STEPS).map(|step_idx| drawing.draw(view, renderer, pan_px(step_idx))).collect()
}

/// The reference of each step, kept or drawn; `None` if stopped.
fn find_references(
    drawing: &mut Drawing,
    view: &View,
    renderer: &mut Renderer,
    context: &str,
    store: &dyn ReferenceStore,
) -> Result<Option<Vec<Reference>>, AliasingError> {
    let Some(fingerprint) = draw_fingerprint(drawing, view, renderer)? else { return Ok(None) };
    let key = format!(
        "{context}\nworld: {:016x}\nframe: {}\ncamera: {:?}\npictures: {fingerprint:016x}",
        hash_world(view.scene),
        view.frame_idx,
        view.scene.camera_view(),
    );
    let size_px = renderer.size_px();
    let kept = |step_idx| store.load(&key, step_idx).filter(|reference| reference.size_px() == size_px);
    if let Some(references) = (0..N_STEPS).map(kept).collect() {
        return Ok(Some(references));
    }
    let references = draw_references(drawing, view, renderer)?;
    for (step_idx, reference) in references.iter().flatten().enumerate() {
        store.save(&key, step_idx as u32, reference);
    }
    Ok(references)
}

/// A hash of a few pictures of one sample, spread over the pan.
fn draw_fingerprint(drawing: &mut Drawing, view: &View, renderer: &mut Renderer) -> Result<Option<u64>, AliasingError> {
    let samples = reference_samples();
    let mut hasher = DefaultHasher::new();
    for sample in samples.iter().step_by(samples.len().div_ceil(N_FINGERPRINTS)) {
        let Some(picture) = drawing.draw(view, renderer, sample.jitter_px)? else { return Ok(None) };
        picture.hash(&mut hasher);
    }
    Ok(Some(hasher.finish()))
}

/// Averages pictures of one sample in linear light, after tone mapping: the light that the display would emit over a pixel.
fn draw_references(
    drawing: &mut Drawing,
    view: &View,
    renderer: &mut Renderer,
) -> Result<Option<Vec<Reference>>, AliasingError> {
    let [width_px, height_px] = renderer.size_px();
    let mut sums: Vec<ReferenceSum> = (0..N_STEPS).map(|_| ReferenceSum::new(width_px, height_px)).collect();
    for sample in reference_samples() {
        let Some(pixels) = drawing.draw(view, renderer, sample.jitter_px)? else { return Ok(None) };
        let picture = Picture::new(width_px, height_px, &pixels)?;
        for step_idx in (0..N_STEPS).filter(|&step_idx| sample.is_in(step_idx)) {
            sums[step_idx as usize].add(&picture)?;
        }
    }
    Ok(Some(sums.into_iter().map(ReferenceSum::finish).collect()))
}

/// What was drawn of a place, by step.
struct DrawnPlace {
    /// RGBA bytes.
    pictures: Vec<Vec<u8>>,
    references: Vec<Reference>,
    unshadowed: Option<Vec<Reference>>,
}

impl DrawnPlace {
    fn compare(&self, frame_idx: u32, [width_px, height_px]: [u32; 2]) -> Result<PlaceAliasing, PictureError> {
        let steps: Result<Vec<PanStep>, PictureError> = (self.pictures.iter().zip(&self.references).enumerate())
            .map(|(step_idx, (pixels, reference))| {
                let picture = Picture::new(width_px, height_px, pixels)?;
                let unshadowed_reference = self.unshadowed.as_ref().and_then(|references| references.get(step_idx));
                Ok(PanStep { picture, reference, unshadowed_reference })
            })
            .collect();
        measure_place(frame_idx, &steps?)
    }
}

/// A scene that stands still, as of its last update.
struct View<'a> {
    scene: &'a Scene,
    frame_idx: u32,
}

/// Draws one picture at a time and reads it back.
struct Drawing<'a> {
    gpu: &'a Gpu,
    readback: Readback,
    n_drawn: u32,
    progress: &'a mut dyn FnMut(u32) -> bool,
}

impl Drawing<'_> {
    /// RGBA bytes; `None` if it shall stop.
    fn draw(
        &mut self,
        view: &View,
        renderer: &mut Renderer,
        jitter_px: Vec2,
    ) -> Result<Option<Vec<u8>>, AliasingError> {
        renderer.prepare_frame_jittered(view.scene, view.frame_idx, jitter_px);
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("praxis::frames::aliasing") });
        renderer.encode(&mut encoder)?;
        self.readback.record(&mut encoder, renderer.picture());
        self.gpu.queue.submit([encoder.finish()]);
        let submission = renderer.submitted();
        let pixels = self.readback.read(self.gpu)?;
        // Not wanted, but a slot that is not read can't be used again.
        if let Some(period_ns) = renderer.read_timestamps(submission, &mut Vec::new()) {
            period_ns?;
        }
        self.gpu.check_errors()?;
        Ok(self.skip_to(self.n_drawn + 1).then_some(pixels))
    }

    fn skip_to(&mut self, n_drawn: u32) -> bool {
        self.n_drawn = n_drawn;
        (self.progress)(n_drawn)
    }
}
