//! The window's loop, beside [`render_frames`](super::render_frames): the same stages, and then the window's surface.
//!
//! A frame: input → update → prepare_frame → encode → acquire → the surface's pass → submit → present → wait for the oldest
//! and read finished timestamps. The wait for a slot ends a frame in place of beginning the next one, so that the events
//! that came meanwhile are looked at before it: a wait never ages input.

mod picture_pass;
mod recent;

use std::time::Instant;

use super::FrameError;
use crate::gpu::{Acquired, Gpu, GpuError, NoTexture, Readback, WindowSurface, within_limits};
use crate::pacing::{ClockChain, DeviceWaiter, FrameWait, InFlightRing};
use crate::render::Renderer;
use crate::scene::Scene;

use picture_pass::PicturePass;
pub use recent::{N_RECENT, RecentFrames, RecentLine, RecentSummary, WindowLine};

/// What is drawn over the picture.
pub trait Overlay {
    /// Lays out what [`Self::draw`] draws on a surface of `size_px` and records its uploads, once a frame.
    fn prepare(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, size_px: [u32; 2], recent: &mut RecentFrames);

    /// Draws, over the picture and in the surface's format.
    fn draw(&self, pass: &mut wgpu::RenderPass<'static>);
}

/// How the window's frames are paced.
#[derive(Clone, Copy, Debug)]
pub struct WindowPacing {
    /// How to wait for the oldest frame in flight.
    pub wait: FrameWait,
    /// Frames submitted but not finished when the next one starts, at most.
    pub n_frames_in_flight: usize,
    /// As in [`FrameLoop`](super::FrameLoop::submit_blocks).
    pub submit_blocks: bool,
}

/// What became of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// It was handed to the display.
    Presented,
    /// The scene was drawn, but there was no texture to show it in.
    NotShown(NoTexture),
}

/// The window's content as pixels: RGBA, 8 bits a channel, rows from the top, `4 * width * height` bytes.
pub struct WindowContent {
    /// Pixels.
    pub size_px: [u32; 2],
    /// See the type.
    pub pixels: Vec<u8>,
}

/// What stays from frame to frame.
pub struct WindowLoop {
    surface: WindowSurface,
    picture_pass: PicturePass,
    pacing: WindowPacing,
    ring: InFlightRing<wgpu::SubmissionIndex>,
    chain: ClockChain,
    recent: RecentFrames,
    ticks: Vec<(u64, u64)>,
    frame_started: Option<Instant>,
    waited_ns: u64,
}

impl WindowLoop {
    /// Fits `renderer`'s picture to the surface and makes the surface's pass.
    ///
    /// # Errors
    /// A picture that the GPU can't hold.
    pub fn new(
        gpu: &Gpu,
        scene: &Scene,
        renderer: &mut Renderer,
        surface: WindowSurface,
        pacing: WindowPacing,
    ) -> Result<Self, FrameError> {
        renderer.resize(gpu, surface.size_px())?;
        Ok(Self {
            picture_pass: PicturePass::new(gpu, renderer.picture(), surface.format()),
            surface,
            pacing,
            ring: InFlightRing::new(pacing.n_frames_in_flight),
            chain: ClockChain::new(),
            recent: RecentFrames::new(scene, renderer),
            ticks: Vec::new(),
            frame_started: None,
            waited_ns: 0,
        })
    }

    /// Draws frame `frame_idx` of the scene and shows it. `before_present` is called right before that. Then waits until
    /// there is room for the next frame.
    ///
    /// # Errors
    /// The first fault of the GPU or of a wait.
    pub fn draw(
        &mut self,
        gpu: &Gpu,
        scene: &mut Scene,
        renderer: &mut Renderer,
        frame_idx: u32,
        overlay: &mut dyn Overlay,
        before_present: impl FnOnce(),
    ) -> Result<Drawn, FrameError> {
        let acquired = self.record_and_submit(gpu, scene, renderer, frame_idx, overlay, None)?;
        self.finish_frame(gpu, renderer, acquired, before_present)
    }

    /// As [`Self::draw`], and reads back what the window shows: the surface's pass is drawn a second time, into a texture of
    /// ours in the surface's format. The content is `None` if the frame was not shown.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn draw_and_read(
        &mut self,
        gpu: &Gpu,
        scene: &mut Scene,
        renderer: &mut Renderer,
        frame_idx: u32,
        overlay: &mut dyn Overlay,
        before_present: impl FnOnce(),
    ) -> Result<(Drawn, Option<WindowContent>), FrameError> {
        let copy = ContentCopy::new(gpu, &self.surface);
        let acquired = self.record_and_submit(gpu, scene, renderer, frame_idx, overlay, Some(&copy))?;
        let drawn = self.finish_frame(gpu, renderer, acquired, before_present)?;
        let content = if drawn == Drawn::Presented { Some(copy.read(gpu)?) } else { None };
        Ok((drawn, content))
    }

    /// Fits surface and picture to a window of `size_px`, each side at least 1.
    ///
    /// # Errors
    /// The first fault of the GPU or of a wait.
    pub fn resize(&mut self, gpu: &Gpu, renderer: &mut Renderer, size_px: [u32; 2]) -> Result<(), FrameError> {
        let size_px = within_limits(gpu, size_px);
        if size_px == self.surface.size_px() {
            return Ok(());
        }
        self.drain(gpu, renderer)?;
        self.surface.resize(gpu, size_px);
        renderer.resize(gpu, self.surface.size_px())?;
        self.picture_pass.retarget(gpu, renderer.picture());
        Ok(gpu.check_errors()?)
    }

    /// The window was not drawn for a while: the time until now belongs to no frame.
    pub fn rested(&mut self) {
        self.frame_started = None;
    }

    /// Waits for every frame in flight.
    ///
    /// # Errors
    /// The first fault of the GPU or of a wait.
    pub fn drain(&mut self, gpu: &Gpu, renderer: &Renderer) -> Result<(), FrameError> {
        self.ring.drain(&mut DeviceWaiter::new(&gpu.device, self.pacing.wait))?;
        self.read_finished(renderer)
    }

    /// The surface, to replace it when it was lost.
    pub fn surface_mut(&mut self) -> &mut WindowSurface {
        &mut self.surface
    }

    /// The surface's format and size.
    pub fn surface(&self) -> &WindowSurface {
        &self.surface
    }

    /// What the last frames took.
    pub fn recent(&mut self) -> &mut RecentFrames {
        &mut self.recent
    }

    fn record_and_submit(
        &mut self,
        gpu: &Gpu,
        scene: &mut Scene,
        renderer: &mut Renderer,
        frame_idx: u32,
        overlay: &mut dyn Overlay,
        copy: Option<&ContentCopy>,
    ) -> Result<Acquired, FrameError> {
        let started = Instant::now();
        if let Some(previous) = self.frame_started.replace(started) {
            self.recent.push(WindowLine::FrameTime, (started - previous).as_nanos() as u64);
        }
        let mut not_work_ns = self.read_chain(WindowLine::ChainStart);

        let stage_started = Instant::now();
        scene.update(frame_idx);
        self.end(WindowLine::Update, stage_started);
        self.recent.push_systems(scene);
        not_work_ns += self.read_chain(WindowLine::ChainAfterUpdate);

        let stage_started = Instant::now();
        renderer.prepare_frame(scene, frame_idx);
        self.end(WindowLine::PrepareFrame, stage_started);

        let stage_started = Instant::now();
        let mut encoder = encoder(gpu, "praxis::frames::window::scene");
        renderer.encode(&mut encoder)?;
        let scene_commands = encoder.finish();
        self.end(WindowLine::Encode, stage_started);

        let stage_started = Instant::now();
        let mut encoder = self::encoder(gpu, "praxis::frames::window::surface");
        overlay.prepare(gpu, &mut encoder, self.surface.size_px(), &mut self.recent);
        let layout_ns = elapsed_ns(stage_started);

        // Everything that needs no texture of the surface is done: this wait comes as late as it can.
        let stage_started = Instant::now();
        let acquired = self.surface.acquire(gpu);
        not_work_ns += self.end(WindowLine::Acquire, stage_started);

        let stage_started = Instant::now();
        if let Acquired::Texture { texture, .. } = &acquired {
            let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
            self.picture_pass.record(&mut encoder, &view, overlay);
            if let Some(copy) = copy {
                self.picture_pass.record(&mut encoder, &copy.view, overlay);
                copy.readback.record(&mut encoder, &copy.texture);
            }
        }
        let surface_commands = encoder.finish();
        self.recent.push(WindowLine::Overlay, layout_ns + elapsed_ns(stage_started));

        let mut wait_ns = self.waited_ns;
        if self.pacing.submit_blocks {
            let mut waiter = DeviceWaiter::new(&gpu.device, self.pacing.wait);
            let newest_ns = self.ring.wait_newest_before_submit(&mut waiter)?;
            wait_ns += newest_ns;
            not_work_ns += newest_ns;
        }
        self.recent.push(WindowLine::Wait, wait_ns);
        let stage_started = Instant::now();
        // Without a texture too: what moved is told only once, and these commands upload it.
        let submission = gpu.queue.submit([scene_commands, surface_commands]);
        renderer.submitted();
        self.end(WindowLine::Submit, stage_started);
        self.recent.push(WindowLine::CpuFrame, elapsed_ns(started).saturating_sub(not_work_ns));
        self.read_chain(WindowLine::ChainAfterSubmit);
        if self.ring.push(submission).is_err() {
            unreachable!("a slot was waited for at the end of the frame before");
        }
        Ok(acquired)
    }

    fn finish_frame(
        &mut self,
        gpu: &Gpu,
        renderer: &Renderer,
        acquired: Acquired,
        before_present: impl FnOnce(),
    ) -> Result<Drawn, FrameError> {
        let drawn = match acquired {
            Acquired::Texture { texture, is_suboptimal } => {
                before_present();
                let stage_started = Instant::now();
                gpu.queue.present(texture);
                self.end(WindowLine::Present, stage_started);
                if is_suboptimal {
                    self.surface.reconfigure(gpu);
                }
                Drawn::Presented
            }
            Acquired::Nothing(reason) => Drawn::NotShown(reason),
        };
        gpu.check_errors()?;
        let slot = self.ring.wait_for_slot(&mut DeviceWaiter::new(&gpu.device, self.pacing.wait))?;
        self.waited_ns = slot.waited_ns;
        self.read_finished(renderer)?;
        Ok(drawn)
    }

    fn read_finished(&mut self, renderer: &Renderer) -> Result<(), FrameError> {
        for finished in self.ring.take_finished() {
            if let Some(period_ns) = renderer.read_timestamps(finished, &mut self.ticks) {
                self.recent.push_ticks(&self.ticks, period_ns?);
            }
        }
        Ok(())
    }

    fn read_chain(&mut self, line: WindowLine) -> u64 {
        let chain_ns = self.chain.read_ns();
        self.recent.push(line, chain_ns);
        chain_ns
    }

    fn end(&mut self, line: WindowLine, stage_started: Instant) -> u64 {
        let stage_ns = elapsed_ns(stage_started);
        self.recent.push(line, stage_ns);
        stage_ns
    }
}

/// A second target for the surface's pass, and the way back from it.
struct ContentCopy {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    readback: Readback,
}

impl ContentCopy {
    fn new(gpu: &Gpu, surface: &WindowSurface) -> Self {
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

    fn read(&self, gpu: &Gpu) -> Result<WindowContent, GpuError> {
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

fn encoder(gpu: &Gpu, label: &str) -> wgpu::CommandEncoder {
    gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
}

fn elapsed_ns(started: Instant) -> u64 {
    started.elapsed().as_nanos() as u64
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
