//! Proof that the goldens can fail: each fault is really made, in the scene before it is uploaded where it can be, else in
//! the picture's bytes, and must turn its golden red in both lanes. Without a fault the same drawing must be green.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_ecs::entity::Entity;
use praxis::frames::{FrameLoop, WaitLog, render_frames};
use praxis::gpu::{Gpu, GpuOptions, Readback, read_buffer};
use praxis::measure::FrameLog;
use praxis::measure::picture::{GoldenComparison, GoldenLane, GoldenView, Goldens, Picture, compare_with_golden};
use praxis::pacing::{FrameWait, HybridSleep};
use praxis::render::{RenderOptions, Renderer, Tonemap};
use praxis::scene::{LoadOptions, PointLight, Scene};

/// A fault: what it does to the scene, to the frame drawn, and to the picture.
struct Mutation {
    name: &'static str,
    golden: &'static str,
    /// `None` where the picture's bytes alone are at fault.
    scene: Option<fn(&mut Scene)>,
    n_frames_stale: u32,
    picture: fn(&Drawn) -> Vec<u8>,
}

/// What was drawn.
struct Drawn {
    width_px: usize,
    rgba: Vec<u8>,
    /// Rows as the GPU copied them, each padded to a multiple of 256 bytes.
    padded_rows: Vec<u8>,
}

const NONE: Mutation =
    Mutation { name: "none", golden: "", scene: None, n_frames_stale: 0, picture: |drawn| drawn.rgba.clone() };

const MUTATIONS: &[Mutation] = &[
    Mutation { name: "blank textures", golden: "alpha", scene: Some(blank_textures), ..NONE },
    Mutation { name: "sRGB textures taken for linear", golden: "alpha", scene: Some(textures_without_srgb), ..NONE },
    Mutation { name: "a dropped light", golden: "cornell", scene: Some(drop_brightest_light), ..NONE },
    Mutation { name: "a frame one too old", golden: "motion", scene: Some(|_| {}), n_frames_stale: 1, ..NONE },
    Mutation { name: "a frame three too old", golden: "motion", scene: Some(|_| {}), n_frames_stale: 3, ..NONE },
    Mutation { name: "one pixel to the right", golden: "alpha", picture: |drawn| shifted(drawn, 4), ..NONE },
    Mutation {
        name: "one pixel down",
        golden: "materials",
        picture: |drawn| shifted(drawn, drawn.width_px * 4),
        ..NONE
    },
    Mutation {
        name: "not sRGB encoded",
        golden: "materials",
        picture: |drawn| recoded(drawn, linear_from_srgb),
        ..NONE
    },
    Mutation {
        name: "sRGB encoded twice",
        golden: "cornell",
        picture: |drawn| recoded(drawn, srgb_from_linear),
        ..NONE
    },
    Mutation { name: "row padding not stripped", golden: "alpha_odd", picture: with_padding, ..NONE },
];

#[test]
fn golden_mutations_turn_each_golden_red() {
    let folder = repository().join("goldens");
    let list = folder.join("goldens.toml");
    let text = std::fs::read_to_string(&list).expect("the list is there");
    let goldens = Goldens::parse(&text, &list).expect("the list is well-formed");
    let gpu = Gpu::open(&GpuOptions::default()).expect("an adapter");

    let mut wrong = Vec::new();
    let mut judge = |mutation: &Mutation, drawn: &Drawn, must_pass: bool, lane: GoldenLane| {
        let golden = image::open(folder.join(format!("{}.png", mutation.golden))).expect("it is blessed").into_rgba8();
        let actual = (mutation.picture)(drawn);
        let picture = |rgba| Picture::new(golden.width(), golden.height(), rgba).expect("it has the golden's size");
        let comparison = compare_with_golden(
            &picture(golden.as_raw()),
            &picture(&actual),
            lane,
            &goldens.thresholds(mutation.golden),
        )
        .expect("they have one size");
        let line = format!("{} of {} in the {lane:?} lane: {}", mutation.name, mutation.golden, numbers(&comparison));
        println!("{line}");
        if comparison.passes() != must_pass {
            wrong.push(line);
        }
    };

    // Each golden without a fault, drawn once: faults of the picture's bytes are made in that.
    let mut untouched: BTreeMap<&str, Drawn> = BTreeMap::new();
    for mutation in MUTATIONS {
        let view = &goldens.views[mutation.golden];
        let whole = Mutation { golden: mutation.golden, ..NONE };
        if !untouched.contains_key(mutation.golden) {
            let drawn = draw(&gpu, view, &whole);
            judge(&whole, &drawn, true, GoldenLane::Flip);
            // Only the driver that drew the goldens, at their vector width, is held to them channel by channel.
            let is_width_fixed = std::env::var("LP_NATIVE_VECTOR_WIDTH").is_ok_and(|bits| bits == "256");
            if is_width_fixed && goldens.lane(gpu.is_software(), &gpu.info.driver_info) == GoldenLane::Software {
                judge(&whole, &drawn, true, GoldenLane::Software);
            }
            untouched.insert(mutation.golden, drawn);
        }
        let redrawn = mutation.scene.map(|_| draw(&gpu, view, mutation));
        let mutated = redrawn.as_ref().unwrap_or(&untouched[mutation.golden]);
        judge(mutation, mutated, false, GoldenLane::Flip);
        judge(mutation, mutated, false, GoldenLane::Software);
    }
    assert!(wrong.is_empty(), "red without a fault, or green with one:\n{}", wrong.join("\n"));
}

fn numbers(comparison: &GoldenComparison) -> String {
    let exact = &comparison.numbers.exact;
    match &comparison.numbers.flip {
        Some(flip) => format!("mean {:.4}, p99 {:.4}, worst tile {:.4}", flip.mean, flip.p99, flip.worst_tile.mean),
        None => format!("{:.3}% differ, most by {}", 100.0 * exact.differing_fraction(), exact.max_difference),
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn draw(gpu: &Gpu, view: &GoldenView, mutation: &Mutation) -> Drawn {
    let [width_px, height_px] = view.size_px;
    let is_name = Path::new(&view.scene).components().count() == 1;
    let reference = if is_name { PathBuf::from(&view.scene) } else { repository().join(&view.scene) };
    let load_options = LoadOptions { clock_ns: || 0, aspect: width_px as f32 / height_px as f32 };
    let mut scene = Scene::load(&reference.to_string_lossy(), &repository().join("scenes"), &load_options)
        .expect("the scene loads");
    scene.set_camera(&view.camera).expect("it has the camera");
    mutation.scene.iter().for_each(|change| change(&mut scene));

    let options = RenderOptions {
        size_px: view.size_px,
        n_samples: view.msaa,
        tonemap: Tonemap::default(),
        exposure_ev100: None,
        n_frames_in_flight: 1,
        rays: praxis::render::RayMode::Edge,
        ray_backend: None,
        has_column_map: true,
    };
    let mut renderer = Renderer::new(gpu, &mut scene, &options).expect("the scene fits");
    let frame = FrameLoop {
        n_warmup: 0,
        n_frames: 1,
        first_frame: view.frame - mutation.n_frames_stale,
        wait: FrameWait::Block,
        hybrid_sleep: HybridSleep::default(),
        times_polls: false,
        n_frames_in_flight: 1,
        submit_blocks: false,
        injection: None,
    };
    let mut log = FrameLog::default();
    let mut waits = WaitLog::with_capacity(1);
    render_frames(gpu, &mut scene, &mut renderer, &frame, &mut log, &mut waits, &mut |_| true)
        .expect("the frame is drawn");

    let readback = Readback::new(gpu, width_px, height_px);
    let row_bytes = (width_px * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let padded = gpu.factory.buffer("golden_mutations::padded", u64::from(row_bytes * height_px), usage);
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    readback.record(&mut encoder, renderer.picture());
    encoder.copy_texture_to_buffer(
        renderer.picture().as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &padded,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row_bytes), rows_per_image: None },
        },
        wgpu::Extent3d { width: width_px, height: height_px, depth_or_array_layers: 1 },
    );
    gpu.queue.submit([encoder.finish()]);
    let rgba = readback.read(gpu).expect("the picture comes back");
    let padded_rows = read_buffer(gpu, &padded).expect("the rows come back");
    Drawn { width_px: width_px as usize, rgba, padded_rows }
}

fn blank_textures(scene: &mut Scene) {
    assert!(!scene.assets.images.is_empty());
    for image in &mut scene.assets.images {
        image.rgba8 = Arc::new(vec![255; image.rgba8.len()]);
    }
}

fn textures_without_srgb(scene: &mut Scene) {
    assert!(scene.assets.images.iter().any(|image| image.is_srgb));
    scene.assets.images.iter_mut().for_each(|image| image.is_srgb = false);
}

fn drop_brightest_light(scene: &mut Scene) {
    let mut lights = scene.world.query::<(Entity, &PointLight)>();
    let brightest = lights.iter(&scene.world).max_by(|a, b| a.1.intensity_cd.total_cmp(&b.1.intensity_cd));
    let (entity, _) = brightest.expect("there is a light");
    scene.world.entity_mut(entity).remove::<PointLight>();
}

/// The picture moved by `n_bytes`; what leaves at the end comes in at the start.
fn shifted(drawn: &Drawn, n_bytes: usize) -> Vec<u8> {
    let mut rgba = drawn.rgba.clone();
    rgba.rotate_right(n_bytes);
    rgba
}

fn recoded(drawn: &Drawn, curve: fn(f32) -> f32) -> Vec<u8> {
    let recode = |byte: u8| (curve(f32::from(byte) / 255.0) * 255.0).round() as u8;
    drawn.rgba.as_chunks().0.iter().flat_map(|&[r, g, b, alpha]| [recode(r), recode(g), recode(b), alpha]).collect()
}

/// IEC 61966-2-1.
fn srgb_from_linear(linear: f32) -> f32 {
    if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

fn linear_from_srgb(srgb: f32) -> f32 {
    if srgb <= 0.040_45 { srgb / 12.92 } else { ((srgb + 0.055) / 1.055).powf(2.4) }
}

/// As many bytes as the picture has, taken as if rows had no padding.
fn with_padding(drawn: &Drawn) -> Vec<u8> {
    assert!(drawn.padded_rows.len() > drawn.rgba.len(), "this size needs no padding");
    drawn.padded_rows[..drawn.rgba.len()].to_vec()
}
