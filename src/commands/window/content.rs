//! What a camera is among: how large the scene is where most of it is, and how far what is looked at is.
//!
//! The box around everything says little: one hill or a backdrop makes it a hundred times as large as what is looked at.

use glam::Vec3;
use praxis::scene::assets::Aabb;
use praxis::scene::{MeshInstance, Scene, Slot};

/// The share of instances that counts as the scene; the rest may be a backdrop.
const CROWD: f32 = 0.8;
/// Distances of content, in crowd radii: the nearest, and what is taken where nothing is in sight.
const NEAREST_RADII: f32 = 0.005;
const NOTHING_RADII: f32 = 0.35;

/// The world boxes of a scene's instances.
pub struct Content {
    boxes: Vec<Aabb>,
}

impl Content {
    /// As of the scene's last update. Looks at each instance.
    pub fn of(scene: &Scene) -> Self {
        let hierarchy = scene.hierarchy();
        let boxes = scene.world.iter_entities().filter_map(|entity| {
            let (slot, instance) = (entity.get::<Slot>()?, entity.get::<MeshInstance>()?);
            let mesh = scene.assets.meshes.get(instance.mesh.0 as usize)?;
            Some(mesh.bounds.transformed(hierarchy.world(slot.0)))
        });
        Self::from_boxes(boxes)
    }

    /// Of these boxes; those that are empty or not finite don't count.
    pub fn from_boxes(boxes: impl IntoIterator<Item = Aabb>) -> Self {
        let is_usable = |b: &Aabb| !b.is_empty() && b.min.is_finite() && b.max.is_finite();
        Self { boxes: boxes.into_iter().filter(is_usable).collect() }
    }

    /// Half the size, in metres, of where most instances are; 1 without any.
    pub fn radius(&self) -> f32 {
        let middle = Vec3::from_array(std::array::from_fn(|axis| {
            quantile(self.boxes.iter().map(|b| b.center()[axis]).collect(), 0.5).unwrap_or(0.0)
        }));
        let reach = self.boxes.iter().map(|b| b.center().distance(middle) + b.radius()).collect();
        quantile(reach, CROWD).filter(|radius| *radius > 0.0 && radius.is_finite()).unwrap_or(1.0)
    }

    /// How far before `eye` the content is that it looks at along `forward` (of length 1), in metres: the first instance in
    /// the line of sight whose box `eye` isn't in; else the middle of the scene if it lies ahead; else some way off.
    pub fn distance(&self, eye: Vec3, forward: Vec3) -> f32 {
        let radius = self.radius();
        let nearest = NEAREST_RADII * radius;
        let in_sight = self.boxes.iter().filter_map(|b| entry(b, eye, forward)).min_by(f32::total_cmp);
        if let Some(distance) = in_sight {
            return distance.max(nearest);
        }
        let all = self.boxes.iter().fold(Aabb::EMPTY, |all, b| all.union(*b));
        let is_inside = eye.cmpge(all.min).all() && eye.cmple(all.max).all();
        let ahead = (all.center() - eye).dot(forward);
        if !is_inside && !all.is_empty() && ahead > nearest { ahead } else { NOTHING_RADII * radius }
    }
}

/// Where a ray enters a box from outside, by slabs (Kay and Kajiya 1986), plus half the way through it: the middle of what is
/// seen there. `None` if it misses or starts inside.
fn entry(bounds: &Aabb, origin: Vec3, direction: Vec3) -> Option<f32> {
    let to_min = (bounds.min - origin) / direction;
    let to_max = (bounds.max - origin) / direction;
    // A ray within a slab's plane gives 0/0 there; `max` and `min` then keep the other number.
    let enters = to_min.min(to_max).to_array().into_iter().fold(f32::NEG_INFINITY, f32::max);
    let leaves = to_min.max(to_max).to_array().into_iter().fold(f32::INFINITY, f32::min);
    let is_hit = enters > 0.0 && enters <= leaves && leaves.is_finite();
    is_hit.then_some(0.5 * (enters + leaves))
}

/// The value below which a share `p` of `values` lies, to the nearest one.
fn quantile(mut values: Vec<f32>, p: f32) -> Option<f32> {
    values.sort_unstable_by(f32::total_cmp);
    values.get(((values.len().saturating_sub(1)) as f32 * p).round() as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(center: Vec3, half: f32) -> Aabb {
        Aabb { min: center - half, max: center + half }
    }

    /// A hundred houses on a grid of 10 m, on a hill of 5 km.
    fn town() -> Content {
        let houses = (0..100).map(|idx| cube(Vec3::new((idx % 10) as f32 * 10.0, 3.0, (idx / 10) as f32 * 10.0), 3.0));
        let hill = Aabb { min: Vec3::new(-5e3, -20.0, -5e3), max: Vec3::new(5e3, 100.0, 5e3) };
        Content::from_boxes(houses.chain([hill]))
    }

    #[test]
    fn window_content_is_as_large_as_where_most_of_it_is() {
        let radius = town().radius();
        assert!((40.0..80.0).contains(&radius), "{radius}");
        let one = Content::from_boxes([cube(Vec3::splat(7.0), 1.0)]).radius();
        assert!((one - 3f32.sqrt()).abs() < 1e-4);
    }

    #[test]
    fn window_content_is_what_stands_in_the_line_of_sight() {
        let town = town();
        // Between two rows, at a house to the right; the hill's box is all around and no target.
        let at_house = town.distance(Vec3::new(5.0, 3.0, 10.0), Vec3::X);
        assert!((at_house - 5.0).abs() < 1e-4, "{at_house}");
        // Along the street, and into the sky: nothing there.
        for forward in [Vec3::Z, Vec3::Y] {
            let distance = town.distance(Vec3::new(5.0, 3.0, 15.0), forward);
            assert!((distance - NOTHING_RADII * town.radius()).abs() < 1e-3, "{distance}");
        }
    }

    #[test]
    fn window_content_of_a_model_seen_from_outside_is_its_middle() {
        let content = Content::from_boxes([cube(Vec3::ZERO, 1.0)]);
        assert!((content.distance(Vec3::new(0.0, 0.0, 5.0), Vec3::NEG_Z) - 5.0).abs() < 1e-4);
        // Past it, but it lies ahead; and away from it.
        let past = Vec3::new(0.5, 0.0, -1.0).normalize();
        assert!((content.distance(Vec3::new(0.0, 0.0, 5.0), past) - 5.0 * -past.z).abs() < 1e-3);
        assert!(content.distance(Vec3::new(0.0, 0.0, 5.0), Vec3::Z) > 0.0);
    }

    #[test]
    fn window_content_survives_nothing_and_nonsense() {
        let odd = [Aabb::EMPTY, cube(Vec3::NAN, 1.0), cube(Vec3::INFINITY, 1.0)];
        for content in [Content::from_boxes([]), Content::from_boxes(odd)] {
            assert_eq!(content.radius(), 1.0);
            assert!(content.distance(Vec3::ZERO, Vec3::Z) > 0.0);
        }
        let flat = Content::from_boxes([Aabb { min: Vec3::ZERO, max: Vec3::new(1.0, 0.0, 1.0) }]);
        assert!(flat.distance(Vec3::new(0.5, 0.0, -1.0), Vec3::Z).is_finite(), "a ray within a flat box");
    }
}
