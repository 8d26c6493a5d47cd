//! Both backends against brute force.

use super::*;

#[test]
fn rays_agree_with_brute_force_on_a_box() {
    let mut scene = load(Path::new("cornell"));
    let mut tracer = Tracer::new(&mut scene);
    compare("cornell", &mut scene, &mut tracer, 40_000, 1);
    tracer.is_towards_sun = true;
    compare("cornell towards the sun", &mut scene, &mut tracer, 40_000, 1);
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
    tracer.is_towards_sun = true;
    compare("soup towards the sun", &mut scene, &mut tracer, 30_000, 2);
}

#[test]
fn rays_pass_the_holes_of_masked_geometry_and_nothing_else() {
    let mut scene = load(Path::new("alpha"));
    let mut tracer = Tracer::new(&mut scene);
    assert!(tracer.rays.has_masked);
    compare("alpha", &mut scene, &mut tracer, 40_000, 3);
    tracer.is_towards_sun = true;
    compare("alpha towards the sun", &mut scene, &mut tracer, 40_000, 3);
    tracer.is_towards_sun = false;

    // Around the leaves: rays that only a hole lets through.
    let is_masked = |caster: &&Caster| caster.is_masked();
    let mut bounds = crate::scene::assets::Aabb::EMPTY;
    for caster in tracer.casters.list.iter().filter(is_masked) {
        let mesh = &scene.assets.meshes[caster.mesh_idx as usize];
        bounds = bounds.union(mesh.bounds.transformed(&caster.world_from_local));
    }
    let test_rays = random_rays(4000, bounds.min, bounds.max, 4);
    let ours = tracer.trace(&scene, &test_rays);
    let brute = BruteForce::new(&mut scene);
    let through = |ray: &TestRay| brute.trace(ray, true).is_surely_blocked && !brute.trace(ray, false).is_maybe_blocked;
    let n_through = test_rays.iter().zip(&ours).filter(|(ray, is_blocked)| !**is_blocked && through(ray)).count();
    assert!(n_through > 100, "{n_through} of 4000 rays went through holes");
}

/// The scene of the next tests: 40 movers, some of them through their parents, over a floor that stands still.
pub fn movers() -> (SceneFolder, Scene) {
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
        for is_towards_sun in [false, true] {
            tracer.is_towards_sun = is_towards_sun;
            let name = format!("movers at {frame_idx}, towards the sun: {is_towards_sun}");
            compare(&name, &mut scene, &mut tracer, 8000, u64::from(frame_idx) + 20);
        }
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
        assert_eq!(tracer.trace(&scene, &[down(0.2), down(3.0)]), [true, false], "{motion}");
        tracer.casters.list.clear();
        tracer.rays =
            Rays::new(&tracer.gpu, &tracer.casters, scene.hierarchy(), &scene.sun(), tracer::options(RayBackend::Bvh))
                .expect("nothing fits");
        assert_eq!(tracer.trace(&scene, &[down(0.2)]), [false]);
    }
}

/// Rays agree where the sun's own direction is one of the world's axes, or nearly: sun space is the world turned by a right angle then.
#[test]
fn rays_agree_with_brute_force_whatever_the_suns_direction() {
    let folder = SceneFolder::new();
    folder.add_sphere("ball", 8);
    folder.add_box("box", Vec3::new(-2.0, -1.5, -0.2), Vec3::new(2.0, -1.2, 1.4));
    let still = "Still(position: (0, 0, 30), target: (0, 0, 0), fov_y_deg: 50)";
    for sun in [
        "(elevation_deg: 90)",
        "(elevation_deg: 89.9999)",
        "(elevation_deg: 0.5, azimuth_deg: 0)",
        "(elevation_deg: 45, azimuth_deg: 90)",
    ] {
        let nodes = "(name: \"ball\", model: \"ball\"), (name: \"box\", model: \"box\", motion: Spin(axis: (0, 1, 0), rpm: 90))";
        let mut scene = folder.scene(sun, still, &["ball", "box"], nodes);
        scene.update(7);
        let mut tracer = Tracer::new(&mut scene);
        tracer.is_towards_sun = true;
        compare(sun, &mut scene, &mut tracer, 10_000, 6);
    }
}

#[test]
fn parts_that_move_together_are_one_instance_and_equal_bodies_share_a_tree() {
    let folder = SceneFolder::new();
    folder.add_box("box", Vec3::splat(-0.5), Vec3::splat(0.5));
    folder.add_sphere("ball", 3);
    // Two carts of a box and two balls each, one of them elsewhere; the second's flag waves by itself.
    let cart = |name: &str, x: f32, flag: &str| {
        format!(
            "(name: \"{name}\", translation: ({x:?}, 0, 0), motion: Spin(axis: (0, 1, 0), rpm: 30), children: [\
             (name: \"{name}_box\", model: \"box\"), (name: \"{name}_a\", model: \"ball\", translation: (1, 0, 0)), \
             (name: \"{name}_b\", model: \"ball\", translation: (-1, 0, 0)), {flag}]),"
        )
    };
    let flag = "(name: \"flag\", model: \"box\", translation: (0, 2, 0), motion: Spin(axis: (1, 0, 0), rpm: 40))";
    let nodes = cart("one", -4.0, "") + &cart("two", 4.0, flag);
    let still = "Still(position: (0, 0, 30), target: (0, 0, 0), fov_y_deg: 50)";
    let mut scene = folder.scene("()", still, &["box", "ball"], &nodes);
    let mut tracer = Tracer::new(&mut scene);
    let bodies = RigidBodies::of(&tracer.casters, scene.hierarchy());
    assert_eq!((bodies.bodies.len(), bodies.shapes.len()), (3, 2));
    assert_eq!((tracer.rays.stats.n_instances, tracer.rays.stats.n_moving_meshes), (3, 7));
    for frame_idx in [0, 13] {
        scene.update(frame_idx);
        compare("carts", &mut scene, &mut tracer, 10_000, u64::from(frame_idx));
    }
}

/// A mover that is squashed to nothing stops no ray, and is there again when it grows.
#[test]
fn what_is_squashed_to_nothing_stops_no_ray() {
    let folder = SceneFolder::new();
    folder.add_box("box", Vec3::splat(-0.5), Vec3::splat(0.5));
    let nodes = "(name: \"a\", model: \"box\", motion: Spin(axis: (0, 1, 0), rpm: 90)), \
                 (name: \"b\", model: \"box\", translation: (3, 0, 0), motion: Spin(axis: (0, 1, 0), rpm: 90))";
    let still = "Still(position: (0, 0, 30), target: (0, 0, 0), fov_y_deg: 50)";
    let mut scene = folder.scene("()", still, &["box"], nodes);
    let mut tracer = Tracer::new(&mut scene);
    let down = |x| TestRay { origin: [x, 5.0, 0.0], t_max: 1e30, direction: [0.0, -1.0, 0.0], _pad: 0.0 };
    let slot = tracer.casters.list[1].slot;
    let whole = *scene.hierarchy().local(slot);
    let is_first = scene.hierarchy().world(slot).translation.x == 0.0;
    let flat = glam::Affine3A { matrix3: glam::Mat3A::ZERO, ..whole };
    for (local, is_there) in [(whole, true), (flat, false), (flat, false), (whole, true)] {
        let mut hierarchy = scene.world.resource_mut::<Hierarchy>();
        hierarchy.set_local(slot, local);
        hierarchy.propagate();
        let met = tracer.trace(&scene, &[down(0.0), down(3.0)]);
        assert_eq!(met, if is_first { [is_there, true] } else { [true, is_there] });
    }
}
