//! `praxis bench --vs`, `--ab` and `--resume`: two sides compared by interleaved pairs of runs, each a process of its own.

mod child;
mod flags;
mod other_program;
mod running;
mod self_test;
mod spread;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use praxis::measure::experiment::{
    EXPERIMENT_SCHEMA, Experiment, ExperimentKind, ExperimentState, GATED_LINES, N_PAIRS, NO_CHAIN_GATE, Plan, Side,
    Verdict,
};
use praxis::measure::write_atomically;
use praxis::report::{ExperimentPage, ExperimentReport};

use super::folder::{EXPERIMENT_FILE, RUN_FILE, RunFolder};
use crate::cli::{BenchArgs, ExperimentArgs};
use crate::commands::{Outcome, WrongUsage, terminal};
use child::Interruption;
use flags::TwoValues;
use running::Running;

/// Compares what the arguments say.
pub fn run(args: &BenchArgs) -> anyhow::Result<Outcome> {
    if args.record_baseline {
        return Err(WrongUsage("a comparison is no Baseline: leave out --record-baseline".into()).into());
    }
    if let Some(n_experiments) = args.experiment.self_test {
        return self_test::run(args, n_experiments);
    }
    let interruption = Interruption::listen()?;
    let (folder, experiment) = match &args.experiment.resume {
        Some(path) => {
            if let Some(flag) = flags::given()?.first() {
                let fault = format!(
                    "--resume goes on with the flags that the comparison began with: leave out --{}",
                    flag.name
                );
                return Err(WrongUsage(fault).into());
            }
            resume(path)?
        }
        None => {
            let experiment = plan(args)?;
            let folder = RunFolder::create(args.out.as_deref(), &format!("{}-compared", scene_of(args)))?;
            refuse_results(&folder.path)?;
            (folder, experiment)
        }
    };
    let mut running = Running {
        experiment,
        folder: &folder.path,
        is_quiet: args.render.quiet,
        keeps_runs: true,
        has_own_gate: args.experiment.clock_gate.is_some(),
        label: String::new(),
        interruption: &interruption,
        takes_hints: None,
    };
    let end = running.go_on();
    let experiment = running.experiment;
    if end.is_err() && experiment.pairs.is_empty() {
        leave_nothing(&folder.path);
    }
    if !experiment.lines.is_empty() {
        if args.json {
            terminal::print_json(&serde_json::to_value(&experiment)?)?;
        } else {
            terminal::print(&ExperimentReport::new(&experiment).to_text(terminal::has_colour()))?;
        }
    }
    if !experiment.pairs.is_empty() {
        let page = ExperimentPage { experiment: &experiment }.to_html();
        write_atomically(&folder.path.join("report.html"), |file| file.write_all(page.as_bytes()))?;
    }
    end?;
    ensure!(
        experiment.n_valid_pairs() > 0,
        "no pair counts: nothing was compared; {} says why each is void",
        folder.path.join(EXPERIMENT_FILE).display()
    );
    terminal::note(args.render.quiet, &format!("wrote {}", folder.path.display()));
    let has_regression = experiment.lines.iter().any(|line| line.verdict == Verdict::Regressed);
    Ok(if has_regression { Outcome::CheckFailed } else { Outcome::Good })
}

/// A comparison doesn't mix with what lies in its folder already.
fn refuse_results(folder: &Path) -> anyhow::Result<()> {
    let path = folder.display();
    if folder.join(EXPERIMENT_FILE).exists() {
        bail!(
            "{path} holds a comparison already: `praxis bench --resume {path}` goes on with it; or choose another folder with --out"
        );
    }
    ensure!(!folder.join(RUN_FILE).exists(), "{path} holds a run already: choose another folder with --out");
    Ok(())
}

/// Takes away what a comparison without any pair has written: nobody would go on with it.
fn leave_nothing(folder: &Path) {
    let _ = fs::remove_file(folder.join(EXPERIMENT_FILE));
    let runs = folder.join("runs");
    for half in ["000-a", "000-b"] {
        let _ = fs::remove_dir_all(runs.join(half));
    }
    let _ = fs::remove_dir(runs);
}

fn scene_of(args: &BenchArgs) -> &str {
    args.scene.as_deref().unwrap_or_default()
}

/// An experiment without pairs, as the arguments describe it.
fn plan(args: &BenchArgs) -> anyhow::Result<Experiment> {
    let scene = scene_of(args);
    let given = flags::given()?;
    let program = std::env::current_exe().context("could not find out where this program is")?;
    let side =
        |label: String, program: PathBuf, arguments: Vec<String>| Side { label, program, arguments, ..Side::default() };
    let (kind, a, b) = if let Some(text) = &args.experiment.ab {
        let two = TwoValues::parse(text)?;
        if given.iter().any(|flag| flag.name == two.name) {
            return Err(WrongUsage(format!("--ab gives --{0} two values: leave out --{0}", two.name)).into());
        }
        let [a_flags, b_flags] = two.sides(&given);
        let label = |idx: usize| format!("{}={}", two.name, two.values[idx]);
        let a = side(label(0), program.clone(), flags::run_arguments(scene, &a_flags)?);
        (ExperimentKind::Ab, a, side(label(1), program, flags::run_arguments(scene, &b_flags)?))
    } else {
        let arguments = flags::run_arguments(scene, &given)?;
        let (kind, other) = match &args.experiment.vs {
            Some(other) => (ExperimentKind::Vs, other_program::find(other)?),
            None => (ExperimentKind::SelfTest, program.clone()),
        };
        let a = side(other.display().to_string(), other, arguments.clone());
        (kind, a, side(program.display().to_string(), program, arguments))
    };
    Ok(Experiment {
        schema: EXPERIMENT_SCHEMA.to_owned(),
        scene: scene.to_owned(),
        date: None,
        kind,
        state: ExperimentState::Unfinished,
        a,
        b,
        machine: Default::default(),
        adapter: Default::default(),
        plan: rules(&args.experiment),
        pairs: Vec::new(),
        lines: Vec::new(),
        clock: Default::default(),
        warnings: Vec::new(),
    })
}

fn rules(args: &ExperimentArgs) -> Plan {
    let drawn = || std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64);
    let mut plan = Plan::new(args.pairs.unwrap_or(N_PAIRS), args.seed.unwrap_or_else(drawn), &GATED_LINES);
    if let Some(percent) = args.margin {
        plan.margin = percent / 100.0;
    }
    if let Some(percent) = args.clock_gate {
        plan.chain_gate = (percent / 100.0).ln_1p();
    } else if args.self_test.is_some() {
        plan.chain_gate = NO_CHAIN_GATE;
    }
    plan
}

/// The experiment in a folder, to go on with.
fn resume(path: &Path) -> anyhow::Result<(RunFolder, Experiment)> {
    let file = path.join(EXPERIMENT_FILE);
    ensure!(file.is_file(), "{} holds no comparison to go on with: it has no {EXPERIMENT_FILE}", path.display());
    let folder = RunFolder::create(Some(path), "")?;
    Ok((folder, Experiment::read(&file)?))
}
