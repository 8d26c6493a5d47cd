//! What the processor counted of one thread: cycles, instructions and time on a core.

use crate::measure::ThreadCounts;

/// Counters of the thread that opened them, through Linux's `perf_event_open`; elsewhere none can be had.
///
/// The kernel's own work for the thread is not in cycles and instructions, since counting it takes a privilege. Many virtual machines have
/// no counters, and containers may forbid them: then a count is missing, and [`missing`](Self::missing) says why.
#[derive(Debug)]
pub struct ThreadCounters {
    counters: imp::Counters,
    missing: Option<String>,
}

impl ThreadCounters {
    /// Opens them for the calling thread, stopped.
    pub fn open() -> Self {
        let (counters, missing) = imp::Counters::open();
        Self { counters, missing }
    }

    /// Which counts can't be had, and why; `None` when none is missing.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Starts counting.
    pub fn start(&mut self) {
        self.counters.start();
    }

    /// What was counted since [`start`](Self::start); `None` when nothing could be.
    pub fn read(&mut self) -> Option<ThreadCounts> {
        Some(self.counters.read()).filter(|counts| *counts != ThreadCounts::default())
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use perf_event::events::{Event, Hardware, Software};
    use perf_event::{Builder, Counter};

    use crate::measure::ThreadCounts;

    #[derive(Debug)]
    pub(super) struct Counters {
        cycles: Option<Counter>,
        instructions: Option<Counter>,
        task_clock_ns: Option<Counter>,
    }

    impl Counters {
        /// What can be opened, and what can't with the reason.
        pub(super) fn open() -> (Self, Option<String>) {
            let mut missing = Vec::new();
            let counters = Self {
                cycles: open("cycles", Hardware::CPU_CYCLES, &mut missing),
                instructions: open("instructions", Hardware::INSTRUCTIONS, &mut missing),
                task_clock_ns: open("task-clock", Software::TASK_CLOCK, &mut missing),
            };
            let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
            let why = missing
                .first()
                .map(|(_, error)| format!("the main thread's {} can't be counted here: {error}", names.join(", ")));
            (counters, why)
        }

        pub(super) fn start(&mut self) {
            let all = [&mut self.cycles, &mut self.instructions, &mut self.task_clock_ns];
            for counter in all.into_iter().flatten() {
                // A counter that can't be started reads as not having run, and is left out then.
                let _ = counter.enable();
            }
        }

        pub(super) fn read(&mut self) -> ThreadCounts {
            ThreadCounts {
                cycles: read(&mut self.cycles),
                instructions: read(&mut self.instructions),
                task_clock_ns: read(&mut self.task_clock_ns),
            }
        }
    }

    fn open(
        name: &'static str,
        event: impl Event,
        missing: &mut Vec<(&'static str, std::io::Error)>,
    ) -> Option<Counter> {
        Builder::new(event).build().map_err(|error| missing.push((name, error))).ok()
    }

    /// The count; `None` unless the counter ran all the time, which it does not where several share one register.
    fn read(counter: &mut Option<Counter>) -> Option<u64> {
        let data = counter.as_mut()?.read_full().ok()?;
        let (enabled, running) = (data.time_enabled()?, data.time_running()?);
        (enabled == running && !enabled.is_zero()).then(|| data.count())
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use crate::measure::ThreadCounts;

    #[derive(Debug)]
    pub(super) struct Counters;

    impl Counters {
        pub(super) fn open() -> (Self, Option<String>) {
            (Self, Some("the main thread's cycles and instructions can be counted on Linux alone".into()))
        }

        pub(super) fn start(&mut self) {}

        pub(super) fn read(&mut self) -> ThreadCounts {
            ThreadCounts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_counters_count_or_say_why_not() {
        let mut counters = ThreadCounters::open();
        counters.start();
        let mut chain = crate::pacing::ClockChain::new();
        let chain_ns: u64 = (0..1_000).map(|_| chain.read_ns()).sum();
        let counts = counters.read().unwrap_or_default();
        let found = [counts.cycles, counts.instructions, counts.task_clock_ns];
        assert!(found.iter().all(Option::is_some) || counters.missing().is_some(), "{counters:?}");
        // 1,000 chains of 2,000 steps of two instructions at least, three cycles each.
        assert!(counts.instructions.is_none_or(|n| n >= 4_000_000), "{counts:?}");
        assert!(counts.cycles.is_none_or(|n| n >= 6_000_000), "{counts:?}");
        // The chain's own time has the thread's waits for a core in it.
        assert!(counts.task_clock_ns.is_none_or(|ns| ns > 1_000_000 && ns < 2 * chain_ns), "{counts:?}, {chain_ns} ns");
    }
}
