//! Writing a file so that it is either there whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that could not be written. Nothing of it was left behind, and an older file in its place is untouched.
#[derive(Debug, thiserror::Error)]
#[error("can't write {}: {source}{}", path.display(), hint(source))]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space or choose another folder",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "; choose a folder that can be written",
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "; make its folder first",
        _ => "",
    }
}

/// Writes `path` whole or not at all: `fill` writes a temporary file in the same folder, which then takes the name. A link
/// is followed. What is no file, such as a pipe or `/dev/stdout`, can't be replaced and is written into.
///
/// # Errors
/// [`WriteError`] with the fault: no such folder, no permission, a full disk, or what `fill` returned.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let write = || {
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let mut writer = BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
            fill(&mut writer)?;
            return writer.flush();
        }
        let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        stage(path, fill)?.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| WriteError { path: path.to_owned(), source })
}

/// Writes a temporary file beside `path`; it goes when it is dropped.
fn stage(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".part");
    // A temporary file is private by default; a result is not. The umask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut writer = BufWriter::new(builder.tempfile_in(folder)?);
    fill(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    // A full disk may show only now.
    file.as_file().sync_all()?;
    Ok(file)
}

/// Files of one folder that belong together: all are written beside their places first, so that a full disk shows while
/// nothing has changed, and then take them.
#[derive(Debug)]
pub struct StagedFiles {
    folder: PathBuf,
    files: Vec<(NamedTempFile, PathBuf)>,
    made_folders: Vec<PathBuf>,
}

impl StagedFiles {
    /// None yet, for `folder`, which exists.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: Vec::new(), made_folders: Vec::new() }
    }

    /// Writes what will be `name`, a path below the folder; a folder in it is made.
    ///
    /// # Errors
    /// [`WriteError`] with the fault.
    pub fn add(
        &mut self,
        name: impl AsRef<Path>,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        let path = self.folder.join(name);
        let staged = || {
            if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
                fs::create_dir_all(parent)?;
                self.made_folders.push(parent.to_owned());
            }
            stage(&path, fill)
        };
        let file = staged().map_err(|source| WriteError { path: path.clone(), source })?;
        self.files.push((file, path));
        Ok(())
    }

    /// Gives all of them their names, in the order in which they were added. The last one, which stands for the whole, is taken
    /// away before: where it is, the others are of one kind with it.
    ///
    /// # Errors
    /// [`WriteError`] with the fault. Room on the disk is no cause of one: every byte is written by then.
    pub fn commit(mut self) -> Result<(), WriteError> {
        if let Some((_, last)) = self.files.last() {
            match fs::remove_file(last) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(WriteError { path: last.clone(), source });
                }
                _ => {}
            }
        }
        for (file, path) in self.files.drain(..) {
            file.persist(&path).map_err(|error| WriteError { path, source: error.error })?;
        }
        Ok(())
    }
}

/// What was not committed leaves nothing.
impl Drop for StagedFiles {
    fn drop(&mut self) {
        self.files.clear();
        for folder in self.made_folders.iter().rev() {
            // Fails, as it should, where something is in it.
            let _ = fs::remove_dir(folder);
        }
    }
}
