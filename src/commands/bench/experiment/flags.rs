//! The flags of `bench` that an experiment passes on to its runs, taken from the command line's own definition.

use std::ffi::OsString;

use anyhow::{Context, anyhow};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, Parser};

use crate::cli::{Cli, ExperimentArgs};
use crate::commands::WrongUsage;

/// What belongs to the experiment as a whole, besides [`ExperimentArgs::IDS`].
const NOT_PASSED_ON: [&str; 6] = ["scene", "out", "json", "quiet", "record_baseline", "skip_aliasing"];

/// A flag as `--name=value`, or `--name` alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Without dashes.
    pub name: String,
    value: Option<String>,
}

impl Flag {
    fn to_argument(&self) -> String {
        match &self.value {
            Some(value) => format!("--{}={value}", self.name),
            None => format!("--{}", self.name),
        }
    }
}

/// The flags that this program was started with and that its runs get too.
pub fn given() -> anyhow::Result<Vec<Flag>> {
    given_in(std::env::args_os())
}

fn given_in(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<Vec<Flag>> {
    let matches = Cli::command().try_get_matches_from(arguments)?;
    let matches = matches.subcommand_matches("bench").context("the command is not bench")?;
    let bench = bench_command();
    let passed = bench.get_arguments().filter(|arg| is_passed_on(arg) && is_given(arg, matches));
    passed.map(|arg| flag_of(arg, matches)).collect()
}

fn bench_command() -> Command {
    let mut cli = Cli::command();
    cli.build();
    cli.find_subcommand("bench").cloned().unwrap_or_default()
}

fn is_passed_on(arg: &Arg) -> bool {
    let id = arg.get_id().as_str();
    arg.get_long().is_some() && !ExperimentArgs::IDS.contains(&id) && !NOT_PASSED_ON.contains(&id) && id != "help"
}

fn is_given(arg: &Arg, matches: &ArgMatches) -> bool {
    matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
}

fn is_bare(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count)
}

fn flag_of(arg: &Arg, matches: &ArgMatches) -> anyhow::Result<Flag> {
    let name = arg.get_long().unwrap_or_default().to_owned();
    if is_bare(arg) {
        return Ok(Flag { name, value: None });
    }
    let value = matches.get_raw(arg.get_id().as_str()).and_then(|mut values| values.next_back()).unwrap_or_default();
    let value = value.to_str().ok_or_else(|| anyhow!("the value of --{name} is no UTF-8 text"))?;
    Ok(Flag { name, value: Some(value.to_owned()) })
}

/// One flag in two values: `FLAG=A,B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoValues {
    /// The flag's name.
    pub name: String,
    /// As side A has it; `None` for a bare flag that is left out.
    a: Option<Flag>,
    b: Option<Flag>,
    /// The values as they were given.
    pub values: [String; 2],
}

impl TwoValues {
    /// Reads `FLAG=A,B`.
    pub fn parse(text: &str) -> Result<Self, WrongUsage> {
        let wrong = |fault: String| WrongUsage(format!("--ab {text}: {fault}"));
        let shape = || wrong("use FLAG=A,B, such as wait=block,spin".into());
        let (name, values) = text.trim_start_matches('-').split_once('=').ok_or_else(shape)?;
        let (a, b) = values.split_once(',').filter(|(a, b)| !a.is_empty() && !b.is_empty()).ok_or_else(shape)?;
        if a == b {
            return Err(wrong("both values are the same; --self-test compares a program with itself".into()));
        }
        let name = name.replace('_', "-");
        let bench = bench_command();
        let arg = bench.get_arguments().filter(|arg| is_passed_on(arg)).find(|arg| arg.get_long() == Some(&name));
        let arg = arg.ok_or_else(|| {
            wrong(format!("`{name}` is no flag of bench that can be compared{}", nearest(&name, &bench)))
        })?;
        let flag = |value: &str| match (is_bare(arg), value) {
            (true, "on") => Ok(Some(Flag { name: name.clone(), value: None })),
            (true, "off") => Ok(None),
            (true, _) => Err(wrong(format!("--{name} takes no value: use {name}=off,on"))),
            (false, _) => Ok(Some(Flag { name: name.clone(), value: Some(value.to_owned()) })),
        };
        Ok(Self { a: flag(a)?, b: flag(b)?, values: [a.to_owned(), b.to_owned()], name: name.clone() })
    }

    /// The flags of both sides: `given`, with this one in place of any of its name.
    pub fn sides(&self, given: &[Flag]) -> [Vec<Flag>; 2] {
        let others = || given.iter().filter(|flag| flag.name != self.name).cloned();
        [&self.a, &self.b].map(|own| others().chain(own.clone()).collect())
    }
}

/// The flag that was meant, perhaps.
fn nearest(name: &str, bench: &Command) -> String {
    let names = bench.get_arguments().filter(|arg| is_passed_on(arg)).filter_map(Arg::get_long);
    let near =
        names.map(|other| (strsim::osa_distance(name, other), other)).min().filter(|(distance, _)| *distance <= 3);
    near.map_or_else(String::new, |(_, other)| format!("; did you mean `{other}`?"))
}

/// The arguments of a run, checked: a value that `bench` would refuse is refused before anything runs.
pub fn run_arguments(scene: &str, flags: &[Flag]) -> Result<Vec<String>, WrongUsage> {
    let own = ["bench".to_owned(), scene.to_owned(), "--skip-aliasing".to_owned(), "--quiet".to_owned()];
    let arguments: Vec<String> = own.into_iter().chain(flags.iter().map(Flag::to_argument)).collect();
    match Cli::try_parse_from(std::iter::once("praxis").chain(arguments.iter().map(String::as_str))) {
        Ok(_) => Ok(arguments),
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            Err(WrongUsage(line.strip_prefix("error: ").unwrap_or(line).to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(command_line: &str) -> Vec<String> {
        let given = given_in(command_line.split(' ').map(Into::into)).expect("the command line is right");
        given.iter().map(Flag::to_argument).collect()
    }

    #[test]
    fn flags_of_the_run_are_passed_on_and_those_of_the_experiment_are_not() {
        let passed = flags(
            "praxis bench town --size 64x36 --validate --exposure -3 --pairs 12 --ab wait=block,spin --out x --json -q",
        );
        assert_eq!(passed, ["--size=64x36", "--exposure=-3", "--validate"]);
        assert!(flags("praxis bench town --self-test 3").is_empty());
    }

    #[test]
    fn two_values_of_a_flag_make_two_command_lines() {
        let given =
            given_in("praxis bench town --wait spin --frames 9".split(' ').map(Into::into)).expect("it is right");
        let sides = |text| {
            let two = TwoValues::parse(text).expect("it can be compared");
            two.sides(&given).map(|flags| run_arguments("town", &flags).expect("a run takes them")[4..].join(" "))
        };
        assert_eq!(sides("wait=block,spin"), ["--frames=9 --wait=block", "--frames=9 --wait=spin"]);
        assert_eq!(sides("validate=off,on"), ["--wait=spin --frames=9", "--wait=spin --frames=9 --validate"]);
        assert_eq!(sides("frames_in_flight=1,3")[1], "--wait=spin --frames=9 --frames-in-flight=3");
        assert_eq!(
            sides("inject=0@stage.encode,1e-5@stage.encode")[1],
            "--wait=spin --frames=9 --inject=1e-5@stage.encode"
        );
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        for (text, fault) in [
            ("wait", "use FLAG=A,B"),
            ("wait=block", "use FLAG=A,B"),
            ("wait=block,", "use FLAG=A,B"),
            ("wait=spin,spin", "both values are the same"),
            ("wiat=block,spin", "did you mean `wait`?"),
            ("out=a,b", "is no flag of bench that can be compared"),
            ("pairs=1,2", "is no flag of bench that can be compared"),
            ("validate=yes,no", "use validate=off,on"),
        ] {
            let error = TwoValues::parse(text).expect_err(text).to_string();
            assert!(error.contains(fault), "{text}: {error}");
        }
        let [_, b] = TwoValues::parse("wait=block,sleep").expect("its shape is right").sides(&[]);
        assert!(run_arguments("town", &b).expect_err("no way to wait").to_string().contains("sleep"));
    }
}
