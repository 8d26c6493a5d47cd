//! The trace: what its readers rely on.

use std::collections::BTreeMap;

use praxis::measure::{FrameLog, RunFile, SpanClock, Unit, names};
use praxis::report::{MOST_TRACE_FRAMES, write_trace};
use serde_json::Value;

const MS: u64 = 1_000_000;

/// Frames of 10 ms: two in flight, the GPU 4 s behind the CPU's clock and its passes overlapping.
fn log_of(n_frames: usize) -> FrameLog {
    let mut log = FrameLog::with_capacity(n_frames);
    let frame_time = log.line(names::FRAME_TIME, Unit::Nanoseconds);
    let chain = log.line(names::CHAIN_START, Unit::Nanoseconds);
    let spans = log.spans_mut();
    let mut cpu = |name| spans.line(name, SpanClock::Cpu);
    let (turn, slot, in_flight, chain_start) =
        (cpu(names::FRAME_TIME), cpu(names::WAIT_SLOT), cpu(names::IN_FLIGHT), cpu(names::CHAIN_START));
    let (update, encode, submit) = (cpu(names::STAGE_UPDATE), cpu(names::STAGE_ENCODE), cpu(names::STAGE_SUBMIT));
    let (mover, propagate) = (cpu("system.move_nodes"), cpu("system.propagate_world_transforms"));
    let [cull, shade] = ["gpu.cull", "gpu.shade"].map(|name| spans.line(name, SpanClock::Gpu));
    for frame in 0..n_frames as u64 {
        let frame_idx = log.begin_frame();
        log.set_core(frame_idx, Some(1));
        let t = 10 * MS * frame;
        log.set(frame_time, frame_idx, if frame == 1_500 { 11 * MS } else { 10 * MS });
        log.set(chain, frame_idx, 3_000 + frame);
        let spans = log.spans_mut();
        spans.set(turn, frame_idx, t, t + 10 * MS);
        spans.set(slot, frame_idx, t, t + 4 * MS);
        spans.set(chain_start, frame_idx, t + 4 * MS, t + 4 * MS + 3_000);
        spans.set(update, frame_idx, t + 5 * MS, t + 6 * MS);
        spans.set(mover, frame_idx, t + 5 * MS, t + 5 * MS + 400_000);
        // A little beyond its stage, as a clock of another origin may have it.
        spans.set(propagate, frame_idx, t + 5 * MS + 400_000, t + 6 * MS + 200);
        spans.set(encode, frame_idx, t + 6 * MS, t + 8 * MS);
        spans.set(submit, frame_idx, t + 8 * MS, t + 9 * MS);
        let gpu = t + 8 * MS + 500_000 - 4_000_000 + 4_000_000_000;
        spans.set(cull, frame_idx, gpu, gpu + 2 * MS);
        spans.set(shade, frame_idx, gpu + MS, gpu + 14 * MS);
        spans.set(in_flight, frame_idx, t + 8 * MS, t + 24 * MS);
    }
    log
}

fn trace_of(log: &FrameLog) -> Value {
    let mut run = RunFile::from_log("town \"<&", log);
    run.settings.set("frames_in_flight", 2);
    let mut text = Vec::new();
    write_trace(log, &run, &mut text).expect("memory can be written");
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)))
}

struct Slice {
    name: String,
    begin_ns: i64,
    end_ns: i64,
    frame: u64,
}

/// Slices by track, after seeing that each track has a name, that time goes on, and that slices nest.
fn checked_tracks(trace: &Value) -> BTreeMap<String, Vec<Slice>> {
    let events = trace["traceEvents"].as_array().expect("a list of events");
    let of_phase = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let names: BTreeMap<u64, String> = of_phase("M")
        .filter(|event| event["name"] == "thread_name")
        .map(|event| {
            (event["tid"].as_u64().expect("a track"), event["args"]["name"].as_str().expect("a name").to_owned())
        })
        .collect();
    let ns = |value: &Value| (value.as_f64().expect("a number") * 1e3).round() as i64;
    let mut tracks: BTreeMap<String, Vec<Slice>> = BTreeMap::new();
    for event in of_phase("X") {
        let track = &names[&event["tid"].as_u64().expect("a track")];
        let begin_ns = ns(&event["ts"]);
        tracks.entry(track.clone()).or_default().push(Slice {
            name: event["name"].as_str().expect("a name").to_owned(),
            begin_ns,
            end_ns: begin_ns + ns(&event["dur"]),
            frame: event["args"]["frame"].as_u64().expect("a frame"),
        });
    }
    for (track, slices) in &tracks {
        let mut open: Vec<&Slice> = Vec::new();
        let mut last_ns = 0;
        for slice in slices {
            assert!(
                slice.begin_ns >= last_ns && slice.end_ns >= slice.begin_ns,
                "{track}: time goes back at {}",
                slice.name
            );
            last_ns = slice.begin_ns;
            while open.last().is_some_and(|outer| outer.end_ns <= slice.begin_ns) {
                open.pop();
            }
            if let Some(outer) = open.last() {
                assert!(slice.end_ns <= outer.end_ns, "{track}: {} ends after {} around it", slice.name, outer.name);
            }
            open.push(slice);
        }
    }
    tracks
}

#[test]
fn trace_tracks_are_named_go_forward_and_nest() {
    let trace = trace_of(&log_of(6));
    let tracks = checked_tracks(&trace);
    let track = |start: &str| tracks.iter().find(|(name, _)| name.starts_with(start)).expect("the track is there").1;
    let names: Vec<&str> = track("main thread").iter().filter(|s| s.frame == 2).map(|s| s.name.as_str()).collect();
    let expected =
        ["frame 2", "wait", "clock chain", "update", "move_nodes", "propagate_world_transforms", "encode", "submit"];
    assert_eq!(names, expected);
    let gpu = track("GPU");
    assert_eq!(
        gpu.iter().filter(|slice| slice.frame == 2).map(|s| s.name.as_str()).collect::<Vec<_>>(),
        ["frame 2", "cull", "shade"]
    );
    assert_eq!(trace["otherData"]["scene"], "town \"<&");
    let counters: Vec<f64> = trace["traceEvents"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|event| event["ph"] == "C")
        .map(|event| event["args"]["ns"].as_f64().expect("a value"))
        .collect();
    assert_eq!(counters, [3000.0, 3001.0, 3002.0, 3003.0, 3004.0, 3005.0]);
}

#[test]
fn trace_shows_the_frames_in_flight_and_the_gpu_on_the_cpus_clock() {
    let trace = trace_of(&log_of(6));
    let tracks = checked_tracks(&trace);
    let in_flight: Vec<&Slice> =
        tracks.iter().filter(|(n, _)| n.starts_with("in flight")).flat_map(|(_, s)| s).collect();
    assert_eq!(in_flight.len(), 6);
    let [a, b] = [0, 1].map(|frame| in_flight.iter().find(|slice| slice.frame == frame).expect("it was submitted"));
    assert!(b.begin_ns < a.end_ns, "two frames are in flight at once");

    let alignment = &trace["otherData"]["gpu_clock_alignment"];
    let uncertainty_ns = alignment["uncertainty_us"].as_f64().expect("it is stated") * 1e3;
    assert!(uncertainty_ns > 0.0 && uncertainty_ns < 2e6 && alignment["is_contradictory"] == false, "{alignment}");
    let gpu = tracks.iter().find(|(name, _)| name.starts_with("GPU")).expect("there is one").1;
    for slice in gpu.iter().filter(|slice| slice.name.starts_with("frame")) {
        let envelope = in_flight.iter().find(|outer| outer.frame == slice.frame).expect("it was in flight");
        // The next frame may begin before this one ends; then its slice begins where this one's ends.
        assert!(slice.begin_ns >= envelope.begin_ns && slice.end_ns <= envelope.end_ns, "frame {}", slice.frame);
    }
}

#[test]
fn trace_of_a_long_run_holds_its_beginning_and_its_slowest_frame() {
    let n_frames = 2 * MOST_TRACE_FRAMES;
    let mut log = log_of(n_frames);
    let line = log.line(names::FRAME_TIME, Unit::Nanoseconds);
    log.set(line, n_frames - 700, 90 * MS);
    let trace = trace_of(&log);
    let tracks = checked_tracks(&trace);
    let frames: Vec<u64> =
        tracks["main thread"].iter().filter(|slice| slice.name.starts_with("frame")).map(|slice| slice.frame).collect();
    assert_eq!(frames.len(), MOST_TRACE_FRAMES);
    assert!(frames.contains(&0) && frames.contains(&(n_frames as u64 - 700)));
    assert_eq!(trace["otherData"]["frames"].as_array().map(Vec::len), Some(2));
}

#[test]
fn trace_without_gpu_times_or_frames_is_still_one() {
    let mut log = FrameLog::with_capacity(1);
    assert_eq!(checked_tracks(&trace_of(&log)).len(), 0);
    let turn = log.spans_mut().line(names::FRAME_TIME, SpanClock::Cpu);
    let frame_idx = log.begin_frame();
    log.spans_mut().set(turn, frame_idx, 5, 17);
    let trace = trace_of(&log);
    assert_eq!(checked_tracks(&trace).len(), 1);
    assert!(trace["otherData"]["gpu_clock_alignment"].as_str().expect("a reason").contains("no GPU track"));
}
