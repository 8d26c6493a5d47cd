//! A triangle in a window, paced and measured by `praxis::pacing` and `praxis::measure` alone: nothing here knows the renderer.
//!
//! ```sh
//! cargo run --release --example pace_any_app -- --wait hybrid --low-latency
//! cargo run --release --example pace_any_app -- --fps-limit 30 --frames 300 --out run.json
//! ```
//!
//! The triangle follows the mouse, so that a late frame can be seen. At the end the lines are summarized on stdout; `--out` keeps
//! every frame in a run file, which `praxis report` opens.
#![expect(clippy::disallowed_methods, reason = "this is a program without the renderer's factory")]

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Parser;
use praxis::measure::{FrameLog, LineId, RunFile, Summary, Unit, names, validate_pass_times};
use praxis::pacing::{
    BlockedTime, ClockChain, DeviceWaiter, FRAMES_IN_FLIGHT, FrameLimiter, FrameWait, InFlightRing, LatencyPacer,
    PacerOptions, PacingClock, current_core, describe_machine, detect_blocking_submit,
};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::{Window, WindowId};

#[derive(Parser, Clone, Debug)]
struct Options {
    /// block, spin, hybrid or hybrid:MICROS
    #[arg(long, default_value = "block")]
    wait: FrameWait,
    /// At most so many frames a second
    #[arg(long)]
    fps_limit: Option<f64>,
    /// Start each frame as late as it may
    #[arg(long)]
    low_latency: bool,
    /// Close after so many frames
    #[arg(long)]
    frames: Option<u64>,
    /// Write a run file
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut app = App { options, window: None, outcome: Ok(()) };
    EventLoop::new()?.run_app(&mut app)?;
    app.outcome
}

struct App {
    options: Options,
    window: Option<PacedWindow>,
    outcome: Result<()>,
}

impl App {
    fn go_on(&mut self, event_loop: &ActiveEventLoop, step: impl FnOnce(&mut PacedWindow) -> Result<bool>) {
        let Some(window) = &mut self.window else { return };
        let goes_on = step(window);
        if !matches!(goes_on, Ok(true)) {
            self.outcome = goes_on.and_then(|_| window.finish(&self.options));
            self.window = None;
            event_loop.exit();
        }
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.window.is_none() {
            match PacedWindow::open(event_loop, &self.options) {
                Ok(window) => self.window = Some(window),
                Err(error) => {
                    self.outcome = Err(error);
                    event_loop.exit();
                }
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => self.go_on(event_loop, |_| Ok(false)),
            WindowEvent::Resized(size) => self.go_on(event_loop, |window| window.resize(size.into())),
            WindowEvent::CursorMoved { position, .. } => {
                self.go_on(event_loop, |window| {
                    window.mouse_px = [position.x as f32, position.y as f32];
                    Ok(true)
                });
            }
            WindowEvent::RedrawRequested => self.go_on(event_loop, PacedWindow::draw),
            _ => {}
        }
    }

    /// Every event is handled: the wait and the sleep belong here, so that events that come meanwhile are handled before the
    /// frame is drawn.
    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        self.go_on(event_loop, PacedWindow::wait_to_start);
    }
}

/// The lines of the frame log.
struct Lines {
    frame_time: LineId,
    cpu_frame: LineId,
    wait: LineId,
    chain: LineId,
    gpu_frame: LineId,
    blocked: [(&'static str, LineId); 4],
}

struct PacedWindow {
    gpu: Triangle,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    mouse_px: [f32; 2],

    // What paces: one of each, as long as the window.
    clock: PacingClock,
    waiter: DeviceWaiter,
    ring: InFlightRing<wgpu::SubmissionIndex>,
    submit_blocks: bool,
    limiter: Option<FrameLimiter>,
    pacer: Option<LatencyPacer>,

    // What measures.
    chain: ClockChain,
    log: FrameLog,
    lines: Lines,
    turn_began_ns: u64,
    waited_ns: u64,
    blocked_poll_ns: Option<u64>,
    n_frames: Option<u64>,
}

impl PacedWindow {
    fn open(event_loop: &ActiveEventLoop, options: &Options) -> Result<Self> {
        let attributes = Window::default_attributes().with_title("pace_any_app");
        let window = Arc::new(event_loop.create_window(attributes)?);
        let display = Box::new(event_loop.owned_display_handle());
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle(display));
        let surface = instance.create_surface(window.clone())?;
        let (gpu, adapter) = Triangle::open(&instance, &surface)?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&adapter, size.width.max(1), size.height.max(1))
            .context("the adapter can't draw into this window")?;
        config.present_mode = wgpu::PresentMode::Fifo;
        config.desired_maximum_frame_latency = FRAMES_IN_FLIGHT as u32;
        surface.configure(&gpu.device, &config);
        let gpu = gpu.with_pipeline(config.format);

        let limiter = options.fps_limit.map(|hz| FrameLimiter::new(hz).context("--fps-limit takes 1 to 10000"));
        let refresh_mhz = window.current_monitor().and_then(|monitor| monitor.refresh_rate_millihertz());
        let pacer = options.low_latency.then(|| {
            LatencyPacer::new(PacerOptions {
                n_frames_in_flight: FRAMES_IN_FLIGHT,
                n_images: config.desired_maximum_frame_latency + 1,
                refresh_hz: refresh_mhz.map(|mhz| f64::from(mhz) / 1e3),
            })
        });
        let mut log = FrameLog::default();
        let mut line = |name: &'static str| log.line(name, Unit::Nanoseconds);
        let lines = Lines {
            frame_time: line(names::FRAME_TIME),
            cpu_frame: line(names::CPU_FRAME),
            wait: line(names::STAGE_WAIT),
            chain: line(names::CHAIN_START),
            gpu_frame: line(names::GPU_FRAME),
            blocked: [names::BLOCKED_POLL, names::BLOCKED_ACQUIRE, names::BLOCKED_SUBMIT, names::BLOCKED_PRESENT]
                .map(|name| (name, line(name))),
        };
        let clock = PacingClock::new();
        Ok(Self {
            waiter: DeviceWaiter::new(&gpu.device, options.wait),
            ring: InFlightRing::new(FRAMES_IN_FLIGHT),
            submit_blocks: detect_blocking_submit(&gpu.device, &gpu.queue)?.blocks,
            limiter: limiter.transpose()?,
            pacer,
            gpu,
            window,
            surface,
            config,
            mouse_px: [0.0; 2],
            turn_began_ns: clock.now_ns(),
            clock,
            chain: ClockChain::new(),
            log,
            lines,
            waited_ns: 0,
            blocked_poll_ns: None,
            n_frames: options.frames,
        })
    }

    fn resize(&mut self, [width, height]: [u32; 2]) -> Result<bool> {
        if width > 0 && height > 0 {
            self.ring.drain(&mut self.waiter)?;
            self.read_finished();
            (self.config.width, self.config.height) = (width, height);
            self.surface.configure(&self.gpu.device, &self.config);
            let refresh_mhz = self.window.current_monitor().and_then(|monitor| monitor.refresh_rate_millihertz());
            if let Some(pacer) = &mut self.pacer {
                pacer.reset(refresh_mhz.map(|mhz| f64::from(mhz) / 1e3));
            }
        }
        Ok(true)
    }

    /// The wait for the oldest frame, then the sleep; input is sampled after both.
    fn wait_to_start(&mut self) -> Result<bool> {
        let call = BlockedTime::start();
        self.waited_ns = self.ring.wait_for_slot(&mut self.waiter)?.waited_ns;
        self.blocked_poll_ns = call.end_ns();
        self.read_finished();
        let now_ns = self.clock.now_ns();
        let limited_ns = self.limiter.as_mut().map_or(now_ns, |limiter| limiter.next_start_ns(now_ns));
        let paced_ns = self.pacer.as_mut().map_or(now_ns, |pacer| pacer.next_start_ns(now_ns));
        self.clock.sleep_until_ns(limited_ns.max(paced_ns));
        self.window.request_redraw();
        Ok(true)
    }

    /// Frames that the ring knows to be finished have their GPU times ready.
    fn read_finished(&mut self) {
        for frame_idx in self.ring.take_finished() {
            let Some(gpu_ns) = self.gpu.read_times(frame_idx) else { continue };
            self.log.set(self.lines.gpu_frame, frame_idx as usize, gpu_ns);
            if let Some(pacer) = &mut self.pacer {
                pacer.frame_finished(frame_idx, gpu_ns);
            }
        }
    }

    fn draw(&mut self) -> Result<bool> {
        // A system may ask for a redraw of its own; then nobody has waited yet.
        if self.ring.is_full() {
            return Ok(true);
        }
        let frame_idx = self.ring.n_pushed();
        let row = self.log.begin_frame();
        self.log.set_core(row, current_core());
        let started_ns = self.clock.now_ns();
        self.log.set(self.lines.frame_time, row, started_ns - self.turn_began_ns);
        self.turn_began_ns = started_ns;
        if let Some(limiter) = &mut self.limiter {
            limiter.frame_started(started_ns);
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.frame_started(frame_idx, started_ns);
        }
        let chain_ns = self.chain.read_ns();
        self.log.set(self.lines.chain, row, chain_ns);
        let mut not_work_ns = chain_ns;

        let size_px = [self.config.width as f32, self.config.height as f32];
        self.gpu.place(self.mouse_px, size_px);
        let (acquire, acquire_began_ns) = (BlockedTime::start(), self.clock.now_ns());
        let texture = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(texture) | wgpu::CurrentSurfaceTexture::Suboptimal(texture) => texture,
            other => {
                println!("no texture to draw into ({other:?}); trying again");
                self.surface.configure(&self.gpu.device, &self.config);
                self.log.truncate(row);
                return Ok(true);
            }
        };
        self.blocked(1, row, acquire.end_ns());
        not_work_ns += self.call_ended(acquire_began_ns);

        let commands = self.gpu.record(&texture.texture, frame_idx);
        let mut wait_ns = self.waited_ns;
        if self.submit_blocks {
            let call = BlockedTime::start();
            let newest_ns = self.ring.wait_newest_before_submit(&mut self.waiter)?;
            self.blocked_poll_ns = self.blocked_poll_ns.zip(call.end_ns()).map(|(before, newest)| before + newest);
            wait_ns += newest_ns;
            not_work_ns += newest_ns;
        }
        self.log.set(self.lines.wait, row, wait_ns);
        self.blocked(0, row, self.blocked_poll_ns);
        let submit = BlockedTime::start();
        self.ring.push(self.gpu.queue.submit([commands]))?;
        self.blocked(2, row, submit.end_ns());
        self.gpu.request_times(frame_idx);
        let submitted_ns = self.clock.now_ns();
        self.log.set(self.lines.cpu_frame, row, (submitted_ns - started_ns).saturating_sub(not_work_ns));
        if let Some(pacer) = &mut self.pacer {
            pacer.frame_submitted(frame_idx, submitted_ns);
        }

        let (present, present_began_ns) = (BlockedTime::start(), self.clock.now_ns());
        self.gpu.queue.present(texture);
        self.blocked(3, row, present.end_ns());
        self.call_ended(present_began_ns);
        Ok(self.n_frames.is_none_or(|n_frames| frame_idx + 1 < n_frames))
    }

    fn blocked(&mut self, line_idx: usize, row: usize, blocked_ns: Option<u64>) {
        if let Some(blocked_ns) = blocked_ns {
            self.log.set(self.lines.blocked[line_idx].1, row, blocked_ns);
        }
    }

    /// Tells the pacer of an acquire or a present; gives what it took.
    fn call_ended(&mut self, began_ns: u64) -> u64 {
        let now_ns = self.clock.now_ns();
        if let Some(pacer) = &mut self.pacer {
            pacer.call_ended(began_ns, now_ns);
        }
        now_ns - began_ns
    }

    fn finish(&mut self, options: &Options) -> Result<()> {
        self.ring.drain(&mut self.waiter)?;
        self.read_finished();
        println!("{} frames, {} wait, times in µs:", self.log.n_frames(), options.wait);
        for line in self.log.lines() {
            if let Some(summary) = Summary::of(line.samples().flatten()) {
                println!("{:16} median {:9.1}  p95 {:9.1}", line.name, summary.median / 1e3, summary.p95 / 1e3);
            }
        }
        if let Some(pacer) = &self.pacer {
            println!(
                "pacer: {:?}, {} missed, margin {} µs",
                pacer.phase(),
                pacer.n_missed(),
                pacer.margin_ns() / 1_000
            );
        }
        if let Some(path) = &options.out {
            let mut run = RunFile::from_log("triangle", &self.log);
            run.machine = describe_machine();
            run.settings.set("wait", options.wait.to_string()).set("low_latency", options.low_latency);
            run.write(path)?;
        }
        Ok(())
    }
}

const WGSL: &str = "
struct Place { centre: vec2f, scale: vec2f }
@group(0) @binding(0) var<uniform> place: Place;
struct Corner { @builtin(position) position: vec4f, @location(0) colour: vec3f }

@vertex fn corner(@builtin(vertex_index) idx: u32) -> Corner {
    var positions = array(vec2f(0.0, 0.5), vec2f(-0.45, -0.35), vec2f(0.45, -0.35));
    var colours = array(vec3f(0.95, 0.55, 0.2), vec3f(0.2, 0.7, 0.5), vec3f(0.3, 0.4, 0.9));
    return Corner(vec4f(place.centre + positions[idx] * place.scale, 0.0, 1.0), colours[idx]);
}

@fragment fn paint(corner: Corner) -> @location(0) vec4f { return vec4f(corner.colour, 1.0); }
";

/// The triangle, and the GPU's times of it.
struct Triangle {
    device: wgpu::Device,
    queue: wgpu::Queue,
    place: wgpu::Buffer,
    drawing: Option<(wgpu::RenderPipeline, wgpu::BindGroup)>,
    times: Option<GpuTimes>,
}

/// Two timestamps a frame, resolved into as many buffers as frames can be in flight, and one more.
struct GpuTimes {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: Vec<wgpu::Buffer>,
    period_ns: f32,
}

impl Triangle {
    fn open(instance: &wgpu::Instance, surface: &wgpu::Surface) -> Result<(Self, wgpu::Adapter)> {
        let wish = wgpu::RequestAdapterOptions { compatible_surface: Some(surface), ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&wish))?;
        let required_features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
        let wish = wgpu::DeviceDescriptor { required_features, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&wish))?;
        let buffer = |size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        use wgpu::BufferUsages as Usage;
        let times = (!required_features.is_empty()).then(|| GpuTimes {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(16, Usage::QUERY_RESOLVE | Usage::COPY_SRC),
            readable: (0..=FRAMES_IN_FLIGHT).map(|_| buffer(16, Usage::COPY_DST | Usage::MAP_READ)).collect(),
            period_ns: queue.get_timestamp_period(),
        });
        let place = buffer(16, Usage::UNIFORM | Usage::COPY_DST);
        Ok((Self { device, queue, place, drawing: None, times }, adapter))
    }

    fn with_pipeline(mut self, format: wgpu::TextureFormat) -> Self {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(WGSL.into()),
        });
        let pipeline = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("corner"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("paint"),
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            multiview_mask: None,
            cache: None,
        });
        let bindings = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: self.place.as_entire_binding() }],
        });
        self.drawing = Some((pipeline, bindings));
        self
    }

    /// The middle of the triangle is where the mouse is.
    fn place(&self, [x, y]: [f32; 2], [width, height]: [f32; 2]) {
        let place = [2.0 * x / width - 1.0, 1.0 - 2.0 * y / height, height / width, 1.0];
        self.queue.write_buffer(&self.place, 0, bytemuck::cast_slice(&place));
    }

    fn record(&self, target: &wgpu::Texture, frame_idx: u64) -> wgpu::CommandBuffer {
        let view = target.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r: 0.06, g: 0.07, b: 0.09, a: 1.0 }),
                    store: wgpu::StoreOp::Store,
                },
            })],
            timestamp_writes: self.times.as_ref().map(|times| wgpu::RenderPassTimestampWrites {
                query_set: &times.queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            }),
            ..Default::default()
        });
        if let Some((pipeline, bindings)) = &self.drawing {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, bindings, &[]);
            pass.draw(0..3, 0..1);
        }
        drop(pass);
        if let Some(times) = &self.times {
            encoder.resolve_query_set(&times.queries, 0..2, &times.resolved, 0);
            encoder.copy_buffer_to_buffer(&times.resolved, 0, times.readable_of(frame_idx), 0, 16);
        }
        encoder.finish()
    }

    /// After the submit: the buffer is mapped once the frame was waited for.
    fn request_times(&self, frame_idx: u64) {
        if let Some(times) = &self.times {
            times.readable_of(frame_idx).map_async(wgpu::MapMode::Read, .., |_| {});
        }
    }

    /// What the GPU took for a frame that was waited for, in ns.
    fn read_times(&self, frame_idx: u64) -> Option<u64> {
        let times = self.times.as_ref()?;
        let buffer = times.readable_of(frame_idx);
        let ticks: [u64; 2] = bytemuck::pod_read_unaligned(&buffer.get_mapped_range(..).ok()?);
        buffer.unmap();
        validate_pass_times(ticks[0], ticks[1], times.period_ns).ok()
    }
}

impl GpuTimes {
    fn readable_of(&self, frame_idx: u64) -> &wgpu::Buffer {
        &self.readable[(frame_idx % self.readable.len() as u64) as usize]
    }
}
