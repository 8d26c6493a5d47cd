//! A small software rasteriser to look at the town without a GPU: z-buffer, textures, sun and sky, no shadows.

pub mod flat;
mod images;
mod raster;

use crate::math::{PI, cos, sin};
use crate::scene::{Camera, Scene, SceneNode};
use crate::town;
use flat::Flat;
use glam::Vec3;
use images::{Images, decode_images};
use raster::{View, render};
use std::io::Write as _;
use std::path::Path;

const WIDTH: usize = 1280;
const HEIGHT: usize = 720;

fn save(path: &Path, rgb: &[u8]) -> Result<(), String> {
    image::save_buffer(path, rgb, WIDTH as u32, HEIGHT as u32, image::ExtendedColorType::Rgb8)
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// Draws cameras of the scene: NAME or NAME@FRAME.
pub fn cameras(folder: &Path, names: &[&str]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (catalog, scene) = town::build();
    let mut cache: Option<Images> = None;
    let stills: Vec<&str> = scene.cameras.iter().filter(|c| matches!(c.1, Camera::Still { .. })).map(|c| c.0).collect();
    for name in if names.is_empty() { &stills } else { names } {
        let (camera, frame) = name.split_once('@').map_or((*name, 0), |(n, f)| (n, f.parse().unwrap_or(0)));
        let view = if let Some(six) = camera.strip_prefix("at:") {
            let v: Vec<f32> = six.split(',').filter_map(|n| n.parse().ok()).collect();
            if v.len() != 7 {
                return Err(format!("{camera}: want at:X,Y,Z,X,Y,Z,FOV"));
            }
            View::new(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]), v[6])
        } else {
            let found = scene.cameras.iter().find(|c| c.0 == camera).ok_or_else(|| format!("no camera {camera:?}"))?;
            match &found.1 {
                Camera::Still { position, target, fov_y_deg } => View::new(*position, *target, *fov_y_deg),
                Camera::Path { keys, fov_y_deg } => {
                    let (p, t) = key_at(keys, frame as f32);
                    View::new(p, t, *fov_y_deg)
                }
            }
        };
        let flat = Flat::build(&catalog, &scene, frame)?;
        let images = match cache.take() {
            Some(images) => images,
            None => decode_images(&flat.materials)?,
        };
        let file = camera.replace([':', ','], "_");
        save(&folder.join(format!("{file}_{frame}.png")), &render(&flat, &view, &images))?;
        cache = Some(images);
    }
    Ok(())
}

/// Position and target of a camera path at a frame.
pub fn key_at(keys: &[crate::scene::Key], frame: f32) -> (Vec3, Vec3) {
    let i = keys.partition_point(|k| (k.frame as f32) <= frame).clamp(1, keys.len() - 1);
    let get = |k: isize| &keys[k.clamp(0, keys.len() as isize - 1) as usize];
    let (a, b) = (get(i as isize - 1), get(i as isize));
    let t = ((frame - a.frame as f32) / (b.frame - a.frame).max(1) as f32).clamp(0.0, 1.0);
    let spline = |f: fn(&crate::scene::Key) -> Vec3| {
        let (p0, p1, p2, p3) = (f(get(i as isize - 2)), f(a), f(b), f(get(i as isize + 1)));
        0.5 * (p1 * 2.0
            + (p2 - p0) * t
            + (p0 * 2.0 - p1 * 5.0 + p2 * 4.0 - p3) * (t * t)
            + (p1 * 3.0 - p0 - p2 * 3.0 + p3) * (t * t * t))
    };
    (spline(|k| k.position), spline(|k| k.target))
}

/// Draws models on their own, framed by their bounds.
pub fn models(folder: &Path, names: &[&str]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (catalog, _) = town::build();
    for name in names {
        let (model, turn) = name.split_once('@').map_or((*name, 35.0), |(n, t)| (n, t.parse().unwrap_or(35.0)));
        let scene = Scene { nodes: vec![SceneNode::model(model, crate::catalog::At::default())], ..Scene::default() };
        let flat = Flat::build(&catalog, &scene, 0)?;
        let points = flat.draws.iter().flat_map(|d| d.part.positions.iter().map(|p| d.frame.point(*p)));
        let (lo, hi) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)));
        let (center, radius) = ((lo + hi) * 0.5, (hi - lo).length() * 0.5);
        let a = turn * PI / 180.0;
        let eye = center + Vec3::new(sin(a) * 0.93, 0.36, cos(a) * 0.93) * radius * 2.5;
        let images = decode_images(&flat.materials)?;
        let _ = writeln!(std::io::stdout(), "{model}: {}; {lo:.2} to {hi:.2}", flat.summary());
        save(&folder.join(format!("{model}.png")), &render(&flat, &View::new(eye, center, 42.0), &images))?;
    }
    Ok(())
}
