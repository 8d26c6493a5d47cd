//! Goldens: how far a picture may be from its golden, and whether it is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ExactDifference, FlipDifference, Picture, PictureError, exact_difference, flip_difference};

/// By which measure a picture is compared with its golden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoldenLane {
    /// Channel by channel: the same software rasterizer, of the same version, drew the golden.
    Software,
    /// FLIP: other hardware or another driver rounds otherwise, but should look the same.
    Flip,
}

/// How far a picture may be from its golden.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoldenThresholds {
    /// Software lane, and alpha in both: differences up to this, of 255, are none.
    pub max_channel_difference: u8,
    /// Software lane, and alpha in both: the part of all pixels that may differ by more.
    pub max_differing_fraction: f64,
    /// FLIP lane: the greatest mean error.
    pub flip_mean: f64,
    /// FLIP lane: the greatest 99th percentile.
    pub flip_p99: f64,
    /// FLIP lane: the greatest mean of a tile.
    pub flip_worst_tile: f64,
}

impl Default for GoldenThresholds {
    /// 1 of 255 but for 0.05% of pixels; FLIP 0.02 at the mean, 0.15 at the 99th percentile, 0.15 in the worst tile.
    /// Rounding alone, half of all channels off by 1 of 255 at random, reads 0.01 at the mean.
    fn default() -> Self {
        Self {
            max_channel_difference: 1,
            max_differing_fraction: 0.0005,
            flip_mean: 0.02,
            flip_p99: 0.15,
            flip_worst_tile: 0.15,
        }
    }
}

/// What a golden shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenView {
    /// The scene: a name, or a file's path from the folder that holds `goldens/`.
    pub scene: String,
    /// The scene's camera of this name.
    pub camera: String,
    /// Width and height.
    pub size_px: [u32; 2],
    /// The frame index.
    #[serde(default)]
    pub frame: u32,
    /// Samples per pixel: 1 or 4.
    #[serde(default = "four_samples")]
    pub msaa: u32,
}

fn four_samples() -> u32 {
    4
}

impl GoldenView {
    /// The fields of an entry that say what is shown; the others are thresholds.
    const FIELDS: [&str; 5] = ["scene", "camera", "size_px", "frame", "msaa"];

    fn fault(&self) -> Option<String> {
        let [width_px, height_px] = self.size_px;
        match self.msaa {
            _ if width_px == 0 || height_px == 0 => Some(format!("size_px is {width_px}×{height_px}; no side is 0")),
            1 | 4 => None,
            n_samples => Some(format!("msaa is {n_samples}; it is 1 or 4")),
        }
    }
}

/// `goldens/goldens.toml`: who drew the goldens, what each one shows, and its thresholds.
///
/// ```toml
/// software_driver = "Mesa 25.0.7 (LLVM 15.0.6)"
///
/// [default]
/// flip_mean = 0.02
///
/// [golden.town_street]
/// scene = "town"
/// camera = "street"
/// size_px = [480, 270]
/// frame = 0           # the default
/// msaa = 4            # the default
/// flip_mean = 0.03    # the rest as in [default]
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Goldens {
    /// The driver version of the software adapter that drew them, as the adapter says it; `None` when none did.
    pub software_driver: Option<String>,
    /// For goldens without an entry of their own.
    pub default: GoldenThresholds,
    /// The thresholds of goldens that have an entry, by name.
    pub by_name: BTreeMap<String, GoldenThresholds>,
    /// What the goldens show whose entry says so, by name.
    pub views: BTreeMap<String, GoldenView>,
}

/// A `goldens.toml` that can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct GoldensError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong and where.
    pub fault: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GoldensFile {
    software_driver: Option<String>,
    #[serde(default)]
    default: toml::Table,
    #[serde(default)]
    golden: BTreeMap<String, toml::Table>,
}

/// A fault of the file as a whole: where, and what.
fn place_and_fault(text: &str, error: &toml::de::Error) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return error.message().to_owned() };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {}", error.message())
}

impl Goldens {
    /// Reads the text of `goldens.toml`; `path` is for messages.
    ///
    /// # Errors
    /// [`GoldensError`] for what is no TOML, fields that aren't known, and thresholds out of their range.
    pub fn parse(text: &str, path: &Path) -> Result<Self, GoldensError> {
        let error = |fault: String| GoldensError { path: path.to_owned(), fault };
        let file: GoldensFile = toml::from_str(text).map_err(|source| error(place_and_fault(text, &source)))?;
        let thresholds = |name: &str, table: toml::Table| {
            let thresholds: GoldenThresholds =
                table.try_into().map_err(|source| error(format!("[{name}]: {}", source.message())))?;
            let fractions = [
                ("max_differing_fraction", thresholds.max_differing_fraction),
                ("flip_mean", thresholds.flip_mean),
                ("flip_p99", thresholds.flip_p99),
                ("flip_worst_tile", thresholds.flip_worst_tile),
            ];
            match fractions.iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
                Some((field, value)) => Err(error(format!("[{name}]: {field} is {value}; it goes from 0 to 1"))),
                None => Ok(thresholds),
            }
        };
        let view = |name: &str, table: toml::Table| {
            let view: GoldenView =
                table.try_into().map_err(|source| error(format!("[{name}]: {}", source.message())))?;
            view.fault().map_or(Ok(view), |fault| Err(error(format!("[{name}]: {fault}"))))
        };
        let (mut by_name, mut views) = (BTreeMap::new(), BTreeMap::new());
        for (name, own) in file.golden {
            let entry = format!("golden.{name}");
            let (shown, own): (toml::Table, toml::Table) =
                own.into_iter().partition(|(field, _)| GoldenView::FIELDS.contains(&field.as_str()));
            if !shown.is_empty() {
                views.insert(name.clone(), view(&entry, shown)?);
            }
            // What an entry doesn't say is as in [default].
            let mut table = file.default.clone();
            table.extend(own);
            by_name.insert(name, thresholds(&entry, table)?);
        }
        let default = thresholds("default", file.default)?;
        Ok(Self { software_driver: file.software_driver, default, by_name, views })
    }

    /// The text of `goldens.toml` with `software_driver` set to `driver` and all else, comments too, as it was: for when a
    /// software adapter draws the goldens anew.
    pub fn with_software_driver(text: &str, driver: &str) -> String {
        let entry = format!("software_driver = {}", toml::Value::from(driver));
        // Keys of the file itself come before its first table.
        let old =
            text.lines().take_while(|line| !line.trim_start().starts_with('[')).find(|line| is_driver_entry(line));
        match old {
            Some(old) => text.replacen(old, &entry, 1),
            None => format!("{entry}\n{text}"),
        }
    }

    /// The text of `goldens.toml` without its `software_driver`: for when hardware draws the goldens anew, whose pictures no
    /// software adapter can be held to channel by channel.
    pub fn without_software_driver(text: &str) -> String {
        let mut is_before_tables = true;
        let kept = text.split_inclusive('\n').filter(|line| {
            is_before_tables &= !line.trim_start().starts_with('[');
            !(is_before_tables && is_driver_entry(line))
        });
        kept.collect()
    }

    /// The thresholds of one golden.
    pub fn thresholds(&self, name: &str) -> GoldenThresholds {
        self.by_name.get(name).copied().unwrap_or(self.default)
    }

    /// The lane for an adapter: the software lane only where a software adapter has the very driver that drew the goldens.
    pub fn lane(&self, is_software_adapter: bool, driver_info: &str) -> GoldenLane {
        match &self.software_driver {
            Some(driver) if is_software_adapter && driver == driver_info => GoldenLane::Software,
            _ => GoldenLane::Flip,
        }
    }
}

fn is_driver_entry(line: &str) -> bool {
    line.split('=').next().is_some_and(|key| key.trim() == "software_driver")
}

/// One threshold that a picture exceeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Excess {
    /// What was measured, such as `FLIP mean`.
    pub what: String,
    /// What it reads.
    pub value: f64,
    /// What it may read at most.
    pub threshold: f64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {:.6}, at most {:.6} is allowed", self.what, self.value, self.threshold)
    }
}

/// The numbers of one comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PictureNumbers {
    /// Channel by channel; of it, the FLIP lane judges alpha only.
    pub exact: ExactDifference,
    /// As the eye sees it; `None` in the software lane.
    pub flip: Option<FlipDifference>,
}

/// A picture beside its golden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoldenComparison {
    /// How it was compared.
    pub lane: GoldenLane,
    /// What was measured.
    pub numbers: PictureNumbers,
    /// The thresholds that are exceeded; empty when the picture is as it should be.
    pub excesses: Vec<Excess>,
}

impl GoldenComparison {
    /// Whether the picture is as it should be.
    pub fn passes(&self) -> bool {
        self.excesses.is_empty()
    }

    /// Where the pictures differ: RGB bytes of their size.
    pub fn error_map_rgb(&self) -> &[u8] {
        self.numbers.flip.as_ref().map_or(&self.numbers.exact.error_map_rgb, |flip| &flip.error_map_rgb)
    }
}

/// A golden that a program held a picture of its own against, as a run file keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoldenCheck {
    /// The golden's name.
    pub name: String,
    /// What it shows.
    pub view: GoldenView,
    /// Whether the picture is as it should be.
    pub passes: bool,
    /// Why there could be no comparison, such as a golden of another size.
    #[serde(default)]
    pub fault: Option<String>,
    /// The comparison.
    #[serde(default)]
    pub comparison: Option<GoldenComparison>,
}

impl GoldenCheck {
    /// What is wrong, in a few words; `None` where nothing is.
    pub fn complaint(&self) -> Option<String> {
        if self.passes {
            return None;
        }
        let excesses = self.comparison.iter().flat_map(|comparison| &comparison.excesses).map(ToString::to_string);
        Some(self.fault.clone().unwrap_or_else(|| excesses.collect::<Vec<_>>().join("; ")))
    }
}

/// Compares a picture with its golden.
///
/// # Errors
/// [`PictureError::Size`] for pictures of different sizes: that is a failure, too.
pub fn compare_with_golden(
    golden: &Picture,
    actual: &Picture,
    lane: GoldenLane,
    thresholds: &GoldenThresholds,
) -> Result<GoldenComparison, PictureError> {
    let exact = exact_difference(golden, actual, thresholds.max_channel_difference)?;
    let alpha =
        ("part of pixels whose alpha differs", exact.alpha_differing_fraction(), thresholds.max_differing_fraction);
    let (flip, judged) = match lane {
        GoldenLane::Software => {
            let colour =
                ("part of pixels whose colour differs", exact.differing_fraction(), thresholds.max_differing_fraction);
            (None, vec![colour, alpha])
        }
        GoldenLane::Flip => {
            let flip = flip_difference(golden, actual)?;
            let judged = vec![
                ("FLIP mean", flip.mean, thresholds.flip_mean),
                ("FLIP 99th percentile", flip.p99, thresholds.flip_p99),
                ("FLIP mean of the worst tile", flip.worst_tile.mean, thresholds.flip_worst_tile),
                alpha,
            ];
            (Some(flip), judged)
        }
    };
    // A value that is no number is never within its threshold.
    let is_within = |value: f64, threshold: f64| value <= threshold;
    let excesses = judged
        .into_iter()
        .filter(|&(_, value, threshold)| !is_within(value, threshold))
        .map(|(what, value, threshold)| Excess { what: what.to_owned(), value, threshold })
        .collect();
    Ok(GoldenComparison { lane, numbers: PictureNumbers { exact, flip }, excesses })
}
