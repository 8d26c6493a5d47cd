//! The experiment file: what was compared, every pair, and what came of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LineResult, Pair, Plan};
use crate::measure::{
    Adapter, Build, Machine, Settings, WriteError, json_fault, json_layout::SamplesOnOneLine, write_atomically,
};

/// The schema that this version writes and reads.
pub const EXPERIMENT_SCHEMA: &str = "praxis.experiment/1";

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentKind {
    /// Two programs with the same flags.
    Vs,
    /// One program with two values of a flag.
    Ab,
    /// One program with itself (A/A): whatever differs is the machine.
    SelfTest,
}

/// How far an experiment has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentState {
    /// Pairs are missing: it runs, or was interrupted, and can go on.
    Unfinished,
    /// It stopped because every gated line was decided.
    Decided,
    /// It made all the pairs it may, and some gated line is undecided.
    Exhausted,
}

/// One of the two things compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// What a reader calls it: `wait=block`, a program's path.
    pub label: String,
    /// The program that ran.
    pub program: PathBuf,
    /// Its arguments, but for the run folder.
    pub arguments: Vec<String>,
    /// What the first run said of its build.
    pub build: Build,
    /// What the first run said of its settings.
    pub settings: Settings,
}

/// An experiment: `experiment.json`. The runs that it is made of lie in folders beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// [`EXPERIMENT_SCHEMA`].
    pub schema: String,
    /// The scene's name, as it was given.
    pub scene: String,
    /// When the first run's measured frames began, where known: RFC 3339, UTC.
    #[serde(default)]
    pub date: Option<String>,
    /// What is compared with what.
    pub kind: ExperimentKind,
    /// How far it has come.
    pub state: ExperimentState,
    /// The side that ratios are relative to: what was there before.
    pub a: Side,
    /// The side in question.
    pub b: Side,
    /// What the first run said of the machine.
    #[serde(default)]
    pub machine: Machine,
    /// What the first run said of the adapter.
    #[serde(default)]
    pub adapter: Adapter,
    /// By which rules lines are judged.
    pub plan: Plan,
    /// Every pair in the order in which they ran, the void ones too.
    pub pairs: Vec<Pair>,
    /// The result for each line, gated ones first. Made from `plan` and `pairs` alone.
    #[serde(default)]
    pub lines: Vec<LineResult>,
    /// What the clock did. Made from `plan` and `pairs` alone.
    #[serde(default)]
    pub clock: Clock,
    /// What a reader of the numbers should know.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// What the clock chain says about an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// The chain's time with B over that with A, as the median of the pairs; `None` without chain readings.
    pub ratio: Option<f64>,
    /// Pairs that are void because their chains differ too much.
    pub n_void: u64,
    /// Whether so many pairs were beyond the gate that the change itself must move the clock; then the gate is off, and
    /// CPU lines are also given at one clock.
    pub is_moved: bool,
}

/// An experiment file that can't be used. Each message names the file, the fault and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The file can't be read.
    #[error("can't read the experiment file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file is no JSON, or not the JSON of an experiment.
    #[error("{} is no experiment file: {fault}; restore it, or compare again into another folder", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        fault: String,
    },
    /// The file has another schema, or none.
    #[error("the experiment file {} has schema {found}, but this version reads \"{EXPERIMENT_SCHEMA}\": compare again with this version", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema that it has.
        found: String,
    },
    /// The file contradicts itself.
    #[error("the experiment file {} contradicts itself: {fault}", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What doesn't fit.
        fault: String,
    },
}

impl Experiment {
    /// The result for the line called `name`.
    pub fn line(&self, name: &str) -> Option<&LineResult> {
        self.lines.iter().find(|line| line.name == name)
    }

    /// Pairs that count.
    pub fn n_valid_pairs(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.void.is_none()).count()
    }

    /// Reads an experiment file.
    ///
    /// # Errors
    /// [`ExperimentError`]: unreadable, not JSON, another schema, or contradicting itself.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let fault = |source| ExperimentError::Read { path: path.to_owned(), source };
        // A pipe or a device may never end.
        if !fs::metadata(path).map_err(fault)?.is_file() {
            return Err(fault(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")));
        }
        Self::parse(&fs::read(path).map_err(fault)?, path)
    }

    /// Reads an experiment from the bytes of its file; `path` is for messages.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for reading.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, ExperimentError> {
        let malformed = |error: serde_json::Error| ExperimentError::Malformed {
            path: path.to_owned(),
            fault: json_fault::describe(&error),
        };
        // The schema comes first: a file of another one may fail in ways that say nothing.
        let SchemaOnly { schema } = serde_json::from_slice(text).map_err(malformed)?;
        if schema.as_ref().and_then(Value::as_str) != Some(EXPERIMENT_SCHEMA) {
            let found = schema.map_or_else(|| "none".to_owned(), |schema| schema.to_string());
            return Err(ExperimentError::Schema { path: path.to_owned(), found });
        }
        let mut experiment: Self = serde_json::from_slice(text).map_err(malformed)?;
        experiment.add_absolute();
        match experiment.contradiction() {
            Some(fault) => Err(ExperimentError::Inconsistent { path: path.to_owned(), fault }),
            None => Ok(experiment),
        }
    }

    /// Writes the experiment file whole or not at all.
    ///
    /// # Errors
    /// [`WriteError`] with the fault; nothing is left behind.
    pub fn write(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |file| {
            let mut serializer = serde_json::Serializer::with_formatter(&mut *file, SamplesOnOneLine::default());
            self.serialize(&mut serializer)?;
            writeln!(file)
        })
    }

    fn contradiction(&self) -> Option<String> {
        if let Some(fault) = self.plan.fault() {
            return Some(fault);
        }
        let half = |pair: &&Pair| pair.void.is_none() && (pair.a.is_none() || pair.b.is_none());
        self.pairs
            .iter()
            .position(|pair| half(&pair))
            .map(|pair_idx| format!("pair {} is not void, but half of it is missing", pair_idx + 1))
    }
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema: Option<Value>,
}
