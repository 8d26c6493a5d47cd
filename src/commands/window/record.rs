//! Recording a run of the window, into a run folder as `bench` writes it.

use std::path::Path;

use praxis::frames::window::{MemoryLine, Recorded};
use praxis::frames::{FrameLoop, LoopOutcome, LoopUsage};
use praxis::gpu::present_mode_name;
use praxis::pacing::{HybridSleep, ProcessUsage};

use super::viewer::Viewer;
use crate::commands::bench::{RunFolder, SavedRun, describe_priority, describe_run};
use crate::commands::session::StageView;
use crate::commands::terminal;

/// Frames that a recording without an end takes at most: ten minutes at 60 a second, some 12 MB.
const MOST_FRAMES: usize = 36_000;

/// Where a recording goes.
pub struct RunRecorder {
    folder: RunFolder,
    usage: LoopUsage,
}

impl Viewer {
    pub(super) fn toggle_recording(&mut self) -> anyhow::Result<()> {
        if self.recorder.is_some() {
            return self.stop_recording(None);
        }
        if let Err(error) = self.start_recording(None) {
            self.fail(&error);
        }
        Ok(())
    }

    /// From the next frame on every line of every frame is kept; all memory for that is taken now.
    pub(super) fn start_recording(&mut self, folder: Option<&Path>) -> anyhow::Result<()> {
        let folder = RunFolder::create_by(folder, &format!("window-{}", self.scene.name), "--record")?;
        let n_frames = self.args.frames.map_or(MOST_FRAMES, |n_frames| (n_frames as usize).min(MOST_FRAMES));
        self.overlay.panels.notice(format!("recording into {}", folder.path.display()));
        self.live.frames.recent().start_recording(n_frames);
        let mut usage = LoopUsage::default();
        usage.begin(&self.live.session.gpu);
        self.recorder = Some(RunRecorder { folder, usage });
        Ok(())
    }

    /// Writes what was recorded, if anything was. `cut_short` says why it ends before it was meant to; then what was in flight has
    /// no GPU times.
    pub(super) fn stop_recording(&mut self, cut_short: Option<&str>) -> anyhow::Result<()> {
        let Some(RunRecorder { folder, mut usage }) = self.recorder.take() else { return Ok(()) };
        let live = &mut self.live;
        usage.end(&live.session.gpu);
        if cut_short.is_none() {
            live.frames.drain(&live.renderer)?;
        }
        let Some(Recorded { log, n_missed, bad_timestamps }) = live.frames.recent().take_recording() else {
            return Ok(());
        };
        if log.n_frames() == 0 {
            self.overlay.panels.notice("no frame was recorded".into());
            return Ok(());
        }
        let stage = StageView { scene: &self.scene, renderer: &live.renderer, options: &live.options };
        let n_frames = u32::try_from(log.n_frames()).unwrap_or(u32::MAX);
        let frame_loop = FrameLoop {
            n_warmup: 0,
            n_frames,
            first_frame: 0,
            wait: live.pacing.wait,
            hybrid_sleep: HybridSleep::default(),
            times_polls: false,
            n_frames_in_flight: live.pacing.n_frames_in_flight,
            submit_blocks: live.pacing.submit_blocks,
            injection: None,
        };
        let outcome = LoopOutcome {
            n_frames,
            is_interrupted: cut_short.is_some(),
            bad_timestamps,
            usage,
            ..LoopOutcome::default()
        };
        let mut run = describe_run(&live.session, &stage, &frame_loop, &log, &outcome);
        let [width, height] = live.frames.surface().size_px();
        describe_priority(&mut run, &self.priority);
        run.counts.missed = n_missed;
        run.settings
            .set("window", true)
            .set("width_px", width)
            .set("height_px", height)
            .set("present", self.args.present.name())
            .set("present_mode", present_mode_name(live.frames.surface().present_mode()))
            .set("fps_limit", live.pacing.pace.fps_limit)
            .set("low_latency", live.pacing.pace.is_low_latency)
            .set("refresh_hz", live.frames.refresh_hz());
        run.warnings
            .push("a window's run: scene time follows the clock, so that no other run draws the same frames".into());
        run.warnings.extend(cut_short.map(|why| format!("the recording was cut short: {why}")));
        let picture = if cut_short.is_none() { Some(stage.picture(&live.session.gpu)?) } else { None };
        SavedRun { run: &run, log: &log, picture: picture.as_ref(), goldens: &[] }.write(&folder.path)?;
        let text = format!("wrote {} ({n_frames} frames)", folder.path.display());
        terminal::note(self.args.render.quiet, &text);
        self.overlay.panels.notice(text);
        Ok(())
    }

    /// The process's memory, into the recording. Asking allocates, so that no frame does it.
    pub(super) fn sample_memory(&mut self) {
        let gpu = &self.live.session.gpu;
        let Some(recording) = self.live.frames.recent().recording() else { return };
        recording.set_memory(MemoryLine::GpuResources, gpu.factory.n_created());
        if let Some(report) = gpu.device.generate_allocator_report() {
            recording.set_memory(MemoryLine::Gpu, report.total_allocated_bytes);
        }
        if let Some(bytes) = ProcessUsage::now().resident_bytes {
            recording.set_memory(MemoryLine::Resident, bytes);
        }
    }
}
