//! egui over the picture: panels into triangles. They only show, so egui gets time and scale and no events.

use std::sync::Arc;

use egui_wgpu::ScreenDescriptor;
use praxis::frames::window::{Overlay, RecentFrames};
use praxis::gpu::Gpu;
use winit::window::Window;

use super::panels::Panels;

/// The panels, laid out by egui and drawn by its wgpu renderer. While nothing is shown it costs nothing.
pub struct EguiOverlay {
    /// What is shown.
    pub panels: Panels,
    window: Arc<Window>,
    state: egui_winit::State,
    renderer: egui_wgpu::Renderer,
    triangles: Vec<egui::ClippedPrimitive>,
    screen: ScreenDescriptor,
    unused_textures: Vec<egui::TextureId>,
    /// Instead of the window's pixels a point.
    scale: Option<f32>,
}

impl EguiOverlay {
    /// Draws `panels` onto surfaces of `format`.
    pub fn new(gpu: &Gpu, window: Arc<Window>, format: wgpu::TextureFormat, panels: Panels) -> Self {
        let ctx = egui::Context::default();
        ctx.set_theme(egui::Theme::Dark);
        let scale = window.scale_factor() as f32;
        let largest = gpu.device.limits().max_texture_dimension_2d as usize;
        Self {
            panels,
            state: egui_winit::State::new(ctx, egui::ViewportId::ROOT, &*window, Some(scale), None, Some(largest)),
            renderer: egui_wgpu::Renderer::new(&gpu.device, format, egui_wgpu::RendererOptions::default()),
            triangles: Vec::new(),
            screen: ScreenDescriptor { size_in_pixels: [1, 1], pixels_per_point: scale },
            unused_textures: Vec::new(),
            scale: None,
            window,
        }
    }

    /// Draws as on a display with so many pixels a point, whatever the window's has.
    pub fn set_scale(&mut self, scale: f32) {
        self.scale = Some(scale);
    }

    fn lay_out(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, size_px: [u32; 2]) {
        let mut input = self.state.take_egui_input(&self.window);
        // The surface can lag behind the window; nothing may be drawn outside of it.
        let native = self.window.scale_factor() as f32;
        let size_px_f32 = egui::vec2(size_px[0] as f32, size_px[1] as f32);
        let scale = self.scale.unwrap_or(native);
        let zoom = Panels::zoom(size_px_f32 / scale) * scale / native;
        self.state.egui_ctx().set_zoom_factor(zoom);
        let size_points = size_px_f32 / (zoom * native);
        input.screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size_points));
        let ctx = self.state.egui_ctx().clone();
        let mut output = ctx.run_ui(input, |ui| self.panels.show(ui.ctx()));

        for (id, deltas) in output.textures_delta.set.drain() {
            for delta in deltas {
                self.renderer.update_texture(&gpu.device, &gpu.queue, id, &delta);
            }
        }
        self.unused_textures.extend(output.textures_delta.free.drain());
        self.triangles = ctx.tessellate(output.shapes, output.pixels_per_point);
        self.screen = ScreenDescriptor { size_in_pixels: size_px, pixels_per_point: output.pixels_per_point };
        // Nothing shown is a paint callback, so it gives no commands of its own.
        self.renderer.update_buffers(&gpu.device, &gpu.queue, encoder, &self.triangles, &self.screen);
    }
}

impl Overlay for EguiOverlay {
    fn prepare(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, size_px: [u32; 2], recent: &mut RecentFrames) {
        for id in self.unused_textures.drain(..) {
            self.renderer.free_texture(&id);
        }
        if !self.panels.is_any() {
            self.triangles.clear();
            return;
        }
        if self.panels.is_due() {
            self.panels.refresh(recent);
        }
        self.panels.take_frame_times(recent);
        self.lay_out(gpu, encoder, size_px);
    }

    fn draw(&self, pass: &mut wgpu::RenderPass<'static>) {
        if !self.triangles.is_empty() {
            self.renderer.render(pass, &self.triangles, &self.screen);
        }
    }
}
