//! Puts everything together: the catalogue of models and the scene.

use crate::catalog::{At, Catalog, File};
use crate::layout::buildings::{self, Footprint, Lot};
use crate::layout::landmarks::{WATERMILL_X, WINDMILL};
use crate::layout::plan::{BANKS, PAVING_M, ground_y};
use crate::layout::{cameras, frontage, ground, landmarks, nature, square, traffic};
use crate::model::house_parts::Parts;
use crate::model::{bridge, church, furniture, market, mills, people, trees, vehicles};
use crate::scene::{Camera, Scene, SceneNode};
use glam::Vec2;

/// Models and the scene that places them.
pub fn build() -> (Catalog, Scene) {
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

    let mut nature_file = File::new("nature");
    trees::build(&mut nature_file);

    let reserved = [
        Footprint::new(Vec2::new(0.0, -46.0), Vec2::new(17.4, 22.4), 0.0),
        Footprint::new(Vec2::new(WATERMILL_X, BANKS.1 + 5.5), Vec2::new(6.0, 6.0), 0.0),
        Footprint::new(Vec2::new(WINDMILL.0, WINDMILL.1), Vec2::new(7.0, 7.0), 0.0),
    ];
    let (mut lots, mut taken) = buildings::lots(&houses, &reserved);
    watermill(&houses, &mut lots, &mut taken);

    let mut lamps = frontage::street_lamps(150);
    let in_square = square::build();
    let n_square = in_square.iter().filter(|n| n.model == "lamp_post").count();
    let n_walls = frontage::N_LAMPS.saturating_sub(lamps.len() + n_square);
    let shade = frontage::shade_wall(&houses, &lots, &taken);
    if let Some(wall) = &shade {
        scene.cameras.push(("shade", Camera::Still { position: wall.eye, target: wall.target, fov_y_deg: 45.0 }));
    }
    scene.nodes.push(group("houses", frontage::houses(&houses, &lots, &taken, n_walls, shade.as_ref())));
    scene.nodes.push(group("square", in_square));
    lamps.truncate(frontage::N_LAMPS);
    scene.nodes.push(group("lamps", lamps));
    scene.nodes.push(group("pennants", frontage::pennants()));
    scene.nodes.push(group("landmarks", landmarks::build()));
    scene.nodes.push(group("plants", nature::build(&taken)));
    let moving = traffic::build(&mut scene.paths);
    scene.nodes.extend(moving);

    (Catalog { files: vec![ground_file, buildings_file, street_file, nature_file] }, scene)
}

/// The mill house stands with its back to the river.
fn watermill(houses: &[crate::model::house::House], lots: &mut Vec<Lot>, taken: &mut Vec<Footprint>) {
    let stone = houses.iter().position(|h| h.wall == "rubble");
    let Some(house) = stone else { return };
    let z = BANKS.1 + 0.35 + houses[house].depth;
    lots.push(Lot { house, at: At::new(WATERMILL_X, ground_y(WATERMILL_X, z) + PAVING_M, z), is_main: false });
    let center = Vec2::new(WATERMILL_X, z - houses[house].depth * 0.5);
    taken.push(Footprint::new(center, Vec2::new(houses[house].width * 0.5, houses[house].depth * 0.5), 0.0));
}
