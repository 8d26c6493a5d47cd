//! A window's surface: its format, its size, and what acquiring its next texture can come to.

use std::collections::VecDeque;

use super::{Gpu, GpuError, PresentPreference, adapters};

/// Presents a surface may be behind its acquire; the driver makes one image more.
pub(crate) const FRAME_LATENCY: u32 = 2;

/// How a window presents.
#[derive(Clone, Copy, Debug, Default)]
pub struct PresentOptions {
    /// What the user wants.
    pub preference: PresentPreference,
    /// Whether the program keeps a pace of its own, so that the display need not set one.
    pub is_paced: bool,
}

/// The configured surface of a window.
pub struct WindowSurface {
    /// `None` while the system has taken the window's drawing area away.
    surface: Option<wgpu::Surface<'static>>,
    config: wgpu::SurfaceConfiguration,
    present: PresentOptions,
    faults: VecDeque<AcquireFault>,
}

/// What a test makes an acquire come to; see [`WindowSurface::inject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireFault {
    /// No texture in time.
    Timeout,
    /// The window can't be seen.
    Occluded,
    /// The surface no longer fits the window.
    Outdated,
    /// A texture, of a surface that no longer fits quite.
    Suboptimal,
    /// The surface is gone.
    Lost,
    /// wgpu refuses.
    Refused,
}

/// What acquiring the surface's next texture came to.
#[derive(Debug)]
pub enum Acquired {
    /// Draw into it and present it. If `is_suboptimal`, reconfigure the surface after that.
    Texture {
        /// What to draw into.
        texture: wgpu::SurfaceTexture,
        /// The surface no longer fits the window quite.
        is_suboptimal: bool,
    },
    /// Nothing to draw into this time.
    Nothing(NoTexture),
}

/// Why there is nothing to draw into, and so what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTexture {
    /// The compositor was too slow: try again.
    Timeout,
    /// Nobody sees the window: wait until that changes.
    Occluded,
    /// The window changed and was reconfigured for, in vain so far: try again.
    Outdated,
    /// Make the surface anew and hand it to [`WindowSurface::replace`].
    Lost,
    /// The system has taken the window's drawing area away: wait until it gives one, and hand it to
    /// [`WindowSurface::replace`].
    Suspended,
    /// wgpu refused; [`Gpu::check_errors`] has its words.
    Refused,
}

/// Why a window can't be drawn into.
#[derive(Debug, thiserror::Error)]
pub enum SurfaceError {
    /// wgpu made no surface of the window.
    #[error("the window gives no surface to draw on: {0}")]
    Create(#[source] wgpu::CreateSurfaceError),
    /// The adapter can't present to the window after all.
    #[error("adapter \"{adapter}\" can't draw into this window; choose another with --adapter (see `praxis info`)")]
    Unsupported {
        /// The adapter's name.
        adapter: String,
    },
    /// There are adapters, but none for this window.
    #[error("no adapter can draw into this window; there are: {}", .available.join(", "))]
    NoAdapterForWindow {
        /// Names of what is there.
        available: Vec<String>,
    },
    /// The device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

impl SurfaceError {
    /// Without any adapter wgpu makes no surface either: then that is what is missing.
    pub fn of_creation(error: wgpu::CreateSurfaceError, instance: &wgpu::Instance) -> Self {
        if adapters(instance).is_empty() { Self::Gpu(GpuError::NoAdapter) } else { Self::Create(error) }
    }

    /// [`GpuError::NoAdapter`] told apart: none at all, or none that can draw into the window.
    pub fn of_opening(error: GpuError, instance: &wgpu::Instance) -> Self {
        let available: Vec<_> = adapters(instance).iter().map(|adapter| adapter.get_info().name).collect();
        match error {
            GpuError::NoAdapter if !available.is_empty() => Self::NoAdapterForWindow { available },
            error => Self::Gpu(error),
        }
    }
}

impl WindowSurface {
    /// Configures `surface` for a window of `size_px`.
    ///
    /// # Errors
    /// [`SurfaceError::Unsupported`] if the adapter offers no format for it.
    pub fn new(
        gpu: &Gpu,
        surface: wgpu::Surface<'static>,
        size_px: [u32; 2],
        present: PresentOptions,
    ) -> Result<Self, SurfaceError> {
        let config = configuration(gpu, &surface, size_px, present)?;
        surface.configure(&gpu.device, &config);
        Ok(Self { surface: Some(surface), config, present, faults: VecDeque::new() })
    }

    /// Takes a new surface of the same window in place of a lost or suspended one.
    ///
    /// # Errors
    /// As [`Self::new`], or [`SurfaceError::Unsupported`] if the new one lacks the old one's format, which pipelines are
    /// made for.
    pub fn replace(&mut self, gpu: &Gpu, surface: wgpu::Surface<'static>) -> Result<(), SurfaceError> {
        let config = configuration(gpu, &surface, self.size_px(), self.present)?;
        if config.format != self.config.format {
            return Err(SurfaceError::Unsupported { adapter: gpu.info.name.clone() });
        }
        // The old surface goes first: a window may have one swapchain at a time.
        self.surface = Some(surface);
        self.config = config;
        self.reconfigure(gpu);
        Ok(())
    }

    /// Gives the surface up: the window's drawing area is gone, or about to be made anew. None of its textures may be alive.
    pub fn release(&mut self) {
        self.surface = None;
    }

    /// Fits the surface to a window of `size_px`. None of its textures may be alive.
    pub fn resize(&mut self, gpu: &Gpu, size_px: [u32; 2]) {
        [self.config.width, self.config.height] = within_limits(gpu, size_px);
        self.reconfigure(gpu);
    }

    /// Configures the surface anew as it is. None of its textures may be alive.
    pub fn reconfigure(&self, gpu: &Gpu) {
        if let Some(surface) = &self.surface {
            surface.configure(&gpu.device, &self.config);
        }
    }

    /// The next texture to draw into; waits for one. An outdated surface is reconfigured and asked once more.
    pub fn acquire(&mut self, gpu: &Gpu) -> Acquired {
        let mut acquired = self.next_texture();
        if matches!(acquired, Acquired::Nothing(NoTexture::Outdated)) {
            self.reconfigure(gpu);
            acquired = self.next_texture();
        }
        acquired
    }

    /// The next asking for a texture comes to `fault`; several faults come one after the other. For tests: what hardware does
    /// once a year happens on demand.
    pub fn inject(&mut self, fault: AcquireFault) {
        self.faults.push_back(fault);
    }

    /// What it is drawn in.
    pub fn format(&self) -> wgpu::TextureFormat {
        self.config.format
    }

    /// Pixels.
    pub fn size_px(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    /// How frames reach the display.
    pub fn present_mode(&self) -> wgpu::PresentMode {
        self.config.present_mode
    }

    /// How they were meant to.
    pub fn present_options(&self) -> PresentOptions {
        self.present
    }

    fn next_texture(&mut self) -> Acquired {
        let Some(surface) = &self.surface else { return Acquired::Nothing(NoTexture::Suspended) };
        match self.faults.pop_front() {
            None => acquired(surface.get_current_texture()),
            Some(fault) => injected(fault, || acquired(surface.get_current_texture())),
        }
    }
}

/// What an acquire gives under a fault; only a suboptimal one takes a texture.
fn injected(fault: AcquireFault, acquire: impl FnOnce() -> Acquired) -> Acquired {
    match fault {
        AcquireFault::Timeout => Acquired::Nothing(NoTexture::Timeout),
        AcquireFault::Occluded => Acquired::Nothing(NoTexture::Occluded),
        AcquireFault::Outdated => Acquired::Nothing(NoTexture::Outdated),
        AcquireFault::Lost => Acquired::Nothing(NoTexture::Lost),
        AcquireFault::Refused => Acquired::Nothing(NoTexture::Refused),
        AcquireFault::Suboptimal => match acquire() {
            Acquired::Texture { texture, .. } => Acquired::Texture { texture, is_suboptimal: true },
            nothing => nothing,
        },
    }
}

fn acquired(texture: wgpu::CurrentSurfaceTexture) -> Acquired {
    use wgpu::CurrentSurfaceTexture as Current;
    match texture {
        Current::Success(texture) => Acquired::Texture { texture, is_suboptimal: false },
        Current::Suboptimal(texture) => Acquired::Texture { texture, is_suboptimal: true },
        Current::Timeout => Acquired::Nothing(NoTexture::Timeout),
        Current::Occluded => Acquired::Nothing(NoTexture::Occluded),
        Current::Outdated => Acquired::Nothing(NoTexture::Outdated),
        Current::Lost => Acquired::Nothing(NoTexture::Lost),
        Current::Validation => Acquired::Nothing(NoTexture::Refused),
    }
}

fn configuration(
    gpu: &Gpu,
    surface: &wgpu::Surface,
    size_px: [u32; 2],
    present: PresentOptions,
) -> Result<wgpu::SurfaceConfiguration, SurfaceError> {
    let capabilities = surface.get_capabilities(&gpu.adapter);
    let unsupported = || SurfaceError::Unsupported { adapter: gpu.info.name.clone() };
    let format = choose_format(&capabilities.formats).ok_or_else(unsupported)?;
    let alpha_mode = choose_alpha(&capabilities.alpha_modes).ok_or_else(unsupported)?;
    let [width, height] = within_limits(gpu, size_px);
    Ok(wgpu::SurfaceConfiguration {
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        format,
        color_space: wgpu::SurfaceColorSpace::Auto,
        width,
        height,
        present_mode: present.preference.choose(&capabilities.present_modes, present.is_paced),
        desired_maximum_frame_latency: FRAME_LATENCY,
        alpha_mode,
        view_formats: Vec::new(),
    })
}

/// The picture is sRGB encoded already and egui blends encoded values: a format that encodes nothing suits both.
fn choose_format(formats: &[wgpu::TextureFormat]) -> Option<wgpu::TextureFormat> {
    const PREFERRED: [wgpu::TextureFormat; 4] = [
        wgpu::TextureFormat::Bgra8Unorm,
        wgpu::TextureFormat::Rgba8Unorm,
        wgpu::TextureFormat::Bgra8UnormSrgb,
        wgpu::TextureFormat::Rgba8UnormSrgb,
    ];
    PREFERRED.into_iter().find(|format| formats.contains(format))
}

/// Opaque where it can be had: the desktop must not shine through.
fn choose_alpha(modes: &[wgpu::CompositeAlphaMode]) -> Option<wgpu::CompositeAlphaMode> {
    let opaque = wgpu::CompositeAlphaMode::Opaque;
    if modes.contains(&opaque) { Some(opaque) } else { modes.first().copied() }
}

pub(crate) fn within_limits(gpu: &Gpu, size_px: [u32; 2]) -> [u32; 2] {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    size_px.map(|side| side.clamp(1, limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::TextureFormat as Format;

    #[test]
    fn window_formats_that_encode_nothing_come_first() {
        assert_eq!(choose_format(&[Format::Bgra8UnormSrgb, Format::Bgra8Unorm]), Some(Format::Bgra8Unorm));
        assert_eq!(choose_format(&[Format::Rgba8UnormSrgb, Format::Rgba8Unorm]), Some(Format::Rgba8Unorm));
        assert_eq!(choose_format(&[Format::Rgba16Float, Format::Bgra8UnormSrgb]), Some(Format::Bgra8UnormSrgb));
        assert_eq!(choose_format(&[Format::Rgba16Float]), None);
    }

    #[test]
    fn window_alpha_is_opaque_where_it_can_be() {
        use wgpu::CompositeAlphaMode as Alpha;
        assert_eq!(choose_alpha(&[Alpha::PreMultiplied, Alpha::Opaque]), Some(Alpha::Opaque));
        assert_eq!(choose_alpha(&[Alpha::Inherit]), Some(Alpha::Inherit));
        assert_eq!(choose_alpha(&[]), None);
    }

    #[test]
    fn window_faults_that_are_injected_ask_the_surface_for_nothing() {
        for (fault, expected) in [
            (AcquireFault::Timeout, NoTexture::Timeout),
            (AcquireFault::Occluded, NoTexture::Occluded),
            (AcquireFault::Outdated, NoTexture::Outdated),
            (AcquireFault::Lost, NoTexture::Lost),
            (AcquireFault::Refused, NoTexture::Refused),
        ] {
            let acquired = injected(fault, || panic!("the surface was asked"));
            assert!(matches!(acquired, Acquired::Nothing(why) if why == expected));
        }
        // Where there is no texture, none can be suboptimal.
        let acquired = injected(AcquireFault::Suboptimal, || Acquired::Nothing(NoTexture::Timeout));
        assert!(matches!(acquired, Acquired::Nothing(NoTexture::Timeout)));
    }

    #[test]
    fn window_textures_that_are_missing_say_why() {
        use wgpu::CurrentSurfaceTexture as Current;
        for (given, expected) in [
            (Current::Timeout, NoTexture::Timeout),
            (Current::Occluded, NoTexture::Occluded),
            (Current::Outdated, NoTexture::Outdated),
            (Current::Lost, NoTexture::Lost),
            (Current::Validation, NoTexture::Refused),
        ] {
            assert!(matches!(acquired(given), Acquired::Nothing(why) if why == expected));
        }
    }
}
