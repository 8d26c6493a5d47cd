//! Another scene in the same window: a dropped file, or the present one after it changed.

use std::path::Path;

use super::viewer::Viewer;
use super::watch::{Changed, Watch};
use crate::commands::{one_line, terminal};

impl Viewer {
    /// Shows a file that was dropped on the window, from its first frame on and through its own camera.
    pub(super) fn open_dropped(&mut self, path: &Path) {
        // A path without a folder would be taken for a name in `scenes/`.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let reference = path.to_string_lossy().into_owned();
        let before = self.args.scene.replace(reference);
        match self.load_scene(None) {
            Ok(()) => {
                self.clock =
                    if self.clock.is_paused() { super::clock::SceneClock::paused() } else { Default::default() };
                self.camera = None;
                self.scene.override_camera(None);
                self.overlay.panels.notice(format!("opened {}", path.display()));
            }
            Err(error) => {
                self.args.scene = before;
                self.fail(&error);
            }
        }
    }

    /// Takes over what changed on disk, if anything did. What can't be loaded leaves all as it is, and says so.
    pub(super) fn poll_watch(&mut self) {
        let Some(changed) = self.watch.as_mut().and_then(Watch::poll) else { return };
        let reloaded = match changed {
            Changed::Scene => self.load_scene(Some(self.cameras[self.camera_idx].clone())),
            Changed::Shaders => self.rebuild_shaders(),
        };
        match reloaded {
            Ok(()) => self.overlay.panels.notice("reloaded".into()),
            Err(error) => self.fail(&error),
        }
    }

    /// Says what went wrong, though the window goes on: in the overlay until something goes well, and on stderr.
    pub(super) fn fail(&mut self, error: &anyhow::Error) {
        let line = one_line(error);
        terminal::note(self.args.render.quiet, &line);
        self.overlay.panels.fail(&line);
    }

    /// Loads `args.scene` and shows it, through `camera` if it has that one.
    fn load_scene(&mut self, camera: Option<String>) -> anyhow::Result<()> {
        let reference = self.args.scene.as_deref().unwrap_or(super::viewer::DEFAULT_SCENE);
        let mut scene = self.live.session.load_scene(reference, self.live.frames.surface().size_px())?;
        let cameras: Vec<_> = scene.camera_names().into_iter().map(str::to_owned).collect();
        let default = scene.default_camera().to_owned();
        let start_camera = cameras.iter().position(|name| *name == default).unwrap_or(0);
        let camera_idx = cameras.iter().position(|name| Some(name) == camera.as_ref()).unwrap_or(start_camera);
        scene.set_camera(&cameras[camera_idx])?;
        scene.update(self.clock.frame_idx());
        self.stop_recording(Some("the scene was replaced"))?;
        self.live.replace_scene(&mut scene, &self.args)?;
        scene.override_camera(self.camera.as_ref().map(|camera| camera.view()));
        if let Some(watch) = &mut self.watch {
            watch.follow(scene.files());
        }
        self.scene = scene;
        self.cameras = cameras;
        self.start_camera = start_camera;
        self.camera_idx = camera_idx;
        self.overlay.panels.clear_failure();
        Ok(())
    }

    fn rebuild_shaders(&mut self) -> anyhow::Result<()> {
        let Some(watch) = &self.watch else { return Ok(()) };
        let edits = watch.shader_edits();
        let factory = &self.live.session.gpu.factory;
        factory.set_shader_edits(edits.clone());
        self.stop_recording(Some("shaders were replaced"))?;
        self.live.replace_scene(&mut self.scene, &self.args)?;
        self.overlay.panels.clear_failure();
        anyhow::ensure!(
            edits.iter().all(|edit| edit.is_used()),
            "a changed shader is not used here, or this program was built from another version of it"
        );
        Ok(())
    }
}
