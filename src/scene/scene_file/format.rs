//! What stands in a scene file, as serde reads it; `docs/scene-file.md` describes it.

use glam::Vec3;
use serde::Deserialize;

use super::values::{Axis, Color, Entries, Finite, Name, NotNegative, Point, Positive};
use crate::scene::camera::CameraKey;
use crate::scene::components::Sun;
use crate::scene::spline;

/// The only schema so far.
pub(super) const SCHEMA: &str = "praxis.scene/1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SceneFile<'a> {
    #[serde(borrow)]
    pub schema: Name<'a>,
    #[serde(default, rename = "title")]
    pub _title: String,
    #[serde(default)]
    pub sun: SunFile,
    #[serde(default)]
    pub exposure_ev100: Option<Finite>,
    #[serde(default, borrow)]
    pub models: Entries<'a, ModelFile<'a>>,
    #[serde(default, borrow)]
    pub cameras: Entries<'a, CameraFile>,
    #[serde(default, borrow)]
    pub default_camera: Option<Name<'a>>,
    #[serde(default, borrow)]
    pub bench_camera: Option<Name<'a>>,
    #[serde(default, borrow)]
    pub paths: Entries<'a, PathFile>,
    #[serde(borrow)]
    pub nodes: Vec<NodeFile<'a>>,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SunFields {
    elevation_deg: Finite,
    azimuth_deg: Finite,
    turbidity: Finite,
    sky_px: u32,
    angular_diameter_deg: Finite,
}

impl Default for SunFields {
    fn default() -> Self {
        let sun = Sun::default();
        let [elevation_deg, azimuth_deg, turbidity, angular_diameter_deg] =
            [sun.elevation_deg, sun.azimuth_deg, sun.turbidity, sun.angular_diameter_deg].map(Finite);
        Self { elevation_deg, azimuth_deg, turbidity, sky_px: sun.sky_px, angular_diameter_deg }
    }
}

#[derive(Deserialize, Default)]
#[serde(try_from = "SunFields")]
pub(super) struct SunFile(pub Sun);

impl TryFrom<SunFields> for SunFile {
    type Error = String;

    fn try_from(fields: SunFields) -> Result<Self, String> {
        let SunFields { elevation_deg, azimuth_deg, turbidity, sky_px, angular_diameter_deg } = fields;
        if !(-90.0..=90.0).contains(&elevation_deg.0) {
            return Err(format!("the sun's elevation_deg is {}; it must be within -90 to 90", elevation_deg.0));
        }
        if !(1.0..=10.0).contains(&turbidity.0) {
            return Err(format!("the sun's turbidity is {}; it must be within 1 to 10", turbidity.0));
        }
        if !matches!(sky_px, 32 | 64 | 128 | 256) {
            return Err(format!("the sun's sky_px is {sky_px}; it must be 32, 64, 128 or 256"));
        }
        if !(0.0..=90.0).contains(&angular_diameter_deg.0) {
            return Err(format!(
                "the sun's angular_diameter_deg is {}; it must be within 0 to 90",
                angular_diameter_deg.0
            ));
        }
        Ok(Self(Sun {
            elevation_deg: elevation_deg.0,
            azimuth_deg: azimuth_deg.0,
            turbidity: turbidity.0,
            sky_px,
            angular_diameter_deg: angular_diameter_deg.0,
        }))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelFile<'a> {
    #[serde(borrow)]
    pub file: Name<'a>,
    #[serde(default, borrow)]
    pub node: Option<Name<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum CameraFields {
    Still {
        position: Point,
        target: Point,
        #[serde(default = "default_fov_y_deg")]
        fov_y_deg: Positive,
        #[serde(default = "default_near_m")]
        near_m: Positive,
    },
    Path {
        keys: Vec<KeyFields>,
        #[serde(default = "default_fov_y_deg")]
        fov_y_deg: Positive,
        #[serde(default = "default_near_m")]
        near_m: Positive,
    },
}

fn default_fov_y_deg() -> Positive {
    Positive(50.0)
}

fn default_near_m() -> Positive {
    Positive(0.1)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFields {
    frame: u32,
    position: Point,
    target: Point,
}

/// A camera: one key at frame 0 for one that stands still.
#[derive(Deserialize)]
#[serde(try_from = "CameraFields")]
pub(super) struct CameraFile {
    pub keys: Vec<CameraKey>,
    pub fov_y_deg: f32,
    pub near_m: f32,
}

impl TryFrom<CameraFields> for CameraFile {
    type Error = String;

    fn try_from(fields: CameraFields) -> Result<Self, String> {
        let (keys, Positive(fov_y_deg), Positive(near_m)) = match fields {
            CameraFields::Still { position, target, fov_y_deg, near_m } => {
                (vec![KeyFields { frame: 0, position, target }], fov_y_deg, near_m)
            }
            CameraFields::Path { keys, fov_y_deg, near_m } => (keys, fov_y_deg, near_m),
        };
        if keys.is_empty() {
            return Err("the camera's path has no keys; it needs at least one".into());
        }
        if fov_y_deg >= 179.0 {
            return Err(format!("fov_y_deg is {fov_y_deg}; it must be below 179"));
        }
        if let Some(pair) = keys.windows(2).find(|pair| pair[0].frame >= pair[1].frame) {
            return Err(format!("key {} comes before key {}; frames must ascend", pair[0].frame, pair[1].frame));
        }
        if let Some(key) = keys.iter().find(|key| key.position.0.distance(key.target.0) < 1e-6) {
            return Err(format!("the camera looks at its own position at frame {}; move its target", key.frame));
        }
        let to_key = |key: KeyFields| CameraKey { frame: key.frame, position: key.position.0, target: key.target.0 };
        Ok(Self { keys: keys.into_iter().map(to_key).collect(), fov_y_deg, near_m })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathFields {
    #[serde(default)]
    closed: bool,
    points: Vec<Point>,
}

#[derive(Deserialize)]
#[serde(try_from = "PathFields")]
pub(super) struct PathFile(pub spline::Path);

impl TryFrom<PathFields> for PathFile {
    type Error = String;

    fn try_from(fields: PathFields) -> Result<Self, String> {
        let n = fields.points.len();
        let points: Vec<Vec3> = fields.points.into_iter().map(|point| point.0).collect();
        let path = spline::Path::new(points, fields.closed);
        path.map(Self).ok_or_else(|| format!("the path's {n} points make no way; it needs two at different places"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeFile<'a> {
    #[serde(default, rename = "name")]
    pub _name: String,
    #[serde(default, borrow)]
    pub model: Option<Name<'a>>,
    #[serde(default = "zero")]
    pub translation: Point,
    /// Pitch, yaw, roll.
    #[serde(default = "zero")]
    pub rotation_deg: Point,
    #[serde(default = "one")]
    pub scale: Point,
    #[serde(default = "white")]
    pub tint: Color,
    #[serde(default, borrow)]
    pub motion: Option<MotionFile<'a>>,
    #[serde(default)]
    pub light: Option<LightFile>,
    #[serde(default, borrow)]
    pub children: Vec<NodeFile<'a>>,
}

fn zero() -> Point {
    Point(Vec3::ZERO)
}

fn one() -> Point {
    Point(Vec3::ONE)
}

fn white() -> Color {
    Color([1.0; 3])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum MotionFile<'a> {
    Spin {
        axis: Axis,
        rpm: Finite,
        #[serde(default)]
        phase_deg: Finite,
    },
    Swing {
        axis: Axis,
        amplitude_deg: Finite,
        period_s: Positive,
        #[serde(default)]
        phase: Finite,
    },
    Bob {
        amplitude_m: Point,
        period_s: Positive,
        #[serde(default)]
        phase: Finite,
    },
    Circle {
        radius_m: Finite,
        period_s: Positive,
        #[serde(default)]
        phase: Finite,
    },
    Follow {
        #[serde(borrow)]
        path: Name<'a>,
        speed_mps: Finite,
        #[serde(default)]
        offset_m: Finite,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
enum LightFields {
    Point {
        #[serde(default = "white")]
        color: Color,
        intensity_cd: NotNegative,
        range_m: Positive,
    },
    Spot {
        #[serde(default = "white")]
        color: Color,
        intensity_cd: NotNegative,
        range_m: Positive,
        #[serde(default)]
        inner_deg: Finite,
        outer_deg: Positive,
    },
}

/// A light; `cone` holds the inner and outer half angle of a spot light, degrees.
#[derive(Deserialize)]
#[serde(try_from = "LightFields")]
pub(super) struct LightFile {
    pub color: [f32; 3],
    pub intensity_cd: f32,
    pub range_m: f32,
    pub cone_deg: Option<(f32, f32)>,
}

impl TryFrom<LightFields> for LightFile {
    type Error = String;

    fn try_from(fields: LightFields) -> Result<Self, String> {
        let (color, intensity_cd, range_m, cone_deg) = match fields {
            LightFields::Point { color, intensity_cd, range_m } => (color, intensity_cd, range_m, None),
            LightFields::Spot { color, intensity_cd, range_m, inner_deg, outer_deg } => {
                let (inner, outer) = (inner_deg.0, outer_deg.0);
                if inner < 0.0 || inner >= outer || outer > 90.0 {
                    return Err(format!("inner_deg {inner} and outer_deg {outer} must be 0 ≤ inner < outer ≤ 90"));
                }
                (color, intensity_cd, range_m, Some((inner, outer)))
            }
        };
        Ok(Self { color: color.0, intensity_cd: intensity_cd.0, range_m: range_m.0, cone_deg })
    }
}
