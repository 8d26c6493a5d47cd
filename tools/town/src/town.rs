//! Puts everything together: the catalogue of models, the scene, the images.

use crate::catalog::{Catalog, File};
use crate::layout::{buildings, cameras, ground};
use crate::model::house_parts::Parts;
use crate::scene::{Scene, SceneNode};

/// Models and the scene that places them.
pub fn build() -> (Catalog, Scene) {
    let mut ground_file = File::new("ground");
    let mut scene = Scene { cameras: cameras::all(), ..Scene::default() };
    let ground_nodes = ground::build(&mut ground_file);
    scene.nodes.push(SceneNode::group("ground", Default::default(), ground_nodes));

    let mut buildings_file = File::new("buildings");
    let parts = Parts::build(&mut buildings_file);
    let houses = buildings::variants(&mut buildings_file, &parts);
    let (lots, _taken) = buildings::lots(&houses, &[]);
    let nodes = lots.iter().map(|lot| SceneNode::model(houses[lot.house].name.clone(), lot.at)).collect();
    scene.nodes.push(SceneNode::group("houses", Default::default(), nodes));

    (Catalog { files: vec![ground_file, buildings_file] }, scene)
}
