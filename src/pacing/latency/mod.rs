//! The latency pacer: each frame as late as it may start and still be shown in time.

mod vblanks;

use super::recent_samples::RecentSamples;
use vblanks::{Sync, Vblanks};

/// What a [`LatencyPacer`] must know of the window beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacerOptions {
    /// Frames submitted but not finished when the next one starts, at most: the in-flight ring's capacity.
    pub n_frames_in_flight: usize,
    /// Textures that the window's surface passes around, usually its frame latency plus one. So many frames lie
    /// between a frame that had to wait for one and the first that finds an empty queue.
    pub n_images: u32,
    /// The monitor's refresh rate as the system tells it, in Hz. Without it the rate is taken from the calls that block.
    pub refresh_hz: Option<f64>,
}

/// What the pacer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacerPhase {
    /// It doesn't know when the display refreshes, and starts frames at once, as without a pacer: calls then block until
    /// a refresh, which tells it.
    Syncing,
    /// It starts each frame as late as it may.
    Pacing,
}

/// Starts each frame as late as its predicted CPU and GPU time allow, so that what it draws is fresh when it is shown.
///
/// Without pacing, a window that waits for the display's refresh draws ahead until every texture of its surface is full, and
/// input is shown two or three refreshes after it was sampled. The pacer learns when refreshes are from the calls that
/// block until one (acquire, present), how long frames take from the frames themselves, and then gives each frame
/// the start time from which it will just be finished before its refresh.
///
/// It is a state machine over the times that it is told, and reads no clock. All times are ns of one clock, such as
/// [`PacingClock`](super::PacingClock). A frame tells it, in this order:
///
/// 1. [`next_start_ns`](Self::next_start_ns): sleep until then, and only then sample input;
/// 2. [`frame_started`](Self::frame_started);
/// 3. [`call_ended`](Self::call_ended) after acquire and after present, however short they were;
/// 4. [`frame_submitted`](Self::frame_submitted);
/// 5. [`frame_finished`](Self::frame_finished) for each frame that the in-flight ring says is finished, with its GPU time.
///
/// **Misses.** A frame whose GPU work ended after the refresh it was meant for makes the margin before refreshes twice
/// as long; each frame in time makes it a 1/128 shorter: it backs off at once and recovers slowly. Frames behind a missed one aim one
/// refresh later, so that no queue stays.
///
/// **What it can't do.** Without blocking calls (immediate, mailbox) or without GPU times it never delays a frame. It can't see the
/// display: after some seconds it lets the queue fill for a few frames, to see where refreshes are now.
#[derive(Clone, Debug)]
pub struct LatencyPacer {
    options: PacerOptions,
    vblanks: Option<Vblanks>,
    phase: PacerPhase,
    sync: Sync,
    /// Frames until the next sync, and how many that will be the time after.
    n_frames_to_sync: u32,
    sync_every: u32,
    margin_ns: f64,
    cpu_ns: RecentSamples<N_RECENT>,
    gpu_ns: RecentSamples<N_RECENT>,
    /// Started and not finished, oldest first.
    frames: Vec<PacedFrame>,
    /// How long calls of the frame being recorded took.
    blocked_ns: u64,
    /// Whether one of them waited for a refresh.
    has_blocked: bool,
    /// The refresh that the last finished frame was shown at, and when its GPU work ended.
    shown_idx: i64,
    finished_ns: f64,
    /// The refresh that the next frame is meant for.
    target_idx: i64,
    n_blocked_in_a_row: u32,
    n_missed: u64,
}

#[derive(Clone, Copy, Debug)]
struct PacedFrame {
    frame_idx: u64,
    started_ns: u64,
    submitted_ns: Option<u64>,
    /// `None` for a frame that was started at once, while syncing.
    target_idx: Option<i64>,
}

const N_RECENT: usize = 32;
/// A call shorter than this didn't wait for a refresh.
const BLOCKED_NS: u64 = 200_000;
/// The least margin before a refresh: what a submission takes to reach the GPU and a picture to reach the display.
const LEAST_MARGIN_NS: f64 = 500_000.0;
/// A frame in time shortens the margin by one part in so many.
const RECOVERY: f64 = 128.0;
/// So many blocking calls in a row while pacing: refreshes are not where they are thought to be.
const MOST_BLOCKED: u32 = 3;
const FIRST_SYNC_AFTER: u32 = 60;
const MOST_FRAMES_TO_SYNC: u32 = 960;

impl LatencyPacer {
    /// A pacer that knows nothing yet.
    pub fn new(options: PacerOptions) -> Self {
        Self {
            options,
            vblanks: None,
            phase: PacerPhase::Syncing,
            sync: Sync::new(),
            n_frames_to_sync: FIRST_SYNC_AFTER,
            sync_every: FIRST_SYNC_AFTER,
            margin_ns: 2.0 * LEAST_MARGIN_NS,
            cpu_ns: RecentSamples::new(),
            gpu_ns: RecentSamples::new(),
            frames: Vec::with_capacity(options.n_frames_in_flight + 1),
            blocked_ns: 0,
            has_blocked: false,
            shown_idx: i64::MIN,
            finished_ns: 0.0,
            target_idx: i64::MIN,
            n_blocked_in_a_row: 0,
            n_missed: 0,
        }
    }

    /// Forgets where refreshes are: the window was resized, is on another monitor, or was not drawn for a while. Frames in
    /// flight must have been waited for.
    pub fn reset(&mut self, refresh_hz: Option<f64>) {
        self.options.refresh_hz = refresh_hz;
        self.vblanks = None;
        self.frames.clear();
        self.sync_every = FIRST_SYNC_AFTER;
        self.start_sync();
    }

    /// What it is doing.
    pub fn phase(&self) -> PacerPhase {
        self.phase
    }

    /// From one refresh to the next in ns, once it is known.
    pub fn refresh_period_ns(&self) -> Option<u64> {
        self.vblanks.map(|vblanks| vblanks.period_ns.round() as u64)
    }

    /// How long before its refresh a frame is meant to be finished, in ns.
    pub fn margin_ns(&self) -> u64 {
        self.margin_ns as u64
    }

    /// Frames that were finished after the refresh they were meant for.
    pub fn n_missed(&self) -> u64 {
        self.n_missed
    }

    /// From the frame's start to the refresh it is meant for, in ns: what is expected of the last frame started. `None`
    /// while syncing.
    pub fn expected_latency_ns(&self) -> Option<u64> {
        let frame = self.frames.last()?;
        let target_ns = self.vblanks?.at(frame.target_idx?);
        Some((target_ns - frame.started_ns as f64).max(0.0) as u64)
    }

    /// When the frame that could start at `now_ns` shall start: `now_ns` or later, by two refreshes at most beyond what the
    /// frames before it take.
    pub fn next_start_ns(&mut self, now_ns: u64) -> u64 {
        self.count_down_to_sync();
        self.plan(now_ns as f64).map_or(now_ns, |start_ns| now_ns.max(start_ns as u64))
    }

    /// Frame `frame_idx` samples input now, at `at_ns`.
    pub fn frame_started(&mut self, frame_idx: u64, at_ns: u64) {
        let is_pacing = self.phase == PacerPhase::Pacing;
        let target_idx = is_pacing.then_some(self.target_idx);
        // A caller that never tells of finished frames must not fill the memory.
        if self.frames.len() > self.options.n_frames_in_flight {
            self.frames.remove(0);
        }
        self.frames.push(PacedFrame { frame_idx, started_ns: at_ns, submitted_ns: None, target_idx });
        self.n_blocked_in_a_row = if self.has_blocked { self.n_blocked_in_a_row + 1 } else { 0 };
        // Without the monitor's word only a loop that blocks in every frame tells the period.
        if !self.has_blocked && self.options.refresh_hz.is_none() {
            self.sync = Sync::new();
        }
        self.has_blocked = false;
        self.blocked_ns = 0;
    }

    /// An acquire or a present went from `started_ns` to `ended_ns`.
    pub fn call_ended(&mut self, started_ns: u64, ended_ns: u64) {
        let took_ns = ended_ns.saturating_sub(started_ns);
        self.blocked_ns += took_ns;
        self.has_blocked |= took_ns >= BLOCKED_NS;
        if took_ns < BLOCKED_NS {
            return;
        }
        match self.phase {
            PacerPhase::Syncing => {
                let hint_ns = self.options.refresh_hz.filter(|&hz| hz > 0.0).map(|hz| 1e9 / hz);
                let found = self.sync.blocked_until(ended_ns as f64, hint_ns, self.vblanks);
                if let Some(vblanks) =
                    found.filter(|vblanks| hint_ns.is_some() || self.is_unambiguous(vblanks.period_ns))
                {
                    self.vblanks = Some(vblanks);
                    self.start_pacing(ended_ns as f64);
                }
            }
            PacerPhase::Pacing => {
                if self.n_blocked_in_a_row >= MOST_BLOCKED {
                    self.sync_every = FIRST_SYNC_AFTER;
                    self.start_sync();
                }
            }
        }
    }

    /// Frame `frame_idx` was handed to the GPU at `at_ns`, the end of its submit.
    pub fn frame_submitted(&mut self, frame_idx: u64, at_ns: u64) {
        let blocked_ns = self.blocked_ns;
        if let Some(frame) = self.frames.iter_mut().find(|frame| frame.frame_idx == frame_idx) {
            frame.submitted_ns = Some(at_ns);
            let cpu_ns = at_ns.saturating_sub(frame.started_ns).saturating_sub(blocked_ns);
            self.cpu_ns.push(i64::try_from(cpu_ns).unwrap_or(i64::MAX));
        }
    }

    /// Frame `frame_idx` is finished, and took the GPU `gpu_ns`: from the first pass's begin to the last one's end. In the order
    /// of frames; frames without a GPU time are not told.
    pub fn frame_finished(&mut self, frame_idx: u64, gpu_ns: u64) {
        let Some(place) = self.frames.iter().position(|frame| frame.frame_idx == frame_idx) else { return };
        let frame = self.frames[place];
        self.frames.drain(..=place);
        self.gpu_ns.push(i64::try_from(gpu_ns).unwrap_or(i64::MAX));
        let Some(submitted_ns) = frame.submitted_ns else { return };
        self.finished_ns = self.finished_ns.max(submitted_ns as f64) + gpu_ns as f64;
        let Some(vblanks) = self.vblanks else { return };
        let in_time_idx = vblanks.idx_at_or_after(self.finished_ns);
        if let Some(target_idx) = frame.target_idx {
            self.judge(in_time_idx > target_idx, vblanks.period_ns);
        }
        let target_idx = frame.target_idx.unwrap_or(i64::MIN);
        self.shown_idx = in_time_idx.max(target_idx).max(self.shown_idx.saturating_add(1));
    }

    /// Backs off at once, recovers slowly.
    fn judge(&mut self, is_missed: bool, period_ns: f64) {
        if is_missed {
            self.n_missed += 1;
            self.margin_ns = (2.0 * self.margin_ns).min(period_ns / 2.0).max(LEAST_MARGIN_NS);
        } else {
            self.margin_ns -= (self.margin_ns - LEAST_MARGIN_NS) / RECOVERY;
        }
    }

    /// Chooses the next frame's refresh and gives its start.
    fn plan(&mut self, now_ns: f64) -> Option<f64> {
        if self.phase != PacerPhase::Pacing {
            return None;
        }
        let vblanks = self.vblanks?;
        let cpu_ns = self.cpu_ns.quantile(0.5)? as f64;
        let gpu_ns = self.gpu_ns.quantile(0.5)? as f64;
        let (free_ns, shown_idx) = self.after_frames_in_flight(vblanks, gpu_ns);
        // Which refresh it can make is judged without margin: a frame that may well be in time is not given up.
        let finished_ns = free_ns.max(now_ns + cpu_ns) + gpu_ns;
        self.target_idx = vblanks.idx_at_or_after(finished_ns).max(shown_idx.saturating_add(1));
        let likely_cpu_ns = self.cpu_ns.quantile(0.9)? as f64;
        let likely_gpu_ns = self.gpu_ns.quantile(0.9)? as f64;
        let start_ns = vblanks.at(self.target_idx) - likely_cpu_ns - likely_gpu_ns - self.margin_ns;
        // A GPU that is slower than the display must not be kept waiting for a refresh: every gap would cost a frame.
        let is_gpu_too_slow = likely_gpu_ns + self.margin_ns > vblanks.period_ns;
        let keeps_gpu_busy_ns = free_ns - likely_cpu_ns - self.margin_ns;
        Some(if is_gpu_too_slow { start_ns.min(keeps_gpu_busy_ns) } else { start_ns })
    }

    /// When the GPU will be free, and the refresh that the last frame in flight will be shown at.
    fn after_frames_in_flight(&self, vblanks: Vblanks, gpu_ns: f64) -> (f64, i64) {
        let (mut free_ns, mut shown_idx) = (self.finished_ns, self.shown_idx);
        for frame in &self.frames {
            let submitted_ns = frame.submitted_ns.unwrap_or(frame.started_ns) as f64;
            free_ns = free_ns.max(submitted_ns) + gpu_ns;
            let target_idx = frame.target_idx.unwrap_or(i64::MIN);
            shown_idx = vblanks.idx_at_or_after(free_ns).max(target_idx).max(shown_idx.saturating_add(1));
        }
        (free_ns, shown_idx)
    }

    /// Whether the period can be no multiple of the display's. A loop that is too slow for the display blocks at every second
    /// refresh, say; one whose CPU and GPU each take less than half of what was found would have blocked at each.
    fn is_unambiguous(&self, period_ns: f64) -> bool {
        let is_short = |sample_ns: Option<i64>| sample_ns.is_some_and(|ns| 2.0 * ns as f64 <= period_ns);
        is_short(self.cpu_ns.quantile(0.9)) && is_short(self.gpu_ns.quantile(0.9))
    }

    fn count_down_to_sync(&mut self) {
        if self.phase == PacerPhase::Pacing {
            self.n_frames_to_sync = self.n_frames_to_sync.saturating_sub(1);
            if self.n_frames_to_sync == 0 {
                self.sync_every = (2 * self.sync_every).min(MOST_FRAMES_TO_SYNC);
                self.start_sync();
            }
        }
    }

    fn start_sync(&mut self) {
        self.phase = PacerPhase::Syncing;
        self.sync = Sync::new();
        self.n_blocked_in_a_row = 0;
    }

    /// Every texture of the surface is in use when a call blocks until a refresh: the queue must run empty first.
    fn start_pacing(&mut self, refresh_ns: f64) {
        let Some(vblanks) = self.vblanks else { return };
        self.phase = PacerPhase::Pacing;
        self.n_frames_to_sync = self.sync_every;
        self.n_blocked_in_a_row = 0;
        // Their targets were counted from another epoch.
        self.frames.iter_mut().for_each(|frame| frame.target_idx = None);
        let n_queued = i64::from(self.options.n_images.max(2)) - 1;
        self.shown_idx = vblanks.nearest_idx(refresh_ns) + n_queued - self.frames.len() as i64;
    }
}
