//! `praxis bench`: draws a scene's fixed frames and writes what they cost into a run folder.

mod aliasing;
mod count_rays;
mod experiment;
mod folder;
mod goldens;
mod made_folders;
mod reference_cache;
mod saved_run;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use praxis::frames::{FrameLoop, LoopOutcome, WaitLog};
use praxis::measure::{Adapter, Build, FrameLog, RunFile, Settings, Unit, names, record_baseline};
use praxis::pacing::{FrameWait, HybridSleep, ObtainedPriority, describe_machine, detect_blocking_submit};

use super::beside::Beside;
use super::session::{Session, Stage, StageView};
use super::{Outcome, WrongUsage, interruption, places, terminal};
use crate::cli::BenchArgs;
pub(super) use folder::{EXPERIMENT_FILE, RUN_FILE, RunFolder, default_name};
use goldens::RunGoldens;
pub(super) use saved_run::SavedRun;

const HARDWARE_FRAMES: (u32, u32) = (100, 1800);
/// How long the first Ctrl-C has to be obeyed before a second one counts.
const PATIENCE: Duration = Duration::from_secs(2);
const SOFTWARE_FRAMES: (u32, u32) = (5, 60);

/// Runs it.
pub fn run(args: &BenchArgs) -> anyhow::Result<Outcome> {
    if args.experiment.is_comparing() {
        return experiment::run(args);
    }
    if let Some(flag) = args.experiment.only_comparing() {
        let fault = format!("--{flag} is about comparing: add --ab, --vs or --self-test, or leave it out");
        return Err(WrongUsage(fault).into());
    }
    let scene = args.scene.as_deref().unwrap_or_default();
    let is_interrupted = interruption::listen(PATIENCE, "stopped before the run was saved")?;
    let session = Session::open(&args.render)?;
    let size_px = session.size_px();
    let (warmup, frames) = if session.gpu.is_software() { SOFTWARE_FRAMES } else { HARDWARE_FRAMES };
    let (n_warmup, n_frames) = (args.warmup.unwrap_or(warmup), args.frames.unwrap_or(frames));
    session.note_software_defaults(&format!(
        "measuring {n_frames} frames after {n_warmup} of warm-up at {}×{} pixels",
        size_px[0], size_px[1]
    ));
    let run_goldens = RunGoldens::of(args, scene)?;
    // The folder first: an hour's run that can't be saved would be lost.
    let folder = RunFolder::create(args.out.as_deref(), scene)?;
    anyhow::ensure!(
        !folder.path.join(EXPERIMENT_FILE).exists(),
        "{} holds a comparison: choose another folder with --out",
        folder.path.display()
    );
    let mut stage = load_for_bench(&session, scene, size_px)?;
    let submit_blocks = match args.submit_blocks {
        Some(blocks) => blocks,
        None => detect_blocking_submit(&session.gpu.device, &session.gpu.queue)?.blocks,
    };
    anyhow::ensure!(
        !is_interrupted.load(Ordering::Relaxed),
        "interrupted before the first frame: nothing was measured"
    );
    let frame_loop = FrameLoop {
        n_warmup,
        n_frames,
        first_frame: 0,
        wait: session.wait(FrameWait::for_benchmark(session.gpu.info.device_type)),
        hybrid_sleep: HybridSleep::default(),
        times_polls: false,
        n_frames_in_flight: args.render.frames_in_flight as usize,
        submit_blocks,
        injection: args.inject,
    };

    let started = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    let mut log = FrameLog::with_capacity(n_frames as usize);
    let priority = session.set_priority(args.priority.thread_priority);
    let mut waits = WaitLog::with_capacity((n_warmup + n_frames) as usize);
    let outcome = measure(&session, &mut stage, &frame_loop, &mut log, &mut waits, &is_interrupted)?;
    log.truncate(outcome.n_frames as usize);
    let uncertainty_ns = write_overshoots(&waits, &mut log);

    let mut run = describe_run(&session, &stage.view(), &frame_loop, &log, &outcome);
    run.date = Some(started);
    describe_priority(&mut run, &priority);
    run.usage.extend(uncertainty_ns.map(|ns| ("wait.overshoot.uncertainty_ns".to_owned(), ns)));
    run.usage.extend(outcome.hybrid.into_iter().flat_map(|hybrid| {
        [
            ("wait.hybrid.caught", hybrid.n_caught),
            ("wait.hybrid.early", hybrid.n_early),
            ("wait.hybrid.late", hybrid.n_late),
            ("wait.hybrid.blocked", hybrid.n_blocked),
            ("wait.hybrid.on_arrival", hybrid.n_on_arrival),
        ]
        .map(|(name, n)| (name.to_owned(), n))
    }));
    let picture = stage.picture(&session.gpu)?;
    let golden_pictures = match outcome.is_interrupted {
        true => Vec::new(),
        false => goldens::check_or_warn(&run_goldens, &session, &mut stage, &mut run),
    };
    if args.skip_goldens {
        run.warnings.push(
            "the goldens were left out (--skip-goldens): nothing says that the right picture was measured".into(),
        );
    }
    if outcome.is_interrupted && !args.skip_aliasing {
        run.warnings.push("aliasing is missing: interrupted".into());
    }
    if args.count_rays && !outcome.is_interrupted {
        run.counts.rays = count_rays::count(&session.gpu, &mut stage, &run)?;
    }
    let saved =
        SavedRun { run: &run, log: &log, picture: Some(&picture), goldens: &golden_pictures }.write(&folder.path);
    if let Err(error) = saved {
        // What can't be kept can still be read.
        print_report(args, &run)?;
        return Err(error);
    }
    let aliasing = if args.skip_aliasing || outcome.is_interrupted {
        Ok(())
    } else {
        // The run is on disk by now: nothing that happens here can cost it.
        let aliasing = measure_aliasing(&session, &mut stage, &mut run, &folder, &is_interrupted);
        saved_run::write_again(&folder.path, &run)?;
        aliasing
    };
    let baseline_fault = print_report(args, &run)?;
    terminal::note(args.render.quiet, &format!("wrote {}", folder.path.display()));
    if outcome.is_interrupted {
        anyhow::bail!(
            "interrupted after {} of {n_frames} frames: what was measured is in {}",
            outcome.n_frames,
            folder.path.display()
        );
    }
    aliasing.with_context(|| format!("the timings are whole and in {}", folder.path.display()))?;
    if args.record_baseline {
        let path = record_baseline(&places::baselines(), &run)?;
        terminal::note(args.render.quiet, &format!("recorded the Baseline {}", path.display()));
    }
    match baseline_fault {
        // A picture that differs from its golden is a check that found something.
        _ if run.void_reason.is_some() => Ok(Outcome::CheckFailed),
        // Recorded anew, the Baseline is whole again.
        Some(fault) if !args.record_baseline => {
            Err(fault.context(format!("the run is whole and in {}", folder.path.display())))
        }
        _ => Ok(Outcome::Good),
    }
}

/// Measures aliasing into `run`, or says there why it is missing.
fn measure_aliasing(
    session: &Session,
    stage: &mut Stage,
    run: &mut RunFile,
    folder: &RunFolder,
    is_interrupted: &AtomicBool,
) -> anyhow::Result<()> {
    let n_frames = u32::try_from(run.n_frames).unwrap_or(u32::MAX);
    let drawn_by = (&run.build, &run.adapter);
    let missing = match aliasing::measure(session, stage, n_frames, drawn_by, &folder.path, is_interrupted) {
        Ok(Some(aliasing)) => {
            run.aliasing = Some(aliasing.to_value());
            return Ok(());
        }
        Ok(None) => anyhow::anyhow!("interrupted"),
        Err(error) => error,
    };
    let missing = missing.context("aliasing is missing");
    run.warnings.push(super::one_line(&missing));
    Err(missing)
}

/// Loads the scene with the camera that benches use.
fn load_for_bench(session: &Session, reference: &str, size_px: [u32; 2]) -> anyhow::Result<Stage> {
    let mut stage = session.load(reference, None, size_px)?;
    if session.args.camera.is_none() {
        let camera = stage.scene.bench_camera().to_owned();
        stage.scene.set_camera(&camera)?;
    }
    Ok(stage)
}

fn measure(
    session: &Session,
    stage: &mut Stage,
    frame_loop: &FrameLoop,
    log: &mut FrameLog,
    waits: &mut WaitLog,
    is_interrupted: &AtomicBool,
) -> anyhow::Result<LoopOutcome> {
    let bar = terminal::progress_bar(session.args.quiet, frame_loop.n_warmup + frame_loop.n_frames);
    let outcome = stage.draw(&session.gpu, frame_loop, log, waits, &mut |n_done| {
        // Drawing the bar costs more than a frame: its own limit of ten times a second keeps that rare.
        bar.set_position(u64::from(n_done));
        !is_interrupted.load(Ordering::Relaxed)
    })?;
    bar.finish_and_clear();
    Ok(outcome)
}

/// Writes what waits overshot, where the GPU's times tell; gives by how much more all of them may have, in ns.
fn write_overshoots(waits: &WaitLog, log: &mut FrameLog) -> Option<u64> {
    let overshoots = waits.overshoots().filter(|overshoots| !overshoots.values.is_empty())?;
    let line = log.line(names::WAIT_OVERSHOOT, Unit::Nanoseconds);
    for &(_, row, overshoot_ns) in &overshoots.values {
        log.set(line, row, overshoot_ns);
    }
    overshoots.alignment.uncertainty_ns().map(|ns| ns.ceil() as u64)
}

pub(super) fn describe_run(
    session: &Session,
    stage: &StageView,
    frame_loop: &FrameLoop,
    log: &FrameLog,
    outcome: &LoopOutcome,
) -> RunFile {
    let mut run = RunFile::from_log(&stage.scene.name, log);
    run.complete = !outcome.is_interrupted;
    run.build = describe_build();
    run.machine = describe_machine();
    run.adapter = describe_adapter(session, frame_loop);
    run.settings = describe_settings(session, stage, frame_loop);
    if let Some(stats) = stage.renderer.ray_stats() {
        run.load.insert("rays.build_ns".into(), stats.build_ns);
        run.load.insert("rays.bytes".into(), stats.bytes);
        run.load.insert("rays.driver_bytes".into(), stats.driver_bytes);
    }
    run.usage = outcome.usage.to_map();
    run.set_bad_timestamps(outcome.bad_timestamps);
    run.counts.main_thread = outcome.thread_counts;
    run.warnings.extend(outcome.counts_missing.iter().cloned());
    run.warnings.extend(stage.scene.warnings().iter().cloned());
    run.warnings.extend(stage.renderer.warnings().iter().cloned());
    if !session.gpu.has_timestamps() {
        run.warnings.push("the adapter has no timestamps: only CPU lines were measured".into());
    }
    if run.build.profile != "release" {
        run.warnings.push("measured with a debug build: its CPU lines say little".into());
    }
    run
}

/// Nothing, as in Baselines from before there were priorities, where the thread is an ordinary one.
pub(super) fn describe_priority(run: &mut RunFile, priority: &ObtainedPriority) {
    if !priority.is_ordinary() {
        run.settings
            .set("thread_priority", priority.asked.to_string())
            .set("thread_priority.obtained", priority.obtained.clone());
    }
    run.warnings.extend(priority.warning());
}

/// The program that measures.
pub(super) fn describe_build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").into(),
        commit: option_env!("PRAXIS_COMMIT").filter(|commit| !commit.is_empty()).map(Into::into),
        dirty: option_env!("PRAXIS_DIRTY").map(|dirty| dirty == "true"),
        profile: if cfg!(debug_assertions) { "dev" } else { "release" }.into(),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        features: Vec::new(),
    }
}

fn describe_adapter(session: &Session, frame_loop: &FrameLoop) -> Adapter {
    let gpu = &session.gpu;
    let period_ns = gpu.has_timestamps().then(|| gpu.queue.get_timestamp_period());
    Adapter { submit_blocks: Some(frame_loop.submit_blocks), ..praxis::pacing::describe_adapter(&gpu.info, period_ns) }
}

/// Every setting that could change a number.
fn describe_settings(session: &Session, stage: &StageView, frame_loop: &FrameLoop) -> Settings {
    let mut settings = Settings::default();
    let [width, height] = stage.options.size_px;
    settings
        .set("width_px", width)
        .set("height_px", height)
        .set("msaa", stage.options.n_samples)
        .set("frames", frame_loop.n_frames)
        .set("warmup", frame_loop.n_warmup)
        .set("wait", frame_loop.wait.to_string())
        .set("frames_in_flight", frame_loop.n_frames_in_flight)
        .set("camera", stage.scene.camera_name().to_owned())
        .set("tonemap", session.args.tonemap.to_string())
        .set("exposure_ev100", session.args.exposure.map(f64::from))
        .set("validate", session.args.validate);
    settings
        .set("rays", stage.renderer.ray_mode().name())
        .set("ray_backend", stage.renderer.ray_backend().map(|backend| backend.name().to_owned()));
    if let Some(injection) = frame_loop.injection {
        settings.set("inject", injection.to_string());
    }
    if !stage.options.has_column_map {
        settings.set("ray_columns", "off");
    }
    // Most scenes have none: runs of before there was one compare with them.
    let angular_diameter_deg = stage.scene.sun().angular_diameter_deg;
    if angular_diameter_deg > 0.0 {
        settings.set("sun_angular_diameter_deg", f64::from(angular_diameter_deg));
    }
    if let Some(stats) = stage.renderer.ray_stats() {
        settings
            .set("rays.static_triangles", stats.n_static_triangles)
            .set("rays.moving_triangles", stats.n_moving_triangles)
            .set("rays.moving_instances", stats.n_moving_meshes)
            .set("rays.moving_bodies", stats.n_instances);
    }
    let counts = stage.renderer.counts();
    settings
        .set("scene.instances", counts.n_instances)
        .set("scene.triangles", counts.n_triangles)
        .set("scene.lights", counts.n_lights)
        .set("scene.transforms", counts.n_transforms);
    settings
}

/// Prints the run beside what it is judged by; gives why its Baseline can't be used, if that is so.
fn print_report(args: &BenchArgs, run: &RunFile) -> anyhow::Result<Option<anyhow::Error>> {
    let beside = Beside::of(run);
    let report = beside.report(run);
    if args.json {
        terminal::print_json(&report.to_json())?;
    } else {
        terminal::print(&report.to_text(terminal::has_colour()))?;
    }
    Ok(beside.into_fault())
}
