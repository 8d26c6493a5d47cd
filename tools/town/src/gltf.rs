//! Writes a file of the catalogue as .gltf and .bin; images stay files of their own that the glTF files share.

use crate::catalog::{At, File, Node};
use crate::material::{Material, Texture, material};
use crate::mesh::Part;
use crate::texture::Encoded;
use glam::Vec3;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const FLOAT: u32 = 5126;
const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;

/// Views of the one buffer, in order: positions, normals, texture coordinates, colours, short indices, long indices.
#[derive(Default)]
struct Streams([Vec<u8>; 6]);

/// Encodes one file: its .gltf and its .bin.
pub fn write(file: &File) -> Result<Vec<Encoded>, String> {
    let mut tables = Tables::default();
    let mut streams = Streams::default();
    let mut accessors: Vec<Value> = Vec::new();
    let mut meshes: Vec<Value> = Vec::new();
    for (name, builder) in &file.meshes {
        let primitives: Vec<Value> = builder
            .parts
            .iter()
            .filter(|(_, part)| !part.indices.is_empty())
            .map(|(mat, part)| primitive(&welded(part), tables.material(material(mat)), &mut streams, &mut accessors))
            .collect();
        meshes.push(json!({ "name": name, "primitives": primitives }));
    }
    let mut nodes: Vec<Value> = Vec::new();
    let roots: Vec<usize> = file.models.iter().map(|n| flatten(n, &mut nodes)).collect();

    let mut bin = Vec::new();
    let mut views = Vec::new();
    for (i, stream) in streams.0.iter().enumerate() {
        let mut view = json!({ "buffer": 0, "byteOffset": bin.len(), "byteLength": stream.len().max(4), "target": if i < 4 { 34962 } else { 34963 } });
        if let (Some(stride), Value::Object(fields)) = ([12, 12, 8, 4].get(i), &mut view) {
            fields.insert("byteStride".into(), json!(stride));
        }
        views.push(view);
        bin.extend_from_slice(stream);
        bin.resize(bin.len().next_multiple_of(4).max(if stream.is_empty() { bin.len() + 4 } else { 0 }), 0);
    }
    let mut root = json!({
        "asset": { "version": "2.0", "generator": "praxis-town" },
        "scene": 0,
        "scenes": [{ "nodes": roots }],
        "nodes": nodes,
        "meshes": meshes,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{ "uri": format!("{}.bin", file.stem), "byteLength": bin.len() }],
        "materials": tables.materials,
    });
    if let Value::Object(fields) = &mut root {
        if !tables.images.is_empty() {
            fields.insert("images".into(), Value::Array(tables.images));
            fields.insert("textures".into(), Value::Array(tables.textures));
            fields.insert(
                "samplers".into(),
                json!([{ "magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497 }]),
            );
        }
        if tables.uses_emissive_strength {
            fields.insert("extensionsUsed".into(), json!(["KHR_materials_emissive_strength"]));
        }
    }
    let text = serde_json::to_vec(&root).map_err(|e| format!("{}.gltf: {e}", file.stem))?;
    Ok(vec![
        Encoded { path: format!("{}.gltf", file.stem), bytes: text },
        Encoded { path: format!("{}.bin", file.stem), bytes: bin },
    ])
}

fn primitive(part: &Part, material: usize, streams: &mut Streams, accessors: &mut Vec<Value>) -> Value {
    let n = part.positions.len();
    let mut add = |view: usize, bytes: Vec<u8>, fields: Value| {
        let mut fields = fields;
        if let Value::Object(map) = &mut fields {
            map.insert("bufferView".into(), json!(view));
            map.insert("byteOffset".into(), json!(streams.0[view].len()));
        }
        streams.0[view].extend(bytes);
        accessors.push(fields);
        accessors.len() - 1
    };
    let (lo, hi) =
        part.positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
    let floats = |values: &mut dyn Iterator<Item = f32>| values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let positions = add(
        0,
        floats(&mut part.positions.iter().flat_map(|p| p.to_array())),
        json!({ "componentType": FLOAT, "count": n, "type": "VEC3", "min": lo.to_array(), "max": hi.to_array() }),
    );
    let normals = add(
        1,
        floats(&mut part.normals.iter().flat_map(|p| p.to_array())),
        json!({ "componentType": FLOAT, "count": n, "type": "VEC3" }),
    );
    let uvs = add(
        2,
        floats(&mut part.uvs.iter().flat_map(|p| p.to_array())),
        json!({ "componentType": FLOAT, "count": n, "type": "VEC2" }),
    );
    let to_u8 = |c: f32| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let colors = add(
        3,
        part.shades.iter().flat_map(|c| [to_u8(c.x), to_u8(c.y), to_u8(c.z), 255]).collect(),
        json!({ "componentType": U8, "normalized": true, "count": n, "type": "VEC4" }),
    );
    let n_indices = part.indices.len();
    let indices = if n < 65_535 {
        let bytes = part.indices.iter().flat_map(|i| (*i as u16).to_le_bytes()).collect();
        add(4, bytes, json!({ "componentType": U16, "count": n_indices, "type": "SCALAR" }))
    } else {
        let bytes = part.indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        add(5, bytes, json!({ "componentType": U32, "count": n_indices, "type": "SCALAR" }))
    };
    json!({
        "attributes": { "POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs, "COLOR_0": colors },
        "indices": indices,
        "material": material,
    })
}

fn flatten(node: &Node, out: &mut Vec<Value>) -> usize {
    let children: Vec<usize> = node.children.iter().map(|c| flatten(c, out)).collect();
    let mut fields = Map::new();
    fields.insert("name".into(), json!(node.name));
    if let Some(mesh) = node.mesh {
        fields.insert("mesh".into(), json!(mesh));
    }
    let At { p, turn_deg, scale } = node.at;
    if p != Vec3::ZERO {
        fields.insert("translation".into(), json!(p.to_array()));
    }
    if turn_deg != Vec3::ZERO {
        fields.insert("rotation".into(), json!(node.at.quaternion()));
    }
    if scale != Vec3::ONE {
        fields.insert("scale".into(), json!(scale.to_array()));
    }
    if !children.is_empty() {
        fields.insert("children".into(), json!(children));
    }
    out.push(Value::Object(fields));
    out.len() - 1
}

#[derive(Default)]
struct Tables {
    materials: Vec<Value>,
    material_of_name: BTreeMap<&'static str, usize>,
    images: Vec<Value>,
    textures: Vec<Value>,
    texture_of_path: BTreeMap<String, usize>,
    uses_emissive_strength: bool,
}

impl Tables {
    fn texture(&mut self, path: String) -> usize {
        if let Some(index) = self.texture_of_path.get(&path) {
            return *index;
        }
        let index = self.textures.len();
        self.images.push(json!({ "uri": path }));
        self.textures.push(json!({ "sampler": 0, "source": index }));
        self.texture_of_path.insert(path, index);
        index
    }

    fn material(&mut self, m: &'static Material) -> usize {
        if let Some(index) = self.material_of_name.get(m.name) {
            return *index;
        }
        let mut pbr = json!({
            "baseColorFactor": [m.factor()[0], m.factor()[1], m.factor()[2], 1.0],
            "metallicFactor": m.metallic,
            "roughnessFactor": m.roughness,
        });
        let mut fields = json!({ "name": m.name });
        match m.texture {
            Texture::None => {}
            Texture::Set(set) => {
                pbr["baseColorTexture"] = json!({ "index": self.texture(format!("{set}_base.jpg")) });
                let orm = self.texture(format!("{set}_orm.jpg"));
                pbr["metallicRoughnessTexture"] = json!({ "index": orm });
                fields["occlusionTexture"] = json!({ "index": orm });
                fields["normalTexture"] = json!({ "index": self.texture(format!("{set}_normal.jpg")) });
            }
            Texture::Card(card) => {
                pbr["baseColorTexture"] = json!({ "index": self.texture(format!("{card}.png")) });
                fields["alphaMode"] = json!("MASK");
                fields["alphaCutoff"] = json!(0.5);
            }
            Texture::Image(image) => {
                pbr["baseColorTexture"] = json!({ "index": self.texture(format!("{image}.jpg")) });
            }
        }
        fields["pbrMetallicRoughness"] = pbr;
        if m.is_double_sided {
            fields["doubleSided"] = json!(true);
        }
        let peak = m.emissive.iter().copied().fold(0.0, f32::max);
        if peak > 0.0 {
            fields["emissiveFactor"] = json!(m.emissive.map(|c| c / peak));
            fields["extensions"] = json!({ "KHR_materials_emissive_strength": { "emissiveStrength": peak } });
            self.uses_emissive_strength = true;
        }
        let index = self.materials.len();
        self.materials.push(fields);
        self.material_of_name.insert(m.name, index);
        index
    }
}

/// A part with vertices that are the same to the last bit joined.
fn welded(part: &Part) -> Part {
    let mut out = Part::default();
    let mut index_of: BTreeMap<[u32; 11], u32> = BTreeMap::new();
    for i in &part.indices {
        let k = *i as usize;
        let (p, n, uv, c) = (part.positions[k], part.normals[k], part.uvs[k], part.shades[k]);
        let key = [p.x, p.y, p.z, n.x, n.y, n.z, uv.x, uv.y, c.x, c.y, c.z].map(f32::to_bits);
        let index = *index_of.entry(key).or_insert_with(|| {
            out.positions.push(p);
            out.normals.push(n);
            out.uvs.push(uv);
            out.shades.push(c);
            out.positions.len() as u32 - 1
        });
        out.indices.push(index);
    }
    out
}
