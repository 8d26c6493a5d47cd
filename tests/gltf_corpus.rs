//! Every file of a corpus of public glTF files, where `PRAXIS_CORPUS` names its folder: what is valid loads, what has
//! quirks loads with a warning, what is malformed is refused with an error that says where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use praxis::scene::{LoadOptions, Scene, SceneError};

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("PRAXIS_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: PRAXIS_CORPUS is not set to a folder of glTF files with an INDEX.tsv");
    }
    folder
}

struct Entry {
    path: String,
    exercises: String,
}

/// The files of a class, as the index lists them.
fn entries(corpus: &Path, class: &str) -> Vec<Entry> {
    let index = std::fs::read_to_string(corpus.join("INDEX.tsv")).expect("the corpus has an INDEX.tsv");
    let mut entries: Vec<Entry> = index
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|columns| columns.len() > 3 && columns[1] == class)
        .map(|columns| Entry { path: columns[0].to_string(), exercises: columns[3].to_string() })
        .collect();
    entries.dedup_by(|a, b| a.path == b.path);
    assert!(!entries.is_empty(), "the index lists no {class} file");
    entries
}

fn load(corpus: &Path, entry: &Entry) -> Result<Scene, SceneError> {
    let options = LoadOptions { clock_ns: || 0, aspect: 1.6 };
    let path = corpus.join(&entry.path);
    Scene::load(path.to_str().expect("corpus paths are UTF-8"), Path::new("scenes"), &options)
}

/// Loads that ended as they should not, one line each.
fn report(class: &str, n: usize, failures: &BTreeMap<String, String>) {
    eprintln!("{class}: {} of {n} as expected", n - failures.len());
    for (path, why) in failures {
        eprintln!("  {path}: {why}");
    }
    assert!(failures.is_empty(), "{} of {n} {class} files did not end as they should", failures.len());
}

/// Whether an error is the refusal of an extension that the file cannot be drawn without.
fn is_named_extension(error: &SceneError, exercises: &str) -> bool {
    let text = error.to_string();
    exercises
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("REQUIRES:").or(word.strip_prefix("ext:")))
        .any(|names| names.split(',').any(|name| text.contains(name)))
}

#[test]
fn valid_files_load() {
    let Some(corpus) = corpus() else { return };
    let entries = entries(&corpus, "valid");
    let mut failures = BTreeMap::new();
    for entry in &entries {
        match load(&corpus, entry) {
            Err(error) if !is_named_extension(&error, &entry.exercises) => {
                failures.insert(entry.path.clone(), error.to_string());
            }
            Err(error) => eprintln!("  refused: {error}"),
            Ok(_) => {}
        }
    }
    report("valid", entries.len(), &failures);
}

#[test]
fn quirky_files_load() {
    let Some(corpus) = corpus() else { return };
    let entries = entries(&corpus, "quirks");
    let mut failures = BTreeMap::new();
    for entry in &entries {
        match load(&corpus, entry) {
            Err(error) if !is_named_extension(&error, &entry.exercises) => {
                failures.insert(entry.path.clone(), error.to_string());
            }
            Err(error) => eprintln!("  refused: {error}"),
            Ok(scene) => scene.warnings().iter().for_each(|warning| eprintln!("  warning: {warning}")),
        }
    }
    report("quirks", entries.len(), &failures);
}

#[test]
fn malformed_files_are_refused() {
    let Some(corpus) = corpus() else { return };
    let entries = entries(&corpus, "invalid");
    let mut failures = BTreeMap::new();
    for entry in &entries {
        match load(&corpus, entry) {
            Ok(scene) => {
                failures.insert(entry.path.clone(), format!("loaded with {} warnings", scene.warnings().len()));
            }
            Err(error) => eprintln!("  refused: {error}"),
        }
    }
    report("invalid", entries.len(), &failures);
}
