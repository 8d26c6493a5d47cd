//! `capture --bless`: the goldens anew.

use anyhow::bail;
use praxis::measure::picture::{GoldenLane, Goldens, compare_with_golden};
use praxis::measure::write_atomically;
use serde_json::json;

use super::check::numbers_text;
use crate::cli::CaptureArgs;
use crate::commands::goldens::{Golden, GoldenSet};
use crate::commands::png::{self, Rgba};
use crate::commands::session::Session;
use crate::commands::{Outcome, terminal, vector_width};

/// Runs it. Nothing is written before every picture is drawn, and the driver's name comes last: were it the other way
/// round, an interruption could leave old pictures under the new driver's name.
pub fn run(args: &CaptureArgs) -> anyhow::Result<Outcome> {
    vector_width::fix();
    let set = GoldenSet::read(&args.scenes)?;
    let session = Session::open(&args.render)?;
    let list = list_for(&set, &session)?;

    let mut drawn = Vec::new();
    set.draw(&session, |golden, picture| {
        terminal::note(args.render.quiet, &format!("drew {}", golden.name));
        drawn.push((golden.name.clone(), picture));
        Ok(())
    })?;
    let mut documents = Vec::new();
    for (golden, (_, picture)) in set.chosen.iter().zip(&drawn) {
        let change = change(golden, picture);
        png::write(&golden.path, picture)?;
        match args.json {
            true => documents.push(json!({ "name": golden.name, "golden": golden.path, "change": change })),
            false => terminal::print(&format!("{}: {change}\n", golden.path.display()))?,
        }
    }
    if list != set.text {
        write_atomically(&set.list_path(), |file| file.write_all(list.as_bytes()))?;
    }
    if args.json {
        terminal::print_json(&json!({
            "schema": "praxis.blessed/1",
            "adapter": session.gpu.info.name,
            "driver_info": session.gpu.info.driver_info,
            "goldens": documents,
        }))?;
    }
    Ok(Outcome::Good)
}

/// `goldens.toml` as it will be.
fn list_for(set: &GoldenSet, session: &Session) -> anyhow::Result<String> {
    let here = &session.gpu.info.driver_info;
    let list = if session.gpu.is_software() {
        if !vector_width::is_fixed() {
            bail!("goldens drawn at another vector width could not be compared elsewhere: {}", vector_width::hint());
        }
        Goldens::with_software_driver(&set.text, here)
    } else {
        Goldens::without_software_driver(&set.text)
    };
    // One driver is named for all: those that stay must not come under the name of another.
    let would_rename = list != set.text && set.others_exist();
    if would_rename {
        let drawn_by = set.goldens.software_driver.as_deref().unwrap_or("hardware");
        bail!(
            "the other goldens are by {drawn_by}, this is {} {here}: bless all of them, or use the adapter that drew them",
            session.gpu.info.name
        );
    }
    Ok(list)
}

/// What blessing changes, as the eye sees it.
fn change(golden: &Golden, picture: &Rgba) -> String {
    if !golden.path.exists() {
        return "new".into();
    }
    let compared = || {
        let old = png::read(&golden.path)?;
        if old.pixels == picture.pixels && old.width_px == picture.width_px {
            return Ok("unchanged".to_owned());
        }
        let comparison =
            compare_with_golden(&old.as_picture()?, &picture.as_picture()?, GoldenLane::Flip, &golden.thresholds)?;
        Ok(format!("changed, FLIP {}", numbers_text(&comparison.numbers)))
    };
    compared().unwrap_or_else(|error: anyhow::Error| format!("replaced: {error}"))
}
