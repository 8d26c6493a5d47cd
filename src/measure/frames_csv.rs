//! `frames.csv`: a run as a table, one row for each frame.

use std::io::{self, Write};

use super::{FrameLog, Line, Unit, names};

/// Writes `log` as CSV: a header, then a row for each frame.
///
/// | column | what |
/// |---|---|
/// | `Frame` | the frame's index, from 0 |
/// | `FrameTime` | ms from the frame's start to the next one's: `frame_time`, or where that isn't measured `CPUBusy` + `CPUWait` |
/// | `CPUBusy` | ms that the main thread worked: `cpu_frame` |
/// | `CPUWait` | ms that it waited: `stage.wait` |
/// | `GPUTime` | ms from the first pass's begin to the last pass's end: `gpu_frame` |
/// | `Core` | the core that the frame started on |
/// | `stage.update_ns` … | every other line by its name and unit |
///
/// `FrameTime` to `GPUTime` are named and scaled as PresentMon 2 does, so that its viewers open the file; there they come
/// from the system's events and here from the program itself. What wasn't measured is `NA`, as PresentMon writes it too.
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

    write!(writer, "Frame,FrameTime,CPUBusy,CPUWait,GPUTime,Core")?;
    for line in &others {
        write!(writer, ",{}", quoted(&format!("{}_{}", line.name, line.unit.name())))?;
    }
    writeln!(writer)?;
    for (frame_idx, core) in log.cores().enumerate() {
        let value = |line: Option<&Line>| line.and_then(|line| line.sample(frame_idx));
        let (busy, waited) = (value(cpu), value(wait));
        let whole = value(frame_time).or_else(|| Some(busy? + waited?));
        write!(writer, "{frame_idx}")?;
        for ns in [whole, busy, waited, value(gpu)] {
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
