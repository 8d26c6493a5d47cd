//! What goes into a window's frame, and what comes out.

use super::{PaceOptions, RecentFrames};
use crate::gpu::{Gpu, NoTexture};
use crate::pacing::FrameWait;
use crate::render::Renderer;
use crate::scene::Scene;

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
    /// As in [`FrameLoop`](crate::frames::FrameLoop::submit_blocks).
    pub submit_blocks: bool,
    /// What else sets the pace.
    pub pace: PaceOptions,
}

/// What a frame is drawn of and with.
pub struct WindowFrame<'a> {
    /// The open device.
    pub gpu: &'a Gpu,
    /// The scene, whose update to `frame_idx` is part of the frame.
    pub scene: &'a mut Scene,
    /// Its renderer.
    pub renderer: &'a mut Renderer,
    /// What is drawn over it.
    pub overlay: &'a mut dyn Overlay,
    /// Which frame of the scene.
    pub frame_idx: u32,
    /// A pixel, from the upper left, of which [`WindowLoop::take_picked`](super::WindowLoop::take_picked) will tell what it shows.
    pub pick_px: Option<[u32; 2]>,
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
