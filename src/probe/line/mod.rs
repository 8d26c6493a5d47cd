//! What it costs that two cores write into one cache line, and how far apart their slots must be.
//!
//! Every worker counts in a slot of its own, so nothing is shared but the line. Where a slot's neighbour lies on the same line,
//! each write takes the line from the neighbour's core. How far apart slots must be is where that cost ends; what the
//! system calls the line's size is only a hint (an adjacent line may be fetched along).

mod cores;
mod counters;
mod processes;
mod shared_file;
mod threads;
mod verdict;

use std::path::PathBuf;

pub use processes::{WorkerArgs, run_worker};

use super::context::{Context, Effort};
use super::error::OpError;
use super::interleave::{Plan, Subject, Watch, measure_interleaved};
use super::report::ProbeReport;
use cores::usable_cores;
use counters::{WorkerCount, ipc};
use processes::Processes;

const QUESTION: &str = "What does a shared cache line cost, and how far apart must per-thread slots be?";

/// Slot sizes that are tried, in bytes; the last is beyond any line: the control.
pub const SLOT_BYTES: [usize; 6] = [8, 16, 32, 64, 128, CONTROL_BYTES];
/// See [`SLOT_BYTES`].
pub const CONTROL_BYTES: usize = 256;
/// More workers than this are one crowd as good as another.
const MOST_WORKERS: usize = 16;

/// Where idle threads have their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// There are none.
    None,
    /// One after each worker's: no two workers are neighbours.
    Interleaved,
    /// All before the workers'; a control.
    Before,
    /// All after; a control.
    After,
}

/// What the workers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Threads of this process.
    Threads,
    /// Processes that map one file.
    SharedProcesses,
    /// Processes, each with memory of its own.
    PrivateProcesses,
}

/// One thing to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// What the workers are.
    pub kind: Kind,
    /// How many, each on a core of its own.
    pub cores: Vec<Option<u32>>,
    /// From one slot to the next.
    pub slot_bytes: usize,
    /// Idle threads beside them.
    pub idle: Idle,
    /// What the row is called beside its layout, as `cores 0, 4`.
    pub place: Option<String>,
}

impl Variant {
    fn n_workers(&self) -> usize {
        self.cores.len()
    }

    /// The first byte of a worker's slot.
    fn slot_offset(&self, worker_idx: usize) -> usize {
        let slot_idx = match self.idle {
            Idle::None | Idle::After => worker_idx,
            Idle::Interleaved => 2 * worker_idx,
            Idle::Before => self.n_workers() + worker_idx,
        };
        slot_idx * self.slot_bytes
    }

    /// The layout in a few words.
    pub fn name(&self) -> String {
        let slots = match (self.kind, self.slot_bytes) {
            (Kind::PrivateProcesses, _) => "processes, memory of their own".to_owned(),
            (Kind::SharedProcesses, bytes) => format!("processes, one mapped file, slots of {bytes} bytes"),
            (Kind::Threads, bytes) => format!("slots of {bytes} bytes"),
        };
        let idle = match self.idle {
            Idle::None => "",
            Idle::Interleaved => ", idle threads between",
            Idle::Before => ", idle threads before",
            Idle::After => ", idle threads after",
        };
        let place = self.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
        format!("{slots}{idle}{place}")
    }
}

/// All variants for these cores, in the order in which workers take them.
fn variants(cores: &[Option<u32>], pairs: &[(String, [u32; 2])]) -> Vec<Variant> {
    let variant = |kind, n_workers: usize, slot_bytes, idle| Variant {
        kind,
        cores: cores[..n_workers].to_vec(),
        slot_bytes,
        idle,
        place: None,
    };
    let n_all = cores.len();
    let mut variants: Vec<Variant> =
        SLOT_BYTES.iter().map(|bytes| variant(Kind::Threads, n_all, *bytes, Idle::None)).collect();
    for idle in [Idle::Interleaved, Idle::Before, Idle::After] {
        variants.push(variant(Kind::Threads, n_all, 64, idle));
    }
    for bytes in [SLOT_BYTES[0], 64, CONTROL_BYTES] {
        variants.push(variant(Kind::SharedProcesses, n_all, bytes, Idle::None));
    }
    variants.push(variant(Kind::PrivateProcesses, n_all, CONTROL_BYTES, Idle::None));
    for n_workers in crowd_sizes(n_all) {
        for bytes in [SLOT_BYTES[0], 64, 128] {
            variants.push(variant(Kind::Threads, n_workers, bytes, Idle::None));
        }
    }
    for (place, pair) in pairs {
        for slot_bytes in [SLOT_BYTES[0], 64, CONTROL_BYTES] {
            variants.push(Variant {
                kind: Kind::Threads,
                cores: pair.iter().map(|core| Some(*core)).collect(),
                slot_bytes,
                idle: Idle::None,
                place: Some(place.clone()),
            });
        }
    }
    variants.dedup();
    variants
}

/// 1, 2, 4 … below `n_all`; the whole crowd is measured anyway.
fn crowd_sizes(n_all: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < n_all).collect()
}

/// Of one operation: the slowest worker's wall time, and the workers' mean CPU time.
const N_PARTS: usize = 2;
const WALL: usize = 0;
const CPU: usize = 1;

/// What runs workers: the machine, or a test's stand-in.
pub(super) trait Crowd {
    /// Has each worker count to `n_increments`, all at once.
    fn run(&mut self, variant: &Variant, n_increments: u64) -> Result<Vec<WorkerCount>, OpError>;
}

struct LineSubject<W> {
    crowd: W,
    variants: Vec<Variant>,
    n_increments: u64,
    /// (instructions, cycles) of all operations of each variant.
    events: Vec<Option<(u64, u64)>>,
}

impl<W: Crowd> Subject<N_PARTS> for LineSubject<W> {
    fn run(&mut self, variant_idx: usize) -> Result<[u64; N_PARTS], OpError> {
        let counts = self.crowd.run(&self.variants[variant_idx], self.n_increments)?;
        if let Some((instructions, cycles)) = ipc(&counts) {
            let sum = self.events[variant_idx].get_or_insert((0, 0));
            *sum = (sum.0 + instructions, sum.1 + cycles);
        }
        let wall_ns = counts.iter().map(|count| count.wall_ns).max().unwrap_or(0);
        let cpu_ns = counts.iter().map(|count| count.cpu_ns).sum::<Option<u64>>();
        Ok([wall_ns, cpu_ns.map_or(wall_ns, |sum| sum / counts.len().max(1) as u64)])
    }
}

/// Measures it. `worker_program` is this program, which processes are started of.
pub fn measure(context: &Context, worker_program: Option<PathBuf>, watch: &mut dyn Watch) -> ProbeReport {
    let mut report = context.report("line", QUESTION, None);
    // One core can share a line with nobody, and is measured all the same: its figure is the cost of counting alone.
    let usable = usable_cores();
    let n_workers = usable.cores.len().min(MOST_WORKERS);
    let cores = &usable.cores[..n_workers];
    let pairs = cores::cluster_pairs(&context.machine.clusters, cores);
    let (plan, solo_ns) = match context.effort {
        Effort::Full => (Plan { n_rounds: 15, n_ops: 3, n_warmup: 1 }, 2_000_000),
        Effort::Quick => (Plan { n_rounds: 6, n_ops: 1, n_warmup: 0 }, 200_000),
    };
    let n_increments = threads::increments_in(solo_ns);
    report
        .settings
        .set("rounds", plan.n_rounds)
        .set("runs_per_round", plan.n_ops)
        .set("increments_per_worker", n_increments)
        .set("workers", n_workers)
        .set("is_pinned", usable.is_pinned);
    report.cautions.extend(usable.cautions);
    if let Err(reason) = counters::check() {
        report.cautions.push(format!("no instructions per cycle: {reason}"));
    }
    let variants = variants(cores, &pairs);
    let events = vec![None; variants.len()];
    let crowd = Machine { processes: Processes::new(worker_program) };
    let mut subject = LineSubject { crowd, variants, n_increments, events };
    let n_variants = subject.variants.len();
    let measured = measure_interleaved(plan, n_variants, &mut subject, &context.clock, watch);
    let reported_bytes = context.machine.cache_line_bytes;
    verdict::fill(&mut report, &subject.variants, measured, &subject.events, n_increments, reported_bytes);
    report
}

/// Threads here, processes beside.
struct Machine {
    processes: Processes,
}

impl Crowd for Machine {
    fn run(&mut self, variant: &Variant, n_increments: u64) -> Result<Vec<WorkerCount>, OpError> {
        match variant.kind {
            Kind::Threads => Ok(threads::run(variant, n_increments)),
            Kind::SharedProcesses | Kind::PrivateProcesses => self.processes.run(variant, n_increments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_line_slots_lie_where_the_layout_says() {
        let variant = |idle| Variant { kind: Kind::Threads, cores: vec![None; 3], slot_bytes: 64, idle, place: None };
        let offsets = |idle| (0..3).map(|worker| variant(idle).slot_offset(worker)).collect::<Vec<_>>();
        assert_eq!(offsets(Idle::None), [0, 64, 128]);
        assert_eq!(offsets(Idle::After), [0, 64, 128]);
        assert_eq!(offsets(Idle::Interleaved), [0, 128, 256]);
        assert_eq!(offsets(Idle::Before), [192, 256, 320]);
    }

    #[test]
    fn probe_line_variants_are_each_there_once() {
        for n in [1, 2, 3, 16] {
            let cores: Vec<_> = (0..n).map(Some).collect();
            let pairs = [("in cluster 0".to_owned(), [0, 1])];
            let variants = variants(&cores, if n > 1 { &pairs } else { &[] });
            for (idx, variant) in variants.iter().enumerate() {
                assert!(!variants[..idx].contains(variant), "{n} cores: {variant:?} is there twice");
                assert!(variant.n_workers() >= 1 && variant.n_workers() <= n as usize);
            }
        }
        assert_eq!((crowd_sizes(1), crowd_sizes(2), crowd_sizes(12)), (vec![], vec![1], vec![1, 2, 4, 8]));
    }
}
