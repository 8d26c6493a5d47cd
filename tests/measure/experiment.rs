//! The decision code on simulated runs: frames that resemble each other, a slow mode that sticks, drift, outliers.

use praxis::measure::experiment::{
    EXPERIMENT_SCHEMA, Experiment, ExperimentKind, ExperimentState, GATED_LINES, Judgement, Leaning, MachineSpread,
    Pair, Plan, RunStatistics, Side, SideName, Verdict, VoidReason, judge,
};
use praxis::measure::statistics::SplitMix64;
use praxis::measure::{FrameLog, RunFile, Unit, names};
use proptest::prelude::*;

/// How simulated runs behave. Shares are of the line's level.
#[derive(Clone, Copy, Debug)]
struct Machine {
    n_frames: usize,
    /// From run to run.
    spread: f64,
    /// Within a run, from frame to frame, and how much a frame takes after the one before.
    noise: f64,
    phi: f64,
    /// The chance that a run is stuck in a mode that takes a fifth longer.
    slow_share: f64,
    /// Growth over one run: what comes later is slower.
    drift: f64,
    /// The chance that a frame takes ten times as long.
    outlier_share: f64,
    /// Times are whole multiples of this.
    grain_ns: f64,
}

const QUIET: Machine = Machine {
    n_frames: 40,
    spread: 0.01,
    noise: 0.03,
    phi: 0.7,
    slow_share: 0.0,
    drift: 0.0,
    outlier_share: 0.0,
    grain_ns: 1.0,
};

const MACHINES: [(&str, Machine); 8] = [
    ("quiet", QUIET),
    ("autocorrelated", Machine { phi: 0.97, ..QUIET }),
    ("sticky slow mode", Machine { slow_share: 0.2, ..QUIET }),
    ("drift", Machine { drift: 0.003, ..QUIET }),
    ("outliers", Machine { outlier_share: 0.1, ..QUIET }),
    ("ties", Machine { grain_ns: 5_000.0, ..QUIET }),
    ("constant", Machine { spread: 0.0, noise: 0.0, ..QUIET }),
    ("one frame", Machine { n_frames: 1, ..QUIET }),
];

/// Level of each gated line, in ns.
const LEVELS_NS: [f64; 6] = [500_000.0, 9_000_000.0, 60_000.0, 40_000.0, 250_000.0, 120_000.0];

struct Simulation {
    machine: Machine,
    random: SplitMix64,
    n_runs: u32,
}

impl Simulation {
    fn new(machine: Machine, seed: u64) -> Self {
        Self { machine, random: SplitMix64::new(seed), n_runs: 0 }
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.random.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.random.unit()).cos()
    }

    /// A run whose gated lines take `slowdown` times as long, through a frame log and a run file like any other.
    fn run(&mut self, slowdown: f64) -> RunStatistics {
        let machine = self.machine;
        let drift = 1.0 + machine.drift * f64::from(self.n_runs);
        self.n_runs += 1;
        let mut log = FrameLog::with_capacity(machine.n_frames);
        let lines: Vec<_> = GATED_LINES.iter().map(|name| log.line(name, Unit::Nanoseconds)).collect();
        let chain = log.line(names::CHAIN_START, Unit::Nanoseconds);
        // What befalls a run befalls all its lines, as on a real machine.
        let shared = (0.7 * machine.spread * self.normal()).exp();
        let mode = if self.random.unit() < machine.slow_share { 1.2 } else { 1.0 };
        let levels = LEVELS_NS
            .map(|level| level * slowdown * drift * shared * mode * (0.7 * machine.spread * self.normal()).exp());
        let mut state = [0.0; 6];
        for _ in 0..machine.n_frames {
            let frame_idx = log.begin_frame();
            for (line_idx, level) in levels.iter().enumerate() {
                state[line_idx] =
                    machine.phi * state[line_idx] + (1.0 - machine.phi.powi(2)).sqrt() * machine.noise * self.normal();
                let outlier = if self.random.unit() < machine.outlier_share { 10.0 } else { 1.0 };
                let ns = level * state[line_idx].exp() * outlier;
                log.set(lines[line_idx], frame_idx, ((ns / machine.grain_ns).round() * machine.grain_ns) as u64);
            }
            log.set(chain, frame_idx, 3_000);
        }
        RunStatistics::of(&RunFile::from_log("simulated", &log), "")
    }

    fn pair(&mut self, slowdown: f64) -> Pair {
        let first = if self.random.coin() { SideName::A } else { SideName::B };
        let (a, b) = if first == SideName::A {
            let a = self.run(1.0);
            (a, self.run(slowdown))
        } else {
            let b = self.run(slowdown);
            (self.run(1.0), b)
        };
        Pair { first, void: None, a: Some(a), b: Some(b) }
    }

    /// Pairs one after the other until it is decided, as the program does it.
    fn experiment(&mut self, plan: &Plan, slowdown: f64) -> (Vec<Pair>, Judgement) {
        let mut pairs = Vec::new();
        loop {
            pairs.push(self.pair(slowdown));
            // Between looks nothing can be decided.
            let is_look = plan.looks.iter().any(|look| look.n_pairs as usize == pairs.len());
            if is_look {
                let judgement = judge(plan, &mut pairs);
                if judgement.state != ExperimentState::Unfinished {
                    return (pairs, judgement);
                }
            }
        }
    }
}

fn is_different(judgement: &Judgement) -> bool {
    judgement.lines.iter().any(|line| matches!(line.verdict, Verdict::Regressed | Verdict::Improved))
}

/// No margin, so that the test alone stands between noise and a false alarm, and never *same*, so that every look is taken.
fn strict_plan(n_pairs: u32) -> Plan {
    Plan { margin: 0.0, ..Plan::new(n_pairs, 0, &GATED_LINES) }
}

#[test]
fn measure_false_alarms_stay_within_alpha() {
    let n_experiments = 250;
    let mut n_all_alarms = 0;
    for (seed, (name, machine)) in MACHINES.iter().enumerate() {
        let plan = strict_plan(20);
        let alarms = (0..n_experiments).filter(|idx| {
            let mut simulation = Simulation::new(*machine, (seed * 10_000 + idx) as u64);
            is_different(&simulation.experiment(&plan, 1.0).1)
        });
        let n_alarms = alarms.count();
        n_all_alarms += n_alarms;
        // Binomial(250, 0.01): 9 or more in 1 of 1,400.
        assert!(n_alarms < 9, "{name}: {n_alarms} of {n_experiments} A/A experiments called different");
    }
    // Binomial(2000, 0.01): 36 or more in 1 of 1,600.
    assert!(n_all_alarms < 36, "{n_all_alarms} false alarms");
}

#[test]
fn measure_slowdowns_are_found() {
    let plan = Plan::new(20, 0, &GATED_LINES);
    for (name, machine) in [("quiet", QUIET), ("drift", MACHINES[3].1), ("outliers", MACHINES[4].1)] {
        let found = (0..60).filter(|seed| {
            let (_, judgement) = Simulation::new(machine, 77 + seed).experiment(&plan, 1.05);
            judgement.lines[0].verdict == Verdict::Regressed
        });
        let n_found = found.count();
        assert!(n_found >= 54, "{name}: 5% found in {n_found} of 60");
    }
    let (_, judgement) = Simulation::new(QUIET, 3).experiment(&plan, 1.0 / 1.06);
    assert_eq!(judgement.lines[0].verdict, Verdict::Improved);
}

#[test]
fn measure_what_is_the_same_is_said_to_be() {
    let constant = MACHINES[6].1;
    let (pairs, judgement) = Simulation::new(constant, 1).experiment(&Plan::new(30, 0, &GATED_LINES), 1.0);
    assert_eq!((judgement.state, pairs.len()), (ExperimentState::Decided, 13));
    assert!(
        judgement
            .lines
            .iter()
            .filter(|line| line.verdict != Verdict::NotJudged)
            .all(|line| line.verdict == Verdict::Same)
    );
    // A constant difference needs no spread to be found.
    let (_, judgement) = Simulation::new(constant, 1).experiment(&Plan::new(30, 0, &GATED_LINES), 1.1);
    assert!(judgement.has_regression());
}

#[test]
fn measure_what_few_pairs_can_not_make_sure_leans() {
    // Ten pairs can't call one line of six different; each line's own interval is clear of no difference all the same.
    let plan = Plan::new(10, 0, &GATED_LINES);
    for (slowdown, leaning) in [(1.2, Leaning::Slower), (1.0 / 1.2, Leaning::Faster)] {
        let (_, judgement) = Simulation::new(QUIET, 5).experiment(&plan, slowdown);
        let judged = judgement.lines.iter().filter(|line| line.verdict != Verdict::NotJudged);
        let leanings: Vec<_> = judged.map(|line| (line.verdict, line.leaning())).collect();
        assert_eq!(leanings, [(Verdict::CantTell, Some(leaning)); 6]);
    }
    // What is told doesn't lean.
    let (_, judgement) = Simulation::new(QUIET, 3).experiment(&Plan::new(20, 0, &GATED_LINES), 1.2);
    assert_eq!((judgement.lines[0].verdict, judgement.lines[0].leaning()), (Verdict::Regressed, None));
}

fn experiment(plan: Plan, pairs: Vec<Pair>) -> Experiment {
    Experiment {
        schema: EXPERIMENT_SCHEMA.into(),
        scene: "simulated".into(),
        date: None,
        kind: ExperimentKind::Ab,
        state: ExperimentState::Unfinished,
        a: Side { label: "wait=block".into(), ..Side::default() },
        b: Side { label: "wait=spin".into(), ..Side::default() },
        machine: Default::default(),
        adapter: Default::default(),
        plan,
        pairs,
        lines: Vec::new(),
        clock: Default::default(),
        warnings: Vec::new(),
    }
}

#[test]
fn measure_differences_are_given_in_the_lines_unit_too() {
    let plan = strict_plan(20);
    let mut simulation = Simulation::new(QUIET, 7);
    let (pairs, judgement) = simulation.experiment(&plan, 1.1);
    let line = judgement.lines.iter().find(|line| line.name == names::CPU_FRAME).expect("it is gated");
    let absolute = line.absolute.expect("it has pairs");
    // A tenth of 500 µs, and both ends of the interval about it.
    assert!((40_000.0..60_000.0).contains(&absolute.estimate), "{absolute:?}");
    let (low, high) = absolute.low.zip(absolute.high).expect("20 pairs are enough for an interval");
    assert!(0.0 < low && low < absolute.estimate && absolute.estimate < high, "{absolute:?}");

    // A file from before there was such a thing gets it from its pairs.
    let mut experiment = experiment(plan, pairs);
    experiment.judge_so_far();
    let mut old = serde_json::to_value(&experiment).expect("it is data");
    for line in old["lines"].as_array_mut().expect("a list") {
        assert!(line["absolute"]["estimate"].is_number(), "{line}");
        line.as_object_mut().expect("a line").remove("absolute");
    }
    let text = serde_json::to_vec(&old).expect("it is data");
    let read = Experiment::parse(&text, std::path::Path::new("old.json")).expect("it is read as before");
    let of = |experiment: &Experiment| experiment.line(names::CPU_FRAME).and_then(|line| line.absolute);
    let (then, now) = (of(&experiment).expect("judged"), of(&read).expect("filled in"));
    assert!((then.estimate - now.estimate).abs() < 1e-3 && then.low.is_some() == now.low.is_some(), "{then:?} {now:?}");
}

#[test]
fn measure_the_clock_gate_voids_pairs_of_two_speeds() {
    let plan = Plan::new(20, 0, &GATED_LINES);
    let mut simulation = Simulation::new(QUIET, 9);
    let mut pairs: Vec<Pair> = (0..20).map(|_| simulation.pair(1.0)).collect();
    let slow_down = |pair: &mut Pair, factor: f64| {
        let b = pair.b.as_mut().expect("the pair is whole");
        b.chain_ns = b.chain_ns.map(|chain_ns| chain_ns * factor);
        b.lines.values_mut().for_each(|line| line.median *= factor);
    };
    slow_down(&mut pairs[3], 1.3);
    let judgement = judge(&plan, &mut pairs);
    assert!(
        matches!(pairs[3].void, Some(VoidReason::Clock { ratio }) if (ratio - 1.3).abs() < 1e-9),
        "{:?}",
        pairs[3].void
    );
    assert_eq!((judgement.clock.n_void, judgement.clock.is_moved), (1, false));
    assert_eq!(judgement.lines[0].n_pairs, 19);
    // Where the speed follows the side, it is the change that moves the clock: then nothing is void, and it is said what moved.
    pairs.iter_mut().enumerate().filter(|(idx, _)| *idx != 3).for_each(|(_, pair)| slow_down(pair, 1.3));
    let judgement = judge(&plan, &mut pairs);
    assert_eq!((judgement.clock.n_void, judgement.clock.is_moved), (0, true));
    let cpu_frame = &judgement.lines[0];
    assert!(cpu_frame.verdict == Verdict::Regressed && cpu_frame.is_moved_with_clock, "{cpu_frame:?}");
    let at_one_clock = cpu_frame.at_one_clock.expect("a CPU line of runs with chains");
    assert!((at_one_clock.estimate - 1.0).abs() < 0.02, "{at_one_clock:?}");
    assert!(judgement.lines[1].at_one_clock.is_none(), "the GPU has a clock of its own");
}

#[test]
fn measure_experiments_are_read_as_they_were_written() {
    let mut simulation = Simulation::new(QUIET, 4);
    let mut pairs: Vec<Pair> = (0..13).map(|_| simulation.pair(1.1)).collect();
    pairs.push(Pair { first: SideName::B, void: Some(VoidReason::Interrupted), a: None, b: pairs[0].b.clone() });
    let mut written = experiment(Plan::new(30, 0, &GATED_LINES), pairs);
    written.judge();
    assert_eq!(written.state, ExperimentState::Decided);
    let line = written.line(names::CPU_FRAME).expect("it was judged");
    assert!(line.detectable.is_some_and(|least| (0.005..0.08).contains(&least)), "{line:?}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("experiment.json");
    written.write(&path).expect("it can be written");
    let mut read = Experiment::read(&path).expect("it was just written");
    // JSON keeps numbers to within their last digit, so a number is compared as it is shown.
    let shown = |experiment: &Experiment| {
        let lines =
            experiment.lines.iter().map(|line| (line.name.clone(), line.verdict, format!("{:.9?}", line.difference)));
        (experiment.plan.looks.len(), experiment.pairs.len(), experiment.clock.n_void, lines.collect::<Vec<_>>())
    };
    assert_eq!(shown(&read), shown(&written));
    read.judge();
    assert_eq!(shown(&read), shown(&written), "judged again it is the same");
    for (text, fault) in [
        ("{}", "has schema none"),
        (r#"{"schema": "praxis.experiment/9"}"#, "praxis.experiment/9"),
        (r#"{"schema": "praxis.experiment/1""#, "is no experiment file"),
    ] {
        let error = Experiment::parse(text.as_bytes(), &path).expect_err(text).to_string();
        assert!(error.contains(fault), "{error}");
    }
}

#[test]
fn measure_a_self_test_gives_margins_and_a_gate() {
    let machine = Machine { spread: 0.04, ..QUIET };
    let plan = Plan::new(20, 0, &GATED_LINES);
    let experiments: Vec<Experiment> = (0..6)
        .map(|seed| {
            let (pairs, _) = Simulation::new(machine, seed).experiment(&plan, 1.0);
            let mut experiment = experiment(plan.clone(), pairs);
            experiment.judge();
            experiment
        })
        .collect();
    let spread = MachineSpread::of("simulated", &experiments).expect("pairs that count");
    let cpu_frame = spread.lines[names::CPU_FRAME];
    assert!((0.03..0.05).contains(&cpu_frame.spread), "{cpu_frame:?}");
    assert_eq!((cpu_frame.n_judged, spread.n_experiments), (6, 6));
    let mut wider = plan;
    wider.use_spread(&spread);
    assert_eq!(wider.margin_of(names::CPU_FRAME), cpu_frame.spread);
    assert_eq!(wider.margin_of("gpu.sun"), wider.margin);
    assert_eq!(wider.chain_gate, 0.01, "chains that never differ still leave the clock its grain");
}

/// A pair of which anything may be missing, and whose values may be anything.
fn any_pair() -> impl Strategy<Value = Pair> {
    let value = prop_oneof![Just(0.0), Just(1.0), Just(5e5), 0.0..1e12, Just(f64::INFINITY), Just(f64::NAN)];
    let run = (prop::collection::vec(value.clone(), 3), prop::option::of(value), 0u64..5);
    let half = |(values, chain_ns, missed): (Vec<f64>, Option<f64>, u64)| {
        let mut run = RunStatistics { chain_ns, ..RunStatistics::default() };
        for (name, value) in [names::CPU_FRAME, names::STAGE_ENCODE, "gpu.sun"].iter().zip(values) {
            let line = praxis::measure::experiment::LineStatistics {
                unit: Unit::Nanoseconds,
                median: value,
                p99: Some(value),
            };
            run.lines.insert((*name).to_owned(), line);
        }
        run.counts.insert("missed".into(), missed);
        run
    };
    let half = run.prop_map(half);
    (prop::option::weighted(0.95, half.clone()), prop::option::weighted(0.95, half), any::<bool>()).prop_map(
        |(a, b, is_a_first)| {
            let void = (a.is_none() || b.is_none()).then_some(VoidReason::Interrupted);
            Pair { first: if is_a_first { SideName::A } else { SideName::B }, void, a, b }
        },
    )
}

proptest! {
    #[test]
    fn measure_no_pairs_make_a_nan_or_a_panic(pairs in prop::collection::vec(any_pair(), 0..26), n_pairs in 1u32..26) {
        let mut experiment = experiment(Plan::new(n_pairs, 0, &GATED_LINES), pairs);
        experiment.judge();
        for line in &experiment.lines {
            let numbers = [Some(line.a), Some(line.b), Some(line.difference.estimate), Some(line.p_value), Some(line.margin),
                line.difference.low, line.difference.high, line.detectable, line.spread,
                line.p99.map(|p99| p99.estimate), line.at_one_clock.map(|at_one| at_one.estimate)];
            prop_assert!(numbers.iter().flatten().all(|number| number.is_finite()), "{line:?}");
        }
        prop_assert!(experiment.clock.ratio.is_none_or(f64::is_finite));
    }
}
