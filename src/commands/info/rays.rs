//! What a scene's rays cost at load, by either backend, on the adapter that would be taken.

use praxis::gpu::{Gpu, GpuOptions};
use praxis::measure::Unit;
use praxis::render::{RayBackend, RayMode, RayStats, RenderOptions, Renderer, Tonemap};
use praxis::report::format_value;
use praxis::scene::{LoadOptions, Scene};
use serde_json::{Value, json};

use super::row;
use crate::commands::places;
use crate::commands::session::clock_ns;

/// Of one scene.
pub struct RaysReport {
    scene: String,
    adapter: String,
    /// Or why there are none.
    backends: Vec<(RayBackend, Result<RayStats, String>)>,
}

impl RaysReport {
    /// Loads the scene and builds its structures twice: seconds.
    pub fn of(reference: &str) -> anyhow::Result<Self> {
        let gpu = Gpu::open(&GpuOptions::default())?;
        let load_options = LoadOptions { clock_ns, aspect: 1.0 };
        let mut scene = Scene::load(reference, &places::scenes(), &load_options)?;
        let mut backends = Vec::new();
        for backend in [RayBackend::Bvh, RayBackend::Query] {
            let options = RenderOptions {
                size_px: [16, 16],
                n_samples: 1,
                tonemap: Tonemap::default(),
                exposure_ev100: None,
                rays: RayMode::Hard,
                ray_backend: Some(backend),
                has_column_map: true,
                n_frames_in_flight: 1,
            };
            let renderer = Renderer::new(&gpu, &mut scene, &options)?;
            let none = || match renderer.warnings() {
                [] => "nothing in the scene casts a shadow".to_owned(),
                warnings => warnings.join("; "),
            };
            backends.push((backend, renderer.ray_stats().ok_or_else(none)));
        }
        gpu.check_errors()?;
        Ok(Self { scene: scene.name.clone(), adapter: gpu.info.name.clone(), backends })
    }

    pub fn to_json(&self) -> Value {
        let backends: serde_json::Map<_, _> = self
            .backends
            .iter()
            .map(|(backend, stats)| {
                let stats = match stats {
                    Ok(stats) => json!({
                        "static_triangles": stats.n_static_triangles,
                        "moving_triangles": stats.n_moving_triangles,
                        "moving_instances": stats.n_moving_meshes,
                        "moving_bodies": stats.n_instances,
                        "bytes": stats.bytes,
                        "driver_bytes": stats.driver_bytes,
                        "build_ns": stats.build_ns,
                    }),
                    Err(reason) => json!({ "none": reason }),
                };
                (backend.name().to_owned(), stats)
            })
            .collect();
        json!({ "scene": self.scene, "adapter": self.adapter, "backends": backends })
    }

    pub fn to_text(&self) -> String {
        let mut text = row("rays of", &format!("{} on {}", self.scene, self.adapter));
        for (backend, stats) in &self.backends {
            let value = match stats {
                Ok(stats) => format!(
                    "{} of triangles and nodes, {} of the driver's structures, built in {}; {} triangles stand still, \
                     {} meshes move as {} bodies of {} triangles",
                    format_value(stats.bytes as f64, Unit::Bytes),
                    format_value(stats.driver_bytes as f64, Unit::Bytes),
                    format_value(stats.build_ns as f64, Unit::Nanoseconds),
                    stats.n_static_triangles,
                    stats.n_moving_meshes,
                    stats.n_instances,
                    stats.n_moving_triangles
                ),
                Err(reason) => reason.clone(),
            };
            text += &row(&format!("  {}", backend.name()), &value);
        }
        text
    }
}
