//! Scenes of a test's own.

use std::path::PathBuf;

use glam::Vec3;

use super::load;
use crate::scene::Scene;

/// A folder with a scene of one's own: triangle meshes without materials.
pub struct SceneFolder(tempfile::TempDir);

impl SceneFolder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for temporary files"))
    }

    /// Writes `NAME.gltf` with one mesh; without normals, for the importer to find flat ones, or with them.
    pub fn add_mesh(&self, name: &str, positions: &[[f32; 3]], indices: &[u32], normals: Option<&[[f32; 3]]>) {
        let mut bytes = bytemuck::cast_slice::<_, u8>(indices).to_vec();
        let positions_at = bytes.len();
        bytes.extend(bytemuck::cast_slice::<_, u8>(positions));
        let normals_at = bytes.len();
        bytes.extend(bytemuck::cast_slice::<_, u8>(normals.unwrap_or_default()));
        let (low, high) = positions
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| (low.min(p.into()), high.max(p.into())));
        let mut accessors = vec![
            serde_json::json!({"bufferView": 0, "componentType": 5125, "count": indices.len(), "type": "SCALAR"}),
            serde_json::json!({"bufferView": 1, "componentType": 5126, "count": positions.len(), "type": "VEC3",
                "min": low.to_array(), "max": high.to_array()}),
        ];
        let mut views = vec![
            serde_json::json!({"buffer": 0, "byteOffset": 0, "byteLength": positions_at}),
            serde_json::json!({"buffer": 0, "byteOffset": positions_at, "byteLength": normals_at - positions_at}),
        ];
        let mut attributes = serde_json::json!({"POSITION": 1});
        if normals.is_some() {
            let count = positions.len();
            accessors.push(serde_json::json!({"bufferView": 2, "componentType": 5126, "count": count, "type": "VEC3"}));
            let length = bytes.len() - normals_at;
            views.push(serde_json::json!({"buffer": 0, "byteOffset": normals_at, "byteLength": length}));
            attributes["NORMAL"] = 2.into();
        }
        let document = serde_json::json!({
            "asset": {"version": "2.0"},
            "buffers": [{"uri": format!("{name}.bin"), "byteLength": bytes.len()}],
            "bufferViews": views,
            "accessors": accessors,
            "meshes": [{"primitives": [{"attributes": attributes, "indices": 0}]}],
            "nodes": [{"mesh": 0}],
            "scenes": [{"nodes": [0]}],
            "scene": 0,
        });
        std::fs::write(self.0.path().join(format!("{name}.bin")), bytes).expect("a file");
        std::fs::write(self.0.path().join(format!("{name}.gltf")), document.to_string()).expect("a file");
    }

    pub fn add_box(&self, name: &str, low: Vec3, high: Vec3) {
        let corners: Vec<[f32; 3]> = (0..8)
            .map(|i| {
                let pick = |bit: usize, low: f32, high: f32| if i >> bit & 1 == 0 { low } else { high };
                [pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z)]
            })
            .collect();
        const QUADS: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let indices: Vec<u32> = QUADS.iter().flat_map(|&[a, b, c, d]| [a, b, c, a, c, d]).collect();
        self.add_mesh(name, &corners, &indices, None);
    }

    /// A horizontal square from -1 to 1.
    pub fn add_plane(&self, name: &str) {
        let corners = [[-1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0]];
        self.add_mesh(name, &corners, &[0, 1, 2, 0, 2, 3], None);
    }

    /// A sphere of radius 1, smooth.
    pub fn add_sphere(&self, name: &str, n_rings: u32) {
        let n_around = 2 * n_rings;
        let mut positions = Vec::new();
        for ring in 0..=n_rings {
            for step in 0..=n_around {
                let (polar, azimuth) = (
                    std::f32::consts::PI * ring as f32 / n_rings as f32,
                    std::f32::consts::TAU * step as f32 / n_around as f32,
                );
                positions.push([polar.sin() * azimuth.sin(), polar.cos(), polar.sin() * azimuth.cos()]);
            }
        }
        let mut indices = Vec::new();
        for ring in 0..n_rings {
            for step in 0..n_around {
                let i = ring * (n_around + 1) + step;
                indices.extend([i, i + n_around + 1, i + n_around + 2, i, i + n_around + 2, i + 1]);
            }
        }
        self.add_mesh(name, &positions, &indices, Some(&positions));
    }

    /// An hourglass around y from -1 to 1, smooth: hollow along its axis, round across it.
    pub fn add_hourglass(&self, name: &str, n_rings: u32, n_around: u32) {
        let (mut positions, mut normals) = (Vec::new(), Vec::new());
        for ring in 0..=n_rings {
            for step in 0..=n_around {
                let y = 2.0 * ring as f32 / n_rings as f32 - 1.0;
                let (sine, cosine) = (std::f32::consts::TAU * step as f32 / n_around as f32).sin_cos();
                let radius = 0.35 + 0.5 * y * y;
                positions.push([radius * sine, y, radius * cosine]);
                normals.push(Vec3::new(sine, -y, cosine).normalize().to_array());
            }
        }
        let mut indices = Vec::new();
        for ring in 0..n_rings {
            for step in 0..n_around {
                let i = ring * (n_around + 1) + step;
                indices.extend([i, i + 1, i + n_around + 2, i, i + n_around + 2, i + n_around + 1]);
            }
        }
        self.add_mesh(name, &positions, &indices, Some(&normals));
    }

    /// Writes the scene and loads it.
    pub fn scene(&self, sun: &str, camera: &str, models: &[&str], nodes: &str) -> Scene {
        let path: PathBuf = self.0.path().join("test.ron");
        let models: String = models.iter().map(|name| format!("{name:?}: (file: \"{name}.gltf\"),")).collect();
        let text = format!(
            "(schema: \"praxis.scene/1\", sun: {sun}, models: {{{models}}}, cameras: {{\"c\": {camera}}}, nodes: [{nodes}])"
        );
        std::fs::write(&path, text).expect("a file");
        load(&path)
    }
}
