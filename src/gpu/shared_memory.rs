//! What wgpu can't say and Vulkan can: memory that the CPU and a running kernel share, and a semaphore whose counter the CPU
//! reads. The types are safe; their `unsafe` is in `vulkan.rs` alone.

/// Why raw memory or a raw semaphore can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawError {
    /// The device is of another API.
    #[error("it is made through Vulkan, and this adapter is driven through {backend}")]
    NotVulkan {
        /// wgpu's name of the API.
        backend: String,
    },
    /// The driver lacks timeline semaphores.
    #[error("the driver has no timeline semaphores")]
    NoTimelineSemaphores,
    /// The two were not opened together.
    #[error("the queue belongs to another device")]
    ForeignQueue,
    /// A buffer can't lie in that kind of memory.
    #[error("storage buffers can't lie in memory type {index}")]
    Unsuitable {
        /// Of the memory type.
        index: u32,
    },
    /// The size can't be had: 0, or too many bytes for the device.
    #[error("shared memory of {n_words} words can't be had; the device allows 1 to {most}")]
    Size {
        /// Asked for.
        n_words: usize,
        /// That the device would give.
        most: usize,
    },
    /// Vulkan said no.
    #[error("Vulkan could not {what}: {reason}")]
    Vulkan {
        /// What was tried.
        what: &'static str,
        /// Vulkan's words.
        reason: String,
    },
}

/// One kind of memory that the CPU can map, as the driver lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryType {
    /// Its place in the driver's list.
    pub index: u32,
    /// Whether it lies on the GPU: mapped, it is reached through the bus (the BAR).
    pub is_device_local: bool,
    /// Whether the CPU's caches hold it.
    pub is_host_cached: bool,
    /// Whether stores need no explicit flush. [`SharedMemory`](super::SharedMemory) is made of this kind only.
    pub is_host_coherent: bool,
    /// Size of the heap it comes from.
    pub heap_bytes: u64,
}

impl MemoryType {
    /// `type 4: on the GPU, uncached by the CPU`.
    pub fn describe(&self) -> String {
        let place = if self.is_device_local { "on the GPU" } else { "system RAM" };
        let cached = if self.is_host_cached { "cached by the CPU" } else { "uncached by the CPU" };
        let coherent = if self.is_host_coherent { "" } else { ", needs flushes" };
        format!("type {}: {place}, {cached}{coherent}", self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Gpu, GpuOptions, SharedMemory, TimelineSemaphore, host_visible_memory_types, read_buffer, store_fence,
    };
    use super::*;

    #[test]
    fn memory_types_say_where_they_lie() {
        let bar = MemoryType {
            index: 4,
            is_device_local: true,
            is_host_cached: false,
            is_host_coherent: true,
            heap_bytes: 1 << 30,
        };
        assert_eq!(bar.describe(), "type 4: on the GPU, uncached by the CPU");
        let ram = MemoryType { index: 3, is_device_local: false, is_host_cached: true, is_host_coherent: false, ..bar };
        assert_eq!(ram.describe(), "type 3: system RAM, cached by the CPU, needs flushes");
    }

    /// An adapter through Vulkan with its first usable memory type; `None`, and said, elsewhere.
    fn vulkan() -> Option<(Gpu, MemoryType)> {
        let gpu = Gpu::open_for_compute(&GpuOptions::default()).expect("an adapter");
        match host_visible_memory_types(&gpu.device) {
            Ok(types) => {
                let usable = types.into_iter().find(|found| found.is_host_coherent);
                usable.map(|usable| (gpu, usable))
            }
            Err(error) => {
                println!("not tried: {error}");
                None
            }
        }
    }

    #[test]
    fn shared_memory_holds_zeros_and_then_what_either_side_writes() {
        let Some((gpu, memory_type)) = vulkan() else { return };
        let memory = SharedMemory::new(&gpu.device, "shared", memory_type, 1024).expect("a page");
        assert!((0..1024).all(|word_idx| memory.load(word_idx) == 0));
        memory.store(1000, 77);
        store_fence();
        let bytes = read_buffer(&gpu, memory.buffer()).expect("it can be copied");
        assert_eq!((bytes.len(), &bytes[4000..4004]), (4096, &77u32.to_le_bytes()[..]));
        gpu.queue.write_buffer(memory.buffer(), 8, &5u32.to_le_bytes());
        gpu.queue.submit([]);
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("it ends");
        assert_eq!((memory.load(2), memory.load(1000)), (5, 77));
        gpu.check_errors().expect("no errors");
    }

    #[test]
    fn shared_memory_outlives_its_buffer_and_the_other_way_round() {
        let Some((gpu, memory_type)) = vulkan() else { return };
        let memory = SharedMemory::new(&gpu.device, "shared", memory_type, 64).expect("some words");
        memory.buffer().destroy();
        memory.store(63, 9);
        assert_eq!(memory.load(63), 9, "destroying the buffer took the memory");

        let memory = SharedMemory::new(&gpu.device, "shared", memory_type, 64).expect("some words");
        memory.store(0, 4);
        let buffer = memory.buffer().clone();
        drop(memory);
        assert_eq!(read_buffer(&gpu, &buffer).expect("it can be copied")[..4], 4u32.to_le_bytes());

        // The device may be let go first.
        let memory = SharedMemory::new(&gpu.device, "shared", memory_type, 64).expect("some words");
        drop((gpu, buffer));
        memory.store(1, 3);
        assert_eq!(memory.load(1), 3);
    }

    #[test]
    fn shared_memory_that_cannot_be_had_is_an_error() {
        let Some((gpu, memory_type)) = vulkan() else { return };
        let new = |memory_type, n_words| SharedMemory::new(&gpu.device, "shared", memory_type, n_words).map(drop);
        for n_words in [0, usize::MAX, 1 << 40] {
            assert!(matches!(new(memory_type, n_words), Err(RawError::Size { .. })), "{n_words} words");
        }
        for index in [31, 32, 33, u32::MAX] {
            let foreign = MemoryType { index, ..memory_type };
            assert_eq!(new(foreign, 16), Err(RawError::Unsuitable { index }));
        }
        let noop =
            Gpu::open_for_compute(&GpuOptions { is_noop: true, ..GpuOptions::default() }).expect("the no-op adapter");
        assert!(matches!(host_visible_memory_types(&noop.device), Err(RawError::NotVulkan { .. })));
        assert!(matches!(SharedMemory::new(&noop.device, "", memory_type, 1), Err(RawError::NotVulkan { .. })));
        assert!(matches!(TimelineSemaphore::new(&noop.device, &noop.queue), Err(RawError::NotVulkan { .. })));
    }

    #[test]
    fn a_semaphore_counts_its_own_submissions() {
        let Some((gpu, _)) = vulkan() else { return };
        let mut semaphore = TimelineSemaphore::new(&gpu.device, &gpu.queue).expect("a semaphore");
        let commands = || gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()).finish();
        for expected in 1..=20 {
            let (submission, value) = semaphore.submit(commands());
            assert_eq!(value, expected);
            gpu.queue.submit([commands()]);
            let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
            gpu.device.poll(wait).expect("it ends");
            assert_eq!(semaphore.value().expect("it can be read"), expected);
        }
        let other = gpu.open_another_for_compute().expect("a second device");
        let foreign = TimelineSemaphore::new(&gpu.device, &other.queue).map(drop);
        assert_eq!(foreign, Err(RawError::ForeignQueue));
        // Let go while its submission may run.
        semaphore.submit(commands());
        drop(semaphore);
        gpu.check_errors().expect("no errors");
    }
}
