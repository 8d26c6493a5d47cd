//! `praxis wait-table`: every way to wait on the same frames, in turn, in one process, so that clocks, adapter and scene
//! are the same for all and one alignment of the GPU's clock serves them.

use std::time::Duration;

use praxis::frames::{FrameLoop, WaitLog};
use praxis::measure::statistics::median;
use praxis::measure::{FrameLog, Summary, names};
use praxis::pacing::{ClockChain, FrameWait, HybridOutcomes, HybridSleep, detect_blocking_submit};
use serde_json::json;

use super::session::{Session, Stage};
use super::{Outcome, terminal};
use crate::cli::WaitTableArgs;

const HARDWARE_FRAMES: (u32, u32) = (60, 120);
const SOFTWARE_FRAMES: (u32, u32) = (20, 20);

/// A way to wait, and how its Hybrid blocks.
#[derive(Clone, Copy, PartialEq)]
struct Way {
    wait: FrameWait,
    sleep: HybridSleep,
}

const fn hybrid(micros: u64, sleep: HybridSleep) -> Way {
    Way { wait: FrameWait::Hybrid { max_spin: Duration::from_micros(micros) }, sleep }
}

const WAYS: [Way; 8] = [
    Way { wait: FrameWait::Block, sleep: HybridSleep::Auto },
    Way { wait: FrameWait::Spin, sleep: HybridSleep::Auto },
    hybrid(50, HybridSleep::Auto),
    hybrid(100, HybridSleep::Auto),
    hybrid(300, HybridSleep::Auto),
    // Where threads wake so late that less is of no use.
    hybrid(1000, HybridSleep::Auto),
    hybrid(1000, HybridSleep::Driver),
    hybrid(1000, HybridSleep::System),
];

impl Way {
    fn name(self) -> String {
        match self.sleep {
            HybridSleep::Auto => self.wait.to_string(),
            HybridSleep::Driver => format!("{}, driver's timeout", self.wait),
            HybridSleep::System => format!("{}, system's sleep", self.wait),
        }
    }
}

/// What the frames are bound by.
#[derive(Clone, Copy, PartialEq)]
enum Load {
    Gpu,
    /// The main thread reads the clock chain so often after each submit.
    Cpu {
        n_chains: u32,
    },
}

impl Load {
    fn name(self) -> &'static str {
        match self {
            Self::Gpu => "GPU-bound",
            Self::Cpu { .. } => "CPU-bound",
        }
    }
}

/// One way with one load in one round.
struct Turn {
    is_cpu_bound: bool,
    way_idx: usize,
    log: FrameLog,
    hybrid: Option<HybridOutcomes>,
}

/// Runs it.
pub fn run(args: &WaitTableArgs) -> anyhow::Result<Outcome> {
    let session = Session::open(&args.render)?;
    let (warmup, frames) = if session.gpu.is_software() { SOFTWARE_FRAMES } else { HARDWARE_FRAMES };
    let (n_warmup, n_frames) = (args.warmup.unwrap_or(warmup), args.frames.unwrap_or(frames));
    let size_px = session.size_px();
    session.note_software_defaults(&format!("{n_frames} frames a turn at {}×{} pixels", size_px[0], size_px[1]));
    let mut stage = session.load(&args.scene, None, size_px)?;
    if session.args.camera.is_none() {
        let camera = stage.scene.bench_camera().to_owned();
        stage.scene.set_camera(&camera)?;
    }
    anyhow::ensure!(
        session.gpu.has_timestamps(),
        "{} has no timestamps: the ends of frames can't be known",
        session.gpu.info.name
    );
    let priority = session.set_priority(args.priority.thread_priority);
    let frame_loop = FrameLoop {
        n_warmup,
        n_frames,
        first_frame: 0,
        wait: FrameWait::Block,
        hybrid_sleep: HybridSleep::default(),
        times_polls: true,
        n_frames_in_flight: args.render.frames_in_flight as usize,
        submit_blocks: detect_blocking_submit(&session.gpu.device, &session.gpu.queue)?.blocks,
        injection: None,
    };

    let n_turns = args.rounds as usize * WAYS.len() * 2;
    let mut waits = WaitLog::with_capacity((n_turns + 1) * (n_warmup + n_frames) as usize);
    // A turn before all others: pipelines compile, clocks rise, and it tells how long the GPU takes.
    let (pilot, _) = run_turn(&session, &mut stage, &frame_loop, Load::Gpu, WAYS[0], &mut waits)?;
    let gpu_frame_ns = median_of(&pilot, names::GPU_FRAME).unwrap_or_default();
    let chain_ns = median_of(&pilot, names::CHAIN_START).unwrap_or(1e9).max(1.0);
    let extra_work_ns = 1.5 * gpu_frame_ns;
    let loads = [Load::Gpu, Load::Cpu { n_chains: (extra_work_ns / chain_ns).ceil() as u32 }];

    let bar = terminal::progress_bar(args.render.quiet, n_turns as u32);
    let mut turns = Vec::with_capacity(n_turns);
    for round in 0..args.rounds as usize {
        for load in loads {
            for turn in 0..WAYS.len() {
                // Each round begins with another way, so that none always follows the same one.
                let way_idx = (round + turn) % WAYS.len();
                let (log, hybrid) = run_turn(&session, &mut stage, &frame_loop, load, WAYS[way_idx], &mut waits)?;
                turns.push(Turn { is_cpu_bound: load != Load::Gpu, way_idx, log, hybrid });
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    session.gpu.check_errors()?;

    let overshoots = waits.overshoots().ok_or_else(|| anyhow::anyhow!("no frame has believable GPU timestamps"))?;
    let rows: Vec<Row> = loads
        .iter()
        .flat_map(|&load| (0..WAYS.len()).map(move |way_idx| (load, way_idx)))
        .map(|(load, way_idx)| Row::of(load, way_idx, &turns, &overshoots.values))
        .collect();
    let about = About {
        adapter: session.gpu.info.name.clone(),
        driver: session.gpu.info.driver_info.clone(),
        scene: stage.scene.name.clone(),
        size_px,
        n_rounds: args.rounds,
        n_frames,
        n_warmup,
        n_frames_in_flight: frame_loop.n_frames_in_flight,
        submit_blocks: frame_loop.submit_blocks,
        gpu_frame_ns,
        extra_work_ns,
        uncertainty_ns: overshoots.alignment.uncertainty_ns(),
        priority: priority.obtained,
    };
    if args.json {
        terminal::print_json(&about.to_json(&rows))?;
    } else {
        terminal::print(&about.to_markdown(&rows))?;
    }
    Ok(Outcome::Good)
}

fn run_turn(
    session: &Session,
    stage: &mut Stage,
    frame_loop: &FrameLoop,
    load: Load,
    way: Way,
    waits: &mut WaitLog,
) -> anyhow::Result<(FrameLog, Option<HybridOutcomes>)> {
    let frame_loop = FrameLoop { wait: way.wait, hybrid_sleep: way.sleep, ..*frame_loop };
    let mut log = FrameLog::with_capacity(frame_loop.n_frames as usize);
    let mut chain = ClockChain::new();
    let outcome = stage.draw(&session.gpu, &frame_loop, &mut log, waits, &mut |_| {
        if let Load::Cpu { n_chains } = load {
            // Work, not time: at a lower clock it takes longer, as any work does.
            (0..n_chains).for_each(|_| _ = chain.read_ns());
        }
        true
    })?;
    Ok((log, outcome.hybrid))
}

fn median_of(log: &FrameLog, line: &str) -> Option<f64> {
    Some(Summary::of(log.find(line)?.samples().flatten())?.median)
}

/// One line of the table, in ns: medians over rounds of each round's median or 95th percentile.
struct Row {
    load: &'static str,
    wait: String,
    overshoot: Option<f64>,
    overshoot_p95: Option<f64>,
    /// The share of frames that were waited for.
    waited_share: f64,
    /// Of all rounds, where they are Hybrid.
    hybrid: Option<HybridOutcomes>,
    cpu_time: Option<f64>,
    blocked_poll: Option<f64>,
    last_poll: Option<f64>,
    chains: [Option<f64>; 3],
    cpu_frame: Option<f64>,
    frame_time: Option<f64>,
}

impl Row {
    fn of(load: Load, way_idx: usize, turns: &[Turn], overshoots: &[(usize, usize, u64)]) -> Self {
        let is_cpu_bound = load != Load::Gpu;
        let is_of_row = |turn: &&Turn| turn.is_cpu_bound == is_cpu_bound && turn.way_idx == way_idx;
        let over_rounds = |line: &str| {
            median(&turns.iter().filter(is_of_row).filter_map(|turn| median_of(&turn.log, line)).collect::<Vec<_>>())
        };
        // The pilot is loop 0.
        let of_loop =
            |turn_idx: usize| overshoots.iter().filter(move |value| value.0 == turn_idx + 1).map(|value| value.2);
        let rounds: Vec<Summary> = turns
            .iter()
            .enumerate()
            .filter(|(_, turn)| is_of_row(turn))
            .filter_map(|(turn_idx, _)| Summary::of(of_loop(turn_idx)))
            .collect();
        let n_frames: usize = turns.iter().filter(is_of_row).map(|turn| turn.log.n_frames()).sum();
        let n_waited: u64 = rounds.iter().map(|round| round.n).sum();
        Self {
            load: load.name(),
            wait: WAYS[way_idx].name(),
            overshoot: median(&rounds.iter().map(|round| round.median).collect::<Vec<_>>()),
            overshoot_p95: median(&rounds.iter().map(|round| round.p95).collect::<Vec<_>>()),
            waited_share: n_waited as f64 / n_frames.max(1) as f64,
            hybrid: turns.iter().filter(is_of_row).filter_map(|turn| turn.hybrid).reduce(HybridOutcomes::plus),
            cpu_time: over_rounds(names::CPU_TIME_MAIN),
            blocked_poll: over_rounds(names::BLOCKED_POLL),
            last_poll: over_rounds(names::WAIT_LAST_POLL),
            chains: [names::CHAIN_START, names::CHAIN_AFTER_UPDATE, names::CHAIN_AFTER_SUBMIT].map(over_rounds),
            cpu_frame: over_rounds(names::CPU_FRAME),
            frame_time: over_rounds(names::FRAME_TIME),
        }
    }

    /// Of the frames that a Hybrid waited for, the shares caught, too early, too late, and only blocked for.
    fn hybrid_shares(&self) -> Option<[f64; 4]> {
        let of = self.hybrid?;
        let counts = [of.n_caught, of.n_early, of.n_late, of.n_blocked];
        let n_waits = counts.iter().sum::<u64>();
        (n_waits > 0).then(|| counts.map(|n| n as f64 / n_waits as f64))
    }

    /// How much of the CPU time that `spin` takes beyond `block` this takes.
    fn share_of_spin(&self, block: &Self, spin: &Self) -> Option<f64> {
        let extra = spin.cpu_time? - block.cpu_time?;
        (extra > 0.0).then_some((self.cpu_time? - block.cpu_time?) / extra)
    }
}

struct About {
    adapter: String,
    driver: String,
    scene: String,
    size_px: [u32; 2],
    n_rounds: u32,
    n_frames: u32,
    n_warmup: u32,
    n_frames_in_flight: usize,
    submit_blocks: bool,
    gpu_frame_ns: f64,
    extra_work_ns: f64,
    uncertainty_ns: Option<f64>,
    priority: String,
}

impl About {
    fn to_markdown(&self, rows: &[Row]) -> String {
        let [width, height] = self.size_px;
        let micros = |ns: Option<f64>| ns.map_or(String::new(), |ns| format!("{:.1}", ns / 1e3));
        let mut text = format!(
            "{} ({}), {} at {width}×{height}, GPU frame {:.2} ms; {} rounds of {} frames after {}, {} in flight{}, \
             thread {}.\nCPU-bound: with {:.2} ms of other work on the main thread in each frame, outside of cpu_frame and frame_time.\nOvershoot beyond the best wait of all, whose own latency is at most {} µs.{} Times in µs.\n\n\
             | load | wait | overshoot | p95 | waited | caught / early / late / blocked | CPU time | of Spin's extra | blocked in poll | last poll | chain start | \
             after update | after submit | cpu_frame | frame_time |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            self.adapter,
            self.driver,
            self.scene,
            self.gpu_frame_ns / 1e6,
            self.n_rounds,
            self.n_frames,
            self.n_warmup,
            self.n_frames_in_flight,
            if self.submit_blocks { ", submit blocks" } else { "" },
            self.priority,
            self.extra_work_ns / 1e6,
            self.uncertainty_ns.map_or("?".to_owned(), |ns| format!("{:.1}", ns / 1e3)),
            // Each way had one stretch of time only: whatever drifts looks like a difference between ways.
            if self.n_rounds == 1 {
                " Of one round: the clocks' drift is in it, so that ways can't be compared."
            } else {
                ""
            },
        );
        for of_load in rows.chunks(WAYS.len()) {
            for row in of_load {
                let share = row.share_of_spin(&of_load[0], &of_load[1]);
                let share = share.map_or(String::new(), |share| format!("{:.1}%", 100.0 * share));
                let hybrid = row
                    .hybrid_shares()
                    .map_or(String::new(), |shares| shares.map(|share| format!("{:.0}%", 100.0 * share)).join(" / "));
                let [start, after_update, after_submit] = row.chains.map(micros);
                text += &format!(
                    "| {} | {} | {} | {} | {:.0}% | {hybrid} | {} | {share} | {} | {} | {start} | {after_update} | {after_submit} | {} | {} |\n",
                    row.load,
                    row.wait,
                    micros(row.overshoot),
                    micros(row.overshoot_p95),
                    100.0 * row.waited_share,
                    micros(row.cpu_time),
                    micros(row.blocked_poll),
                    micros(row.last_poll),
                    micros(row.cpu_frame),
                    micros(row.frame_time),
                );
            }
        }
        text
    }

    fn to_json(&self, rows: &[Row]) -> serde_json::Value {
        let row_json = |row: &Row, of_load: &[Row]| {
            json!({
                "load": row.load, "wait": row.wait, "overshoot_ns": row.overshoot, "overshoot_p95_ns": row.overshoot_p95,
                "waited_share": row.waited_share, "hybrid_shares": row.hybrid_shares(), "cpu_time_main_ns": row.cpu_time,
                "share_of_spins_extra": row.share_of_spin(&of_load[0], &of_load[1]), "blocked_poll_ns": row.blocked_poll, "last_poll_ns": row.last_poll,
                "chain_ns": row.chains, "cpu_frame_ns": row.cpu_frame, "frame_time_ns": row.frame_time,
            })
        };
        let rows: Vec<_> = rows
            .chunks(WAYS.len())
            .flat_map(|of_load| of_load.iter().map(|row| row_json(row, of_load)).collect::<Vec<_>>())
            .collect();
        json!({
            "schema": "praxis.wait_table/1", "adapter": self.adapter, "driver": self.driver, "scene": self.scene,
            "size_px": self.size_px, "rounds": self.n_rounds, "frames": self.n_frames, "warmup": self.n_warmup,
            "frames_in_flight": self.n_frames_in_flight, "submit_blocks": self.submit_blocks,
            "gpu_frame_ns": self.gpu_frame_ns, "extra_work_ns": self.extra_work_ns, "uncertainty_ns": self.uncertainty_ns, "thread": self.priority, "rows": rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn wait_table_medians_are_in_the_middle() {
        assert_eq!((median(&[]), median(&[3.0]), median(&[4.0, 1.0])), (None, Some(3.0), Some(2.5)));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
    }
}
