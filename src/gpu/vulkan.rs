//! Raw Vulkan beside wgpu, and the only `unsafe` of it: [`SharedMemory`] and [`TimelineSemaphore`].
//!
//! Both are safe to use: no call on them can touch memory that isn't theirs or free what is in use. What a kernel does to
//! shared memory at the same time is no data race in Rust's sense: every access here is atomic, as if another process
//! mapped the same pages.
#![expect(unsafe_code, reason = "Vulkan is a C interface, and mapped memory is a raw pointer")]

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ash::vk;

use super::{MemoryType, RawError};

type Vulkan = wgpu::hal::api::Vulkan;

/// The memory types that the CPU can map, in the driver's order.
///
/// # Errors
/// [`RawError::NotVulkan`].
pub fn host_visible_memory_types(device: &wgpu::Device) -> Result<Vec<MemoryType>, RawError> {
    let raw = RawDevice::of(device)?;
    let properties = raw.memory_properties();
    let types = (0..).zip(properties.memory_types_as_slice());
    let visible = types.filter(|(_, found)| found.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE));
    let described = visible.map(|(index, found)| {
        let has = |flag| found.property_flags.contains(flag);
        MemoryType {
            index,
            is_device_local: has(vk::MemoryPropertyFlags::DEVICE_LOCAL),
            is_host_cached: has(vk::MemoryPropertyFlags::HOST_CACHED),
            is_host_coherent: has(vk::MemoryPropertyFlags::HOST_COHERENT),
            heap_bytes: properties.memory_heaps[found.heap_index as usize].size,
        }
    });
    Ok(described.collect())
}

/// Makes the CPU's stores before it visible to devices before any store after it, write-combining memory included.
pub fn store_fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64; the instruction takes nothing and gives nothing.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(Ordering::SeqCst);
}

/// Words of memory that the CPU reads and writes while a kernel does: a storage buffer, mapped for as long as it lives.
///
/// Whether a store of one side reaches the other while a kernel runs depends on the adapter, the memory type and the
/// qualifiers in WGSL; `praxis probe resident` measures it. Only loads and stores are offered: read-modify-write
/// instructions aren't atomic over a bus, and fault on some machines.
#[derive(Debug)]
pub struct SharedMemory {
    buffer: wgpu::Buffer,
    allocation: Arc<Allocation>,
    n_words: usize,
    memory_type: MemoryType,
    // Last: what is above is freed through it.
    _device: wgpu::Device,
}

impl SharedMemory {
    /// `n_words` zeros in memory of `memory_type`, one of [`host_visible_memory_types`] of the same device.
    ///
    /// The buffer can be bound as storage and copied from and to.
    ///
    /// # Errors
    /// [`RawError`]: not Vulkan, memory that no storage buffer can lie in or that needs flushes, or none left.
    pub fn new(device: &wgpu::Device, label: &str, memory_type: MemoryType, n_words: usize) -> Result<Self, RawError> {
        let most = usize::try_from(device.limits().max_storage_buffer_binding_size / 4).unwrap_or(usize::MAX);
        if n_words == 0 || n_words > most {
            return Err(RawError::Size { n_words, most });
        }
        let size = n_words as u64 * 4;
        let allocation = Arc::new(Allocation::new(&RawDevice::of(device)?, memory_type.index, size)?);
        let held_by_wgpu = allocation.clone();
        // SAFETY: the buffer lives until its last `Arc` goes, one of which the callback holds, and the callback goes when wgpu
        // is done with it. wgpu is given no usage by which it could map it.
        let hal_buffer = unsafe {
            wgpu::hal::vulkan::Buffer::from_raw_externally_owned(
                allocation.buffer,
                Box::new(move || drop(held_by_wgpu)),
            )
        };
        let desc = wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        // SAFETY: made from this device with this size and these usages, not empty, and all zeros.
        let buffer = unsafe { device.create_buffer_from_hal::<Vulkan>(hal_buffer, &desc) };
        Ok(Self { buffer, allocation, n_words, memory_type, _device: device.clone() })
    }

    /// For bind groups and copies.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Words of 32 bits.
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// What it lies in.
    pub fn memory_type(&self) -> MemoryType {
        self.memory_type
    }

    /// Reads a word; nothing after it in the program is read before it (acquire).
    ///
    /// # Panics
    /// Beyond the last word.
    pub fn load(&self, word_idx: usize) -> u32 {
        self.words()[word_idx].load(Ordering::Acquire)
    }

    /// Writes a word after everything before it in the program (release). Where the memory isn't cached by the CPU, only a
    /// [`store_fence`] orders stores to two words for the device.
    ///
    /// # Panics
    /// Beyond the last word.
    pub fn store(&self, word_idx: usize, value: u32) {
        self.words()[word_idx].store(value, Ordering::Release);
    }

    /// Reads as many words as `into` holds, from `first_word` on; none of them before what was loaded earlier.
    ///
    /// # Panics
    /// Beyond the last word.
    pub fn load_into(&self, first_word: usize, into: &mut [u32]) {
        let words = &self.words()[first_word..first_word + into.len()];
        for (value, word) in into.iter_mut().zip(words) {
            *value = word.load(Ordering::Relaxed);
        }
    }

    /// Writes `values` from `first_word` on, in no order among themselves. Fence before anything that says they are there.
    ///
    /// # Panics
    /// Beyond the last word.
    pub fn store_from(&self, first_word: usize, values: &[u32]) {
        let words = &self.words()[first_word..first_word + values.len()];
        for (word, value) in words.iter().zip(values) {
            word.store(*value, Ordering::Relaxed);
        }
    }

    fn words(&self) -> &[AtomicU32] {
        // SAFETY: `Allocation` maps at least this many words, at an address that Vulkan aligns to 64 bytes or more, for as long
        // as it lives, and `self` holds it. They were zeroed. Nothing makes a reference to them that isn't atomic.
        unsafe { std::slice::from_raw_parts(self.allocation.mapped.as_ptr(), self.n_words) }
    }
}

/// A Vulkan buffer with memory of its own, mapped. Freed when the CPU's handle and wgpu's are both gone.
struct Allocation {
    device: ash::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: NonNull<AtomicU32>,
}

impl std::fmt::Debug for Allocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Allocation").field("buffer", &self.buffer).field("mapped", &self.mapped).finish_non_exhaustive()
    }
}

// SAFETY: the pointer is to mapped memory, which has no thread; every access through it is atomic.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(raw: &RawDevice, memory_type_idx: u32, size: u64) -> Result<Self, RawError> {
        let unsuitable = RawError::Unsuitable { index: memory_type_idx };
        let properties = raw.memory_properties();
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        match properties.memory_types_as_slice().get(memory_type_idx as usize) {
            Some(found) if found.property_flags.contains(wanted) => {}
            _ => return Err(unsuitable),
        }
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let device = raw.device.clone();
        // What is made is put here step by step, so that an early return frees it.
        let mut made =
            Self { device, buffer: vk::Buffer::null(), memory: vk::DeviceMemory::null(), mapped: NonNull::dangling() };
        // SAFETY: the device is alive, as `raw` says; sizes and usages are valid; each handle is used as what it was made.
        unsafe {
            made.buffer = raw.device.create_buffer(&info, None).map_err(failed("make a buffer"))?;
            let needs = raw.device.get_buffer_memory_requirements(made.buffer);
            if needs.memory_type_bits & (1 << memory_type_idx) == 0 {
                return Err(unsuitable);
            }
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(memory_type_idx);
            made.memory = raw.device.allocate_memory(&info, None).map_err(failed("allocate memory"))?;
            raw.device.bind_buffer_memory(made.buffer, made.memory, 0).map_err(failed("bind memory"))?;
            let whole = vk::WHOLE_SIZE;
            let mapped = raw.device.map_memory(made.memory, 0, whole, vk::MemoryMapFlags::empty());
            let mapped = mapped.map_err(failed("map memory"))?.cast::<u8>();
            mapped.write_bytes(0, size as usize);
            made.mapped = NonNull::new(mapped.cast()).ok_or(unsuitable)?;
        }
        Ok(made)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: neither wgpu nor `SharedMemory` has it any more, so no submission that uses it is running, and whichever of the
        // two let go last still holds the device. Freeing unmaps; null handles are let pass.
        unsafe {
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
        }
    }
}

/// A semaphore that counts submissions, read by the CPU without wgpu: the floor that `device.poll` is measured against.
pub struct TimelineSemaphore {
    functions: Functions,
    semaphore: vk::Semaphore,
    n_signals: u64,
    queue: wgpu::Queue,
    // Last: what is above is freed through it.
    _device: wgpu::Device,
}

enum Functions {
    Core(ash::Device),
    Extension(ash::Device, ash::khr::timeline_semaphore::Device),
}

impl TimelineSemaphore {
    /// For submissions to `queue`, which is `device`'s.
    ///
    /// # Errors
    /// [`RawError`]: not Vulkan, a driver without timeline semaphores, or another device's queue.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, RawError> {
        let raw = RawDevice::of(device)?;
        let functions = raw.timeline_functions()?;
        // SAFETY: the guard is only asked for its device.
        let is_ours =
            unsafe { queue.as_hal::<Vulkan>() }.is_some_and(|queue| queue.raw_device().handle() == raw.device.handle());
        if !is_ours {
            return Err(RawError::ForeignQueue);
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive and has timeline semaphores on, as `timeline_functions` found.
        let semaphore = unsafe { raw.device.create_semaphore(&info, None) }.map_err(failed("make a semaphore"))?;
        Ok(Self { functions, semaphore, n_signals: 0, queue: queue.clone(), _device: device.clone() })
    }

    /// Submits `commands`. [`Self::value`] has reached the number given here once they are finished.
    pub fn submit(&mut self, commands: wgpu::CommandBuffer) -> (wgpu::SubmissionIndex, u64) {
        self.n_signals += 1;
        // SAFETY: the semaphore is of the queue's device, values rise, and it is destroyed only when it is no longer pending.
        if let Some(queue) = unsafe { self.queue.as_hal::<Vulkan>() } {
            queue.add_signal_semaphore(self.semaphore, Some(self.n_signals));
        }
        (self.queue.submit([commands]), self.n_signals)
    }

    /// How many of its submissions are finished.
    ///
    /// # Errors
    /// [`RawError::Vulkan`] when the device is lost.
    pub fn value(&self) -> Result<u64, RawError> {
        // SAFETY: the semaphore is a timeline semaphore of this device, which is alive.
        let value = unsafe {
            match &self.functions {
                Functions::Core(device) => device.get_semaphore_counter_value(self.semaphore),
                Functions::Extension(_, extension) => extension.get_semaphore_counter_value(self.semaphore),
            }
        };
        value.map_err(failed("read a semaphore"))
    }
}

impl Drop for TimelineSemaphore {
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(20);
        // SAFETY: the queue is alive; taking the semaphore off its list is always allowed.
        let was_never_submitted =
            unsafe { self.queue.as_hal::<Vulkan>() }.is_some_and(|queue| queue.remove_signal_semaphore(self.semaphore));
        let n_awaited = self.n_signals - u64::from(was_never_submitted);
        let (semaphores, values) = ([self.semaphore], [n_awaited]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let timeout_ns = PATIENCE.as_nanos() as u64;
        // SAFETY: as in `value`. It is destroyed only when its last signal has come or the device is lost, after which nothing is
        // pending; otherwise it is left to the device.
        unsafe {
            let (device, waited) = match &self.functions {
                Functions::Core(device) => (device, device.wait_semaphores(&info, timeout_ns)),
                Functions::Extension(device, extension) => (device, extension.wait_semaphores(&info, timeout_ns)),
            };
            if matches!(waited, Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST)) {
                device.destroy_semaphore(self.semaphore, None);
            }
        }
    }
}

/// The handles behind a wgpu device. Valid as long as that is.
struct RawDevice {
    device: ash::Device,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    has_timeline_extension: bool,
}

impl RawDevice {
    fn of(device: &wgpu::Device) -> Result<Self, RawError> {
        // SAFETY: nothing is destroyed through the guard; handles are copied out of it.
        let Some(hal) = (unsafe { device.as_hal::<Vulkan>() }) else {
            return Err(RawError::NotVulkan { backend: device.adapter_info().backend.to_string() });
        };
        let extension = ash::khr::timeline_semaphore::NAME;
        Ok(Self {
            device: hal.raw_device().clone(),
            instance: hal.shared_instance().raw_instance().clone(),
            physical: hal.raw_physical_device(),
            has_timeline_extension: hal.enabled_device_extensions().contains(&extension),
        })
    }

    fn memory_properties(&self) -> vk::PhysicalDeviceMemoryProperties {
        // SAFETY: a plain query of a physical device that is there.
        unsafe { self.instance.get_physical_device_memory_properties(self.physical) }
    }

    /// wgpu turns timeline semaphores on wherever the driver has them: in the core of Vulkan 1.2, or as an extension.
    fn timeline_functions(&self) -> Result<Functions, RawError> {
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut timeline);
        // SAFETY: plain queries. Vulkan 1.1, which the second one is of, is checked first.
        unsafe {
            let version = self.instance.get_physical_device_properties(self.physical).api_version;
            if version < vk::API_VERSION_1_1 {
                return Err(RawError::NoTimelineSemaphores);
            }
            self.instance.get_physical_device_features2(self.physical, &mut features);
            match timeline.timeline_semaphore == vk::TRUE {
                true if self.has_timeline_extension => Ok(Functions::Extension(
                    self.device.clone(),
                    ash::khr::timeline_semaphore::Device::new(&self.instance, &self.device),
                )),
                true if version >= vk::API_VERSION_1_2 => Ok(Functions::Core(self.device.clone())),
                _ => Err(RawError::NoTimelineSemaphores),
            }
        }
    }
}

fn failed(what: &'static str) -> impl Fn(vk::Result) -> RawError {
    move |result| RawError::Vulkan { what, reason: result.to_string() }
}
