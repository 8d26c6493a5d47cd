//! `--watch`: which files the picture is made of, and whether they changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::Context;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use praxis::gpu::ShaderEdit;

/// Programs write files in several steps: a change counts when nothing more came for so long.
const SETTLES_AFTER: Duration = Duration::from_millis(200);

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// A file that the scene was read from.
    Scene,
    /// The text of a shader.
    Shaders,
}

/// See the module.
pub struct Watch {
    watcher: RecommendedWatcher,
    changes: Receiver<PathBuf>,
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// Shaders' texts as they were at the start, when they were those that the program was built with. Empty in release builds.
    shaders: BTreeMap<PathBuf, String>,
    pending: Pending,
}

#[derive(Debug, Default)]
struct Pending {
    scene: Option<Instant>,
    shaders: Option<Instant>,
}

impl Pending {
    fn note(&mut self, changed: Changed, now: Instant) {
        match changed {
            Changed::Scene => self.scene = Some(now),
            Changed::Shaders => self.shaders = Some(now),
        }
    }

    /// One change that has settled, the scene's first.
    fn take(&mut self, now: Instant) -> Option<Changed> {
        let is_settled = |since: &mut Instant| now.saturating_duration_since(*since) >= SETTLES_AFTER;
        let scene = self.scene.take_if(is_settled).map(|_| Changed::Scene);
        scene.or_else(|| self.shaders.take_if(is_settled).map(|_| Changed::Shaders))
    }
}

impl Watch {
    /// Watches `files`, and in a debug build every shader.
    pub fn start(files: &[PathBuf]) -> anyhow::Result<Self> {
        let (sender, changes) = channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            for path in event.paths {
                let _ = sender.send(path); // The viewer may be gone.
            }
        })
        .context("files can't be watched here")?;
        let shaders = if cfg!(debug_assertions) { shader_texts() } else { BTreeMap::new() };
        let (files_watched, folders) = (BTreeSet::new(), BTreeSet::new());
        let mut watch = Self { watcher, changes, files: files_watched, folders, shaders, pending: Pending::default() };
        watch.follow(files);
        Ok(watch)
    }

    /// From here on these are the scene's files. Folders are watched, since many programs replace a file by another of its name.
    pub fn follow(&mut self, files: &[PathBuf]) {
        self.files = files.iter().map(|file| absolute(file)).collect();
        let of_shaders = self.shaders.keys();
        let wanted: BTreeSet<PathBuf> =
            self.files.iter().chain(of_shaders).filter_map(|file| file.parent()).map(Path::to_path_buf).collect();
        for folder in self.folders.difference(&wanted) {
            let _ = self.watcher.unwatch(folder);
        }
        for folder in wanted.difference(&self.folders) {
            if let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!("{} can't be watched: {error}", folder.display());
            }
        }
        self.folders = wanted;
    }

    /// What changed and has settled.
    pub fn poll(&mut self) -> Option<Changed> {
        let now = Instant::now();
        while let Ok(path) = self.changes.try_recv() {
            let path = absolute(&path);
            if self.files.contains(&path) {
                self.pending.note(Changed::Scene, now);
            } else if self.shaders.contains_key(&path) {
                self.pending.note(Changed::Shaders, now);
            }
        }
        self.pending.take(now)
    }

    /// The shaders that differ from those at the start.
    pub fn shader_edits(&self) -> Vec<Arc<ShaderEdit>> {
        let changed = self.shaders.iter().filter_map(|(path, built_in)| {
            let current = std::fs::read_to_string(path).ok()?;
            (current != *built_in).then(|| Arc::new(ShaderEdit::new(built_in.clone(), current)))
        });
        changed.collect()
    }
}

/// Every WGSL file of the sources that this program was built from, if they are still there.
fn shader_texts() -> BTreeMap<PathBuf, String> {
    let mut folders = vec![absolute(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))];
    let mut texts = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "wgsl")
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                texts.insert(path, text);
            }
        }
    }
    texts
}

/// The same path whatever it was reached by; a file that is gone for the moment still has its folder.
fn absolute(path: &Path) -> PathBuf {
    let of_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(of_folder).unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_changes_count_when_they_have_settled() {
        let mut pending = Pending::default();
        let start = Instant::now();
        assert_eq!(pending.take(start), None);
        pending.note(Changed::Shaders, start);
        pending.note(Changed::Scene, start);
        assert_eq!(pending.take(start + SETTLES_AFTER / 2), None);
        pending.note(Changed::Scene, start + SETTLES_AFTER / 2);
        assert_eq!(pending.take(start + SETTLES_AFTER), Some(Changed::Shaders), "the scene was written to once more");
        assert_eq!(pending.take(start + 2 * SETTLES_AFTER), Some(Changed::Scene));
        assert_eq!(pending.take(start + 9 * SETTLES_AFTER), None, "each change counts once");
    }

    #[test]
    fn window_watch_sees_files_written_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (scene, other) = (folder.path().join("scene.ron"), folder.path().join("other.ron"));
        std::fs::write(&scene, "1").expect("written");
        let mut watch = Watch::start(std::slice::from_ref(&scene)).expect("files can be watched");
        let mut next_change = |longest: Duration| {
            let started = Instant::now();
            loop {
                match watch.poll() {
                    None if started.elapsed() < longest => std::thread::sleep(Duration::from_millis(5)),
                    change => break change,
                }
            }
        };
        std::fs::write(&other, "2").expect("written");
        assert_eq!(next_change(Duration::from_millis(500)), None, "not a file of the scene");
        std::fs::write(&scene, "3").expect("written");
        assert_eq!(next_change(Duration::from_secs(10)), Some(Changed::Scene));
        std::fs::rename(&other, &scene).expect("replaced");
        assert_eq!(next_change(Duration::from_secs(10)), Some(Changed::Scene));
    }

    #[test]
    fn window_shaders_are_found_where_the_program_was_built() {
        let texts = shader_texts();
        assert!(texts.keys().any(|path| path.ends_with("render/passes/shade.wgsl")), "{} shaders", texts.len());
    }
}
