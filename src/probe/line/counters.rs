//! What one worker took: wall time, CPU time, and cycles and instructions where the system lets a program count them.

use std::time::Instant;

use super::super::clock::{Clock, SystemClock};

/// One worker's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerCount {
    /// From the common start to its end.
    pub wall_ns: u64,
    /// Its CPU time; what other programs took of its core isn't in it.
    pub cpu_ns: Option<u64>,
    /// Cycles and instructions in user mode.
    pub events: Option<Events>,
}

/// Hardware counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Events {
    /// Of the core.
    pub cycles: u64,
    /// Retired.
    pub instructions: u64,
}

/// (instructions, cycles) of all workers; `None` unless every one counted.
pub(super) fn ipc(counts: &[WorkerCount]) -> Option<(u64, u64)> {
    let events: Vec<Events> = counts.iter().map(|count| count.events).collect::<Option<_>>()?;
    let sum = |of: fn(&Events) -> u64| events.iter().map(of).sum::<u64>();
    let (instructions, cycles) = (sum(|events| events.instructions), sum(|events| events.cycles));
    (cycles > 0).then_some((instructions, cycles))
}

/// Runs `work` on the calling thread and counts.
pub(super) fn count(counter: &mut Counter, work: impl FnOnce()) -> WorkerCount {
    let clock = SystemClock::start();
    let cpu_before = clock.cpu_ns();
    counter.start();
    let started = Instant::now();
    work();
    let wall_ns = started.elapsed().as_nanos() as u64;
    let events = counter.stop();
    WorkerCount { wall_ns, cpu_ns: clock.cpu_ns().since(cpu_before).thread_ns, events }
}

/// Whether cycles and instructions can be counted; why not.
pub(super) fn check() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        let told = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => {
                "no permission for performance counters (kernel.perf_event_paranoid)".to_owned()
            }
            _ => format!("no performance counters: {error}"),
        };
        let mut counter = Counter { group: Some(linux::Group::open().map_err(told)?) };
        counter.start();
        let counted = counter.stop();
        counted.filter(|events| events.cycles > 0).map(drop).ok_or_else(|| "the counters stand still".to_owned())
    }
    #[cfg(not(target_os = "linux"))]
    Err("they are read on Linux only".to_owned())
}

/// A thread's counters; silent where there are none.
pub(super) struct Counter {
    #[cfg(target_os = "linux")]
    group: Option<linux::Group>,
}

impl Counter {
    /// For the calling thread.
    pub fn of_this_thread() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            group: linux::Group::open().ok(),
        }
    }

    fn start(&mut self) {
        #[cfg(target_os = "linux")]
        if self.group.as_mut().is_some_and(|group| group.start().is_err()) {
            self.group = None;
        }
    }

    fn stop(&mut self) -> Option<Events> {
        #[cfg(target_os = "linux")]
        {
            self.group.as_mut()?.stop().ok()
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};

    use super::Events;

    /// Both counters, started and stopped as one.
    pub struct Group {
        group: perf_event::Group,
        cycles: Counter,
        instructions: Counter,
    }

    impl Group {
        pub fn open() -> io::Result<Self> {
            let mut group = perf_event::Group::new()?;
            // Kernel mode needs a permission, and isn't asked about.
            let mut of = |event| group.add(Builder::new(event).exclude_kernel(true).exclude_hv(true));
            let (cycles, instructions) = (of(Hardware::CPU_CYCLES)?, of(Hardware::INSTRUCTIONS)?);
            Ok(Self { group, cycles, instructions })
        }

        pub fn start(&mut self) -> io::Result<()> {
            self.group.reset()?;
            self.group.enable()
        }

        pub fn stop(&mut self) -> io::Result<Events> {
            self.group.disable()?;
            let counts = self.group.read()?;
            Ok(Events { cycles: counts[&self.cycles], instructions: counts[&self.instructions] })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_instructions_per_cycle_need_every_worker() {
        let events = |cycles, instructions| WorkerCount {
            events: Some(Events { cycles, instructions }),
            ..WorkerCount::default()
        };
        assert_eq!(ipc(&[events(100, 300), events(300, 300)]), Some((600, 400)));
        assert_eq!(ipc(&[events(100, 300), WorkerCount::default()]), None);
        assert_eq!((ipc(&[]), ipc(&[events(0, 0)])), (None, None));
    }

    #[test]
    fn probe_counting_works_with_and_without_permission() {
        let mut counter = Counter::of_this_thread();
        let mut sum = 0u64;
        let count = count(&mut counter, || {
            for k in 0..200_000u64 {
                sum = std::hint::black_box(sum + k);
            }
        });
        assert!(count.wall_ns > 0);
        // Where the machine has no counters, the reason is one that can be read.
        match check() {
            Ok(()) => assert!(count.events.is_some_and(|events| events.instructions > 200_000), "{count:?}"),
            Err(reason) => assert!(!reason.is_empty() && count.events.is_none_or(|events| events.cycles == 0)),
        }
    }
}
