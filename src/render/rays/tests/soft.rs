//! Soft shadows: how wide their penumbrae are, and that nothing about them is left to chance.

use super::*;

const SIZE: [u32; 2] = [160, 120];

/// A wide floor, and over it a bar along x at a height; the sun stands at the zenith, the camera beside the bar's edge, so that it sees all
/// of the floor below that.
fn bar_over_floor(folder: &SceneFolder, height: f32, sun: &str) -> Scene {
    let camera = "Still(position: (0.01, 4, -1.2), target: (0, 0, -1.2), fov_y_deg: 40)";
    let nodes = format!(
        "(name: \"plane\", model: \"plane\", scale: (3, 1, 3)), (name: \"bar\", model: \"bar\", translation: (0, {height:?}, 0))"
    );
    folder.scene(sun, camera, &["plane", "bar"], &nodes)
}

fn folder() -> SceneFolder {
    let folder = SceneFolder::new();
    folder.add_plane("plane");
    // Only one edge of its shadow is in view.
    folder.add_box("bar", Vec3::new(-9.0, 0.0, 0.0), Vec3::new(9.0, 0.01, 9.0));
    folder
}

/// Lines of pixels along the shadow's edge that hold light and shadow, at least one sample in fifty of each. The edge runs along rows or
/// columns, whichever way up the camera is: across it, every line holds both.
fn n_mixed_lines(bytes: &[[u8; 4]]) -> usize {
    let px = |x: u32, y: u32| bytes[(y * SIZE[0] + x) as usize];
    let is_mixed = |line: Vec<[u8; 4]>| {
        let n_of = |wanted| line.iter().flatten().filter(|&&byte| byte == wanted).count();
        n_of(LIT).min(n_of(DARK)) * 50 > n_of(LIT) + n_of(DARK)
    };
    let n_rows = (0..SIZE[1]).filter(|&y| is_mixed((0..SIZE[0]).map(|x| px(x, y)).collect())).count();
    let n_columns = (0..SIZE[0]).filter(|&x| is_mixed((0..SIZE[1]).map(|y| px(x, y)).collect())).count();
    n_rows.min(n_columns)
}

fn backends() -> Vec<RayBackend> {
    if gpu().has_ray_queries() { vec![RayBackend::Bvh, RayBackend::Query] } else { vec![RayBackend::Bvh] }
}

#[test]
fn a_sun_without_width_casts_the_shadows_of_a_point() {
    let folder = folder();
    for backend in backends() {
        for rays in [RayMode::Hard, RayMode::Edge] {
            let [unsaid, zero] = ["(elevation_deg: 90)", "(elevation_deg: 90, angular_diameter_deg: 0)"].map(|sun| {
                let mut scene = bar_over_floor(&folder, 0.5, sun);
                sun_bytes_of_frame(&mut scene, SIZE, 4, rays, 3, Some(backend))
            });
            assert_eq!(unsaid, zero);
            // Next to no width at all takes the other way through the shaders, to the same picture but for grazes.
            let mut scene = bar_over_floor(&folder, 0.5, "(elevation_deg: 90, angular_diameter_deg: 0.00001)");
            let almost = sun_bytes_of_frame(&mut scene, SIZE, 4, rays, 3, Some(backend));
            let n_differ = unsaid.iter().zip(&almost).filter(|(a, b)| a != b).count();
            assert!(n_differ < 20, "{n_differ} pixels differ by {}", backend.name());
        }
    }
}

/// A penumbra is as wide as the caster's distance times the sun's angular diameter.
#[test]
fn penumbrae_widen_with_the_casters_distance() {
    let folder = folder();
    // 4 m away, 40° over 120 pixels.
    let px_per_metre = SIZE[1] as f32 / (2.0 * 4.0 * 20f32.to_radians().tan());
    for backend in backends() {
        for rays in [RayMode::Hard, RayMode::Edge] {
            let mut widths = Vec::new();
            for height in [0.25f32, 0.5, 1.0] {
                let mut scene = bar_over_floor(&folder, height, "(elevation_deg: 90, angular_diameter_deg: 20)");
                let bytes = sun_bytes_of_frame(&mut scene, SIZE, 4, rays, 0, Some(backend));
                let width_px = n_mixed_lines(&bytes);
                let expected = 2.0 * height * 10f32.to_radians().tan() * px_per_metre;
                assert!(
                    (0.6 * expected..1.15 * expected + 2.0).contains(&(width_px as f32)),
                    "{width_px} lines at {height} m, expected {expected}, by {}",
                    backend.name()
                );
                widths.push(width_px);
            }
            assert!(widths.is_sorted() && widths[2] > 2 * widths[0], "{widths:?}");
        }
    }
}

#[test]
fn the_pattern_follows_from_the_frame_index() {
    let folder = folder();
    // By another renderer, and with another frame before it.
    let [alone, after] = [&[5][..], &[6, 5]].map(|frames| {
        let mut scene = bar_over_floor(&folder, 1.0, "(elevation_deg: 90, angular_diameter_deg: 20)");
        sun_bytes_of_frames(&mut scene, SIZE, 4, RayMode::Edge, frames, None)
    });
    assert_eq!(alone[0], after[1]);
    let n_differ = alone[0].iter().zip(&after[0]).filter(|(a, b)| a != b).count();
    assert!(n_differ > 200, "{n_differ} pixels differ between frames");
}

/// Over many frames the pattern fills the disc: as much light falls on one side of the hard shadow's edge as is missing on the other.
#[test]
fn frames_together_fill_the_disc() {
    let folder = folder();
    let mut lit = 0.0;
    let mut n = 0.0;
    let mut scene = bar_over_floor(&folder, 1.0, "(elevation_deg: 90, angular_diameter_deg: 20)");
    let frames: Vec<u32> = (0..16).collect();
    for bytes in sun_bytes_of_frames(&mut scene, SIZE, 1, RayMode::Hard, &frames, None) {
        let known = bytes.iter().map(|bytes| bytes[0]).filter(|&byte| byte == LIT || byte == DARK);
        for byte in known {
            lit += f64::from(u8::from(byte == LIT));
            n += 1.0;
        }
    }
    let mut scene = bar_over_floor(&folder, 1.0, "(elevation_deg: 90)");
    let bytes = sun_bytes_of_frame(&mut scene, SIZE, 1, RayMode::Hard, 0, None);
    let hard = bytes.iter().filter(|bytes| bytes[0] == LIT).count() as f64
        / bytes.iter().filter(|bytes| bytes[0] == LIT || bytes[0] == DARK).count() as f64;
    assert!((lit / n - hard).abs() < 0.01, "{} of {hard}", lit / n);
}
