//! The command line: arguments into plain options. What they mean is the commands' business.

mod experiment;
mod pacing;
pub mod probe;
mod resident;
mod window;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use praxis::frames::Injection;
use praxis::pacing::FrameWait;

pub use experiment::ExperimentArgs;
pub use pacing::{PriorityArgs, ThreadPriorityArg, WaitTableArgs};
pub use resident::ResidentSoakArgs;
pub use window::WindowArgs;

/// A wgpu renderer whose numbers can be trusted.
#[derive(Parser, Debug)]
#[command(name = "praxis", version, max_term_width = 110, args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Without a command the scene is shown in a window. A SCENE is a name in scenes/ or the path of a .ron, .gltf or .glb file.
Exit codes: 0 good; 1 the input or the environment is at fault; 2 wrong usage; 3 a check found a difference or a breach.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub window: WindowArgs,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Measure a scene and write a run folder
    Bench(BenchArgs),
    /// Make a picture, or compare or bless the goldens
    Capture(CaptureArgs),
    /// Show a run beside its Baseline and the Budgets
    Report(ReportArgs),
    /// Show adapters, features, cores, cache line and clock source
    Info(InfoArgs),
    /// Measure what a submit, a wait, a batch, a resident kernel or a shared cache line costs here
    Probe(probe::ProbeArgs),
    #[command(hide = true)]
    ProbeLineWorker(probe::LineWorkerArgs),
    /// Compare the ways to wait on the same frames
    #[command(hide = true)]
    WaitTable(WaitTableArgs),
    /// Random operations through a resident worker, checked against the CPU
    #[command(hide = true)]
    ResidentSoak(ResidentSoakArgs),
}

/// What every command that draws takes.
#[derive(Args, Clone, Debug)]
pub struct RenderArgs {
    /// Size of the picture in pixels [default: 2560x1440, the window 1280x720; on a software adapter 640x360]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    pub size: Option<[u32; 2]>,
    /// Samples per pixel: 1 or 4
    #[arg(long, default_value_t = 4, value_parser = parse_samples)]
    pub msaa: u32,
    /// Camera of the scene, by name
    #[arg(long, value_name = "NAME")]
    pub camera: Option<String>,
    /// How radiance becomes a picture
    #[arg(long, value_enum, default_value_t = TonemapArg::Agx)]
    pub tonemap: TonemapArg,
    /// Exposure in EV at ISO 100, instead of the scene's
    #[arg(long, value_name = "EV100", allow_negative_numbers = true, value_parser = parse_ev)]
    pub exposure: Option<f32>,
    /// Rays towards the sun: none, one per surface of a pixel, or more along the edges of shadows [default: edge]
    #[arg(long, value_enum)]
    pub rays: Option<RaysArg>,
    /// What traces rays: our own BVH, the adapter's ray queries, or what suits the adapter
    #[arg(long, value_enum, default_value_t = RayBackendArg::Auto)]
    pub ray_backend: RayBackendArg,
    /// Whether backend bvh looks rays up in a column map before it traces them, which changes no picture: off to see what it saves
    #[arg(long, value_name = "on|off", default_value = "on", action = clap::ArgAction::Set, value_parser = parse_on_off, hide = true)]
    pub ray_columns: bool,
    /// Degrees that the sun is wide: 0 for hard shadows, 0.53 for the real sun's [default: the scene's, mostly 0]
    #[arg(long, value_name = "DEGREES", value_parser = parse_angular_diameter)]
    pub sun_angular_diameter: Option<f32>,
    /// Part of an adapter's name (see `praxis info`)
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// How to wait for the oldest frame [default: auto: bench spins on hardware, everything else blocks]
    #[arg(long, value_name = "auto|block|spin|hybrid[:MICROS]", value_parser = parse_wait)]
    pub wait: Option<WaitArg>,
    /// Frames in flight
    #[arg(long, value_name = "1|2|3", default_value_t = 2, value_parser = whole_number(1..=3))]
    pub frames_in_flight: u32,
    /// wgpu's and the driver's validation layers
    #[arg(long)]
    pub validate: bool,
    /// No progress and no notes on stderr
    #[arg(long, short)]
    pub quiet: bool,
}

/// The command that was meant where the first argument is nearly one: clap takes it for a scene and stumbles over what follows.
pub fn meant_command(arguments: &[String]) -> Option<String> {
    let [first, _, ..] = arguments else { return None };
    let cli = Cli::command();
    let names = cli.get_subcommands().filter(|command| !command.is_hide_set()).map(clap::Command::get_name);
    let near = names.map(|name| (strsim::osa_distance(first, name), name)).min()?;
    (1..=2).contains(&near.0).then(|| format!("there is no command `{first}`: did you mean `{}`?", near.1))
}

impl RenderArgs {
    /// Which rays are traced, if the scene's sun is up.
    pub fn rays(&self) -> RaysArg {
        self.rays.unwrap_or(RaysArg::Edge)
    }
}

#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Scene name, or path of a .ron, .gltf or .glb file
    #[arg(required_unless_present = "resume")]
    pub scene: Option<String>,
    #[command(flatten)]
    pub render: RenderArgs,
    #[command(flatten)]
    pub priority: PriorityArgs,
    /// Frames to measure [default: 1800, on a software adapter 60]
    #[arg(long, value_parser = whole_number(1..=1_000_000))]
    pub frames: Option<u32>,
    /// Frames to draw before measuring [default: 100, on a software adapter 5]
    #[arg(long, value_parser = whole_number(1..=1_000_000))]
    pub warmup: Option<u32>,
    /// Leave out the aliasing measure
    #[arg(long)]
    pub skip_aliasing: bool,
    /// Don't draw the scene's goldens afterwards: then nothing says that the right picture was measured
    #[arg(long)]
    pub skip_goldens: bool,
    /// After the timed frames, draw some of them again and count their rays
    #[arg(long)]
    pub count_rays: bool,
    /// Run folder to write [default: runs/SCENE-TIME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep this run as the Baseline of this machine and scene
    #[arg(long)]
    pub record_baseline: bool,
    /// The run as JSON on stdout instead of the table
    #[arg(long)]
    pub json: bool,
    /// Adds a known slowdown to a stage of the main thread, to try comparing on
    #[arg(long, value_name = "SECONDS@LINE", hide = true)]
    pub inject: Option<Injection>,
    /// Whether submit blocks on the adapter, instead of finding out: so that all runs of a comparison wait alike
    #[arg(long, value_name = "true|false", hide = true)]
    pub submit_blocks: Option<bool>,
    #[command(flatten)]
    pub experiment: ExperimentArgs,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["check", "bless", "out"]))]
pub struct CaptureArgs {
    /// Scenes whose goldens to check or bless [default: all]; with --out the one scene to draw
    #[arg(value_name = "SCENE", required_unless_present_any = ["check", "bless"])]
    pub scenes: Vec<String>,
    #[command(flatten)]
    pub render: RenderArgs,
    /// Compare with the goldens: exit code 3 if one differs or is missing
    #[arg(long, conflicts_with_all = GOLDENS_SAY)]
    pub check: bool,
    /// Write the goldens anew
    #[arg(long, conflicts_with_all = GOLDENS_SAY)]
    pub bless: bool,
    /// Draw one picture into this PNG file
    #[arg(long, value_name = "FILE", value_parser = png_path())]
    pub out: Option<PathBuf>,
    /// Frame index to draw
    #[arg(long, default_value_t = 0, value_parser = whole_number(0..=u32::MAX))]
    pub frame: u32,
    /// Where --check saves pictures that differ [default: goldens/failed]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["bless", "out"])]
    pub failed: Option<PathBuf>,
    /// Results of --check or --bless as JSON on stdout
    #[arg(long, conflicts_with = "out")]
    pub json: bool,
}

/// What `goldens.toml` says of each golden, and the command line therefore can't.
const GOLDENS_SAY: [&str; 6] = ["size", "msaa", "camera", "tonemap", "exposure", "frame"];

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// A run folder or its run.json [default: the newest folder in runs/]
    pub run: Option<PathBuf>,
    /// Exit code 3 on a breached Budget, a line that is suspect beside the Baseline, or void timings
    #[arg(long)]
    pub check: bool,
    /// Write the report as one HTML page, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The tables as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct InfoArgs {
    /// Scene whose structures for rays are built by each backend, to show their memory and the time it takes
    pub scene: Option<String>,
    /// As JSON on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TonemapArg {
    Agx,
    Aces,
    Neutral,
    None,
}

impl std::fmt::Display for TonemapArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Agx => "agx",
            Self::Aces => "aces",
            Self::Neutral => "neutral",
            Self::None => "none",
        })
    }
}

/// `--rays`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RaysArg {
    Off,
    Hard,
    Edge,
}

/// `--ray-backend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RayBackendArg {
    Auto,
    Bvh,
    Query,
}

/// `--wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitArg {
    /// What suits the command and the adapter.
    Auto,
    /// This, whatever they are.
    Fixed(FrameWait),
}

fn parse_wait(text: &str) -> Result<WaitArg, String> {
    match text {
        "auto" => Ok(WaitArg::Auto),
        _ => text.parse().map(WaitArg::Fixed).map_err(|_| {
            format!("`{text}` is no way to wait: use auto, block, spin, hybrid, or hybrid:MICROS with 1 to 10000 µs")
        }),
    }
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let parse = |side: &str| side.parse::<u32>().ok().filter(|side| (1..=16_384).contains(side));
    text.split_once('x')
        .and_then(|(width, height)| Some([parse(width)?, parse(height)?]))
        .ok_or_else(|| "use WIDTHxHEIGHT with sides of 1 to 16384 pixels, such as 1920x1080".into())
}

/// A file's path for a picture: what another ending promises would not be in it.
fn png_path() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    use clap::builder::TypedValueParser;
    clap::builder::PathBufValueParser::new().try_map(|path| {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending {
            Some(ending) if ending != "png" => {
                Err(format!("pictures are written as PNG: call it {}", path.with_extension("png").display()))
            }
            _ => Ok(path),
        }
    })
}

/// A whole number from such a range.
fn whole_number(range: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<u32>().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("use a whole number from {} to {}", range.start(), range.end()))
    }
}

fn parse_samples(text: &str) -> Result<u32, String> {
    match text {
        "1" => Ok(1),
        "4" => Ok(4),
        _ => Err("use 1 or 4".into()),
    }
}

fn parse_angular_diameter(text: &str) -> Result<f32, String> {
    let degrees = text.parse::<f32>().ok().filter(|degrees| (0.0..=90.0).contains(degrees));
    degrees.ok_or_else(|| "use a number of degrees from 0 to 90".into())
}

fn parse_on_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("use on or off".into()),
    }
}

fn parse_ev(text: &str) -> Result<f32, String> {
    text.parse::<f32>()
        .ok()
        .filter(|ev| (-20.0..=30.0).contains(ev))
        .ok_or_else(|| "use a number from -20 to 30".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_bare_scene_opens_the_window_and_a_command_word_does_not() {
        let cli = Cli::parse_from(["praxis", "town", "--size", "31x17"]);
        assert!(cli.command.is_none());
        assert_eq!((cli.window.scene.as_deref(), cli.window.render.size), (Some("town"), Some([31, 17])));
        assert!(matches!(Cli::parse_from(["praxis", "bench", "town"]).command, Some(Command::Bench(_))));
    }

    #[test]
    fn a_command_that_is_nearly_one_is_told_from_a_scene() {
        let meant = |arguments: &str| meant_command(&arguments.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(meant("benhc town").as_deref(), Some("there is no command `benhc`: did you mean `bench`?"));
        assert_eq!(meant("reprot runs/a").as_deref(), Some("there is no command `reprot`: did you mean `report`?"));
        // A scene, a command, and nothing that anything follows.
        assert_eq!(["town --size 5x5", "bench town", "benhc", ""].map(meant), [const { None }; 4]);
    }

    #[test]
    fn whole_numbers_say_their_range() {
        let parse = whole_number(1..=10);
        assert_eq!((parse("1"), parse("10")), (Ok(1), Ok(10)));
        for text in ["0", "11", "x", "", "-1", "1.5"] {
            assert_eq!(parse(text), Err("use a whole number from 1 to 10".to_owned()), "{text}");
        }
    }

    #[test]
    fn switches_are_read_as_they_are_written() {
        for (arguments, has_columns) in
            [(&["--ray-columns", "on"][..], true), (&["--ray-columns=off"], false), (&[], true)]
        {
            let cli = Cli::try_parse_from([&["praxis", "town"], arguments].concat()).expect("a switch with its value");
            assert_eq!(cli.window.render.ray_columns, has_columns, "{arguments:?}");
        }
        assert!(Cli::try_parse_from(["praxis", "town", "--ray-columns"]).is_err(), "a switch without a value");
    }

    #[test]
    fn sizes_and_waits_that_make_no_sense_are_refused() {
        for size in ["0x5", "5", "x", "5x99999", "-1x5", "5 x5"] {
            assert!(parse_size(size).is_err(), "{size}");
        }
        assert_eq!(parse_wait("spin"), Ok(WaitArg::Fixed(FrameWait::Spin)));
        let max_spin = std::time::Duration::from_micros(50);
        assert_eq!(parse_wait("hybrid:50"), Ok(WaitArg::Fixed(FrameWait::Hybrid { max_spin })));
        assert!(parse_wait("hybrid:0").is_err() && parse_wait("hybrid:").is_err());
        assert!(parse_wait("sleep").is_err() && parse_samples("2").is_err() && parse_ev("nan").is_err());
        assert_eq!((parse_on_off("on"), parse_on_off("off"), parse_on_off("1").is_err()), (Ok(true), Ok(false), true));
        assert_eq!(parse_angular_diameter("0.53"), Ok(0.53));
        assert!(["-1", "91", "nan", "inf", "x"].into_iter().all(|text| parse_angular_diameter(text).is_err()));
    }
}
