//! What can be wrong with a scene, each as one line that names the file, the place, the fault and what to do.

use std::path::{Path, PathBuf};

/// Why a scene could not be loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// A file that could not be read, or is no scene at all.
    #[error("{}: {fault}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong and what to do.
        fault: String,
    },
    /// A fault at one place of a glTF file's JSON.
    #[error("{}: {at}: {fault}", .file.display())]
    Gltf {
        /// The file.
        file: PathBuf,
        /// JSON pointer, such as `/accessors/3/count`.
        at: String,
        /// What is wrong and what to do.
        fault: String,
    },
    /// A fault at one place of a scene file.
    #[error("{}:{line}:{column}: {fault}", .file.display())]
    SceneFile {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong and what to do.
        fault: String,
    },
    /// A name that nothing has.
    #[error("no {kind} is named {name:?}; {hint}")]
    UnknownName {
        /// `scene`, `camera` or `node`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest names that exist.
        hint: String,
    },
}

impl SceneError {
    pub(crate) fn file(file: &Path, fault: impl Into<String>) -> Self {
        Self::File { file: file.to_path_buf(), fault: fault.into() }
    }
}

/// The names nearest to `name`, as the end of a message.
pub fn nearest_names<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut ranked: Vec<(f64, &str)> = names
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.dedup_by_key(|entry| entry.1);
    match ranked.as_slice() {
        [] => "there are none".into(),
        [(_, only)] => format!("there is only {only:?}"),
        _ => {
            let quoted: Vec<String> = ranked.iter().take(3).map(|(_, name)| format!("{name:?}")).collect();
            format!("the nearest names are {}", quoted.join(", "))
        }
    }
}
