//! The goldens that a command is about, drawing their pictures, and comparing.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use praxis::measure::picture::{
    GoldenComparison, GoldenLane, GoldenThresholds, GoldenView, Goldens, Picture, compare_with_golden,
};
use praxis::scene::nearest_names;

use super::png::{self, Rgba};
use super::session::{Session, Stage};
use super::{one_line, places};

/// `goldens/`: the list, and which of it the command line chose.
pub struct GoldenSet {
    /// What `goldens.toml` says.
    pub goldens: Goldens,
    /// Its text, for blessing.
    pub text: String,
    /// Chosen ones, those of one scene and sample count beside each other.
    pub chosen: Vec<Golden>,
    folder: PathBuf,
}

/// One golden.
pub struct Golden {
    pub name: String,
    pub view: GoldenView,
    pub thresholds: GoldenThresholds,
    /// Where its picture lies.
    pub path: PathBuf,
}

impl GoldenSet {
    /// Reads the list and takes the goldens of `scenes`, or all where none is named. A golden's own name will do, too.
    pub fn read(scenes: &[String]) -> anyhow::Result<Self> {
        let folder = places::goldens();
        let path = folder.join("goldens.toml");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("can't read the list of goldens {}", path.display()))?;
        let goldens = Goldens::parse(&text, &path)?;
        if let Some(name) = goldens.by_name.keys().find(|name| !goldens.views.contains_key(*name)) {
            bail!("{}: [golden.{name}] does not say what it shows: add scene, camera and size_px", path.display());
        }
        let known = || goldens.views.iter().flat_map(|(name, view)| [view.scene.as_str(), name.as_str()]);
        if let Some(unknown) = scenes.iter().find(|scene| !known().any(|known| known == scene.as_str())) {
            bail!("no golden shows {unknown:?}; {}", nearest_names(unknown, known()));
        }
        let is_chosen = |name: &String, view: &GoldenView| {
            scenes.is_empty() || [name, &view.scene].iter().any(|n| scenes.contains(n))
        };
        let set = Self::choose(goldens, text, folder, is_chosen);
        if set.chosen.is_empty() {
            bail!("{} lists no golden: add a [golden.NAME] with scene, camera and size_px", path.display());
        }
        Ok(set)
    }

    /// The goldens of the scene that `reference` names, drawn with `n_samples` a pixel; `None` where there is no list.
    pub fn of_scene(reference: &str, n_samples: u32) -> anyhow::Result<Option<Self>> {
        let folder = places::goldens();
        let path = folder.join("goldens.toml");
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("can't read the list of goldens {}", path.display()))?,
        };
        let goldens = Goldens::parse(&text, &path)?;
        let scene = scene_path(reference);
        let is_chosen = |_: &String, view: &GoldenView| {
            view.msaa == n_samples && scene_path(&scene_reference(&view.scene)) == scene
        };
        Ok(Some(Self::choose(goldens, text, folder, is_chosen)))
    }

    fn choose(
        goldens: Goldens,
        text: String,
        folder: PathBuf,
        is_chosen: impl Fn(&String, &GoldenView) -> bool,
    ) -> Self {
        let golden = |(name, view): (&String, &GoldenView)| Golden {
            name: name.clone(),
            view: view.clone(),
            thresholds: goldens.thresholds(name),
            path: picture_path(&folder, name),
        };
        let mut chosen: Vec<_> =
            goldens.views.iter().filter(|(name, view)| is_chosen(name, view)).map(golden).collect();
        chosen.sort_by(|a, b| (&a.view.scene, a.view.msaa, &a.name).cmp(&(&b.view.scene, b.view.msaa, &b.name)));
        Self { goldens, text, chosen, folder }
    }

    /// `goldens.toml`.
    pub fn list_path(&self) -> PathBuf {
        self.folder.join("goldens.toml")
    }

    /// Whether there are pictures of goldens that are not chosen.
    pub fn others_exist(&self) -> bool {
        let is_chosen = |name: &String| self.chosen.iter().any(|golden| golden.name == *name);
        self.goldens.views.keys().any(|name| !is_chosen(name) && picture_path(&self.folder, name).exists())
    }

    /// Where pictures that differ are saved, unless told.
    pub fn failed_folder(&self) -> PathBuf {
        self.folder.join("failed")
    }

    /// How the session's adapter is compared, where it computes as the goldens' did (see `vector_width`).
    pub fn lane(&self, session: &Session, is_width_fixed: bool) -> GoldenLane {
        match self.goldens.lane(session.gpu.is_software(), &session.gpu.info.driver_info) {
            GoldenLane::Software if is_width_fixed => GoldenLane::Software,
            _ => GoldenLane::Flip,
        }
    }

    /// Draws the chosen goldens' pictures and hands each to `take`. One scene is loaded once for all its goldens, and one
    /// renderer serves those of one sample count.
    pub fn draw(
        &self,
        session: &Session,
        mut take: impl FnMut(&Golden, Rgba) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for of_scene in self.chosen.chunk_by(|a, b| a.view.scene == b.view.scene) {
            let Some(first) = of_scene.first() else { continue };
            let reference = scene_reference(&first.view.scene);
            let mut scene =
                session.load_scene(&reference, first.view.size_px).with_context(|| format!("golden {}", first.name))?;
            for of_msaa in of_scene.chunk_by(|a, b| a.view.msaa == b.view.msaa) {
                let Some(first) = of_msaa.first() else { continue };
                let mut stage = session.stage(scene, first.view.size_px, first.view.msaa)?;
                for golden in of_msaa {
                    let picture = draw_one(session, &mut stage, &golden.view)
                        .with_context(|| format!("golden {}", golden.name))?;
                    take(golden, picture)?;
                }
                scene = stage.scene;
            }
        }
        Ok(())
    }
}

impl Golden {
    /// The picture beside its golden, or why there can be no comparison: it is missing, unreadable or of another size.
    pub fn compare(&self, picture: &Rgba, lane: GoldenLane) -> Result<GoldenComparison, String> {
        if !self.path.exists() {
            return Err(format!("missing: `praxis capture --bless {}` makes it", self.name));
        }
        let compared = || {
            let expected = png::read(&self.path).with_context(|| {
                format!(
                    "its picture can't be read: restore it, or `praxis capture --bless {}` makes it anew",
                    self.name
                )
            })?;
            Ok(compare_with_golden(&expected.as_picture()?, &picture.as_picture()?, lane, &self.thresholds)?)
        };
        compared().map_err(|error: anyhow::Error| one_line(&error))
    }
}

/// Draws what a golden shows; the stage keeps its size and camera.
pub fn draw_one(session: &Session, stage: &mut Stage, view: &GoldenView) -> anyhow::Result<Rgba> {
    stage.resize(&session.gpu, view.size_px)?;
    stage.scene.set_camera(&view.camera)?;
    stage.picture_of_frame(&session.gpu, view.frame)
}

fn picture_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.png"))
}

/// A name stays one; a path is meant from the folder that holds `goldens/`.
fn scene_reference(scene: &str) -> String {
    match Path::new(scene).components().count() {
        1 => scene.to_owned(),
        _ => places::root().join(scene).to_string_lossy().into_owned(),
    }
}

/// The file that a reference to a scene leads to; two references to one file give the same.
fn scene_path(reference: &str) -> PathBuf {
    let named = places::scenes().join(format!("{reference}.ron"));
    let path = if named.is_file() { named } else { PathBuf::from(reference) };
    path.canonicalize().unwrap_or(path)
}

impl Rgba {
    /// As the comparison takes it.
    pub fn as_picture(&self) -> anyhow::Result<Picture<'_>> {
        Ok(Picture::new(self.width_px, self.height_px, &self.pixels)?)
    }
}
