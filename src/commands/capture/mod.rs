//! `praxis capture`: one picture, or the goldens.

mod bless;
mod check;

use std::path::Path;

use super::session::Session;
use super::{Outcome, WrongUsage, png, terminal};
use crate::cli::CaptureArgs;

/// Runs it.
pub fn run(args: &CaptureArgs) -> anyhow::Result<Outcome> {
    match &args.out {
        Some(out) => draw_one(args, out),
        None if args.bless => bless::run(args),
        None => check::run(args),
    }
}

fn draw_one(args: &CaptureArgs, out: &Path) -> anyhow::Result<Outcome> {
    let [scene] = &args.scenes[..] else {
        return Err(WrongUsage("--out draws one scene: name exactly one".into()).into());
    };
    let session = Session::open(&args.render)?;
    let size_px = session.size_px();
    if args.render.size.is_none() {
        session.note_software_defaults(&format!("drawing {}×{} pixels (--size changes it)", size_px[0], size_px[1]));
    }
    let mut stage = session.load(scene, None, size_px)?;
    let picture = stage.picture_of_frame(&session.gpu, args.frame)?;
    png::write(out, &picture)?;
    terminal::note(args.render.quiet, &format!("wrote {}", out.display()));
    Ok(Outcome::Good)
}
