//! Times each system of the schedule with an injected clock, under its function's name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bevy_ecs::system::{Adapt, IntoAdapterSystem, RunSystemError, System, SystemIn};
use crossbeam_utils::CachePadded;

/// What one system took in the last update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTime {
    /// The system's function.
    pub name: &'static str,
    /// Nanoseconds.
    pub ns: u64,
    /// When it began, by the scene's clock.
    pub began_ns: u64,
}

/// One system's last run.
#[derive(Default)]
struct LastRun {
    elapsed_ns: AtomicU64,
    began_ns: AtomicU64,
}

/// Where a system leaves its time: on a cache line of its own, whichever thread the schedule runs it on, so that no write takes
/// the line from under another system's (`praxis probe line` measures what that costs).
type Cell = CachePadded<LastRun>;

/// Where the wrapped systems leave their times. All are written and read on the thread that runs the schedule; the
/// atomics are there because a system must be `Send`.
pub(super) struct SystemTimes {
    clock_ns: fn() -> u64,
    cells: Vec<Arc<Cell>>,
    times: Vec<SystemTime>,
}

impl SystemTimes {
    /// None yet; `clock_ns` reads a monotonic clock in nanoseconds.
    pub fn new(clock_ns: fn() -> u64) -> Self {
        Self { clock_ns, cells: Vec::new(), times: Vec::new() }
    }

    /// Wraps a system so that each run is timed.
    pub fn timed<S>(&mut self, name: &'static str, system: S) -> IntoAdapterSystem<Timer, S> {
        let cell = Arc::new(Cell::default());
        self.cells.push(Arc::clone(&cell));
        self.times.push(SystemTime { name, ns: 0, began_ns: 0 });
        IntoAdapterSystem::new(Timer { clock_ns: self.clock_ns, cell }, system)
    }

    /// Takes over what the last run left.
    pub fn collect(&mut self) {
        for (time, cell) in self.times.iter_mut().zip(&self.cells) {
            time.ns = cell.elapsed_ns.load(Ordering::Relaxed);
            time.began_ns = cell.began_ns.load(Ordering::Relaxed);
        }
    }

    /// What the clock reads now.
    pub fn now_ns(&self) -> u64 {
        (self.clock_ns)()
    }

    /// As of the last [`Self::collect`], in the order of the schedule.
    pub fn times(&self) -> &[SystemTime] {
        &self.times
    }
}

/// Runs a system between two readings of the clock.
pub(super) struct Timer {
    clock_ns: fn() -> u64,
    cell: Arc<Cell>,
}

impl<S: System> Adapt<S> for Timer {
    type In = S::In;
    type Out = S::Out;

    fn adapt(
        &mut self,
        input: <Self::In as bevy_ecs::system::SystemInput>::Inner<'_>,
        run_system: impl FnOnce(SystemIn<'_, S>) -> Result<S::Out, RunSystemError>,
    ) -> Result<Self::Out, RunSystemError> {
        let start_ns = (self.clock_ns)();
        let out = run_system(input);
        self.cell.elapsed_ns.store((self.clock_ns)().saturating_sub(start_ns), Ordering::Relaxed);
        self.cell.began_ns.store(start_ns, Ordering::Relaxed);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_writes_its_time_on_a_line_of_its_own() {
        // The greatest line that a machine of today has: 128 bytes, on Apple silicon; x86 fetches lines of 64 in pairs.
        const LINE_BYTES: usize = 128;
        assert!(cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) || align_of::<Cell>() >= LINE_BYTES);
        let mut times = SystemTimes::new(|| 0);
        let systems: Vec<_> = (0..3).map(|_| times.timed("system", || {})).collect();
        let places: Vec<usize> = times.cells.iter().map(|cell| &raw const **cell as usize).collect();
        for (idx, place) in places.iter().enumerate() {
            assert_eq!(place % align_of::<Cell>(), 0);
            assert!(places[..idx].iter().all(|other| place.abs_diff(*other) >= align_of::<Cell>()), "{places:?}");
        }
        drop(systems);
    }
}
