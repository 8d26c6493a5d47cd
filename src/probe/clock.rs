//! What time it is, and how much of the CPU was used; behind a trait, so that tests bring their own.

use std::time::Instant;

/// A monotonic clock, and the CPU time used so far.
pub trait Clock {
    /// Nanoseconds since some moment.
    fn now_ns(&self) -> u64;

    /// Nanoseconds of CPU time used so far, where the system tells.
    fn cpu_ns(&self) -> CpuTime;
}

/// CPU time used so far, in ns; `None` where the system doesn't tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// By the calling thread.
    pub thread_ns: Option<u64>,
    /// By all threads of the process, the driver's included: what `getrusage` sums, with the clock's resolution.
    pub process_ns: Option<u64>,
}

impl CpuTime {
    /// What was used since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        let less = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            thread_ns: less(self.thread_ns, earlier.thread_ns),
            process_ns: less(self.process_ns, earlier.process_ns),
        }
    }
}

/// The system's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Counts from now.
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    fn cpu_ns(&self) -> CpuTime {
        #[cfg(unix)]
        {
            use rustix::time::ClockId;
            CpuTime {
                thread_ns: Some(unix_ns(ClockId::ThreadCPUTime)),
                process_ns: Some(unix_ns(ClockId::ProcessCPUTime)),
            }
        }
        #[cfg(not(unix))]
        CpuTime::default()
    }
}

#[cfg(unix)]
fn unix_ns(clock: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// A clock that stands still until a test moves it.
#[cfg(test)]
#[derive(Debug, Default)]
pub(super) struct FakeClock {
    pub now_ns: std::cell::Cell<u64>,
    pub cpu_ns: std::cell::Cell<u64>,
}

#[cfg(test)]
impl FakeClock {
    /// Time goes by, with the CPU busy for part of it.
    pub fn pass(&self, ns: u64, cpu_ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
        self.cpu_ns.set(self.cpu_ns.get() + cpu_ns);
    }
}

#[cfg(test)]
impl Clock for FakeClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn cpu_ns(&self) -> CpuTime {
        CpuTime { thread_ns: Some(self.cpu_ns.get()), process_ns: Some(self.cpu_ns.get()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn probe_cpu_time_grows_with_work_and_not_with_sleep() {
        let clock = SystemClock::start();
        let (now, cpu) = (clock.now_ns(), clock.cpu_ns());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let asleep = clock.cpu_ns().since(cpu).thread_ns.expect("unix tells");
        assert!(clock.now_ns() - now >= 20_000_000 && asleep < 10_000_000, "{asleep} ns while asleep");
        let cpu = clock.cpu_ns();
        while clock.cpu_ns().since(cpu).thread_ns < Some(5_000_000) {}
        assert!(clock.cpu_ns().since(cpu).process_ns >= Some(5_000_000));
    }
}
