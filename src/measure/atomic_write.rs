//! Writing a file so that it is either there whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".").suffix(".part");
        // A temporary file is private by default; a result is not. The umask still applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        let mut writer = BufWriter::new(file);
        fill(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        // A full disk may show only now.
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| WriteError { path: path.to_owned(), source })
}
