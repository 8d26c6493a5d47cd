//! Kernels with mailboxes, through wgpu and memory made beside it. Has a device of its own: a killed kernel takes that one alone.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::kernels::{LOG_WORDS, round_trip_wgsl};
use super::round_trip::{self, RoundTrips};
use super::{APART_BYTES, Observation, Qualifier, Route, STOP, Way, Window, coherence_wgsl};
use crate::gpu::{
    Gpu, GpuError, MemoryType, RawError, SharedMemory, compute_pipeline, host_visible_memory_types, read_buffer,
    storage_layout, store_fence,
};
use crate::resident::polling::{self, PollFault};

const LABEL: &str = "praxis::resident::coherence";
/// Words of a mailbox: 4 KiB, a page.
const N_WORDS: usize = 1024;
const DOORBELL_WORD: usize = 0;
/// Where the round trip's kernel has its number and result; see `kernels.rs`.
const DATA_WORD: usize = 64;
/// No round trip lasts longer than this, or is asked for.
const ROUND_TRIP_BUDGET_NS: u64 = 1_000_000_000;
const N_WARMUP_TRIPS: u32 = 20;
/// Without an answer for so long there will be none.
const PATIENCE: Duration = Duration::from_millis(200);
/// Kernels are grown until they run this long; then the rest is proportion.
const CALIBRATION_NS: u64 = 4_000_000;

/// What can go wrong between a kernel with a mailbox and us.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailboxError {
    /// This way can't be had here; others may.
    #[error("{0}")]
    Unavailable(String),
    /// The GPU, its driver or our use of it.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// Memory beside wgpu.
    #[error(transparent)]
    Raw(#[from] RawError),
    /// A submission could not be waited for.
    #[error(transparent)]
    Poll(#[from] PollFault),
}

/// Kernels with mailboxes on a device of their own.
pub struct Mailbox<'a> {
    parent: &'a Gpu,
    device: Device,
    started: Instant,
    /// ns a turn by memory type, qualifier and barrier.
    turn_ns: HashMap<(u32, Qualifier, bool), f64>,
}

/// What goes with a killed kernel.
struct Device {
    gpu: Gpu,
    layout: wgpu::BindGroupLayout,
    pipelines: HashMap<&'static str, wgpu::ComputePipeline>,
    settings: wgpu::Buffer,
    log: wgpu::Buffer,
}

impl Device {
    fn open(parent: &Gpu) -> Result<Self, MailboxError> {
        let gpu = parent.open_another_for_compute()?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let layout = storage_layout(&gpu, LABEL, 3);
        let settings = gpu.factory.buffer(LABEL, 12, usage);
        let log = gpu.factory.buffer(LABEL, LOG_WORDS as u64 * 4, usage);
        Ok(Self { gpu, layout, pipelines: HashMap::new(), settings, log })
    }

    /// Starts a kernel over two buffers, bounded to `n_turns`.
    fn start(&mut self, wgsl: &'static str, buffers: [&wgpu::Buffer; 2], settings: [u32; 3]) -> wgpu::SubmissionIndex {
        let (gpu, layout) = (&self.gpu, &self.layout);
        let pipeline = self.pipelines.entry(wgsl).or_insert_with(|| {
            let module = gpu.factory.shader(LABEL, wgsl);
            compute_pipeline(gpu, LABEL, &module, layout)
        });
        let [first, second] = buffers.map(wgpu::Buffer::as_entire_binding);
        let bindings = gpu.factory.bind_group(LABEL, layout, &[first, second, self.settings.as_entire_binding()]);
        gpu.queue.write_buffer(&self.settings, 0, bytemuck::bytes_of(&settings));
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(LABEL) });
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
        gpu.queue.submit([encoder.finish()])
    }

    fn wait(&self, submission: &wgpu::SubmissionIndex) -> Result<(), MailboxError> {
        polling::wait(&self.gpu.device, submission)?;
        Ok(self.gpu.check_errors()?)
    }

    // A killed kernel shows here first.
    fn is_done(&self, submission: &wgpu::SubmissionIndex) -> Result<bool, MailboxError> {
        Ok(polling::is_done(&self.gpu.device, submission)?)
    }
}

impl<'a> Mailbox<'a> {
    /// Opens the device, on `parent`'s adapter.
    ///
    /// # Errors
    /// The adapter refuses it.
    pub fn new(parent: &'a Gpu) -> Result<Self, MailboxError> {
        let device = Device::open(parent)?;
        Ok(Self { parent, device, started: Instant::now(), turn_ns: HashMap::new() })
    }

    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    fn memory(&self, memory_type: MemoryType) -> Result<SharedMemory, MailboxError> {
        SharedMemory::new(&self.device.gpu.device, LABEL, memory_type, N_WORDS).map_err(unavailable)
    }

    fn check_features(&self, qualifier: Qualifier) -> Result<(), MailboxError> {
        let missing = qualifier.features() - self.device.gpu.device.features();
        if missing.is_empty() {
            return Ok(());
        }
        Err(MailboxError::Unavailable(format!("the adapter lacks {missing:?}")))
    }

    /// How long a turn of the kernel takes in ns, with nobody ringing.
    fn turn_ns(&mut self, way: Way) -> Result<f64, MailboxError> {
        let key = (way.memory.index, way.qualifier, way.has_barrier);
        if let Some(turn_ns) = self.turn_ns.get(&key) {
            return Ok(*turn_ns);
        }
        let memory = SharedMemory::new(&self.device.gpu.device, LABEL, way.memory, N_WORDS)?;
        let wgsl = coherence_wgsl(way.qualifier, way.has_barrier);
        let mut run = |n_turns: u32| {
            let started = Instant::now();
            let log = self.device.log.clone();
            let submission = self.device.start(wgsl, [memory.buffer(), &log], [n_turns, 0, 64]);
            self.device.wait(&submission)?;
            Ok::<u64, MailboxError>(started.elapsed().as_nanos() as u64)
        };
        // Drivers compile at the first dispatch.
        run(1)?;
        let mut n_turns = 64u32;
        let run_ns = loop {
            // The best of three: one that lost its core would look like a loop that is slow.
            let run_ns = run(n_turns)?.min(run(n_turns)?).min(run(n_turns)?);
            if run_ns >= CALIBRATION_NS || n_turns >= 1 << 30 {
                break run_ns;
            }
            n_turns *= 4;
        };
        let turn_ns = run_ns as f64 / f64::from(n_turns);
        self.turn_ns.insert(key, turn_ns);
        Ok(turn_ns)
    }

    fn watch_kernel(&mut self, way: Way, window: Window) -> Result<Observation, MailboxError> {
        let heartbeat_word = way.distance_bytes as usize / 4;
        let window_ns = u64::from(window.n_rings + 2) * window.period_ns;
        let n_turns = (window_ns as f64 * window.bound / self.turn_ns(way)?).clamp(1.0, f64::from(u32::MAX - 1)) as u32;
        let memory = SharedMemory::new(&self.device.gpu.device, LABEL, way.memory, N_WORDS)?;
        let log = self.device.log.clone();
        let ring = |value: u32| {
            memory.store(DOORBELL_WORD, value);
            if way.has_fence {
                store_fence();
            }
        };
        let wgsl = coherence_wgsl(way.qualifier, way.has_barrier);
        let started_ns = self.now_ns();
        let settings = [n_turns, DOORBELL_WORD as u32, heartbeat_word as u32];
        let submission = self.device.start(wgsl, [memory.buffer(), &log], settings);

        let mut seen = Observation::default();
        let mut last_heartbeat = 0;
        // What was rung and seen counts only once the kernel is known to have run on after it.
        let mut pending: Option<(bool, Option<u64>)> = None;
        for value in 1..=window.n_rings + 1 {
            self.sleep_until(started_ns + u64::from(value) * window.period_ns);
            if self.device.is_done(&submission)? {
                break;
            }
            if let Some((has_risen, first_ns)) = pending.take() {
                seen.n_rung += 1;
                seen.n_looks += 1;
                seen.n_risen += u32::from(has_risen);
                seen.first_heartbeat_ns = seen.first_heartbeat_ns.or(first_ns);
            }
            if value > window.n_rings {
                break;
            }
            let heartbeat = memory.load(heartbeat_word);
            let has_risen = heartbeat > last_heartbeat;
            last_heartbeat = heartbeat;
            pending = Some((has_risen, has_risen.then(|| self.now_ns() - started_ns)));
            ring(value);
        }
        ring(STOP);
        store_fence();
        match self.device.wait(&submission) {
            Ok(()) => {
                seen.is_doorbell_intact = memory.load(DOORBELL_WORD) == STOP;
                let words = self.read_log()?;
                seen.n_turns = words[1];
                let n_logged = (words[0] as usize).min(words.len() - 2);
                seen.seen = words[2..2 + n_logged].iter().copied().filter(|value| *value != STOP).collect();
            }
            Err(error) => {
                seen.killed = Some(one_line(&error));
                self.device = Device::open(self.parent)?;
            }
        }
        Ok(seen)
    }

    fn read_log(&self) -> Result<Vec<u32>, MailboxError> {
        let bytes = read_buffer(&self.device.gpu, &self.device.log)?;
        Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap_or_default())).collect())
    }

    fn sleep_until(&self, ns: u64) {
        let left_ns = ns.saturating_sub(self.now_ns());
        spin_sleep::sleep(Duration::from_nanos(left_ns));
    }
}

/// What can't be had in one memory type leaves the others.
fn unavailable(error: RawError) -> MailboxError {
    MailboxError::Unavailable(error.to_string())
}

fn one_line(error: &MailboxError) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Mailbox<'_> {
    /// The memory that the CPU can map.
    ///
    /// # Errors
    /// [`MailboxError::Unavailable`] where the device isn't Vulkan's.
    pub fn memory_types(&self) -> Result<Vec<MemoryType>, MailboxError> {
        host_visible_memory_types(&self.device.gpu.device).map_err(unavailable)
    }

    /// Runs one kernel for `window` and watches it. One that is killed is part of what was seen; its device is replaced.
    ///
    /// # Errors
    /// [`MailboxError::Unavailable`] where this way can't be had; anything else ends it all.
    pub fn observe(&mut self, way: Way, window: Window) -> Result<Observation, MailboxError> {
        self.check_features(way.qualifier)?;
        match self.watch_kernel(way, window) {
            Err(MailboxError::Raw(error)) => Err(unavailable(error)),
            // A kernel killed while it was calibrated, or while it was looked at.
            Err(error @ (MailboxError::Poll(_) | MailboxError::Gpu(_))) => {
                self.device = Device::open(self.parent)?;
                Ok(Observation { killed: Some(one_line(&error)), ..Observation::default() })
            }
            seen => seen,
        }
    }

    /// Times `n_trips` round trips, doorbell in one memory, reply in another.
    ///
    /// # Errors
    /// As [`Self::observe`].
    pub fn round_trips(&mut self, route: Route, n_trips: u32) -> Result<RoundTrips, MailboxError> {
        self.check_features(route.qualifier)?;
        let way = Way {
            memory: route.there,
            qualifier: route.qualifier,
            has_barrier: false,
            has_fence: true,
            distance_bytes: APART_BYTES,
        };
        let bound_ns = ROUND_TRIP_BUDGET_NS as f64 + PATIENCE.as_nanos() as f64;
        let n_turns = (bound_ns / self.turn_ns(way)?).clamp(1.0, f64::from(u32::MAX - 1)) as u32;
        let (mailbox, reply) = (self.memory(route.there)?, self.memory(route.back)?);
        let wgsl = round_trip_wgsl(route.qualifier);
        let submission = self.device.start(wgsl, [mailbox.buffer(), reply.buffer()], [n_turns, 0, 0]);
        let mut ring = |ring: u32, number: u32| {
            mailbox.store(DATA_WORD, number);
            store_fence();
            mailbox.store(DOORBELL_WORD, ring);
            store_fence();
            wait_for_answer(&reply, ring)
        };
        // The first ones wait for the kernel to start.
        let is_running = (1..=N_WARMUP_TRIPS).all(|first| ring(first, round_trip::number_of(first)).is_some());
        let trips = if is_running {
            let now_ns = || self.now_ns();
            round_trip::run(&now_ns, N_WARMUP_TRIPS + 1, n_trips, ROUND_TRIP_BUDGET_NS, &mut ring)
        } else {
            RoundTrips { ended_early: Some("the kernel never answered".into()), ..RoundTrips::default() }
        };
        mailbox.store(DOORBELL_WORD, STOP);
        store_fence();
        self.device.wait(&submission)?;
        Ok(trips)
    }
}

/// Looks for the flag; what came with it.
fn wait_for_answer(reply: &SharedMemory, ring: u32) -> Option<u32> {
    const N_LOOKS: u32 = 1024;
    let started = Instant::now();
    loop {
        for _ in 0..N_LOOKS {
            if reply.load(0) == ring {
                return Some(reply.load(DATA_WORD));
            }
            std::hint::spin_loop();
        }
        if started.elapsed() > PATIENCE {
            return None;
        }
        // Where one core has to serve both sides, the kernel needs it.
        std::thread::yield_now();
    }
}
