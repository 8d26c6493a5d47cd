//! Workers that are threads of this process.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::cores::pin;
use super::counters::{Counter, WorkerCount, count};
use super::{Idle, Variant};

const PAGE_BYTES: usize = 4096;
const PAGE_WORDS: usize = PAGE_BYTES / 8;

/// A page of counters that begins where a page begins, so that slots lie on lines as their layout says.
#[repr(align(4096))]
pub(super) struct Page(pub [AtomicU64; PAGE_WORDS]);

impl Page {
    pub fn zeroed() -> Self {
        Self([const { AtomicU64::new(0) }; PAGE_WORDS])
    }
}

/// What a worker does: a load, an add and a store into its own slot, as a counter in a loop is. Nobody else writes there, so
/// no atomic addition is needed, and its cost would hide the line's.
pub(super) fn increment(slot: &AtomicU64, n_increments: u64) {
    // Of a slot that only this thread could see, the compiler would make one addition of the whole loop.
    let slot = std::hint::black_box(slot);
    for _ in 0..n_increments {
        slot.store(slot.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// How many increments one worker makes in about `solo_ns`.
pub(super) fn increments_in(solo_ns: u64) -> u64 {
    let page = Page::zeroed();
    let mut n_increments = 10_000;
    loop {
        let started = Instant::now();
        increment(&page.0[0], n_increments);
        let ns = started.elapsed().as_nanos() as u64;
        // Long enough not to be one lost time slice, or the clock's own resolution.
        if ns >= 500_000 || n_increments >= 1 << 32 {
            return (n_increments as f64 * solo_ns as f64 / ns.max(1) as f64).max(1_000.0) as u64;
        }
        n_increments *= 2;
    }
}

/// Has each worker of `variant` count to `n_increments` in its slot, starting together.
pub(super) fn run(variant: &Variant, n_increments: u64) -> Vec<WorkerCount> {
    let n_workers = variant.n_workers();
    let n_bytes = 2 * n_workers * variant.slot_bytes;
    let pages: Vec<Page> = (0..n_bytes.div_ceil(PAGE_BYTES)).map(|_| Page::zeroed()).collect();
    let slot = |offset: usize| &pages[offset / PAGE_BYTES].0[offset % PAGE_BYTES / 8];
    let start = AtomicUsize::new(0);
    let rest = Rest::default();
    std::thread::scope(|scope| {
        if variant.idle != Idle::None {
            for _ in 0..n_workers {
                scope.spawn(|| rest.wait());
            }
        }
        let spawn = |(worker_idx, core): (usize, &Option<u32>)| {
            let (core, slot, start) = (*core, slot(variant.slot_offset(worker_idx)), &start);
            scope.spawn(move || {
                pin(core);
                let mut counter = Counter::of_this_thread();
                start.fetch_add(1, Ordering::AcqRel);
                // A spin, so that all start within some ns; with too few cores the others need this one to get there.
                for n_looks in 0u32.. {
                    if start.load(Ordering::Acquire) == n_workers {
                        break;
                    }
                    if n_looks % 1024 == 1023 {
                        std::thread::yield_now();
                    }
                    std::hint::spin_loop();
                }
                count(&mut counter, || increment(slot, n_increments))
            })
        };
        let workers: Vec<_> = variant.cores.iter().enumerate().map(spawn).collect();
        // A worker does nothing that could panic.
        let counts = workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect();
        rest.end();
        counts
    })
}

/// Where idle threads rest.
#[derive(Default)]
struct Rest {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Rest {
    fn wait(&self) {
        let guard = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(guard, |is_over| !*is_over));
    }

    fn end(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn probe_line_pages_begin_where_pages_begin() {
        let pages: Vec<Page> = (0..3).map(|_| Page::zeroed()).collect();
        assert!(pages.iter().all(|page| ((&raw const page.0) as usize).is_multiple_of(PAGE_BYTES)));
        assert_eq!(size_of::<Page>(), PAGE_BYTES);
    }

    #[test]
    fn probe_line_every_worker_counts_in_every_layout() {
        let page = Page::zeroed();
        increment(&page.0[0], 1_234);
        assert_eq!(page.0[0].load(Ordering::Relaxed), 1_234);
        for idle in [Idle::None, Idle::Interleaved, Idle::Before, Idle::After] {
            for slot_bytes in super::super::SLOT_BYTES {
                let variant = Variant { kind: Kind::Threads, cores: vec![None; 3], slot_bytes, idle, place: None };
                let counts = run(&variant, 5_000);
                assert_eq!(counts.len(), 3);
                assert!(counts.iter().all(|count| count.wall_ns > 0), "{counts:?}");
            }
        }
        assert!(increments_in(1_000_000) > 10_000);
    }
}
