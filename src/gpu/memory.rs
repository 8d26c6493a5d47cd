//! Memory: what allocating does when there is too little, and how much is taken.

use super::Gpu;

impl Gpu {
    /// Runs `make` and gives back what wgpu reported meanwhile, too little memory before what followed from it. What `make` then returned
    /// may hold resources that can't be used, and is dropped.
    pub fn catch_errors<T>(&self, make: impl FnOnce() -> T) -> Result<T, String> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let scopes = [Internal, Validation, OutOfMemory].map(|filter| self.device.push_error_scope(filter));
        let made = make();
        let mut first = None;
        // The scope opened last must be closed first.
        for scope in scopes.into_iter().rev() {
            let error = pollster::block_on(scope.pop());
            first = first.or(error);
        }
        match first {
            None => Ok(made),
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err(format!("adapter \"{}\" has too little memory", self.info.name))
            }
            // wgpu tells what was caused by what on lines of their own.
            Some(other) => Err(other.to_string().split_whitespace().collect::<Vec<_>>().join(" ")),
        }
    }

    /// A buffer with contents. Unlike [`Factory::buffer_init`](super::Factory::buffer_init) it doesn't panic where there is no memory for it.
    pub fn upload(&self, label: &str, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.factory.buffer(label, contents.len() as u64, usage | wgpu::BufferUsages::COPY_DST);
        if !contents.is_empty() {
            self.queue.write_buffer(&buffer, 0, contents);
        }
        buffer
    }

    /// Bytes of what was allocated under `label`, by wgpu's own count: 0 on a backend that does not count.
    pub fn allocated_bytes(&self, label: &str) -> u64 {
        let report = self.device.generate_allocator_report();
        let allocations = report.iter().flat_map(|report| &report.allocations);
        allocations.filter(|allocation| allocation.name == label).map(|allocation| allocation.size).sum()
    }
}
