//! The program that `--vs` names, asked who it is before anything is run with it.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use praxis::measure::experiment::WAITING_HINT;

use crate::commands::WrongUsage;

/// How long a program has to say its version: a praxis does so before it opens anything.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than any version is long: what a program says beyond is not waited for.
const MOST_BYTES: u64 = 4_096;

/// Tells a run that its goldens are known to be right.
pub const GOLDENS_HINT: &str = "--skip-goldens";

/// Whether `program` takes what runs after the first are told. An older praxis may not: it refuses a flag that it doesn't know
/// before it comes to `--help`, which opens nothing.
pub fn takes_hints(program: &Path) -> bool {
    if std::env::current_exe().is_ok_and(|own| own == program) {
        return true;
    }
    let mut command = Command::new(program);
    command.args(["bench", &format!("{WAITING_HINT}=false"), GOLDENS_HINT, "--help"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let asked = Instant::now();
    let Ok(mut child) = command.spawn() else { return false };
    ended(&mut child, asked) && child.wait().is_ok_and(|status| status.success())
}

/// The whole path of the praxis program at `path`.
pub fn find(path: &Path) -> Result<PathBuf, WrongUsage> {
    let shown = path.display();
    let wrong = |fault: &str| WrongUsage(format!("--vs {shown}: {fault}"));
    let whole = match path.canonicalize() {
        Ok(whole) => whole,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(wrong("there is no such program")),
        Err(error) => return Err(wrong(&format!("it can't be found: {error}"))),
    };
    if whole.is_dir() {
        return Err(wrong("it is a folder: name the praxis program in it"));
    }
    let said = version_of(&whole).map_err(|fault| wrong(&fault))?;
    if is_version(&said) {
        Ok(whole)
    } else {
        Err(wrong("it is no praxis: --version does not answer `praxis` and a number"))
    }
}

/// What `program --version` says.
fn version_of(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => {
            "it is no program that may be run: name a praxis, or give it the right (chmod +x)".to_owned()
        }
        ErrorKind::ExecutableFileBusy => "it is being written: wait until it is built".to_owned(),
        _ => format!("it is no praxis: it can't be started: {error}"),
    })?;
    let asked = Instant::now();
    let said = first_words(&mut child);
    let is_over = ended(&mut child, asked);
    match said {
        Some(said) if is_over => Ok(said),
        _ => Err(format!("it is no praxis: --version did not end within {} seconds", PATIENCE.as_secs())),
    }
}

/// The beginning of what `child` says; `None` when that takes too long.
fn first_words(child: &mut Child) -> Option<String> {
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // A thread of its own: a process that the child leaves behind may hold the pipe open for ever.
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.take(MOST_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver.recv_timeout(PATIENCE).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether `child` ended in time, by itself; one that didn't is ended.
fn ended(child: &mut Child, asked: Instant) -> bool {
    while asked.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(None) => thread::sleep(Duration::from_millis(5)),
            Ok(Some(_)) => return true,
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// `praxis` and a number, such as 0.1.0, on one line.
fn is_version(said: &str) -> bool {
    let number = said.strip_prefix("praxis ").map(str::trim_end);
    number.is_some_and(|number| {
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let parts: Vec<&str> = number.split(['-', '+']).next().unwrap_or_default().split('.').collect();
        parts.len() == 3 && parts.into_iter().all(is_digits) && !number.contains(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_a_praxis_alone() {
        let own = concat!("praxis ", env!("CARGO_PKG_VERSION"), "\n");
        for said in [own, "praxis 0.1.0\n", "praxis 1.20.3-rc.1\r\n"] {
            assert!(is_version(said), "{said:?}");
        }
        for said in
            ["", "ls (GNU coreutils) 9.1\n", "praxis\n", "praxis 1\n", "praxis 1.2.x\n", "praxis 1.2.3\nand more\n"]
        {
            assert!(!is_version(said), "{said:?}");
        }
    }

    #[test]
    fn this_program_may_be_compared_with_only_if_it_is_a_praxis() {
        // A test binary knows no --version.
        let this = std::env::current_exe().expect("it runs");
        let fault = find(&this).expect_err("it is a test").to_string();
        assert!(fault.contains("it is no praxis"), "{fault}");
    }
}
