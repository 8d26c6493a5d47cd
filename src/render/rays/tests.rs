//! Rays against a brute-force tracer, and what shadows must look like.

use std::path::{Path, PathBuf};

use glam::{Affine3A, DVec3, Quat, Vec2, Vec3};
use rayon::prelude::*;

use super::bottom::BottomLevels;
use super::top::TopLevel;
use super::*;
use crate::gpu::{GpuOptions, Readback, read_buffer};
use crate::render::bindings::{SceneBindings, compute_pipeline};
use crate::render::camera::CameraMatrices;
use crate::render::gpu_scene::GpuScene;
use crate::render::layout::RayInstance;
use crate::render::{RenderOptions, Renderer, Tonemap, shaders, sky};
use crate::scene::assets::{AlphaMode, Assets};
use crate::scene::{LoadOptions, MeshInstance, Scene, Slot};

const LIT: u8 = 255;
const DARK: u8 = 0;

fn gpu() -> Gpu {
    let options = GpuOptions { is_validating: true, ..Default::default() };
    Gpu::open(&options).expect("the tests need a Vulkan device; script/test installs a software one")
}

fn load(path: &Path) -> Scene {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let options = LoadOptions { clock_ns: || 0, aspect: 1.0 };
    Scene::load(&path.to_string_lossy(), &scenes, &options).expect("a scene that loads")
}

/// A deterministic number from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn within(&mut self, low: Vec3, high: Vec3) -> Vec3 {
        low + (high - low) * Vec3::new(self.next(), self.next(), self.next())
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.within(Vec3::NEG_ONE, Vec3::ONE);
            if (0.01..=1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }
}

/// A folder with a scene of one's own: triangle meshes without materials.
struct SceneFolder(tempfile::TempDir);

impl SceneFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for temporary files"))
    }

    /// Writes `NAME.gltf` with one mesh; without normals, for the importer to find flat ones, or with them.
    fn add_mesh(&self, name: &str, positions: &[[f32; 3]], indices: &[u32], normals: Option<&[[f32; 3]]>) {
        let mut bytes = bytemuck::cast_slice::<_, u8>(indices).to_vec();
        let positions_at = bytes.len();
        bytes.extend(bytemuck::cast_slice::<_, u8>(positions));
        let normals_at = bytes.len();
        bytes.extend(bytemuck::cast_slice::<_, u8>(normals.unwrap_or_default()));
        let (low, high) = positions
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| (low.min(p.into()), high.max(p.into())));
        let mut accessors = vec![
            serde_json::json!({"bufferView": 0, "componentType": 5125, "count": indices.len(), "type": "SCALAR"}),
            serde_json::json!({"bufferView": 1, "componentType": 5126, "count": positions.len(), "type": "VEC3",
                "min": low.to_array(), "max": high.to_array()}),
        ];
        let mut views = vec![
            serde_json::json!({"buffer": 0, "byteOffset": 0, "byteLength": positions_at}),
            serde_json::json!({"buffer": 0, "byteOffset": positions_at, "byteLength": normals_at - positions_at}),
        ];
        let mut attributes = serde_json::json!({"POSITION": 1});
        if normals.is_some() {
            let count = positions.len();
            accessors.push(serde_json::json!({"bufferView": 2, "componentType": 5126, "count": count, "type": "VEC3"}));
            let length = bytes.len() - normals_at;
            views.push(serde_json::json!({"buffer": 0, "byteOffset": normals_at, "byteLength": length}));
            attributes["NORMAL"] = 2.into();
        }
        let document = serde_json::json!({
            "asset": {"version": "2.0"},
            "buffers": [{"uri": format!("{name}.bin"), "byteLength": bytes.len()}],
            "bufferViews": views,
            "accessors": accessors,
            "meshes": [{"primitives": [{"attributes": attributes, "indices": 0}]}],
            "nodes": [{"mesh": 0}],
            "scenes": [{"nodes": [0]}],
            "scene": 0,
        });
        std::fs::write(self.0.path().join(format!("{name}.bin")), bytes).expect("a file");
        std::fs::write(self.0.path().join(format!("{name}.gltf")), document.to_string()).expect("a file");
    }

    fn add_box(&self, name: &str, low: Vec3, high: Vec3) {
        let corners: Vec<[f32; 3]> = (0..8)
            .map(|i| {
                let pick = |bit: usize, low: f32, high: f32| if i >> bit & 1 == 0 { low } else { high };
                [pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z)]
            })
            .collect();
        const QUADS: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let indices: Vec<u32> = QUADS.iter().flat_map(|&[a, b, c, d]| [a, b, c, a, c, d]).collect();
        self.add_mesh(name, &corners, &indices, None);
    }

    /// A horizontal square from -1 to 1.
    fn add_plane(&self, name: &str) {
        let corners = [[-1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0]];
        self.add_mesh(name, &corners, &[0, 1, 2, 0, 2, 3], None);
    }

    /// A sphere of radius 1, smooth.
    fn add_sphere(&self, name: &str, n_rings: u32) {
        let n_around = 2 * n_rings;
        let mut positions = Vec::new();
        for ring in 0..=n_rings {
            for step in 0..=n_around {
                let (polar, azimuth) = (
                    std::f32::consts::PI * ring as f32 / n_rings as f32,
                    std::f32::consts::TAU * step as f32 / n_around as f32,
                );
                positions.push([polar.sin() * azimuth.sin(), polar.cos(), polar.sin() * azimuth.cos()]);
            }
        }
        let mut indices = Vec::new();
        for ring in 0..n_rings {
            for step in 0..n_around {
                let i = ring * (n_around + 1) + step;
                indices.extend([i, i + n_around + 1, i + n_around + 2, i, i + n_around + 2, i + 1]);
            }
        }
        self.add_mesh(name, &positions, &indices, Some(&positions));
    }

    /// Writes the scene and loads it.
    fn scene(&self, sun: &str, camera: &str, models: &[&str], nodes: &str) -> Scene {
        let path: PathBuf = self.0.path().join("test.ron");
        let models: String = models.iter().map(|name| format!("{name:?}: (file: \"{name}.gltf\"),")).collect();
        let text = format!(
            "(schema: \"praxis.scene/1\", sun: {sun}, models: {{{models}}}, cameras: {{\"c\": {camera}}}, nodes: [{nodes}])"
        );
        std::fs::write(&path, text).expect("a file");
        load(&path)
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct TestRay {
    origin: [f32; 3],
    t_max: f32,
    direction: [f32; 3],
    _pad: f32,
}

/// Traces lists of rays with the shaders' own function.
struct Tracer {
    gpu: Gpu,
    gpu_scene: GpuScene,
    bindings: SceneBindings,
    casters: Casters,
    rays: Rays,
}

impl Tracer {
    fn new(scene: &mut Scene) -> Self {
        Self::with_backend(scene, RayBackend::Bvh)
    }

    fn with_backend(scene: &mut Scene, backend: RayBackend) -> Self {
        let gpu = gpu();
        let (gpu_scene, casters) = GpuScene::with_casters(&gpu, &mut scene.world, &scene.assets).expect("fits");
        let environment = sky::bake(&gpu, &scene.sun());
        let bindings = SceneBindings::new(&gpu, &gpu_scene, &environment);
        let rays = Rays::new(&gpu, &casters, scene.hierarchy(), RayMode::Hard, backend).expect("fits");
        Self { gpu, gpu_scene, bindings, casters, rays }
    }

    fn trace(&mut self, hierarchy: &Hierarchy, test_rays: &[TestRay]) -> Vec<bool> {
        let mut frame = Frame::default();
        self.rays.prepare(hierarchy, &mut frame);
        let queue = &self.gpu.queue;
        queue.write_buffer(&self.gpu_scene.buffers.frame, 0, bytemuck::bytes_of(&frame));
        if let Structures::Bvh(bvh) = &self.rays.structures {
            queue.write_buffer(&bvh.nodes, 0, bvh.top.node_bytes());
            queue.write_buffer(&bvh.instances, 0, bvh.top.instance_bytes());
        }

        use wgpu::BufferUsages as Use;
        let factory = &self.gpu.factory;
        let list = factory.buffer_init("rays", bytemuck::cast_slice(test_rays), Use::STORAGE);
        let found = factory.buffer("found", 4 * test_rays.len() as u64, Use::STORAGE | Use::COPY_SRC);
        let list_layout = layout(&self.gpu, "rays", wgpu::ShaderStages::COMPUTE, &[Kind::Read, Kind::ReadWrite]);
        let group = factory.bind_group("rays", &list_layout, &[&list, &found].map(wgpu::Buffer::as_entire_binding));
        let module = factory.shader("rays", shaders::ray_test(self.rays.variant()));
        let textures = self.rays.has_masked.then_some(&self.bindings.textures_layout);
        let groups = [textures, Some(&self.bindings.scene_layout), Some(&list_layout), Some(&self.rays.layout)];
        let pipeline = compute_pipeline(&self.gpu, &module, "trace", &groups, &[]);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        if let Structures::Query(query) = &mut self.rays.structures {
            query.record_build(&mut encoder);
        }
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            if self.rays.has_masked {
                pass.set_bind_group(0, &self.bindings.textures, &[]);
            }
            pass.set_bind_group(1, &self.bindings.scene, &[]);
            pass.set_bind_group(2, &group, &[]);
            pass.set_bind_group(3, &self.rays.group, &[]);
            pass.dispatch_workgroups((test_rays.len() as u32).div_ceil(64), 1, 1);
        }
        self.gpu.queue.submit([encoder.finish()]);
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&read_buffer(&self.gpu, &found).expect("a result"));
        self.gpu.check_errors().expect("no validation error");
        words[..test_rays.len()].iter().map(|&word| word == 1).collect()
    }
}

/// Every triangle of every caster in world space, with what its mask needs; all in 64 bits.
struct BruteForce<'a> {
    assets: &'a Assets,
    triangles: Vec<BruteTriangle>,
}

struct BruteTriangle {
    corners: [DVec3; 3],
    material: usize,
    uv: [[f32; 2]; 3],
}

/// What is certain about a ray: whether something is hit well inside, and whether anything is hit even by a hair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdict {
    is_surely_blocked: bool,
    is_blocked: bool,
    is_maybe_blocked: bool,
}

impl<'a> BruteForce<'a> {
    /// From the world and the assets: nothing of what was built for the rays.
    fn new(scene: &'a mut Scene) -> Self {
        let mut found = scene.world.query::<(&Slot, &MeshInstance)>();
        let hierarchy = scene.world.resource::<Hierarchy>();
        let assets = &scene.assets;
        let mut triangles = Vec::new();
        for (slot, instance) in found.iter(&scene.world) {
            let (mesh, material) = (&assets.meshes[instance.mesh.0 as usize], instance.material.0 as usize);
            if assets.materials[material].alpha_mode == AlphaMode::Blend {
                continue;
            }
            let world = glam::DAffine3::from_mat4(glam::DMat4::from_cols_array(
                &glam::Mat4::from(*hierarchy.world(slot.0)).to_cols_array().map(f64::from),
            ));
            let point = |i: u32| world.transform_point3(Vec3::from(mesh.positions[i as usize]).as_dvec3());
            triangles.extend(mesh.indices.chunks_exact(3).map(|t| BruteTriangle {
                corners: [point(t[0]), point(t[1]), point(t[2])],
                material,
                uv: [t[0], t[1], t[2]].map(|i| mesh.uv0[i as usize]),
            }));
        }
        Self { assets, triangles }
    }

    fn trace(&self, ray: &TestRay, ignores_masks: bool) -> Verdict {
        let origin = Vec3::from(ray.origin).as_dvec3();
        let direction = Vec3::from(ray.direction).as_dvec3();
        let t_max = f64::from(ray.t_max);
        let mut verdict = Verdict { is_surely_blocked: false, is_blocked: false, is_maybe_blocked: false };
        for triangle in &self.triangles {
            // Möller & Trumbore 1997.
            let [p0, p1, p2] = triangle.corners;
            let (e1, e2) = (p1 - p0, p2 - p0);
            let p = direction.cross(e2);
            let determinant = e1.dot(p);
            if determinant.abs() < 1e-30 {
                continue;
            }
            let s = origin - p0;
            let u = s.dot(p) / determinant;
            let q = s.cross(e1);
            let v = direction.dot(q) / determinant;
            let t = e2.dot(q) / determinant;
            let inside = u.min(v).min(1.0 - u - v);
            // Rounding moves a hit by as much as the numbers are large and the triangle is seen edge on.
            let sine = (e1.cross(e2).normalize().dot(direction.normalize())).abs().max(1e-9);
            let slack = 2e-6 * (1.0 + s.length()) / sine;
            let graze = 1e-4 + slack / e1.length().min(e2.length()).min((p2 - p1).length());
            if inside < -graze || t < -slack || t > t_max + slack {
                continue;
            }
            let (stops, is_clear) = if ignores_masks { (true, true) } else { self.mask_stops(triangle, u, v) };
            verdict.is_blocked |= stops && inside >= 0.0 && t > 0.0 && t < t_max;
            let is_well_inside = inside > graze && t > slack && t < t_max - slack;
            verdict.is_surely_blocked |= stops && is_clear && is_well_inside;
            verdict.is_maybe_blocked |= stops || !is_clear;
        }
        verdict
    }

    /// Whether the ray is stopped, and whether the alpha is far enough from the cutoff to be sure.
    fn mask_stops(&self, triangle: &BruteTriangle, u: f64, v: f64) -> (bool, bool) {
        let material = &self.assets.materials[triangle.material];
        let AlphaMode::Mask { cutoff } = material.alpha_mode else { return (true, true) };
        let Some(texture) = &material.base_color_texture else { return (material.base_color[3] >= cutoff, true) };
        let image = &self.assets.images[texture.image.0 as usize];
        let weights = [1.0 - u - v, u, v];
        let uv: [f64; 2] =
            std::array::from_fn(|c| (0..3).map(|i| weights[i] * f64::from(triangle.uv[i][c])).sum::<f64>());
        let (x, y) = (uv[0] * f64::from(image.width) - 0.5, uv[1] * f64::from(image.height) - 0.5);
        let texel = |x: f64, y: f64| {
            let wrap = |i: f64, n: u32| (i as i64).rem_euclid(i64::from(n)) as usize;
            let at = wrap(y, image.height) * image.width as usize + wrap(x, image.width);
            f64::from(image.rgba8[4 * at + 3]) / 255.0
        };
        let (x0, y0, fx, fy) = (x.floor(), y.floor(), x - x.floor(), y - y.floor());
        let row = |y: f64| texel(x0, y) * (1.0 - fx) + texel(x0 + 1.0, y) * fx;
        let alpha = f64::from(material.base_color[3]) * (row(y0) * (1.0 - fy) + row(y0 + 1.0) * fy);
        // Texture units weigh texels in steps of 1/256.
        (alpha >= f64::from(cutoff), (alpha - f64::from(cutoff)).abs() > 0.02)
    }
}

/// Rays from around a box, some of them short, towards points in it and anywhere.
fn random_rays(n: usize, low: Vec3, high: Vec3, seed: u64) -> Vec<TestRay> {
    let mut random = Random(seed);
    let size = (high - low).length();
    (0..n)
        .map(|i| {
            let margin = Vec3::splat(0.2 * size);
            let origin = random.within(low - margin, high + margin);
            let direction =
                if i % 3 == 0 { random.direction() } else { (random.within(low, high) - origin).normalize_or(Vec3::X) };
            let t_max = if i % 4 == 0 { size * random.next() } else { 1e30 };
            TestRay { origin: origin.into(), t_max, direction: direction.into(), _pad: 0.0 }
        })
        .collect()
}

/// Compares on `n` rays; returns how many were blocked.
fn compare(name: &str, scene: &mut Scene, tracer: &mut Tracer, n: usize, seed: u64) -> usize {
    let bounds = scene.bounds();
    let test_rays = random_rays(n, bounds.min, bounds.max, seed);
    let ours = tracer.trace(scene.hierarchy(), &test_rays);
    let brute = BruteForce::new(scene);
    let theirs: Vec<Verdict> = test_rays.par_iter().map(|ray| brute.trace(ray, false)).collect();
    let mut n_grazes = 0;
    for ((ray, &is_blocked), verdict) in test_rays.iter().zip(&ours).zip(&theirs) {
        let is_right = if is_blocked { verdict.is_maybe_blocked } else { !verdict.is_surely_blocked };
        assert!(is_right, "{name}: {is_blocked} for {ray:?}, which is no graze: {verdict:?}");
        n_grazes += usize::from(is_blocked != verdict.is_blocked);
    }
    assert!(n_grazes * 10_000 <= n.max(10_000), "{name}: {n_grazes} of {n} rays differ");
    println!("{name}: {n_grazes} of {n} rays differ, all of them grazes");
    let n_blocked = ours.iter().filter(|&&is_blocked| is_blocked).count();
    assert!(n_blocked > n / 20 && n_blocked < n * 19 / 20, "{name}: {n_blocked} of {n} blocked make a poor test");
    n_blocked
}

#[test]
fn rays_agree_with_brute_force_on_a_box() {
    let mut scene = load(Path::new("cornell"));
    let mut tracer = Tracer::new(&mut scene);
    compare("cornell", &mut scene, &mut tracer, 40_000, 1);
}

#[test]
fn rays_agree_with_brute_force_on_a_soup_of_triangles() {
    let folder = SceneFolder::new();
    let mut random = Random(5);
    let mut positions: Vec<[f32; 3]> = Vec::new();
    for _ in 0..2000 {
        let center = random.within(Vec3::splat(-10.0), Vec3::splat(10.0));
        let size = 0.1 + 1.5 * random.next() * random.next();
        positions.extend([0; 3].map(|_| (center + size * random.direction()).to_array()));
    }
    let indices: Vec<u32> = (0..6000).collect();
    folder.add_mesh("soup", &positions, &indices, None);
    let still = "Still(position: (0, 0, 30), target: (0, 0, 0), fov_y_deg: 50)";
    let mut scene = folder.scene("()", still, &["soup"], "(name: \"soup\", model: \"soup\")");
    let mut tracer = Tracer::new(&mut scene);
    assert_eq!(tracer.rays.stats.n_static_triangles, 2000);
    compare("soup", &mut scene, &mut tracer, 30_000, 2);
}

#[test]
fn rays_pass_the_holes_of_masked_geometry_and_nothing_else() {
    let mut scene = load(Path::new("alpha"));
    let mut tracer = Tracer::new(&mut scene);
    assert!(tracer.rays.has_masked);
    compare("alpha", &mut scene, &mut tracer, 40_000, 3);

    // Around the leaves: rays that only a hole lets through.
    let is_masked = |caster: &&Caster| caster.is_masked;
    let mut bounds = crate::scene::assets::Aabb::EMPTY;
    for caster in tracer.casters.list.iter().filter(is_masked) {
        let mesh = &scene.assets.meshes[caster.mesh_idx as usize];
        bounds = bounds.union(mesh.bounds.transformed(&caster.world_from_local));
    }
    let test_rays = random_rays(4000, bounds.min, bounds.max, 4);
    let ours = tracer.trace(scene.hierarchy(), &test_rays);
    let brute = BruteForce::new(&mut scene);
    let through = |ray: &TestRay| brute.trace(ray, true).is_surely_blocked && !brute.trace(ray, false).is_maybe_blocked;
    let n_through = test_rays.iter().zip(&ours).filter(|(ray, is_blocked)| !**is_blocked && through(ray)).count();
    assert!(n_through > 100, "{n_through} of 4000 rays went through holes");
}

/// The scene of the next tests: 40 movers, some of them through their parents, over a floor that stands still.
fn movers() -> (SceneFolder, Scene) {
    let folder = SceneFolder::new();
    folder.add_box("box", Vec3::new(-0.6, -0.4, -0.3), Vec3::new(0.5, 0.7, 0.8));
    folder.add_sphere("ball", 6);
    let mut random = Random(11);
    let mut nodes = String::from("(name: \"floor\", model: \"box\", scale: (20, 0.1, 20), translation: (0, -6, 0)),");
    for i in 0..40 {
        let at = random.within(Vec3::splat(-8.0), Vec3::splat(8.0));
        let (model, scale) = if i % 2 == 0 { ("box", "(1.3, 0.7, 1)") } else { ("ball", "(0.5, 0.8, -0.6)") };
        let motion = match i % 3 {
            0 => "Spin(axis: (0.6, 0.8, 0), rpm: 90)",
            1 => "Bob(amplitude_m: (2, 1, -3), period_s: 1.7)",
            _ => "Circle(radius_m: 2, period_s: 2.3)",
        };
        // Every fourth hangs below another node, so that it moves with its parent alone.
        let node = if i % 4 == 3 {
            format!(
                "(name: \"p{i}\", translation: ({}, {}, {}), motion: {motion}, children: [(name: \"m{i}\", model: \"{model}\", scale: {scale}, translation: (1, 0.5, 0))]),",
                at.x, at.y, at.z
            )
        } else {
            format!(
                "(name: \"m{i}\", model: \"{model}\", scale: {scale}, translation: ({}, {}, {}), motion: {motion}),",
                at.x, at.y, at.z
            )
        };
        nodes.push_str(&node);
    }
    let still = "Still(position: (0, 0, 30), target: (0, 0, 0), fov_y_deg: 50)";
    let scene = folder.scene("()", still, &["box", "ball"], &nodes);
    (folder, scene)
}

#[test]
fn the_top_level_follows_what_moves_and_rests_when_nothing_does() {
    let (_folder, mut scene) = movers();
    let mut tracer = Tracer::new(&mut scene);
    assert_eq!((tracer.rays.stats.n_static_triangles, tracer.rays.stats.n_instances), (12, 40));
    for frame_idx in [0, 1, 40, 333] {
        scene.update(frame_idx);
        compare(&format!("movers at {frame_idx}"), &mut scene, &mut tracer, 8000, u64::from(frame_idx) + 20);
    }
    let Structures::Bvh(bvh) = &mut tracer.rays.structures else { panic!("bvh was asked for") };
    assert!(bvh.top.update(scene.hierarchy()), "what moved in the last update is built again");
    // An update in which nothing is said to have moved.
    scene.world.resource_mut::<Hierarchy>().propagate();
    assert!(!bvh.top.update(scene.hierarchy()));
}

#[test]
fn ray_queries_agree_with_brute_force() {
    if !gpu().has_ray_queries() {
        eprintln!("skipped: the adapter has no ray queries");
        return;
    }
    for name in ["cornell", "alpha"] {
        let mut scene = load(Path::new(name));
        let mut tracer = Tracer::with_backend(&mut scene, RayBackend::Query);
        compare(&format!("{name} by query"), &mut scene, &mut tracer, 20_000, 8);
    }
    let (_folder, mut scene) = movers();
    let mut tracer = Tracer::with_backend(&mut scene, RayBackend::Query);
    for frame_idx in [0, 1, 40] {
        scene.update(frame_idx);
        compare(&format!("movers by query at {frame_idx}"), &mut scene, &mut tracer, 8000, u64::from(frame_idx) + 20);
    }
}

#[test]
fn a_single_triangle_and_nothing_at_all_can_be_traced() {
    let folder = SceneFolder::new();
    folder.add_mesh("one", &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], &[0, 1, 2], None);
    let still = "Still(position: (0, 3, 3), target: (0, 0, 0), fov_y_deg: 50)";
    let down = |x| TestRay { origin: [x, 1.0, 0.2], t_max: 1e30, direction: [0.0, -1.0, 0.0], _pad: 0.0 };
    for motion in ["", ", motion: Spin(axis: (0, 1, 0), rpm: 0.001)"] {
        let mut scene = folder.scene("()", still, &["one"], &format!("(name: \"one\", model: \"one\"{motion})"));
        let mut tracer = Tracer::new(&mut scene);
        assert_eq!(tracer.trace(scene.hierarchy(), &[down(0.2), down(3.0)]), [true, false], "{motion}");
        tracer.casters.list.clear();
        tracer.rays = Rays::new(&tracer.gpu, &tracer.casters, scene.hierarchy(), RayMode::Hard, RayBackend::Bvh)
            .expect("nothing fits");
        assert_eq!(tracer.trace(scene.hierarchy(), &[down(0.2)]), [false]);
    }
}

/// A picture's bytes of the sun: one for each of the four samples of each pixel.
fn sun_bytes(scene: &mut Scene, size_px: [u32; 2], n_samples: u32, rays: RayMode) -> Vec<[u8; 4]> {
    let gpu = gpu();
    let options = RenderOptions {
        size_px,
        n_samples,
        tonemap: Tonemap::Agx,
        exposure_ev100: None,
        rays,
        ray_backend: None,
        n_frames_in_flight: 1,
    };
    let mut renderer = Renderer::new(&gpu, scene, &options).expect("a small scene");
    renderer.prepare_frame(scene, 0);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.encode(&mut encoder).expect("the upload ring has room");
    let readback = Readback::new(&gpu, size_px[0], size_px[1]);
    readback.record(&mut encoder, renderer.targets.sun.as_ref().expect("rays").samples.texture());
    gpu.queue.submit([encoder.finish()]);
    renderer.submitted();
    let bytes = readback.read(&gpu).expect("a picture");
    gpu.check_errors().expect("no validation error");
    bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]).collect()
}

/// Where `scene`s are put: scale and distance from the origin, in metres.
const PLACES: [(f32, f32); 5] = [(0.01, 0.0), (1.0, 0.0), (1.0, 10_000.0), (10_000.0, 0.0), (0.1, 300.0)];

fn still(scale: f32, away: f32, position: Vec3, target: Vec3) -> String {
    let at = |p: Vec3| {
        let p = p * scale + Vec3::new(away, 0.0, away);
        format!("({:?}, {:?}, {:?})", p.x, p.y, p.z)
    };
    format!("Still(position: {}, target: {}, fov_y_deg: 50, near_m: {:?})", at(position), at(target), 0.01 * scale)
}

fn node(name: &str, scale: f32, away: f32) -> String {
    format!(
        "(name: \"{name}\", model: \"{name}\", scale: ({scale:?}, {scale:?}, {scale:?}), translation: ({away:?}, 0, {away:?})),"
    )
}

#[test]
fn nothing_convex_shadows_itself_at_any_scale() {
    let folder = SceneFolder::new();
    folder.add_plane("plane");
    folder.add_sphere("ball", 40);
    for (scale, away) in PLACES {
        for (model, elevation_deg) in [("plane", 70.0), ("plane", 3.0), ("ball", 35.0)] {
            let camera = still(scale, away, Vec3::new(0.3, 1.5, 2.6), Vec3::ZERO);
            let sun = format!("(elevation_deg: {elevation_deg:?}, azimuth_deg: 150)");
            let mut scene = folder.scene(&sun, &camera, &[model], &node(model, scale, away));
            for n_samples in [1, 4] {
                let bytes = sun_bytes(&mut scene, [96, 72], n_samples, RayMode::Edge).concat();
                let n_lit = bytes.iter().filter(|&&byte| byte == LIT).count();
                let n_dark = bytes.iter().filter(|&&byte| byte == DARK).count();
                let what = format!("{model} × {scale} at {away} m, sun at {elevation_deg}°, {n_samples} samples");
                assert!(n_lit > 300, "{what}: {n_lit} samples lit");
                assert_eq!(n_dark, 0, "{what}: of {n_lit} samples");
            }
        }
    }
}

#[test]
fn a_thin_walls_shadow_is_whole_and_ends_where_it_must() {
    let folder = SceneFolder::new();
    folder.add_plane("plane");
    // 1 cm thick (at scale 1), half a metre high, along x; it stands in the ground.
    folder.add_box("wall", Vec3::new(-0.6, -0.05, -0.505), Vec3::new(0.6, 0.5, -0.495));
    const SIZE: [u32; 2] = [120, 90];
    for (scale, away) in PLACES {
        for elevation_deg in [60.0f32, 25.0] {
            let sun = format!("(elevation_deg: {elevation_deg:?}, azimuth_deg: 0)");
            let camera = still(scale, away, Vec3::new(0.0, 2.2, 0.9), Vec3::new(0.0, 0.0, 0.1));
            let nodes = node("plane", scale, away) + &node("wall", scale, away);
            let mut scene = folder.scene(&sun, &camera, &["plane", "wall"], &nodes);
            let bytes = sun_bytes(&mut scene, SIZE, 4, RayMode::Edge);
            // The sun is in the north (-z): the shadow runs south as far as the wall is high over the elevation's tangent.
            let end = -0.505 + 0.5 / elevation_deg.to_radians().tan();
            let view = scene.camera_view();
            let matrices = CameraMatrices::new(&view, SIZE, Vec2::ZERO);
            let eye = (view.world_from_view.translation - glam::Vec3A::new(away, 0.0, away)) / scale;
            let (mut n_dark, mut n_lit) = (0, 0);
            for (i, bytes) in bytes.iter().enumerate() {
                let px = Vec2::new((i as u32 % SIZE[0]) as f32 + 0.5, (i as u32 / SIZE[0]) as f32 + 0.5);
                let ndc = (px / Vec2::new(SIZE[0] as f32, SIZE[1] as f32) * 2.0 - 1.0)
                    * Vec2::new(1.0, -1.0)
                    * matrices.half_extent;
                let direction = matrices.axes[0] * ndc.x + matrices.axes[1] * ndc.y - matrices.axes[2];
                let ground = Vec3::from(eye) - direction * (eye.y / direction.y);
                // What lies behind the wall as seen from here is the wall; a pixel is some 0.025 wide.
                let margin = 0.05;
                if ground.z < -0.495 + margin || ground.x.abs() > 0.95 || ground.z > 0.95 {
                    continue;
                }
                let is_deep_inside = ground.x.abs() < 0.6 - margin && ground.z < end - margin;
                let is_well_outside = ground.x.abs() > 0.6 + margin || ground.z > end + margin;
                let what = format!("ground at {ground}, scale {scale} at {away} m, sun at {elevation_deg}°");
                if is_deep_inside {
                    assert_eq!(bytes, &[DARK; 4], "{what}");
                    n_dark += 1;
                }
                if is_well_outside {
                    assert_eq!(bytes, &[LIT; 4], "{what}");
                    n_lit += 1;
                }
            }
            assert!(n_dark > 200 && n_lit > 200, "{n_dark} dark and {n_lit} lit pixels make a poor test");
        }
    }
}

#[test]
fn edge_rays_change_edges_alone() {
    let folder = SceneFolder::new();
    folder.add_plane("plane");
    folder.add_box("wall", Vec3::new(-0.4, 0.0, -0.5), Vec3::new(0.3, 0.5, -0.4));
    let camera = "Still(position: (0.2, 2, 1), target: (0, 0, 0), fov_y_deg: 50)";
    let nodes = "(name: \"plane\", model: \"plane\"), (name: \"wall\", model: \"wall\", rotation_deg: (0, 25, 0))";
    let mut scene = folder.scene("(elevation_deg: 40, azimuth_deg: 10)", camera, &["plane", "wall"], nodes);
    for n_samples in [1, 4] {
        let [hard, edge] = [RayMode::Hard, RayMode::Edge].map(|mode| sun_bytes(&mut scene, [96, 72], n_samples, mode));
        let is_partial = |bytes: &&[u8; 4]| match n_samples {
            1 => bytes[0] != LIT && bytes[0] != DARK && bytes[0] != 128,
            _ => bytes.contains(&LIT) && bytes.contains(&DARK),
        };
        let n_changed = hard.iter().zip(&edge).filter(|(hard, edge)| hard != edge).count();
        let n_partial = edge.iter().filter(is_partial).count();
        let n_partial_hard = hard.iter().filter(is_partial).count();
        assert!((30..1500).contains(&n_changed), "{n_changed} pixels changed");
        assert!(n_partial > n_partial_hard + 30, "{n_partial_hard} pixels were partly lit, now {n_partial}");
    }
}

#[test]
fn moving_shadows_allocate_nothing_on_the_gpu() {
    let folder = SceneFolder::new();
    folder.add_box("box", Vec3::splat(-0.5), Vec3::splat(0.5));
    folder.add_plane("plane");
    let nodes = "(name: \"plane\", model: \"plane\", scale: (9, 1, 9)), (name: \"box\", model: \"box\", translation: (0, 1, 0), motion: Spin(axis: (0, 1, 0), rpm: 60))";
    let camera = "Still(position: (0, 6, 6), target: (0, 0, 0), fov_y_deg: 50)";
    let mut scene = folder.scene("()", camera, &["plane", "box"], nodes);
    let gpu = gpu();
    let options = RenderOptions {
        size_px: [48, 32],
        n_samples: 4,
        tonemap: Tonemap::Agx,
        exposure_ev100: None,
        rays: RayMode::Edge,
        ray_backend: None,
        n_frames_in_flight: 2,
    };
    let mut renderer = Renderer::new(&gpu, &mut scene, &options).expect("a small scene");
    let mut n_created = 0;
    for frame_idx in 0..30 {
        scene.update(frame_idx);
        renderer.prepare_frame(&scene, frame_idx);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.encode(&mut encoder).expect("the upload ring has room");
        gpu.queue.submit([encoder.finish()]);
        let submission = renderer.submitted();
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("the frame ends");
        if let Some(result) = renderer.read_timestamps(submission, &mut Vec::new()) {
            result.expect("the frame has been waited on");
        }
        gpu.check_errors().expect("no validation error");
        if frame_idx == 0 {
            n_created = gpu.factory.n_created();
        }
    }
    assert_eq!(gpu.factory.n_created(), n_created);
    assert!(renderer.top_level_ns().is_some());
}

/// A top level of `n` boxes, half of them in one place, as a builder that splits by place would not like.
fn boxes_in_motion(n: usize, random: &mut Random) -> (TopLevel, Hierarchy) {
    let mut builder = crate::scene::HierarchyBuilder::default();
    for _ in 0..n {
        let turn = Quat::from_rotation_y(random.next());
        let is_apart = random.next() < 0.5;
        let at = if is_apart { random.within(Vec3::splat(-50.0), Vec3::splat(50.0)) } else { Vec3::ONE };
        builder.add(crate::scene::NO_PARENT, Affine3A::from_rotation_translation(turn, at));
    }
    let (hierarchy, _) = builder.build();
    let bounds = crate::scene::assets::Aabb { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) };
    let bottom = BottomLevels {
        nodes: vec![],
        triangles: vec![],
        n_static_triangles: 0,
        static_root: None,
        mesh_trees: vec![Some(bottom::MeshTree { root: 77, bounds })],
    };
    let list = (0..n as u32).map(|i| Caster {
        instance_idx: i,
        slot: i,
        mesh_idx: 0,
        world_from_local: *hierarchy.world(i),
        is_masked: true,
        is_moving: true,
    });
    let casters = Casters { list: list.collect(), ..Default::default() };
    (TopLevel::new(&casters, &bottom, &hierarchy), hierarchy)
}

#[test]
fn the_top_level_holds_every_instance_once_and_is_shallow() {
    let mut random = Random(3);
    for n in [1usize, 2, 3, 8, 9, 17, 600, 4097] {
        let (mut top, hierarchy) = boxes_in_motion(n, &mut random);
        assert!(top.update(&hierarchy));
        let instances = bytemuck::cast_slice::<u8, RayInstance>(top.instance_bytes());
        let mut seen: Vec<u32> = instances.iter().map(|instance| instance.mask_instance).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..n as u32).collect::<Vec<_>>());
        let n_nodes = top.node_bytes().len() / size_of::<obvhs::cwbvh::node::CwBvhNode>();
        assert!(n_nodes <= TopLevel::most_nodes(n), "{n_nodes} nodes for {n} instances");
        let nodes: Vec<obvhs::cwbvh::node::CwBvhNode> = bytemuck::pod_collect_to_vec(top.node_bytes());
        let depth = bottom::depth(&nodes);
        assert!(depth <= 6, "{depth} levels for {n} instances");
        let before = top.node_bytes().to_vec();
        top.forget();
        assert!(top.update(&hierarchy) && top.node_bytes() == before, "another build gives another tree");
    }
}

/// Prints what decision 0005 compares: our builder of the top level beside obvhs's fastest.
#[test]
#[ignore = "measures, proves nothing"]
fn time_of_building_the_top_level() {
    for n in [100usize, 600, 1000, 4000] {
        let (mut top, hierarchy) = boxes_in_motion(n, &mut Random(n as u64));
        let shortest = |build: &mut dyn FnMut()| {
            let times = (0..50).map(|_| {
                let started = Instant::now();
                build();
                started.elapsed()
            });
            times.min().unwrap_or_default()
        };
        let ours = shortest(&mut || {
            top.forget();
            top.update(&hierarchy);
        });
        let boxes: Vec<obvhs::aabb::Aabb> = (0..n as u32)
            .map(|slot| {
                let at = hierarchy.world(slot).translation;
                obvhs::aabb::Aabb { min: at - 0.5, max: at + 0.5 }
            })
            .collect();
        let params = obvhs::BvhBuildParams::fastest_build();
        let theirs = shortest(&mut || {
            let binary = obvhs::ploc::PlocBuilder::with_capacity(n).build(
                params.ploc_search_distance,
                &boxes,
                (0..n as u32).collect(),
                params.sort_precision,
                0,
            );
            std::hint::black_box(obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh(&binary, 1, false, false));
        });
        println!("{n} instances: ours with placing {ours:?}, obvhs's tree alone {theirs:?}");
    }
}

#[test]
fn rays_that_cannot_be_had_are_a_warning_and_the_picture_is_drawn_without() {
    let gpu = Gpu::open(&GpuOptions { is_noop: true, is_validating: true, ..Default::default() }).expect("no-op");
    let options = RenderOptions {
        size_px: [48, 32],
        n_samples: 4,
        tonemap: Tonemap::Agx,
        exposure_ev100: None,
        rays: RayMode::Edge,
        ray_backend: Some(RayBackend::Query),
        n_frames_in_flight: 2,
    };
    let mut scene = load(Path::new("alpha"));
    let mut renderer = Renderer::new(&gpu, &mut scene, &options).expect("a renderer all the same");
    assert_eq!((renderer.ray_mode(), renderer.ray_backend()), (RayMode::Off, None));
    let [warning] = renderer.warnings() else { panic!("{:?}", renderer.warnings()) };
    assert!(warning.contains("no ray queries") && warning.contains("--ray-backend bvh"), "{warning}");
    renderer.prepare_frame(&scene, 0);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.encode(&mut encoder).expect("the upload ring has room");
    gpu.queue.submit([encoder.finish()]);
    gpu.check_errors().expect("no validation error");
}
