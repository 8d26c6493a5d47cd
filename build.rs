//! Tells the program which commit it was built from, so that a run file can say it.

use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    let is_dirty = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    println!("cargo:rustc-env=PRAXIS_COMMIT={commit}");
    println!("cargo:rustc-env=PRAXIS_DIRTY={is_dirty}");
    // A commit or a checkout moves HEAD's log; sources that change are cargo's business.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    for folder in ["src", "build.rs", "Cargo.toml"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
