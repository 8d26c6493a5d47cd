use super::Outcome;
use crate::cli::ReportArgs;
pub fn run(_args: &ReportArgs) -> anyhow::Result<Outcome> {
    anyhow::bail!("to be written")
}
