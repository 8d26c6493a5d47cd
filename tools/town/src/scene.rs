//! The scene file: nodes, motions, lights, cameras, and their RON text.

use crate::catalog::{At, Catalog};
use glam::Vec3;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A motion of the scene format.
#[derive(Clone, Debug)]
pub enum Motion {
    /// Turns about an axis for ever.
    Spin {
        /// Local.
        axis: Vec3,
        /// Turns a minute.
        rpm: f32,
        /// Degrees.
        phase_deg: f32,
    },
    /// Swings about an axis.
    Swing {
        /// Local.
        axis: Vec3,
        /// Degrees.
        amplitude_deg: f32,
        /// Seconds.
        period_s: f32,
        /// Of a period.
        phase: f32,
    },
    /// Shifts to and fro.
    Bob {
        /// Metres.
        amplitude_m: Vec3,
        /// Seconds.
        period_s: f32,
        /// Of a period.
        phase: f32,
    },
    /// Goes round.
    Circle {
        /// Metres.
        radius_m: f32,
        /// Seconds.
        period_s: f32,
        /// Of a period.
        phase: f32,
    },
    /// Goes along a path.
    Follow {
        /// Its name.
        path: String,
        /// Metres a second.
        speed_mps: f32,
        /// Metres.
        offset_m: f32,
    },
}

/// A point light.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Candela.
    pub intensity_cd: f32,
    /// Metres.
    pub range_m: f32,
}

/// A node of the scene.
#[derive(Clone, Debug, Default)]
pub struct SceneNode {
    /// Empty for none.
    pub name: String,
    /// Empty for a group.
    pub model: String,
    /// In the parent.
    pub at: At,
    /// Factor on the base colour of the model's instances.
    pub tint: Option<[f32; 3]>,
    /// How it moves.
    pub motion: Option<Motion>,
    /// Shines from here.
    pub light: Option<Light>,
    /// Below it.
    pub children: Vec<SceneNode>,
}

impl SceneNode {
    /// A model in its place.
    pub fn model(model: impl Into<String>, at: At) -> Self {
        Self { model: model.into(), at, ..Self::default() }
    }

    /// A group in its place.
    pub fn group(name: impl Into<String>, at: At, children: Vec<SceneNode>) -> Self {
        Self { name: name.into(), at, children, ..Self::default() }
    }

    /// With a name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With a motion.
    pub fn moving(mut self, motion: Motion) -> Self {
        self.motion = Some(motion);
        self
    }

    /// With a tint.
    pub fn tinted(mut self, tint: [f32; 3]) -> Self {
        self.tint = Some(tint);
        self
    }

    /// With children.
    pub fn with(mut self, children: Vec<SceneNode>) -> Self {
        self.children.extend(children);
        self
    }
}

/// A key of a camera path.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Frame index.
    pub frame: u32,
    /// Metres.
    pub position: Vec3,
    /// Metres.
    pub target: Vec3,
}

/// A camera.
pub enum Camera {
    /// Stands still.
    Still {
        /// Metres.
        position: Vec3,
        /// Metres.
        target: Vec3,
        /// Degrees.
        fov_y_deg: f32,
    },
    /// Catmull-Rom through keys.
    Path {
        /// In order of frames.
        keys: Vec<Key>,
        /// Degrees.
        fov_y_deg: f32,
    },
}

/// A path that things follow.
pub struct Path {
    /// Its name.
    pub name: String,
    /// Whether it returns to its start.
    pub is_closed: bool,
    /// Metres.
    pub points: Vec<Vec3>,
}

/// All of it.
#[derive(Default)]
pub struct Scene {
    /// By name.
    pub cameras: Vec<(&'static str, Camera)>,
    /// By name.
    pub paths: Vec<Path>,
    /// Roots.
    pub nodes: Vec<SceneNode>,
}

/// A number with at most three decimals and no more than it needs.
fn num(v: f32) -> String {
    let text = format!("{v:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" || text.is_empty() { "0".into() } else { text.into() }
}

fn triple(v: Vec3) -> String {
    format!("({}, {}, {})", num(v.x), num(v.y), num(v.z))
}

impl Scene {
    /// The file's text.
    pub fn to_ron(&self, catalog: &Catalog) -> Result<String, String> {
        let mut models = BTreeSet::new();
        self.nodes.iter().for_each(|n| collect_models(n, &mut models));
        let mut out = String::from(
            "// Written by `cargo run -p praxis-town --release`; edit the generator in tools/town, not this file.\n(\n",
        );
        let o = &mut out;
        o.push_str("    schema: \"praxis.scene/1\",\n    title: \"Town, late afternoon\",\n");
        o.push_str("    sun: (elevation_deg: 28, azimuth_deg: 225, turbidity: 1.6),\n    exposure_ev100: 13.6,\n    models: {\n");
        for model in &models {
            let found = catalog.find(model).ok_or_else(|| format!("scene: no model named {model:?} in any file"))?;
            let _ =
                writeln!(o, "        {model:?}: (file: \"../assets/town/{}.gltf\", node: {model:?}),", found.file.stem);
        }
        o.push_str("    },\n    cameras: {\n");
        for (name, camera) in &self.cameras {
            match camera {
                Camera::Still { position, target, fov_y_deg } => {
                    let _ = writeln!(
                        o,
                        "        {name:?}: Still(position: {}, target: {}, fov_y_deg: {}),",
                        triple(*position),
                        triple(*target),
                        num(*fov_y_deg)
                    );
                }
                Camera::Path { keys, fov_y_deg } => {
                    let _ = writeln!(o, "        {name:?}: Path(fov_y_deg: {}, keys: [", num(*fov_y_deg));
                    for k in keys {
                        let _ = writeln!(
                            o,
                            "            (frame: {}, position: {}, target: {}),",
                            k.frame,
                            triple(k.position),
                            triple(k.target)
                        );
                    }
                    o.push_str("        ]),\n");
                }
            }
        }
        o.push_str("    },\n    default_camera: \"square\",\n    bench_camera: \"bench\",\n    paths: {\n");
        for path in &self.paths {
            let points: Vec<String> = path.points.iter().map(|p| triple(*p)).collect();
            let _ =
                writeln!(o, "        {:?}: (closed: {}, points: [{}]),", path.name, path.is_closed, points.join(", "));
        }
        o.push_str("    },\n    nodes: [\n");
        self.nodes.iter().for_each(|n| node_text(n, 2, o));
        o.push_str("    ],\n)\n");
        Ok(out)
    }
}

fn collect_models(node: &SceneNode, out: &mut BTreeSet<String>) {
    if !node.model.is_empty() {
        out.insert(node.model.clone());
    }
    node.children.iter().for_each(|c| collect_models(c, out));
}

fn node_text(node: &SceneNode, depth: usize, o: &mut String) {
    let mut fields: Vec<String> = Vec::new();
    if !node.name.is_empty() {
        fields.push(format!("name: {:?}", node.name));
    }
    if !node.model.is_empty() {
        fields.push(format!("model: {:?}", node.model));
    }
    if node.at.p != Vec3::ZERO {
        fields.push(format!("translation: {}", triple(node.at.p)));
    }
    if node.at.turn_deg != Vec3::ZERO {
        fields.push(format!("rotation_deg: {}", triple(node.at.turn_deg)));
    }
    if node.at.scale != Vec3::ONE {
        fields.push(format!("scale: {}", triple(node.at.scale)));
    }
    if let Some(t) = node.tint {
        fields.push(format!("tint: {}", triple(Vec3::from(t))));
    }
    if let Some(motion) = &node.motion {
        fields.push(format!("motion: {}", motion_text(motion)));
    }
    if let Some(l) = node.light {
        fields.push(format!(
            "light: Point(color: {}, intensity_cd: {}, range_m: {})",
            triple(Vec3::from(l.color)),
            num(l.intensity_cd),
            num(l.range_m)
        ));
    }
    let indent = "    ".repeat(depth);
    if node.children.is_empty() {
        let _ = writeln!(o, "{indent}({}),", fields.join(", "));
    } else {
        let head = if fields.is_empty() { String::new() } else { fields.join(", ") + ", " };
        let _ = writeln!(o, "{indent}({head}children: [");
        node.children.iter().for_each(|c| node_text(c, depth + 1, o));
        let _ = writeln!(o, "{indent}]),");
    }
}

fn motion_text(motion: &Motion) -> String {
    match motion {
        Motion::Spin { axis, rpm, phase_deg } => {
            format!("Spin(axis: {}, rpm: {}, phase_deg: {})", triple(*axis), num(*rpm), num(*phase_deg))
        }
        Motion::Swing { axis, amplitude_deg, period_s, phase } => format!(
            "Swing(axis: {}, amplitude_deg: {}, period_s: {}, phase: {})",
            triple(*axis),
            num(*amplitude_deg),
            num(*period_s),
            num(*phase)
        ),
        Motion::Bob { amplitude_m, period_s, phase } => {
            format!("Bob(amplitude_m: {}, period_s: {}, phase: {})", triple(*amplitude_m), num(*period_s), num(*phase))
        }
        Motion::Circle { radius_m, period_s, phase } => {
            format!("Circle(radius_m: {}, period_s: {}, phase: {})", num(*radius_m), num(*period_s), num(*phase))
        }
        Motion::Follow { path, speed_mps, offset_m } => {
            format!("Follow(path: {path:?}, speed_mps: {}, offset_m: {})", num(*speed_mps), num(*offset_m))
        }
    }
}
