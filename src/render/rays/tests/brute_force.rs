//! The same answers by other means: every triangle, in 64 bits.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{Hierarchy, Random, TestRay, Tracer};
use crate::scene::assets::{AlphaMode, Assets};
use crate::scene::{MeshInstance, Scene, Slot};

/// Every triangle of every caster in world space, with what its mask needs; all in 64 bits.
pub struct BruteForce<'a> {
    assets: &'a Assets,
    triangles: Vec<BruteTriangle>,
}

struct BruteTriangle {
    corners: [DVec3; 3],
    material: usize,
    uv: [[f32; 2]; 3],
}

/// What is certain about a ray: whether something is hit well inside, and whether anything is hit even by a hair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub is_surely_blocked: bool,
    pub is_blocked: bool,
    pub is_maybe_blocked: bool,
}

impl<'a> BruteForce<'a> {
    /// From the world and the assets: nothing of what was built for the rays.
    pub fn new(scene: &'a mut Scene) -> Self {
        let mut found = scene.world.query::<(&Slot, &MeshInstance)>();
        let hierarchy = scene.world.resource::<Hierarchy>();
        let assets = &scene.assets;
        let mut triangles = Vec::new();
        for (slot, instance) in found.iter(&scene.world) {
            let (mesh, material) = (&assets.meshes[instance.mesh.0 as usize], instance.material.0 as usize);
            if assets.materials[material].alpha_mode == AlphaMode::Blend {
                continue;
            }
            let world = glam::DAffine3::from_mat4(glam::DMat4::from_cols_array(
                &glam::Mat4::from(*hierarchy.world(slot.0)).to_cols_array().map(f64::from),
            ));
            let point = |i: u32| world.transform_point3(Vec3::from(mesh.positions[i as usize]).as_dvec3());
            triangles.extend(mesh.indices.chunks_exact(3).map(|t| BruteTriangle {
                corners: [point(t[0]), point(t[1]), point(t[2])],
                material,
                uv: [t[0], t[1], t[2]].map(|i| mesh.uv0[i as usize]),
            }));
        }
        Self { assets, triangles }
    }

    pub fn trace(&self, ray: &TestRay, ignores_masks: bool) -> Verdict {
        let origin = Vec3::from(ray.origin).as_dvec3();
        let direction = Vec3::from(ray.direction).as_dvec3();
        let t_max = f64::from(ray.t_max);
        let mut verdict = Verdict { is_surely_blocked: false, is_blocked: false, is_maybe_blocked: false };
        for triangle in &self.triangles {
            // Möller & Trumbore 1997.
            let [p0, p1, p2] = triangle.corners;
            let (e1, e2) = (p1 - p0, p2 - p0);
            let p = direction.cross(e2);
            let determinant = e1.dot(p);
            if determinant.abs() < 1e-30 {
                continue;
            }
            let s = origin - p0;
            let u = s.dot(p) / determinant;
            let q = s.cross(e1);
            let v = direction.dot(q) / determinant;
            let t = e2.dot(q) / determinant;
            let inside = u.min(v).min(1.0 - u - v);
            // Rounding moves a hit by as much as the numbers are large and the triangle is seen edge on.
            let sine = (e1.cross(e2).normalize().dot(direction.normalize())).abs().max(1e-9);
            let slack = 2e-6 * (1.0 + s.length()) / sine;
            let graze = 1e-4 + slack / e1.length().min(e2.length()).min((p2 - p1).length());
            if inside < -graze || t < -slack || t > t_max + slack {
                continue;
            }
            let (stops, is_clear) = if ignores_masks { (true, true) } else { self.mask_stops(triangle, u, v) };
            verdict.is_blocked |= stops && inside >= 0.0 && t > 0.0 && t < t_max;
            let is_well_inside = inside > graze && t > slack && t < t_max - slack;
            verdict.is_surely_blocked |= stops && is_clear && is_well_inside;
            verdict.is_maybe_blocked |= stops || !is_clear;
        }
        verdict
    }

    /// Whether the ray is stopped, and whether the alpha is far enough from the cutoff to be sure.
    fn mask_stops(&self, triangle: &BruteTriangle, u: f64, v: f64) -> (bool, bool) {
        let material = &self.assets.materials[triangle.material];
        let AlphaMode::Mask { cutoff } = material.alpha_mode else { return (true, true) };
        let Some(texture) = &material.base_color_texture else { return (material.base_color[3] >= cutoff, true) };
        let image = &self.assets.images[texture.image.0 as usize];
        let weights = [1.0 - u - v, u, v];
        let uv: [f64; 2] =
            std::array::from_fn(|c| (0..3).map(|i| weights[i] * f64::from(triangle.uv[i][c])).sum::<f64>());
        let (x, y) = (uv[0] * f64::from(image.width) - 0.5, uv[1] * f64::from(image.height) - 0.5);
        let texel = |x: f64, y: f64| {
            let wrap = |i: f64, n: u32| (i as i64).rem_euclid(i64::from(n)) as usize;
            let at = wrap(y, image.height) * image.width as usize + wrap(x, image.width);
            f64::from(image.rgba8[4 * at + 3]) / 255.0
        };
        let (x0, y0, fx, fy) = (x.floor(), y.floor(), x - x.floor(), y - y.floor());
        let row = |y: f64| texel(x0, y) * (1.0 - fx) + texel(x0 + 1.0, y) * fx;
        let alpha = f64::from(material.base_color[3]) * (row(y0) * (1.0 - fy) + row(y0 + 1.0) * fy);
        // Texture units weigh texels in steps of 1/256.
        (alpha >= f64::from(cutoff), (alpha - f64::from(cutoff)).abs() > 0.02)
    }
}

/// Rays from around a box, some of them short, towards points in it and anywhere.
pub fn random_rays(n: usize, low: Vec3, high: Vec3, seed: u64) -> Vec<TestRay> {
    let mut random = Random(seed);
    let size = (high - low).length();
    (0..n)
        .map(|i| {
            let margin = Vec3::splat(0.2 * size);
            let origin = random.within(low - margin, high + margin);
            let direction =
                if i % 3 == 0 { random.direction() } else { (random.within(low, high) - origin).normalize_or(Vec3::X) };
            let t_max = if i % 4 == 0 { size * random.next() } else { 1e30 };
            TestRay { origin: origin.into(), t_max, direction: direction.into(), _pad: 0.0 }
        })
        .collect()
}

/// Compares on `n` rays; returns how many were blocked.
pub fn compare(name: &str, scene: &mut Scene, tracer: &mut Tracer, n: usize, seed: u64) -> usize {
    let bounds = scene.bounds();
    let mut test_rays = random_rays(n, bounds.min, bounds.max, seed);
    if tracer.is_towards_sun {
        for ray in &mut test_rays {
            (ray.direction, ray.t_max) = (scene.sun().direction().into(), 1e30);
        }
    }
    let ours = tracer.trace(scene, &test_rays);
    let brute = BruteForce::new(scene);
    let theirs: Vec<Verdict> = test_rays.par_iter().map(|ray| brute.trace(ray, false)).collect();
    let mut n_grazes = 0;
    for ((ray, &is_blocked), verdict) in test_rays.iter().zip(&ours).zip(&theirs) {
        let is_right = if is_blocked { verdict.is_maybe_blocked } else { !verdict.is_surely_blocked };
        assert!(is_right, "{name}: {is_blocked} for {ray:?}, which is no graze: {verdict:?}");
        n_grazes += usize::from(is_blocked != verdict.is_blocked);
    }
    assert!(n_grazes * 10_000 <= n.max(10_000), "{name}: {n_grazes} of {n} rays differ");
    println!("{name}: {n_grazes} of {n} rays differ, all of them grazes");
    let n_blocked = ours.iter().filter(|&&is_blocked| is_blocked).count();
    assert!(n_blocked > n / 20 && n_blocked < n * 19 / 20, "{name}: {n_blocked} of {n} blocked make a poor test");
    n_blocked
}
