//! Arguments of `praxis resident-soak`.

use clap::Args;

#[derive(Args, Debug)]
pub struct ResidentSoakArgs {
    /// How long, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seconds: u64,
    /// End after so many operations, if that is sooner
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub ops: Option<u64>,
    /// What the random operations follow from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// No killed kernels, no restarts, no pauses and no short-lived kernels: operations alone
    #[arg(long)]
    pub no_faults: bool,
    /// Lose the device after a thousand chains: to see that the soak tells of it
    #[arg(long, conflicts_with = "no_faults")]
    pub lose_device: bool,
    /// Part of an adapter's name (see `praxis info`)
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// The result as JSON on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no notes on stderr
    #[arg(long, short)]
    pub quiet: bool,
}
