//! From a glTF primitive to a triangle mesh: topology, normals, tangents and what is missing of them.

use glam::Vec3;
use serde_json::Value;

use super::accessor::Accessor;
use super::check::whole;
use super::document::{Document, index, name_of};
use super::fault::Fault;
use super::skin::{self, JointSet, Pose};
use super::tangents;
use crate::scene::assets::{Aabb, Mesh};

/// Reads a primitive; `None` (with a warning) where it has nothing that can be drawn.
/// `normal_uv_set` is the texture coordinate set of the material's normal texture, if it has one.
pub(super) fn import_primitive(
    document: &Document,
    mesh_idx: usize,
    primitive_idx: usize,
    normal_uv_set: Option<u32>,
    pose: Option<&Pose>,
    warnings: &mut Vec<String>,
) -> Result<Option<Mesh>, Fault> {
    let json = &document.array("meshes")[mesh_idx];
    let primitive = &json["primitives"][primitive_idx];
    let at = format!("/meshes/{mesh_idx}/primitives/{primitive_idx}");
    let file_name = document.path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{file_name}#{}/{primitive_idx}", name_of(json, mesh_idx));
    let mode = whole(&primitive["mode"]).unwrap_or(4);
    if mode < 4 {
        warnings.push(format!("{name}: points and lines are not drawn"));
        return Ok(None);
    }
    let mut reader = Reader { document, primitive, at, name, n_vertices: 0, warnings };
    let Some(mut mesh) = reader.vertices(pose)? else { return Ok(None) };
    mesh.indices = reader.triangles(mode)?;
    let has_normals = !mesh.normals.is_empty();
    if !has_normals {
        // Flat shading: no vertex can be shared, and tangents that the file has are to be ignored (section 3.7.2.1).
        mesh.tangents.clear();
        unweld(&mut mesh);
        mesh.normals = flat_normals(&mesh.positions);
    }
    fill_missing_attributes(&mut mesh);
    if mesh.tangents.is_empty() {
        match normal_uv_set {
            Some(uv_set) => tangents::generate(&mut mesh, uv_set),
            None => mesh.tangents = mesh.normals.iter().map(|&normal| tangents::any_tangent(normal)).collect(),
        }
    }
    Ok(Some(mesh))
}

struct Reader<'a> {
    document: &'a Document,
    primitive: &'a Value,
    at: String,
    name: String,
    n_vertices: usize,
    warnings: &'a mut Vec<String>,
}

impl<'a> Reader<'a> {
    /// All attributes that the file has; the others are empty.
    fn vertices(&mut self, pose: Option<&Pose>) -> Result<Option<Mesh>, Fault> {
        let Some(positions) = self.attribute("POSITION", 3..=3)? else {
            self.warnings.push(format!("{}: has no positions and is not drawn", self.name));
            return Ok(None);
        };
        if !positions.has_data() && self.primitive["extensions"].get("KHR_draco_mesh_compression").is_some() {
            return Err(Fault::new(
                format!("{}/extensions/KHR_draco_mesh_compression", self.at),
                "the geometry is there in compressed form only, which Praxis does not support; export it without KHR_draco_mesh_compression",
            ));
        }
        self.n_vertices = positions.count;
        let at = positions.at.clone();
        let mut positions = positions.read::<3>();
        let mut normals = self.attribute("NORMAL", 3..=3)?.map_or_else(Vec::new, |a| a.read::<3>());
        let mut tangents = self.attribute("TANGENT", 4..=4)?.map_or_else(Vec::new, |a| a.read::<4>());
        if let Some(pose) = pose {
            let pose = pose.blend(&self.joint_sets()?, &self.at)?;
            skin::apply(&pose, &mut positions, &mut normals, &mut tangents);
        }
        if let Some(bad) = positions.iter().position(|position| !position.iter().all(|x| x.is_finite())) {
            return Err(Fault::new(at, format!("element {bad} is not finite; positions must be")));
        }
        let mut mesh = Mesh {
            bounds: Aabb::from_points(positions.iter().map(|&position| Vec3::from(position))),
            positions,
            uv0: self.texture_coordinates("TEXCOORD_0")?,
            uv1: self.texture_coordinates("TEXCOORD_1")?,
            colors: self.colors()?,
            name: self.name.clone(),
            ..Mesh::default()
        };
        mesh.normals = self.unit_normals(normals);
        mesh.tangents = self.unit_tangents(tangents, &mesh.normals);
        Ok(Some(mesh))
    }

    /// An attribute with one element for each vertex, with a number of components within `n_components`.
    fn attribute(
        &self,
        name: &str,
        n_components: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<Accessor<'a>>, Fault> {
        let Some(accessor_idx) = index(&self.primitive["attributes"][name]) else { return Ok(None) };
        let at = || format!("{}/attributes/{name}", self.at);
        let accessor = Accessor::open(self.document, accessor_idx)?;
        if accessor.is_u32() {
            return Err(Fault::new(at(), "32-bit integers are not allowed in a vertex attribute"));
        }
        if !n_components.contains(&accessor.n_components) {
            return Err(Fault::new(
                at(),
                format!("has {} components, but {n_components:?} are needed", accessor.n_components),
            ));
        }
        if self.n_vertices != 0 && accessor.count != self.n_vertices {
            return Err(Fault::new(
                at(),
                format!("has {} elements, but POSITION has {}", accessor.count, self.n_vertices),
            ));
        }
        Ok(Some(accessor))
    }

    /// Joints and weights, four each a vertex; none for a mesh that has no joints.
    fn joint_sets(&self) -> Result<Vec<JointSet>, Fault> {
        let mut sets = Vec::new();
        for set_idx in 0..2 {
            let joints = self.attribute(&format!("JOINTS_{set_idx}"), 4..=4)?;
            let weights = self.attribute(&format!("WEIGHTS_{set_idx}"), 4..=4)?;
            if let (Some(joints), Some(mut weights)) = (joints, weights) {
                weights.assume_normalized();
                sets.push(JointSet { joints: joints.read(), weights: weights.read() });
            }
        }
        Ok(sets)
    }

    fn texture_coordinates(&self, name: &str) -> Result<Vec<[f32; 2]>, Fault> {
        let Some(accessor) = self.attribute(name, 2..=2)? else { return Ok(Vec::new()) };
        let mut uvs = accessor.read::<2>();
        for uv in uvs.iter_mut().flatten() {
            if !uv.is_finite() {
                *uv = 0.0;
            }
        }
        Ok(uvs)
    }

    fn colors(&self) -> Result<Vec<[u8; 4]>, Fault> {
        let Some(mut accessor) = self.attribute("COLOR_0", 3..=4)? else { return Ok(Vec::new()) };
        accessor.assume_normalized();
        // `as` saturates, and turns a NaN into 0.
        let unorm = |x: f32| (x * 255.0).round() as u8;
        Ok(if accessor.n_components == 4 {
            accessor.read::<4>().into_iter().map(|rgba| rgba.map(unorm)).collect()
        } else {
            accessor.read::<3>().into_iter().map(|[r, g, b]| [unorm(r), unorm(g), unorm(b), 255]).collect()
        })
    }

    fn unit_normals(&mut self, mut normals: Vec<[f32; 3]>) -> Vec<[f32; 3]> {
        let mut n_bad = 0;
        for normal in &mut normals {
            *normal = match Vec3::from(*normal).try_normalize() {
                Some(unit) => unit.to_array(),
                None => {
                    n_bad += 1;
                    [0.0, 0.0, 1.0]
                }
            };
        }
        if n_bad > 0 {
            self.warnings.push(format!("{}: {n_bad} normals have no direction; +Z is taken instead", self.name));
        }
        normals
    }

    fn unit_tangents(&mut self, mut tangents: Vec<[f32; 4]>, normals: &[[f32; 3]]) -> Vec<[f32; 4]> {
        for (tangent, &normal) in tangents.iter_mut().zip(normals) {
            let [x, y, z, w] = *tangent;
            *tangent = match Vec3::new(x, y, z).try_normalize() {
                Some(unit) => [unit.x, unit.y, unit.z, if w < 0.0 { -1.0 } else { 1.0 }],
                None => tangents::any_tangent(normal),
            };
        }
        tangents
    }

    /// The triangle list that the indices (or the vertices in their order) make in this mode: 4 list, 5 strip, 6 fan.
    fn triangles(&mut self, mode: u64) -> Result<Vec<u32>, Fault> {
        let corners = match index(&self.primitive["indices"]) {
            Some(accessor_idx) => {
                let accessor = Accessor::open(self.document, accessor_idx)?;
                let indices = accessor.read_indices()?;
                if let Some(bad) = indices.iter().position(|&vertex| vertex as usize >= self.n_vertices) {
                    return Err(Fault::new(
                        format!("{}/indices", self.at),
                        format!(
                            "index {bad} refers to vertex {}, but there are {} (primitive restart is not part of glTF)",
                            indices[bad], self.n_vertices
                        ),
                    ));
                }
                indices
            }
            None => (0..self.n_vertices as u32).collect(),
        };
        if mode == 4 && !corners.len().is_multiple_of(3) || corners.len() < 3 {
            self.warnings.push(format!("{}: {} corners make no whole number of triangles", self.name, corners.len()));
        }
        Ok(match mode {
            4 => {
                let mut list = corners;
                list.truncate(list.len() / 3 * 3);
                list
            }
            // Every second triangle of a strip turns the other way round, so that all face the same side.
            5 => corners
                .windows(3)
                .enumerate()
                .filter(|(_, c)| c[0] != c[1] && c[1] != c[2] && c[0] != c[2])
                .flat_map(|(idx, c)| if idx % 2 == 0 { [c[0], c[1], c[2]] } else { [c[0], c[2], c[1]] })
                .collect(),
            _ => corners.get(1..).unwrap_or(&[]).windows(2).flat_map(|c| [c[0], c[1], corners[0]]).collect(),
        })
    }
}

/// Gives each corner its own vertex.
fn unweld(mesh: &mut Mesh) {
    fn spread<T: Copy>(values: &mut Vec<T>, indices: &[u32]) {
        if !values.is_empty() {
            *values = indices.iter().map(|&vertex| values[vertex as usize]).collect();
        }
    }
    let indices = std::mem::take(&mut mesh.indices);
    mesh.indices = (0..indices.len() as u32).collect();
    spread(&mut mesh.positions, &indices);
    spread(&mut mesh.uv0, &indices);
    spread(&mut mesh.uv1, &indices);
    spread(&mut mesh.colors, &indices);
    if indices.is_empty() {
        mesh.positions.clear();
        mesh.uv0.clear();
        mesh.uv1.clear();
        mesh.colors.clear();
    }
}

/// One normal for each corner of unwelded triangles; +Z for triangles without area.
fn flat_normals(positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
    positions
        .chunks_exact(3)
        .flat_map(|corners| {
            // In 64 bits, or the cross product of a small triangle's edges underflows.
            let [a, b, c] = [0, 1, 2].map(|idx| Vec3::from(corners[idx]).as_dvec3());
            let normal = (b - a).cross(c - a).normalize_or(glam::DVec3::Z).as_vec3();
            [normal.to_array(); 3]
        })
        .collect()
}

fn fill_missing_attributes(mesh: &mut Mesh) {
    let n = mesh.positions.len();
    if mesh.uv0.is_empty() {
        mesh.uv0 = vec![[0.0; 2]; n];
    }
    if mesh.uv1.is_empty() {
        mesh.uv1 = vec![[0.0; 2]; n];
    }
    if mesh.colors.is_empty() {
        mesh.colors = vec![[255; 4]; n];
    }
}
