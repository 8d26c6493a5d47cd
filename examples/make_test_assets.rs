//! Makes the files in `assets/test/` that the scenes `materials`, `cornell` and `alpha` are built from.
//!
//! `cargo run --example make_test_assets [FOLDER]` writes the same files each time; the folder is `assets/test` by default.

use std::f32::consts::{PI, TAU};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use glam::{Vec2, Vec3};
use image::RgbaImage;
use serde_json::{Value, json};

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("assets/test"), PathBuf::from);
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    write_png(&folder, "bumps_normal.png", bumps_normal(128))?;
    write_png(&folder, "checker.png", checker(64))?;
    write_png(&folder, "leaf.png", leaf(128))?;
    write_png(&folder, "letter_f.png", letter_f(64))?;
    materials().write(&folder, "materials")?;
    cornell().write(&folder, "cornell")?;
    alpha().write(&folder, "alpha")
}

// ------------------------------------------------------------------------------------------------------------ scenes

/// A 7 × 5 wall of spheres in the XY plane: roughness grows to the right, each row is another kind of material.
fn materials() -> GltfFile {
    let mut file = GltfFile::default();
    let bumps = file.add_texture("bumps_normal.png");
    let sphere = file.add_geometry(&uv_sphere(48, 24));
    let rows = [
        ("gold", [1.0, 0.78, 0.34], 1.0, None),
        ("steel_bumps", [0.77, 0.78, 0.78], 1.0, Some(bumps)),
        ("white", [0.8, 0.8, 0.8], 0.0, None),
        ("red", [0.75, 0.05, 0.04], 0.0, None),
        ("blue_bumps", [0.05, 0.16, 0.65], 0.0, Some(bumps)),
    ];
    for (row, (name, [r, g, b], metallic, normal)) in rows.into_iter().enumerate() {
        for column in 0..7 {
            let roughness = column as f32 / 6.0;
            let mut material = json!({
                "name": format!("{name}_{column}"),
                "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, 1.0], "metallicFactor": metallic, "roughnessFactor": roughness,
                },
            });
            if let Some(texture) = normal {
                material["normalTexture"] = json!({ "index": texture });
            }
            let mesh = file.add_mesh(&format!("{name}_{column}"), &sphere, material);
            let position = [column as f32 - 3.0, 2.0 - row as f32, 0.0];
            file.add_node(json!({ "name": format!("{name}_{column}"), "mesh": mesh, "translation": position, "scale": [0.44, 0.44, 0.44] }));
        }
    }
    file
}

/// The box that is open towards +Z, 2 m wide, with two blocks and a lamp below its ceiling. Its light is the scene's.
fn cornell() -> GltfFile {
    let mut file = GltfFile::default();
    let matt = |name: &str, color: [f32; 3]| {
        let [r, g, b] = color;
        json!({ "name": name, "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9 } })
    };
    let white = [0.73, 0.71, 0.68];
    let wall = file.add_geometry(&quad(Vec3::ZERO, Vec3::X, Vec3::Y, 1.0));
    let walls = [
        ("back", white, [0.0, 1.0, -1.0], turn(Vec3::X, 0.0)),
        ("floor", white, [0.0, 0.0, 0.0], turn(Vec3::X, -0.25)),
        ("ceiling", white, [0.0, 2.0, 0.0], turn(Vec3::X, 0.25)),
        ("left", [0.63, 0.06, 0.05], [-1.0, 1.0, 0.0], turn(Vec3::Y, 0.25)),
        ("right", [0.14, 0.45, 0.09], [1.0, 1.0, 0.0], turn(Vec3::Y, -0.25)),
    ];
    for (name, color, translation, rotation) in walls {
        let mesh = file.add_mesh(name, &wall, matt(name, color));
        file.add_node(json!({ "name": name, "mesh": mesh, "translation": translation, "rotation": rotation }));
    }
    let block = file.add_geometry(&cube());
    for (name, translation, scale, turns) in [
        ("tall_block", [-0.35, 0.6, -0.35], [0.3, 0.6, 0.3], 0.05),
        ("short_block", [0.35, 0.3, 0.3], [0.3, 0.3, 0.3], -0.05),
    ] {
        let mesh = file.add_mesh(name, &block, matt(name, white));
        file.add_node(json!({
            "name": name, "mesh": mesh, "translation": translation, "scale": scale, "rotation": turn(Vec3::Y, turns),
        }));
    }
    let lamp = json!({
        "name": "lamp",
        "pbrMetallicRoughness": { "baseColorFactor": [0.0, 0.0, 0.0, 1.0], "metallicFactor": 0.0 },
        "emissiveFactor": [1.0, 0.86, 0.66],
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 150.0 } },
    });
    file.use_extension("KHR_materials_emissive_strength");
    let mesh = file.add_mesh("lamp", &wall, lamp);
    file.add_node(json!({
        "name": "lamp", "mesh": mesh, "translation": [0.0, 1.995, 0.0], "rotation": turn(Vec3::X, 0.25), "scale": [0.3, 0.25, 1.0],
    }));
    file
}

/// Everything about alpha, sides and mirroring on a checkered floor.
fn alpha() -> GltfFile {
    let mut file = GltfFile::default();
    file.use_extension("KHR_texture_transform");
    let checker = file.add_texture("checker.png");
    let leaf = file.add_texture("leaf.png");
    let letter = file.add_texture("letter_f.png");
    let card = file.add_geometry(&quad(Vec3::ZERO, Vec3::X, Vec3::Y, 1.0));
    let textured = |name: &str, texture: usize, transform: Value| {
        json!({
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": texture, "extensions": { "KHR_texture_transform": transform } },
                "metallicFactor": 0.0, "roughnessFactor": 0.8,
            },
        })
    };

    let floor = file.add_mesh("floor", &card, textured("floor", checker, json!({ "scale": [7.0, 5.0] })));
    file.add_node(
        json!({ "name": "floor", "mesh": floor, "rotation": turn(Vec3::X, -0.25), "scale": [7.0, 5.0, 1.0] }),
    );

    let mut leaves = textured("leaves", leaf, json!({}));
    leaves["alphaMode"] = json!("MASK");
    leaves["alphaCutoff"] = json!(0.5);
    leaves["doubleSided"] = json!(true);
    let leaves = file.add_mesh("leaves", &card, leaves);
    for idx in 0..5 {
        file.add_node(json!({
            "name": format!("leaves_{idx}"), "mesh": leaves, "translation": [-4.0, 1.1, 0.3],
            "rotation": turn(Vec3::Y, idx as f32 / 10.0), "scale": [1.1, 1.1, 1.1],
        }));
    }

    let panes = [("red", [0.9, 0.1, 0.08]), ("green", [0.1, 0.75, 0.15]), ("blue", [0.1, 0.2, 0.9])];
    for (idx, (name, [r, g, b])) in panes.into_iter().enumerate() {
        let pane = json!({
            "name": format!("glass_{name}"), "alphaMode": "BLEND", "doubleSided": true,
            "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 0.45], "metallicFactor": 0.0, "roughnessFactor": 0.1 },
        });
        let pane = file.add_mesh(&format!("glass_{name}"), &card, pane);
        let shift = idx as f32 - 1.0;
        file.add_node(json!({
            "name": format!("glass_{name}"), "mesh": pane,
            "translation": [-1.4 + 0.55 * shift, 1.05 + 0.15 * shift, 0.7 * shift], "scale": [0.75, 0.9, 1.0],
        }));
    }

    // A strip that turns its back to the camera on one half.
    let mut ribbon = textured("ribbon", checker, json!({ "scale": [4.0, 1.0] }));
    ribbon["doubleSided"] = json!(true);
    let geometry = file.add_geometry(&twisted_ribbon(24));
    let ribbon = file.add_mesh("ribbon", &geometry, ribbon);
    file.add_node(json!({ "name": "ribbon", "mesh": ribbon, "translation": [1.1, 1.1, 0.0] }));

    // The letter as it is, and mirrored by its node.
    let block = file.add_geometry(&cube());
    let letter = file.add_mesh("letter", &block, textured("letter", letter, json!({})));
    for (name, x, scale_x) in [("letter", 2.75, 0.42), ("letter_mirrored", 3.9, -0.42)] {
        file.add_node(json!({
            "name": name, "mesh": letter, "translation": [x, 0.43, 0.6], "scale": [scale_x, 0.42, 0.42], "rotation": turn(Vec3::Y, 0.04),
        }));
    }

    let rainbow = file.add_geometry(&colored_quad());
    let white =
        json!({ "name": "vertex_colors", "pbrMetallicRoughness": { "metallicFactor": 0.0, "roughnessFactor": 0.8 } });
    let rainbow = file.add_mesh("vertex_colors", &rainbow, white);
    file.add_node(
        json!({ "name": "vertex_colors", "mesh": rainbow, "translation": [2.75, 1.9, -0.4], "scale": [0.6, 0.6, 1.0] }),
    );

    let turned = json!({ "offset": [0.25, 0.0], "rotation": PI / 6.0, "scale": [2.0, 2.0] });
    let turned = file.add_mesh("turned_checker", &card, textured("turned_checker", checker, turned));
    file.add_node(
        json!({ "name": "turned_checker", "mesh": turned, "translation": [4.2, 1.9, -0.4], "scale": [0.6, 0.6, 1.0] }),
    );
    file
}

/// A quaternion by an axis and turns.
fn turn(axis: Vec3, turns: f32) -> [f32; 4] {
    glam::Quat::from_axis_angle(axis, turns * TAU).to_array()
}

// ---------------------------------------------------------------------------------------------------------- geometry

#[derive(Default)]
struct Geometry {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    uvs: Vec<Vec2>,
    colors: Vec<[u8; 4]>,
    indices: Vec<u16>,
}

impl Geometry {
    /// Four corners, counter-clockwise from the lower left.
    fn add_quad(&mut self, center: Vec3, right: Vec3, up: Vec3, half_size: f32) {
        let first = self.positions.len() as u16;
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            self.positions.push(center + (right * x + up * y) * half_size);
            self.normals.push(right.cross(up));
            self.uvs.push(Vec2::new(0.5 + 0.5 * x, 0.5 - 0.5 * y));
        }
        self.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
}

fn quad(center: Vec3, right: Vec3, up: Vec3, half_size: f32) -> Geometry {
    let mut geometry = Geometry::default();
    geometry.add_quad(center, right, up, half_size);
    geometry
}

/// From -1 to 1, each side with the whole texture.
fn cube() -> Geometry {
    let mut geometry = Geometry::default();
    for (right, up) in [
        (Vec3::X, Vec3::Y),
        (Vec3::NEG_X, Vec3::Y),
        (Vec3::Z, Vec3::Y),
        (Vec3::NEG_Z, Vec3::Y),
        (Vec3::X, Vec3::Z),
        (Vec3::X, Vec3::NEG_Z),
    ] {
        geometry.add_quad(right.cross(up), right, up, 1.0);
    }
    geometry
}

/// Unit radius; the seam faces -Z.
fn uv_sphere(n_around: u16, n_down: u16) -> Geometry {
    let mut geometry = Geometry::default();
    for down in 0..=n_down {
        for around in 0..=n_around {
            let uv = Vec2::new(f32::from(around) / f32::from(n_around), f32::from(down) / f32::from(n_down));
            let (longitude, latitude) = ((uv.x - 0.5) * TAU, (0.5 - uv.y) * PI);
            let normal = Vec3::new(latitude.cos() * longitude.sin(), latitude.sin(), latitude.cos() * longitude.cos());
            geometry.positions.push(normal);
            geometry.normals.push(normal);
            geometry.uvs.push(uv * Vec2::new(6.0, 3.0));
        }
    }
    for down in 0..n_down {
        for around in 0..n_around {
            let above = down * (n_around + 1) + around;
            let below = above + n_around + 1;
            if down != 0 {
                geometry.indices.extend([above, below + 1, above + 1]);
            }
            if down != n_down - 1 {
                geometry.indices.extend([above, below, below + 1]);
            }
        }
    }
    geometry
}

/// A strip along Y, 2 m long, that makes half a turn.
fn twisted_ribbon(n_steps: u16) -> Geometry {
    let mut geometry = Geometry::default();
    for step in 0..=n_steps {
        let t = f32::from(step) / f32::from(n_steps);
        let across = Vec3::new((t * PI).cos(), 0.0, (t * PI).sin());
        for side in [-1.0, 1.0] {
            geometry.positions.push(Vec3::new(0.0, 2.0 * t - 1.0, 0.0) + across * 0.45 * side);
            geometry.normals.push(across.cross(Vec3::Y));
            geometry.uvs.push(Vec2::new(1.0 - t, 0.5 + 0.5 * side));
        }
        if step > 0 {
            let first = 2 * (step - 1);
            geometry.indices.extend([0, 1, 3, 0, 3, 2].map(|corner| first + corner));
        }
    }
    geometry
}

fn colored_quad() -> Geometry {
    let mut geometry = quad(Vec3::ZERO, Vec3::X, Vec3::Y, 1.0);
    geometry.colors = vec![[255, 0, 0, 255], [255, 220, 0, 255], [0, 200, 60, 255], [20, 60, 255, 255]];
    geometry
}

// ---------------------------------------------------------------------------------------------------------- textures

fn write_png(folder: &Path, name: &str, image: RgbaImage) -> Result<()> {
    let path = folder.join(name);
    image.save(&path).with_context(|| format!("{} cannot be written", path.display()))
}

fn paint(size_px: u32, color_at: impl Fn(Vec2) -> [f32; 4]) -> RgbaImage {
    RgbaImage::from_fn(size_px, size_px, |x, y| {
        let uv = (Vec2::new(x as f32, y as f32) + 0.5) / size_px as f32;
        image::Rgba(color_at(uv).map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8))
    })
}

/// Round bumps, four by four; a tangent-space normal texture, +Y up.
fn bumps_normal(size_px: u32) -> RgbaImage {
    paint(size_px, |uv| {
        let cell = (uv * 4.0).fract() * 2.0 - 1.0;
        let slope = if cell.length() < 0.9 { cell * 0.8 * (1.0 - cell.length() / 0.9) * 2.0 } else { Vec2::ZERO };
        // The image's v points down, the texture's y up.
        let normal = Vec3::new(slope.x, -slope.y, 1.0).normalize() * 0.5 + 0.5;
        [normal.x, normal.y, normal.z, 1.0]
    })
}

fn checker(size_px: u32) -> RgbaImage {
    paint(size_px, |uv| {
        let is_light = (uv.x < 0.5) == (uv.y < 0.5);
        if is_light { [0.82, 0.8, 0.76, 1.0] } else { [0.32, 0.36, 0.42, 1.0] }
    })
}

/// Leaves on a stem, cut out by alpha, with a soft rim for the cutoff to find.
fn leaf(size_px: u32) -> RgbaImage {
    paint(size_px, |uv| {
        let p = Vec2::new(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0);
        let stem = if p.y < 0.75 { 0.03 - p.x.abs() } else { -1.0 };
        let mut inside = stem;
        for idx in 0..6 {
            let y = -0.8 + 0.28 * idx as f32;
            let length = 0.62 - 0.07 * idx as f32;
            for side in [-1.0, 1.0] {
                let along = Vec2::new(side * 0.8, 0.6);
                let from_stem = p - Vec2::new(0.0, y);
                let (t, across) = (from_stem.dot(along) / length, from_stem.perp_dot(along).abs());
                let half_width = if (0.0..=1.0).contains(&t) { 0.105 * (PI * t.powf(0.8)).sin() } else { -1.0 };
                inside = inside.max(half_width - across);
            }
        }
        let shade = 0.75 + 0.25 * (p.y * 9.0 + p.x.abs() * 14.0).sin();
        [0.22 * shade, 0.5 * shade, 0.12 * shade, 0.5 + inside * 40.0]
    })
}

/// Unlike its own mirror image.
fn letter_f(size_px: u32) -> RgbaImage {
    paint(size_px, |uv| {
        let is_stem = (0.25..0.4).contains(&uv.x) && (0.15..0.85).contains(&uv.y);
        let is_bar = (0.25..0.75).contains(&uv.x) && (0.15..0.3).contains(&uv.y)
            || (0.25..0.6).contains(&uv.x) && (0.45..0.58).contains(&uv.y);
        if is_stem || is_bar { [0.85, 0.25, 0.08, 1.0] } else { [0.92, 0.9, 0.84, 1.0] }
    })
}

// -------------------------------------------------------------------------------------------------------------- glTF

/// A glTF file under construction, with one buffer.
#[derive(Default)]
struct GltfFile {
    bin: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    textures: Vec<Value>,
    images: Vec<Value>,
    nodes: Vec<Value>,
    extensions: Vec<String>,
}

impl GltfFile {
    fn use_extension(&mut self, name: &str) {
        self.extensions.push(name.to_string());
    }

    fn add_texture(&mut self, uri: &str) -> usize {
        self.images.push(json!({ "uri": uri }));
        self.textures.push(json!({ "source": self.images.len() - 1, "sampler": 0 }));
        self.textures.len() - 1
    }

    fn add_view(&mut self, bytes: &[u8], target: u32) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        self.views
            .push(json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len(), "target": target }));
        self.bin.extend_from_slice(bytes);
        self.views.len() - 1
    }

    fn add_accessor(&mut self, bytes: &[u8], target: u32, mut accessor: Value) -> usize {
        accessor["bufferView"] = self.add_view(bytes, target).into();
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// A primitive without its material, to be shared by meshes.
    fn add_geometry(&mut self, geometry: &Geometry) -> Value {
        const FLOAT: u32 = 5126;
        const VERTICES: u32 = 34962;
        let n = geometry.positions.len();
        let min = geometry.positions.iter().fold(Vec3::INFINITY, |a, &b| a.min(b)).to_array();
        let max = geometry.positions.iter().fold(Vec3::NEG_INFINITY, |a, &b| a.max(b)).to_array();
        let vec3 = json!({ "componentType": FLOAT, "count": n, "type": "VEC3" });
        let mut bounded = vec3.clone();
        bounded["min"] = json!(min);
        bounded["max"] = json!(max);
        let vec2 = json!({ "componentType": FLOAT, "count": n, "type": "VEC2" });
        let mut attributes = json!({
            "POSITION": self.add_accessor(bytemuck::cast_slice(&geometry.positions), VERTICES, bounded),
            "NORMAL": self.add_accessor(bytemuck::cast_slice(&geometry.normals), VERTICES, vec3),
            "TEXCOORD_0": self.add_accessor(bytemuck::cast_slice(&geometry.uvs), VERTICES, vec2),
        });
        if !geometry.colors.is_empty() {
            let colors = json!({ "componentType": 5121, "normalized": true, "count": n, "type": "VEC4" });
            attributes["COLOR_0"] = self.add_accessor(bytemuck::cast_slice(&geometry.colors), VERTICES, colors).into();
        }
        let indices = json!({ "componentType": 5123, "count": geometry.indices.len(), "type": "SCALAR" });
        let indices = self.add_accessor(bytemuck::cast_slice(&geometry.indices), 34963, indices);
        json!({ "attributes": attributes, "indices": indices })
    }

    fn add_mesh(&mut self, name: &str, primitive: &Value, material: Value) -> usize {
        self.materials.push(material);
        let mut primitive = primitive.clone();
        primitive["material"] = (self.materials.len() - 1).into();
        self.meshes.push(json!({ "name": name, "primitives": [primitive] }));
        self.meshes.len() - 1
    }

    fn add_node(&mut self, node: Value) {
        self.nodes.push(node);
    }

    /// Writes `NAME.gltf` and `NAME.bin`.
    fn write(self, folder: &Path, name: &str) -> Result<()> {
        let mut document = json!({
            "asset": { "version": "2.0", "generator": "make_test_assets" },
            "scene": 0,
            "scenes": [{ "nodes": (0..self.nodes.len()).collect::<Vec<_>>() }],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{ "byteLength": self.bin.len(), "uri": format!("{name}.bin") }],
        });
        if !self.textures.is_empty() {
            document["textures"] = self.textures.into();
            document["images"] = self.images.into();
            document["samplers"] = json!([{ "magFilter": 9729, "minFilter": 9987 }]);
        }
        if !self.extensions.is_empty() {
            document["extensionsUsed"] = json!(self.extensions);
        }
        let path = folder.join(format!("{name}.gltf"));
        let text = serde_json::to_string_pretty(&document)? + "\n";
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        let path = folder.join(format!("{name}.bin"));
        std::fs::write(&path, self.bin).with_context(|| format!("{} cannot be written", path.display()))
    }
}
