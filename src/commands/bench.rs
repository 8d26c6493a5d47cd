use super::Outcome;
use crate::cli::BenchArgs;
pub fn run(_args: &BenchArgs) -> anyhow::Result<Outcome> {
    anyhow::bail!("to be written")
}
