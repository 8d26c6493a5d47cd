//! What `script/false-alarms` asks of its experiments: how large a slowdown to add, and what became of all of them.
//!
//!     false_alarms slowdown SAME          seconds to add to stage.encode, from A/A experiments in the folder SAME
//!     false_alarms table SAME SLOWED OUT  the table on stdout; every run and every verdict as CSV in the folder OUT

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use praxis::measure::experiment::{
    Experiment, GATED_LINES, LineResult, MachineSpread, Pair, Plan, RunStatistics, Scale, Verdict, detectable,
};
use praxis::measure::{names, statistics};

/// The stage that is slowed down, and the pairs within which that has to be found.
const LINE: &str = names::STAGE_ENCODE;
const WITHIN_PAIRS: u32 = 20;
/// What has to be found in any case.
const LEAST_SLOWDOWN: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["slowdown", same] => {
            let (share, seconds) = slowdown(&experiments(Path::new(same))?)?;
            eprintln!("adding {:.1}% of {LINE}", 100.0 * share);
            println!("{seconds:.9}@{LINE}");
        }
        ["table", same, slowed, out] => {
            let (same, slowed) = (experiments(Path::new(same))?, experiments(Path::new(slowed))?);
            fs::create_dir_all(out)?;
            fs::write(Path::new(out).join("runs.csv"), runs_csv(&same, &slowed)?)?;
            fs::write(Path::new(out).join("verdicts.csv"), verdicts_csv(&same, &slowed)?)?;
            print!("{}", table(&same, &slowed)?);
        }
        _ => return Err("use: slowdown SAME, or table SAME SLOWED OUT".into()),
    }
    Ok(())
}

/// The finished experiments below `folder`, by name, judged by this program's code.
fn experiments(folder: &Path) -> Result<Vec<Experiment>, Box<dyn Error>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path().join("experiment.json")).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let mut experiments = paths.iter().map(|path| Experiment::read(path)).collect::<Result<Vec<_>, _>>()?;
    experiments.iter_mut().for_each(Experiment::judge);
    experiments.retain(|experiment| experiment.state != praxis::measure::experiment::ExperimentState::Unfinished);
    Ok(experiments)
}

/// The share and the seconds of [`LINE`] to add: 5%, or what the spread of `same` says can be found if that is more.
fn slowdown(same: &[Experiment]) -> Result<(f64, f64), Box<dyn Error>> {
    let first = same.first().ok_or("no finished experiment")?;
    let spread = MachineSpread::of(&first.scene, same).ok_or("no pair counts")?;
    let mut plan = Plan::new(WITHIN_PAIRS, 0, &GATED_LINES);
    plan.use_spread(&spread);
    let halves = || same.iter().flat_map(|experiment| &experiment.pairs).filter_map(Pair::halves);
    let median = |run: &RunStatistics| run.lines.get(LINE).map(|line| line.median);
    let differences: Vec<f64> = halves().filter_map(|(a, b)| Some((median(b)? / median(a)?).ln())).collect();
    let level_ns: Vec<f64> = halves().filter_map(|(a, _)| median(a)).collect();
    let level_ns = statistics::median(&level_ns).ok_or("no run has the line")?;
    let n_lines = first.lines.iter().filter(|line| line.verdict != Verdict::NotJudged).count();
    let least = detectable(&plan, &differences, Scale::Ratio, plan.margin_of(LINE), WITHIN_PAIRS, n_lines);
    let share = least.ok_or("too few pairs to find anything")?.max(LEAST_SLOWDOWN);
    Ok((share, share * level_ns * 1e-9))
}

/// The seconds that an experiment's B adds to [`LINE`]; `None` for an A/A experiment.
fn added_seconds(experiment: &Experiment) -> Option<f64> {
    experiment.b.label.strip_prefix("inject=")?.split('@').next()?.parse().ok()
}

fn is_different(line: &LineResult) -> bool {
    matches!(line.verdict, Verdict::Regressed | Verdict::Improved)
}

fn judged(experiment: &Experiment) -> impl Iterator<Item = &LineResult> {
    experiment.lines.iter().filter(|line| line.verdict != Verdict::NotJudged)
}

/// A row for each run: which comparison, pair and side, whether the pair counts, the chain, and each judged line's median in ns.
fn runs_csv(same: &[Experiment], slowed: &[Experiment]) -> Result<String, Box<dyn Error>> {
    let gated = &same.first().or(slowed.first()).ok_or("no experiment")?.plan.gated;
    let mut csv = format!("set,experiment,pair,first,side,counts,chain_ns,{}\n", gated.join(","));
    for (set, experiments) in [("same", same), ("slowed", slowed)] {
        for (experiment_idx, experiment) in experiments.iter().enumerate() {
            for (pair_idx, pair) in experiment.pairs.iter().enumerate() {
                for (side, run) in [("a", &pair.a), ("b", &pair.b)] {
                    let Some(run) = run else { continue };
                    let number = |value: Option<f64>| value.map_or_else(|| "NA".into(), |value| value.to_string());
                    let lines = gated.iter().map(|name| number(run.lines.get(name).map(|line| line.median)));
                    let lines = lines.collect::<Vec<_>>().join(",");
                    let (first, counts) = (pair.first.to_string().to_lowercase(), u8::from(pair.void.is_none()));
                    let chain_ns = number(run.chain_ns);
                    writeln!(csv, "{set},{experiment_idx},{pair_idx},{first},{side},{counts},{chain_ns},{lines}")?;
                }
            }
        }
    }
    Ok(csv)
}

/// A row for each judged line of each experiment.
fn verdicts_csv(same: &[Experiment], slowed: &[Experiment]) -> Result<String, Box<dyn Error>> {
    let mut csv =
        "set,experiment,added_s,line,verdict,pairs,void_pairs,ratio,low,high,p_value,margin,detectable\n".to_owned();
    for (set, experiments) in [("same", same), ("slowed", slowed)] {
        for (experiment_idx, experiment) in experiments.iter().enumerate() {
            let n_void = experiment.pairs.len() - experiment.n_valid_pairs();
            let added = added_seconds(experiment).unwrap_or(0.0);
            for line in judged(experiment) {
                let verdict = serde_json::to_value(line.verdict)?;
                let number = |value: Option<f64>| value.map_or_else(|| "NA".into(), |value| format!("{value:.5}"));
                let (name, n_pairs, found) = (&line.name, line.n_pairs, &line.difference);
                let (low, high, least) = (number(found.low), number(found.high), number(line.detectable));
                writeln!(
                    csv,
                    "{set},{experiment_idx},{added},{name},{},{n_pairs},{n_void},{:.5},{low},{high},{:.6},{:.5},{least}",
                    verdict.as_str().unwrap_or_default(),
                    found.estimate,
                    line.p_value,
                    line.margin
                )?;
            }
        }
    }
    Ok(csv)
}

/// The two tables, in Markdown.
fn table(same: &[Experiment], slowed: &[Experiment]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let spread = MachineSpread::of("", same).ok_or("no A/A experiment")?;
    let n_judged: usize = same.iter().map(|experiment| judged(experiment).count()).sum();
    let n_different = same.iter().flat_map(judged).filter(|line| is_different(line)).count();
    let n_pairs: usize = same.iter().map(Experiment::n_valid_pairs).sum();
    writeln!(
        text,
        "{} A/A experiments, {n_pairs} pairs: {n_different} of {n_judged} judged lines called different",
        same.len()
    )?;
    writeln!(
        text,
        "({:.2}%), in {} experiments.\n",
        100.0 * n_different as f64 / n_judged.max(1) as f64,
        spread.n_false_alarms
    )?;
    writeln!(text, "| line | run to run | judged | called different | same | can't tell |\n|---|---|---|---|---|---|")?;
    let gated = &same[0].plan.gated;
    for name in gated.iter().filter(|name| spread.lines.contains_key(*name)) {
        let count = |is: fn(&LineResult) -> bool| {
            same.iter().filter_map(|experiment| experiment.line(name)).filter(|line| is(line)).count()
        };
        writeln!(
            text,
            "| {name} | {:.1}% | {} | {} | {} | {} |",
            100.0 * spread.lines[name].spread,
            count(|_| true),
            count(is_different),
            count(|line| line.verdict == Verdict::Same),
            count(|line| line.verdict == Verdict::CantTell)
        )?;
    }
    let chain = spread.chain.unwrap_or(0.0);
    writeln!(
        text,
        "\nThe chain spreads by {:.2}% from run to run; 95% of pairs differ by less than {:.2}%.\n",
        100.0 * chain,
        100.0 * spread.chain_gate
    )?;
    let found =
        slowed.iter().filter(|experiment| experiment.line(LINE).is_some_and(|line| line.verdict == Verdict::Regressed));
    let n_found = found.count();
    let added_us: Vec<f64> = slowed.iter().filter_map(added_seconds).map(|seconds| 1e6 * seconds).collect();
    let (least, most) = (added_us.iter().copied().reduce(f64::min), added_us.iter().copied().reduce(f64::max));
    let micros = |micros: Option<f64>| micros.map_or_else(|| "?".to_owned(), |micros| format!("{micros:.1}"));
    writeln!(
        text,
        "{} experiments with {LINE} slowed down by {} µs at the median ({} to {}): regressed in {n_found} ({:.1}%) within {WITHIN_PAIRS} pairs.",
        slowed.len(),
        micros(statistics::median(&added_us)),
        micros(least),
        micros(most),
        100.0 * n_found as f64 / slowed.len().max(1) as f64
    )?;
    Ok(text)
}
