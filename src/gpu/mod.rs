//! The GPU as wgpu shows it: adapter and device, counted creation, uploads, timestamps, readback, memory shared with
//! a running kernel. No scene, no passes.

mod device;
mod error;
mod factory;
mod pipeline_cache;
mod readback;
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
pub use pipeline_cache::PipelineCache;
pub use readback::{Readback, read_buffer};
pub use shared_memory::{MemoryType, RawError};
pub(crate) use surface::within_limits;
pub use surface::{Acquired, NoTexture, SurfaceError, WindowSurface};
pub use timestamps::GpuTimestamps;
pub use upload::{UploadRing, UploadSlice};
pub use vulkan::{SharedMemory, TimelineSemaphore, host_visible_memory_types, store_fence};
