use super::Outcome;
use crate::cli::InfoArgs;
pub fn run(_args: &InfoArgs) -> anyhow::Result<Outcome> {
    anyhow::bail!("to be written")
}
