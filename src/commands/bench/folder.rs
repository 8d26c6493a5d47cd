//! The folder that a run, or a comparison, is written into.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::made_folders::MadeFolders;
use crate::commands::places;

/// A run's file in its folder.
pub const RUN_FILE: &str = "run.json";
/// A comparison's.
pub const EXPERIMENT_FILE: &str = "experiment.json";

/// A folder that nobody else writes results into meanwhile.
pub struct RunFolder {
    /// Where it is.
    pub path: PathBuf,
    /// A run that comes to nothing leaves nothing.
    _made: MadeFolders,
    /// Ends with the program, however that ends.
    _lock: Option<File>,
}

impl RunFolder {
    /// The folder `out`, or a new one below `runs/` that is named after `scene` and the time.
    pub fn create(out: Option<&Path>, scene: &str) -> anyhow::Result<Self> {
        Self::create_by(out, scene, "--out")
    }

    /// The same, where another flag than `--out` names the folder.
    pub fn create_by(out: Option<&Path>, scene: &str, flag: &str) -> anyhow::Result<Self> {
        let could_not = |what: &str, path: &Path| {
            format!("could not {what} the run folder {} (choose another with {flag})", path.display())
        };
        let (path, made) = match out {
            Some(path) => (path.to_owned(), MadeFolders::make(path).with_context(|| could_not("make", path))?),
            None => new_folder(&places::runs(), &default_name(scene))?,
        };
        // Making a folder that exists succeeds in one that can't be written to.
        tempfile::tempfile_in(&path).with_context(|| could_not("write into", &path))?;
        let lock = lock(&path)?;
        Ok(Self { path, _made: made, _lock: lock })
    }
}

/// Locks the folder itself, so that no file tells of a lock that has ended. Where folders can't be opened, there is none.
fn lock(path: &Path) -> anyhow::Result<Option<File>> {
    let Ok(folder) = File::open(path) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => {
            bail!("another bench is writing into {}: wait for it, or choose another folder with --out", path.display())
        }
        // Some network file systems have no locks.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Makes a folder that was not there, called `name` or, if that is taken, `name-2`, `name-3` …
fn new_folder(parent: &Path, name: &str) -> anyhow::Result<(PathBuf, MadeFolders)> {
    let could_not = || format!("could not make a run folder in {} (choose another with --out)", parent.display());
    let mut made = MadeFolders::make(parent).with_context(could_not)?;
    for n in 1.. {
        let path = parent.join(if n == 1 { name.to_owned() } else { format!("{name}-{n}") });
        match fs::create_dir(&path) {
            Ok(()) => {
                made.add(path.clone());
                return Ok((path, made));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(could_not),
        }
    }
    unreachable!("some number is not taken")
}

/// `SCENE-YYYY-MM-DDTHH-MM-SSZ`.
pub fn default_name(scene: &str) -> String {
    let stem = Path::new(scene).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    format!("{stem}-{}", now.replace(':', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_takes_one_bench_at_a_time() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let path = parent.path().join("run");
        let first = RunFolder::create(Some(&path), "town").expect("nobody has it");
        let Err(error) = RunFolder::create(Some(&path), "town") else { panic!("it is taken") };
        assert!(error.to_string().contains("another bench is writing into"), "{error}");
        drop(first);
        assert!(!path.exists(), "a run that came to nothing leaves nothing");
        RunFolder::create(Some(&path), "town").expect("it is free again");
    }

    #[test]
    fn folders_of_one_second_get_names_of_their_own() {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let folders = [(); 3].map(|()| new_folder(parent.path(), "town").expect("it can be made"));
        let paths = folders.each_ref().map(|(path, _made)| path.clone());
        assert_eq!(paths, ["town", "town-2", "town-3"].map(|name| parent.path().join(name)));
    }
}
