//! Scene files: what the repository's own scenes hold, and that each fault names its place and what to do.

use std::path::Path;

use praxis::scene::motion::Motion;
use praxis::scene::{Camera, LoadOptions, MeshInstance, PointLight, Projection, Scene, SceneError, Slot, scene_names};

fn options() -> LoadOptions {
    LoadOptions { clock_ns: || 0, aspect: 16.0 / 9.0 }
}

fn scenes_dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scenes"))
}

fn load(reference: &str) -> Result<Scene, SceneError> {
    Scene::load(reference, scenes_dir(), &options())
}

/// Loads a scene file with this text, beside the test assets.
fn load_text(text: &str) -> Result<Scene, SceneError> {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let path = folder.path().join("scene.ron");
    let assets = format!("{}/assets/test", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(&path, text.replace("ASSETS", &assets)).expect("the scene is written");
    load(path.to_str().expect("a UTF-8 path"))
}

fn count<C: bevy_ecs::component::Component>(scene: &mut Scene) -> usize {
    scene.world.query::<&C>().iter(&scene.world).count()
}

#[test]
fn the_small_scenes_load_without_warnings() {
    for (name, n_instances, n_meshes) in [("materials", 35, 2), ("cornell", 8, 2), ("alpha", 14, 4)] {
        let mut scene = load(name).unwrap();
        assert_eq!(scene.warnings(), &[] as &[String], "{name}");
        assert_eq!(count::<MeshInstance>(&mut scene), n_instances, "{name}");
        assert_eq!(scene.assets.meshes.len(), n_meshes, "{name}: shared geometry is imported once");
        assert_eq!(scene.default_camera(), "front");
        assert!(!scene.bounds().is_empty());
        assert!(scene_names(scenes_dir()).iter().any(|known| known == name));
    }
    let mut cornell = load("cornell").unwrap();
    assert_eq!(count::<PointLight>(&mut cornell), 4);
    assert!(cornell.sun().direction().y < 0.0, "the sun is below the horizon");
}

#[test]
fn each_small_scene_is_within_its_camera_s_view() {
    for name in ["materials", "cornell", "alpha"] {
        let scene = load(name).unwrap();
        let view = scene.camera_view();
        let Projection::Perspective { fov_y, near } = view.projection else { panic!("perspective") };
        let view_from_world = view.world_from_view.inverse();
        let (half_height, half_width) = ((0.5 * fov_y).tan(), (0.5 * fov_y).tan() * 16.0 / 9.0);
        let hierarchy = scene.hierarchy();
        for entity in scene.world.iter_entities() {
            let (Some(instance), Some(slot)) = (entity.get::<MeshInstance>(), entity.get::<Slot>()) else { continue };
            let bounds = scene.assets.meshes[instance.mesh.0 as usize].bounds.transformed(hierarchy.world(slot.0));
            let p = view_from_world.transform_point3(bounds.center());
            let (x, y) = (p.x / -p.z / half_width, p.y / -p.z / half_height);
            assert!(-p.z > near && x.abs() < 0.95 && y.abs() < 0.95, "{name}: {bounds:?} at {x}, {y}");
        }
    }
}

#[test]
fn the_documented_example_loads() {
    let page = std::fs::read_to_string(scenes_dir().with_file_name("docs").join("scene-file.md")).unwrap();
    let example = page.split("```ron").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    // Its models are made up; the box's lamp stands in for each.
    let mut text = String::new();
    for line in example.lines() {
        match line.split_once("(file: ") {
            Some((name, _)) => text += &format!("{name}(file: \"ASSETS/cornell.gltf\", node: \"lamp\"),\n"),
            None => text += &format!("{line}\n"),
        }
    }
    let scene = load_text(&text).unwrap();
    assert_eq!((scene.default_camera(), scene.bench_camera()), ("square", "bench"));
    assert_eq!(scene.exposure_ev100(), Some(14.0));
}

#[test]
fn unknown_scenes_and_cameras_list_the_nearest_names() {
    let error = load("materal").err().expect("no such scene").to_string();
    assert!(error.contains("\"materal\"") && error.contains("\"materials\""), "{error}");
    let mut scene = load("cornell").unwrap();
    let error = scene.set_camera("frnt").unwrap_err().to_string();
    assert!(error.contains("\"front\""), "{error}");
    scene.set_camera("front").unwrap();
}

#[test]
fn a_missing_file_is_one_clear_line() {
    let error = load("nowhere/model.glb").err().expect("no such file").to_string();
    assert!(error.contains("nowhere/model.glb") && !error.contains('\n'), "{error}");
}

const HEAD: &str =
    "(schema: \"praxis.scene/1\",\n models: {\"box\": (file: \"ASSETS/cornell.gltf\", node: \"lamp\")},\n";

#[test]
fn motions_follow_the_frame_index() {
    let text = format!(
        "{HEAD} paths: {{\"way\": (points: [(0, 0, 0), (10, 0, 0)])}},
        nodes: [
            (model: \"box\", motion: Spin(axis: (0, 1, 0), rpm: 60), children: [(model: \"box\", translation: (1, 0, 0))]),
            (model: \"box\", motion: Follow(path: \"way\", speed_mps: 2)),
            (model: \"box\", translation: (0, 5, 0), motion: Bob(amplitude_m: (0, 1, 0), period_s: 4)),
            (model: \"box\", motion: Circle(radius_m: 2, period_s: 8)),
            (model: \"box\", motion: Swing(axis: (1, 0, 0), amplitude_deg: 30, period_s: 4)),
        ])"
    );
    let mut scene = load_text(&text).unwrap();
    let at = |scene: &Scene, slot: u32| glam::Vec3::from(scene.hierarchy().world(slot).translation);
    let near = |a: glam::Vec3, b: (f32, f32, f32)| assert!(a.distance(glam::Vec3::from(b)) < 1e-3, "{a} is not {b:?}");
    // One turn a second: a quarter after 15 frames. Slots: 5 roots, the camera, then children in their parents' order.
    scene.update(15);
    assert_eq!(scene.hierarchy().parent(6), 0);
    let child = scene.hierarchy().children(0).find(|&slot| scene.hierarchy().local(slot).translation.x == 1.0);
    near(at(&scene, child.expect("the child")), (0.0, 0.0, -1.0));
    scene.update(60);
    near(at(&scene, 1), (2.0, 0.0, 0.0));
    near(at(&scene, 2), (0.0, 6.0, 0.0));
    scene.update(120);
    near(at(&scene, 3), (0.0, 0.0, -2.0));
    scene.update(360);
    near(at(&scene, 1), (8.0, 0.0, 0.0));
    let angle = scene.hierarchy().world(4).matrix3.y_axis.z.asin().to_degrees();
    assert!((angle.abs()) < 1e-2);
    scene.update(60);
    let angle = scene.hierarchy().world(4).matrix3.y_axis.z.asin().to_degrees();
    assert!((angle - 30.0).abs() < 1e-2, "{angle}");
    let names: Vec<&str> = scene.system_times().iter().map(|time| time.name).collect();
    assert_eq!(names, ["move_nodes", "move_camera", "propagate_world_transforms"]);
}

#[test]
fn a_frame_is_the_same_whatever_was_drawn_before() {
    let text = format!(
        "{HEAD} paths: {{\"way\": (closed: true, points: [(0, 0, 0), (10, 0, 0), (3, 1, 8)])}},
        nodes: [
            (model: \"box\", motion: Spin(axis: (1, 2, 3), rpm: 7), children: [
                (model: \"box\", motion: Follow(path: \"way\", speed_mps: -1.5, offset_m: 3)),
            ]),
        ])"
    );
    let worlds = |frames: &[u32]| {
        let mut scene = load_text(&text).unwrap();
        frames.iter().for_each(|&frame_idx| scene.update(frame_idx));
        (0..scene.hierarchy().len() as u32).map(|slot| *scene.hierarchy().world(slot)).collect::<Vec<_>>()
    };
    assert_eq!(worlds(&[7]), worlds(&[1, 900, 100_000, 3, 7]));
    assert_ne!(worlds(&[7]), worlds(&[8]));
}

#[test]
fn each_system_is_timed_with_the_injected_clock() {
    /// Ticks 5 ns with each reading, so that a system between two readings takes 5.
    fn clock_ns() -> u64 {
        static NOW_NS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        NOW_NS.fetch_add(5, std::sync::atomic::Ordering::Relaxed)
    }
    let mut scene = Scene::load("cornell", scenes_dir(), &LoadOptions { clock_ns, aspect: 1.0 }).unwrap();
    scene.update(1);
    assert_eq!(scene.system_times().iter().map(|time| time.ns).collect::<Vec<_>>(), [5, 5, 5]);
}

#[test]
fn still_frames_move_nothing_and_moving_ones_only_what_hangs_below_a_mover() {
    let mut still = load("alpha").unwrap();
    still.update(5);
    assert!(still.hierarchy().world_moved().is_empty());
    let text = format!(
        "{HEAD} nodes: [(model: \"box\"), (motion: Spin(axis: (0, 1, 0), rpm: 1), children: [(model: \"box\")]), (model: \"box\")])"
    );
    let mut scene = load_text(&text).unwrap();
    scene.update(5);
    let moved = scene.hierarchy().world_moved();
    let movers =
        scene.world.iter_entities().filter_map(|entity| Some((entity.get::<Motion>()?, entity.get::<Slot>()?.0)));
    let mover = movers.map(|(_, slot)| slot).next().expect("one mover");
    assert_eq!(moved[0], mover);
    assert!(moved[1..].iter().all(|&slot| scene.hierarchy().parent(slot) == mover || slot > mover));
    assert!(moved.len() < scene.hierarchy().len() - 2);
}

#[test]
fn cameras_follow_their_paths_and_can_be_overridden() {
    let text = format!(
        "{HEAD} cameras: {{
            \"still\": Still(position: (0, 0, 5), target: (0, 0, 0), fov_y_deg: 40),
            \"ride\": Path(keys: [(frame: 0, position: (0, 0, 9), target: (0, 0, 0)), (frame: 100, position: (0, 0, 5), target: (0, 0, 0))]),
        }}, default_camera: \"still\", bench_camera: \"ride\", nodes: [(model: \"box\")])"
    );
    let mut scene = load_text(&text).unwrap();
    assert_eq!((scene.default_camera(), scene.bench_camera()), ("still", "ride"));
    assert_eq!(scene.camera_names(), ["ride", "still"]);
    assert_eq!(scene.camera_view().world_from_view.translation.z, 5.0);
    scene.set_camera("ride").unwrap();
    for (frame, z) in [(0, 9.0), (50, 7.0), (100, 5.0), (4000, 5.0)] {
        scene.update(frame);
        assert!((scene.camera_view().world_from_view.translation.z - z).abs() < 1e-4, "frame {frame}");
    }
    let mut own = scene.camera_view();
    own.world_from_view.translation.x = 3.0;
    scene.override_camera(Some(own));
    assert_eq!(scene.camera_view(), own);
    scene.override_camera(None);
    assert_ne!(scene.camera_view(), own);
    assert_eq!(count::<Camera>(&mut scene), 2);
}

/// A broken scene file, the line and column of its fault, and words that the message has.
const FAULTS: &[(&str, usize, usize, &[&str])] = &[
    ("(schema: \"praxis.scene/1\", nodes: [(modle: \"a\")])", 1, 37, &["modle", "\"model\""]),
    ("(schema: \"praxis.scene/9\",\n nodes: [])", 1, 11, &["praxis.scene/9", "praxis.scene/1"]),
    (
        "(schema: \"praxis.scene/1\",\n models: {\"house\": (file: \"ASSETS/cornell.gltf\")},\n nodes: [\n  (model: \"hose\")])",
        4,
        12,
        &["hose", "\"house\""],
    ),
    (
        "(schema: \"praxis.scene/1\",\n models: {\"house\": (file: \"nowhere.glb\")},\n nodes: [(model: \"house\")])",
        2,
        28,
        &["nowhere.glb"],
    ),
    (
        "(schema: \"praxis.scene/1\",\n models: {\"house\": (file: \"ASSETS/cornell.gltf\",\n  node: \"tall_blok\")},\n nodes: [(model: \"house\")])",
        3,
        10,
        &["tall_block"],
    ),
    ("(schema: \"praxis.scene/1\",\n nodes: [(motion: Follow(path: \"way\", speed_mps: 1))])", 2, 33, &["way", "none"]),
    ("(schema: \"praxis.scene/1\",\n default_camera: \"top\", nodes: [])", 2, 19, &["top"]),
    ("(schema: \"praxis.scene/1\",\n nodes: [(motion: Spni(axis: (0, 1, 0), rpm: 1))])", 2, 0, &["Spni", "\"Spin\""]),
    ("(schema: \"praxis.scene/1\",\n nodes: [(translation: (0, inf, 0))])", 2, 0, &["finite"]),
    ("(schema: \"praxis.scene/1\",\n nodes: [(motion: Spin(axis: (0, 0, 0), rpm: 1))])", 2, 0, &["axis"]),
    (
        "(schema: \"praxis.scene/1\",\n nodes: [(motion: Swing(axis: (0, 1, 0), amplitude_deg: 3, period_s: 0))])",
        2,
        0,
        &["above 0"],
    ),
    ("(schema: \"praxis.scene/1\",\n paths: {\"way\": (points: [(1, 1, 1), (1, 1, 1)])},\n nodes: [])", 2, 0, &["way"]),
    (
        "(schema: \"praxis.scene/1\",\n cameras: {\"a\": Still(position: (1, 1, 1), target: (1, 1, 1))},\n nodes: [])",
        2,
        0,
        &["target"],
    ),
    (
        "(schema: \"praxis.scene/1\",\n cameras: {\"a\": Path(keys: [(frame: 5, position: (1, 1, 1), target: (0, 0, 0)), (frame: 5, position: (1, 1, 1), target: (0, 0, 0))])},\n nodes: [])",
        2,
        0,
        &["ascend"],
    ),
    (
        "(schema: \"praxis.scene/1\",\n models: {\"a\": (file: \"b\"), \"a\": (file: \"c\")},\n nodes: [])",
        2,
        0,
        &["twice"],
    ),
    ("(schema: \"praxis.scene/1\",\n sun: (turbidity: 50), nodes: [])", 2, 0, &["turbidity"]),
    (
        "(schema: \"praxis.scene/1\",\n nodes: [(light: Spot(intensity_cd: 5, range_m: 3, inner_deg: 40, outer_deg: 30))])",
        2,
        0,
        &["inner"],
    ),
    ("(schema: \"praxis.scene/1\",\n nodes: [", 2, 0, &["expected"]),
    ("(schema: \"praxis.scene/1\")", 1, 0, &["nodes"]),
];

#[test]
fn each_fault_names_line_column_and_what_to_do() {
    for (text, line, column, words) in FAULTS {
        let error = load_text(text).err().unwrap_or_else(|| panic!("{text} should not load"));
        let message = error.to_string();
        let SceneError::SceneFile { line: found_line, column: found_column, .. } = error else {
            panic!("{text}: {message} names no place");
        };
        assert_eq!(found_line, *line, "{text}: {message}");
        // Column 0 stands for "any": the parser's own errors end where it stopped.
        assert!(*column == 0 || found_column == *column, "{text}: {message}");
        for word in *words {
            assert!(message.to_lowercase().contains(&word.to_lowercase()), "{text}: {message} lacks {word:?}");
        }
        assert!(!message.contains('\n'), "{message}");
    }
}
