//! Puts everything together: the catalogue of models and the scene.

use crate::catalog::{At, Catalog, File};
use crate::layout::buildings::{self, Fabric, Footprint, Lot};
use crate::layout::landmarks::{WATERMILL_X, WINDMILL};
use crate::layout::plan::{BANKS, PAVING_M, ground_y};
use crate::layout::{cameras, frontage, ground, landmarks, nature, square, traffic};
use crate::model::house_parts::Parts;
use crate::model::{bridge, church, furniture, market, mills, people, trees, vehicles, yard};
use crate::scene::{Camera, Scene, SceneNode};
use glam::{Vec2, Vec3};

/// Models and the scene that places them.
pub fn build() -> (Catalog, Scene) {
    let (catalog, scene, _) = build_with_footprints();
    (catalog, scene)
}

/// The same, with what is built over and up to which height in metres.
fn build_with_footprints() -> (Catalog, Scene, Vec<(Footprint, f32)>) {
    let mut scene = Scene { cameras: cameras::all(), ..Scene::default() };
    let group = |name: &str, nodes| SceneNode::group(name, At::default(), nodes);

    let mut ground_file = File::new("ground");
    scene.nodes.push(group("ground", ground::build(&mut ground_file)));

    let mut buildings_file = File::new("buildings");
    let parts = Parts::build(&mut buildings_file);
    let houses = buildings::variants(&mut buildings_file, &parts);
    church::build(&mut buildings_file);
    buildings_file.add_single("bridge", bridge::build());
    mills::build(&mut buildings_file);

    let mut street_file = File::new("street");
    furniture::build(&mut street_file);
    market::build(&mut street_file);
    people::build(&mut street_file);
    vehicles::build(&mut street_file);
    yard::build(&mut street_file);

    let mut nature_file = File::new("nature");
    trees::build(&mut nature_file);

    let shade_lot = frontage::shade_lot(&houses);
    let shade_at = shade_lot.at.p;
    let reserved = [
        Footprint::new(Vec2::new(shade_at.x + 3.0, shade_at.z), Vec2::new(11.0, 11.0), -60.0),
        Footprint::new(Vec2::new(0.0, -46.0), Vec2::new(17.4, 22.4), 0.0),
        Footprint::new(Vec2::new(WATERMILL_X, BANKS.1 + 5.5), Vec2::new(6.0, 6.0), 0.0),
        Footprint::new(Vec2::new(WINDMILL.0, WINDMILL.1), Vec2::new(7.0, 7.0), 0.0),
    ];
    let Fabric { mut lots, gates, mut taken } = buildings::fabric(&houses, &reserved);
    watermill(&houses, &mut lots, &mut taken);

    scene.nodes.push(group("gateways", frontage::gateways(&gates)));
    let mut lamps = frontage::street_lamps(150);
    let in_square = square::build();
    let n_square = in_square.iter().filter(|n| n.model == "lamp_post").count();
    let n_walls = frontage::N_LAMPS.saturating_sub(lamps.len() + n_square);
    lots.push(shade_lot);
    let shade = frontage::shade_wall(&houses, &lots[lots.len() - 1], lots.len() - 1);
    scene.cameras.push(("shade", Camera::Still { position: shade.eye, target: shade.target, fov_y_deg: 45.0 }));
    scene.nodes.push(group("by_the_shade_wall", nature::shade_garden(&shade)));
    scene.nodes.push(group("houses", frontage::houses(&houses, &lots, &taken, n_walls, &shade)));
    scene.nodes.push(group("square", in_square));
    lamps.truncate(frontage::N_LAMPS);
    scene.nodes.push(group("lamps", lamps));
    scene.nodes.push(group("talkers", frontage::talkers()));
    scene.nodes.push(group("pennants", frontage::pennants()));
    scene.nodes.push(group("landmarks", landmarks::build()));
    scene.nodes.push(group("plants", nature::build(&taken)));
    let moving = traffic::build(&mut scene.paths);
    scene.nodes.extend(moving);

    let solids = lots
        .iter()
        .map(|lot| {
            let h = &houses[lot.house];
            let frame = lot.at.frame();
            let center = frame.point(Vec3::new(0.0, 0.0, -0.5 * h.depth));
            let half = Vec2::new(h.width, h.depth) * 0.5;
            (Footprint::new(Vec2::new(center.x, center.z), half, lot.at.turn_deg.y), lot.at.p.y + h.eaves_y + 5.0)
        })
        .collect();
    (Catalog { files: vec![ground_file, buildings_file, street_file, nature_file] }, scene, solids)
}

/// The mill house stands with its back to the river.
fn watermill(houses: &[crate::model::house::House], lots: &mut Vec<Lot>, taken: &mut Vec<Footprint>) {
    let stone = houses.iter().position(|h| h.wall == "rubble");
    let Some(house) = stone else { return };
    let z = BANKS.1 + 0.35 + houses[house].depth;
    lots.push(Lot { house, at: At::new(WATERMILL_X, ground_y(WATERMILL_X, z) + PAVING_M, z) });
    let center = Vec2::new(WATERMILL_X, z - houses[house].depth * 0.5);
    taken.push(Footprint::new(center, Vec2::new(houses[house].width * 0.5, houses[house].depth * 0.5), 0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::MATERIALS;
    use crate::preview::flat::Flat;
    use crate::preview::key_at;

    #[test]
    fn scale_is_what_the_reference_scene_needs() {
        let (catalog, scene) = build();
        let flat = Flat::build(&catalog, &scene, 0).unwrap();
        assert!(flat.draws.len() >= 12_000, "{} instances", flat.draws.len());
        assert!(flat.draws.iter().filter(|d| d.is_moving).count() >= 600);
        assert!(flat.meshes.len() >= 60 && flat.materials.len() >= 40);
        assert_eq!(flat.n_lights, frontage::N_LAMPS);
        let text = scene.to_ron(&catalog).unwrap();
        assert!(text.len() < 1_500_000, "{} bytes", text.len());
    }

    #[test]
    fn meshes_are_sound() {
        let (catalog, _) = build();
        for file in &catalog.files {
            for (name, builder) in &file.meshes {
                for (mat, part) in &builder.parts {
                    assert!(MATERIALS.iter().any(|m| m.name == *mat), "{name}: no material {mat}");
                    let mut n_wrong = 0;
                    for t in part.indices.chunks(3) {
                        let p = |k: usize| part.positions[t[k] as usize];
                        let n: Vec3 = t.iter().map(|i| part.normals[*i as usize]).sum();
                        let face = (p(1) - p(0)).cross(p(2) - p(0));
                        n_wrong += usize::from(face.dot(n) < -1e-7);
                    }
                    let n_triangles = part.indices.len() / 3;
                    // Leaves bend their normals on purpose; everything else faces the way it is wound.
                    let is_leaf = mat.starts_with("leaf_") || mat.starts_with("tuft_");
                    assert!(
                        is_leaf || n_wrong * 50 <= n_triangles,
                        "{name}/{mat}: {n_wrong} of {n_triangles} inside out"
                    );
                    assert!(part.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3), "{name}/{mat}: normals");
                    assert!(part.positions.iter().all(|p| p.is_finite()) && part.uvs.iter().all(|p| p.is_finite()));
                    assert!(
                        part.shades.iter().all(|s| s.min_element() > 0.04 && s.max_element() <= 1.001),
                        "{name}/{mat}: shade"
                    );
                }
            }
        }
    }

    #[test]
    fn bench_camera_goes_through_no_house_and_no_ground() {
        let (_, scene, solids) = build_with_footprints();
        let bench = scene.cameras.iter().find_map(|(name, camera)| match camera {
            Camera::Path { keys, .. } if *name == "bench" => Some(keys),
            _ => None,
        });
        let keys = bench.unwrap();
        assert_eq!((keys[0].frame, keys[keys.len() - 1].frame), (0, 1800));
        for frame in (0..=1800).step_by(3) {
            let (p, target) = key_at(keys, frame as f32);
            assert!((target - p).length() > 4.0, "frame {frame}: looks at its own feet");
            assert!(p.y > crate::layout::plan::terrain_y(p.x, p.z) + 1.0, "frame {frame}: in the ground");
            for (footprint, top) in &solids {
                assert!(
                    p.y > *top || !footprint.contains(Vec2::new(p.x, p.z), 0.6),
                    "frame {frame}: in a house at {p}"
                );
            }
        }
    }

    #[test]
    fn committed_scene_and_meshes_are_what_the_generator_makes() {
        let (catalog, scene) = build();
        let read = |path: &str| std::fs::read(crate::root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        let text = scene.to_ron(&catalog).unwrap();
        assert!(read("scenes/town.ron") == text.as_bytes(), "scenes/town.ron: run `cargo run -p praxis-town`");
        for file in catalog.files.iter().flat_map(|f| crate::gltf::write(f).unwrap()) {
            let path = format!("assets/town/{}", file.path);
            assert!(read(&path) == file.bytes, "{path}: run `cargo run -p praxis-town`");
        }
    }
}
