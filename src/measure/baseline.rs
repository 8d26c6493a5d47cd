//! Baselines: recorded runs, one for each machine and scene.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{RunFile, RunFileError, WriteError, compare::mismatches, environment::slug};

/// Recordings that a Baseline keeps.
pub const MOST_RECORDS: usize = 10;

/// One recording of a Baseline, in its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineRecord {
    /// When it was measured, where known: RFC 3339, UTC.
    #[serde(default)]
    pub date: Option<String>,
    /// The commit that measured, where known.
    #[serde(default)]
    pub commit: Option<String>,
    /// The median of each line, in the line's unit.
    pub medians: BTreeMap<String, f64>,
}

impl BaselineRecord {
    /// What is kept of a run.
    pub fn of(run: &RunFile) -> Self {
        Self {
            date: run.date.clone(),
            commit: run.build.commit.clone(),
            medians: run.lines.iter().map(|(name, line)| (name.clone(), line.summary.median)).collect(),
        }
    }
}

/// The recordings of a Baseline, oldest first, itself the last. One that was recorded before there was a history has one.
pub fn baseline_records(baseline: &RunFile) -> Vec<BaselineRecord> {
    match baseline.history.is_empty() {
        true => vec![BaselineRecord::of(baseline)],
        false => baseline.history.clone(),
    }
}

/// `<root>/<machine>/<scene>.json`, for the machine and scene of `run`; see [`machine_key`](super::machine_key).
pub fn baseline_path(root: &Path, run: &RunFile) -> PathBuf {
    // A scene may be a path; what its file is called is name enough.
    let scene = Path::new(&run.scene).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let scene = slug(&scene);
    let scene = if scene.is_empty() { "scene" } else { &scene };
    root.join(run.machine_key()).join(format!("{scene}.json"))
}

/// The Baseline below `root` for the machine and scene of `run`; `None` where none is recorded.
///
/// # Errors
/// [`RunFileError`] for one that is there and can't be used.
pub fn read_baseline(root: &Path, run: &RunFile) -> Result<Option<RunFile>, RunFileError> {
    match RunFile::read(&baseline_path(root, run)) {
        Ok(baseline) => Ok(Some(baseline)),
        Err(RunFileError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A run that can't be recorded as a Baseline.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// It did not reach its end.
    #[error("an interrupted run of `{scene}` is no Baseline: let it run to its end")]
    Incomplete {
        /// The run's scene.
        scene: String,
    },
    /// Its timings are void.
    #[error("a void run of `{scene}` is no Baseline: {reason}")]
    Void {
        /// The run's scene.
        scene: String,
        /// Why they are.
        reason: String,
    },
    /// It measured nothing.
    #[error("a run of `{scene}` without any line is no Baseline: measure at least one frame")]
    Empty {
        /// The run's scene.
        scene: String,
    },
    /// The file can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Records `run`, without the value of each frame, as the Baseline of its machine and scene below `root`; gives the file.
///
/// The [`MOST_RECORDS`] last medians of each line stay in its history, as long as they were measured on the same machine,
/// adapter and driver with the same settings: others would say nothing about a creep, and the history begins anew.
///
/// # Errors
/// [`RecordError`]: the run is interrupted, void or empty, or the file can't be written. An older Baseline then stays.
pub fn record_baseline(root: &Path, run: &RunFile) -> Result<PathBuf, RecordError> {
    let scene = || run.scene.clone();
    if let Some(reason) = &run.void_reason {
        return Err(RecordError::Void { scene: scene(), reason: reason.clone() });
    }
    if !run.complete {
        return Err(RecordError::Incomplete { scene: scene() });
    }
    if run.lines.is_empty() {
        return Err(RecordError::Empty { scene: scene() });
    }
    let path = baseline_path(root, run);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| WriteError { path: folder.to_owned(), source })?;
    }
    let mut baseline = run.clone().without_samples();
    // One that can't be read is replaced: its history is lost already.
    let older = read_baseline(root, run).ok().flatten();
    let comparable = older.filter(|older| !mismatches(run, older).iter().any(|mismatch| mismatch.prevents_judging()));
    baseline.history = comparable.as_ref().map(baseline_records).unwrap_or_default();
    baseline.history.push(BaselineRecord::of(run));
    let n_surplus = baseline.history.len().saturating_sub(MOST_RECORDS);
    baseline.history.drain(..n_surplus);
    baseline.write(&path)?;
    Ok(path)
}
