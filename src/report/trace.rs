//! `trace.json`: the frames of a run on a time axis, for Perfetto and every other reader of Chrome's trace format.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;

use serde_json::{Value, json};

use super::table::short_name;
use crate::measure::names::{self, LineKind};
use crate::measure::{ClockAlignment, FrameLog, RunFile, Span, SpanClock, SpanLine};

/// Frames that a trace holds at most. Of a longer run it holds the first half of this many, and as many again around the
/// slowest frame: 2,000 frames make a file of some 8 MB, which a browser still opens at once.
pub const MOST_TRACE_FRAMES: usize = 2_000;

const PROCESS: u32 = 1;
const MAIN_THREAD: u32 = 1;
const GPU: u32 = 2;
/// The first of the tracks on which frames are in flight.
const IN_FLIGHT: u32 = 10;

/// Writes the frames of `log` as a trace: the main thread's stages and systems, waits, the GPU's passes on the CPU's clock, the
/// frames in flight, and the clock chain as a counter. `run` is what `log` became, for its names.
///
/// # Errors
/// What the writer returns.
pub fn write_trace(log: &FrameLog, run: &RunFile, writer: &mut dyn Write) -> io::Result<()> {
    let alignment = ClockAlignment::of(log);
    let frames = chosen_frames(log);
    let description = describe(run, alignment.as_ref(), &frames);
    write!(writer, "{{\"displayTimeUnit\": \"ms\",\n\"otherData\": {description:#},\n\"traceEvents\": [")?;
    let cores = log.cores().collect();
    let mut trace = Trace { log, cores, writer, is_first: true, gpu_until_ns: 0 };
    trace.name_tracks(run, alignment.as_ref())?;
    for frame_idx in frames.into_iter().flatten() {
        trace.cpu_frame(frame_idx)?;
        trace.in_flight(frame_idx, n_in_flight(run))?;
        if let Some(alignment) = &alignment {
            trace.gpu_frame(frame_idx, alignment)?;
        }
        trace.counters(frame_idx)?;
    }
    write!(trace.writer, "\n]}}\n")
}

/// What is in the file, and how far it can be trusted.
fn describe(run: &RunFile, alignment: Option<&ClockAlignment>, frames: &[Range<usize>]) -> Value {
    let ranges = frames.iter().filter(|range| !range.is_empty());
    let ranges: Vec<String> = ranges.map(|range| format!("{} to {}", range.start, range.end - 1)).collect();
    let alignment = match alignment {
        None => json!("none: no frame has GPU times, so there is no GPU track"),
        Some(alignment) => json!({
            "method": "envelope: of every frame, the first pass begins no sooner than its submit begins, and the last pass \
                       ends no later than a wait for it returns; the offset is the middle of what all frames allow",
            "uncertainty_us": alignment.uncertainty_ns() / 1e3,
            "drift_ppm": alignment.drift_ppm(),
            "is_contradictory": alignment.is_contradictory(),
            "n_frames": alignment.n_frames(),
        }),
    };
    json!({
        "schema": "praxis.trace/1",
        "scene": run.scene,
        "date": run.date,
        "commit": run.build.commit,
        "adapter": run.adapter.name,
        "n_frames_of_run": run.n_frames,
        "frames": ranges,
        "gpu_clock_alignment": alignment,
    })
}

/// All frames, or of a long run the first ones and those around the slowest; the second range may be empty.
fn chosen_frames(log: &FrameLog) -> [Range<usize>; 2] {
    let n_frames = log.n_frames();
    if n_frames <= MOST_TRACE_FRAMES {
        return [0..n_frames, n_frames..n_frames];
    }
    let half = MOST_TRACE_FRAMES / 2;
    let slowest = log.find(names::FRAME_TIME).and_then(|line| {
        let samples = line.samples().enumerate().filter_map(|(idx, ns)| Some((ns?, idx)));
        samples.max().map(|(_, idx)| idx)
    });
    let begin = slowest.unwrap_or(n_frames).saturating_sub(half / 2).clamp(half, n_frames - half);
    [0..half, begin..begin + half]
}

fn n_in_flight(run: &RunFile) -> usize {
    let setting = run.settings.get("frames_in_flight").and_then(Value::as_u64);
    setting.map_or(MOST_IN_FLIGHT, |n| n.clamp(1, MOST_IN_FLIGHT as u64) as usize)
}

/// More frames than this are never in flight.
const MOST_IN_FLIGHT: usize = 8;

struct Trace<'a> {
    log: &'a FrameLog,
    cores: Vec<Option<u32>>,
    writer: &'a mut dyn Write,
    is_first: bool,
    /// Where the last slice on the GPU's track ended.
    gpu_until_ns: u64,
}

impl Trace<'_> {
    fn name_tracks(&mut self, run: &RunFile, alignment: Option<&ClockAlignment>) -> io::Result<()> {
        let name = |what: &str, tid: u32, name: &str| json!({ "ph": "M", "name": what, "pid": PROCESS, "tid": tid, "args": { "name": name } });
        let order = |tid: u32| json!({ "ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": tid, "args": { "sort_index": tid } });
        let mut tracks = vec![(MAIN_THREAD, "main thread".to_owned())];
        if let Some(alignment) = alignment {
            let uncertainty_us = alignment.uncertainty_ns() / 1e3;
            tracks.push((GPU, format!("GPU {} (placed to ±{uncertainty_us:.1} µs)", run.adapter.name)));
        }
        tracks.extend((0..n_in_flight(run) as u32).map(|slot| (IN_FLIGHT + slot, format!("in flight, slot {slot}"))));
        self.event(&name("process_name", MAIN_THREAD, &format!("praxis {}", run.scene)).to_string())?;
        for (tid, track) in tracks {
            self.event(&name("thread_name", tid, &track).to_string())?;
            self.event(&order(tid).to_string())?;
        }
        Ok(())
    }

    /// The frame's turn of the loop, and within it waits, stages, systems and chain readings.
    fn cpu_frame(&mut self, frame_idx: usize) -> io::Result<()> {
        let spans = self.log.spans();
        let span = |name: &str| spans.find(name).and_then(|line| line.get(frame_idx));
        let Some(turn) = span(names::FRAME_TIME) else { return Ok(()) };
        let core = self.cores.get(frame_idx).copied().flatten();
        let args = core.map_or(String::new(), |core| format!(",\"core\":{core}"));
        self.slice(MAIN_THREAD, &format!("frame {frame_idx}"), "frame", turn, frame_idx, &args)?;

        let mut parts: Vec<(&str, &str, Span)> = Vec::new();
        for line in spans.lines().iter().filter(|line| line.clock == SpanClock::Cpu) {
            let Some(span) = line.get(frame_idx) else { continue };
            match (line.name.as_str(), LineKind::of(&line.name)) {
                (names::WAIT_SLOT | names::WAIT_BEFORE_SUBMIT, _) if span.duration_ns() > 0 => {
                    parts.push(("wait", "wait", span));
                }
                (name, LineKind::Stage) => parts.push((short_name(name), "stage", span)),
                (_, LineKind::Chain) => parts.push(("clock chain", "chain", span)),
                _ => {}
            }
        }
        parts.sort_by_key(|(_, _, span)| (span.begin_ns, span.end_ns));
        let mut until_ns = turn.begin_ns;
        for (name, category, span) in parts {
            let span = within(span, until_ns, turn.end_ns);
            until_ns = span.end_ns;
            self.slice(MAIN_THREAD, name, category, span, frame_idx, "")?;
            if name == short_name(names::STAGE_UPDATE) {
                self.systems(frame_idx, span)?;
            }
        }
        // An arrow from the submit to the first pass.
        match span(names::STAGE_SUBMIT) {
            Some(submit) if spans.lines().iter().any(|line| line.clock == SpanClock::Gpu) => {
                self.flow('s', MAIN_THREAD, submit.begin_ns, frame_idx, "")
            }
            _ => Ok(()),
        }
    }

    fn systems(&mut self, frame_idx: usize, update: Span) -> io::Result<()> {
        let of_kind = |line: &&SpanLine| LineKind::of(&line.name) == LineKind::System;
        let systems = self.log.spans().lines().iter().filter(of_kind);
        let mut systems: Vec<(&str, Span)> =
            systems.filter_map(|line| Some((short_name(&line.name), line.get(frame_idx)?))).collect();
        systems.sort_by_key(|(_, span)| (span.begin_ns, span.end_ns));
        let mut until_ns = update.begin_ns;
        for (name, span) in systems {
            let span = within(span, until_ns, update.end_ns);
            until_ns = span.end_ns;
            self.slice(MAIN_THREAD, name, "system", span, frame_idx, "")?;
        }
        Ok(())
    }

    /// From submit until the wait for it returned, in one of as many tracks as frames may be in flight.
    fn in_flight(&mut self, frame_idx: usize, n_slots: usize) -> io::Result<()> {
        let Some(span) = self.log.spans().find(names::IN_FLIGHT).and_then(|line| line.get(frame_idx)) else {
            return Ok(());
        };
        let track = IN_FLIGHT + (frame_idx % n_slots) as u32;
        self.slice(track, &format!("frame {frame_idx}"), "in flight", span, frame_idx, "")
    }

    /// The frame's passes in one slice. Passes may overlap each other and the next frame's, which slices of one track can't:
    /// each is drawn from where the one before it ends, and its arguments have the measured duration.
    fn gpu_frame(&mut self, frame_idx: usize, alignment: &ClockAlignment) -> io::Result<()> {
        let of_gpu = self.log.spans().lines().iter().filter(|line| line.clock == SpanClock::Gpu);
        let mut passes: Vec<(&str, Span)> =
            of_gpu.filter_map(|line| Some((short_name(&line.name), line.get(frame_idx)?))).collect();
        passes.sort_by_key(|(_, span)| (span.begin_ns, span.end_ns));
        let end_ns = passes.iter().map(|(_, span)| span.end_ns).max();
        let (Some((_, first)), Some(end_ns)) = (passes.first(), end_ns) else { return Ok(()) };
        let whole = alignment.cpu_span(Span { begin_ns: first.begin_ns, end_ns });
        let whole = within(whole, self.gpu_until_ns, u64::MAX);
        self.slice(GPU, &format!("frame {frame_idx}"), "gpu frame", whole, frame_idx, "")?;
        self.flow('f', GPU, whole.begin_ns, frame_idx, ",\"bp\":\"e\"")?;
        let mut until_ns = whole.begin_ns;
        for (name, pass) in passes {
            let span = within(alignment.cpu_span(pass), until_ns, whole.end_ns);
            until_ns = span.end_ns;
            let args = format!(",\"duration_ns\":{}", pass.duration_ns());
            self.slice(GPU, name, "pass", span, frame_idx, &args)?;
        }
        self.gpu_until_ns = whole.end_ns;
        Ok(())
    }

    fn counters(&mut self, frame_idx: usize) -> io::Result<()> {
        for name in [names::CHAIN_START, names::CHAIN_AFTER_UPDATE, names::CHAIN_AFTER_SUBMIT] {
            let span = self.log.spans().find(name).and_then(|line| line.get(frame_idx));
            let value = self.log.find(name).and_then(|line| line.sample(frame_idx));
            if let (Some(span), Some(value)) = (span, value) {
                self.event(&format!(
                    "{{\"ph\":\"C\",\"name\":\"clock chain (ns)\",\"pid\":{PROCESS},\"ts\":{},\"args\":{{\"ns\":{value}}}}}",
                    us(span.begin_ns)
                ))?;
            }
        }
        Ok(())
    }

    fn slice(&mut self, tid: u32, name: &str, cat: &str, span: Span, frame: usize, args: &str) -> io::Result<()> {
        let mut event = String::with_capacity(160);
        // Writing to a string can't fail.
        let _ = write!(
            event,
            "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{cat}\",\"pid\":{PROCESS},\"tid\":{tid},\"ts\":{},\"dur\":{},\
             \"args\":{{\"frame\":{frame}{args}}}}}",
            Value::from(name),
            us(span.begin_ns),
            us(span.duration_ns()),
        );
        self.event(&event)
    }

    fn flow(&mut self, phase: char, tid: u32, at_ns: u64, frame: usize, more: &str) -> io::Result<()> {
        self.event(&format!(
            "{{\"ph\":\"{phase}\",\"name\":\"submit\",\"cat\":\"submit\",\"id\":{frame},\"pid\":{PROCESS},\"tid\":{tid},\
             \"ts\":{}{more}}}",
            us(at_ns)
        ))
    }

    fn event(&mut self, event: &str) -> io::Result<()> {
        let separator = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        write!(self.writer, "{separator}{event}")
    }
}

/// As much of a span as lies between two times.
fn within(span: Span, begin_ns: u64, end_ns: u64) -> Span {
    let begin_ns = span.begin_ns.clamp(begin_ns, end_ns);
    Span { begin_ns, end_ns: span.end_ns.clamp(begin_ns, end_ns) }
}

/// Microseconds, to the nanosecond, as the format wants them.
fn us(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000, ns % 1_000)
}
