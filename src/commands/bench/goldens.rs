//! After the timed frames: does this program, with this scene on this adapter, still draw what it should? If it doesn't, the
//! wrong work was measured.

use praxis::measure::RunFile;
use praxis::measure::picture::{GoldenCheck, GoldenLane};

use crate::cli::{BenchArgs, RaysArg, TonemapArg};
use crate::commands::goldens::{Golden, GoldenSet, draw_one};
use crate::commands::png::{self, Rgba};
use crate::commands::session::{Session, Stage};
use crate::commands::{one_line, vector_width};

/// The goldens of a run, known before its first frame: a list that can't be read shall not cost an hour of measuring.
pub struct RunGoldens {
    set: Option<GoldenSet>,
}

/// A golden's pictures, as PNG files.
pub struct GoldenPictures {
    pub name: String,
    pub expected: Option<Vec<u8>>,
    pub actual: Vec<u8>,
    pub error: Option<Vec<u8>>,
}

impl RunGoldens {
    /// Those of the scene that were drawn with the run's settings. Goldens have the defaults of everything that changes a picture
    /// and that `goldens.toml` doesn't name.
    pub fn of(args: &BenchArgs, scene: &str) -> anyhow::Result<Self> {
        let render = &args.render;
        let is_drawn_alike =
            render.tonemap == TonemapArg::Agx && render.exposure.is_none() && render.rays() == RaysArg::Edge;
        let set = match is_drawn_alike && !args.skip_goldens {
            true => GoldenSet::of_scene(scene, render.msaa)?,
            false => None,
        };
        Ok(Self { set })
    }

    /// Draws and compares each of them with the renderer of the timed frames, and says in `run` what came of it. The stage goes
    /// back to the run's camera and size.
    pub fn check(
        &self,
        session: &Session,
        stage: &mut Stage,
        run: &mut RunFile,
    ) -> anyhow::Result<Vec<GoldenPictures>> {
        let Some(set) = &self.set else { return Ok(Vec::new()) };
        let lane = set.lane(session, vector_width::is_fixed());
        let (size_px, camera) = (stage.options.size_px, stage.scene.camera_name().to_owned());
        let mut pictures = Vec::new();
        for golden in &set.chosen {
            if !golden.path.exists() {
                run.warnings.push(format!(
                    "golden {} is listed but has no picture, so nothing was compared with it: `praxis capture --bless {0}` makes it",
                    golden.name
                ));
                continue;
            }
            let picture = draw_one(session, stage, &golden.view)?;
            let (check, shown) = compare(golden, &picture, lane)?;
            run.goldens.push(check);
            pictures.push(shown);
        }
        stage.resize(&session.gpu, size_px)?;
        stage.scene.set_camera(&camera)?;
        let failed = run.goldens.iter().find_map(|check| Some((&check.name, check.complaint()?)));
        if let Some((name, complaint)) = failed {
            run.void_reason = Some(format!("the picture differs from golden {name}: {complaint}"));
        }
        Ok(pictures)
    }
}

fn compare(golden: &Golden, picture: &Rgba, lane: GoldenLane) -> anyhow::Result<(GoldenCheck, GoldenPictures)> {
    let compared = golden.compare(picture, lane);
    let error = compared
        .as_ref()
        .ok()
        .map(|comparison| png::encode_rgb(comparison.error_map_rgb(), picture.width_px, picture.height_px));
    let pictures = GoldenPictures {
        name: golden.name.clone(),
        // As it is drawn from: a golden that is no picture can't be shown.
        expected: png::read(&golden.path).and_then(|expected| png::encode(&expected)).ok(),
        actual: png::encode(picture)?,
        error: error.transpose()?,
    };
    let check = GoldenCheck {
        name: golden.name.clone(),
        view: golden.view.clone(),
        passes: compared.as_ref().is_ok_and(|comparison| comparison.passes()),
        fault: compared.as_ref().err().cloned(),
        comparison: compared.ok(),
    };
    Ok((check, pictures))
}

/// Checks, and keeps a fault of the checking itself out of the way of the numbers.
pub fn check_or_warn(
    goldens: &RunGoldens,
    session: &Session,
    stage: &mut Stage,
    run: &mut RunFile,
) -> Vec<GoldenPictures> {
    goldens.check(session, stage, run).unwrap_or_else(|error| {
        run.warnings.push(format!("the goldens could not be compared: {}", one_line(&error)));
        Vec::new()
    })
}
