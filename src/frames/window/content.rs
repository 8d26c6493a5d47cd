//! What the window shows, as pixels.

use super::WindowContent;
use crate::gpu::{Gpu, GpuError, Readback, WindowSurface};

/// A second target for the surface's pass, and the way back from it.
pub struct ContentCopy {
    pub texture: wgpu::Texture,
    pub view: wgpu::TextureView,
    pub readback: Readback,
}

impl ContentCopy {
    /// As large as the surface and in its format.
    pub fn new(gpu: &Gpu, surface: &WindowSurface) -> Self {
        let [width, height] = surface.size_px();
        let texture = gpu.factory.texture(&wgpu::TextureDescriptor {
            label: Some("praxis::frames::window::ContentCopy"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: surface.format(),
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self { view, readback: Readback::new(gpu, width, height), texture }
    }

    /// Waits for what was submitted and reads it.
    pub fn read(&self, gpu: &Gpu) -> Result<WindowContent, GpuError> {
        let mut pixels = self.readback.read(gpu)?;
        use wgpu::TextureFormat as Format;
        if matches!(self.texture.format(), Format::Bgra8Unorm | Format::Bgra8UnormSrgb) {
            swap_red_and_blue(&mut pixels);
        }
        Ok(WindowContent { size_px: [self.texture.width(), self.texture.height()], pixels })
    }
}

fn swap_red_and_blue(pixels: &mut [u8]) {
    for pixel in pixels.chunks_exact_mut(4) {
        pixel.swap(0, 2);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn window_content_is_rgba_whatever_the_surface_is() {
        let mut pixels = [1, 2, 3, 4, 5, 6, 7, 8];
        super::swap_red_and_blue(&mut pixels);
        assert_eq!(pixels, [3, 2, 1, 4, 7, 6, 5, 8]);
    }
}
