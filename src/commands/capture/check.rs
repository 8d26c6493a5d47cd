//! `capture --check`: every golden beside what is drawn now.

use std::path::{Path, PathBuf};

use anyhow::Context;
use praxis::measure::picture::{GoldenComparison, GoldenLane, PictureNumbers};
use serde_json::{Value, json};

use crate::cli::CaptureArgs;
use crate::commands::goldens::{Golden, GoldenSet};
use crate::commands::png::{self, Rgba};
use crate::commands::session::Session;
use crate::commands::{Outcome, one_line, terminal, vector_width};

/// One golden, compared.
struct Checked<'a> {
    golden: &'a Golden,
    lane: GoldenLane,
    /// The comparison, or why there could be none: the golden is missing, unreadable or of another size.
    result: Result<GoldenComparison, String>,
    /// The pictures that tell what is wrong.
    saved: Vec<PathBuf>,
}

/// Runs it. Each golden's line is printed as soon as it is known.
pub fn run(args: &CaptureArgs) -> anyhow::Result<Outcome> {
    vector_width::fix();
    let set = GoldenSet::read(&args.scenes)?;
    let session = Session::open(&args.render)?;
    let lane = set.lane(&session, vector_width::is_fixed());
    note_lane(&set, &session, lane);
    let failed_folder = args.failed.clone().unwrap_or_else(|| set.failed_folder());

    let name_width = set.chosen.iter().map(|golden| golden.name.len()).max().unwrap_or(0);
    let (mut documents, mut n_failed) = (Vec::new(), 0);
    set.draw(&session, |golden, picture| {
        let mut checked = Checked { golden, lane, result: golden.compare(&picture, lane), saved: Vec::new() };
        match checked.save(&failed_folder, &picture) {
            Ok(saved) => checked.saved = saved,
            // What the check found counts for more than that it can't be shown.
            Err(error) => terminal::note(args.render.quiet, &format!("warning: {}", one_line(&error))),
        }
        n_failed += usize::from(!checked.passes());
        match args.json {
            true => documents.push(checked.to_json()),
            false => terminal::print(&checked.to_line(name_width))?,
        }
        Ok(())
    })?;
    if args.json {
        terminal::print_json(&json!({
            "schema": "praxis.goldens/1",
            "adapter": session.gpu.info.name,
            "driver_info": session.gpu.info.driver_info,
            "lane": lane,
            "passes": n_failed == 0,
            "goldens": documents,
        }))?;
    }
    if n_failed == 0 {
        return Ok(Outcome::Good);
    }
    let n_checked = set.chosen.len();
    terminal::note(
        args.render.quiet,
        &format!(
            "{n_failed} of {n_checked} goldens failed; if the change is meant, look at them and `praxis capture --bless{}`",
            args.scenes.iter().map(|scene| format!(" {scene}")).collect::<String>()
        ),
    );
    Ok(Outcome::CheckFailed)
}

/// Says why a software adapter's pictures are not held to the software lane.
fn note_lane(set: &GoldenSet, session: &Session, lane: GoldenLane) {
    let Some(driver) = &set.goldens.software_driver else { return };
    if lane == GoldenLane::Software || !session.gpu.is_software() {
        return;
    }
    let here = &session.gpu.info.driver_info;
    let why = match driver == here {
        true => format!("{} to compare channel by channel", vector_width::hint()),
        false => format!("the goldens are by {driver}, this is {here}"),
    };
    terminal::note(session.args.quiet, &format!("comparing by FLIP: {why}"));
}

impl Checked<'_> {
    fn passes(&self) -> bool {
        self.result.as_ref().is_ok_and(GoldenComparison::passes)
    }

    /// Saves the actual picture and the error map of a failure; of a pass, takes away what an earlier failure left.
    fn save(&self, folder: &Path, picture: &Rgba) -> anyhow::Result<Vec<PathBuf>> {
        let path = |what: &str| folder.join(format!("{}.{what}.png", self.golden.name));
        let (actual, error_map) = (path("actual"), path("error"));
        for old in [&actual, &error_map] {
            match std::fs::remove_file(old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("can't remove the old {}", old.display()));
                }
                _ => {}
            }
        }
        if self.passes() {
            return Ok(Vec::new());
        }
        std::fs::create_dir_all(folder).with_context(|| format!("can't make the folder {}", folder.display()))?;
        png::write(&actual, picture)?;
        let Ok(comparison) = &self.result else { return Ok(vec![actual]) };
        png::write_rgb(&error_map, comparison.error_map_rgb(), picture.width_px, picture.height_px)?;
        Ok(vec![actual, error_map])
    }

    /// Name, lane, numbers, verdict and, of a failure, the pictures.
    fn to_line(&self, name_width: usize) -> String {
        let lane = match self.lane {
            GoldenLane::Software => "software",
            GoldenLane::Flip => "flip",
        };
        let found = match &self.result {
            Ok(comparison) => numbers_text(&comparison.numbers),
            Err(fault) => fault.clone(),
        };
        let mut line = format!("{:name_width$}  {lane:8}  {found}", self.golden.name);
        if self.passes() {
            return line + "  pass\n";
        }
        line += "  FAIL";
        if let Ok(comparison) = &self.result {
            let excesses: Vec<_> = comparison.excesses.iter().map(ToString::to_string).collect();
            line += &format!(": {}", excesses.join("; "));
        }
        if !self.saved.is_empty() {
            let saved: Vec<_> = self.saved.iter().map(|path| path.display().to_string()).collect();
            line += &format!(" → {}", saved.join(", "));
        }
        line + "\n"
    }

    fn to_json(&self) -> Value {
        let comparison = self.result.as_ref().ok();
        json!({
            "name": self.golden.name,
            "view": self.golden.view,
            "golden": self.golden.path,
            "lane": self.lane,
            "verdict": if self.passes() { "pass" } else { "fail" },
            "fault": self.result.as_ref().err(),
            "numbers": comparison.map(|comparison| &comparison.numbers),
            "excesses": comparison.map(|comparison| &comparison.excesses),
            "thresholds": self.golden.thresholds,
            "saved": self.saved,
        })
    }
}

/// The numbers that the lane judges by.
pub fn numbers_text(numbers: &PictureNumbers) -> String {
    let exact = &numbers.exact;
    let mut text = match &numbers.flip {
        None => {
            let percent = 100.0 * exact.differing_fraction();
            format!("{percent:.3}% of pixels differ, most by {} of 255", exact.max_difference)
        }
        Some(flip) => {
            let tile = flip.worst_tile;
            format!(
                "mean {:.4}, p99 {:.4}, worst tile {:.4} at {},{}",
                flip.mean, flip.p99, tile.mean, tile.x_px, tile.y_px
            )
        }
    };
    if exact.n_alpha_differing > 0 {
        text += &format!(", alpha of {:.3}%", 100.0 * exact.alpha_differing_fraction());
    }
    text
}
