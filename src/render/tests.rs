//! Tests of the renderer on a real device (software or not) and on wgpu's no-op backend.

use bevy_ecs::prelude::World;
use glam::{Affine3A, Quat, Vec3};

use super::gpu_scene::{BUCKETS, GpuScene};
use super::layout::{self, DrawCommand, N_LODS};
use super::*;
use crate::gpu::{GpuOptions, Readback, read_buffer};
use crate::scene::assets::{Aabb, AlphaMode, Assets, Material, MaterialId, Mesh, MeshId};
use crate::scene::{Hierarchy, HierarchyBuilder, LoadOptions, MeshInstance, NO_PARENT, Slot};

fn gpu() -> Gpu {
    let options = GpuOptions { is_validating: true, ..Default::default() };
    Gpu::open(&options).expect("the tests need a Vulkan device; script/test installs a software one")
}

fn noop_gpu() -> Gpu {
    Gpu::open(&GpuOptions { is_noop: true, is_validating: true, ..Default::default() }).expect("wgpu's no-op backend")
}

fn options(size_px: [u32; 2], n_samples: u32) -> RenderOptions {
    RenderOptions {
        size_px,
        n_samples,
        tonemap: Tonemap::Agx,
        exposure_ev100: None,
        rays: RayMode::Edge,
        ray_backend: None,
        has_column_map: true,
        n_frames_in_flight: 2,
    }
}

fn load(name: &str) -> Scene {
    let scenes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    Scene::load(name, &scenes, &LoadOptions { clock_ns: || 0, aspect: 1.5 }).expect("a scene of the repository")
}

/// A tetrahedron around the origin, too small for levels of detail.
fn tetrahedron() -> Mesh {
    let positions = vec![[0.5, 0.5, 0.5], [-0.5, -0.5, 0.5], [-0.5, 0.5, -0.5], [0.5, -0.5, -0.5]];
    Mesh {
        name: "tetrahedron".into(),
        normals: positions.iter().map(|&p| Vec3::from(p).normalize().into()).collect(),
        tangents: vec![[1.0, 0.0, 0.0, 1.0]; 4],
        uv0: vec![[0.0; 2]; 4],
        uv1: vec![[0.0; 2]; 4],
        colors: vec![[255; 4]; 4],
        indices: vec![0, 1, 3, 0, 2, 1, 0, 3, 2, 1, 2, 3],
        bounds: Aabb::from_points(positions.iter().map(|&p| p.into())),
        positions,
    }
}

/// A deterministic number from 0 to 1.
fn random(seed: &mut u64) -> f32 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 40) as f32 / (1u64 << 24) as f32
}

/// `n` tetrahedra of two meshes and three materials, scattered around the origin.
fn scattered(n: u32) -> (World, Assets) {
    let mut seed = 7;
    let mut builder = HierarchyBuilder::default();
    for _ in 0..n {
        let place = Vec3::from_array(std::array::from_fn(|_| random(&mut seed) * 80.0 - 40.0));
        let turn = Quat::from_rotation_y(random(&mut seed) * 6.0);
        let scale = Vec3::new(0.3 + 2.0 * random(&mut seed), 1.0, if random(&mut seed) < 0.2 { -1.0 } else { 1.0 });
        builder.add(NO_PARENT, Affine3A::from_scale_rotation_translation(scale, turn, place));
    }
    let (hierarchy, slots) = builder.build();
    let mut world = World::new();
    world.insert_resource(hierarchy);
    for (i, slot) in slots.into_iter().enumerate() {
        let (mesh, material) = (MeshId(i as u32 % 2), MaterialId(i as u32 % 3));
        world.spawn((Slot(slot), MeshInstance { mesh, material, tint: [1.0; 3] }));
    }
    let mut assets = Assets { meshes: vec![tetrahedron(), tetrahedron()], ..Default::default() };
    assets.materials.push(Material { is_double_sided: true, ..Default::default() });
    assets.materials.push(Material { alpha_mode: AlphaMode::Mask { cutoff: 0.5 }, ..Default::default() });
    (world, assets)
}

fn read<T: bytemuck::Pod>(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<T> {
    bytemuck::pod_collect_to_vec(&read_buffer(gpu, buffer).expect("a buffer that can be copied"))
}

/// Runs the cull pass for a camera at the origin that looks along -Z.
fn cull(gpu: &Gpu, gpu_scene: &GpuScene) -> layout::Frame {
    use crate::scene::{CameraView, Projection};
    let projection = Projection::Perspective { fov_y: 1.0, near: 0.1 };
    let view = CameraView { world_from_view: Affine3A::IDENTITY, projection };
    let camera = camera::CameraMatrices::new(&view, [64, 48], Vec2::ZERO);
    let frame = layout::Frame {
        planes: camera.planes.map(Into::into),
        near: 0.1,
        px_per_metre: camera.px_per_metre,
        lod_error_px: 0.5,
        camera_backward: [0.0, 0.0, 1.0, 0.0],
        n_translucent: gpu_scene.counts.n_translucent,
        ..Default::default()
    };
    gpu.queue.write_buffer(&gpu_scene.buffers.frame, 0, bytemuck::bytes_of(&frame));
    let pass = passes::Cull::new(gpu, gpu_scene);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    pass.record(&mut encoder.begin_compute_pass(&Default::default()));
    gpu.queue.submit([encoder.finish()]);
    gpu.check_errors().expect("no validation error");
    frame
}

#[test]
fn culling_keeps_exactly_what_the_frustum_touches_and_draws_the_nearest_first() {
    let gpu = gpu();
    let (mut world, assets) = scattered(3000);
    let gpu_scene = GpuScene::new(&gpu, &mut world, &assets).expect("a small scene");
    let frame = cull(&gpu, &gpu_scene);

    let instances: Vec<layout::Instance> = read(&gpu, &gpu_scene.buffers.instances);
    let transforms: Vec<layout::Transform> = read(&gpu, &gpu_scene.buffers.transforms);
    let meshes: Vec<layout::Mesh> = read(&gpu, &gpu_scene.buffers.meshes);
    let visible: Vec<u32> = read(&gpu, &gpu_scene.buffers.visible);
    let commands: Vec<DrawCommand> = read(&gpu, &gpu_scene.buffers.commands);
    let n_commands: Vec<u32> = read(&gpu, &gpu_scene.buffers.n_commands);

    let mut drawn = Vec::new();
    for (bucket, range) in gpu_scene.commands_of[..BUCKETS.len()].iter().enumerate() {
        let first = range.first_command as usize;
        for command in &commands[first..first + n_commands[bucket] as usize] {
            assert!(command.n_instances > 0 && command.n_indices == 12, "{command:?}");
            let region = command.first_instance as usize..(command.first_instance + command.n_instances) as usize;
            drawn.extend(visible[region].iter().map(|entry| entry & 0x3fff_ffff));
        }
    }
    let expected: Vec<u32> = (0..instances.len() as u32)
        .filter(|&i| {
            let instance = instances[i as usize];
            let rows = transforms[instance.transform_idx as usize].rows;
            let column = |c: usize| Vec3::new(rows[0][c], rows[1][c], rows[2][c]);
            let mesh = meshes[instance.mesh_idx as usize];
            let center = Vec3::from(mesh.center);
            let center = column(0) * center.x + column(1) * center.y + column(2) * center.z + column(3);
            let radius = mesh.radius * (0..3).map(|c| column(c).length()).fold(0.0, f32::max);
            frame.planes.iter().all(|p| Vec3::new(p[0], p[1], p[2]).dot(center) + p[3] >= -radius)
        })
        .collect();
    assert!(expected.len() > 100 && expected.len() < 1500, "{} of 3000 make a poor test", expected.len());
    let mut in_instance_order = drawn.clone();
    in_instance_order.sort_unstable();
    assert_eq!(in_instance_order, expected);

    // Each bucket's commands come nearest first, by where their group's nearest instance ends.
    let far_end = |entry: u32| {
        let instance = instances[entry as usize];
        let rows = transforms[instance.transform_idx as usize].rows;
        let column = |c: usize| Vec3::new(rows[0][c], rows[1][c], rows[2][c]);
        let scale = (0..3).map(|c| column(c).length()).fold(0.0, f32::max);
        column(3).length() + meshes[instance.mesh_idx as usize].radius * scale
    };
    for (bucket, range) in gpu_scene.commands_of[..BUCKETS.len()].iter().enumerate() {
        let first = range.first_command as usize;
        let nearest: Vec<f32> = commands[first..first + n_commands[bucket] as usize]
            .iter()
            .map(|command| {
                let region = command.first_instance as usize..(command.first_instance + command.n_instances) as usize;
                visible[region].iter().map(|entry| far_end(entry & 0x3fff_ffff)).fold(f32::MAX, f32::min)
            })
            .collect();
        assert!(nearest.is_sorted_by(|a, b| a <= b || (a - b) < 1e-4), "bucket {bucket}: {nearest:?}");
    }
}

#[test]
fn groups_larger_than_a_workgroup_can_cull_are_split() {
    let gpu = noop_gpu();
    let (mut world, assets) = scattered(12_000);
    let gpu_scene = GpuScene::new(&gpu, &mut world, &assets).expect("fits");
    let n_commands: u32 = gpu_scene.commands_of[..BUCKETS.len()].iter().map(|range| range.n_commands).sum();
    assert_eq!(n_commands, gpu_scene.counts.n_groups * N_LODS as u32);
    assert!(gpu_scene.counts.n_groups >= 12, "{} groups for 12,000 instances", gpu_scene.counts.n_groups);
}

#[test]
fn scattering_the_moved_list_brings_every_transform_up_to_date() {
    let gpu = gpu();
    let (mut world, assets) = scattered(500);
    let gpu_scene = GpuScene::new(&gpu, &mut world, &assets).expect("a small scene");
    let moved: Vec<layout::MovedTransform> = {
        let mut hierarchy = world.resource_mut::<Hierarchy>();
        for slot in (0..500).step_by(3) {
            let local = Affine3A::from_translation(Vec3::splat(slot as f32));
            hierarchy.set_local(slot, local);
        }
        hierarchy.propagate();
        let place = |slot: u32| gpu_scene.transform_of_slot[slot as usize];
        let moved = hierarchy.world_moved().iter();
        moved
            .map(|&slot| layout::MovedTransform { slot: place(slot), transform: hierarchy.world(slot).into() })
            .collect()
    };
    let frame = layout::Frame { n_moved: moved.len() as u32, ..Default::default() };
    gpu.queue.write_buffer(&gpu_scene.buffers.frame, 0, bytemuck::bytes_of(&frame));
    gpu.queue.write_buffer(&gpu_scene.buffers.moved, 0, bytemuck::cast_slice(&moved));
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    passes::Scatter::new(&gpu, &gpu_scene)
        .record(&mut encoder.begin_compute_pass(&Default::default()), moved.len() as u32);
    gpu.queue.submit([encoder.finish()]);

    let transforms: Vec<layout::Transform> = read(&gpu, &gpu_scene.buffers.transforms);
    let hierarchy = world.resource::<Hierarchy>();
    assert_eq!(moved.len(), 167);
    for slot in 0..500 {
        let expected = layout::Transform::from(hierarchy.world(slot));
        assert_eq!(transforms[gpu_scene.transform_of_slot[slot as usize] as usize], expected, "slot {slot}");
    }
}

/// Draws frame after frame, one at a time.
struct Drawing {
    gpu: Gpu,
    scene: Scene,
    renderer: Renderer,
}

impl Drawing {
    fn new(gpu: Gpu, mut scene: Scene, options: &RenderOptions) -> Self {
        let renderer = Renderer::new(&gpu, &mut scene, options).expect("a small scene");
        Self { gpu, scene, renderer }
    }

    fn draw(&mut self, frame_idx: u32) {
        self.scene.update(frame_idx);
        self.renderer.prepare_frame(&self.scene, frame_idx);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.renderer.encode(&mut encoder).expect("the upload ring has room");
        self.gpu.queue.submit([encoder.finish()]);
        let submission = self.renderer.submitted();
        self.gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("the frame ends");
        if let Some(result) = self.renderer.read_timestamps(submission, &mut Vec::new()) {
            result.expect("the frame has been waited on");
        }
        self.gpu.check_errors().expect("no validation error");
    }

    fn picture(&self) -> Vec<u8> {
        let [width, height] = self.renderer.size_px();
        let readback = Readback::new(&self.gpu, width, height);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        readback.record(&mut encoder, self.renderer.picture());
        self.gpu.queue.submit([encoder.finish()]);
        readback.read(&self.gpu).expect("a picture")
    }
}

#[test]
fn a_steady_frame_creates_no_resource() {
    let mut drawing = Drawing::new(gpu(), load("alpha"), &options([48, 32], 4));
    drawing.draw(0);
    let n_created = drawing.gpu.factory.n_created();
    assert!(n_created > 50, "the count must count something");
    for frame_idx in 1..=100 {
        drawing.draw(frame_idx);
    }
    assert_eq!(drawing.gpu.factory.n_created(), n_created);
}

#[test]
fn the_same_frame_is_the_same_picture_each_time() {
    let first = {
        let mut drawing = Drawing::new(gpu(), load("alpha"), &options([97, 61], 4));
        drawing.draw(0);
        drawing.picture()
    };
    let mut drawing = Drawing::new(gpu(), load("alpha"), &options([97, 61], 4));
    for frame_idx in [0, 1, 2, 0] {
        drawing.draw(frame_idx);
    }
    assert!(first == drawing.picture(), "a second renderer drew another picture");
    assert!(first.chunks(4).any(|pixel| pixel != &first[..4]), "a picture of one colour proves nothing");
}

#[test]
fn one_sample_and_four_agree_away_from_edges() {
    let pictures = [1, 4].map(|n_samples| {
        let mut drawing = Drawing::new(gpu(), load("materials"), &options([120, 80], n_samples));
        drawing.draw(0);
        drawing.picture()
    });
    let n_pixels = 120 * 80;
    let n_different = pictures[0]
        .chunks(4)
        .zip(pictures[1].chunks(4))
        .filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 3))
        .count();
    assert!(n_different > 20, "with four samples some edges must be smoother");
    assert!(n_different < n_pixels / 3, "{n_different} of {n_pixels} pixels differ");
}

#[test]
fn resizing_to_odd_sizes_and_back_gives_the_same_picture() {
    let mut drawing = Drawing::new(gpu(), load("cornell"), &options([64, 48], 4));
    drawing.draw(0);
    let before = drawing.picture();
    for size_px in [[1, 1], [333, 7], [64, 48]] {
        drawing.renderer.resize(&drawing.gpu, size_px).expect("small sizes");
        drawing.draw(0);
        assert_eq!(drawing.picture().len() as u32, 4 * size_px[0] * size_px[1]);
    }
    assert!(before == drawing.picture());
}

#[test]
fn every_frame_encodes_without_a_driver() {
    for scene in ["cornell", "materials", "alpha"] {
        let mut drawing = Drawing::new(noop_gpu(), load(scene), &options([64, 48], 4));
        for frame_idx in 0..5 {
            drawing.draw(frame_idx);
        }
    }
}

#[test]
fn a_picture_beyond_the_adapters_limit_is_an_error_that_names_it() {
    let gpu = noop_gpu();
    let limit = gpu.device.limits().max_texture_dimension_2d;
    let error = Renderer::new(&gpu, &mut load("cornell"), &options([limit + 1, 8], 4)).err().expect("too large");
    assert!(error.to_string().contains(&format!("{} pixels", limit + 1)), "{error}");
}

/// Triangles that the last frame drew, by bucket.
fn n_drawn_triangles(drawing: &Drawing) -> Vec<u64> {
    let scene = &drawing.renderer.gpu_scene;
    let commands: Vec<DrawCommand> = read(&drawing.gpu, &scene.buffers.commands);
    let n_commands: Vec<u32> = read(&drawing.gpu, &scene.buffers.n_commands);
    let drawn = scene.commands_of.iter().zip(&n_commands).map(|(range, n)| {
        let commands = &commands[range.first_command as usize..(range.first_command + n) as usize];
        commands.iter().map(|command| u64::from(command.n_indices / 3) * u64::from(command.n_instances)).sum()
    });
    drawn.collect()
}

#[test]
#[ignore = "prints how much of town is drawn along the bench path; takes a minute"]
fn town_triangles_along_the_bench_path() {
    let mut scene = load("town");
    let camera = scene.bench_camera().to_owned();
    scene.set_camera(&camera).expect("a camera of the scene");
    let mut drawing = Drawing::new(gpu(), scene, &options([2560, 1440], 1));
    println!("{:?}", drawing.renderer.counts());
    for frame_idx in (0..1800).step_by(150) {
        drawing.draw(frame_idx);
        let drawn = n_drawn_triangles(&drawing);
        println!("frame {frame_idx}: {} triangles, by bucket {drawn:?}", drawn.iter().sum::<u64>());
    }
}
