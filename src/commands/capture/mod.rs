//! `praxis capture`: one picture, or the goldens.

use anyhow::bail;

use super::session::Session;
use super::{Outcome, png, terminal};
use crate::cli::CaptureArgs;

/// Runs it.
pub fn run(args: &CaptureArgs) -> anyhow::Result<Outcome> {
    match &args.out {
        Some(out) => {
            let [scene] = &args.scenes[..] else { bail!("--out draws one scene: name exactly one") };
            let session = Session::open(&args.render)?;
            let size_px = session.size_px();
            if args.render.size.is_none() {
                session.note_software_defaults(&format!(
                    "drawing {}×{} pixels (--size changes it)",
                    size_px[0], size_px[1]
                ));
            }
            let mut stage = session.load(scene, None, size_px)?;
            let picture = stage.picture_of_frame(&session.gpu, args.frame)?;
            png::write(out, &picture)?;
            terminal::note(args.render.quiet, &format!("wrote {}", out.display()));
            Ok(Outcome::Good)
        }
        None => bail!("goldens are not there yet"),
    }
}
