//! What the viewer takes.

use std::path::PathBuf;

use clap::Args;
use praxis::frames::window::FaultPlan;
use praxis::gpu::PresentPreference;

use super::{PriorityArgs, RenderArgs, png_path};

/// What the viewer takes.
#[derive(Args, Clone, Debug)]
pub struct WindowArgs {
    /// Scene name, or path of a .ron, .gltf or .glb file [default: town]
    pub scene: Option<String>,
    #[command(flatten)]
    pub render: RenderArgs,
    #[command(flatten)]
    pub priority: PriorityArgs,
    /// How frames reach the display; what the window can't do is replaced by the nearest
    #[arg(long, value_name = "auto|vsync|mailbox|immediate", default_value_t = PresentPreference::Auto, hide_default_value = true)]
    pub present: PresentPreference,
    /// Frames a second, at most
    #[arg(long, value_name = "N", value_parser = parse_fps)]
    pub fps_limit: Option<f64>,
    /// Start each frame as late as its predicted time allows, so that input is fresh when it is shown (with vsync)
    #[arg(long)]
    pub low_latency: bool,
    /// Load the scene anew when one of its files changes; in a debug build shaders too
    #[arg(long)]
    pub watch: bool,
    /// Start with scene time standing (Space)
    #[arg(long)]
    pub paused: bool,
    /// Close after this many frames
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// Save what the window shows at the last frame to this PNG file (with --frames)
    #[arg(long, value_name = "FILE", requires = "frames", value_parser = png_path())]
    pub screenshot: Option<PathBuf>,
    /// Record a run from the first frame on into this run folder (R)
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Start with Frame stats shown (F3)
    #[arg(long)]
    pub stats: bool,
    /// Start with the keys shown (F1)
    #[arg(long)]
    pub keys: bool,
    /// What goes wrong at which frame, for tests: such as acquire=lost@30,device-lost@60,zero-size@90x5
    #[arg(long, value_name = "FAULTS", hide = true, default_value_t = FaultPlan::default())]
    pub inject_fault: FaultPlan,
}

fn parse_fps(text: &str) -> Result<f64, String> {
    let fps = text.parse::<f64>().ok().filter(|fps| (1.0..=10_000.0).contains(fps));
    fps.ok_or_else(|| "use a number from 1 to 10000".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_no_rates_are_refused() {
        assert_eq!(parse_fps("59.94"), Ok(59.94));
        for text in ["0", "-1", "nan", "inf", "1e9", "fast", ""] {
            assert!(parse_fps(text).is_err(), "{text}");
        }
    }
}
