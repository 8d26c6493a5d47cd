//! The top level's tree by itself.

use glam::{Affine3A, Quat};

use super::*;
use crate::render::layout::RayInstance;
use crate::render::rays::bodies::Body;
use crate::render::rays::bottom::{self, BottomLevels};
use crate::render::rays::mover_map::MoverMap;
use crate::render::rays::top::TopLevel;
use crate::render::rays::top_tree::{Bounds, fit, order, split_at_median};

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
    // The root tells them apart.
    let trees = (0..n as u32).map(|root| Some(bottom::ShapeTree { root, bounds })).collect();
    let bottom =
        BottomLevels { nodes: vec![], triangles: vec![], n_static_triangles: 0, static_root: None, shape_trees: trees };
    let bodies =
        RigidBodies { shapes: vec![], bodies: (0..n as u32).map(|i| Body { slot: i, shape_idx: i }).collect() };
    (TopLevel::new(&bodies, &bottom, &hierarchy, &SunSpace::new(Vec3::Y), Some(MoverMap::new(0.0))), hierarchy)
}

#[test]
fn the_top_level_holds_every_instance_once_and_is_shallow() {
    let mut random = Random(3);
    for n in [1usize, 2, 3, 8, 9, 17, 600, 4097] {
        let (mut top, hierarchy) = boxes_in_motion(n, &mut random);
        assert!(top.update(&hierarchy));
        let mut seen = roots(&top);
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

#[test]
fn the_order_is_kept_until_the_boxes_have_grown() {
    let mut random = Random(9);
    let (mut top, mut hierarchy) = boxes_in_motion(600, &mut random);
    assert!(top.update(&hierarchy));
    let (found, cost) = (roots(&top), top.cost());
    // A little: the boxes follow, the order stays.
    move_all(&mut hierarchy, |at| at + Vec3::new(0.01, 0.0, 0.0));
    assert!(top.update(&hierarchy));
    assert_eq!(roots(&top), found);
    assert!((top.cost() / cost - 1.0).abs() < 0.01);
    // Anywhere: the boxes of the old order are large, and the next update finds another.
    move_all(&mut hierarchy, |_| random.within(Vec3::splat(-50.0), Vec3::splat(50.0)));
    assert!(top.update(&hierarchy));
    let scattered = top.cost();
    assert_eq!(roots(&top), found);
    assert!(scattered > 1.5 * cost, "{scattered} after {cost}");
    move_all(&mut hierarchy, |at| at);
    assert!(top.update(&hierarchy));
    assert_ne!(roots(&top), found);
    assert!(top.cost() < 0.7 * scattered, "{} after {scattered}", top.cost());
}

/// Of the instances in their order.
fn roots(top: &TopLevel) -> Vec<u32> {
    bytemuck::cast_slice::<u8, RayInstance>(top.instance_bytes()).iter().map(|instance| instance.root).collect()
}

fn move_all(hierarchy: &mut Hierarchy, mut to: impl FnMut(Vec3) -> Vec3) {
    for slot in 0..hierarchy.len() as u32 {
        let local = *hierarchy.local(slot);
        let at = to(local.translation.into());
        hierarchy.set_local(slot, Affine3A { translation: at.into(), ..local });
    }
    hierarchy.propagate();
}

/// Prints what decision 0006 compares, in turn: a whole update whose order is kept, and of trees alone one whose boxes are fitted, one ordered
/// by medians, one by Morton codes, and obvhs's fastest.
#[test]
#[ignore = "measures, proves nothing"]
fn time_of_building_the_top_level() {
    const N_ROUNDS: usize = 50;
    for n in [100usize, 600, 1000, 2200, 4000] {
        let (mut top, mut hierarchy) = boxes_in_motion(n, &mut Random(n as u64));
        let mut times: [Vec<std::time::Duration>; 5] = Default::default();
        let mut costs = [0.0; 2];
        let (mut nodes, mut places, mut todo, mut node_boxes) = (vec![], vec![], vec![], vec![]);
        for _ in 0..N_ROUNDS {
            let mut time = |which: usize, build: &mut dyn FnMut()| {
                let started = Instant::now();
                build();
                times[which].push(started.elapsed());
            };
            move_all(&mut hierarchy, |at| at + Vec3::new(0.01, 0.0, 0.0));
            time(0, &mut || _ = top.update(&hierarchy));
            let boxes: Vec<Bounds> = (0..n as u32)
                .map(|slot| hierarchy.world(slot).translation)
                .map(|at| Bounds { min: at - 0.5, max: at + 0.5 })
                .collect();
            let mut sorted: Vec<(Bounds, u32)> = boxes.iter().copied().zip(0..).collect();
            time(2, &mut || {
                order(&mut sorted, &mut nodes, &mut places, &mut todo, split_at_median);
                let placed: Vec<Bounds> = places.iter().map(|&i| boxes[i as usize]).collect();
                costs[0] = fit(&mut nodes, &placed, &mut node_boxes);
            });
            let placed: Vec<Bounds> = places.iter().map(|&i| boxes[i as usize]).collect();
            time(1, &mut || _ = fit(&mut nodes, &placed, &mut node_boxes));
            sorted = boxes.iter().copied().zip(0..).collect();
            time(3, &mut || {
                sorted.sort_by_cached_key(|(one, i)| (morton_code(one), *i));
                order(&mut sorted, &mut nodes, &mut places, &mut todo, |_| {});
                let placed: Vec<Bounds> = places.iter().map(|&i| boxes[i as usize]).collect();
                costs[1] = fit(&mut nodes, &placed, &mut node_boxes);
            });
            let boxes: Vec<_> = boxes.iter().map(|one| obvhs::aabb::Aabb { min: one.min, max: one.max }).collect();
            let params = obvhs::BvhBuildParams::fastest_build();
            time(4, &mut || {
                let binary = obvhs::ploc::PlocBuilder::with_capacity(n).build(
                    params.ploc_search_distance,
                    &boxes,
                    (0..n as u32).collect(),
                    params.sort_precision,
                    0,
                );
                std::hint::black_box(obvhs::cwbvh::bvh2_to_cwbvh::bvh2_to_cwbvh(&binary, 1, false, false));
            });
        }
        let [update, fitted, by_medians, by_morton, theirs] = times.map(|mut times| {
            times.sort_unstable();
            times[N_ROUNDS / 2]
        });
        let surface = costs[1] / costs[0];
        println!(
            "{n} instances: update {update:?}; trees: fitted {fitted:?}, by medians {by_medians:?}, \
             by Morton codes {by_morton:?} (surface × {surface:.2}), obvhs {theirs:?}"
        );
    }
}

/// Of a box's middle in a cube of 128 m, 10 bits for each axis.
fn morton_code(one: &Bounds) -> u32 {
    let cell =
        ((0.5 * (one.min + one.max) + 64.0) * 8.0).clamp(glam::Vec3A::ZERO, glam::Vec3A::splat(1023.0)).as_uvec3();
    (0..10)
        .map(|bit| {
            (cell.x >> bit & 1) << (3 * bit)
                | (cell.y >> bit & 1) << (3 * bit + 1)
                | (cell.z >> bit & 1) << (3 * bit + 2)
        })
        .sum()
}
