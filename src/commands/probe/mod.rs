//! `praxis probe`: what things cost on this machine, as tables, as JSON, and as a page with charts.

mod chart;
mod html;
mod text;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use praxis::gpu::{Gpu, GpuOptions};
use praxis::measure::write_atomically;
use praxis::pacing::describe_machine;
use praxis::probe::line::WorkerArgs;
use praxis::probe::resident_ops::Barriers;
use praxis::probe::{
    Context, Effort, Ended, ProbeReport, SystemClock, batch, latency, line, resident, resident_ops, waits, watchdog,
};
use serde_json::{Value, json};

use super::window::quiet::catch_panics;
use super::{Outcome, WrongUsage, interruption, terminal};
use crate::cli::probe::{LineWorkerArgs, ProbeArgs, ProbeCommand, ProbeOptions, SPIN_US};

/// How long the first Ctrl-C has to be obeyed before a second one ends the program.
const PATIENCE: Duration = Duration::from_millis(500);
const WATCHDOG_S: f64 = 10.0;
const SHORT_WATCHDOG_S: f64 = 1.0;

const LIST: &str = "\
latency               where the time of an empty round trip goes, stage by stage
waits                 what each way to wait for the GPU costs, and where the floor is
batch                 what an operation costs when several go together
resident [--ops]      whether a running kernel and the CPU can talk, and how fast; or what small operations cost through it
watchdog [SECONDS]    how long a kernel may run before the driver kills it
line                  what a shared cache line costs, and how far apart per-thread slots must be
all                   all of them, one after another
";

/// One probe and what it is given.
#[derive(Clone, Copy)]
enum Probe {
    Latency,
    Waits { spin_us: u64 },
    Batch,
    Resident,
    ResidentOps(Barriers),
    Watchdog { longest_s: f64 },
    Line,
}

/// Runs it.
pub fn run(args: &ProbeArgs) -> anyhow::Result<Outcome> {
    let options = &args.options;
    let Some(command) = &args.probe else {
        if options.json || options.html.is_some() || options.out.is_some() {
            return Err(WrongUsage("name a probe, or `all`".into()).into());
        }
        terminal::print(LIST)?;
        return Ok(Outcome::Good);
    };
    let outputs = Outputs::prepare(options)?;
    // The probe ends at its next step.
    let is_interrupted = interruption::listen(PATIENCE, "stopped before what was measured could be shown")?;
    let context = Context {
        effort: if options.quick { Effort::Quick } else { Effort::Full },
        clock: SystemClock::start(),
        machine: describe_machine(),
    };
    let mut reports = Vec::new();
    let chosen = chosen(command, options.quick);
    for probe in &chosen {
        if is_interrupted.load(Ordering::Relaxed) {
            break;
        }
        // A probe makes an error of wgpu's panics; their text is no second line on stderr.
        let report = catch_panics(|| measure(*probe, options, &context, &is_interrupted))?;
        let text = (!options.json).then(|| text::of(&report, !reports.is_empty()));
        reports.push(report);
        // What was measured is safe before the next one starts, and before a terminal that takes no more text ends the program.
        outputs.write(&reports)?;
        if let Some(text) = text {
            terminal::print(&text)?;
        }
        if reports.last().is_some_and(|report| report.ended != Ended::Complete) {
            break;
        }
    }
    if options.json {
        let documents: Vec<Value> = reports.iter().map(document).collect();
        match (command, &documents[..]) {
            (ProbeCommand::All(_), _) => {
                terminal::print_json(&json!({ "schema": "praxis.probes/1", "probes": documents }))?;
            }
            (_, [only]) => terminal::print_json(only)?,
            _ => {}
        }
    }
    outputs.note(options.quiet);
    match reports.last().map(|report| (&report.ended, report.probe)) {
        Some((Ended::Complete, _)) if reports.len() == chosen.len() => Ok(Outcome::Good),
        Some((Ended::Failed(reason), probe)) => {
            bail!("probe {probe} ended early: {reason}; what was measured is shown")
        }
        Some((_, probe)) => bail!("interrupted in or after probe {probe}: what was measured until then is shown"),
        None => bail!("interrupted before the first probe: nothing was measured"),
    }
}

/// A worker of the `line` probe. Ctrl-C goes to every process of a terminal; this one ends when its orders do.
pub fn run_line_worker(args: &LineWorkerArgs) -> anyhow::Result<Outcome> {
    ctrlc::set_handler(|| {}).context("could not listen for Ctrl-C")?;
    let args = WorkerArgs {
        file: args.file.clone(),
        worker_idx: args.worker_idx,
        slot_offset: args.slot_offset,
        is_private: args.private,
        core: args.core,
    };
    line::run_worker(&args, std::io::stdin().lock(), std::io::stdout().lock())
        .context("a worker of the probe failed")?;
    Ok(Outcome::Good)
}

/// The probes that a command names. In `all` the watchdog is tried for a second unless more is asked for.
fn chosen(command: &ProbeCommand, is_quick: bool) -> Vec<Probe> {
    let longest_s =
        |seconds: Option<f64>, is_short: bool| seconds.unwrap_or(if is_short { SHORT_WATCHDOG_S } else { WATCHDOG_S });
    match command {
        ProbeCommand::Latency => vec![Probe::Latency],
        ProbeCommand::Waits(args) => vec![Probe::Waits { spin_us: args.spin_us }],
        ProbeCommand::Batch => vec![Probe::Batch],
        ProbeCommand::Resident(args) if args.ops => {
            let (is_acquiring, answers_after_stores) = (!args.no_acquire, args.answer_after_stores);
            vec![Probe::ResidentOps(Barriers { is_acquiring, answers_after_stores })]
        }
        ProbeCommand::Resident(_) => vec![Probe::Resident],
        ProbeCommand::Watchdog(args) => vec![Probe::Watchdog { longest_s: longest_s(args.seconds, is_quick) }],
        ProbeCommand::Line => vec![Probe::Line],
        ProbeCommand::All(args) => vec![
            Probe::Latency,
            Probe::Waits { spin_us: SPIN_US },
            Probe::Batch,
            Probe::Resident,
            Probe::Line,
            // Last: what a killed kernel leaves behind is the driver's secret.
            Probe::Watchdog { longest_s: longest_s(args.seconds, true) },
        ],
    }
}

fn measure(
    probe: Probe,
    options: &ProbeOptions,
    context: &Context,
    is_interrupted: &AtomicBool,
) -> anyhow::Result<ProbeReport> {
    let bar = progress_bar(options.quiet, name_of(probe));
    let mut watch = |n_done: u64, n_all: u64| {
        bar.set_length(n_all);
        bar.set_position(n_done);
        !is_interrupted.load(Ordering::Relaxed)
    };
    let watch = &mut watch;
    let report = match probe {
        Probe::Line => line::measure(context, std::env::current_exe().ok(), watch),
        _ => {
            let gpu_options = GpuOptions { adapter: options.adapter.clone(), ..GpuOptions::default() };
            let gpu = Gpu::open_for_compute(&gpu_options)?;
            match probe {
                Probe::Latency => latency::measure(&gpu, context, watch),
                Probe::Waits { spin_us } => waits::measure(&gpu, context, spin_us, watch),
                Probe::Batch => batch::measure(&gpu, context, watch),
                Probe::Resident => resident::measure(&gpu, context, watch),
                Probe::ResidentOps(barriers) => resident_ops::measure(&gpu, context, barriers, watch),
                Probe::Watchdog { longest_s } => watchdog::measure(&gpu, context, longest_s, watch),
                Probe::Line => unreachable!("it needs no device"),
            }
        }
    };
    bar.finish_and_clear();
    Ok(report)
}

fn name_of(probe: Probe) -> &'static str {
    match probe {
        Probe::Latency => "latency",
        Probe::Waits { .. } => "waits",
        Probe::Batch => "batch",
        Probe::Resident => "resident",
        Probe::ResidentOps(_) => "resident-ops",
        Probe::Watchdog { .. } => "watchdog",
        Probe::Line => "line",
    }
}

/// Invisible with `--quiet` or where stderr is no terminal.
fn progress_bar(is_quiet: bool, name: &'static str) -> ProgressBar {
    use std::io::IsTerminal;
    let is_shown = !is_quiet && std::io::stderr().is_terminal();
    let target = if is_shown { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len}  {eta} left");
    ProgressBar::with_draw_target(Some(1), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(name)
}

/// A report as one JSON document, with the program that measured.
fn document(report: &ProbeReport) -> Value {
    let mut document = json!(report);
    document["build"] = json!(super::bench::describe_build());
    document
}

/// The files that are written beside what is shown.
struct Outputs<'a> {
    options: &'a ProbeOptions,
}

impl<'a> Outputs<'a> {
    /// Minutes of measuring that can't be saved would be lost: so it is tried first.
    fn prepare(options: &'a ProbeOptions) -> anyhow::Result<Self> {
        if let Some(folder) = &options.out {
            std::fs::create_dir_all(folder).with_context(|| {
                format!("could not make the folder {} (choose another with --out)", folder.display())
            })?;
            check_writable(folder, "--out")?;
        }
        if let Some(file) = &options.html {
            if file.is_dir() {
                bail!("{} is a folder: name a file with --html", file.display());
            }
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            // A device, such as /dev/stdout, is written into.
            if !file.exists() || file.is_file() {
                check_writable(folder, "--html")?;
            }
        }
        Ok(Self { options })
    }

    fn write(&self, reports: &[ProbeReport]) -> anyhow::Result<()> {
        let page = |path: &Path| -> anyhow::Result<()> {
            let page = html::page(reports)?;
            Ok(write_atomically(path, |file| file.write_all(page.as_bytes()))?)
        };
        if let Some(path) = &self.options.html {
            page(path)?;
        }
        if let Some(folder) = &self.options.out {
            if let Some(report) = reports.last() {
                let path = folder.join(format!("{}.json", report.probe));
                write_atomically(&path, |file| writeln!(file, "{:#}", document(report)))?;
            }
            page(&folder.join("probes.html"))?;
        }
        Ok(())
    }

    fn note(&self, is_quiet: bool) {
        for path in [&self.options.html, &self.options.out].into_iter().flatten() {
            terminal::note(is_quiet, &format!("wrote {}", path.display()));
        }
    }
}

fn check_writable(folder: &Path, flag: &str) -> anyhow::Result<()> {
    tempfile::tempfile_in(folder)
        .with_context(|| format!("could not write into {} (choose another place with {flag})", folder.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::probe::WatchdogArgs;

    #[test]
    fn probe_all_is_every_probe_of_the_list_and_keeps_the_watchdog_short() {
        let probes = chosen(&ProbeCommand::All(WatchdogArgs { seconds: None }), false);
        let mut names: Vec<_> = probes.iter().map(|probe| name_of(*probe)).collect();
        names.push("all");
        let mut listed: Vec<_> = LIST.lines().filter_map(|line| line.split_whitespace().next()).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
        let seconds = |command: ProbeCommand, is_quick| match chosen(&command, is_quick).last() {
            Some(Probe::Watchdog { longest_s }) => *longest_s,
            _ => panic!("no watchdog"),
        };
        assert_eq!(seconds(ProbeCommand::All(WatchdogArgs { seconds: None }), false), 1.0);
        assert_eq!(seconds(ProbeCommand::All(WatchdogArgs { seconds: Some(3.0) }), false), 3.0);
        assert_eq!(seconds(ProbeCommand::Watchdog(WatchdogArgs { seconds: None }), false), 10.0);
        assert_eq!(seconds(ProbeCommand::Watchdog(WatchdogArgs { seconds: None }), true), 1.0);
    }
}
