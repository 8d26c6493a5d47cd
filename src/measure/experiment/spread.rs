//! What a machine's self-test found: how much its runs spread, and how often a difference is found where there is none.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{CHAIN_GATE, Experiment, Pair, Plan, Verdict};
use crate::measure::statistics::robust_deviation;
use crate::measure::{
    Adapter, Build, Machine, RunFile, Settings, WriteError, baseline_path, json_fault, quantile::quantile_by,
    write_atomically,
};

/// The schema that this version writes and reads.
pub const SPREAD_SCHEMA: &str = "praxis.spread/1";
/// The share of A/A pairs that the clock gate lets pass.
const GATE_SHARE: f64 = 0.95;
/// A gate closer than this would void pairs over the grain of the clock that times the chain.
const CLOSEST_GATE: f64 = 0.01;

/// A self-test: `baselines/<machine>/<scene>.spread.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSpread {
    /// [`SPREAD_SCHEMA`].
    pub schema: String,
    /// The scene's name, as its runs gave it.
    pub scene: String,
    /// What measured.
    pub build: Build,
    /// What it was measured on.
    pub machine: Machine,
    /// What drew.
    pub adapter: Adapter,
    /// How each run was measured.
    pub settings: Settings,
    /// A/A experiments.
    pub n_experiments: u32,
    /// Pairs of all of them, the void ones left out.
    pub n_pairs: u32,
    /// Experiments in which any line was called different.
    pub n_false_alarms: u32,
    /// The standard deviation of ln(chain) from run to run, within a pair; `None` without chain readings.
    pub chain: Option<f64>,
    /// 95% of A/A pairs have chains that differ by less than this, |ln(B / A)|: the clock gate.
    pub chain_gate: f64,
    /// Each line by name.
    pub lines: BTreeMap<String, LineSpread>,
}

/// One line of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineSpread {
    /// The standard deviation of ln(median) from run to run, within a pair: 0.01 is 1%.
    pub spread: f64,
    /// Experiments that judged the line.
    pub n_judged: u32,
    /// Those that called it different.
    pub n_false_alarms: u32,
}

/// A self-test's file that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SpreadError {
    /// It can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is not what a self-test writes.
    #[error("{} is no self-test of this version: {fault}; measure it again with `praxis bench SCENE --self-test 20`", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: String,
    },
}

impl MachineSpread {
    /// What finished A/A `experiments`, judged, say together; `scene` is as their runs give it. `None` when none has a pair that counts.
    pub fn of(scene: &str, experiments: &[Experiment]) -> Option<Self> {
        let first = experiments.iter().find(|experiment| experiment.n_valid_pairs() > 0)?;
        let is_different = |verdict: Verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        let mut lines: BTreeMap<String, LineSpread> = BTreeMap::new();
        let mut differences: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut chains = Vec::new();
        for experiment in experiments {
            // Voided by the clock or not: how far chains differ is the question.
            chains.extend(experiment.pairs.iter().filter_map(Pair::chain_log_ratio));
            for line in &experiment.lines {
                let entry = lines.entry(line.name.clone()).or_insert(LineSpread {
                    spread: 0.0,
                    n_judged: 0,
                    n_false_alarms: 0,
                });
                entry.n_judged += u32::from(line.verdict != Verdict::NotJudged);
                entry.n_false_alarms += u32::from(is_different(line.verdict));
            }
            for (a, b) in experiment.pairs.iter().filter_map(Pair::halves) {
                for (name, a) in &a.lines {
                    if let Some(b) = b.lines.get(name).filter(|b| b.median > 0.0 && a.median > 0.0) {
                        differences.entry(name.clone()).or_default().push((b.median / a.median).ln());
                    }
                }
            }
        }
        for (name, line) in &mut lines {
            let deviation = differences.get(name).and_then(|differences| robust_deviation(differences));
            line.spread = deviation.unwrap_or(0.0) / std::f64::consts::SQRT_2;
        }
        let mut distances: Vec<f64> = chains.iter().map(|chain: &f64| chain.abs()).collect();
        distances.sort_unstable_by(f64::total_cmp);
        let gate = quantile_by(distances.len(), GATE_SHARE, |idx| distances[idx]).unwrap_or(CHAIN_GATE);
        let has_alarm = |experiment: &&Experiment| experiment.lines.iter().any(|line| is_different(line.verdict));
        Some(Self {
            schema: SPREAD_SCHEMA.to_owned(),
            scene: scene.to_owned(),
            build: first.a.build.clone(),
            machine: first.machine.clone(),
            adapter: first.adapter.clone(),
            settings: first.a.settings.clone(),
            n_experiments: experiments.len() as u32,
            n_pairs: experiments.iter().map(Experiment::n_valid_pairs).sum::<usize>() as u32,
            n_false_alarms: experiments.iter().filter(has_alarm).count() as u32,
            chain: robust_deviation(&chains).map(|spread| spread / std::f64::consts::SQRT_2),
            chain_gate: gate.max(CLOSEST_GATE),
            lines,
        })
    }

    /// Where the self-test of the machine and scene of `run` lies below `root`: beside the Baseline.
    pub fn path(root: &Path, run: &RunFile) -> PathBuf {
        baseline_path(root, run).with_extension("spread.json")
    }

    /// The self-test of the machine and scene of `run` below `root`; `None` where there is none.
    ///
    /// # Errors
    /// [`SpreadError`] for one that is there and can't be used.
    pub fn read_for(root: &Path, run: &RunFile) -> Result<Option<Self>, SpreadError> {
        let path = Self::path(root, run);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SpreadError::Read { path, source }),
        };
        let spread: Self = match serde_json::from_slice(&text) {
            Ok(spread) => spread,
            Err(error) => return Err(SpreadError::Malformed { path, fault: json_fault::describe(&error) }),
        };
        match spread.fault() {
            None => Ok(Some(spread)),
            Some(fault) => Err(SpreadError::Malformed { path, fault }),
        }
    }

    /// Writes the file whole or not at all.
    ///
    /// # Errors
    /// [`WriteError`] with the fault.
    pub fn write(&self, path: &Path) -> Result<(), WriteError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| WriteError { path: folder.to_owned(), source })?;
        }
        write_atomically(path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }

    /// The first setting in which `run` was measured otherwise, so that its lines may spread otherwise; `None` when there is none.
    ///
    /// What is compared on purpose, such as the wait, may differ: only the work's size counts.
    pub fn unlike(&self, run: &RunFile) -> Option<&'static str> {
        const THAT_COUNT: [&str; 5] = ["width_px", "height_px", "msaa", "frames", "warmup"];
        THAT_COUNT.into_iter().find(|name| self.settings.get(name) != run.settings.get(name))
    }

    fn fault(&self) -> Option<String> {
        if self.schema != SPREAD_SCHEMA {
            return Some(format!("its schema is {}", self.schema));
        }
        let is_spread = |value: f64| value.is_finite() && value >= 0.0;
        let is_sound = is_spread(self.chain_gate) && self.lines.values().all(|line| is_spread(line.spread));
        (!is_sound).then(|| "a spread is no number".to_owned())
    }
}

impl Plan {
    /// Takes the machine's spread for the least margins and for the clock gate.
    pub fn use_spread(&mut self, spread: &MachineSpread) {
        let wider = spread.lines.iter().filter(|(_, line)| line.spread > self.margin);
        self.margins = wider.map(|(name, line)| (name.clone(), line.spread)).collect();
        self.chain_gate = spread.chain_gate;
        let plural = if spread.n_experiments == 1 { "" } else { "s" };
        self.spread_from = Some(format!("a self-test of {} experiment{plural}", spread.n_experiments));
    }
}
