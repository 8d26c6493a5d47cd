//! The aliasing part of a bench: after the timed frames, so that it can't disturb them.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use anyhow::Context;
use praxis::frames::aliasing::{AliasingOptions, AliasingRenderers, MeasuredAliasing, measure_aliasing};
use praxis::measure::aliasing::Aliasing;
use praxis::measure::picture::{Picture, flip_difference};
use praxis::measure::{Adapter, Build};
use praxis::render::{RayMode, RenderOptions, Renderer};

use super::reference_cache::{LIMIT_BYTES, ReferenceCache};
use crate::commands::page::ALIASING_FOLDER;
use crate::commands::session::{Session, Stage};
use crate::commands::{png, terminal};

/// On a software adapter, which would need minutes for more.
const SOFTWARE_SIZE: [u32; 2] = [320, 180];

/// Measures at the first of the timed frames and at the middle one, and writes a picture of each place beside its reference
/// into `folder`. `None` if it was interrupted.
pub fn measure(
    session: &Session,
    stage: &mut Stage,
    n_frames: u32,
    (build, adapter): (&Build, &Adapter),
    folder: &Path,
    is_interrupted: &AtomicBool,
) -> anyhow::Result<Option<Aliasing>> {
    let mut frames = vec![0, n_frames / 2];
    frames.dedup();
    let [width_px, height_px] = size_px(session, stage);
    stage.resize(&session.gpu, [width_px, height_px])?;

    // References have one sample a pixel and a ray for it, whatever the pictures have: the same truth for all of them.
    let ray_mode = stage.renderer.ray_mode();
    let rays = if ray_mode == RayMode::Off { RayMode::Off } else { RayMode::Hard };
    let reference_options = RenderOptions { n_samples: 1, rays, n_frames_in_flight: 1, ..stage.options.clone() };
    let unshadowed_options = RenderOptions { rays: RayMode::Off, ..reference_options.clone() };
    let mut renderer = |is_needed: bool, options: &RenderOptions| {
        is_needed.then(|| Renderer::new(&session.gpu, &mut stage.scene, options)).transpose()
    };
    let mut references = renderer((stage.options.n_samples, ray_mode) != (1, rays), &reference_options)?;
    let mut unshadowed = renderer(rays != RayMode::Off, &unshadowed_options)?;
    let cache = ReferenceCache::of_user(session.args.quiet);
    let context = context(&stage.scene.name, &reference_options, build, adapter);
    let options = AliasingOptions { frames: &frames, context: &context, store: &cache };
    let renderers = AliasingRenderers {
        pictures: &mut stage.renderer,
        references: references.as_mut(),
        unshadowed: unshadowed.as_mut(),
    };
    let n_pictures = renderers.n_pictures_per_place() * frames.len() as u32;
    session.note_software_defaults(&format!(
        "measuring aliasing at {width_px}×{height_px} pixels with up to {n_pictures} pictures (--skip-aliasing leaves it out)"
    ));
    let bar = terminal::progress_bar(session.args.quiet, n_pictures);
    let measured = measure_aliasing(&session.gpu, &mut stage.scene, renderers, &options, &mut |n_done| {
        bar.set_position(u64::from(n_done));
        !is_interrupted.load(Ordering::Relaxed)
    })?;
    bar.finish_and_clear();
    session.gpu.save_pipeline_cache();
    cache.prune(LIMIT_BYTES);
    let Some(measured) = measured else { return Ok(None) };
    write_pictures(&folder.join(ALIASING_FOLDER), [width_px, height_px], &measured)?;
    Ok(Some(measured.aliasing))
}

fn size_px(session: &Session, stage: &Stage) -> [u32; 2] {
    match session.args.size {
        None if session.gpu.is_software() => SOFTWARE_SIZE,
        _ => stage.options.size_px,
    }
}

/// Everything outside of the scene that a reference depends on. A program that was built anew may draw anew, whatever its
/// commit says.
fn context(scene: &str, options: &RenderOptions, build: &Build, adapter: &Adapter) -> String {
    let program = std::env::current_exe().and_then(std::fs::metadata);
    let program = program.map(|file| (file.len(), file.modified().unwrap_or(SystemTime::UNIX_EPOCH)));
    let mut context = format!("praxis.reference/1\nscene: {scene}\nbuild: {build:?}");
    // Writing to a string can't fail.
    let _ = write!(context, "\nprogram: {program:?}");
    // How it submits changes no picture.
    let _ = write!(context, "\nadapter: {:?}", Adapter { submit_blocks: None, ..adapter.clone() });
    let _ = write!(context, "\noptions: {options:?}");
    context
}

/// For each place the first picture, its reference, and where FLIP sees a difference.
fn write_pictures(folder: &Path, [width_px, height_px]: [u32; 2], measured: &MeasuredAliasing) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("could not make the folder {}", folder.display()))?;
    for (place_idx, shown) in measured.shown.iter().enumerate() {
        let file = |what: &str| folder.join(format!("place{place_idx}_{what}.png"));
        for (what, pixels) in [("picture", &shown.picture), ("reference", &shown.reference)] {
            png::write(&file(what), &png::Rgba { width_px, height_px, pixels: pixels.clone() })?;
        }
        let picture = |pixels| Picture::new(width_px, height_px, pixels);
        let flip = flip_difference(&picture(&shown.reference)?, &picture(&shown.picture)?)?;
        png::write_rgb(&file("flip"), &flip.error_map_rgb, width_px, height_px)?;
    }
    Ok(())
}
