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
    /// Features, in words of the index; `REQUIRES:` precedes extensions that the file cannot do without.
    exercises: String,
    /// Error codes of the Khronos validator.
    codes: Vec<String>,
    note: String,
}

/// The files of a class, as the index lists them.
fn entries(corpus: &Path, class: &str) -> Vec<Entry> {
    let index = std::fs::read_to_string(corpus.join("INDEX.tsv")).expect("the corpus has an INDEX.tsv");
    let mut entries: Vec<Entry> = index
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|columns| columns.len() > 12 && columns[1] == class)
        .map(|columns| Entry {
            path: columns[0].to_string(),
            exercises: columns[3].to_string(),
            codes: columns[6].split(',').map(str::to_string).collect(),
            note: columns[12].to_string(),
        })
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

/// Whether an error is the refusal of an extension that the file cannot be drawn without, or of a newer version.
fn may_be_refused(error: &SceneError, entry: &Entry) -> bool {
    let text = error.to_string();
    let names_extension = entry
        .exercises
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("REQUIRES:").or(word.strip_prefix("ext:KHR_draco")))
        .any(|names| names.is_empty() || names.split(',').any(|name| text.contains(name)));
    names_extension || entry.note.contains("loadable=False") && text.contains("minVersion")
}

/// Faults that the validator calls errors and that are let pass, by its code (a trailing `*` stands for any ending).
const TOLERATED: &[(&str, &str)] = &[
    ("ACCESSOR_MIN_MISMATCH", "bounds are computed from the data"),
    ("ACCESSOR_MAX_MISMATCH", "bounds are computed from the data"),
    ("ACCESSOR_ELEMENT_OUT_OF_*", "bounds are computed from the data"),
    ("ACCESSOR_OFFSET_ALIGNMENT", "data is read byte by byte"),
    ("ACCESSOR_TOTAL_OFFSET_ALIGNMENT", "data is read byte by byte"),
    ("MESH_PRIMITIVE_ACCESSOR_UNALIGNED", "data is read byte by byte"),
    ("ACCESSOR_MATRIX_ALIGNMENT", "no matrix is read"),
    ("ACCESSOR_INDEX_PRIMITIVE_RESTART", "points and lines are not drawn"),
    ("BUFFER_VIEW_TARGET_OVERRIDE", "targets are a hint"),
    ("GLB_CHUNK_LENGTH_UNALIGNED", "files that people have; a warning"),
    ("SCENE_NON_ROOT_NODE", "files that people have; a warning"),
    ("VALUE_NOT_IN_RANGE", "an empty buffer view is let pass; everything else out of range is not"),
    ("ANIMATION_*", "animations are not played yet"),
    ("ACCESSOR_ANIMATION_*", "animations are not played yet"),
    ("KHR_ANIMATION_POINTER_*", "animations are not played yet"),
    ("SKIN_*", "skins are not read yet"),
    ("NODE_SKIN_*", "skins are not read yet"),
    ("INVALID_IBM_*", "skins are not read yet"),
    ("ACCESSOR_INVALID_IBM", "skins are not read yet"),
];

/// Files whose fault lies in what is not looked at.
const TOLERATED_FILES: &[(&str, &str)] = &[
    ("invalid/gltf-validator/image/not_found.gltf", "an image that no material uses is not read"),
    ("invalid/gltf-validator/image/png_eos.gltf", "an image that no material uses is not read"),
    ("invalid/gltf-validator/KHR_animation_pointer/missing_pointer.gltf", "animations are not played yet"),
    ("invalid/tinygltf/issue-492/issue-492.glb", "no fault for the validator either"),
    ("invalid/gltfast/EmbedBufferInvalid/EmbedBufferInvalid.gltf", "no fault for the validator either"),
    (
        "invalid/draco/TexCoord0InvalidTexCoord1Valid/TexCoord0InvalidTexCoord1Valid.gltf",
        "no fault for the validator either",
    ),
    (
        "invalid/draco/TexCoord0ValidTexCoord1Invalid/TexCoord0ValidTexCoord1Invalid.gltf",
        "no fault for the validator either",
    ),
    ("invalid/cesium-native/cubeInvalidVertCount/cubeInvalidVertCount.glb", "spare vertices; a warning"),
];

fn is_tolerated(entry: &Entry) -> bool {
    let is_code_tolerated = |code: &String| {
        TOLERATED
            .iter()
            .any(|(known, _)| known.strip_suffix('*').map_or(code == known, |start| code.starts_with(start)))
    };
    TOLERATED_FILES.iter().any(|(path, _)| entry.path == *path) || entry.codes.iter().all(is_code_tolerated)
}

#[test]
fn valid_files_load() {
    let Some(corpus) = corpus() else { return };
    let entries = entries(&corpus, "valid");
    let mut failures = BTreeMap::new();
    for entry in &entries {
        match load(&corpus, entry) {
            Err(error) if may_be_refused(&error, entry) => eprintln!("  refused: {error}"),
            Err(error) => {
                failures.insert(entry.path.clone(), error.to_string());
            }
            Ok(_) if entry.note.contains("loadable=False") => {
                failures.insert(entry.path.clone(), "loaded, but needs a newer glTF".into());
            }
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
            Err(error) if may_be_refused(&error, entry) => eprintln!("  refused: {error}"),
            Err(error) => {
                failures.insert(entry.path.clone(), error.to_string());
            }
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
            Ok(_) if is_tolerated(entry) => eprintln!("  let pass: {}", entry.path),
            Ok(scene) => {
                failures.insert(entry.path.clone(), format!("loaded with {} warnings", scene.warnings().len()));
            }
            Err(error) => {
                eprintln!("  refused: {error}");
                assert!(!error.to_string().contains('\n'), "an error is one line");
            }
        }
    }
    report("invalid", entries.len(), &failures);
}
