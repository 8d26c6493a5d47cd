//! `praxis bench --self-test`: a program compared with itself, many times over.

use std::path::Path;

use anyhow::{Context, ensure};
use praxis::measure::RunFile;
use praxis::measure::experiment::{Experiment, ExperimentState, MachineSpread};
use praxis::report::spread_table;

use super::child::Interruption;
use super::running::Running;
use super::{EXPERIMENT_FILE, plan, scene_of};
use crate::cli::BenchArgs;
use crate::commands::bench::folder::RunFolder;
use crate::commands::{Outcome, places, terminal};

/// Runs `n_experiments` A/A experiments, prints what they say together, and keeps it beside the Baseline.
///
/// Experiments that `--out` already holds are not run again: the same command goes on where one was interrupted.
pub fn run(args: &BenchArgs, n_experiments: u32) -> anyhow::Result<Outcome> {
    let interruption = Interruption::listen()?;
    let template = plan(args)?;
    let folder = RunFolder::create(args.out.as_deref(), &format!("{}-self-test", scene_of(args)))?;
    let mut experiments = Vec::new();
    for idx in 0..n_experiments {
        let path = folder.path.join(format!("{idx:04}"));
        std::fs::create_dir_all(&path).with_context(|| format!("could not make {}", path.display()))?;
        let mut experiment = read_or(&path, &template)?;
        if experiment.state != ExperimentState::Unfinished {
            experiments.push(experiment);
            continue;
        }
        // Each has an order of its own.
        experiment.plan.seed = template.plan.seed.wrapping_add(u64::from(idx));
        let mut running = Running {
            experiment,
            folder: &path,
            is_quiet: args.render.quiet,
            keeps_runs: false,
            has_own_gate: true,
            label: format!("experiment {} of {n_experiments}: ", idx + 1),
            interruption: &interruption,
            takes_hints: None,
        };
        running.go_on().with_context(|| format!("the same command with --out {} goes on", folder.path.display()))?;
        experiments.push(running.experiment);
    }
    // Runs are named after their scene's title or file; the Baseline is too.
    let first = &experiments[0];
    let run = run_like(first);
    let spread = MachineSpread::of(&run.scene, &experiments)
        .context("no pair counts: nothing is known of the machine's spread")?;
    spread.write(&folder.path.join("spread.json"))?;
    let path = MachineSpread::path(&places::baselines(), &run);
    spread.write(&path)?;
    if args.json {
        terminal::print_json(&serde_json::to_value(&spread)?)?;
    } else {
        terminal::print(&spread_table(&spread))?;
    }
    terminal::note(args.render.quiet, &format!("wrote {} and {}", folder.path.display(), path.display()));
    Ok(Outcome::Good)
}

/// The experiment in `folder`, to go on with, or `template` where there is none.
fn read_or(folder: &Path, template: &Experiment) -> anyhow::Result<Experiment> {
    let file = folder.join(EXPERIMENT_FILE);
    if !file.exists() {
        return Ok(template.clone());
    }
    let found = Experiment::read(&file)?;
    // A run that has begun has learnt more arguments than it was given.
    let is_same = found.b.arguments.starts_with(&template.b.arguments) && found.plan.n_pairs == template.plan.n_pairs;
    ensure!(is_same, "{} holds a self-test with other arguments: choose another folder with --out", folder.display());
    Ok(found)
}

/// A run without numbers, of the machine and scene that `experiment` measured.
fn run_like(experiment: &Experiment) -> RunFile {
    let mut run = RunFile::from_log(&experiment.scene, &Default::default());
    (run.machine, run.adapter) = (experiment.machine.clone(), experiment.adapter.clone());
    run
}
