//! `frames.csv`: a run as a table, one row for each frame.

use std::io::{self, Write};

use super::clock_alignment::gpu_frame;
use super::{ClockAlignment, FrameLog, Line, SpanClock, Unit, names};

/// Writes `log` as CSV: a header, then a row for each frame.
///
/// | column | what |
/// |---|---|
/// | `Frame` | the frame's index, from 0 |
/// | `CPUStartTime` | ms from the run's start until the frame's work began, the wait for a slot done |
/// | `FrameTime` | ms that the frame's turn of the loop took: `frame_time`, or where that isn't measured `CPUBusy` + `CPUWait` |
/// | `CPUBusy` | ms that the main thread worked: `cpu_frame` |
/// | `CPUWait` | ms that it waited: `stage.wait` |
/// | `GPULatency` | ms from `CPUStartTime` until the frame's first pass began, by [`ClockAlignment`] |
/// | `GPUTime` | ms from the first pass's begin to the last pass's end: `gpu_frame` |
/// | `GPUBusy` | ms of `GPUTime` in which a pass ran |
/// | `GPUWait` | ms of `GPUTime` in which none did |
/// | `Core` | the core that the frame started on |
/// | `stage.update_ns` … | every other line by its name and unit |
///
/// `CPUStartTime` to `GPUWait` are named and scaled as PresentMon 2 does, so that its viewers open the file; there they come
/// from the system's events and here from the program itself (docs/report.md says where they differ). What wasn't measured
/// is `NA`, as PresentMon writes it too.
///
/// # Errors
/// What the writer returns.
pub fn write_frames_csv(log: &FrameLog, writer: &mut dyn Write) -> io::Result<()> {
    let find = |name: &str| log.find(name).filter(|line| line.unit == Unit::Nanoseconds);
    let (frame_time, cpu, wait) = (find(names::FRAME_TIME), find(names::CPU_FRAME), find(names::STAGE_WAIT));
    let gpu = find(names::GPU_FRAME);
    let in_columns = [frame_time, cpu, wait, gpu];
    let is_other = |line: &&Line| !in_columns.iter().flatten().any(|named| named.name == line.name);
    let others: Vec<&Line> = log.lines().iter().filter(is_other).collect();
    let slots = log.spans().find(names::WAIT_SLOT);
    let alignment = ClockAlignment::of(log);
    let mut passes = Vec::new();

    write!(writer, "Frame,CPUStartTime,FrameTime,CPUBusy,CPUWait,GPULatency,GPUTime,GPUBusy,GPUWait,Core")?;
    for line in &others {
        write!(writer, ",{}", quoted(&format!("{}_{}", line.name, line.unit.name())))?;
    }
    writeln!(writer)?;
    for (frame_idx, core) in log.cores().enumerate() {
        let value = |line: Option<&Line>| line.and_then(|line| line.sample(frame_idx));
        let (busy, waited) = (value(cpu), value(wait));
        let whole = value(frame_time).or_else(|| Some(busy? + waited?));
        let start = slots.and_then(|line| line.get(frame_idx)).map(|slot| slot.end_ns);
        let gpu_begin = alignment.zip(gpu_frame(log, frame_idx)).map(|(alignment, gpu)| alignment.cpu_ns(gpu.begin_ns));
        let latency = gpu_begin.zip(start).map(|(begin, start)| begin.saturating_sub(start));
        let gpu_busy = value(gpu).and_then(|gpu| Some(gpu_busy_ns(log, frame_idx, &mut passes)?.min(gpu)));
        let gpu_idle = value(gpu).zip(gpu_busy).map(|(gpu, busy)| gpu - busy);
        write!(writer, "{frame_idx}")?;
        for ns in [start, whole, busy, waited, latency, value(gpu), gpu_busy, gpu_idle] {
            write_cell(writer, ns.map(|ns| format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)))?;
        }
        write_cell(writer, core)?;
        for line in &others {
            write_cell(writer, line.sample(frame_idx))?;
        }
        writeln!(writer)?;
    }
    Ok(())
}

/// Time in which at least one pass ran: passes may overlap. `None` where a frame has no pass.
fn gpu_busy_ns(log: &FrameLog, frame_idx: usize, passes: &mut Vec<(u64, u64)>) -> Option<u64> {
    passes.clear();
    let of_gpu = log.spans().lines().iter().filter(|line| line.clock == SpanClock::Gpu);
    passes.extend(of_gpu.filter_map(|line| line.get(frame_idx)).map(|span| (span.begin_ns, span.end_ns)));
    passes.sort_unstable();
    let (mut busy_ns, mut until_ns) = (0, passes.first()?.0);
    for &(begin_ns, end_ns) in passes.iter() {
        busy_ns += end_ns.saturating_sub(begin_ns.max(until_ns));
        until_ns = until_ns.max(end_ns);
    }
    Some(busy_ns)
}

fn write_cell(writer: &mut dyn Write, value: Option<impl std::fmt::Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(writer, ",{value}"),
        None => write!(writer, ",NA"),
    }
}

/// A header as RFC 4180 wants it: quoted where it holds a comma, a quote or a line break.
fn quoted(header: &str) -> String {
    if header.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", header.replace('"', "\"\""))
    } else {
        header.to_owned()
    }
}
