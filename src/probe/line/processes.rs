//! Workers that are processes: this program again, with a hidden command. They take orders on stdin and answer on stdout; they
//! start together by a word in a file that all of them map.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::cores::pin;
use super::counters::{Counter, Events, WorkerCount, count};
use super::shared_file::SharedWords;
use super::threads::{Page, increment};
use super::{Kind, Variant};
use crate::probe::error::OpError;

/// The hidden command.
const COMMAND: &str = "probe-line-worker";
/// The file: some pages to start by, then the slots.
const FILE_BYTES: u64 = 64 * 1024;
const SLOTS_BYTE: usize = 16 * 1024;
/// Words of the first pages, far enough apart for any line: when to start, and who is there.
const GO_WORD: usize = 0;
const READY_WORD: usize = 64;
fn ready_word(worker_idx: usize) -> usize {
    READY_WORD + 32 * worker_idx
}

/// A worker that doesn't answer for so long never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// Processes, kept from block to block.
pub(super) struct Processes {
    program: Option<PathBuf>,
    crews: Vec<(Variant, Crew)>,
}

impl Processes {
    pub fn new(program: Option<PathBuf>) -> Self {
        Self { program, crews: Vec::new() }
    }

    pub fn run(&mut self, variant: &Variant, n_increments: u64) -> Result<Vec<WorkerCount>, OpError> {
        let unavailable = |reason: String| OpError::Unavailable(reason);
        let program = self.program.as_deref();
        let program = program.ok_or_else(|| unavailable("it is not known which program to start".into()))?;
        let crew_idx = match self.crews.iter().position(|(known, _)| known == variant) {
            Some(idx) => idx,
            None => {
                let crew = Crew::start(program, variant).map_err(|error| unavailable(error.to_string()))?;
                self.crews.push((variant.clone(), crew));
                self.crews.len() - 1
            }
        };
        let counts = self.crews[crew_idx].1.run(n_increments);
        // A crew that failed is of no more use; its processes end when it is dropped.
        if counts.is_err() {
            self.crews.swap_remove(crew_idx);
        }
        counts.map_err(|error| unavailable(format!("a worker process failed: {error}")))
    }
}

/// The processes of one variant.
struct Crew {
    words: SharedWords,
    workers: Vec<Worker>,
    turn: u64,
    // Last: it is deleted when dropped.
    _file: tempfile::NamedTempFile,
}

struct Worker {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Crew {
    fn start(program: &Path, variant: &Variant) -> std::io::Result<Self> {
        // Memory, where there is such a folder: a file on a disk would be written back now and then.
        let memory = Path::new("/dev/shm");
        let file = match tempfile::NamedTempFile::new_in(memory) {
            Ok(file) => file,
            Err(_) => tempfile::NamedTempFile::new()?,
        };
        file.as_file().set_len(FILE_BYTES)?;
        let words = SharedWords::map(file.as_file())?;
        let mut crew = Self { words, workers: Vec::new(), turn: 0, _file: file };
        for (worker_idx, core) in variant.cores.iter().enumerate() {
            let mut command = Command::new(program);
            command.arg(COMMAND).arg(crew._file.path()).arg(worker_idx.to_string());
            command.arg(variant.slot_offset(worker_idx).to_string());
            if variant.kind == Kind::PrivateProcesses {
                command.arg("--private");
            }
            if let Some(core) = core {
                command.arg("--core").arg(core.to_string());
            }
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
            let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(std::io::Error::other("no pipe to a worker"));
            };
            crew.workers.push(Worker { child, orders: Some(orders), answers: BufReader::new(answers) });
        }
        Ok(crew)
    }

    fn run(&mut self, n_increments: u64) -> std::io::Result<Vec<WorkerCount>> {
        self.turn += 1;
        for worker in &mut self.workers {
            if let Some(orders) = &mut worker.orders {
                writeln!(orders, "{n_increments} {}", self.turn)?;
                orders.flush()?;
            }
        }
        let started = Instant::now();
        for worker_idx in 0..self.workers.len() {
            while self.words.words()[ready_word(worker_idx)].load(Ordering::Acquire) != self.turn {
                if let Some(status) = self.workers[worker_idx].child.try_wait()? {
                    return Err(std::io::Error::other(format!("it ended ({status})")));
                }
                if started.elapsed() > PATIENCE {
                    return Err(std::io::ErrorKind::TimedOut.into());
                }
                std::thread::yield_now();
            }
        }
        self.words.words()[GO_WORD].store(self.turn, Ordering::Release);
        let mut counts = Vec::with_capacity(self.workers.len());
        for worker in &mut self.workers {
            let mut line = String::new();
            worker.answers.read_line(&mut line)?;
            let count = parse_answer(&line);
            counts.push(count.ok_or_else(|| std::io::Error::other(format!("it answered {:?}", line.trim_end())))?);
        }
        Ok(counts)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The end of its orders ends it; if it hangs, it is killed.
        self.orders = None;
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(500) {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a worker process is started with.
#[derive(Clone, Debug)]
pub struct WorkerArgs {
    /// The file to map.
    pub file: PathBuf,
    /// Its place among the workers.
    pub worker_idx: usize,
    /// Its slot's first byte, behind what workers start by.
    pub slot_offset: usize,
    /// Count in memory of its own instead.
    pub is_private: bool,
    /// The core to stay on.
    pub core: Option<u32>,
}

/// A worker process: counts for each line on `orders`, answers on `answers`, and ends with the orders.
///
/// # Errors
/// A file that can't be mapped or is too small, orders that make no sense, a pipe that broke.
pub fn run_worker(args: &WorkerArgs, orders: impl BufRead, mut answers: impl Write) -> std::io::Result<()> {
    pin(args.core);
    let file = File::options().read(true).write(true).open(&args.file)?;
    let shared = SharedWords::map(&file)?;
    let own = Page::zeroed();
    let word = |idx: usize| {
        shared.words().get(idx).ok_or_else(|| std::io::Error::other(format!("{} is too small", args.file.display())))
    };
    let slot = if args.is_private { &own.0[0] } else { word((SLOTS_BYTE + args.slot_offset) / 8)? };
    let (go, ready) = (word(GO_WORD)?, word(ready_word(args.worker_idx))?);
    let mut counter = Counter::of_this_thread();
    for order in orders.lines() {
        let order = order?;
        let parsed = order.split_once(' ').and_then(|(n, turn)| Some((n.parse().ok()?, turn.parse::<u64>().ok()?)));
        let (n_increments, turn) = parsed.ok_or_else(|| std::io::Error::other(format!("no order: {order:?}")))?;
        ready.store(turn, Ordering::Release);
        let started = Instant::now();
        for n_looks in 0u32.. {
            if go.load(Ordering::Acquire) == turn {
                break;
            }
            if n_looks % 1024 == 1023 {
                // Nobody will say go if whoever started this is gone.
                if started.elapsed() > PATIENCE {
                    return Err(std::io::ErrorKind::TimedOut.into());
                }
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
        let count = count(&mut counter, || increment(slot, n_increments));
        writeln!(answers, "{}", answer(&count))?;
        answers.flush()?;
    }
    Ok(())
}

/// Wall, CPU, cycles, instructions; `-` for what isn't known.
fn answer(count: &WorkerCount) -> String {
    let known = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let [cycles, instructions] = [count.events.map(|e| e.cycles), count.events.map(|e| e.instructions)].map(known);
    format!("{} {} {cycles} {instructions}", count.wall_ns, known(count.cpu_ns))
}

fn parse_answer(line: &str) -> Option<WorkerCount> {
    let values: Vec<Option<u64>> = line
        .split_whitespace()
        .map(|word| if word == "-" { Some(None) } else { word.parse().ok().map(Some) })
        .collect::<Option<_>>()?;
    let [wall_ns, cpu_ns, cycles, instructions] = values[..] else { return None };
    let events = cycles.zip(instructions).map(|(cycles, instructions)| Events { cycles, instructions });
    Some(WorkerCount { wall_ns: wall_ns?, cpu_ns, events })
}

#[cfg(test)]
mod tests {
    use super::super::Idle;
    use super::*;

    #[test]
    fn probe_line_what_workers_start_by_lies_before_their_slots() {
        let last = ready_word(super::super::MOST_WORKERS - 1);
        assert!(GO_WORD < ready_word(0) && (last + 1) * 8 <= SLOTS_BYTE);
        assert!(SLOTS_BYTE + super::super::MOST_WORKERS * super::super::CONTROL_BYTES <= FILE_BYTES as usize);
    }

    #[test]
    fn probe_line_answers_come_back_as_they_were() {
        let bare = WorkerCount { wall_ns: 5, cpu_ns: None, events: None };
        let full = WorkerCount { cpu_ns: Some(4), events: Some(Events { cycles: 9, instructions: 7 }), ..bare };
        for count in [bare, full] {
            assert_eq!(parse_answer(&answer(&count)), Some(count));
        }
        for line in ["", "1 2 3", "- 1 2 3", "a b c d", "1 2 3 4 5"] {
            assert_eq!(parse_answer(line), None, "{line:?}");
        }
    }

    #[test]
    fn probe_line_a_worker_counts_in_its_slot_and_refuses_nonsense() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.as_file().set_len(FILE_BYTES).expect("it can grow");
        let words = SharedWords::map(file.as_file()).expect("it can be mapped");
        words.words()[GO_WORD].store(1, Ordering::Release);
        let args =
            WorkerArgs { file: file.path().into(), worker_idx: 2, slot_offset: 64, is_private: false, core: None };
        let mut answers = Vec::new();
        run_worker(&args, &b"1000 1\n"[..], &mut answers).expect("it counts");
        assert!(parse_answer(&String::from_utf8_lossy(&answers)).is_some());
        assert_eq!(words.words()[(SLOTS_BYTE + 64) / 8].load(Ordering::Relaxed), 1_000);
        assert_eq!(words.words()[ready_word(2)].load(Ordering::Relaxed), 1);
        assert!(run_worker(&args, &b"many\n"[..], &mut answers).is_err());
        let beyond = WorkerArgs { slot_offset: 1 << 20, ..args.clone() };
        assert!(run_worker(&beyond, &b""[..], &mut answers).is_err());
        // In memory of its own, the slot stays as it was.
        let private = WorkerArgs { is_private: true, ..args };
        run_worker(&private, &b"1000 1\n"[..], &mut answers).expect("it counts");
        assert_eq!(words.words()[(SLOTS_BYTE + 64) / 8].load(Ordering::Relaxed), 1_000);
    }

    #[test]
    fn probe_line_processes_that_cannot_be_started_leave_the_rest() {
        let variant = Variant {
            kind: Kind::SharedProcesses,
            cores: vec![None; 2],
            slot_bytes: 64,
            idle: Idle::None,
            place: None,
        };
        for program in [None, Some(PathBuf::from("/nonexistent/praxis"))] {
            assert!(matches!(Processes::new(program).run(&variant, 10), Err(OpError::Unavailable(_))));
        }
        // One that is no worker ends, and is told of; `run` doesn't wait for its answer.
        #[cfg(unix)]
        {
            let told = Processes::new(Some("/bin/true".into())).run(&variant, 10);
            assert!(matches!(&told, Err(OpError::Unavailable(reason)) if reason.contains("failed")), "{told:?}");
        }
    }
}
