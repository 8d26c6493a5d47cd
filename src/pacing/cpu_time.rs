//! CPU time: what a thread and the whole process ran for, and so how long a call kept its thread from running.

use std::time::Instant;

/// How long the calling thread has run on a core so far; only the difference of two readings of one thread means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadCpuTime {
    ns: u64,
}

impl ThreadCpuTime {
    /// Now. `None` where the system doesn't say: outside of Unix. A reading is a system call, of some 0.2 µs on Linux.
    pub fn now() -> Option<Self> {
        #[cfg(unix)]
        {
            Some(Self { ns: read_clock(rustix::time::ClockId::ThreadCPUTime) })
        }
        #[cfg(not(unix))]
        {
            None
        }
    }

    /// What the thread ran for since `earlier`, in ns.
    pub fn since_ns(self, earlier: Self) -> u64 {
        self.ns.saturating_sub(earlier.ns)
    }
}

/// What all threads of this process have run for so far, in ns; `None` outside of Unix.
pub fn process_cpu_time_ns() -> Option<u64> {
    #[cfg(unix)]
    {
        Some(read_clock(rustix::time::ClockId::ProcessCPUTime))
    }
    #[cfg(not(unix))]
    {
        None
    }
}

#[cfg(unix)]
fn read_clock(clock: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Tells how long a call kept the calling thread from running: drivers block in different calls.
///
/// ```
/// use praxis::pacing::BlockedTime;
///
/// let call = BlockedTime::start();
/// std::thread::sleep(std::time::Duration::from_millis(5)); // `queue.submit` in earnest
/// if let Some(blocked_ns) = call.end_ns() {
///     assert!(blocked_ns >= 4_000_000);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BlockedTime {
    started: Instant,
    cpu_started: Option<ThreadCpuTime>,
}

impl BlockedTime {
    /// The call begins.
    pub fn start() -> Self {
        // Around the other clock, so that what reading costs never looks like blocking.
        let cpu_started = ThreadCpuTime::now();
        Self { started: Instant::now(), cpu_started }
    }

    /// The call ended: its time less what the thread ran for, in ns. A wait that polls without a pause blocks for 0 ns. `None` where
    /// there is no [`ThreadCpuTime`].
    pub fn end_ns(self) -> Option<u64> {
        let wall_ns = super::elapsed_ns(self.started);
        let ran_ns = ThreadCpuTime::now()?.since_ns(self.cpu_started?);
        Some(wall_ns.saturating_sub(ran_ns))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Duration;

    fn spin(duration: Duration) {
        let started = Instant::now();
        while started.elapsed() < duration {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn pacing_sleeping_is_blocked_and_spinning_is_not() {
        let call = BlockedTime::start();
        std::thread::sleep(Duration::from_millis(20));
        let slept_ns = call.end_ns().expect("Unix has the clock");
        assert!(slept_ns > 18_000_000, "{slept_ns}");

        // Others may take the core meanwhile, so the best of some.
        let spun_ns = (0..5).map(|_| {
            let call = BlockedTime::start();
            spin(Duration::from_millis(2));
            call.end_ns().expect("Unix has the clock")
        });
        let least_ns = spun_ns.min().expect("five");
        assert!(least_ns < 1_000_000, "{least_ns}");
    }

    #[test]
    fn pacing_cpu_time_of_the_process_holds_that_of_its_threads() {
        let (process_ns, thread) = (process_cpu_time_ns().expect("Unix"), ThreadCpuTime::now().expect("Unix"));
        std::thread::scope(|scope| {
            scope.spawn(|| spin(Duration::from_millis(10)));
        });
        let ran_ns = ThreadCpuTime::now().expect("Unix").since_ns(thread);
        assert!(ran_ns < 8_000_000, "another thread's work is not this one's: {ran_ns}");
        assert!(process_cpu_time_ns().expect("Unix") > process_ns);
    }
}
