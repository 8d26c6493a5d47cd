//! One small glTF document per feature, built here, and what the importer makes of it.

use std::f32::consts::FRAC_1_SQRT_2;
use std::path::Path;

use glam::{Affine3A, Vec3};
use praxis::scene::assets::{AlphaMode, Mesh, MipFilter, Wrap};
use praxis::scene::{
    DirectionalLight, LoadOptions, MeshInstance, PointLight, Projection, Scene, SceneError, Slot, SpotLight,
};
use serde_json::{Value, json};

const F32: u32 = 5126;

/// A document with one binary buffer, written to a folder of its own.
struct Doc {
    json: Value,
    bin: Vec<u8>,
    folder: tempfile::TempDir,
}

impl Doc {
    fn new() -> Self {
        let json = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }] });
        Self { json, bin: Vec::new(), folder: tempfile::tempdir().expect("a folder") }
    }

    fn push(&mut self, array: &str, value: Value) -> usize {
        if self.json[array].is_null() {
            self.json[array] = json!([]);
        }
        let items = self.json[array].as_array_mut().expect("an array");
        items.push(value);
        items.len() - 1
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        self.bin.extend_from_slice(bytes);
        self.push("bufferViews", view)
    }

    fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        self.push("accessors", json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }))
    }

    fn floats(&mut self, values: &[f32], kind: &str, n_components: usize) -> usize {
        self.accessor(bytemuck::cast_slice(values), F32, kind, values.len() / n_components)
    }

    fn positions(&mut self, values: &[[f32; 3]]) -> usize {
        let accessor = self.floats(values.as_flattened(), "VEC3", 3);
        self.json["accessors"][accessor]["min"] = json!([-1e9, -1e9, -1e9]);
        self.json["accessors"][accessor]["max"] = json!([1e9, 1e9, 1e9]);
        accessor
    }

    /// Adds mesh 0 with one primitive.
    fn primitive(&mut self, primitive: Value) {
        self.push("meshes", json!({ "primitives": [primitive] }));
    }

    /// A unit square of two triangles in the XY plane with texture coordinates, and a material.
    fn square(&mut self, material: Value) {
        let positions = self.positions(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
        let normals = self.floats(&[0.0, 0.0, 1.0].repeat(4), "VEC3", 3);
        let uvs = self.floats(&[0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0], "VEC2", 2);
        let indices = self.accessor(&[0, 1, 2, 0, 2, 3], 5121, "SCALAR", 6);
        let material = self.push("materials", material);
        self.primitive(json!({
            "attributes": { "POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs },
            "indices": indices, "material": material,
        }));
    }

    fn write(&mut self) -> std::path::PathBuf {
        if !self.bin.is_empty() {
            self.json["buffers"] = json!([{ "byteLength": self.bin.len(), "uri": "data%20file.bin" }]);
            std::fs::write(self.folder.path().join("data file.bin"), &self.bin).expect("the buffer is written");
        }
        let path = self.folder.path().join("model.gltf");
        std::fs::write(&path, self.json.to_string()).expect("the document is written");
        path
    }

    fn load(&mut self) -> Result<Scene, SceneError> {
        let path = self.write();
        load(&path)
    }

    fn png(&self, name: &str, image: image::DynamicImage) {
        image.save(self.folder.path().join(name)).expect("the image is written");
    }
}

fn load(path: &Path) -> Result<Scene, SceneError> {
    let options = LoadOptions { clock_ns: || 0, aspect: 1.5 };
    Scene::load(path.to_str().expect("UTF-8"), Path::new("scenes"), &options)
}

fn only_mesh(scene: &Scene) -> &Mesh {
    assert_eq!(scene.assets.meshes.len(), 1, "{:?}", scene.warnings());
    let mesh = &scene.assets.meshes[0];
    let n = mesh.positions.len();
    assert_eq!([mesh.normals.len(), mesh.tangents.len(), mesh.uv0.len(), mesh.uv1.len(), mesh.colors.len()], [n; 5]);
    assert!(mesh.indices.iter().all(|&vertex| (vertex as usize) < n));
    mesh
}

const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];

#[test]
fn strips_and_fans_become_lists_that_all_face_one_side() {
    for (mode, corners) in [(5, CORNERS), (6, [CORNERS[0], CORNERS[1], CORNERS[3], CORNERS[2]])] {
        let mut doc = Doc::new();
        let positions = doc.positions(&corners);
        doc.primitive(json!({ "attributes": { "POSITION": positions }, "mode": mode }));
        let scene = doc.load().unwrap();
        let mesh = only_mesh(&scene);
        assert_eq!(mesh.indices.len(), 6, "mode {mode}");
        assert!(mesh.normals.iter().all(|normal| normal[2] > 0.999), "mode {mode}: {:?}", mesh.normals);
    }
}

#[test]
fn points_and_lines_are_skipped_with_a_warning() {
    let mut doc = Doc::new();
    let positions = doc.positions(&CORNERS);
    doc.primitive(json!({ "attributes": { "POSITION": positions }, "mode": 1 }));
    let scene = doc.load().unwrap();
    assert!(scene.assets.meshes.is_empty());
    assert!(scene.warnings().iter().any(|warning| warning.contains("points and lines")));
    assert!(scene.warnings().iter().any(|warning| warning.contains("nothing to draw")));
}

#[test]
fn missing_normals_are_flat_and_unshare_the_vertices() {
    let mut doc = Doc::new();
    let positions = doc.positions(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let indices = doc.accessor(bytemuck::cast_slice(&[0u32, 2, 1, 0, 1, 3]), 5125, "SCALAR", 6);
    doc.primitive(json!({ "attributes": { "POSITION": positions }, "indices": indices }));
    let scene = doc.load().unwrap();
    let mesh = only_mesh(&scene);
    assert_eq!(mesh.positions.len(), 6);
    assert_eq!(mesh.normals[0], [0.0, 0.0, -1.0]);
    assert_eq!(mesh.normals[5], [0.0, -1.0, 0.0]);
}

#[test]
fn quantized_strided_and_interleaved_attributes_are_decoded() {
    let mut doc = Doc::new();
    // Each vertex: i16 ×3 position (and 2 spare bytes), i8 ×3 normalized normal (and 1), u16 ×2 normalized uv, u8 ×4 colour.
    let mut bytes = Vec::new();
    for (position, uv) in [([0i16, 0, 0], [0u16, 0]), ([100, 0, 0], [65535, 0]), ([0, -50, 7], [0, 65535])] {
        bytes.extend_from_slice(bytemuck::cast_slice(&position));
        bytes.extend_from_slice(&[0xEE, 0xEE]);
        bytes.extend_from_slice(bytemuck::cast_slice(&[0i8, 0, -128, 0]));
        bytes.extend_from_slice(bytemuck::cast_slice(&uv));
        bytes.extend_from_slice(&[255, 128, 0, 64]);
    }
    let view = doc.view(&bytes);
    doc.json["bufferViews"][view]["byteStride"] = json!(20);
    let mut accessor = |offset: usize, component: u32, kind: &str, normalized: bool| {
        doc.push(
            "accessors",
            json!({ "bufferView": view, "byteOffset": offset, "componentType": component, "type": kind, "count": 3,
                "normalized": normalized, "min": [0, 0, 0], "max": [0, 0, 0] }),
        )
    };
    let attributes = json!({
        "POSITION": accessor(0, 5122, "VEC3", false), "NORMAL": accessor(8, 5120, "VEC3", true),
        "TEXCOORD_0": accessor(12, 5123, "VEC2", true), "COLOR_0": accessor(16, 5121, "VEC4", true),
    });
    doc.primitive(json!({ "attributes": attributes }));
    doc.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    doc.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let scene = doc.load().unwrap();
    let mesh = only_mesh(&scene);
    assert_eq!(mesh.positions, [[0.0; 3], [100.0, 0.0, 0.0], [0.0, -50.0, 7.0]]);
    assert_eq!(mesh.normals[1], [0.0, 0.0, -1.0], "-128 is -1, as -127 is");
    assert_eq!(mesh.uv0, [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(mesh.colors[2], [255, 128, 0, 64]);
    assert_eq!(mesh.bounds.min, Vec3::new(0.0, -50.0, 0.0), "bounds come from the data, not from min and max");
}

#[test]
fn sparse_accessors_replace_elements_of_a_view_or_of_zeros() {
    for with_base in [true, false] {
        let mut doc = Doc::new();
        let positions = doc.positions(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]);
        let indices = doc.view(&[1]);
        let values = doc.view(bytemuck::cast_slice(&[-1.0f32, -2.0, -3.0]));
        doc.json["accessors"][positions]["sparse"] = json!({
            "count": 1, "indices": { "bufferView": indices, "componentType": 5121 }, "values": { "bufferView": values },
        });
        if !with_base {
            doc.json["accessors"][positions].as_object_mut().unwrap().remove("bufferView");
        }
        doc.primitive(json!({ "attributes": { "POSITION": positions } }));
        let scene = doc.load().unwrap();
        let mesh = only_mesh(&scene);
        assert_eq!(mesh.positions[1], [-1.0, -2.0, -3.0]);
        assert_eq!(mesh.positions[2], if with_base { [7.0, 8.0, 9.0] } else { [0.0; 3] });
    }
}

#[test]
fn vertex_colors_come_as_rgb_or_rgba_of_three_types() {
    let f32s = [1.0f32, 0.5, 0.0];
    let u16s = [65535u16, 32768, 0, 0];
    let cases: [(&[u8], u32, &str); 3] = [
        (&bytemuck::cast_slice(&f32s).repeat(3), F32, "VEC3"),
        (&bytemuck::cast_slice(&u16s).repeat(3), 5123, "VEC4"),
        (&[255, 128, 0, 0].repeat(3), 5121, "VEC4"),
    ];
    for (bytes, component, kind) in cases {
        let mut doc = Doc::new();
        let positions = doc.positions(&CORNERS[..3]);
        let colors = doc.accessor(bytes, component, kind, 3);
        if component != F32 {
            doc.json["accessors"][colors]["normalized"] = json!(true);
        }
        doc.primitive(json!({ "attributes": { "POSITION": positions, "COLOR_0": colors } }));
        let scene = doc.load().unwrap();
        let [r, g, b, a] = only_mesh(&scene).colors[0];
        assert_eq!((r, g, b), (255, 128, 0), "{component} {kind}");
        assert_eq!(a, if kind == "VEC3" { 255 } else { 0 });
    }
}

#[test]
fn tangents_point_along_u_where_a_normal_texture_needs_them() {
    let mut doc = Doc::new();
    doc.png("n.png", image::DynamicImage::new_rgb8(2, 2));
    let image = doc.push("images", json!({ "uri": "n.png" }));
    let texture = doc.push("textures", json!({ "source": image }));
    doc.square(json!({ "normalTexture": { "index": texture, "scale": 0.5 } }));
    let scene = doc.load().unwrap();
    let mesh = only_mesh(&scene);
    for (tangent, normal) in mesh.tangents.iter().zip(&mesh.normals) {
        let [x, y, z, w] = *tangent;
        assert!(Vec3::new(x, y, z).distance(Vec3::X) < 1e-5, "{tangent:?}");
        // v points down in glTF, the texture's y upwards: so does the bitangent.
        let bitangent = Vec3::from(*normal).cross(Vec3::new(x, y, z)) * w;
        assert!(bitangent.distance(Vec3::Y) < 1e-5, "{bitangent}");
    }
    assert_eq!(mesh.positions.len(), 4, "equal tangents share their vertices");
    assert_eq!(scene.assets.materials[1].normal_scale, 0.5);
    assert!(!scene.assets.images[0].is_srgb);
}

#[test]
fn materials_textures_and_samplers_are_read() {
    let mut doc = Doc::new();
    let sixteen_bits = image::ImageBuffer::from_pixel(2, 1, image::Rgba([65535u16, 0x8080, 0, 65535]));
    doc.png("a b.png", image::DynamicImage::ImageRgba16(sixteen_bits));
    let image = doc.push("images", json!({ "uri": "a%20b.png" }));
    let sampler = doc.push("samplers", json!({ "wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9985 }));
    let texture = doc.push("textures", json!({ "source": image, "sampler": sampler }));
    doc.json["extensionsUsed"] =
        json!(["KHR_materials_emissive_strength", "KHR_materials_unlit", "KHR_texture_transform"]);
    doc.square(json!({
        "name": "paint",
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.25, "roughnessFactor": 0.75,
            "baseColorTexture": { "index": texture, "texCoord": 1,
                "extensions": { "KHR_texture_transform": { "offset": [0.5, 0.25], "scale": [2.0, 3.0], "texCoord": 0 } } },
            "metallicRoughnessTexture": { "index": texture },
        },
        "occlusionTexture": { "index": texture, "strength": 0.6, "texCoord": 1 },
        "emissiveTexture": { "index": texture }, "emissiveFactor": [1.0, 0.5, 0.0],
        "alphaMode": "MASK", "alphaCutoff": 0.3, "doubleSided": true,
        "extensions": { "KHR_materials_unlit": {}, "KHR_materials_emissive_strength": { "emissiveStrength": 10.0 } },
    }));
    let scene = doc.load().unwrap();
    assert_eq!(scene.warnings(), &[] as &[String]);
    let material = &scene.assets.materials[1];
    assert_eq!((material.name.as_str(), material.metallic, material.roughness), ("paint", 0.25, 0.75));
    assert_eq!(material.base_color, [0.1, 0.2, 0.3, 0.4]);
    assert_eq!(material.emissive, [10.0, 5.0, 0.0]);
    assert_eq!(material.alpha_mode, AlphaMode::Mask { cutoff: 0.3 });
    assert!(material.is_double_sided && material.is_unlit);
    let base = material.base_color_texture.unwrap();
    assert_eq!(base.uv_set, 0, "the transform's texCoord wins");
    assert_eq!(base.uv_transform.transform_point2(glam::Vec2::ONE), glam::Vec2::new(2.5, 3.25));
    let occlusion = material.occlusion_texture.unwrap();
    assert_eq!((occlusion.uv_set, material.occlusion_strength), (1, 0.6));
    let sampler = scene.assets.samplers[base.sampler.0 as usize];
    assert_eq!((sampler.wrap_u, sampler.wrap_v, sampler.mip), (Wrap::Clamp, Wrap::Mirror, Some(MipFilter::Nearest)));
    assert!(!sampler.is_mag_linear && sampler.is_min_linear);
    // One file as colour and as data: two images that share their pixels.
    assert_eq!(scene.assets.images.len(), 2);
    let (color, data) = (&scene.assets.images[base.image.0 as usize], &scene.assets.images[occlusion.image.0 as usize]);
    assert!(color.is_srgb && !data.is_srgb && std::sync::Arc::ptr_eq(&color.rgba8, &data.rgba8));
    assert_eq!(color.rgba8[..4], [255, 0x80, 0, 255], "16 bits are reduced to 8");
}

#[test]
fn nodes_multiply_matrices_and_mirrored_scales() {
    let mut doc = Doc::new();
    doc.square(json!({}));
    doc.json["nodes"] = json!([
        { "children": [1, 2], "translation": [10, 0, 0], "scale": [-1, 1, 1] },
        { "mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2, 3, 4, 1] },
        { "mesh": 0, "rotation": [0, FRAC_1_SQRT_2, 0, FRAC_1_SQRT_2] },
    ]);
    let mut scene = doc.load().unwrap();
    assert_eq!(scene.assets.meshes.len(), 1, "nodes share the mesh");
    let slots: Vec<Slot> =
        scene.world.query::<(&Slot, &MeshInstance)>().iter(&scene.world).map(|(slot, _)| *slot).collect();
    let worlds: Vec<Affine3A> = slots.iter().map(|slot| *scene.hierarchy().world(slot.0)).collect();
    assert_eq!(Vec3::from(worlds[0].translation), Vec3::new(8.0, 3.0, 4.0));
    assert!(worlds[0].matrix3.determinant() < 0.0, "mirrored");
    assert!(Vec3::from(worlds[1].matrix3 * glam::Vec3A::X).distance(Vec3::NEG_Z) < 1e-6);
}

#[test]
fn skinned_meshes_stand_where_their_joints_are() {
    let mut doc = Doc::new();
    let positions = doc.positions(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let joints = doc.accessor(&[0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0], 5121, "VEC4", 3);
    let weights = doc.floats(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0], "VEC4", 4);
    let mut bind = [glam::Mat4::IDENTITY.to_cols_array(), glam::Mat4::from_translation(Vec3::NEG_X).to_cols_array()];
    let inverse_binds = doc.floats(bind.as_flattened_mut(), "MAT4", 16);
    doc.primitive(json!({ "attributes": { "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights } }));
    doc.json["skins"] = json!([{ "joints": [1, 2], "inverseBindMatrices": inverse_binds }]);
    // The mesh's own node is far away, which must not matter; joint 1 is lifted from where it was bound, (1, 0, 0).
    doc.json["nodes"] = json!([
        { "mesh": 0, "skin": 0, "translation": [50, 0, 0] }, { "children": [2], "translation": [0, 0, 3] },
        { "translation": [1, 4, 0] },
    ]);
    doc.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    let scene = doc.load().unwrap();
    assert_eq!(only_mesh(&scene).positions, [[0.0, 0.0, 3.0], [1.0, 4.0, 3.0], [0.0, 3.0, 3.0]]);
    assert_eq!(scene.bounds().max.x, 1.0);
    assert!(scene.warnings()[0].contains("skins"));
    // A joint that the skin does not have.
    let offset = doc.json["bufferViews"][1]["byteOffset"].as_u64().unwrap() as usize;
    doc.bin[offset] = 7;
    let error = doc.load().err().unwrap().to_string();
    assert!(error.contains("joint 7"), "{error}");
}

#[test]
fn cameras_and_lights_are_found_where_they_hang() {
    let mut doc = Doc::new();
    doc.json["extensionsUsed"] = json!(["KHR_lights_punctual"]);
    doc.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [
        { "type": "point", "intensity": 100.0, "color": [1, 0.5, 0.25] },
        { "type": "spot", "intensity": 5.0, "range": 7.0, "spot": { "innerConeAngle": 0.1, "outerConeAngle": 0.2 } },
        { "type": "directional", "intensity": 3.0 },
    ] } });
    doc.json["cameras"] = json!([
        { "type": "perspective", "perspective": { "yfov": 0.7, "znear": 0.2 } },
        { "type": "orthographic", "orthographic": { "xmag": 2.0, "ymag": 3.0, "znear": 0.0, "zfar": 9.0 } },
    ]);
    doc.json["nodes"] = json!([
        { "name": "eye", "camera": 0, "translation": [0, 0, 5], "scale": [3, 3, 3] }, { "name": "eye", "camera": 1 },
        { "extensions": { "KHR_lights_punctual": { "light": 0 } } }, { "extensions": { "KHR_lights_punctual": { "light": 1 } } },
        { "extensions": { "KHR_lights_punctual": { "light": 2 } } },
    ]);
    doc.json["scenes"] = json!([{ "nodes": [0, 1, 2, 3, 4] }]);
    let mut scene = doc.load().unwrap();
    assert_eq!(scene.camera_names(), ["eye", "eye 2", "framing"]);
    assert_eq!(scene.default_camera(), "framing");
    scene.set_camera("eye").unwrap();
    let view = scene.camera_view();
    assert_eq!(view.projection, Projection::Perspective { fov_y: 0.7, near: 0.2 });
    assert_eq!(view.world_from_view, Affine3A::from_translation(Vec3::new(0.0, 0.0, 5.0)), "views have no scale");
    scene.set_camera("eye 2").unwrap();
    assert_eq!(scene.camera_view().projection, Projection::Orthographic { half_height: 3.0, near: 0.0, far: 9.0 });
    let world = &mut scene.world;
    let point = *world.query::<&PointLight>().single(world).unwrap();
    assert_eq!((point.intensity_cd, point.color), (100.0, [1.0, 0.5, 0.25]));
    assert!((point.range - 100.0).abs() < 1e-2, "without a range it ends at a hundredth of a lux");
    assert_eq!(world.query::<&SpotLight>().single(world).unwrap().outer_angle, 0.2);
    assert_eq!(world.query::<&DirectionalLight>().single(world).unwrap().illuminance_lux, 3.0);
}

#[test]
fn a_glb_with_embedded_image_loads() {
    let mut doc = Doc::new();
    let mut png = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(3, 2).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let view = doc.view(png.get_ref());
    let image = doc.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    let texture = doc.push("textures", json!({ "source": image }));
    doc.square(json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": texture } } }));
    doc.bin.resize(doc.bin.len().next_multiple_of(4), 0);
    doc.json["buffers"] = json!([{ "byteLength": doc.bin.len() }]);
    let mut text = doc.json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    glb.extend((28 + text.len() as u32 + doc.bin.len() as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", &text), (b"BIN\0", &doc.bin)] {
        glb.extend((data.len() as u32).to_le_bytes());
        glb.extend_from_slice(kind);
        glb.extend_from_slice(data);
    }
    let path = doc.folder.path().join("model.glb");
    std::fs::write(&path, &glb).unwrap();
    let scene = load(&path).unwrap();
    assert_eq!((scene.assets.images[0].width, scene.assets.images[0].height), (3, 2));
    // Cut off anywhere, it is an error that names the file, never a panic.
    for length in 0..glb.len() {
        std::fs::write(&path, &glb[..length]).unwrap();
        let error = load(&path).err().expect("a cut-off file is refused").to_string();
        assert!(error.contains("model.glb"), "{error}");
    }
}

/// What to break in a valid document, and words of the error.
#[test]
fn faults_name_their_place() {
    type Break = fn(&mut Doc);
    let cases: &[(Break, &[&str])] = &[
        (|doc| doc.json["accessors"][0]["count"] = json!(4_000_000_000u64), &["/accessors/0", "reach"]),
        (|doc| doc.json["accessors"][0]["count"] = json!("four"), &["/accessors/0/count", "four"]),
        (|doc| doc.json["accessors"][0]["bufferView"] = json!(99), &["/accessors/0/bufferView", "99"]),
        (|doc| doc.json["bufferViews"][0]["byteLength"] = json!(u64::MAX / 2), &["/bufferViews/0"]),
        (|doc| doc.bin[96 + 32 + 1] = 200, &["/meshes/0/primitives/0/indices", "200"]),
        (|doc| doc.bin[..4].copy_from_slice(&f32::NAN.to_le_bytes()), &["/accessors/0", "finite"]),
        (|doc| doc.json["nodes"] = json!([{ "children": [1] }, { "children": [0] }]), &["/nodes/0", "cycle"]),
        (|doc| doc.json["nodes"] = json!([{ "children": [2] }, { "children": [2] }, {}]), &["/nodes/1", "parent"]),
        (|doc| doc.json["nodes"][0]["scale"] = json!([1e39, 1, 1]), &["/nodes/0/scale/0"]),
        (
            |doc| doc.json["extensionsRequired"] = json!(["KHR_texture_basisu", "KHR_materials_unlit"]),
            &["KHR_texture_basisu"],
        ),
        (|doc| doc.json["asset"]["version"] = json!("1.0"), &["/asset/version", "2.0"]),
        (|doc| doc.json["meshes"][0]["primitives"][0]["mode"] = json!(7), &["/meshes/0/primitives/0/mode"]),
        (|doc| doc.json["images"] = json!([{}]), &["/images/0"]),
        (
            |doc| {
                doc.json["images"] = json!([{ "uri": "nowhere.png" }]);
                doc.json["textures"] = json!([{ "source": 0 }]);
                doc.json["materials"][0]["emissiveTexture"] = json!({ "index": 0 });
            },
            &["/images/0/uri", "nowhere.png"],
        ),
        (
            |doc| {
                std::fs::write(doc.folder.path().join("broken.png"), b"\x89PNG\r\n\x1a\n").unwrap();
                doc.json["images"] = json!([{ "uri": "broken.png" }]);
                doc.json["textures"] = json!([{ "source": 0 }]);
                doc.json["materials"][0]["emissiveTexture"] = json!({ "index": 0 });
            },
            &["broken.png", "decoded"],
        ),
    ];
    for (break_it, words) in cases {
        let mut doc = Doc::new();
        doc.square(json!({}));
        doc.load().unwrap();
        break_it(&mut doc);
        let error = doc.load().err().unwrap_or_else(|| panic!("{words:?} should be refused")).to_string();
        assert!(!error.contains('\n'), "{error}");
        for word in *words {
            assert!(error.contains(word), "{error} lacks {word:?}");
        }
    }
}

#[test]
fn no_mutation_of_a_file_makes_it_panic() {
    let junk = [
        json!(null),
        json!(-1),
        json!(0),
        json!(0.5),
        json!(4_294_967_295u32),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!([0]),
        json!(true),
    ];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/test");
    let folder = tempfile::tempdir().unwrap();
    for name in ["alpha.bin", "checker.png", "leaf.png", "letter_f.png"] {
        std::fs::copy(source.join(name), folder.path().join(name)).unwrap();
    }
    let original: Value = serde_json::from_str(&std::fs::read_to_string(source.join("alpha.gltf")).unwrap()).unwrap();
    let mut pointers = Vec::new();
    collect_pointers(&original, String::new(), &mut pointers);
    let path = folder.path().join("mutant.gltf");
    let (mut n_loaded, mut n_refused) = (0, 0);
    for (idx, pointer) in pointers.iter().enumerate() {
        // Two kinds of junk for each place, another two for the next.
        for junk_idx in [2 * idx, 2 * idx + 1] {
            let mut mutant = original.clone();
            *mutant.pointer_mut(pointer).unwrap() = junk[junk_idx % junk.len()].clone();
            std::fs::write(&path, mutant.to_string()).unwrap();
            match load(&path) {
                Ok(_) => n_loaded += 1,
                Err(error) => {
                    n_refused += 1;
                    assert!(error.to_string().contains("mutant.gltf"), "{pointer}: {error}");
                }
            }
        }
    }
    assert!(n_refused > 500 && n_loaded > 20, "{n_refused} refused, {n_loaded} loaded");
}

fn collect_pointers(value: &Value, at: String, pointers: &mut Vec<String>) {
    pointers.push(at.clone());
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(name, inner)| collect_pointers(inner, format!("{at}/{name}"), pointers))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(idx, inner)| collect_pointers(inner, format!("{at}/{idx}"), pointers));
        }
        _ => {}
    }
}
