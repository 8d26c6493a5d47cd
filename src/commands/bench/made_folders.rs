//! Folders that go again if nothing comes to lie in them.

use std::io;
use std::path::{Path, PathBuf};

/// The folders that had to be made for a path, innermost first.
pub struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Makes `path` and what is missing above it.
    pub fn make(path: &Path) -> io::Result<Self> {
        let missing: Vec<PathBuf> = path
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_owned)
            .collect();
        let made = Self(missing);
        std::fs::create_dir_all(path)?;
        Ok(made)
    }

    /// Takes in a folder that was made inside of the innermost.
    pub fn add(&mut self, folder: PathBuf) {
        self.0.insert(0, folder);
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // Fails, as it should, where something is in it.
            if std::fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}
