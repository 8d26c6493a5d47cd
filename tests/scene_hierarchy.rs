//! The flat hierarchy against the plainest computation there is: multiply each node's ancestors together.

use glam::{Affine3A, Quat, Vec3};
use praxis::scene::{HierarchyBuilder, NO_PARENT};
use proptest::prelude::*;

/// Parents by build index (each below the node's own), and rounds of moves: node and seed of its new transform.
#[derive(Debug, Clone)]
struct Case {
    parents: Vec<Option<usize>>,
    rounds: Vec<Vec<(usize, u32)>>,
}

fn cases() -> impl Strategy<Value = Case> {
    (1usize..120).prop_flat_map(|n| {
        let parents: Vec<_> = (0..n)
            .map(|node| if node == 0 { Just(None).boxed() } else { proptest::option::weighted(0.85, 0..node).boxed() })
            .collect();
        let rounds = proptest::collection::vec(proptest::collection::vec((0..n, any::<u32>()), 0..12), 1..8);
        (parents, rounds).prop_map(|(parents, rounds)| Case { parents, rounds })
    })
}

/// Some transform near the identity, so that long chains stay finite.
fn transform(seed: u32) -> Affine3A {
    let part = |shift: u32| (seed.wrapping_mul(2_654_435_761) >> shift & 0xFF) as f32 / 255.0 - 0.5;
    Affine3A::from_scale_rotation_translation(
        Vec3::new(1.0 + 0.1 * part(0), 1.0, -1.0 + 0.1 * part(3)),
        Quat::from_euler(glam::EulerRot::YXZ, part(6), part(9), part(12)),
        Vec3::new(part(15), part(18), part(21)),
    )
}

fn world_of(node: usize, parents: &[Option<usize>], locals: &[Affine3A]) -> Affine3A {
    match parents[node] {
        Some(parent) => world_of(parent, parents, locals) * locals[node],
        None => locals[node],
    }
}

fn is_at_or_below(mut node: usize, ancestor: usize, parents: &[Option<usize>]) -> bool {
    loop {
        if node == ancestor {
            return true;
        }
        match parents[node] {
            Some(parent) => node = parent,
            None => return false,
        }
    }
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let Case { parents, rounds } = case;
    let n = parents.len();
    let mut locals: Vec<Affine3A> = (0..n as u32).map(transform).collect();
    let mut builder = HierarchyBuilder::default();
    for (parent, &local) in parents.iter().zip(&locals) {
        builder.add(parent.map_or(NO_PARENT, |parent| parent as u32), local);
    }
    let built_worlds = builder.world_transforms();
    let (mut hierarchy, slot_of) = builder.build();
    for (node, built) in built_worlds.iter().enumerate() {
        prop_assert_eq!(built, hierarchy.world(slot_of[node]));
        let slot = slot_of[node];
        match parents[node] {
            Some(parent) => {
                prop_assert_eq!(hierarchy.parent(slot), slot_of[parent]);
                prop_assert!(slot_of[parent] < slot, "parents stand before children");
                prop_assert!(hierarchy.children(slot_of[parent]).contains(&slot));
            }
            None => prop_assert_eq!(hierarchy.parent(slot), NO_PARENT),
        }
    }
    for round in rounds {
        for &(node, seed) in round {
            locals[node] = transform(seed);
            hierarchy.set_local(slot_of[node], locals[node]);
        }
        hierarchy.propagate();
        let mut expected: Vec<u32> = (0..n)
            .filter(|&node| round.iter().any(|&(moved, _)| is_at_or_below(node, moved, parents)))
            .map(|node| slot_of[node])
            .collect();
        let mut written = hierarchy.world_moved().to_vec();
        expected.sort_unstable();
        written.sort_unstable();
        prop_assert_eq!(written, expected, "exactly the moved subtrees are written, each slot once");
        for (node, &slot) in slot_of.iter().enumerate() {
            let naive = world_of(node, parents, &locals);
            prop_assert!(hierarchy.world(slot).abs_diff_eq(naive, 1e-4), "node {}", node);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn worlds_match_a_naive_computation_and_only_moved_subtrees_are_written(case in cases()) {
        check(&case)?;
    }
}

#[test]
fn worlds_still_match_after_1000_random_frames() {
    let mut state = 1u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let n = 300;
    let parents = (0..n).map(|node| (node % 20 != 0).then(|| random() as usize % node)).collect();
    let rounds = (0..1000).map(|_| (0..10).map(|_| (random() as usize % n, random())).collect()).collect();
    check(&Case { parents, rounds }).unwrap();
}
