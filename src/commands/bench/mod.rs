//! `praxis bench`: draws a scene's fixed frames and writes what they cost into a run folder.

mod aliasing;
mod reference_cache;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use praxis::frames::{FrameLoop, LoopOutcome};
use praxis::measure::{
    Adapter, Budget, Build, FrameLog, RunFile, Settings, read_baseline, record_baseline, write_atomically,
    write_frames_csv,
};
use praxis::pacing::{BlockingSubmit, FrameWait, describe_machine, detect_blocking_submit};
use praxis::report::Report;

use super::session::{Session, Stage};
use super::{Outcome, places, png, terminal};
use crate::cli::BenchArgs;

const HARDWARE_FRAMES: (u32, u32) = (100, 1800);
/// How long the first Ctrl-C has to be obeyed before a second one counts.
const PATIENCE: Duration = Duration::from_secs(2);
const SOFTWARE_FRAMES: (u32, u32) = (5, 60);

/// Runs it.
pub fn run(args: &BenchArgs) -> anyhow::Result<Outcome> {
    let is_interrupted = interruption()?;
    let session = Session::open(&args.render)?;
    let size_px = session.size_px();
    let (warmup, frames) = if session.gpu.is_software() { SOFTWARE_FRAMES } else { HARDWARE_FRAMES };
    let (n_warmup, n_frames) = (args.warmup.unwrap_or(warmup), args.frames.unwrap_or(frames));
    session.note_software_defaults(&format!(
        "measuring {n_frames} frames after {n_warmup} of warm-up at {}×{} pixels",
        size_px[0], size_px[1]
    ));
    // The folder first: an hour's run that can't be saved would be lost.
    let folder = RunFolder::create(args)?;
    let mut stage = load_for_bench(&session, &args.scene, size_px)?;
    let submit = detect_blocking_submit(&session.gpu.device, &session.gpu.queue)?;
    anyhow::ensure!(
        !is_interrupted.load(Ordering::Relaxed),
        "interrupted before the first frame: nothing was measured"
    );
    let frame_loop = FrameLoop {
        n_warmup,
        n_frames,
        first_frame: 0,
        wait: session.wait(FrameWait::for_benchmark(session.gpu.info.device_type)),
        n_frames_in_flight: args.render.frames_in_flight as usize,
        submit_blocks: submit.blocks,
    };

    let mut log = FrameLog::with_capacity(n_frames as usize);
    let outcome = measure(&session, &mut stage, &frame_loop, &mut log, &is_interrupted)?;
    log.truncate(outcome.n_frames as usize);

    let mut run = describe_run(&session, &stage, &frame_loop, &submit, &log, &outcome);
    if outcome.is_interrupted && !args.skip_aliasing {
        run.warnings.push("aliasing is missing: interrupted".into());
    }
    folder.write(&run, &log, &stage.picture(&session.gpu)?)?;
    let aliasing = if args.skip_aliasing || outcome.is_interrupted {
        Ok(())
    } else {
        // The run is on disk by now: nothing that happens here can cost it.
        let aliasing = measure_aliasing(&session, &mut stage, &mut run, &folder, &is_interrupted);
        folder.write_run(&run)?;
        aliasing
    };
    print_report(args, &run)?;
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
    Ok(Outcome::Good)
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
    is_interrupted: &AtomicBool,
) -> anyhow::Result<LoopOutcome> {
    let bar = terminal::progress_bar(session.args.quiet, frame_loop.n_warmup + frame_loop.n_frames);
    let outcome = stage.draw(&session.gpu, frame_loop, log, &mut |n_done| {
        // Drawing the bar costs more than a frame: its own limit of ten times a second keeps that rare.
        bar.set_position(u64::from(n_done));
        !is_interrupted.load(Ordering::Relaxed)
    })?;
    bar.finish_and_clear();
    Ok(outcome)
}

/// Becomes true at the first Ctrl-C or SIGTERM. A later one ends the program at once, unless it comes so soon that the first has
/// had no time to be obeyed: what was measured would be lost to an impatient key.
fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || {
        seen.store(true, Ordering::Relaxed);
        if first.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            eprintln!("praxis: stopped before the run was saved");
            std::process::exit(1);
        }
    })
    .context("could not listen for Ctrl-C")?;
    Ok(flag)
}

fn describe_run(
    session: &Session,
    stage: &Stage,
    frame_loop: &FrameLoop,
    submit: &BlockingSubmit,
    log: &FrameLog,
    outcome: &LoopOutcome,
) -> RunFile {
    let mut run = RunFile::from_log(&stage.scene.name, log);
    run.complete = !outcome.is_interrupted;
    run.build = describe_build();
    run.machine = describe_machine();
    run.adapter = describe_adapter(session, submit);
    run.settings = describe_settings(session, stage, frame_loop);
    if let Some(stats) = stage.renderer.ray_stats() {
        run.load.insert("rays.build_ns".into(), stats.build_ns);
    }
    run.set_bad_timestamps(outcome.bad_timestamps);
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

fn describe_adapter(session: &Session, submit: &BlockingSubmit) -> Adapter {
    let info = &session.gpu.info;
    Adapter {
        name: info.name.clone(),
        backend: info.backend.to_string(),
        device_type: format!("{:?}", info.device_type),
        driver: info.driver.clone(),
        driver_info: info.driver_info.clone(),
        vendor: info.vendor,
        device: info.device,
        timestamp_period_ns: session.gpu.has_timestamps().then(|| session.gpu.queue.get_timestamp_period()),
        submit_blocks: Some(submit.blocks),
    }
}

/// Every setting that could change a number.
fn describe_settings(session: &Session, stage: &Stage, frame_loop: &FrameLoop) -> Settings {
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
    if let Some(stats) = stage.renderer.ray_stats() {
        settings
            .set("rays.static_triangles", stats.n_static_triangles)
            .set("rays.moving_triangles", stats.n_moving_triangles)
            .set("rays.moving_instances", stats.n_instances)
            .set("rays.bytes", stats.bytes);
    }
    let counts = stage.renderer.counts();
    settings
        .set("scene.instances", counts.n_instances)
        .set("scene.triangles", counts.n_triangles)
        .set("scene.lights", counts.n_lights)
        .set("scene.transforms", counts.n_transforms);
    settings
}

/// Where a run is written.
struct RunFolder {
    path: PathBuf,
    is_new: bool,
}

/// A run that comes to nothing leaves nothing.
impl Drop for RunFolder {
    fn drop(&mut self) {
        if self.is_new {
            // Fails, as it should, where the folder holds a run.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

impl RunFolder {
    fn create(args: &BenchArgs) -> anyhow::Result<Self> {
        let path = args.out.clone().unwrap_or_else(|| places::runs().join(default_name(&args.scene)));
        let is_new = !path.exists();
        std::fs::create_dir_all(&path)
            .with_context(|| format!("could not make the run folder {} (choose another with --out)", path.display()))?;
        // Making a folder that exists succeeds in one that can't be written to.
        tempfile::tempfile_in(&path).with_context(|| {
            format!("could not write into the run folder {} (choose another with --out)", path.display())
        })?;
        Ok(Self { path, is_new })
    }

    fn write(&self, run: &RunFile, log: &FrameLog, picture: &png::Rgba) -> anyhow::Result<()> {
        png::write(&self.path.join("final.png"), picture)?;
        write_atomically(&self.path.join("frames.csv"), |file| write_frames_csv(log, file))?;
        // Last: where there is a run.json, the folder is whole.
        self.write_run(run)
    }

    fn write_run(&self, run: &RunFile) -> anyhow::Result<()> {
        Ok(run.write(&self.path.join("run.json"))?)
    }
}

/// `SCENE-YYYY-MM-DDTHH-MM-SSZ`.
fn default_name(scene: &str) -> String {
    let stem = Path::new(scene).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    format!("{stem}-{}", now.replace(':', "-"))
}

fn print_report(args: &BenchArgs, run: &RunFile) -> anyhow::Result<()> {
    let baseline = read_baseline(&places::baselines(), run)?;
    let report = Report::new(run, baseline.as_ref(), &Budget::m3());
    if args.json {
        terminal::print_json(&report.to_json())
    } else {
        terminal::print(&report.to_text(terminal::has_colour()))
    }
}
