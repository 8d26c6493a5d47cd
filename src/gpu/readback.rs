//! Pictures and buffers back from the GPU.

use super::{Gpu, GpuError};

const LABEL: &str = "praxis::gpu::Readback";

/// A buffer that an RGBA8 texture can be copied into, rows padded as wgpu wants them.
pub struct Readback {
    buffer: wgpu::Buffer,
    width: u32,
    height: u32,
}

impl Readback {
    /// For a texture of this size in pixels.
    pub fn new(gpu: &Gpu, width: u32, height: u32) -> Self {
        let size = u64::from(padded_row_bytes(width)) * u64::from(height);
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        Self { buffer: gpu.factory.buffer(LABEL, size, usage), width, height }
    }

    /// Records the copy of `texture` (RGBA8 or BGRA8, COPY_SRC).
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::Texture) {
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded_row_bytes(self.width)),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d { width: self.width, height: self.height, depth_or_array_layers: 1 },
        );
    }

    /// Waits for everything submitted and returns tightly packed rows, `4 * width * height` bytes.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<u8>, GpuError> {
        let padded = read_mapped(gpu, &self.buffer)?;
        let row_bytes = self.width as usize * 4;
        let rows = padded.chunks_exact(padded_row_bytes(self.width) as usize);
        Ok(rows.flat_map(|row| &row[..row_bytes]).copied().collect())
    }
}

/// The contents of any COPY_SRC buffer, through a buffer made for the purpose: for tests and one-off reads.
pub fn read_buffer(gpu: &Gpu, source: &wgpu::Buffer) -> Result<Vec<u8>, GpuError> {
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
    let target = gpu.factory.buffer(LABEL, source.size(), usage);
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(LABEL) });
    encoder.copy_buffer_to_buffer(source, 0, &target, 0, source.size());
    gpu.queue.submit([encoder.finish()]);
    read_mapped(gpu, &target)
}

fn read_mapped(gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<Vec<u8>, GpuError> {
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        let _ = sender.send(result); // The receiver lives until the end of this function.
    });
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    let fault = |reason: String| GpuError::Map { label: LABEL, reason };
    match receiver.try_recv() {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(fault(error.to_string())),
        Err(_) => return Err(fault("the mapping never completed".into())),
    }
    let bytes = buffer.get_mapped_range(..).map_err(|error| fault(error.to_string()))?.to_vec();
    buffer.unmap();
    Ok(bytes)
}

fn padded_row_bytes(width: u32) -> u32 {
    (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}
