//! The measure on real pictures: small ones, on whatever device there is.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use super::*;
use crate::gpu::GpuOptions;
use crate::render::{RayMode, RenderOptions, Tonemap};
use crate::scene::{LoadOptions, MeshInstance};

fn gpu() -> Gpu {
    let options = GpuOptions { is_validating: true, ..Default::default() };
    Gpu::open(&options).expect("the tests need a Vulkan device; script/test installs a software one")
}

fn load(name: &str) -> Scene {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    Scene::load(name, &scenes, &LoadOptions { clock_ns: || 0, aspect: 1.5 }).expect("a scene of the repository")
}

fn renderer_with(gpu: &Gpu, scene: &mut Scene, size_px: [u32; 2], n_samples: u32, rays: RayMode) -> Renderer {
    let options = RenderOptions {
        size_px,
        n_samples,
        tonemap: Tonemap::Agx,
        exposure_ev100: None,
        rays,
        ray_backend: None,
        has_column_map: true,
        n_frames_in_flight: 1,
    };
    Renderer::new(gpu, scene, &options).expect("a small picture")
}

fn renderer(gpu: &Gpu, scene: &mut Scene, size_px: [u32; 2], n_samples: u32) -> Renderer {
    renderer_with(gpu, scene, size_px, n_samples, RayMode::Off)
}

/// One sample a pixel, and no rays: all is drawn by one.
fn alone(renderer: &mut Renderer) -> AliasingRenderers<'_> {
    AliasingRenderers { pictures: renderer, references: None, unshadowed: None }
}

/// Keeps references in memory and remembers what it was asked for.
#[derive(Default)]
struct Memory {
    references: RefCell<HashMap<(String, u32), Reference>>,
    asked: RefCell<Vec<String>>,
}

impl ReferenceStore for Memory {
    fn load(&self, key: &str, step_idx: u32) -> Option<Reference> {
        self.asked.borrow_mut().push(key.to_owned());
        self.references.borrow().get(&(key.to_owned(), step_idx)).cloned()
    }

    fn save(&self, key: &str, step_idx: u32, reference: &Reference) {
        self.references.borrow_mut().insert((key.to_owned(), step_idx), reference.clone());
    }
}

/// Measures `scene` at its first frame; the numbers, and how many pictures were drawn.
fn measure(gpu: &Gpu, scene: &mut Scene, size_px: [u32; 2], n_samples: u32, store: &Memory) -> (Aliasing, u32) {
    let mut pictures = renderer(gpu, scene, size_px, n_samples);
    let mut references = (n_samples != 1).then(|| renderer(gpu, scene, size_px, 1));
    let options = AliasingOptions { frames: &[0], context: "a test", store };
    let renderers = AliasingRenderers { pictures: &mut pictures, references: references.as_mut(), unshadowed: None };
    let mut n_calls = 0;
    let measured = measure_aliasing(gpu, scene, renderers, &options, &mut |_| {
        n_calls += 1;
        true
    });
    // The last call says that the place is done.
    (measured.expect("it draws").expect("nobody stopped it").aliasing, n_calls - 1)
}

#[test]
fn aliasing_ranks_one_sample_worse_than_four() {
    let (gpu, size_px) = (gpu(), [96, 64]);
    for name in ["materials", "alpha"] {
        let (mut scene, store) = (load(name), Memory::default());
        let (four, n_drawn) = measure(&gpu, &mut scene, size_px, 4, &store);
        assert_eq!(n_drawn, 203);
        let (one, n_drawn) = measure(&gpu, &mut scene, size_px, 1, &store);
        assert_eq!(n_drawn, N_STEPS + N_FINGERPRINTS as u32, "both have the same references");
        let edge_error = |aliasing: &Aliasing| aliasing.edge_error.expect("the scene has edges");
        assert!(one.flip_mean > 1.15 * four.flip_mean, "{name}: {one:?} {four:?}");
        assert!(edge_error(&one) > 1.3 * edge_error(&four), "{name}: {one:?} {four:?}");
        assert!(one.flicker_variance > 1.5 * four.flicker_variance, "{name}: {one:?} {four:?}");
    }
}

#[test]
fn aliasing_measures_the_same_each_time() {
    let (gpu, size_px) = (gpu(), [40, 24]);
    let store = Memory::default();
    let (drawn, n_drawn) = measure(&gpu, &mut load("cornell"), size_px, 4, &store);
    let (drawn_again, n_drawn_again) = measure(&gpu, &mut load("cornell"), size_px, 4, &Memory::default());
    assert_eq!((&drawn, n_drawn), (&drawn_again, n_drawn_again));
    let (kept, n_drawn_with_kept) = measure(&gpu, &mut load("cornell"), size_px, 4, &store);
    assert!(n_drawn_with_kept < n_drawn / 4);
    assert_eq!(drawn, kept, "kept references are the drawn ones");
    assert!(drawn.flip_mean > 0.0 && drawn.flicker_variance > 0.0, "{drawn:?}");

    // A store that holds one step's reference only, or one of another size, is as good as empty.
    for (_, reference) in store.references.borrow_mut().iter_mut().take(1) {
        *reference = ReferenceSum::new(3, 3).finish();
    }
    let (mended, n_drawn_mended) = measure(&gpu, &mut load("cornell"), size_px, 4, &store);
    assert_eq!((mended, n_drawn_mended), (drawn, n_drawn));
}

#[test]
fn aliasing_stops_when_told_to() {
    let gpu = gpu();
    let mut scene = load("cornell");
    let mut pictures = renderer(&gpu, &mut scene, [16, 16], 1);
    for n_wanted in [1, N_STEPS, N_STEPS + 2, N_STEPS + 9] {
        let options = AliasingOptions { frames: &[0, 1], context: "", store: &Memory::default() };
        let mut n_done = 0;
        let measured = measure_aliasing(&gpu, &mut scene, alone(&mut pictures), &options, &mut |n| {
            n_done = n;
            n < n_wanted
        });
        assert!(measured.expect("it draws").is_none());
        assert_eq!(n_done, n_wanted);
    }
}

#[test]
fn aliasing_ranks_hard_shadows_worse_than_edge_rays() {
    let (gpu, size_px) = (gpu(), [96, 64]);
    let (mut scene, mut store) = (load("alpha"), Memory::default());
    let measure = |scene: &mut Scene, rays| {
        let mut pictures = renderer_with(&gpu, scene, size_px, 4, rays);
        let mut references = renderer_with(&gpu, scene, size_px, 1, RayMode::Hard);
        let mut unshadowed = renderer(&gpu, scene, size_px, 1);
        let renderers = AliasingRenderers {
            pictures: &mut pictures,
            references: Some(&mut references),
            unshadowed: Some(&mut unshadowed),
        };
        let options = AliasingOptions { frames: &[0], context: "a test", store: &store };
        let measured = measure_aliasing(&gpu, scene, renderers, &options, &mut |_| true);
        measured.expect("it draws").expect("nobody stopped it").aliasing
    };
    let [hard, edge] = [RayMode::Hard, RayMode::Edge].map(|rays| measure(&mut scene, rays));
    let error = |aliasing: &Aliasing| aliasing.shadow_edge_error.expect("the scene has shadows");
    assert!(error(&hard) > 1.2 * error(&edge), "{hard:?} {edge:?}");
    assert!(hard.flicker_variance > edge.flicker_variance, "{hard:?} {edge:?}");
    let n_sets = store.references.get_mut().len() as u32 / N_STEPS;
    assert_eq!(n_sets, 2, "both have the same references, and those without rays are kept apart");
}

#[test]
fn aliasing_without_shadows_there_is_no_edge_of_one() {
    let gpu = gpu();
    let (mut scene, store) = (load("alpha"), Memory::default());
    let mut pictures = renderer(&gpu, &mut scene, [32, 24], 1);
    let mut unshadowed = renderer(&gpu, &mut scene, [32, 24], 1);
    let renderers = AliasingRenderers { pictures: &mut pictures, references: None, unshadowed: Some(&mut unshadowed) };
    assert_eq!(renderers.n_pictures_per_place(), 203 + 195);
    let options = AliasingOptions { frames: &[0], context: "a test", store: &store };
    let measured = measure_aliasing(&gpu, &mut scene, renderers, &options, &mut |_| true);
    let aliasing = measured.expect("it draws").expect("nobody stopped it").aliasing;
    assert_eq!((aliasing.shadow_edge_error, aliasing.places[0].shadow_edge_fraction), (None, Some(0.0)));
    assert!(aliasing.edge_error.is_some_and(|error| error > 0.0), "{aliasing:?}");
}

/// The key under which `scene`'s references are looked for.
fn key(gpu: &Gpu, scene: &mut Scene, frame_idx: u32, context: &str) -> String {
    let mut pictures = renderer(gpu, scene, [24, 16], 1);
    let store = Memory::default();
    let options = AliasingOptions { frames: &[frame_idx], context, store: &store };
    let is_wanted = &mut |n_done| n_done <= N_STEPS + N_FINGERPRINTS as u32;
    measure_aliasing(gpu, scene, alone(&mut pictures), &options, is_wanted).expect("it draws");
    store.asked.borrow().first().expect("it was asked").clone()
}

#[test]
fn aliasing_references_are_found_by_all_that_changes_them() {
    let gpu = gpu();
    let first = key(&gpu, &mut load("cornell"), 0, "a");
    assert_eq!(first, key(&gpu, &mut load("cornell"), 0, "a"));
    let mut keys = vec![first];
    keys.push(key(&gpu, &mut load("cornell"), 0, "b"));
    keys.push(key(&gpu, &mut load("cornell"), 1, "a"));
    keys.push(key(&gpu, &mut load("materials"), 0, "a"));

    let mut scene = load("cornell");
    let mut view = scene.camera_view();
    view.world_from_view.translation.x += 1e-6 + view.world_from_view.translation.x * 1e-6;
    scene.override_camera(Some(view));
    keys.push(key(&gpu, &mut scene, 0, "a"));

    // Changes that no picture of this size shows.
    let mut scene = load("cornell");
    scene.assets.meshes.last_mut().expect("it has meshes").colors[0][3] ^= 1;
    keys.push(key(&gpu, &mut scene, 0, "a"));
    let mut scene = load("cornell");
    scene.assets.materials.last_mut().expect("it has materials").roughness += 1e-6;
    keys.push(key(&gpu, &mut scene, 0, "a"));
    let mut scene = load("cornell");
    let mut instances = scene.world.query::<&mut MeshInstance>();
    instances.iter_mut(&mut scene.world).next().expect("it has instances").tint[0] -= 1e-6;
    keys.push(key(&gpu, &mut scene, 0, "a"));

    let n_keys = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), n_keys);
}

#[test]
fn aliasing_a_whole_pixel_of_jitter_moves_the_picture_by_it() {
    let (gpu, [width, height]) = (gpu(), [72, 48]);
    for name in ["materials", "alpha", "cornell"] {
        let mut scene = load(name);
        let mut pictures = renderer_with(&gpu, &mut scene, [width, height], 4, RayMode::Edge);
        scene.update(0);
        let view = View { scene: &scene, frame_idx: 0 };
        let readback = Readback::new(&gpu, width, height);
        let mut drawing = Drawing { gpu: &gpu, readback, n_drawn: 0, progress: &mut |_| true };
        let mut draw =
            |jitter_px| drawing.draw(&view, &mut pictures, jitter_px).expect("it draws").expect("it goes on");
        let (still, moved) = (draw(Vec2::ZERO), draw(Vec2::new(2.0, 1.0)));
        let pixel = |picture: &[u8], x: u32, y: u32| {
            let start = 4 * (y * width + x) as usize;
            [picture[start], picture[start + 1], picture[start + 2]]
        };
        let inside = || (1..height).flat_map(|y| (2..width).map(move |x| (x, y)));
        let differs = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).any(|(a, b)| a.abs_diff(b) > 2);
        let n_wrong = inside().filter(|&(x, y)| differs(pixel(&moved, x, y), pixel(&still, x - 2, y - 1))).count();
        let n_unmoved = inside().filter(|&(x, y)| differs(pixel(&moved, x, y), pixel(&still, x, y))).count();
        // Rounding may tip a sample at an edge.
        assert!(n_wrong <= 5, "{name}: {n_wrong} pixels are not where they should be");
        assert!(n_unmoved > 100, "{name}: a picture that is the same everywhere proves nothing");
    }
}
