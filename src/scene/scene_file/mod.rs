//! Scene files: RON text → `format`'s types → a filled world. Each fault names file, line and column.

mod format;
mod values;

use std::collections::HashMap;
use std::path::Path;

use glam::{Affine3A, EulerRot, Quat};

use super::SceneError;
use super::camera::{CameraKey, CameraView, view_at};
use super::components::{PointLight, Projection, SpotLight};
use super::error::nearest_names;
use super::gltf::{Importer, Light, Model};
use super::hierarchy::{NO_PARENT, Transform};
use super::motion::{Motion, MotionKind, Paths};
use super::read::read_file;
use super::scene::LoadOptions;
use super::spawn::{SceneSettings, SpawnBuilder, Spawned};
use format::{CameraFile, LightFile, MotionFile, NodeFile, SCHEMA, SceneFile};
use values::Name;

/// Loads a scene file and every model that it uses.
pub(super) fn load(path: &Path, options: &LoadOptions) -> Result<Spawned, SceneError> {
    let bytes = read_file(path).map_err(|fault| SceneError::file(path, fault))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        SceneError::file(path, format!("is no UTF-8 text (byte {})", error.utf8_error().valid_up_to()))
    })?;
    let file = parse(&text, path)?;
    let source = Source { path, text: &text };
    source.check_schema(&file.schema)?;
    let default_camera = source.camera(&file, file.default_camera.as_ref())?;
    let bench_camera = source.camera(&file, file.bench_camera.as_ref())?;

    let path_names: HashMap<&str, u32> = file.paths.names().zip(0..).collect();
    let model_names: HashMap<&str, usize> = file.models.names().zip(0..).collect();
    let mut loader = Loader {
        source: &source,
        file: &file,
        path_names,
        model_names,
        paths: Paths(file.paths.0.iter().map(|(_, path)| path.0.clone()).collect()),
        models: vec![None; file.models.0.len()],
        warnings: Vec::new(),
        importer: Importer::default(),
        builder: SpawnBuilder::default(),
    };
    loader.add_cameras();
    for node in &file.nodes {
        loader.add_node(node, NO_PARENT)?;
    }
    let unused = loader.unused_models();
    let Loader { importer, builder, paths, mut warnings, .. } = loader;
    if !unused.is_empty() {
        warnings.push(format!("{}: no node uses the models {}", path.display(), unused.join(", ")));
    }
    let mut files = vec![path.to_path_buf()];
    files.extend(importer.source_files());
    let (assets, import_warnings) = importer.finish()?;
    warnings.extend(import_warnings);
    let first_camera = file.cameras.names().min().map(str::to_string);
    let settings = SceneSettings {
        aspect: options.aspect,
        sun: file.sun.0,
        exposure_ev100: file.exposure_ev100.map(|ev| ev.0),
        paths,
        default_camera: default_camera.or(first_camera),
        bench_camera,
        files,
    };
    builder.finish(assets, warnings, settings, path)
}

fn parse<'a>(text: &'a str, path: &Path) -> Result<SceneFile<'a>, SceneError> {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    options.from_str(text).map_err(|error| SceneError::SceneFile {
        file: path.to_path_buf(),
        line: error.span.start.line,
        column: error.span.start.col,
        fault: describe(&error.code),
    })
}

/// RON's own message, with the nearest names where a field or variant is unknown.
fn describe(error: &ron::Error) -> String {
    match error {
        ron::Error::NoSuchStructField { expected, found, .. } => {
            format!("there is no field {found:?} here; {}", nearest_names(found, expected.iter().copied()))
        }
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            format!("there is no {found:?} here; {}", nearest_names(found, expected.iter().copied()))
        }
        ron::Error::MissingStructField { field, .. } => format!("the field {field:?} is missing"),
        ron::Error::DuplicateStructField { field, .. } => format!("the field {field:?} is there twice"),
        ron::Error::ExpectedNamedStructLike(_) | ron::Error::ExpectedStructLike => {
            "expected `(` and its fields here".into()
        }
        ron::Error::ExpectedDifferentStructName { .. } => {
            format!("expected `(` and its fields here; a scene file begins with `(schema: {SCHEMA:?}, nodes: [`")
        }
        ron::Error::ExpectedString => "expected a text in double quotes here".into(),
        ron::Error::ExpectedFloat | ron::Error::ExpectedInteger => "expected a number here".into(),
        ron::Error::ExpectedBoolean => "expected `true` or `false` here".into(),
        ron::Error::ExpectedComma => "expected `,` here, before the next field or entry".into(),
        ron::Error::ExpectedArray => "expected `[` and a list here".into(),
        ron::Error::ExpectedMap => "expected `{` and its entries here".into(),
        ron::Error::ExpectedMapColon => "expected `:` here, between a name and its value".into(),
        ron::Error::TrailingCharacters => "expected the end of the file here: the scene's `(` is closed already".into(),
        ron::Error::Eof => "the file ends here, within an open `(`, `[` or `{`".into(),
        other => other.to_string(),
    }
}

/// The file's text, to tell where a name stands.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn fault(&self, at: &Name, fault: String) -> SceneError {
        let (line, column) = at.place_in(self.text);
        SceneError::SceneFile { file: self.path.to_path_buf(), line, column, fault }
    }

    fn unknown<'n>(&self, kind: &str, name: &Name, names: impl Iterator<Item = &'n str>) -> SceneError {
        self.fault(name, format!("no {kind} is named {:?}; {}", name.0, nearest_names(&name.0, names)))
    }

    fn check_schema(&self, schema: &Name) -> Result<(), SceneError> {
        if schema.0 == SCHEMA {
            return Ok(());
        }
        Err(self.fault(schema, format!("the schema {:?} is not supported; {SCHEMA:?} is", schema.0)))
    }

    /// The name of a camera that is there.
    fn camera(&self, file: &SceneFile, name: Option<&Name>) -> Result<Option<String>, SceneError> {
        match name {
            Some(name) if !file.cameras.names().any(|known| known == name.0) => {
                Err(self.unknown("camera", name, file.cameras.names()))
            }
            _ => Ok(name.map(|name| name.0.to_string())),
        }
    }
}

struct Loader<'a> {
    source: &'a Source<'a>,
    file: &'a SceneFile<'a>,
    path_names: HashMap<&'a str, u32>,
    model_names: HashMap<&'a str, usize>,
    paths: Paths,
    /// By the model's place in the file; imported when first used.
    models: Vec<Option<Model>>,
    warnings: Vec<String>,
    importer: Importer,
    builder: SpawnBuilder,
}

impl Loader<'_> {
    fn add_cameras(&mut self) {
        let mut cameras: Vec<&(Name, CameraFile)> = self.file.cameras.0.iter().collect();
        cameras.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, camera) in cameras {
            let projection = Projection::Perspective { fov_y: camera.fov_y_deg.to_radians(), near: camera.near_m };
            let view = CameraView { world_from_view: view_at(&camera.keys, 0), projection };
            let path: Vec<CameraKey> = if camera.keys.len() > 1 { camera.keys.clone() } else { Vec::new() };
            self.builder.add_camera(name.0.to_string(), view, path);
        }
    }

    fn add_node(&mut self, node: &NodeFile, parent: u32) -> Result<(), SceneError> {
        let base = local_transform(node);
        let motion = match &node.motion {
            Some(motion) => Some(Motion { base, kind: self.motion_kind(motion)? }),
            None => None,
        };
        let local = motion.as_ref().map_or(base, |motion| motion.local_at(0.0, &self.paths.0));
        let node_idx = self.builder.add_node(parent, local);
        if let Some(motion) = motion {
            self.builder.add_motion(node_idx, motion);
        }
        if let Some(light) = &node.light {
            self.builder.add_light(node_idx, to_light(light));
        }
        if let Some(name) = &node.model {
            let model_idx = self.import_model(name)?;
            if let Some(model) = &self.models[model_idx] {
                self.builder.add_model(model, node_idx, node.tint.0, false);
            }
        }
        node.children.iter().try_for_each(|child| self.add_node(child, node_idx))
    }

    /// The model's place in `models`, where it is after this call.
    fn import_model(&mut self, name: &Name) -> Result<usize, SceneError> {
        let Some(&model_idx) = self.model_names.get(name.0.as_ref()) else {
            return Err(self.source.unknown("model", name, self.file.models.names()));
        };
        if self.models[model_idx].is_none() {
            let model = &self.file.models.0[model_idx].1;
            let path = self.source.path.parent().unwrap_or(Path::new("")).join(model.file.0.as_ref());
            if !path.is_file() {
                return Err(self.source.fault(&model.file, format!("there is no file {}", path.display())));
            }
            let imported = self.importer.model(&path, model.node.as_ref().map(|node| node.0.as_ref()));
            let imported = imported.map_err(|error| match (&error, &model.node) {
                (SceneError::UnknownName { .. }, Some(node)) => {
                    self.source.fault(node, format!("{}: {error}", path.display()))
                }
                _ => error,
            })?;
            if imported.nodes.iter().all(|node| node.meshes.is_empty() && node.light.is_none()) {
                self.warnings.push(format!(
                    "{}: the model {:?} has nothing to draw",
                    self.source.path.display(),
                    name.0
                ));
            }
            self.models[model_idx] = Some(imported);
        }
        Ok(model_idx)
    }

    fn unused_models(&self) -> Vec<String> {
        let used = self.models.iter().map(Option::is_some);
        self.file.models.names().zip(used).filter(|(_, used)| !used).map(|(name, _)| format!("{name:?}")).collect()
    }

    fn motion_kind(&self, motion: &MotionFile) -> Result<MotionKind, SceneError> {
        Ok(match motion {
            MotionFile::Spin { axis, rpm, phase_deg } => {
                MotionKind::Spin { axis: axis.0, speed: (6.0 * rpm.0).to_radians(), start: phase_deg.0.to_radians() }
            }
            MotionFile::Swing { axis, amplitude_deg, period_s, phase } => MotionKind::Swing {
                axis: axis.0,
                amplitude: amplitude_deg.0.to_radians(),
                period_s: period_s.0,
                phase: phase.0,
            },
            MotionFile::Bob { amplitude_m, period_s, phase } => {
                MotionKind::Bob { amplitude: amplitude_m.0, period_s: period_s.0, phase: phase.0 }
            }
            MotionFile::Circle { radius_m, period_s, phase } => {
                MotionKind::Circle { radius: radius_m.0, period_s: period_s.0, phase: phase.0 }
            }
            MotionFile::Follow { path, speed_mps, offset_m } => match self.path_names.get(path.0.as_ref()) {
                Some(&path) => MotionKind::Follow { path, speed: speed_mps.0, offset: offset_m.0 },
                None => return Err(self.source.unknown("path", path, self.file.paths.names())),
            },
        })
    }
}

fn local_transform(node: &NodeFile) -> Affine3A {
    let [pitch, yaw, roll] = node.rotation_deg.0.to_array().map(f32::to_radians);
    Transform {
        translation: node.translation.0,
        rotation: Quat::from_euler(EulerRot::YXZ, yaw, pitch, roll),
        scale: node.scale.0,
    }
    .to_affine()
}

fn to_light(light: &LightFile) -> Light {
    let &LightFile { color, intensity_cd, range_m: range, cone_deg } = light;
    match cone_deg {
        None => Light::Point(PointLight { color, intensity_cd, range }),
        Some((inner, outer)) => Light::Spot(SpotLight {
            color,
            intensity_cd,
            range,
            inner_angle: inner.to_radians(),
            outer_angle: outer.to_radians(),
        }),
    }
}
