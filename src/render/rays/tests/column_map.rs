//! The column map decides what the trees would, ray by ray.

use super::tracer::Traced;
use super::*;

/// Bits, as in `layout.wgsl`.
const PASSES_STILL: u32 = 1;
const PASSES_MOVERS: u32 = 2;
const BLOCKED: u32 = 4;

/// Rays towards the sun from where the map could be wrong: a third from triangles, lifted off them by little or nothing to either side; a third
/// from their corners and sides; and a third from anywhere, half of these on a grid of powers of two in sun space, where cells begin.
fn rays_towards_sun(scene: &Scene, tracer: &Tracer, n: usize, seed: u64) -> Vec<TestRay> {
    let mut random = Random(seed);
    let bounds = scene.bounds();
    let size = (bounds.max - bounds.min).length();
    let farthest = bounds.min.abs().max(bounds.max.abs()).max_element();
    let still: Vec<&Caster> = tracer.casters.still().collect();
    let direction = scene.sun().direction();
    let sun_space = SunSpace::new(direction);
    let sun_from_world = sun_space.sun_from_world().matrix3;
    // As wide as a cell may be, and smaller.
    let cell = f64::from(size).log2().floor().exp2() / 64.0;
    let origin_of = |i: usize, random: &mut Random| -> Vec3 {
        if i % 3 == 2 || still.is_empty() {
            let anywhere = random.within(bounds.min - 0.1 * size, bounds.max + 0.1 * size);
            if i.is_multiple_of(2) {
                return anywhere;
            }
            let mut at = sun_from_world * anywhere.as_dvec3();
            let step = cell * [1.0, 0.25, 1.0 / 64.0][i / 6 % 3];
            (at.x, at.y) = ((at.x / step).round() * step, (at.y / step).round() * step);
            return (sun_from_world.transpose() * at).as_vec3();
        }
        let caster = still[(random.next() * still.len() as f32) as usize % still.len()];
        let meshes = &tracer.casters.meshes;
        let mesh = &meshes.meshes[caster.mesh_idx as usize];
        let n_triangles = mesh.n_indices[0] / 3;
        let first = mesh.first_index[0] + 3 * ((random.next() * n_triangles as f32) as u32).min(n_triangles - 1);
        let [a, b, c] = [first, first + 1, first + 2].map(|i| {
            let corner = meshes.positions[meshes.indices[i as usize] as usize];
            caster.world_from_local.transform_point3(corner.into())
        });
        let (mut u, mut v) = (random.next(), random.next());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        if i % 3 == 1 {
            v = 0.0;
            u = if random.next() < 0.3 { 0.0 } else { u };
        }
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let lift = match (random.next() * 6.0) as u32 {
            0 => 0.0,
            1 => 1e-7 * farthest,
            2 => 4e-6 * farthest,
            3 => 1e-4 * size,
            4 => 0.02 * size,
            _ => 2e-6 * (farthest + size),
        };
        let side = if random.next() < 0.3 { -1.0 } else { normal.dot(direction).signum() };
        a + (b - a) * u + (c - a) * v + normal * (lift * side)
    };
    (0..n)
        .map(|i| {
            let origin = origin_of(i, &mut random).into();
            TestRay { origin, t_max: 1e30, direction: direction.into(), _pad: 0.0 }
        })
        .collect()
}

/// Shares of rays of which the map foresaw something.
#[derive(Clone, Copy, Debug)]
struct Foreseen {
    /// Everything that stands still.
    passing: f32,
    /// Everything that moves.
    passing_movers: f32,
    blocked: f32,
}

/// Traces with and without the map.
fn agree(name: &str, scene: &Scene, tracer: &mut Tracer, test_rays: &[TestRay]) -> Foreseen {
    tracer.is_towards_sun = true;
    let with = tracer.trace_and_foresee(scene, test_rays);
    tracer.uses_column_map = false;
    let without = tracer.trace_and_foresee(scene, test_rays);
    tracer.uses_column_map = true;
    for ((ray, with), without) in test_rays.iter().zip(&with).zip(&without) {
        assert_eq!(without.foreseen, 0);
        assert_eq!(with.is_blocked, without.is_blocked, "{name}: {ray:?}: foreseen {}", with.foreseen);
    }
    let share =
        |which| with.iter().filter(|traced: &&Traced| traced.foreseen & which != 0).count() as f32 / with.len() as f32;
    let foreseen =
        Foreseen { passing: share(PASSES_STILL), passing_movers: share(PASSES_MOVERS), blocked: share(BLOCKED) };
    println!("{name}: of {} rays {foreseen:?}", with.len());
    foreseen
}

#[test]
fn the_column_map_changes_no_ray_of_the_golden_scenes() {
    for name in ["cornell", "alpha", "materials"] {
        let mut scene = load(Path::new(name));
        scene.update(31);
        let mut tracer = Tracer::new(&mut scene);
        let test_rays = rays_towards_sun(&scene, &tracer, 100_000, 7);
        let foreseen = agree(name, &scene, &mut tracer, &test_rays);
        assert!(foreseen.passing + foreseen.blocked > 0.2, "{name}: {foreseen:?} makes a poor test");
        assert!(foreseen.passing_movers > 0.1, "{name}: {foreseen:?} makes a poor test");
    }
}

#[test]
fn the_column_map_and_the_mover_map_change_no_ray_where_things_move() {
    let (_folder, mut scene) = super::agreement::movers();
    let mut tracer = Tracer::new(&mut scene);
    for frame_idx in [0, 1, 40, 333] {
        scene.update(frame_idx);
        let test_rays = rays_towards_sun(&scene, &tracer, 30_000, u64::from(frame_idx));
        let foreseen = agree(&format!("movers at {frame_idx}"), &scene, &mut tracer, &test_rays);
        assert!((0.2..0.95).contains(&foreseen.passing_movers), "{foreseen:?} makes a poor test");
    }
}

/// Town is large: its goldens are what holds it, and this.
#[test]
#[ignore = "loads town"]
fn the_column_map_changes_no_ray_of_town() {
    let mut scene = load(Path::new("town"));
    scene.update(31);
    let mut tracer = Tracer::new(&mut scene);
    println!("{:?}", tracer.rays.stats);
    for seed in 0..4 {
        let test_rays = rays_towards_sun(&scene, &tracer, 100_000, seed);
        agree("town", &scene, &mut tracer, &test_rays);
    }
}

#[test]
fn the_column_map_changes_no_ray_of_a_soup_at_any_scale() {
    for (scale, away) in [(0.01, 0.0), (1.0, 0.0), (1.0, 10_000.0), (10_000.0, 0.0), (0.1, 300.0)] {
        let folder = SceneFolder::new();
        let mut random = Random(5);
        let mut positions: Vec<[f32; 3]> = Vec::new();
        for i in 0..1500 {
            let center = random.within(Vec3::splat(-1.0), Vec3::splat(1.0));
            let size = 0.003 + 0.3 * random.next() * random.next();
            let [a, b, c] = [0; 3].map(|_| center + size * random.direction());
            positions.extend(
                match i % 10 {
                    // Needles, lines, triangles without an area, and one far larger than the rest.
                    0 => [a, b, b + 1e-4 * (c - a)],
                    1 => [a, b, a + 0.5 * (b - a)],
                    2 => [a, b, a],
                    3 if i == 3 => [a * 20.0, b * 20.0, c * 20.0],
                    _ => [a, b, c],
                }
                .map(|p| p.to_array()),
            );
        }
        let indices: Vec<u32> = (0..positions.len() as u32).collect();
        folder.add_mesh("soup", &positions, &indices, None);
        folder.add_plane("plane");
        let place = format!("scale: ({scale:?}, {scale:?}, {scale:?}), translation: ({away:?}, 0, {away:?})");
        let nodes = format!("(name: \"soup\", model: \"soup\", {place}), (name: \"plane\", model: \"plane\", {place})");
        let still = "Still(position: (0, 0, 30), target: (0, 0, 0), fov_y_deg: 50)";
        for sun in
            ["(elevation_deg: 90)", "(elevation_deg: 2, azimuth_deg: 31)", "(elevation_deg: 40, azimuth_deg: 120)"]
        {
            let mut scene = folder.scene(sun, still, &["soup", "plane"], &nodes);
            let mut tracer = Tracer::new(&mut scene);
            let test_rays = rays_towards_sun(&scene, &tracer, 30_000, 3);
            let foreseen = agree(&format!("soup × {scale} at {away} m, sun {sun}"), &scene, &mut tracer, &test_rays);
            assert!(foreseen.passing > 0.02, "{foreseen:?} makes a poor test");
        }
    }
}

/// A floor of many triangles in one plane, walls that the sun sees edge on, and a ball: what the map is good at, and what it must leave alone.
#[test]
fn the_column_map_changes_no_ray_of_walls_that_the_sun_sees_edge_on() {
    let folder = SceneFolder::new();
    folder.add_plane("plane");
    folder.add_sphere("ball", 12);
    let mut nodes = String::new();
    for (i, (x, z)) in [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (2.0, 2.0)].into_iter().enumerate() {
        nodes += &format!("(name: \"floor_{i}\", model: \"plane\", translation: ({x:?}, 0, {z:?})),");
    }
    // Upright, along the sun's azimuth and across it.
    for (i, turn) in [0.0, 30.0, 90.0, 120.0].into_iter().enumerate() {
        nodes += &format!(
            "(name: \"wall_{i}\", model: \"plane\", translation: ({i}, 0.5, 0.3), rotation_deg: (90, {turn:?}, 0), scale: (0.5, 1, 0.5)),"
        );
    }
    nodes += "(name: \"ball\", model: \"ball\", scale: (0.3, 0.3, 0.3), translation: (1, 1, 1)),";
    let still = "Still(position: (0, 0, 30), target: (0, 0, 0), fov_y_deg: 50)";
    for sun in [
        "(elevation_deg: 90)",
        "(elevation_deg: 30, azimuth_deg: 0)",
        "(elevation_deg: 45, azimuth_deg: 30)",
        "(elevation_deg: 0.4, azimuth_deg: 90)",
    ] {
        let mut scene = folder.scene(sun, still, &["plane", "ball"], &nodes);
        let mut tracer = Tracer::new(&mut scene);
        let test_rays = rays_towards_sun(&scene, &tracer, 60_000, 4);
        let foreseen = agree(&format!("walls, sun {sun}"), &scene, &mut tracer, &test_rays);
        assert!(foreseen.passing > 0.1, "{foreseen:?} makes a poor test");
    }
}

#[test]
fn scenes_of_one_triangle_and_of_none_have_column_maps_or_need_none() {
    let folder = SceneFolder::new();
    folder.add_mesh("one", &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], &[0, 1, 2], None);
    let still = "Still(position: (0, 3, 3), target: (0, 0, 0), fov_y_deg: 50)";
    let mut scene = folder.scene("(elevation_deg: 50)", still, &["one"], "(name: \"one\", model: \"one\")");
    let mut tracer = Tracer::new(&mut scene);
    let test_rays = rays_towards_sun(&scene, &tracer, 20_000, 9);
    let foreseen = agree("one triangle", &scene, &mut tracer, &test_rays);
    assert!(foreseen.passing > 0.4 && foreseen.blocked > 0.001, "{foreseen:?}");

    tracer.casters.list.clear();
    let rays =
        Rays::new(&tracer.gpu, &tracer.casters, scene.hierarchy(), &scene.sun(), tracer::options(RayBackend::Bvh));
    tracer.rays = rays.expect("nothing fits");
    let Structures::Bvh(bvh) = &tracer.rays.structures else { panic!("bvh was asked for") };
    assert!(bvh.column_map.is_none());
    let blocked = tracer.trace(&scene, &test_rays);
    assert!(!blocked.contains(&true));
}

/// A sun with a width has no column map: its rays go many ways.
#[test]
fn rays_that_are_not_parallel_have_no_column_map() {
    let folder = SceneFolder::new();
    folder.add_plane("plane");
    let still = "Still(position: (0, 3, 3), target: (0, 0, 0), fov_y_deg: 50)";
    let sun = "(elevation_deg: 50, angular_diameter_deg: 0.5)";
    let mut scene = folder.scene(sun, still, &["plane"], "(name: \"plane\", model: \"plane\")");
    let tracer = Tracer::new(&mut scene);
    let Structures::Bvh(bvh) = &tracer.rays.structures else { panic!("bvh was asked for") };
    assert!(bvh.column_map.is_none());
}

/// Pictures are the same to the bit, and the map's share of the rays is counted. (What the map says of single rays is held above, a hundred thousand
/// times a scene; this is about its way into the passes.) Compiling is what takes long here: through masked casters edge rays are held by the
/// golden alone, and rays are counted once.
#[test]
fn the_column_map_changes_no_pixel_and_is_counted() {
    const SIZE: [u32; 2] = [96, 56];
    let gpu = gpu();
    for (name, rays, is_counted) in [("alpha", RayMode::Hard, false), ("materials", RayMode::Edge, true)] {
        let mut scene = load(Path::new(name));
        scene.update(0);
        let [with, without] = [true, false].map(|has_column_map| {
            let options = RenderOptions {
                size_px: SIZE,
                n_samples: 4,
                tonemap: Tonemap::Agx,
                exposure_ev100: None,
                rays,
                ray_backend: Some(RayBackend::Bvh),
                has_column_map,
                n_frames_in_flight: 1,
            };
            let mut renderer = Renderer::new(&gpu, &mut scene, &options).expect("a small scene");
            if is_counted {
                let counts = renderer.count_rays(&gpu, &mut scene, &[0]).expect("a picture")[0];
                let foreseen = counts.n_passing_still + counts.n_foreseen_blocked;
                println!("{name}: {counts:?}");
                assert_eq!(foreseen > 0, has_column_map, "{counts:?}");
                assert!(counts.n_untraced <= foreseen && foreseen <= counts.n_surface_rays + counts.n_edge_rays);
            }
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            scene.update(0);
            renderer.prepare_frame(&scene, 0);
            renderer.encode(&mut encoder).expect("the upload ring has room");
            let readback = Readback::new(&gpu, SIZE[0], SIZE[1]);
            readback.record(&mut encoder, renderer.targets.sun.as_ref().expect("rays").samples.texture());
            gpu.queue.submit([encoder.finish()]);
            renderer.submitted();
            readback.read(&gpu).expect("a picture")
        });
        assert!(with == without, "{name}: the pictures differ");
    }
    gpu.check_errors().expect("no validation error");
}
