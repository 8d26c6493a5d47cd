//! A fault at one place of a glTF file's JSON; the importer adds the file's name.

use std::path::Path;

use crate::scene::SceneError;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// JSON pointer, such as `/accessors/3/count`; empty for the file as a whole.
    pub at: String,
    /// What is wrong and what to do.
    pub what: String,
}

impl Fault {
    /// A fault at the JSON pointer `at`.
    pub fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { at: at.into(), what: what.into() }
    }

    /// A fault of the file as a whole.
    pub fn whole(what: impl Into<String>) -> Self {
        Self::new("", what)
    }

    /// The error that a user sees.
    pub fn in_file(self, file: &Path) -> SceneError {
        if self.at.is_empty() {
            SceneError::file(file, self.what)
        } else {
            SceneError::Gltf { file: file.to_path_buf(), at: self.at, fault: self.what }
        }
    }
}
