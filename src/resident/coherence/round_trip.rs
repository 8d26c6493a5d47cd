//! The round trip's arithmetic: what is rung, what must come back.

/// What became of the round trips of one route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// Each one's time in ns: from before the descriptor is written until the result has been read.
    pub trips_ns: Vec<u64>,
    /// Of them, those with the right result.
    pub n_right: u32,
    /// Why there are fewer than asked for.
    pub ended_early: Option<String>,
}

/// One trip's result, or none within its patience.
pub(super) type Answer = Option<u32>;

/// The number sent with ring `ring`: different each time, and no pattern that a stale read could fit.
pub(super) fn number_of(ring: u32) -> u32 {
    ring.wrapping_mul(0x9E37_79B9).rotate_left(7)
}

/// What the kernel makes of it.
pub(super) fn expected(ring: u32) -> u32 {
    number_of(ring).wrapping_mul(3).wrapping_add(ring)
}

/// Rings `n_trips` times from ring `first_ring` on, within `budget_ns` in all. `ring` sends a number and waits for what comes back.
pub(super) fn run(
    now_ns: &dyn Fn() -> u64,
    first_ring: u32,
    n_trips: u32,
    budget_ns: u64,
    mut ring: impl FnMut(u32, u32) -> Answer,
) -> RoundTrips {
    let mut trips = RoundTrips { trips_ns: Vec::with_capacity(n_trips as usize), ..RoundTrips::default() };
    let first_ns = now_ns();
    for ring_idx in first_ring..first_ring + n_trips {
        let started_ns = now_ns();
        if started_ns - first_ns > budget_ns {
            trips.ended_early = Some(format!("{:.1} s were over", budget_ns as f64 / 1e9));
            break;
        }
        match ring(ring_idx, number_of(ring_idx)) {
            Some(result) => {
                trips.trips_ns.push(now_ns() - started_ns);
                trips.n_right += u32::from(result == expected(ring_idx));
            }
            None => {
                trips.ended_early = Some(format!("no answer to ring {ring_idx}"));
                break;
            }
        }
    }
    trips
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn resident_round_trips_count_right_results_and_stop_at_silence() {
        let clock_ns = Cell::new(0);
        let trips = run(&|| clock_ns.get(), 1, 100, 1_000_000, |ring, number| {
            clock_ns.set(clock_ns.get() + 2_000);
            match ring {
                7 => Some(expected(6)), // stale
                31.. => None,
                _ => Some(number.wrapping_mul(3).wrapping_add(ring)),
            }
        });
        assert_eq!((trips.trips_ns.len(), trips.n_right), (30, 29));
        assert!(trips.trips_ns.iter().all(|ns| *ns == 2_000));
        assert_eq!(trips.ended_early.as_deref(), Some("no answer to ring 31"));
    }

    #[test]
    fn resident_round_trips_keep_to_their_time() {
        let clock_ns = Cell::new(0);
        let trips = run(&|| clock_ns.get(), 21, 5_000, 50_000_000, |ring, _| {
            clock_ns.set(clock_ns.get() + 4_000_000);
            Some(expected(ring))
        });
        assert_eq!((trips.trips_ns.len(), trips.n_right), (13, 13));
        assert!(trips.ended_early.is_some());
    }
}
