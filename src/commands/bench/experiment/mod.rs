//! `praxis bench --vs`, `--ab` and `--resume`: two sides compared by interleaved pairs of runs, each a process of its own.

mod child;
mod flags;
mod self_test;
mod spread;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use praxis::measure::experiment::{
    EXPERIMENT_SCHEMA, Experiment, ExperimentKind, ExperimentState, GATED_LINES, N_PAIRS, NO_CHAIN_GATE, Pair, Plan,
    RunStatistics, Side, SideName, Verdict, VoidReason,
};
use praxis::measure::statistics::SplitMix64;
use praxis::report::ExperimentReport;

use super::folder::RunFolder;
use crate::cli::{BenchArgs, ExperimentArgs};
use crate::commands::{Outcome, WrongUsage, terminal};
use child::{Interruption, RunEnd};
use flags::TwoValues;

const EXPERIMENT_FILE: &str = "experiment.json";

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
            (RunFolder::create(args.out.as_deref(), &format!("{}-compared", scene_of(args)))?, experiment)
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
    end?;
    terminal::note(args.render.quiet, &format!("wrote {}", folder.path.display()));
    let has_regression = experiment.lines.iter().any(|line| line.verdict == Verdict::Regressed);
    Ok(if has_regression { Outcome::CheckFailed } else { Outcome::Good })
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
        let [a_flags, b_flags] = two.sides(&given);
        let label = |idx: usize| format!("{}={}", two.name, two.values[idx]);
        let a = side(label(0), program.clone(), flags::run_arguments(scene, &a_flags)?);
        (ExperimentKind::Ab, a, side(label(1), program, flags::run_arguments(scene, &b_flags)?))
    } else {
        let arguments = flags::run_arguments(scene, &given)?;
        let (kind, other) = match &args.experiment.vs {
            Some(other) => {
                let found = other.canonicalize();
                (ExperimentKind::Vs, found.with_context(|| format!("there is no program {}", other.display()))?)
            }
            None => (ExperimentKind::SelfTest, program.clone()),
        };
        let a = side(other.display().to_string(), other, arguments.clone());
        (kind, a, side(program.display().to_string(), program, arguments))
    };
    Ok(Experiment {
        schema: EXPERIMENT_SCHEMA.to_owned(),
        scene: scene.to_owned(),
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

/// Has all runs of this program take it from the first whether submit blocks. Finding that out is a measurement of its own, which a busy
/// machine can disturb, and a run that waits elsewhere in the frame can't be compared.
fn wait_alike(side: &mut Side, run: &praxis::measure::RunFile) {
    let is_this_program = std::env::current_exe().is_ok_and(|program| program == side.program);
    let is_told = side.arguments.iter().any(|argument| argument.starts_with("--submit-blocks"));
    if let Some(blocks) = run.adapter.submit_blocks.filter(|_| is_this_program && !is_told) {
        side.arguments.push(format!("--submit-blocks={blocks}"));
    }
}

/// An experiment that is going on.
struct Running<'a> {
    experiment: Experiment,
    folder: &'a Path,
    is_quiet: bool,
    /// Whether the run folders stay.
    keeps_runs: bool,
    /// Whether the clock gate was given, so that no self-test is asked for it.
    has_own_gate: bool,
    /// Said before each note on progress.
    label: String,
    interruption: &'a Interruption,
}

impl Running<'_> {
    /// Runs pairs until it is decided or at its end; the file is whole after each.
    fn go_on(&mut self) -> anyhow::Result<()> {
        loop {
            self.experiment.judge_so_far();
            let is_finished = self.experiment.state != ExperimentState::Unfinished;
            if is_finished || self.interruption.is_asked() {
                self.experiment.judge();
            }
            self.save()?;
            self.tell();
            if is_finished {
                return Ok(());
            }
            if self.interruption.is_asked() {
                let (n_pairs, path) = (self.experiment.n_valid_pairs(), self.folder.display());
                bail!(
                    "interrupted after {n_pairs} pair{}: `praxis bench --resume {path}` goes on",
                    if n_pairs == 1 { "" } else { "s" }
                );
            }
            let pair = self.run_pair()?;
            self.experiment.pairs.push(pair);
        }
    }

    fn save(&self) -> anyhow::Result<()> {
        Ok(self.experiment.write(&self.folder.join(EXPERIMENT_FILE))?)
    }

    /// Runs both sides, in an order that seed and number of the pair decide, so that it does not depend on interruptions.
    fn run_pair(&mut self) -> anyhow::Result<Pair> {
        let pair_idx = self.experiment.pairs.len();
        let mut random = SplitMix64::new(self.experiment.plan.seed ^ (pair_idx as u64).wrapping_mul(0x9e37_79b9));
        let first = if random.coin() { SideName::A } else { SideName::B };
        let mut pair = Pair { first, void: None, a: None, b: None };
        for side in [first, first.other()] {
            match self.run_half(pair_idx, side)? {
                Ok(statistics) => {
                    *match side {
                        SideName::A => &mut pair.a,
                        SideName::B => &mut pair.b,
                    } = Some(statistics);
                }
                Err(reason) => {
                    pair.void = Some(reason);
                    break;
                }
            }
        }
        Ok(pair)
    }

    /// One run; the reason why its pair is void when it came to nothing.
    fn run_half(&mut self, pair_idx: usize, name: SideName) -> anyhow::Result<Result<RunStatistics, VoidReason>> {
        let letter = match name {
            SideName::A => "a",
            SideName::B => "b",
        };
        let relative = format!("runs/{pair_idx:03}-{letter}");
        let folder = self.folder.join(&relative);
        let side = match name {
            SideName::A => &self.experiment.a,
            SideName::B => &self.experiment.b,
        };
        let end = child::run(side, &folder, self.interruption)?;
        let run = match end {
            RunEnd::Measured(run) => *run,
            RunEnd::Interrupted => return Ok(Err(VoidReason::Interrupted)),
            RunEnd::Failed(message) => {
                let has_ever_run = side.settings != Default::default();
                ensure!(has_ever_run, "`{} {}` failed: {message}", side.program.display(), side.arguments.join(" "));
                return Ok(Err(VoidReason::Failed { side: name, message }));
            }
        };
        if let Some(message) = run.void_reason {
            return Ok(Err(VoidReason::Void { side: name, message }));
        }
        let adapter = &self.experiment.adapter;
        if !adapter.name.is_empty() && run.adapter.submit_blocks != adapter.submit_blocks {
            let message =
                "it found out otherwise than the first run whether submit blocks, and waited elsewhere".into();
            return Ok(Err(VoidReason::Void { side: name, message }));
        }
        let statistics = RunStatistics::of(&run, if self.keeps_runs { &relative } else { "" });
        self.first_run_of(name, &run);
        if !self.keeps_runs {
            let _ = fs::remove_dir_all(&folder);
        } else if pair_idx > 0 {
            // Every run draws the same picture: that of the first pair is enough.
            let _ = fs::remove_file(folder.join("final.png"));
        }
        Ok(Ok(statistics))
    }

    /// Takes over what a side's first run says of itself, and what this machine is known to spread by.
    fn first_run_of(&mut self, name: SideName, run: &praxis::measure::RunFile) {
        let experiment = &mut self.experiment;
        let side = match name {
            SideName::A => &mut experiment.a,
            SideName::B => &mut experiment.b,
        };
        if side.settings != Default::default() {
            return;
        }
        (side.build, side.settings) = (run.build.clone(), run.settings.clone());
        for warning in &run.warnings {
            if !experiment.warnings.contains(warning) {
                experiment.warnings.push(warning.clone());
            }
        }
        if experiment.machine == Default::default() {
            wait_alike(&mut experiment.a, run);
            wait_alike(&mut experiment.b, run);
            (experiment.machine, experiment.adapter) = (run.machine.clone(), run.adapter.clone());
            if experiment.kind != ExperimentKind::SelfTest {
                spread::apply(&mut experiment.plan, run, self.has_own_gate, &mut experiment.warnings);
            }
        }
    }

    /// How far it is, on stderr.
    fn tell(&self) {
        let experiment = &self.experiment;
        let (n_valid, n_void) = (experiment.n_valid_pairs(), experiment.pairs.len() - experiment.n_valid_pairs());
        if experiment.pairs.is_empty() {
            return;
        }
        let mut text = format!("{}{n_valid} of at most {} pairs", self.label, experiment.plan.n_pairs);
        if n_void > 0 {
            text.push_str(&format!(", {n_void} void"));
        }
        if let Some(reason) = experiment.pairs.last().and_then(|pair| pair.void.as_ref()) {
            text.push_str(&format!(" (the last: {reason})"));
        }
        let named = |verdict| {
            let lines = experiment.lines.iter().filter(|line| line.verdict == verdict);
            lines.map(|line| line.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        for (verdict, what) in [
            (Verdict::Regressed, "regressed"),
            (Verdict::Improved, "improved"),
            (Verdict::Same, "same"),
            (Verdict::CantTell, "can't tell yet"),
        ] {
            let lines = named(verdict);
            if !lines.is_empty() {
                text.push_str(&format!("; {what}: {lines}"));
            }
        }
        let next = experiment.plan.looks.iter().find(|look| look.n_pairs as usize > n_valid);
        if let Some(look) = next.filter(|_| experiment.state == ExperimentState::Unfinished) {
            text.push_str(&format!("; next look at {}", look.n_pairs));
        }
        terminal::note(self.is_quiet, &text);
    }
}
