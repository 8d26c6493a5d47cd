//! An experiment that is going on: pairs of runs until it is decided.

use std::fs;
use std::path::Path;

use anyhow::{bail, ensure};
use praxis::measure::RunFile;
use praxis::measure::experiment::{
    Experiment, ExperimentKind, ExperimentState, Pair, RunStatistics, Side, SideName, Verdict, VoidReason, WAITING_HINT,
};
use praxis::measure::statistics::SplitMix64;

use super::child::{self, Interruption, RunEnd};
use super::other_program::{GOLDENS_HINT, takes_hints};
use super::{EXPERIMENT_FILE, spread};
use crate::commands::terminal;

/// What a reader should know where one of the programs is too old for the hints.
const NO_HINTS: &str = "one of the two programs can't be told what the first run found out, so neither is: every run finds out for itself whether submit \
                        blocks, and draws the goldens; neither is in the measured frames";

/// Has all runs of a side take it from the first whether submit blocks. Finding that out is a measurement of its own, which a busy
/// machine can disturb, and a run that waits elsewhere in the frame can't be compared.
fn wait_alike(side: &mut Side, run: &RunFile) {
    let is_told = side.arguments.iter().any(|argument| argument.starts_with(WAITING_HINT));
    if let Some(blocks) = run.adapter.submit_blocks.filter(|_| !is_told) {
        side.arguments.push(format!("{WAITING_HINT}={blocks}"));
    }
}

/// What a side's runs after the first are told besides: the goldens were right, and the same program draws them right again.
fn later_arguments(side: &Side) -> &'static [&'static str] {
    let is_told = side.arguments.iter().any(|argument| argument == GOLDENS_HINT);
    if is_told { &[] } else { &[GOLDENS_HINT] }
}

/// An experiment that is going on.
pub struct Running<'a> {
    pub experiment: Experiment,
    pub folder: &'a Path,
    pub is_quiet: bool,
    /// Whether the run folders stay.
    pub keeps_runs: bool,
    /// Whether the clock gate was given, so that no self-test is asked for it.
    pub has_own_gate: bool,
    /// Said before each note on progress.
    pub label: String,
    pub interruption: &'a Interruption,
    /// Whether both programs take the hints: asked for once, before the first run.
    pub takes_hints: Option<bool>,
}

impl Running<'_> {
    /// Runs pairs until it is decided or at its end; the file is whole after each.
    pub fn go_on(&mut self) -> anyhow::Result<()> {
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

    /// Whether runs are given the hints: both sides or neither, so that nothing but what is compared tells them apart.
    fn takes_hints(&mut self) -> bool {
        let (a, b) = (&self.experiment.a.program, &self.experiment.b.program);
        *self.takes_hints.get_or_insert_with(|| takes_hints(a) && takes_hints(b))
    }

    /// One run; the reason why its pair is void when it came to nothing.
    fn run_half(&mut self, pair_idx: usize, name: SideName) -> anyhow::Result<Result<RunStatistics, VoidReason>> {
        let letter = match name {
            SideName::A => "a",
            SideName::B => "b",
        };
        let relative = format!("runs/{pair_idx:03}-{letter}");
        let folder = self.folder.join(&relative);
        let takes_hints = self.takes_hints();
        let side = match name {
            SideName::A => &self.experiment.a,
            SideName::B => &self.experiment.b,
        };
        let has_ever_run = side.settings != Default::default();
        let extra = if has_ever_run && takes_hints { later_arguments(side) } else { &[] };
        let command = || format!("`{} {}`", side.program.display(), side.arguments.join(" "));
        let run = match child::run(side, extra, &folder, self.interruption)? {
            RunEnd::Measured(run) => *run,
            RunEnd::Interrupted => return Ok(Err(VoidReason::Interrupted)),
            RunEnd::Failed(message) => {
                ensure!(has_ever_run, "{} failed: {message}", command());
                return Ok(Err(VoidReason::Failed { side: name, message }));
            }
        };
        if let Some(message) = run.void_reason {
            ensure!(has_ever_run, "{} measured the wrong work: {message}", command());
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
            self.keep_numbers(&folder, letter);
        }
        Ok(Ok(statistics))
    }

    /// Of a later run keeps the numbers alone. Every run draws the same picture: that of the side's first one is enough, and one that
    /// differs is said.
    fn keep_numbers(&mut self, folder: &Path, letter: &str) {
        let picture = |folder: &Path| fs::read(folder.join("final.png")).ok();
        let first = picture(&self.folder.join(format!("runs/000-{letter}")));
        if first.is_some() && picture(folder).is_some_and(|later| Some(later) != first) {
            let warning = format!("not every run of {} drew the same last picture", letter.to_uppercase());
            if !self.experiment.warnings.contains(&warning) {
                self.experiment.warnings.push(warning);
            }
        }
        for file in ["final.png", "report.html", "trace.json"] {
            // An older program has not written all of them.
            let _ = fs::remove_file(folder.join(file));
        }
    }

    /// Takes over what a side's first run says of itself, and what this machine is known to spread by.
    fn first_run_of(&mut self, name: SideName, run: &RunFile) {
        let takes_hints = self.takes_hints();
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
            if takes_hints {
                wait_alike(&mut experiment.a, run);
                wait_alike(&mut experiment.b, run);
            } else {
                experiment.warnings.push(NO_HINTS.to_owned());
            }
            (experiment.machine, experiment.adapter) = (run.machine.clone(), run.adapter.clone());
            experiment.date = run.date.clone();
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
