//! The run file: everything one run measured, and what it was measured on.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Adapter, BadTimestamps, BaselineRecord, Build, FrameLog, Machine, Settings, Summary, Unit, WriteError, json_fault,
    json_layout::SamplesOnOneLine, machine_key, names::LineKind, picture::GoldenCheck, write_atomically,
};

/// The schema that this version writes and reads.
pub const RUN_SCHEMA: &str = "praxis.run/1";

/// One line of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    /// What the values count.
    pub unit: Unit,
    /// The line in six numbers.
    #[serde(flatten)]
    pub summary: Summary,
    /// The value of each frame, `None` where there was none; empty in a Baseline, which keeps the summary alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Option<u64>>,
}

/// What was counted over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Frames that started on each core.
    pub cores: BTreeMap<u32, u64>,
    /// Frames that started on another core than the frame before.
    pub migrations: u64,
    /// Frames that missed their deadline.
    pub missed: u64,
    /// GPU timestamps that can't be times; they are in no line.
    pub timestamps_bad: u64,
    /// The same by fault.
    pub timestamp_faults: BadTimestamps,
    /// What the processor counted of the main thread over the measured frames; `None` where it can't be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main_thread: Option<ThreadCounts>,
    /// Rays, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rays: Option<RayTotals>,
}

/// What the processor counted of one thread. The kernel's work for it is not in cycles and instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadCounts {
    /// Core cycles.
    pub cycles: Option<u64>,
    /// Instructions that were retired.
    pub instructions: Option<u64>,
    /// Time on a core, in ns.
    pub task_clock_ns: Option<u64>,
}

/// The rays towards the sun of some of a run's frames, which were drawn again to count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RayTotals {
    /// Frames that were counted; all that follows is of all of them.
    pub n_frames: u64,
    /// Pixels.
    pub n_px: u64,
    /// First rays: one for each surface of a pixel that the sun could light.
    pub n_surface_rays: u64,
    /// Pixels that got edge rays.
    pub n_edge_px: u64,
    /// Edge rays.
    pub n_edge_rays: u64,
    /// Of both kinds, those that the column map found to pass everything that stands still.
    pub n_passing_still: u64,
    /// Of both kinds, those that the column map found to be blocked.
    pub n_foreseen_blocked: u64,
    /// Of both kinds, those of which nothing was left to trace.
    pub n_untraced: u64,
    /// What the sun pass took for those frames when they were timed, in nanoseconds; `None` without timestamps.
    pub gpu_sun_ns: Option<u64>,
}

impl RayTotals {
    /// Rays in a second of the sun pass, everything else in it included.
    pub fn rays_per_second(&self) -> Option<f64> {
        let n_rays = (self.n_surface_rays + self.n_edge_rays) as f64;
        self.gpu_sun_ns.filter(|&ns| ns > 0).map(|ns| n_rays / (ns as f64 * 1e-9))
    }
}

/// A run: `run.json`, and as a Baseline `baselines/<machine>/<scene>.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`RUN_SCHEMA`].
    pub schema: String,
    /// The scene's name.
    pub scene: String,
    /// When it was measured: RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Whether the run reached its end; an interrupted one keeps what it had.
    pub complete: bool,
    /// Frames measured, warm-up not counted.
    #[serde(default)]
    pub n_frames: u64,
    /// Why the timings are void, such as a final frame that fails its golden: the wrong work was measured.
    #[serde(default, rename = "void")]
    pub void_reason: Option<String>,
    /// What measured.
    #[serde(default)]
    pub build: Build,
    /// What it was measured on.
    #[serde(default)]
    pub machine: Machine,
    /// What drew.
    #[serde(default)]
    pub adapter: Adapter,
    /// How it was measured.
    #[serde(default)]
    pub settings: Settings,
    /// What loading the scene cost, by name, in the unit that the name ends with: measured, so no setting.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub load: BTreeMap<String, u64>,
    /// What the process used while the frames were measured, by name, in the unit that the name ends with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<String, u64>,
    /// Every line by name.
    pub lines: BTreeMap<String, RunLine>,
    /// What was counted.
    #[serde(default)]
    pub counts: Counts,
    /// The aliasing measures, where they were taken: [`aliasing::Aliasing`](super::aliasing::Aliasing), or a program's own.
    #[serde(default)]
    pub aliasing: Option<Value>,
    /// The goldens that this very program, scene and renderer were held against after the timed frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goldens: Vec<GoldenCheck>,
    /// What a reader of the numbers should know.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Of a Baseline: the recordings of the same machine and settings, oldest first, itself the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<BaselineRecord>,
}

/// A run file that can't be used. Each message names the file, the fault and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// The file can't be read.
    #[error("can't read the run file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file ends too early.
    #[error("the run file {} is cut off: measure again, or restore it", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// The file is no JSON, or not the JSON of a run.
    #[error("{} is no run file: {fault}; measure again, or restore it", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        fault: String,
    },
    /// The file has another schema, or none.
    #[error("the run file {} has schema {found}, but this version reads \"{RUN_SCHEMA}\": measure again with this version", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema that it has.
        found: String,
    },
    /// The file contradicts itself.
    #[error("the run file {} contradicts itself: {fault}", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What doesn't fit.
        fault: String,
    },
}

/// A line that a run doesn't have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run of `{scene}` has no line `{name}`; it has {known}")]
pub struct MissingLine {
    /// The run's scene.
    pub scene: String,
    /// The line that was asked for.
    pub name: String,
    /// The lines that there are.
    pub known: String,
}

impl RunFile {
    /// A run of `scene` from what was recorded; complete, without environment, warnings or aliasing, which the caller sets.
    ///
    /// A line that has no value in any frame is left out, and a warning names it.
    pub fn from_log(scene: &str, log: &FrameLog) -> Self {
        let mut run = Self {
            schema: RUN_SCHEMA.to_owned(),
            scene: scene.to_owned(),
            date: None,
            complete: true,
            n_frames: log.n_frames() as u64,
            void_reason: None,
            build: Build::default(),
            machine: Machine::default(),
            adapter: Adapter::default(),
            settings: Settings::default(),
            load: BTreeMap::new(),
            usage: BTreeMap::new(),
            lines: BTreeMap::new(),
            counts: Counts::default(),
            aliasing: None,
            goldens: Vec::new(),
            warnings: Vec::new(),
            history: Vec::new(),
        };
        for line in log.lines() {
            match Summary::of(line.samples().flatten()) {
                Some(summary) => {
                    let run_line = RunLine { unit: line.unit, summary, samples: line.samples().collect() };
                    run.lines.insert(line.name.clone(), run_line);
                }
                None => run.warnings.push(format!("line {} has no value in any frame", line.name)),
            }
        }
        let mut previous = None;
        for core in log.cores() {
            if let Some(core) = core {
                *run.counts.cores.entry(core).or_default() += 1;
                run.counts.migrations += u64::from(previous.is_some_and(|previous| previous != core));
            }
            previous = core.or(previous);
        }
        run
    }

    /// Takes over how many timestamps were bad.
    pub fn set_bad_timestamps(&mut self, faults: BadTimestamps) {
        self.counts.timestamps_bad = faults.total();
        self.counts.timestamp_faults = faults;
    }

    /// The line called `name`.
    ///
    /// # Errors
    /// [`MissingLine`], which lists the lines that there are.
    pub fn line(&self, name: &str) -> Result<&RunLine, MissingLine> {
        self.lines.get(name).ok_or_else(|| MissingLine {
            scene: self.scene.clone(),
            name: name.to_owned(),
            known: self.lines.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })
    }

    /// Whether the GPU's time is in it: adapters without timestamps give CPU lines only.
    pub fn has_gpu_times(&self) -> bool {
        self.lines.keys().any(|name| LineKind::of(name).is_gpu(name))
    }

    /// The name of the machine and adapter that measured; see [`machine_key`].
    pub fn machine_key(&self) -> String {
        machine_key(&self.machine, &self.adapter)
    }

    /// The same run without the value of each frame: what a Baseline keeps, small enough for a repository.
    #[must_use]
    pub fn without_samples(mut self) -> Self {
        for line in self.lines.values_mut() {
            line.samples = Vec::new();
        }
        self
    }

    /// Reads a run file and checks that it is whole.
    ///
    /// # Errors
    /// [`RunFileError`]: unreadable, cut off, not JSON, another schema, or contradicting itself.
    pub fn read(path: &Path) -> Result<Self, RunFileError> {
        let fault = |source| RunFileError::Read { path: path.to_owned(), source };
        // A pipe or a device may never end.
        if !fs::metadata(path).map_err(fault)?.is_file() {
            return Err(fault(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")));
        }
        let text = fs::read(path).map_err(fault)?;
        Self::parse(&text, path)
    }

    /// Reads a run from the bytes of its file; `path` is for messages.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for reading.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, RunFileError> {
        let path = || path.to_owned();
        let malformed = |source: serde_json::Error| match source.classify() {
            serde_json::error::Category::Eof => RunFileError::Truncated { path: path() },
            _ => RunFileError::Malformed { path: path(), fault: json_fault::describe(&source) },
        };
        // The schema comes first: a file of another one may fail in ways that say nothing.
        let schema: SchemaOnly = serde_json::from_slice(text).map_err(malformed)?;
        match schema.schema {
            Some(schema) if schema == RUN_SCHEMA => {}
            found => {
                let found = found.map_or_else(|| "none".to_owned(), |schema| schema.to_string());
                return Err(RunFileError::Schema { path: path(), found });
            }
        }
        let run: Self = serde_json::from_slice(text).map_err(malformed)?;
        match run.contradiction() {
            Some(fault) => Err(RunFileError::Inconsistent { path: path(), fault }),
            None => Ok(run),
        }
    }

    /// Writes the run file whole or not at all.
    ///
    /// # Errors
    /// [`WriteError`] with the fault; nothing is left behind.
    pub fn write(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |file| self.write_to(file))
    }

    /// Writes the run file's text.
    ///
    /// # Errors
    /// What the writer returns.
    pub fn write_to(&self, writer: &mut dyn io::Write) -> io::Result<()> {
        let mut serializer = serde_json::Serializer::with_formatter(&mut *writer, SamplesOnOneLine::default());
        self.serialize(&mut serializer)?;
        writeln!(writer)
    }

    fn contradiction(&self) -> Option<String> {
        for (name, line) in &self.lines {
            let n_values = line.samples.iter().flatten().count() as u64;
            if line.samples.is_empty() {
                continue;
            }
            if line.samples.len() as u64 != self.n_frames {
                return Some(format!("line {name} has {} samples for {} frames", line.samples.len(), self.n_frames));
            }
            if n_values != line.summary.n {
                return Some(format!("line {name} has {n_values} values, its n says {}", line.summary.n));
            }
        }
        None
    }
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema: Option<Value>,
}
