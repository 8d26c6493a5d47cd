//! What a probe found: tables, charts and sentences, without a word on how they are shown.

use serde::Serialize;

use super::spread::Spread;
use crate::measure::{Adapter, Machine, Settings};

/// The schema of a probe's JSON.
pub const PROBE_SCHEMA: &str = "praxis.probe/1";

/// Whether a probe ran to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It did.
    #[default]
    Complete,
    /// Stopped from outside, as by Ctrl-C; what was measured until then is here.
    Interrupted,
    /// A fault, in one line; what was measured until then is here.
    Failed(String),
}

/// A probe's result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProbeReport {
    /// [`PROBE_SCHEMA`].
    pub schema: &'static str,
    /// The probe's name.
    pub probe: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// Whether it ran to its end.
    pub ended: Ended,
    /// Why the thing asked about can't be had on this machine, where that is what was found.
    pub unavailable: Option<String>,
    /// What measured.
    pub machine: Machine,
    /// The adapter, where one took part.
    pub adapter: Option<Adapter>,
    /// Everything that could change a number.
    pub settings: Settings,
    /// What follows from the numbers.
    pub findings: Vec<String>,
    /// What the numbers can't support.
    pub cautions: Vec<String>,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The samples behind them, in a few numbers each.
    pub series: Vec<Series>,
    /// What is drawn.
    #[serde(skip)]
    pub charts: Vec<Chart>,
}

impl ProbeReport {
    /// An empty one.
    pub fn new(probe: &'static str, question: &'static str) -> Self {
        Self { schema: PROBE_SCHEMA, probe, question, ..Self::default() }
    }

    /// Adds the samples of one thing, and says so where they were disturbed.
    pub fn add_series(&mut self, name: impl Into<String>, spread: Spread, round_medians: Vec<f64>) {
        self.series.push(Series { name: name.into(), unit: "ns", spread, round_medians });
    }

    /// Says of which of `names` one sample in twenty took more than three times the median.
    pub fn caution_disturbed(&mut self) {
        let disturbed: Vec<&str> = self
            .series
            .iter()
            .filter(|series| series.spread.is_disturbed())
            .map(|series| series.name.as_str())
            .collect();
        if !disturbed.is_empty() {
            self.cautions.push(format!(
                "the machine did something else meanwhile: one sample in twenty took more than three times the median in {}",
                disturbed.join("; ")
            ));
        }
    }
}

/// Samples of one thing.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// What was timed.
    pub name: String,
    /// Of all numbers here.
    pub unit: &'static str,
    /// All rounds together.
    pub spread: Spread,
    /// Each round's median, in order.
    pub round_medians: Vec<f64>,
}

/// Rows of numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The first holds the rows' names.
    pub columns: Vec<Column>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// The unit of its numbers; empty for text and plain numbers.
    pub unit: &'static str,
    /// Digits after the point, when shown.
    #[serde(skip)]
    pub n_decimals: usize,
}

impl Column {
    /// Of words.
    pub fn text(name: &str) -> Self {
        Self::number(name, "", 0)
    }

    /// Of numbers.
    pub fn number(name: &str, unit: &'static str, n_decimals: usize) -> Self {
        Self { name: name.to_owned(), unit, n_decimals }
    }

    /// Of µs.
    pub fn us(name: &str) -> Self {
        Self::number(name, "µs", 2)
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Nothing was measured.
    Absent,
    /// In the column's unit.
    Number(f64),
    /// Words.
    Text(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl Cell {
    /// µs, from ns.
    pub fn us(ns: f64) -> Self {
        Self::Number(ns / 1e3)
    }

    /// min, median, p95 and p99 in µs; four absent cells for `None`.
    pub fn spread_us(spread: Option<&Spread>) -> [Self; 4] {
        let cell = |of: fn(&Spread) -> f64| spread.map(|spread| of(spread) / 1e3).into();
        [cell(|s| s.min), cell(|s| s.median), cell(|s| s.p95), cell(|s| s.p99)]
    }
}

/// Heads for [`Cell::spread_us`].
pub fn spread_columns() -> [Column; 4] {
    ["min", "median", "p95", "p99"].map(Column::us)
}

/// What is drawn beside the tables.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The unit of its values.
    pub unit: &'static str,
    /// Its marks.
    pub marks: Marks,
}

/// A chart's marks.
#[derive(Clone, Debug)]
pub enum Marks {
    /// A bar to the median for each name, with a whisker from the quartile below to the 95th percentile.
    Bars(Vec<Bar>),
    /// A line for each name, over x.
    Lines {
        /// What x is.
        x_name: &'static str,
        /// Names with their points.
        lines: Vec<(String, Vec<(f64, f64)>)>,
    },
}

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Where the whisker begins.
    pub low: f64,
    /// Where the bar ends.
    pub middle: f64,
    /// Where the whisker ends.
    pub high: f64,
}

impl Bar {
    /// In µs.
    pub fn us(name: impl Into<String>, spread: &Spread) -> Self {
        Self { name: name.into(), low: spread.p25 / 1e3, middle: spread.median / 1e3, high: spread.p95 / 1e3 }
    }
}
