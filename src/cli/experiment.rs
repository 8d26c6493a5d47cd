//! The arguments of `bench` that make it compare instead of measure once.

use std::path::PathBuf;

use clap::Args;

/// Comparing by interleaved pairs of runs; the flags of `bench` are those of each run.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comparing")]
pub struct ExperimentArgs {
    /// Compare with another praxis program, which is side A: runs both in random order, pair by pair
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["ab", "self_test"])]
    pub vs: Option<PathBuf>,
    /// Compare two values of any flag of bench, such as wait=block,spin; on and off for a flag without a value
    #[arg(long, value_name = "FLAG=A,B", conflicts_with = "self_test")]
    pub ab: Option<String>,
    /// Compare the program with itself this many times: how often is a difference found where there is none?
    #[arg(long, value_name = "EXPERIMENTS", value_parser = super::whole_number(1..=100_000))]
    pub self_test: Option<u32>,
    /// Pairs that count, at most [default: 30]
    #[arg(long, value_parser = super::whole_number(1..=10_000))]
    pub pairs: Option<u32>,
    /// Difference in percent up to which a line is the same [default: 2, or the machine's spread where that is more]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub margin: Option<f64>,
    /// Difference in percent between the clock chains of a pair's runs beyond which the pair is void [default: what the self-test
    /// found, or 5]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub clock_gate: Option<f64>,
    /// Seeds the order of the runs [default: drawn]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Go on with the interrupted comparison in this folder, or show a finished one again
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scene", "out", "vs", "ab", "self_test", "pairs", "margin", "clock_gate", "seed"])]
    pub resume: Option<PathBuf>,
}

impl ExperimentArgs {
    /// The arguments by their ids: what belongs to the comparison and is not passed on to its runs.
    pub const IDS: [&str; 8] = ["vs", "ab", "self_test", "pairs", "margin", "clock_gate", "seed", "resume"];

    /// A flag that was given and says something of comparisons only.
    pub fn only_comparing(&self) -> Option<&'static str> {
        let given = [
            ("pairs", self.pairs.is_some()),
            ("margin", self.margin.is_some()),
            ("clock-gate", self.clock_gate.is_some()),
            ("seed", self.seed.is_some()),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag)).filter(|_| !self.is_comparing())
    }

    /// Whether anything is to be compared.
    pub fn is_comparing(&self) -> bool {
        self.vs.is_some() || self.ab.is_some() || self.self_test.is_some() || self.resume.is_some()
    }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    percent.filter(|percent| (0.0..=100.0).contains(percent)).ok_or_else(|| "use a number from 0 to 100".into())
}
