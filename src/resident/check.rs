//! What is found out before a worker starts: whether CPU and kernel hear each other, where, and how many workgroups run at a time.

use super::coherence::{APART_BYTES, Mailbox, MailboxError, Observation, Qualifier, Way, Window};
use super::device::{DeviceFault, KernelDevice};
use crate::gpu::{Gpu, MemoryType};

/// Rings of a doorbell, and how far apart; longer windows if a shorter one failed, which it may where the machine has other things to do.
const WINDOWS: [Window; 3] = [
    Window { n_rings: 8, period_ns: 500_000, bound: 4.0 },
    Window { n_rings: 8, period_ns: 2_000_000, bound: 8.0 },
    Window { n_rings: 12, period_ns: 10_000_000, bound: 8.0 },
];

/// What the check measured.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Measured {
    /// The memory that was tried, and what kernel and CPU saw of each other in it.
    pub observed: Vec<(MemoryType, Observation)>,
    /// Where the CPU's stores reach the kernel.
    pub there: Option<MemoryType>,
    /// Where the kernel's stores reach the CPU.
    pub back: Option<MemoryType>,
    /// How long one look at the ring takes, in ns.
    pub look_ns: Option<f64>,
    /// Workgroups that were seen to run at the same time.
    pub n_workgroups: u32,
    /// The first round trips of an operation through the worker, in ns.
    pub first_trips_ns: Vec<u64>,
}

/// What runs the doorbell check: a device, or a test's stand-in.
pub(super) trait Doorbells {
    fn memory_types(&self) -> Result<Vec<MemoryType>, MailboxError>;
    fn observe(&mut self, memory: MemoryType, window: Window) -> Result<Observation, MailboxError>;
}

impl Doorbells for Mailbox<'_> {
    fn memory_types(&self) -> Result<Vec<MemoryType>, MailboxError> {
        Mailbox::memory_types(self)
    }

    fn observe(&mut self, memory: MemoryType, window: Window) -> Result<Observation, MailboxError> {
        let (qualifier, distance_bytes) = (Qualifier::Coherent, APART_BYTES);
        Mailbox::observe(self, Way { memory, qualifier, has_barrier: false, has_fence: true, distance_bytes }, window)
    }
}

/// Why no memory was found.
enum NotFound {
    /// Nothing could be told. On a busy machine the next attempt may tell.
    Untold(String),
    No(String),
}

impl From<String> for NotFound {
    fn from(reason: String) -> Self {
        Self::No(reason)
    }
}

/// Finds the memory for the mailbox and for the answers; why there is none.
pub(super) fn choose_memory(doorbells: &mut impl Doorbells, measured: &mut Measured) -> Result<(), String> {
    const N_ATTEMPTS: u32 = 4;
    let mut n_attempts = 1;
    loop {
        match choose_memory_once(doorbells, measured) {
            Ok(()) => return Ok(()),
            Err(NotFound::Untold(_)) if n_attempts < N_ATTEMPTS => measured.observed.clear(),
            Err(NotFound::Untold(reason) | NotFound::No(reason)) => return Err(reason),
        }
        n_attempts += 1;
    }
}

fn choose_memory_once(doorbells: &mut impl Doorbells, measured: &mut Measured) -> Result<(), NotFound> {
    let mut types = doorbells.memory_types().map_err(|error| one_line(&error))?;
    types.retain(|memory| memory.is_host_coherent);
    if types.is_empty() {
        return Err(NotFound::No("the adapter has no memory that the CPU can map without flushes".into()));
    }
    // The kernel looks at the mailbox without end: best where it is near. The CPU looks at the answers.
    types.sort_by_key(|memory| (!memory.is_device_local, memory.is_host_cached));
    measured.there = first_that(doorbells, measured, &types, Observation::reaches_gpu)?;
    types.sort_by_key(|memory| (!memory.is_host_cached, memory.is_device_local));
    measured.back = first_that(doorbells, measured, &types, Observation::reaches_cpu)?;
    if measured.there.is_some() && measured.back.is_some() {
        return Ok(());
    }
    let killed = measured.observed.iter().find_map(|(_, seen)| seen.killed.as_ref());
    let killed = killed.map_or_else(String::new, |words| format!("; a kernel was killed: {words}"));
    if measured.observed.iter().all(|(_, seen)| seen.n_rung < 4) {
        return Err(NotFound::Untold(format!(
            "no kernel ran for long enough to tell: the machine may be too busy{killed}"
        )));
    }
    let best = |of: fn(&Observation) -> (u32, u32)| {
        let counts = measured.observed.iter().map(|(_, seen)| of(seen));
        counts.max_by_key(|(n, of)| (n * 1000 / of.max(&1), *of)).unwrap_or_default()
    };
    let ((n, of), direction) = if measured.there.is_none() {
        let (n, of) = best(|seen| (seen.n_seen(), seen.n_rung));
        ((n, of), format!("the CPU's stores don't reach a running kernel: it saw {n} of {of} doorbells at best"))
    } else {
        let (n, of) = best(|seen| (seen.n_risen, seen.n_looks));
        let looks = format!("it saw the heartbeat rise in {n} of {of} looks at best");
        ((n, of), format!("a running kernel's stores don't reach the CPU: {looks}"))
    };
    let direction = format!("{direction}, in {} kinds of memory{killed}", types.len());
    // Most of them arrived: where kernels get too little time, one ring follows another before anybody looks.
    Err(if n * 2 > of { NotFound::Untold(direction) } else { NotFound::No(direction) })
}

/// The first memory in which `works` holds. What was seen in a memory before counts.
fn first_that(
    doorbells: &mut impl Doorbells,
    measured: &mut Measured,
    types: &[MemoryType],
    works: fn(&Observation) -> bool,
) -> Result<Option<MemoryType>, String> {
    for window in WINDOWS {
        for memory in types {
            if measured.observed.iter().any(|(seen_in, seen)| seen_in == memory && works(seen)) {
                return Ok(Some(*memory));
            }
            let seen = match doorbells.observe(*memory, window) {
                Ok(seen) => seen,
                // Storage buffers can't lie in this one.
                Err(MailboxError::Unavailable(reason)) if types.len() > 1 => {
                    tracing::debug!("{}: {reason}", memory.describe());
                    continue;
                }
                Err(error) => return Err(one_line(&error)),
            };
            let does_work = works(&seen);
            measured.observed.push((*memory, seen));
            if does_work {
                return Ok(Some(*memory));
            }
        }
    }
    Ok(None)
}

fn one_line(error: &MailboxError) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The doorbell check on `gpu`'s adapter.
pub(super) fn check_memory(gpu: &Gpu, measured: &mut Measured) -> Result<(), String> {
    let mut mailbox = Mailbox::new(gpu).map_err(|error| one_line(&error))?;
    // There is but one memory, and it does: what is missing is a core.
    let busy = if gpu.is_software() { "; its kernels run on this CPU, which may be too busy" } else { "" };
    choose_memory(&mut mailbox, measured).map_err(|reason| reason + busy)
}

/// How fast the kernel looks, and how many of its workgroups run at the same time, up to `max_workgroups`.
pub(super) fn check_kernel(
    device: &KernelDevice,
    max_workgroups: u32,
    measured: &mut Measured,
) -> Result<(), DeviceFault> {
    const PATIENCE_NS: f64 = 20e6;
    let look_ns = device.measure_look_ns()?.max(0.1);
    measured.look_ns = Some(look_ns);
    measured.n_workgroups = 1;
    let patience = (PATIENCE_NS / look_ns).clamp(1024.0, 1e9) as u32;
    let mut wanted = 2;
    while measured.n_workgroups < max_workgroups {
        let n_workgroups = wanted.min(max_workgroups);
        if !device.run_together(n_workgroups, patience)? {
            break;
        }
        measured.n_workgroups = n_workgroups;
        wanted *= 2;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAM: MemoryType = MemoryType {
        index: 2,
        is_device_local: false,
        is_host_cached: false,
        is_host_coherent: true,
        heap_bytes: 1 << 34,
    };
    const CACHED: MemoryType = MemoryType { index: 3, is_host_cached: true, ..RAM };
    const BAR: MemoryType = MemoryType { index: 4, is_device_local: true, ..RAM };

    struct Fake {
        types: Vec<MemoryType>,
        hears: fn(MemoryType) -> bool,
        speaks: fn(MemoryType) -> bool,
        tried: Vec<u32>,
        /// So many observations miss two rings each, as on a busy machine.
        n_busy: usize,
    }

    impl Doorbells for Fake {
        fn memory_types(&self) -> Result<Vec<MemoryType>, MailboxError> {
            Ok(self.types.clone())
        }

        fn observe(&mut self, memory: MemoryType, window: Window) -> Result<Observation, MailboxError> {
            self.tried.push(memory.index);
            let n = window.n_rings;
            let n_heard = if self.tried.len() <= self.n_busy { n - 2 } else { n };
            let seen = if (self.hears)(memory) { (1..=n_heard).collect() } else { Vec::new() };
            let n_risen = if (self.speaks)(memory) { n } else { 1 };
            Ok(Observation { n_rung: n, seen, n_looks: n, n_risen, ..Observation::default() })
        }
    }

    fn chosen(fake: &mut Fake) -> (Result<(), String>, Measured) {
        let mut measured = Measured::default();
        (choose_memory(fake, &mut measured), measured)
    }

    #[test]
    fn resident_check_takes_the_first_memory_that_works_in_the_likely_order() {
        let types = vec![RAM, CACHED, BAR];
        let mut fake = Fake { types, hears: |memory| memory == BAR, speaks: |_| true, tried: Vec::new(), n_busy: 0 };
        let (result, measured) = chosen(&mut fake);
        assert_eq!((result, measured.there, measured.back), (Ok(()), Some(BAR), Some(CACHED)));
        assert_eq!(fake.tried, [4, 3]);
        // Where all is one memory, it is looked at once.
        let mut fake = Fake { types: vec![CACHED], hears: |_| true, speaks: |_| true, tried: Vec::new(), n_busy: 0 };
        assert!(chosen(&mut fake).0.is_ok());
        assert_eq!(fake.tried, [3]);
    }

    #[test]
    fn resident_check_asks_again_where_most_arrives() {
        let busy = |n_busy| Fake { types: vec![CACHED], hears: |_| true, speaks: |_| true, tried: Vec::new(), n_busy };
        let fake = &mut busy(7);
        assert!(chosen(fake).0.is_ok(), "it is calm in the third attempt");
        assert_eq!(fake.tried.len(), 8);
        let fake = &mut busy(usize::MAX);
        let reason = chosen(fake).0.expect_err("never calm");
        assert!(reason.contains("it saw 10 of 12 doorbells"), "{reason}");
        assert_eq!(fake.tried.len(), 12, "four attempts, and no more");
    }

    #[test]
    fn resident_check_says_which_direction_fails_and_by_how_much() {
        let deaf =
            &mut Fake { types: vec![RAM, CACHED], hears: |_| false, speaks: |_| true, tried: Vec::new(), n_busy: 0 };
        let reason = chosen(deaf).0.expect_err("deaf");
        assert!(reason.contains("don't reach a running kernel: it saw 0 of 12 doorbells"), "{reason}");
        assert_eq!(deaf.tried.len(), 6, "each memory is tried again for longer");
        let mute = &mut Fake { types: vec![RAM], hears: |_| true, speaks: |_| false, tried: Vec::new(), n_busy: 0 };
        let reason = chosen(mute).0.expect_err("mute");
        assert!(reason.contains("don't reach the CPU") && reason.contains("1 of 8 looks"), "{reason}");
        let none = &mut Fake { types: vec![], hears: |_| true, speaks: |_| true, tried: Vec::new(), n_busy: 0 };
        assert!(chosen(none).0.expect_err("none").contains("no memory that the CPU can map"));
    }
}
