//! The in-flight ring against any sequence of calls, with a GPU that is a counter.

use praxis::pacing::{FRAMES_IN_FLIGHT, InFlightRing};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Call {
    Frame,
    FrameWithoutSlot,
    WaitNewest,
    Drain,
    TakeFinished,
    /// The next wait fails.
    Break,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        8 => Just(Call::Frame),
        1 => Just(Call::FrameWithoutSlot),
        1 => Just(Call::WaitNewest),
        1 => Just(Call::Drain),
        2 => Just(Call::TakeFinished),
        1 => Just(Call::Break),
    ];
    prop::collection::vec(call, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pacing_ring_keeps_order_and_bound(capacity in 0usize..5, calls in calls()) {
        let mut ring = InFlightRing::new(capacity);
        let bound = capacity.max(1) as u64;
        // What the GPU was asked to finish, and what the ring handed out as finished.
        let (mut n_waited, mut is_broken, mut taken) = (0u64, false, Vec::new());
        for call in calls {
            let n_in_flight = ring.n_in_flight();
            let mut expected = None;
            let mut gpu = |frame: &u64| {
                if std::mem::take(&mut is_broken) {
                    return Err("lost");
                }
                expected.get_or_insert(*frame);
                n_waited = n_waited.max(*frame + 1);
                Ok(())
            };
            match call {
                Call::Frame => match ring.wait_for_slot(&mut gpu) {
                    Ok(slot) => {
                        // Only a full ring waits, and for the oldest: the frame that used this slot.
                        let oldest = (n_in_flight as u64 == bound).then(|| slot.frame_idx - bound);
                        prop_assert_eq!(expected, oldest);
                        prop_assert_eq!(slot.slot_idx as u64, slot.frame_idx % bound);
                        prop_assert!(slot.frame_idx < n_waited + bound);
                        prop_assert_eq!(ring.push(slot.frame_idx).ok(), Some(slot.frame_idx));
                    }
                    Err(error) => {
                        prop_assert_eq!(error, "lost");
                        prop_assert_eq!(ring.n_in_flight(), n_in_flight);
                    }
                },
                Call::FrameWithoutSlot => {
                    let frame_idx = ring.n_pushed();
                    match ring.push(frame_idx) {
                        Ok(pushed_idx) => prop_assert_eq!(pushed_idx, frame_idx),
                        Err(full) => {
                            prop_assert_eq!(n_in_flight as u64, bound);
                            prop_assert_eq!(full.submission, frame_idx);
                        }
                    }
                }
                Call::WaitNewest => {
                    let newest = ring.n_pushed().checked_sub(1).filter(|_| n_in_flight > 0);
                    match ring.wait_newest_before_submit(&mut gpu) {
                        Ok(_) => {
                            prop_assert_eq!(expected, newest);
                            prop_assert_eq!(ring.n_in_flight(), 0);
                        }
                        Err(_) => prop_assert_eq!(ring.n_in_flight(), n_in_flight),
                    }
                }
                Call::Drain => match ring.drain(&mut gpu) {
                    Ok(_) => prop_assert_eq!(ring.n_in_flight(), 0),
                    Err(_) => prop_assert_eq!(ring.n_in_flight(), n_in_flight),
                },
                Call::TakeFinished => taken.extend(ring.take_finished()),
                Call::Break => is_broken = true,
            }
            prop_assert!(ring.n_in_flight() as u64 <= bound);
            prop_assert_eq!(ring.n_finished(), n_waited, "a frame counts as finished only when it was waited for");
        }
        taken.extend(ring.take_finished());
        prop_assert_eq!(taken, (0..ring.n_finished()).collect::<Vec<_>>());
    }
}

#[test]
fn pacing_ring_waits_for_the_oldest_and_times_it() {
    let mut ring = InFlightRing::new(FRAMES_IN_FLIGHT);
    let mut waited = Vec::new();
    let mut gpu = |frame: &u64| {
        waited.push(*frame);
        std::thread::sleep(std::time::Duration::from_millis(2));
        Ok::<(), ()>(())
    };
    let mut waits_ns = Vec::new();
    for _ in 0..4 {
        let slot = ring.wait_for_slot(&mut gpu).expect("this GPU never fails");
        waits_ns.push(slot.waited_ns);
        ring.push(slot.frame_idx).expect("a slot was waited for");
    }
    let drained_ns = ring.drain(&mut gpu).expect("this GPU never fails");
    assert_eq!(waited, [0, 1, 2, 3]);
    assert_eq!(waits_ns[..2], [0, 0], "the first frames find room");
    assert!(waits_ns[2..].iter().all(|&ns| ns >= 2_000_000), "{waits_ns:?}");
    assert!(drained_ns >= 4_000_000, "{drained_ns}");
}

#[test]
fn pacing_drain_stops_at_the_first_error_and_can_go_on() {
    let mut ring = InFlightRing::new(3);
    for frame in 0..3 {
        ring.push(frame).expect("there is room for three");
    }
    let error = ring.drain(&mut |frame: &i32| if *frame == 1 { Err("lost at 1") } else { Ok(()) });
    assert_eq!(error, Err("lost at 1"));
    assert_eq!((ring.n_in_flight(), ring.n_finished()), (2, 1));
    ring.drain(&mut |_: &i32| Ok::<(), ()>(())).expect("the GPU is back");
    assert_eq!(ring.take_finished(), 0..3);
}

#[test]
fn pacing_a_full_ring_says_what_to_do() {
    let mut ring = InFlightRing::new(1);
    ring.push('a').expect("there is room for one");
    let message = ring.push('b').expect_err("the ring is full").to_string();
    assert_eq!(message, "1 frames are in flight already: wait for a slot before submitting the next frame");
}
