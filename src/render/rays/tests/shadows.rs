//! Shadows in pictures: none where there must be none, whole where they must be, from a centimetre to ten kilometres.

use glam::Vec2;

use super::*;
use crate::render::camera::CameraMatrices;

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

/// The triangles of a coarse mesh that stands for a curved surface must not shade each other where the surface does not.
#[test]
fn a_coarse_smooth_mesh_is_shaded_like_a_fine_one() {
    let folder = SceneFolder::new();
    folder.add_hourglass("coarse", 10, 14);
    folder.add_hourglass("fine", 120, 160);
    for (scale, away) in PLACES {
        let [coarse, fine] = ["coarse", "fine"].map(|model| {
            let camera = still(scale, away, Vec3::new(0.4, 0.7, 3.2), Vec3::ZERO);
            let sun = "(elevation_deg: 52, azimuth_deg: 140)";
            let mut scene = folder.scene(sun, &camera, &[model], &node(model, scale, away));
            sun_bytes(&mut scene, [160, 120], 1, RayMode::Hard)
        });
        let both = coarse.iter().zip(&fine).map(|(coarse, fine)| (coarse[0], fine[0]));
        let n_lit = both.clone().filter(|&(coarse, fine)| (coarse, fine) == (LIT, LIT)).count();
        let n_dark = both.clone().filter(|&(coarse, fine)| (coarse, fine) == (DARK, DARK)).count();
        let n_streaks = both.clone().filter(|&(coarse, fine)| (coarse, fine) == (DARK, LIT)).count();
        let n_leaks = both.filter(|&(coarse, fine)| (coarse, fine) == (LIT, DARK)).count();
        let what = format!(
            "× {scale} at {away} m: {n_lit} lit and {n_dark} dark in both, {n_streaks} and {n_leaks} in the coarse one alone"
        );
        println!("{what}");
        // Ten kilometres away what rounding makes of positions lifts rays over all that there is to be seen.
        assert!(n_lit > 1000 && (n_dark > 100 || away > 1000.0 * scale), "{what}: a poor test");
        // From the flat triangles there would be 44 streaks.
        assert!(n_streaks * 100 < n_lit && n_leaks * 50 < n_lit, "{what}");
    }
}

fn wall_on_a_plane() -> Scene {
    let folder = SceneFolder::new();
    folder.add_plane("plane");
    folder.add_box("wall", Vec3::new(-0.4, 0.0, -0.5), Vec3::new(0.3, 0.5, -0.4));
    let camera = "Still(position: (0.2, 2, 1), target: (0, 0, 0), fov_y_deg: 50)";
    let nodes = "(name: \"plane\", model: \"plane\"), (name: \"wall\", model: \"wall\", rotation_deg: (0, 25, 0))";
    folder.scene("(elevation_deg: 40, azimuth_deg: 10)", camera, &["plane", "wall"], nodes)
}

#[test]
fn edge_rays_change_edges_alone() {
    let mut scene = wall_on_a_plane();
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
fn counted_rays_are_those_of_the_picture() {
    let mut scene = wall_on_a_plane();
    const SIZE: [u32; 2] = [96, 72];
    // With one sample a pixel each traced pixel has one ray.
    let hard = sun_bytes(&mut scene, SIZE, 1, RayMode::Hard);
    let n_traced = hard.iter().filter(|bytes| bytes[0] == LIT || bytes[0] == DARK).count() as u64;
    let gpu = gpu();
    for rays in [RayMode::Hard, RayMode::Edge] {
        let options = RenderOptions {
            size_px: SIZE,
            n_samples: 1,
            tonemap: Tonemap::Agx,
            exposure_ev100: None,
            rays,
            ray_backend: None,
            has_column_map: true,
            n_frames_in_flight: 2,
        };
        let mut renderer = Renderer::new(&gpu, &mut scene, &options).expect("a small scene");
        let counted = renderer.count_rays(&gpu, &mut scene, &[0, 3]).expect("two pictures");
        assert_eq!(counted.len(), 2);
        assert_eq!(counted[0], counted[1], "nothing moves");
        assert_eq!((counted[0].n_px, counted[0].n_surface_rays), (96 * 72, n_traced));
        match rays {
            RayMode::Edge => {
                assert!((50..1500).contains(&counted[0].n_edge_px), "{:?}", counted[0]);
                assert_eq!(counted[0].n_edge_rays, 4 * counted[0].n_edge_px);
            }
            _ => assert_eq!((counted[0].n_edge_px, counted[0].n_edge_rays), (0, 0)),
        }
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
        has_column_map: true,
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
