//! Imports glTF 2.0 files: `container` (bytes to JSON) → `check` (schema) → `document` (buffers) → `accessor`, `mesh`,
//! `material`, `images`, `nodes` → a [`Model`] and shared [`Assets`].
//!
//! **Invariant:** nothing here trusts a number of the file. `check` establishes types, ranges and references for the
//! whole document; `Document::view` and `Accessor::open` establish that data lies within its buffer before anything of
//! that size is allocated.

mod accessor;
mod check;
mod container;
mod document;
mod fault;
mod images;
mod material;
mod mesh;
mod nodes;
mod schema;
mod semantics;
mod skin;
mod tangents;
mod uri;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glam::Affine3A;

use super::SceneError;
use super::assets::{Assets, MaterialId, MeshId};
use super::components::{DirectionalLight, PointLight, Projection, SpotLight};
use super::error::nearest_names;
use document::{Document, index, name_of, number, numbers};
use fault::Fault;
use images::Images;
use nodes::Forest;
use skin::Pose;

/// A subtree of a file, ready to be placed any number of times. Parents come before their children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    /// Its nodes.
    pub nodes: Vec<ModelNode>,
}

/// A node of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelNode {
    /// Index into `Model::nodes`, below this node's own; `None` for a root.
    pub parent: Option<usize>,
    /// `parent_from_local`.
    pub local: Affine3A,
    /// What is drawn here.
    pub meshes: Vec<(MeshId, MaterialId)>,
    /// A camera here, by its name.
    pub camera: Option<(String, Projection)>,
    /// A light here.
    pub light: Option<Light>,
}

/// KHR_lights_punctual's kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Light {
    /// In all directions.
    Point(PointLight),
    /// A cone along -Z.
    Spot(SpotLight),
    /// Parallel, along -Z.
    Directional(DirectionalLight),
}

/// A light without a range ends where it gives this little; a clear night's starlight is about as much.
const MIN_ILLUMINANCE_LUX: f32 = 0.01;

struct OpenFile {
    document: Document,
    forest: Forest,
    /// By mesh index: the ids of its primitives.
    meshes: HashMap<usize, Vec<(MeshId, MaterialId)>>,
    /// By everything of a primitive but its material, and the texture coordinate set that its tangents follow: exporters
    /// write one mesh per material over the same accessors. `None` where there is nothing to draw.
    geometries: HashMap<(String, Option<u32>), Option<MeshId>>,
    /// By material index.
    materials: HashMap<usize, MaterialId>,
}

/// Imports models from any number of files into one set of assets. Files, meshes, materials and images are imported once.
#[derive(Default)]
pub(crate) struct Importer {
    assets: Assets,
    images: Images,
    files: Vec<OpenFile>,
    file_of: HashMap<PathBuf, usize>,
    warnings: Vec<String>,
}

impl Importer {
    /// The subtree below (and with) the node named `node`, or the file's default scene.
    pub fn model(&mut self, path: &Path, node: Option<&str>) -> Result<Model, SceneError> {
        let file_idx = self.open(path)?;
        let OpenFile { document, forest, .. } = &self.files[file_idx];
        let nodes = document.array("nodes");
        let roots = match node {
            None => forest.scene_roots(document, &mut self.warnings),
            Some(name) => match nodes.iter().position(|node| node["name"].as_str() == Some(name)) {
                Some(node_idx) => vec![node_idx],
                None => {
                    let hint = nearest_names(name, nodes.iter().filter_map(|node| node["name"].as_str()));
                    return Err(SceneError::UnknownName { kind: "node", name: name.to_string(), hint });
                }
            },
        };
        self.subtree(file_idx, roots).map_err(|fault| fault.in_file(path))
    }

    /// Every file that what was imported comes from.
    pub fn source_files(&self) -> Vec<PathBuf> {
        let documents = self.files.iter().map(|file| &file.document);
        let of_documents =
            documents.flat_map(|document| [document.path.clone()].into_iter().chain(document.buffer_files()));
        of_documents.chain(self.images.files()).collect()
    }

    /// Decodes the images and hands over what was imported, with the warnings.
    pub fn finish(mut self) -> Result<(Assets, Vec<String>), SceneError> {
        self.assets.images = self.images.decode()?;
        Ok((self.assets, self.warnings))
    }

    fn open(&mut self, path: &Path) -> Result<usize, SceneError> {
        let canonical =
            path.canonicalize().map_err(|error| SceneError::file(path, format!("cannot be read: {error}")))?;
        if let Some(&file_idx) = self.file_of.get(&canonical) {
            return Ok(file_idx);
        }
        let document = Document::open(path, &mut self.warnings)?;
        let forest = Forest::read(&document, &mut self.warnings).map_err(|fault| fault.in_file(path))?;
        self.warn_of_unsupported(&document);
        let (meshes, geometries, materials) = (HashMap::new(), HashMap::new(), HashMap::new());
        self.files.push(OpenFile { document, forest, meshes, geometries, materials });
        self.file_of.insert(canonical, self.files.len() - 1);
        Ok(self.files.len() - 1)
    }

    fn warn_of_unsupported(&mut self, document: &Document) {
        let used = document.array("extensionsUsed").iter().filter_map(serde_json::Value::as_str);
        let unsupported: Vec<&str> = used.filter(|name| !check::SUPPORTED_EXTENSIONS.contains(name)).collect();
        let path = document.path.display();
        if !unsupported.is_empty() {
            self.warnings.push(format!("{path}: drawn without {}", unsupported.join(", ")));
        }
        let has_targets = document
            .array("meshes")
            .iter()
            .flat_map(|mesh| mesh["primitives"].as_array().into_iter().flatten())
            .any(|primitive| primitive.get("targets").is_some());
        let ignored: Vec<&str> = [
            (!document.array("animations").is_empty(), "animations"),
            (!document.array("skins").is_empty(), "skins (their pose stands still)"),
            (has_targets, "morph targets"),
        ]
        .iter()
        .filter_map(|&(is_there, what)| is_there.then_some(what))
        .collect();
        if !ignored.is_empty() {
            self.warnings.push(format!("{path}: not supported and ignored: {}", ignored.join(", ")));
        }
    }

    fn subtree(&mut self, file_idx: usize, roots: Vec<usize>) -> Result<Model, Fault> {
        let mut model = Model::default();
        // Node, its parent in the model, and whether KHR_node_visibility hides it.
        let mut open: Vec<(usize, Option<usize>, bool)> = roots.iter().rev().map(|&root| (root, None, false)).collect();
        while let Some((node_idx, parent, is_parent_hidden)) = open.pop() {
            let node = self.files[file_idx].document.array("nodes")[node_idx].clone();
            let is_hidden =
                is_parent_hidden || node["extensions"]["KHR_node_visibility"]["visible"].as_bool() == Some(false);
            let mesh_idx = index(&node["mesh"]).filter(|_| !is_hidden);
            let skin_idx = index(&node["skin"]);
            let meshes = match (mesh_idx, skin_idx) {
                (Some(mesh_idx), None) => self.mesh(file_idx, mesh_idx, None)?,
                (Some(mesh_idx), Some(skin_idx)) => {
                    let OpenFile { document, forest, .. } = &self.files[file_idx];
                    let pose = Pose::read(document, forest, skin_idx, roots[0])?;
                    let meshes = self.mesh(file_idx, mesh_idx, Some(&pose))?;
                    // The joints say where a skinned mesh is, whatever node it hangs on.
                    model.nodes.push(ModelNode { meshes, ..ModelNode::default() });
                    Vec::new()
                }
                (None, _) => Vec::new(),
            };
            let document = &self.files[file_idx].document;
            let light_idx = index(&node["extensions"]["KHR_lights_punctual"]["light"]).filter(|_| !is_hidden);
            let model_idx = model.nodes.len();
            model.nodes.push(ModelNode {
                parent,
                local: self.files[file_idx].forest.local[node_idx],
                meshes,
                camera: index(&node["camera"]).map(|camera_idx| read_camera(document, camera_idx, &node)),
                light: match light_idx {
                    Some(light_idx) => Some(read_light(document, light_idx)?),
                    None => None,
                },
            });
            let first_child = open.len();
            open.extend(nodes::children(&node).map(|child| (child, Some(model_idx), is_hidden)));
            open[first_child..].reverse();
        }
        Ok(model)
    }

    /// The primitives of a mesh, imported the first time that a node shows it.
    /// A posed mesh is another for each pose.
    fn mesh(
        &mut self,
        file_idx: usize,
        mesh_idx: usize,
        pose: Option<&Pose>,
    ) -> Result<Vec<(MeshId, MaterialId)>, Fault> {
        if let (Some(known), None) = (self.files[file_idx].meshes.get(&mesh_idx), pose) {
            return Ok(known.clone());
        }
        let mesh = &self.files[file_idx].document.array("meshes")[mesh_idx];
        let material_of: Vec<Option<usize>> = mesh["primitives"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|primitive| index(&primitive["material"]))
            .collect();
        let mut imported = Vec::new();
        for (primitive_idx, material_idx) in material_of.into_iter().enumerate() {
            let material = match material_idx {
                Some(material_idx) => self.material(file_idx, material_idx)?,
                None => MaterialId(0),
            };
            if let Some(geometry) = self.geometry(file_idx, mesh_idx, primitive_idx, material, pose)? {
                imported.push((geometry, material));
            }
        }
        if pose.is_none() {
            self.files[file_idx].meshes.insert(mesh_idx, imported.clone());
        }
        Ok(imported)
    }

    fn geometry(
        &mut self,
        file_idx: usize,
        mesh_idx: usize,
        primitive_idx: usize,
        material: MaterialId,
        pose: Option<&Pose>,
    ) -> Result<Option<MeshId>, Fault> {
        let file = &mut self.files[file_idx];
        let primitive = &file.document.array("meshes")[mesh_idx]["primitives"][primitive_idx];
        let normal_uv_set = self.assets.materials[material.0 as usize].normal_texture.map(|texture| texture.uv_set);
        let shape = [&primitive["attributes"], &primitive["indices"], &primitive["mode"]].map(ToString::to_string);
        let key = (shape.join(" "), normal_uv_set);
        if let (Some(&known), None) = (file.geometries.get(&key), pose) {
            return Ok(known);
        }
        let imported =
            mesh::import_primitive(&file.document, mesh_idx, primitive_idx, normal_uv_set, pose, &mut self.warnings)?;
        let id = imported.filter(|mesh| !mesh.indices.is_empty()).map(|mesh| {
            self.assets.meshes.push(mesh);
            MeshId(self.assets.meshes.len() as u32 - 1)
        });
        if pose.is_none() {
            file.geometries.insert(key, id);
        }
        Ok(id)
    }

    fn material(&mut self, file_idx: usize, material_idx: usize) -> Result<MaterialId, Fault> {
        let file = &mut self.files[file_idx];
        if let Some(&known) = file.materials.get(&material_idx) {
            return Ok(known);
        }
        let samplers = &mut self.assets.samplers;
        let material =
            material::import_material(&file.document, material_idx, &mut self.images, samplers, &mut self.warnings)?;
        let id = MaterialId(self.assets.materials.len() as u32);
        self.assets.materials.push(material);
        file.materials.insert(material_idx, id);
        Ok(id)
    }
}

fn read_camera(document: &Document, camera_idx: usize, node: &serde_json::Value) -> (String, Projection) {
    let json = &document.array("cameras")[camera_idx];
    let projection = if json["type"] == "perspective" {
        let lens = &json["perspective"];
        Projection::Perspective { fov_y: number(&lens["yfov"], 1.0), near: number(&lens["znear"], 0.1) }
    } else {
        let lens = &json["orthographic"];
        Projection::Orthographic {
            half_height: number(&lens["ymag"], 1.0).abs(),
            near: number(&lens["znear"], 0.0),
            far: number(&lens["zfar"], 1.0),
        }
    };
    let name = node["name"].as_str().or(json["name"].as_str()).filter(|name| !name.is_empty());
    (name.map_or_else(|| format!("camera {}", name_of(json, camera_idx)), str::to_string), projection)
}

fn read_light(document: &Document, light_idx: usize) -> Result<Light, Fault> {
    let json = &document.json["extensions"]["KHR_lights_punctual"]["lights"][light_idx];
    let color = numbers(&json["color"], [1.0; 3]);
    let intensity = number(&json["intensity"], 1.0);
    let brightest = color.iter().fold(0.0f32, |a, &b| a.max(b)) * intensity;
    let range = number(&json["range"], (brightest / MIN_ILLUMINANCE_LUX).sqrt().clamp(1e-3, 1e6));
    Ok(match json["type"].as_str().unwrap_or("") {
        "directional" => Light::Directional(DirectionalLight { color, illuminance_lux: intensity }),
        "point" => Light::Point(PointLight { color, intensity_cd: intensity, range }),
        _ => {
            let inner_angle = number(&json["spot"]["innerConeAngle"], 0.0);
            let outer_angle = number(&json["spot"]["outerConeAngle"], std::f32::consts::FRAC_PI_4);
            if inner_angle >= outer_angle {
                return Err(Fault::new(
                    format!("/extensions/KHR_lights_punctual/lights/{light_idx}/spot"),
                    format!("innerConeAngle {inner_angle} is not below outerConeAngle {outer_angle}"),
                ));
            }
            Light::Spot(SpotLight { color, intensity_cd: intensity, range, inner_angle, outer_angle })
        }
    })
}
