//! What a run depends on besides the code: build, machine, adapter, settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The program that measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// The program's version.
    pub version: String,
    /// The commit it was built from, where known.
    pub commit: Option<String>,
    /// Whether the working tree differed from that commit.
    pub dirty: Option<bool>,
    /// The cargo profile: `release`, `dev`.
    pub profile: String,
    /// The target triple or, where unknown, architecture and system.
    pub target: String,
    /// Cargo features that were on, sorted.
    pub features: Vec<String>,
}

/// Cores that share a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cluster {
    /// Logical core numbers, ascending; empty where only their count is known.
    pub cores: Vec<u32>,
    /// Logical cores in it.
    pub n_cores: u32,
    /// What they share: `L2`, `L3`.
    pub shares: String,
    /// The kind of core, where the system tells kinds apart: `Performance`, `Efficiency`.
    pub kind: Option<String>,
}

/// The machine that measured. What could not be read is `None` or empty: nothing is guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The CPU's model name; empty when unknown.
    pub cpu: String,
    /// Logical cores that this process may use.
    pub n_cores: u32,
    /// Logical cores of the machine.
    pub n_logical_cores: Option<u32>,
    /// Physical cores of the machine.
    pub n_physical_cores: Option<u32>,
    /// Cores grouped by the cache that they share below the last level, or by the last level where no other is shared.
    pub clusters: Vec<Cluster>,
    /// Size of a cache line.
    pub cache_line_bytes: Option<u32>,
    /// Main memory.
    pub memory_bytes: Option<u64>,
    /// The operating system and its version.
    pub os: String,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// The CPU frequency governor; all of them, joined by commas, when cores differ.
    pub governor: Option<String>,
    /// Whether the machine is known to be virtual.
    pub virtualized: Option<bool>,
}

/// The GPU, or what stands in for one, and its driver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Adapter {
    /// The adapter's name.
    pub name: String,
    /// The API: `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// `DiscreteGpu`, `IntegratedGpu`, `VirtualGpu`, `Cpu` or `Other`.
    pub device_type: String,
    /// The driver's name.
    pub driver: String,
    /// The driver's version.
    pub driver_info: String,
    /// PCI vendor.
    pub vendor: u32,
    /// PCI device.
    pub device: u32,
    /// Nanoseconds in one timestamp tick; `None` without timestamps.
    pub timestamp_period_ns: Option<f32>,
    /// Whether `submit` blocks until the submission before it is finished; `None` when nobody looked.
    pub submit_blocks: Option<bool>,
}

/// Every setting that could change a number, by name: `width_px`, `msaa`, `wait`, `seed` …
///
/// A map, not a struct, so that any program can keep its own settings, and comparing names each field that differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// Sets one; a later value replaces an earlier one.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// One setting's value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// All of them, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// A name for this machine and adapter that stays the same from run to run and can be a folder's name, such as
/// `llvmpipe-amd-epyc-2c`: made from the adapter's name, the CPU's model and the cores that the process may use.
pub fn machine_key(machine: &Machine, adapter: &Adapter) -> String {
    let part = |name: &str| {
        let slug = slug(&without_decoration(name));
        if slug.is_empty() { "unknown".to_owned() } else { slug }
    };
    format!("{}-{}-{}c", part(&adapter.name), part(&machine.cpu), machine.n_cores)
}

/// Drops what says nothing about which machine it is: brackets and what they hold ("(LLVM 15.0.6, 256 bits)", "(R)"), the
/// nominal clock ("@ 2.60GHz"), and words such as "CPU" and "64-Core Processor".
fn without_decoration(name: &str) -> String {
    let mut depth = 0usize;
    let outside = name.chars().map(|c| match c {
        '(' | '[' => {
            depth += 1;
            ' '
        }
        ')' | ']' => {
            depth = depth.saturating_sub(1);
            ' '
        }
        _ if depth > 0 => ' ',
        c => c,
    });
    let outside: String = outside.collect();
    let before_clock = outside.split('@').next().unwrap_or_default();
    let says_something = |word: &&str| {
        let word = word.to_ascii_lowercase();
        !matches!(word.as_str(), "cpu" | "processor") && !word.ends_with("-core")
    };
    before_clock.split_whitespace().filter(says_something).collect::<Vec<_>>().join(" ")
}

/// Lower-case letters, digits and single dashes: safe as a file's name everywhere. At most 48 characters.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() >= 48 {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}
