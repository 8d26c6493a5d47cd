//! Reads whole files, but only real ones: a device or a pipe named in a scene would never end.

use std::path::Path;

/// The bytes of a regular file. The error says why not.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("cannot be read: it is no regular file".into());
    }
    std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))
}
