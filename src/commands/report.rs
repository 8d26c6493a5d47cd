//! `praxis report`: a run's table again, beside its Baseline and the Budgets; or a comparison's.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use praxis::measure::experiment::{Experiment, ExperimentState, Verdict};
use praxis::measure::{BudgetVerdict, DriftVerdict, RunFile, write_atomically};
use praxis::report::{ExperimentPage, ExperimentReport, Page, Report};

use super::bench::{EXPERIMENT_FILE, RUN_FILE};
use super::beside::Beside;
use super::{Outcome, page, places, terminal};
use crate::cli::ReportArgs;

/// Runs it.
pub fn run(args: &ReportArgs) -> anyhow::Result<Outcome> {
    let path = match &args.run {
        Some(reference) => run_file(reference)?,
        None => newest_run_file(&places::runs())?,
    };
    if path.file_name().is_some_and(|name| name == EXPERIMENT_FILE) {
        return show_experiment(args, &path);
    }
    let run = RunFile::read(&path)?;
    let beside = Beside::of(&run);
    let report = beside.report(&run);
    if let Some(html) = &args.html {
        write_page(&report, &path, html)?;
        terminal::note(false, &format!("wrote {}", html.display()));
    }
    if args.json {
        terminal::print_json(&report.to_json())?;
    } else {
        terminal::print(&report.to_text(terminal::has_colour()))?;
    }
    let outcome = if args.check { check(&report, &path)? } else { Outcome::Good };
    match (outcome, beside.into_fault()) {
        // What a check found is there whatever else it could have found.
        (Outcome::Good, Some(fault)) => Err(fault),
        (outcome, _) => Ok(outcome),
    }
}

/// A comparison; `--check` finds a line that regressed.
fn show_experiment(args: &ReportArgs, path: &Path) -> anyhow::Result<Outcome> {
    let experiment = Experiment::read(path)?;
    if let Some(html) = &args.html {
        let text = ExperimentPage { experiment: &experiment }.to_html();
        write_atomically(html, |file| file.write_all(text.as_bytes()))?;
        terminal::note(false, &format!("wrote {}", html.display()));
    }
    if args.json {
        terminal::print_json(&serde_json::to_value(&experiment)?)?;
    } else {
        terminal::print(&ExperimentReport::new(&experiment).to_text(terminal::has_colour()))?;
    }
    let has_regression = experiment.lines.iter().any(|line| line.verdict == Verdict::Regressed);
    match experiment.state {
        _ if !args.check => Ok(Outcome::Good),
        _ if experiment.n_valid_pairs() == 0 => {
            bail!("{} can't be checked: no pair counts; compare again", path.display())
        }
        _ if has_regression => Ok(Outcome::CheckFailed),
        ExperimentState::Unfinished => {
            bail!(
                "{} can't be checked: the comparison has not finished; `praxis bench --resume` goes on",
                path.display()
            )
        }
        _ => Ok(Outcome::Good),
    }
}

/// The page, with the pictures that lie beside the run file.
fn write_page(report: &Report, run_file: &Path, html: &Path) -> anyhow::Result<()> {
    let folder = run_file.parent().unwrap_or(Path::new("."));
    let goldens: Vec<String> = report.run.goldens.iter().map(|check| check.name.clone()).collect();
    let pictures = page::pictures_in(folder, &goldens);
    let text = Page { report, pictures: &pictures }.to_html();
    write_atomically(html, |file| file.write_all(text.as_bytes()))?;
    Ok(())
}

/// A run that says nothing about its Budgets is at fault, not good.
fn check(report: &Report, path: &Path) -> anyhow::Result<Outcome> {
    let (run, path) = (report.run, path.display());
    if run.void_reason.is_some() || report.has_breach() || report.has_suspect() {
        return Ok(Outcome::CheckFailed);
    }
    if !run.complete {
        bail!("{path} can't be checked: the run was interrupted; measure again");
    }
    let has_budget = report.budgets.iter().any(|outcome| outcome.verdict != BudgetVerdict::NotJudged);
    let has_judged =
        |drift: &praxis::measure::Drift| drift.lines.iter().any(|line| line.verdict != DriftVerdict::NotJudged);
    if !has_budget && !report.drift.as_ref().is_some_and(has_judged) {
        bail!("{path} can't be checked: it has no line with a Budget, and no Baseline that fits; measure again");
    }
    Ok(Outcome::Good)
}

/// The run file, or the experiment file, that a folder or a file stands for.
fn run_file(reference: &Path) -> anyhow::Result<PathBuf> {
    if !reference.is_dir() {
        return Ok(reference.to_owned());
    }
    let found = [RUN_FILE, EXPERIMENT_FILE].iter().map(|name| reference.join(name)).find(|path| path.exists());
    found.with_context(|| {
        format!("{} is no run folder: it has no {RUN_FILE}; `praxis bench` makes one", reference.display())
    })
}

/// The run file written last in any folder of `runs`.
fn newest_run_file(runs: &Path) -> anyhow::Result<PathBuf> {
    let none = || format!("there is no run in {}: name one, or measure with `praxis bench town`", runs.display());
    let entries = match std::fs::read_dir(runs) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(none()),
        entries => entries.with_context(|| format!("can't list {}", runs.display()))?,
    };
    let dated = entries.flatten().filter_map(|entry| {
        let path = entry.path().join(RUN_FILE);
        let written = path.metadata().ok()?.modified().ok()?;
        Some((written, path))
    });
    // Two of one moment: the name, which holds the time, decides.
    dated.max().map(|(_, path)| path).with_context(none)
}
