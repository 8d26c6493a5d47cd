//! One run of an experiment: a process of its own.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use anyhow::Context;
use praxis::measure::RunFile;
use praxis::measure::experiment::Side;

use crate::commands::bench::RUN_FILE;

/// Ctrl-C, and who else has to hear of it.
#[derive(Clone, Default)]
pub struct Interruption {
    is_asked: Arc<AtomicBool>,
    /// The running child's process; 0 for none.
    child_id: Arc<AtomicU32>,
}

impl Interruption {
    /// Listens for Ctrl-C and SIGTERM, and passes them on to the run that is going on.
    pub fn listen() -> anyhow::Result<Self> {
        let interruption = Self::default();
        let heard = interruption.clone();
        ctrlc::set_handler(move || {
            heard.is_asked.store(true, Ordering::SeqCst);
            interrupt(heard.child_id.load(Ordering::SeqCst));
        })
        .context("could not listen for Ctrl-C")?;
        Ok(interruption)
    }

    /// Whether it came.
    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst)
    }
}

/// From a terminal a child hears Ctrl-C by itself, a second time from here: `bench` takes both as one.
#[cfg(unix)]
fn interrupt(child_id: u32) {
    if let Some(child) = i32::try_from(child_id).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended just now.
        let _ = rustix::process::kill_process(child, rustix::process::Signal::INT);
    }
}

#[cfg(not(unix))]
fn interrupt(_child_id: u32) {}

/// How a run ended.
pub enum RunEnd {
    /// With a whole run file.
    Measured(Box<RunFile>),
    /// With an error, or without a usable run file.
    Failed(String),
    /// By Ctrl-C.
    Interrupted,
}

/// Runs `side` with `extra` arguments into `folder` and waits for its end.
pub fn run(side: &Side, extra: &[&str], folder: &Path, interruption: &Interruption) -> anyhow::Result<RunEnd> {
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    let mut messages = tempfile::tempfile().context("could not make a temporary file")?;
    let mut command = Command::new(&side.program);
    command.args(&side.arguments).args(extra).arg("--out").arg(folder).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = match command.stderr(messages.try_clone()?).spawn() {
        Ok(child) => child,
        Err(error) => return Ok(RunEnd::Failed(format!("could not start {}: {error}", side.program.display()))),
    };
    interruption.child_id.store(child.id(), Ordering::SeqCst);
    let status = child.wait();
    interruption.child_id.store(0, Ordering::SeqCst);
    let status = status.with_context(|| format!("could not wait for {}", side.program.display()))?;
    if interruption.is_asked() {
        return Ok(RunEnd::Interrupted);
    }
    if !status.success() {
        return Ok(RunEnd::Failed(last_line(&mut messages).unwrap_or_else(|| status.to_string())));
    }
    Ok(match RunFile::read(&folder.join(RUN_FILE)) {
        Ok(run) if run.complete => RunEnd::Measured(Box::new(run)),
        Ok(_) => RunEnd::Failed("the run was interrupted".into()),
        Err(error) => RunEnd::Failed(error.to_string()),
    })
}

/// What a program said last.
fn last_line(messages: &mut File) -> Option<String> {
    let mut text = Vec::new();
    messages.rewind().and_then(|()| messages.read_to_end(&mut text)).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.strip_prefix("praxis: ").unwrap_or(line).to_owned())
}
