//! The GPU as wgpu shows it: adapter and device, counted creation, uploads, timestamps, readback, memory shared with
//! a running kernel. No scene, no passes.

mod device;
mod error;
mod factory;
mod kernel;
mod memory;
mod pipeline_cache;
mod present_mode;
mod readback;
mod shader_edits;
mod shared_memory;
mod surface;
mod timestamps;
mod upload;
#[cfg_attr(any(target_os = "macos", target_os = "ios"), path = "vulkan_absent.rs")]
mod vulkan;

pub use device::{
    COMPUTE_FEATURES, Gpu, GpuOptions, REQUIRED_FEATURES, WANTED_FEATURES, adapters, choose_adapter, instance,
};
pub use error::GpuError;
pub use factory::Factory;
pub use kernel::{compute_pipeline, storage_layout};
pub use pipeline_cache::PipelineCache;
pub use present_mode::{PresentPreference, UnknownPresent, present_mode_name};
pub use readback::{Readback, read_buffer};
pub use shader_edits::ShaderEdit;
pub use shared_memory::{MemoryType, RawError};
pub use surface::{AcquireFault, Acquired, NoTexture, PresentOptions, SurfaceError, WindowSurface};
pub(crate) use surface::{FRAME_LATENCY, within_limits};
pub use timestamps::GpuTimestamps;
pub use upload::{UploadRing, UploadSlice};
pub use vulkan::{SharedMemory, TimelineSemaphore, host_visible_memory_types, store_fence};
