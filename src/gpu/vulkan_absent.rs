//! In place of `vulkan.rs` where Vulkan isn't compiled in: everything says so. The same through Metal is not built.

use std::convert::Infallible;

use super::{MemoryType, RawError};

fn not_vulkan(device: &wgpu::Device) -> RawError {
    RawError::NotVulkan { backend: device.adapter_info().backend.to_string() }
}

/// None.
///
/// # Errors
/// Always [`RawError::NotVulkan`].
pub fn host_visible_memory_types(device: &wgpu::Device) -> Result<Vec<MemoryType>, RawError> {
    Err(not_vulkan(device))
}

/// Orders the CPU's stores.
pub fn store_fence() {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// Memory that the CPU and a running kernel share; never made here.
#[derive(Debug)]
pub struct SharedMemory(Infallible);

impl SharedMemory {
    /// None.
    ///
    /// # Errors
    /// Always [`RawError::NotVulkan`].
    pub fn new(device: &wgpu::Device, _label: &str, _type: MemoryType, _n_words: usize) -> Result<Self, RawError> {
        Err(not_vulkan(device))
    }

    /// For bind groups.
    pub fn buffer(&self) -> &wgpu::Buffer {
        match self.0 {}
    }

    /// Words of 32 bits.
    pub fn n_words(&self) -> usize {
        match self.0 {}
    }

    /// What it lies in.
    pub fn memory_type(&self) -> MemoryType {
        match self.0 {}
    }

    /// Reads a word.
    pub fn load(&self, _word_idx: usize) -> u32 {
        match self.0 {}
    }

    /// Writes a word.
    pub fn store(&self, _word_idx: usize, _value: u32) {
        match self.0 {}
    }

    /// Reads words.
    pub fn load_into(&self, _first_word: usize, _into: &mut [u32]) {
        match self.0 {}
    }

    /// Writes words.
    pub fn store_from(&self, _first_word: usize, _values: &[u32]) {
        match self.0 {}
    }
}

/// A semaphore that counts submissions; never made here.
pub struct TimelineSemaphore(Infallible);

impl TimelineSemaphore {
    /// None.
    ///
    /// # Errors
    /// Always [`RawError::NotVulkan`].
    pub fn new(device: &wgpu::Device, _queue: &wgpu::Queue) -> Result<Self, RawError> {
        Err(not_vulkan(device))
    }

    /// Submits.
    pub fn submit(&mut self, _commands: wgpu::CommandBuffer) -> (wgpu::SubmissionIndex, u64) {
        match self.0 {}
    }

    /// How many submissions are finished.
    ///
    /// # Errors
    /// None.
    pub fn value(&self) -> Result<u64, RawError> {
        match self.0 {}
    }
}
