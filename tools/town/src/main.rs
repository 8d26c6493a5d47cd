//! Generates the Reference scene: meshes and textures in assets/town, placement in scenes/town.ron.

#![deny(missing_docs)]

mod catalog;
mod gltf;
mod layout;
mod material;
mod math;
mod mesh;
mod model;
mod noise;
mod preview;
mod rng;
mod scene;
mod shape;
mod texture;
mod town;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use texture::Encoded;

/// Prints a line; a reader that has gone away is no reason to stop.
macro_rules! say {
    ($($arg:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($arg)*);
    }};
}

const USAGE: &str =
    "usage: praxis-town [--check | --preview FOLDER [CAMERA[@FRAME]...] | --models FOLDER [MODEL...] | --statistics]
  (no option)   writes assets/town and scenes/town.ron
  --check       regenerates in memory and compares with what is there; exit 1 on a difference
  --preview     draws cameras (all stills by default) into FOLDER with the built-in software rasteriser
  --models      draws models on their own into FOLDER
  --statistics  prints counts of the scene";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match rest.as_slice() {
        [] => write(),
        ["--check"] => check(),
        ["--statistics"] => statistics(),
        ["--preview", folder, names @ ..] => preview::cameras(Path::new(folder), names),
        ["--models", folder, names @ ..] => preview::models(Path::new(folder), names),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root: the folder above tools/town.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file of assets/town, and the scene's text.
fn generate() -> Result<(Vec<Encoded>, String), String> {
    let (catalog, scene) = town::build();
    let mut files = texture::render_all()?;
    for file in &catalog.files {
        files.extend(gltf::write(file)?);
    }
    Ok((files, scene.to_ron(&catalog)?))
}

fn write() -> Result<(), String> {
    let (files, scene) = generate()?;
    let folder = root().join("assets/town");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut total = 0;
    for file in &files {
        let path = folder.join(&file.path);
        std::fs::write(&path, &file.bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        total += file.bytes.len();
    }
    let scenes = root().join("scenes");
    std::fs::create_dir_all(&scenes).map_err(|e| format!("{}: {e}", scenes.display()))?;
    let path = scenes.join("town.ron");
    std::fs::write(&path, &scene).map_err(|e| format!("{}: {e}", path.display()))?;
    say!("{} files, {:.2} MiB; scene {:.2} MiB", files.len(), mib(total), mib(scene.len()));
    statistics()
}

fn check() -> Result<(), String> {
    let (files, scene) = generate()?;
    let folder = root().join("assets/town");
    let mut wrong = Vec::new();
    let mut compare = |path: PathBuf, bytes: &[u8]| match std::fs::read(&path) {
        Ok(found) if found == bytes => {}
        Ok(_) => wrong.push(format!("{}: differs from what the generator makes", path.display())),
        Err(e) => wrong.push(format!("{}: {e}", path.display())),
    };
    for file in &files {
        compare(folder.join(&file.path), &file.bytes);
    }
    compare(root().join("scenes/town.ron"), scene.as_bytes());
    let listing = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in listing.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !files.iter().any(|f| f.path == name) {
            wrong.push(format!("{}: no longer made by the generator", entry.path().display()));
        }
    }
    if wrong.is_empty() {
        say!("{} files are what the generator makes", files.len() + 1);
        Ok(())
    } else {
        Err(format!("{}\nrun `cargo run -p praxis-town` to write them again", wrong.join("\n")))
    }
}

fn statistics() -> Result<(), String> {
    let (catalog, scene) = town::build();
    let flat = preview::flat::Flat::build(&catalog, &scene, 0)?;
    say!("{}\n{}", flat.summary(), flat.details(&scene));
    Ok(())
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
