//! Where scenes, goldens, Baselines and runs lie.

use std::path::{Path, PathBuf};

/// The folder that holds `scenes/`, and beside it `goldens/` and `baselines/`: the working directory or one above it, one
/// above the program, or the checkout that the program was built from.
pub fn root() -> PathBuf {
    let working_directory = std::env::current_dir().unwrap_or_else(|_| ".".into());
    let program = std::env::current_exe().ok().and_then(|program| program.canonicalize().ok());
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let candidates = working_directory
        .ancestors()
        .chain(program.as_deref().into_iter().flat_map(Path::ancestors))
        .chain([built_from])
        .find(|folder| folder.join("scenes").join("town.ron").is_file());
    candidates.map_or(working_directory.clone(), Path::to_path_buf)
}

/// Scene files.
pub fn scenes() -> PathBuf {
    root().join("scenes")
}

/// Goldens and their thresholds.
pub fn goldens() -> PathBuf {
    root().join("goldens")
}

/// Recorded runs by machine and scene.
pub fn baselines() -> PathBuf {
    root().join("baselines")
}

/// Run folders, in the working directory.
pub fn runs() -> PathBuf {
    PathBuf::from("runs")
}
