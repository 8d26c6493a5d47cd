//! The verdicts, with a stand-in for the device.

use super::super::error::ProbeError;
use super::*;

const RAM: MemoryType =
    MemoryType { index: 2, is_device_local: false, is_host_cached: false, is_host_coherent: true, heap_bytes: 1 << 34 };
const CACHED: MemoryType = MemoryType { index: 3, is_host_cached: true, ..RAM };
const BAR: MemoryType = MemoryType { index: 4, is_device_local: true, ..RAM };

/// A machine on which stores reach the kernel only where `reaches_gpu` says.
struct Fake {
    memory: Result<Vec<MemoryType>, &'static str>,
    reaches_gpu: fn(Way) -> bool,
    reaches_cpu: fn(Way) -> bool,
    kills: fn(Way) -> bool,
    n_observed: u32,
    is_lost_after: u32,
    asked: Vec<Route>,
}

impl Fake {
    fn new(memory: &[MemoryType]) -> Self {
        Self {
            memory: Ok(memory.to_vec()),
            reaches_gpu: |_| false,
            reaches_cpu: |_| true,
            kills: |_| false,
            n_observed: 0,
            is_lost_after: u32::MAX,
            asked: Vec::new(),
        }
    }
}

impl Mailboxes for Fake {
    fn memory_types(&self) -> Result<Vec<MemoryType>, OpError> {
        self.memory.clone().map_err(|reason| OpError::Unavailable(reason.into()))
    }

    fn observe(&mut self, way: Way, window: Window) -> Result<Observation, OpError> {
        if way.qualifier == Qualifier::Volatile {
            return Err(OpError::Unavailable("the adapter lacks it".into()));
        }
        self.n_observed += 1;
        if self.n_observed > self.is_lost_after {
            return Err(OpError::Fatal(ProbeError::Hang { limit_s: 10 }));
        }
        let n = window.n_rings;
        Ok(Observation {
            n_rung: n,
            seen: if (self.reaches_gpu)(way) { (1..=n).collect() } else { vec![3] },
            n_looks: n,
            n_risen: if (self.reaches_cpu)(way) { n - 1 } else { 0 },
            first_heartbeat_ns: (self.reaches_cpu)(way).then_some(5_000_000),
            is_doorbell_intact: way.distance_bytes == APART_BYTES,
            n_turns: 100_000,
            killed: (self.kills)(way).then(|| "device lost".into()),
        })
    }

    fn round_trips(&mut self, route: Route, n_trips: u32) -> Result<RoundTrips, OpError> {
        self.asked.push(route);
        let ns = 2_150 + u64::from(route.back.index == 2) * 130;
        Ok(RoundTrips { trips_ns: vec![ns; n_trips as usize], n_right: n_trips, ended_early: None })
    }
}

const WINDOW: Window = Window { n_rings: 52, period_ns: 5_000_000, bound: BOUND };

fn probed(device: &mut Fake) -> ProbeReport {
    let mut report = ProbeReport::new("resident", QUESTION);
    probe(&mut report, device, WINDOW, 100, &mut |_, _| true);
    report
}

#[test]
fn probe_resident_finds_the_memory_and_the_qualifier_that_work() {
    // As seen on an H200: in the BAR with @coherent and atomics; nowhere else.
    let mut device = Fake::new(&[RAM, CACHED, BAR]);
    device.reaches_gpu = |way| way.memory == BAR && way.qualifier != Qualifier::Plain;
    let report = probed(&mut device);
    assert_eq!((&report.ended, &report.unavailable), (&Ended::Complete, &None));
    let route = |back| Route { there: BAR, back, qualifier: Qualifier::Coherent };
    assert_eq!(device.asked, [route(RAM), route(CACHED), route(BAR)]);
    // A table for each memory, 24 ways less the four that can't be tried, and the round trips.
    assert_eq!(report.tables.iter().map(|table| table.rows.len()).collect::<Vec<_>>(), [20, 20, 20, 3]);
    let last = report.findings.last().expect("a verdict");
    assert!(last.contains("2.15 µs") && last.contains("doorbell in type 4, reply in type 3"), "{last}");
    assert!(
        report.findings[0].contains("reach the kernel with no qualifier; the kernel's reach the CPU with @coherent")
    );
    assert!(report.findings.iter().any(|finding| finding.contains("destroyed the CPU's store")));
    assert!(report.cautions.contains(&"@volatile: the adapter lacks it".to_owned()), "{:?}", report.cautions);
}

#[test]
fn probe_resident_is_not_available_where_a_direction_fails_and_says_by_how_much() {
    let mut device = Fake::new(&[RAM]);
    let report = probed(&mut device);
    let reason = report.unavailable.expect("not available");
    assert!(reason.contains("saw 1 of 52 rings") && reason.contains("51 of 52 looks"), "{reason}");
    assert!(reason.contains("4 ways could not be tried") && device.asked.is_empty(), "{reason}");
    assert_eq!(report.ended, Ended::Complete);

    let mut device = Fake::new(&[RAM]);
    device.reaches_gpu = |_| true;
    device.reaches_cpu = |_| false;
    let reason = probed(&mut device).unavailable.expect("not available");
    assert!(reason.contains("saw 52 of 52 rings") && reason.contains("in 0 of 52 looks"), "{reason}");
}

#[test]
fn probe_resident_without_vulkan_or_mappable_memory_says_so() {
    let mut device = Fake::new(&[]);
    device.memory = Err("it is made through Vulkan, and this adapter is driven through metal");
    assert!(probed(&mut device).unavailable.is_some_and(|reason| reason.contains("metal")));
    let mut device = Fake::new(&[MemoryType { is_host_coherent: false, ..RAM }]);
    let report = probed(&mut device);
    assert!(report.unavailable.is_some_and(|reason| reason.contains("no memory that the CPU can map")));
    assert!(report.cautions[0].contains("needs flushes: left out"));
}

#[test]
fn probe_resident_reports_a_killed_kernel_and_goes_on() {
    let mut device = Fake::new(&[BAR]);
    device.reaches_gpu = |_| true;
    device.kills = |way| way.qualifier == Qualifier::AtomicAdd && way.has_barrier;
    let report = probed(&mut device);
    assert_eq!((&report.ended, device.n_observed), (&Ended::Complete, 20));
    let killed: Vec<_> = report.findings.iter().filter(|finding| finding.contains("was killed")).collect();
    assert_eq!(killed.len(), 1);
}

#[test]
fn probe_resident_keeps_what_it_had_when_stopped_or_lost() {
    let mut device = Fake::new(&[RAM, BAR]);
    device.is_lost_after = 7;
    let report = probed(&mut device);
    assert!(matches!(report.ended, Ended::Failed(_)) && report.unavailable.is_none());
    assert_eq!(report.tables[0].rows.len(), 7);

    let mut report = ProbeReport::new("resident", QUESTION);
    probe(&mut report, &mut Fake::new(&[RAM]), WINDOW, 100, &mut |n_done, n_all| {
        assert_eq!(n_all, 25);
        n_done < 3
    });
    assert_eq!((&report.ended, report.tables[0].rows.len()), (&Ended::Interrupted, 2));
}

#[test]
fn probe_resident_counts_only_rings_that_were_rung() {
    let seen = Observation { n_rung: 5, seen: vec![2, 4, 5, 6, 0xABCD], ..Observation::default() };
    assert_eq!(seen.n_seen(), 3);
    assert!(!seen.reaches_gpu());
    // The last ring may be too late.
    assert!(Observation { seen: vec![1, 2, 3, 4], ..seen.clone() }.reaches_gpu());
    // Three rings are too few to say anything.
    assert!(!Observation { n_rung: 3, seen: vec![1, 2, 3], ..seen }.reaches_gpu());
}
