//! The `praxis` program: arguments into options, options into a command, its end into an exit code.

#![deny(unsafe_code)]

mod cli;
mod commands;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

fn main() -> ExitCode {
    let cli = cli::Cli::try_parse().unwrap_or_else(|error| {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        if let Some(fault) = cli::meant_command(&arguments).filter(|_| error.use_stderr()) {
            cli::Cli::command().error(clap::error::ErrorKind::InvalidSubcommand, fault).exit();
        }
        // Leaves 2 for wrong usage, and 0 for help.
        error.exit()
    });
    start_log();
    match commands::run(cli) {
        Ok(commands::Outcome::Good) => ExitCode::SUCCESS,
        Ok(commands::Outcome::CheckFailed) => ExitCode::from(3),
        Err(error) => {
            // `eprintln!` would panic where stderr is closed.
            let _ = writeln!(std::io::stderr(), "praxis: {}", commands::one_line(&error));
            ExitCode::from(if error.is::<commands::WrongUsage>() { 2 } else { 1 })
        }
    }
}

/// Warnings and errors on stderr; `RUST_LOG` shows more.
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "error".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
