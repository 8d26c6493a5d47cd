//! Adapters: what each is, has and lacks, and which one would be taken.

use praxis::gpu::{self, GpuOptions, REQUIRED_FEATURES, WANTED_FEATURES};
use praxis::measure::Adapter;
use serde_json::{Value, json};

use super::row;

/// One adapter.
pub struct AdapterReport {
    pub adapter: Adapter,
    /// Name and whether the adapter has it.
    required: Vec<(String, bool)>,
    wanted: Vec<(String, bool)>,
    has_ray_query: bool,
}

impl AdapterReport {
    /// Asks the adapter; opens a device on it for the timestamps' period.
    pub fn of(adapter: &wgpu::Adapter) -> Self {
        let (info, features) = (adapter.get_info(), adapter.features());
        let held = |asked: &[wgpu::Features]| {
            asked.iter().map(|&feature| (feature_name(feature), features.contains(feature))).collect()
        };
        Self {
            adapter: Adapter {
                name: info.name,
                backend: info.backend.to_string(),
                device_type: format!("{:?}", info.device_type),
                driver: info.driver,
                driver_info: info.driver_info,
                vendor: info.vendor,
                device: info.device,
                timestamp_period_ns: timestamp_period_ns(adapter),
                submit_blocks: None,
            },
            required: held(REQUIRED_FEATURES),
            wanted: held(WANTED_FEATURES),
            has_ray_query: features.contains(wgpu::Features::EXPERIMENTAL_RAY_QUERY),
        }
    }

    /// Whether it has all that Praxis needs.
    pub fn can_draw(&self) -> bool {
        self.required.iter().all(|(_, is_held)| *is_held)
    }

    pub fn to_json(&self) -> Value {
        let features = |features: &[(String, bool)]| -> Value {
            features.iter().map(|(name, is_held)| (name.clone(), Value::from(*is_held))).collect()
        };
        json!({
            "adapter": self.adapter,
            "can_draw": self.can_draw(),
            "needed_features": features(&self.required),
            "wanted_features": features(&self.wanted),
            "ray_query": self.has_ray_query,
        })
    }

    pub fn to_text(&self) -> String {
        let adapter = &self.adapter;
        let kind = match adapter.device_type.as_str() {
            "DiscreteGpu" => "discrete GPU",
            "IntegratedGpu" => "integrated GPU",
            "VirtualGpu" => "virtual GPU",
            "Cpu" => "software",
            _ => "of unknown kind",
        };
        let period = adapter
            .timestamp_period_ns
            .map_or_else(|| "none: only CPU lines can be measured".to_owned(), |period| format!("{period} ns a tick"));
        let rays = if self.has_ray_query { "yes" } else { "no: the BVH of our own is used" };
        row("adapter", &format!("{} ({kind}, {})", adapter.name, adapter.backend))
            + &row("  driver", format!("{} {}", adapter.driver, adapter.driver_info).trim())
            + &row("  needed features", &features_text(&self.required))
            + &row("  wanted features", &features_text(&self.wanted))
            + &row("  ray queries", rays)
            + &row("  timestamps", &period)
    }
}

/// `all 5`, or which are lacking.
fn features_text(features: &[(String, bool)]) -> String {
    let lacking: Vec<&str> = features.iter().filter(|(_, is_held)| !is_held).map(|(name, _)| name.as_str()).collect();
    let n_held = features.len() - lacking.len();
    match lacking.is_empty() {
        true => format!("all {n_held}"),
        false => format!("{n_held} of {}; lacks {}", features.len(), lacking.join(", ")),
    }
}

/// As wgpu writes it in Rust.
fn feature_name(feature: wgpu::Features) -> String {
    feature.iter_names().map(|(name, _)| name).collect::<Vec<_>>().join(" | ")
}

fn timestamp_period_ns(adapter: &wgpu::Adapter) -> Option<f32> {
    let feature = wgpu::Features::TIMESTAMP_QUERY;
    if !adapter.features().contains(feature) {
        return None;
    }
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("praxis::commands::info::timestamp_period_ns"),
        required_features: feature,
        ..Default::default()
    };
    let (_device, queue) = pollster::block_on(adapter.request_device(&descriptor)).ok()?;
    Some(queue.get_timestamp_period())
}

/// The adapter that is taken where `--adapter` names none.
pub struct Choice {
    pub adapter_idx: usize,
    pub why: &'static str,
}

impl Choice {
    /// Chooses as every command does.
    pub fn of(instance: &wgpu::Instance, adapters: &[AdapterReport]) -> Option<Self> {
        let chosen = gpu::choose_adapter(instance, &GpuOptions::default(), None).ok()?.get_info();
        let is_chosen = |report: &AdapterReport| {
            let adapter = &report.adapter;
            (&adapter.name, &adapter.backend, &adapter.driver_info)
                == (&chosen.name, &chosen.backend.to_string(), &chosen.driver_info)
        };
        let adapter_idx = adapters.iter().position(is_chosen)?;
        let n_can_draw = adapters.iter().filter(|report| report.can_draw()).count();
        let why = match (adapters[adapter_idx].can_draw(), adapters.len()) {
            (false, _) => "no adapter has every needed feature",
            (true, 1) => "the only one",
            (true, _) if n_can_draw == 1 => "the only one with every needed feature",
            (true, _) => "the first with every needed feature, hardware before software (--adapter takes another)",
        };
        Some(Self { adapter_idx, why })
    }
}
