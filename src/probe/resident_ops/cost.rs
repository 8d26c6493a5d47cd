//! What each way costs while it is used without a pause, and what a worker costs that has nothing to do: CPU time of the process, and the
//! GPU's power where its driver tells.

use std::time::Duration;

use super::{Op, OpsSubject, Way, fatal, set_polling};
use crate::gpu::Gpu;
use crate::probe::clock::{Clock, SystemClock};
use crate::probe::context::{Context, Effort};
use crate::probe::error::ProbeError;
use crate::probe::interleave::{Watch, one_line};
use crate::probe::power::PowerMeter;
use crate::probe::report::{Cell, Column, Ended, ProbeReport, Table};

/// What goes on: its name, whether the worker's kernel polls, and by which way adds are done.
const STATES: [(&str, bool, Option<Way>); 6] = [
    ("nothing, no kernel", false, None),
    ("nothing, the kernel polls", true, None),
    ("adds through the worker", true, Some(Way::Resident)),
    ("adds, submit + spin", false, Some(Way::Spin)),
    ("adds, submit + block", false, Some(Way::Block)),
    ("adds on one core", false, Some(Way::Core)),
];

/// How long each state is looked at, how long it goes on before, and how often it has its turn.
struct Windows {
    window: Duration,
    before: Duration,
    n_turns: usize,
}

/// What was used, over all turns of a state.
#[derive(Clone, Copy, Default)]
struct Used {
    wall_ns: u64,
    cpu_ns: Option<u64>,
    n_ops: u64,
    /// Of the turns in which the GPU's power was known.
    joules: f64,
    joules_ns: u64,
}

impl Used {
    fn seconds(&self) -> f64 {
        self.wall_ns as f64 / 1e9
    }

    fn watts(&self) -> Option<f64> {
        (self.joules_ns > 0).then(|| self.joules / (self.joules_ns as f64 / 1e9))
    }
}

pub(super) fn measure(
    report: &mut ProbeReport,
    gpu: &Gpu,
    context: &Context,
    subject: &mut OpsSubject,
    watch: &mut dyn Watch,
) -> Result<(), ProbeError> {
    // Counters of energy move some ten times a second, and clocks take a while to follow the load.
    let windows = match context.effort {
        Effort::Full => Windows { window: Duration::from_millis(1500), before: Duration::from_millis(750), n_turns: 2 },
        Effort::Quick => Windows { window: Duration::from_millis(100), before: Duration::ZERO, n_turns: 1 },
    };
    let mut meter = PowerMeter::open(&gpu.info);
    let mut used = [Used::default(); STATES.len()];
    let n_all = (windows.n_turns * STATES.len()) as u64;
    for turn_idx in 0..n_all {
        let state_idx = turn_idx as usize % STATES.len();
        let (_, is_polling, way) = STATES[state_idx];
        set_polling(subject.worker, is_polling)?;
        let turn = run_turn(&windows, context.clock, subject, way, meter.as_mut().ok());
        if let Err(fault) = turn.map(|turn| add(&mut used[state_idx], turn)) {
            report.ended = Ended::Failed(one_line(&fault));
            break;
        }
        if !watch.step(turn_idx + 1, n_all) && turn_idx + 1 < n_all {
            report.ended = Ended::Interrupted;
            break;
        }
    }
    if let Err(why) = meter {
        report.cautions.push(format!("the GPU's power is not known: {why}"));
    }
    report.tables.push(table(subject.rows[0].n, &used));
    Ok(())
}

/// One state for a while, of which the first part doesn't count.
fn run_turn(
    windows: &Windows,
    clock: SystemClock,
    subject: &mut OpsSubject,
    way: Option<Way>,
    mut meter: Option<&mut PowerMeter>,
) -> Result<Used, ProbeError> {
    run_for(windows.before, clock, subject, way, || {})?;
    let (cpu, started_ns) = (clock.cpu_ns(), clock.now_ns());
    if let Some(meter) = &mut meter {
        meter.start(started_ns);
    }
    let n_ops = run_for(windows.window, clock, subject, way, || {
        if let Some(meter) = &mut meter {
            meter.look();
        }
    })?;
    let ended_ns = clock.now_ns();
    let cpu_ns = clock.cpu_ns().since(cpu).process_ns;
    let wall_ns = ended_ns - started_ns;
    let watts = meter.and_then(|meter| meter.watts(ended_ns));
    let joules_ns = if watts.is_some() { wall_ns } else { 0 };
    Ok(Used { wall_ns, cpu_ns, n_ops, joules: watts.unwrap_or(0.0) * joules_ns as f64 / 1e9, joules_ns })
}

/// Adds for so long, or nothing; how many. `look` is called every few milliseconds.
fn run_for(
    time: Duration,
    clock: SystemClock,
    subject: &mut OpsSubject,
    way: Option<Way>,
    mut look: impl FnMut(),
) -> Result<u64, ProbeError> {
    const LOOK_EVERY: Duration = Duration::from_millis(10);
    let end_ns = clock.now_ns() + time.as_nanos() as u64;
    let mut n_ops = 0;
    let mut next_look_ns = 0;
    loop {
        let now_ns = clock.now_ns();
        if now_ns >= end_ns {
            return Ok(n_ops);
        }
        if now_ns >= next_look_ns {
            look();
            next_look_ns = now_ns + LOOK_EVERY.as_nanos() as u64;
        }
        let Some(way) = way else {
            std::thread::sleep(LOOK_EVERY.min(Duration::from_nanos(end_ns - now_ns)));
            continue;
        };
        let n = subject.rows[0].n;
        subject.do_once((n, Op::Add, way)).map_err(fatal)?;
        n_ops += 1;
    }
}

fn add(used: &mut Used, turn: Used) {
    used.cpu_ns = turn.cpu_ns.map(|cpu_ns| used.cpu_ns.unwrap_or(0) + cpu_ns);
    used.wall_ns += turn.wall_ns;
    used.n_ops += turn.n_ops;
    used.joules += turn.joules;
    used.joules_ns += turn.joules_ns;
}

fn table(n: usize, used: &[Used; STATES.len()]) -> Table {
    let nothing = used[0].watts();
    let rows = STATES.iter().zip(used).map(|((name, _, _), used)| {
        let rate = (used.n_ops > 0).then(|| used.n_ops as f64 / used.seconds());
        let each = match (used.watts(), nothing, rate) {
            (Some(watts), Some(nothing), Some(rate)) => Some((watts - nothing) / rate * 1e6),
            _ => None,
        };
        let cores = used.cpu_ns.filter(|_| used.wall_ns > 0).map(|cpu_ns| cpu_ns as f64 / used.wall_ns as f64);
        vec![Cell::from(*name), cores.into(), rate.into(), used.watts().into(), each.into()]
    });
    Table {
        title: format!("What goes on, and what it costs; an add of {n} rows at a time, without a pause"),
        columns: vec![
            Column::text("what goes on"),
            Column::number("cores busy", "", 3),
            Column::number("operations a second", "", 0),
            Column::number("GPU", "W", 1),
            Column::number("GPU above nothing, an operation", "µJ", 0),
        ],
        rows: rows.collect(),
    }
}
