//! One file or folder per command. They know everything; nobody knows them.

mod bench;
mod beside;
mod capture;
mod goldens;
mod info;
mod interruption;
mod page;
mod places;
mod png;
mod probe;
mod report;
mod resident_soak;
mod session;
mod terminal;
mod vector_width;
mod wait_table;
mod window;

use crate::cli::{Cli, Command};

/// How a command ended, if nothing was at fault.
pub enum Outcome {
    /// As wished.
    Good,
    /// A check found a regression, a breached Budget or a golden that differs.
    CheckFailed,
}

/// Arguments that don't go together in a way that the command line's definition can't say.
#[derive(Debug, thiserror::Error)]
#[error("{0} (see `praxis --help`)")]
pub struct WrongUsage(pub String);

/// Runs what the command line asks for.
pub fn run(cli: Cli) -> anyhow::Result<Outcome> {
    match cli.command {
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Capture(args)) => capture::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::WaitTable(args)) => wait_table::run(&args),
        Some(Command::ResidentSoak(args)) => resident_soak::run(&args),
        Some(Command::Probe(args)) => probe::run(&args),
        Some(Command::ProbeLineWorker(args)) => probe::run_line_worker(&args),
        None => window::run(&cli.window),
    }
}

/// An error and its causes as one line, none of them twice.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let cause = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if !line.contains(&cause) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&cause);
        }
    }
    line
}
