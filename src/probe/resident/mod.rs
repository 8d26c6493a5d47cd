//! Whether a running kernel and the CPU can talk: the two directions, each on its own, and the round trip.
//!
//! The directions must not depend on each other, or one that fails hides the other. CPU → GPU: the CPU rings a doorbell
//! every few milliseconds; the kernel logs each distinct value that it sees, and the log is read after its end. GPU → CPU: the
//! kernel raises a heartbeat in every turn; the CPU looks at it while the kernel runs.

use super::context::{Context, Effort};
use super::error::{OpError, caught};
use super::interleave::{Watch, one_line};
use super::report::{Bar, Cell, Chart, Column, Ended, Marks, ProbeReport, Table};
use super::spread::Spread;
use crate::gpu::{Gpu, MemoryType};
use crate::resident::coherence::{
    APART_BYTES, Mailbox, MailboxError, Observation, Qualifier, RoundTrips, Route, TOGETHER_BYTES, Way, Window,
};

const QUESTION: &str = "Can a CPU store reach a running kernel, and a kernel's store the CPU?";

/// Somewhat more than the window: what rings and looks slow down only makes it longer.
const BOUND: f64 = 1.2;

/// What runs kernels with mailboxes: a device, or a test's stand-in.
pub(super) trait Mailboxes {
    /// The memory that the CPU can map.
    fn memory_types(&self) -> Result<Vec<MemoryType>, OpError>;

    /// Runs one kernel for `window` and watches it.
    fn observe(&mut self, way: Way, window: Window) -> Result<Observation, OpError>;

    /// Times `n_trips` round trips, doorbell in one memory, reply in another.
    fn round_trips(&mut self, route: Route, n_trips: u32) -> Result<RoundTrips, OpError>;
}

/// Measures it on `gpu`, with a device of its own.
pub fn measure(gpu: &Gpu, context: &Context, watch: &mut dyn Watch) -> ProbeReport {
    let mut report = context.report("resident", QUESTION, Some(gpu));
    let (window, n_trips) = match context.effort {
        Effort::Full => (Window { n_rings: 52, period_ns: 5_000_000, bound: BOUND }, 5_000),
        Effort::Quick => (Window { n_rings: 8, period_ns: 1_000_000, bound: BOUND }, 300),
    };
    report
        .settings
        .set("rings", window.n_rings)
        .set("ring_period_ms", window.period_ns as f64 / 1e6)
        .set("round_trips", n_trips)
        .set("apart_bytes", APART_BYTES)
        .set("together_bytes", TOGETHER_BYTES);
    match Mailbox::new(gpu) {
        Ok(mut device) => probe(&mut report, &mut device, window, n_trips, watch),
        Err(error) => report.ended = Ended::Failed(one_line(&error.into())),
    }
    report
}

impl Mailboxes for Mailbox<'_> {
    fn memory_types(&self) -> Result<Vec<MemoryType>, OpError> {
        Mailbox::memory_types(self).map_err(told)
    }

    fn observe(&mut self, way: Way, window: Window) -> Result<Observation, OpError> {
        Mailbox::observe(self, way, window).map_err(told)
    }

    fn round_trips(&mut self, route: Route, n_trips: u32) -> Result<RoundTrips, OpError> {
        Mailbox::round_trips(self, route, n_trips).map_err(told)
    }
}

fn told(error: MailboxError) -> OpError {
    match error {
        MailboxError::Unavailable(reason) => OpError::Unavailable(reason),
        error => OpError::Fatal(error.into()),
    }
}

/// All ways in `memory`: every qualifier with and without barrier; without the fence; and on one line.
fn all_ways_in(memory: MemoryType) -> Vec<Way> {
    let way = |qualifier, has_barrier, has_fence, distance_bytes| Way {
        memory,
        qualifier,
        has_barrier,
        has_fence,
        distance_bytes,
    };
    let with = |has_barrier, has_fence, distance_bytes| {
        Qualifier::ALL.map(|qualifier| way(qualifier, has_barrier, has_fence, distance_bytes))
    };
    [
        with(false, true, APART_BYTES),
        with(true, true, APART_BYTES),
        with(false, false, APART_BYTES),
        with(false, true, TOGETHER_BYTES),
    ]
    .concat()
}

fn probe(report: &mut ProbeReport, device: &mut impl Mailboxes, window: Window, n_trips: u32, watch: &mut dyn Watch) {
    let memory = match device.memory_types() {
        Ok(memory) => memory,
        Err(OpError::Unavailable(reason)) => {
            report.unavailable = Some(reason);
            return;
        }
        Err(OpError::Fatal(error)) => {
            report.ended = Ended::Failed(one_line(&error));
            return;
        }
    };
    let (usable, flushed): (Vec<MemoryType>, Vec<MemoryType>) =
        memory.iter().partition(|memory| memory.is_host_coherent);
    report.cautions.extend(flushed.iter().map(|memory| format!("{}: left out", memory.describe())));
    let ways: Vec<Way> = usable.iter().flat_map(|memory| all_ways_in(*memory)).collect();

    let mut observed: Vec<(Way, Observation)> = Vec::new();
    let mut n_unavailable = 0;
    // The round trips are a step too, so that a stop during them counts.
    let n_all = ways.len() as u64 + 1;
    for (step, way) in (1..).zip(&ways) {
        match caught(|| device.observe(*way, window)) {
            Ok(observation) => observed.push((*way, observation)),
            Err(OpError::Unavailable(reason)) => {
                n_unavailable += 1;
                let text = format!("{}: {reason}", way.qualifier.name());
                if !report.cautions.contains(&text) {
                    report.cautions.push(text);
                }
            }
            Err(OpError::Fatal(error)) => {
                report.ended = Ended::Failed(one_line(&error));
                break;
            }
        }
        if !watch.step(step, n_all) {
            report.ended = Ended::Interrupted;
            break;
        }
    }
    report_directions(report, &usable, &observed, window);
    if report.ended != Ended::Complete {
        return;
    }
    match routes(&observed) {
        routes if routes.is_empty() => {
            report.unavailable = Some(why_unavailable(&observed, n_unavailable, &usable));
        }
        routes => time_routes(report, device, &routes, n_trips, &mut || watch.step(n_all, n_all)),
    }
}

/// A row for each way, and a sentence for each memory type.
fn report_directions(report: &mut ProbeReport, usable: &[MemoryType], observed: &[(Way, Observation)], window: Window) {
    let columns = vec![
        Column::text("how the kernel reads"),
        Column::text("barrier"),
        Column::text("fence"),
        Column::number("apart", "bytes", 0),
        Column::number("rung", "", 0),
        Column::number("kernel saw", "", 0),
        Column::number("first seen", "ms", 1),
        Column::number("CPU looked", "", 0),
        Column::number("saw it rise", "", 0),
        Column::number("first heartbeat", "ms", 1),
        Column::text("doorbell after"),
        Column::us("a turn"),
    ];
    let yes = |is: bool| Cell::from(if is { "yes" } else { "no" });
    for memory in usable {
        let here: Vec<&(Way, Observation)> = observed.iter().filter(|(way, _)| way.memory == *memory).collect();
        let rows = here.iter().map(|(way, seen)| {
            let first_ring = seen.seen.iter().min().filter(|_| seen.n_seen() > 0);
            let window_ns = u64::from(seen.n_rung) * window.period_ns;
            vec![
                Cell::from(way.qualifier.name()),
                yes(way.has_barrier),
                yes(way.has_fence),
                Cell::Number(way.distance_bytes.into()),
                Cell::Number(seen.n_rung.into()),
                Cell::Number(seen.n_seen().into()),
                first_ring.map(|ring| f64::from(*ring - 1) * window.period_ns as f64 / 1e6).into(),
                Cell::Number(seen.n_looks.into()),
                Cell::Number(seen.n_risen.into()),
                seen.first_heartbeat_ns.map(|ns| ns as f64 / 1e6).into(),
                Cell::from(if seen.is_doorbell_intact { "as stored" } else { "overwritten" }),
                Some(seen.n_turns).filter(|n| *n > 0).map(|n| window_ns as f64 / f64::from(n) / 1e3).into(),
            ]
        });
        let table = Table { title: memory.describe(), columns: columns.clone(), rows: rows.collect() };
        report.tables.push(table);
        let names = |works: &dyn Fn(&Observation) -> bool| {
            let apart = here.iter().filter(|(way, seen)| way.distance_bytes == APART_BYTES && works(seen));
            let mut names: Vec<&str> = apart.map(|(way, _)| way.qualifier.name()).collect();
            names.dedup();
            names.sort_unstable();
            names.dedup();
            if names.is_empty() { "no qualifier".to_owned() } else { names.join(", ") }
        };
        report.findings.push(format!(
            "{}: the CPU's stores reach the kernel with {}; the kernel's reach the CPU with {}",
            memory.describe(),
            names(&Observation::reaches_gpu),
            names(&Observation::reaches_cpu)
        ));
        let overwritten = here.iter().filter(|(_, seen)| !seen.is_doorbell_intact).count();
        if overwritten > 0 {
            report.findings.push(format!(
                "{}: in {overwritten} of {} kernels the GPU's write-back destroyed the CPU's store",
                memory.describe(),
                here.len()
            ));
        }
    }
    let killed = observed.iter().filter_map(|(way, seen)| Some((way, seen.killed.as_ref()?)));
    report.findings.extend(killed.map(|(way, words)| {
        format!("a kernel with {} in {} was killed: {words}", way.qualifier.name(), way.memory.describe())
    }));
}

/// Where round trips can go: for the first qualifier by which the CPU reaches the kernel in a memory, replies in each memory from
/// which that qualifier's stores reach the CPU.
fn routes(observed: &[(Way, Observation)]) -> Vec<Route> {
    // The cheapest promise that holds comes first; plain reads hold only by luck.
    const PREFERRED: [Qualifier; 6] = [
        Qualifier::Coherent,
        Qualifier::CoherentVolatile,
        Qualifier::AtomicLoad,
        Qualifier::AtomicAdd,
        Qualifier::Volatile,
        Qualifier::Plain,
    ];
    let holds = |memory: MemoryType, qualifier: Qualifier, works: fn(&Observation) -> bool| {
        observed.iter().any(|(way, seen)| {
            let is_it = way.memory == memory && way.qualifier == qualifier && way.distance_bytes == APART_BYTES;
            is_it && way.has_fence && works(seen)
        })
    };
    let mut memory: Vec<MemoryType> = Vec::new();
    for (way, _) in observed {
        if !memory.contains(&way.memory) {
            memory.push(way.memory);
        }
    }
    let mut routes = Vec::new();
    for there in &memory {
        let reached = PREFERRED.iter().find(|qualifier| holds(*there, **qualifier, Observation::reaches_gpu));
        let Some(&qualifier) = reached else { continue };
        let backs = memory.iter().filter(|back| holds(**back, qualifier, Observation::reaches_cpu));
        routes.extend(backs.map(|back| Route { there: *there, back: *back, qualifier }));
    }
    routes
}

/// One sentence with the figures that say so.
fn why_unavailable(observed: &[(Way, Observation)], n_unavailable: usize, usable: &[MemoryType]) -> String {
    if usable.is_empty() {
        return "the adapter has no memory that the CPU can map without flushes".into();
    }
    let best = |of: fn(&Observation) -> (u32, u32)| {
        let counts = observed.iter().map(|(_, seen)| of(seen)).filter(|(_, of)| *of > 0);
        counts.max_by(|a, b| (u64::from(a.0) * u64::from(b.1)).cmp(&(u64::from(b.0) * u64::from(a.1))))
    };
    let (rings, looks) = (best(|seen| (seen.n_seen(), seen.n_rung)), best(|seen| (seen.n_risen, seen.n_looks)));
    let text = |count: Option<(u32, u32)>| count.map_or_else(|| "none".to_owned(), |(n, of)| format!("{n} of {of}"));
    let left_out = if n_unavailable > 0 { format!("; {n_unavailable} ways could not be tried") } else { String::new() };
    format!(
        "in none of {} ways, over {} memory types, do both directions work: at best the kernel saw {} rings, and the CPU saw the \
         heartbeat rise in {} looks{left_out}",
        observed.len(),
        usable.len(),
        text(rings),
        text(looks)
    )
}

fn time_routes(
    report: &mut ProbeReport,
    device: &mut impl Mailboxes,
    routes: &[Route],
    n_trips: u32,
    goes_on: &mut dyn FnMut() -> bool,
) {
    let (mut rows, mut bars) = (Vec::new(), Vec::new());
    let mut best: Option<(f64, String)> = None;
    for route in routes {
        let trips = match caught(|| device.round_trips(*route, n_trips)) {
            Ok(trips) => trips,
            Err(OpError::Unavailable(reason)) => {
                report.cautions.push(format!("a round trip by {}: {reason}", route.qualifier.name()));
                continue;
            }
            Err(OpError::Fatal(error)) => {
                report.ended = Ended::Failed(one_line(&error));
                break;
            }
        };
        let name = format!(
            "{}, doorbell in type {}, reply in type {}",
            route.qualifier.name(),
            route.there.index,
            route.back.index
        );
        let spread = Spread::of(trips.trips_ns.iter().copied());
        let mut row = vec![Cell::from(name.as_str())];
        row.extend(Cell::spread_us(spread.as_ref()));
        row.push(Cell::Number(trips.trips_ns.len() as f64));
        row.push(Cell::Number(f64::from(trips.n_right)));
        rows.push(row);
        if let Some(reason) = &trips.ended_early {
            report.cautions.push(format!("{name}: ended after {} of {n_trips} trips: {reason}", trips.trips_ns.len()));
        }
        if let Some(spread) = spread {
            bars.push(Bar::us(name.as_str(), &spread));
            report.add_series(name.as_str(), spread, Vec::new());
            let is_right = trips.n_right as usize == trips.trips_ns.len();
            if is_right && best.as_ref().is_none_or(|(median, _)| spread.median < *median) {
                best = Some((spread.median, name));
            }
        }
        if !goes_on() {
            report.ended = Ended::Interrupted;
            break;
        }
    }
    let mut columns = vec![Column::text("route")];
    columns.extend(super::report::spread_columns());
    columns.extend([Column::number("trips", "", 0), Column::number("right", "", 0)]);
    let title = "The raw round trip: doorbell in, result out".to_owned();
    report.tables.push(Table { title: title.clone(), columns, rows });
    report.charts.push(Chart { title, unit: "µs", marks: Marks::Bars(bars) });
    match best {
        Some((median_ns, name)) => report.findings.push(format!(
            "a resident kernel can be had: {:.2} µs a round trip at the median by {name}",
            median_ns / 1e3
        )),
        None if report.ended == Ended::Complete => {
            report.unavailable = Some("each direction works, but no route brought every result back right".into());
        }
        None => {}
    }
    report.caution_disturbed();
}

#[cfg(test)]
mod tests;
