//! Adapter and device: what Praxis asks for, by name, and what it does with errors that nobody caught.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::{Factory, GpuError, PipelineCache};

/// Without these there is no GPU-driven path.
pub const REQUIRED_FEATURES: &[wgpu::Features] = &[
    wgpu::Features::PRIMITIVE_INDEX,
    wgpu::Features::MULTI_DRAW_INDIRECT_COUNT,
    wgpu::Features::INDIRECT_FIRST_INSTANCE,
    wgpu::Features::TEXTURE_BINDING_ARRAY,
    wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING,
];

/// Taken where the adapter has them; each has a fallback.
pub const WANTED_FEATURES: &[wgpu::Features] = &[
    wgpu::Features::TIMESTAMP_QUERY,
    wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES,
    wgpu::Features::PIPELINE_CACHE,
    wgpu::Features::EXPERIMENTAL_RAY_QUERY,
];

/// What kernels alone take where the adapter has them: see [`Gpu::open_for_compute`].
pub const COMPUTE_FEATURES: &[wgpu::Features] = &[
    wgpu::Features::TIMESTAMP_QUERY,
    wgpu::Features::MEMORY_DECORATION_COHERENT,
    wgpu::Features::MEMORY_DECORATION_VOLATILE,
    wgpu::Features::SUBGROUP,
];

/// How to choose and open an adapter.
#[derive(Clone, Debug, Default)]
pub struct GpuOptions {
    /// Part of an adapter's name, any case; `None` takes a hardware adapter before a software one.
    pub adapter: Option<String>,
    /// wgpu's and the driver's validation layers: for tests.
    pub is_validating: bool,
    /// wgpu's no-op backend: its bookkeeping and validation without any driver.
    pub is_noop: bool,
    /// Changes limits before the device is asked for them: for tests.
    pub limits: Option<fn(&mut wgpu::Limits)>,
    /// Percent of the memory that the driver grants beyond which wgpu refuses to allocate: for tests.
    pub memory_percent: Option<u8>,
}

/// An open device and what belongs to it.
pub struct Gpu {
    /// Where surfaces come from.
    pub instance: wgpu::Instance,
    /// What it was opened on.
    pub adapter: wgpu::Adapter,
    /// The device. Create resources through [`Self::factory`].
    pub device: wgpu::Device,
    /// Its one queue.
    pub queue: wgpu::Queue,
    /// Name, driver, kind.
    pub info: wgpu::AdapterInfo,
    /// Counted creation.
    pub factory: Factory,
    pipeline_cache: Option<Arc<PipelineCache>>,
    errors: Arc<ErrorLog>,
}

#[derive(Default)]
struct ErrorLog {
    has_any: AtomicBool,
    first: Mutex<Option<String>>,
    is_lost: AtomicBool,
}

/// wgpu's entry point, without a display. Flags are off outside of validation: with them every indirect render pass gets
/// an injected compute pass and a staging buffer, and count draws are not validated either way.
pub fn instance(options: &GpuOptions) -> wgpu::Instance {
    wgpu::Instance::new(instance_descriptor(options))
}

pub(super) fn instance_descriptor(options: &GpuOptions) -> wgpu::InstanceDescriptor {
    let mut desc = wgpu::InstanceDescriptor::new_without_display_handle();
    desc.memory_budget_thresholds.for_resource_creation = options.memory_percent;
    desc.flags = if options.is_validating { wgpu::InstanceFlags::debugging() } else { wgpu::InstanceFlags::empty() };
    if options.is_noop {
        desc.backends = wgpu::Backends::NOOP;
        desc.backend_options.noop.enable = true;
    } else {
        desc.backends = wgpu::Backends::PRIMARY;
    }
    desc
}

/// Every adapter there is, hardware before software.
pub fn adapters(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    adapters
}

impl Gpu {
    /// Opens a device for drawing into textures.
    pub fn open(options: &GpuOptions) -> Result<Self, GpuError> {
        Self::open_on(instance(options), options, None)
    }

    /// Opens a device that can present to `surface`, which came from `instance`.
    pub fn open_on(
        instance: wgpu::Instance,
        options: &GpuOptions,
        surface: Option<&wgpu::Surface>,
    ) -> Result<Self, GpuError> {
        let adapter = choose_adapter(&instance, options, surface)?;
        let info = adapter.get_info();
        let missing = missing_features(&adapter);
        if !missing.is_empty() {
            return Err(GpuError::MissingFeatures { adapter: info.name, missing });
        }
        let asked =
            REQUIRED_FEATURES.iter().chain(WANTED_FEATURES).fold(wgpu::Features::empty(), |all, &one| all | one);
        let mut features = asked & adapter.features();
        if options.is_noop {
            // The no-op adapter says of each format that it can do nothing.
            features.remove(wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES);
            features.remove(wgpu::Features::EXPERIMENTAL_RAY_QUERY);
        }
        let mut limits = limits(&adapter.limits(), options.is_noop);
        if let Some(change) = options.limits {
            change(&mut limits);
        }
        Self::open_device(instance, adapter, features, limits)
    }

    /// Opens a device for kernels alone: it needs nothing, and takes [`COMPUTE_FEATURES`] where they are.
    ///
    /// # Errors
    /// No adapter, or it refuses a device.
    pub fn open_for_compute(options: &GpuOptions) -> Result<Self, GpuError> {
        let instance = instance(options);
        let adapter = choose_adapter(&instance, options, None)?;
        Self::open_compute_device(instance, adapter, options.is_noop)
    }

    /// Opens a device for kernels on `adapter`, which came from `instance`.
    ///
    /// # Errors
    /// The adapter refuses it.
    pub fn open_for_compute_on(instance: &wgpu::Instance, adapter: &wgpu::Adapter) -> Result<Self, GpuError> {
        let is_noop = adapter.get_info().backend == wgpu::Backend::Noop;
        Self::open_compute_device(instance.clone(), adapter.clone(), is_noop)
    }

    /// Opens a further device for kernels on the same adapter, with a queue of its own.
    ///
    /// # Errors
    /// The adapter refuses it.
    pub fn open_another_for_compute(&self) -> Result<Self, GpuError> {
        let is_noop = self.info.backend == wgpu::Backend::Noop;
        Self::open_compute_device(self.instance.clone(), self.adapter.clone(), is_noop)
    }

    fn open_compute_device(instance: wgpu::Instance, adapter: wgpu::Adapter, is_noop: bool) -> Result<Self, GpuError> {
        let asked = COMPUTE_FEATURES.iter().fold(wgpu::Features::empty(), |all, &one| all | one);
        let (features, limits) = (asked & adapter.features(), limits(&adapter.limits(), is_noop));
        Self::open_device(instance, adapter, features, limits)
    }

    fn open_device(
        instance: wgpu::Instance,
        adapter: wgpu::Adapter,
        features: wgpu::Features,
        limits: wgpu::Limits,
    ) -> Result<Self, GpuError> {
        let info = adapter.get_info();
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("praxis::gpu::Gpu::device"),
            required_features: features,
            experimental_features: experimental_features(features),
            required_limits: limits,
            ..Default::default()
        }))
        .map_err(|error| GpuError::RequestDevice { adapter: info.name.clone(), reason: error.to_string() })?;

        let errors = Arc::new(ErrorLog::default());
        let log = errors.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| log.record(describe(&error))));
        let log = errors.clone();
        device.set_device_lost_callback(move |reason, message| {
            tracing::debug!("device lost ({reason:?}): {message}");
            log.is_lost.store(true, Ordering::Release);
        });
        let pipeline_cache = PipelineCache::open(&device, &info).map(Arc::new);
        let factory = Factory::new(device.clone(), pipeline_cache.clone());
        Ok(Self { instance, adapter, device, queue, info, factory, pipeline_cache, errors })
    }

    /// The first error that wgpu reported outside of any scope, if there was one: one atomic load otherwise.
    pub fn check_errors(&self) -> Result<(), GpuError> {
        if !self.errors.has_any.load(Ordering::Acquire) {
            return Ok(());
        }
        let first = self.errors.first.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        Err(GpuError::Uncaptured(first.unwrap_or_default()))
    }

    /// Whether the device is lost: the driver gave it up, or it was destroyed. Everything made from it is of no more use.
    pub fn is_lost(&self) -> bool {
        self.errors.is_lost.load(Ordering::Acquire)
    }

    /// The same, after an error or a panic whose reason that may be: wgpu tells of some losses only when it is polled.
    pub fn is_found_lost(&self) -> bool {
        let poll = || self.device.poll(wgpu::PollType::Poll).is_err();
        self.is_lost() || std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).unwrap_or(true) || self.is_lost()
    }

    /// Keeps what was compiled for the next run; call once everything has been drawn with.
    pub fn save_pipeline_cache(&self) {
        if let Some(cache) = &self.pipeline_cache {
            cache.save();
        }
    }

    /// Whether the adapter is a program on the CPU.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// Whether passes can be timed.
    pub fn has_timestamps(&self) -> bool {
        self.device.features().contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Whether shaders can ask the adapter's own ray tracing.
    pub fn has_ray_queries(&self) -> bool {
        self.device.features().contains(wgpu::Features::EXPERIMENTAL_RAY_QUERY)
    }

    /// Fails if a buffer of `bytes` cannot be bound as a whole.
    pub fn check_storage_size(&self, what: &'static str, bytes: u64) -> Result<(), GpuError> {
        let limits = self.device.limits();
        let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        if bytes <= limit {
            return Ok(());
        }
        Err(GpuError::Limit { what, needed: bytes, limit, unit: "bytes", adapter: self.info.name.clone() })
    }
}

fn describe(error: &wgpu::Error) -> String {
    match error {
        wgpu::Error::OutOfMemory { .. } => {
            "out of memory; use a smaller --size, a smaller scene or another adapter".into()
        }
        other => other.to_string(),
    }
}

impl ErrorLog {
    fn record(&self, message: String) {
        // Whoever checks reports the first; what follows from it is for those who ask.
        tracing::debug!("{message}");
        let mut first = self.first.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        first.get_or_insert(message);
        self.has_any.store(true, Ordering::Release);
    }
}

/// The adapter that [`Gpu::open_on`] would open.
pub fn choose_adapter(
    instance: &wgpu::Instance,
    options: &GpuOptions,
    surface: Option<&wgpu::Surface>,
) -> Result<wgpu::Adapter, GpuError> {
    let mut candidates = adapters(instance);
    if let Some(surface) = surface {
        candidates.retain(|adapter| adapter.is_surface_supported(surface));
    }
    if let Some(wanted) = &options.adapter {
        let available: Vec<_> = candidates.iter().map(|adapter| adapter.get_info().name).collect();
        let wanted_lower = wanted.to_lowercase();
        return candidates
            .into_iter()
            .find(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted_lower))
            .ok_or(GpuError::UnknownAdapter { wanted: wanted.clone(), available });
    }
    // An adapter that can draw is better than a faster one that can't.
    candidates.sort_by_key(|adapter| !missing_features(adapter).is_empty());
    candidates.into_iter().next().ok_or(GpuError::NoAdapter)
}

fn missing_features(adapter: &wgpu::Adapter) -> Vec<String> {
    let has = adapter.features();
    REQUIRED_FEATURES.iter().filter(|&&feature| !has.contains(feature)).map(|feature| format!("{feature:?}")).collect()
}

/// wgpu wants to be told that a feature that it calls experimental may have faults.
fn experimental_features(features: wgpu::Features) -> wgpu::ExperimentalFeatures {
    if !features.contains(wgpu::Features::EXPERIMENTAL_RAY_QUERY) {
        return wgpu::ExperimentalFeatures::disabled();
    }
    // SAFETY: of the experimental features only ray queries are asked for; structures are built from buffers of known sizes, and
    // rays are traced only in structures that have been built.
    #[expect(unsafe_code, reason = "the only way to ray queries")]
    unsafe {
        wgpu::ExperimentalFeatures::enabled()
    }
}

/// wgpu's defaults, raised by name to what the adapter has where they do not suffice.
fn limits(adapter: &wgpu::Limits, is_noop: bool) -> wgpu::Limits {
    let raised = wgpu::Limits {
        max_binding_array_elements_per_shader_stage: adapter.max_binding_array_elements_per_shader_stage,
        max_binding_array_sampler_elements_per_shader_stage: adapter
            .max_binding_array_sampler_elements_per_shader_stage,
        max_sampled_textures_per_shader_stage: adapter.max_sampled_textures_per_shader_stage,
        max_samplers_per_shader_stage: adapter.max_samplers_per_shader_stage,
        max_storage_buffers_per_shader_stage: adapter.max_storage_buffers_per_shader_stage,
        max_buffers_and_acceleration_structures_per_shader_stage: adapter
            .max_buffers_and_acceleration_structures_per_shader_stage,
        max_blas_primitive_count: adapter.max_blas_primitive_count,
        max_blas_geometry_count: adapter.max_blas_geometry_count,
        max_tlas_instance_count: adapter.max_tlas_instance_count,
        max_acceleration_structures_per_shader_stage: adapter.max_acceleration_structures_per_shader_stage,
        max_buffer_size: adapter.max_buffer_size,
        max_storage_buffer_binding_size: adapter.max_storage_buffer_binding_size,
        max_texture_dimension_2d: adapter.max_texture_dimension_2d,
        max_color_attachment_bytes_per_sample: adapter.max_color_attachment_bytes_per_sample,
        ..wgpu::Limits::default()
    };
    if !is_noop {
        return raised;
    }
    // The no-op adapter says "no limit", which wgpu-core then takes for array sizes of its own.
    wgpu::Limits {
        max_binding_array_elements_per_shader_stage: 4096,
        max_binding_array_sampler_elements_per_shader_stage: 256,
        max_sampled_textures_per_shader_stage: 4096,
        max_samplers_per_shader_stage: 256,
        max_storage_buffers_per_shader_stage: 32,
        max_buffers_and_acceleration_structures_per_shader_stage: 64,
        max_buffer_size: 1 << 30,
        max_storage_buffer_binding_size: 1 << 30,
        ..wgpu::Limits::default()
    }
}
