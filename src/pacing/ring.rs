//! The in-flight ring: how far the CPU may run ahead of the GPU.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Instant;

/// Waits until one submission is finished.
///
/// The ring is generic over this so that it can be tested, and used, without a GPU. A closure
/// `FnMut(&S) -> Result<(), E>` is a waiter too. A wait that returns an error leaves the ring as it was.
pub trait SubmissionWaiter<S> {
    /// What a failed wait gives.
    type Error;

    /// Returns once `submission`, and so every submission before it, is finished.
    ///
    /// # Errors
    /// Whatever keeps the wait from ending well, such as a lost device.
    fn wait(&mut self, submission: &S) -> Result<(), Self::Error>;

    /// As [`wait`](Self::wait), for a submission that was made at `submitted`. The ring calls this one; a waiter that
    /// predicts when the submission will be finished makes use of it.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    fn wait_since(&mut self, submission: &S, submitted: Instant) -> Result<(), Self::Error> {
        let _ = submitted;
        self.wait(submission)
    }
}

impl<S, E, F: FnMut(&S) -> Result<(), E>> SubmissionWaiter<S> for F {
    type Error = E;

    fn wait(&mut self, submission: &S) -> Result<(), E> {
        self(submission)
    }
}

/// The frame that may be recorded now; [`InFlightRing::wait_for_slot`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSlot {
    /// Frames pushed before this one.
    pub frame_idx: u64,
    /// `frame_idx` modulo the ring's capacity: which of the per-frame buffers is free. The frame that used it
    /// last is finished.
    pub slot_idx: usize,
    /// How long the wait for the oldest frame took; 0 when the ring had room.
    pub waited_ns: u64,
}

/// A push into a ring that is full: [`InFlightRing::wait_for_slot`] was not called since the last one.
///
/// Gives the submission back, which is still running on the GPU.
#[derive(Debug, thiserror::Error)]
#[error("{capacity} frames are in flight already: wait for a slot before submitting the next frame")]
pub struct RingFull<S> {
    /// Frames that may be in flight at most.
    pub capacity: usize,
    /// What was pushed.
    pub submission: S,
}

/// The submissions in flight, oldest first, at most [`capacity`](Self::capacity) of them.
///
/// Submissions finish in the order they were made (wgpu has one queue per device), so one number,
/// [`n_finished`](Self::n_finished), says which frames are done. Steady use allocates nothing.
///
/// ```
/// use praxis::pacing::{FRAMES_IN_FLIGHT, InFlightRing};
/// use std::convert::Infallible;
///
/// let mut gpu = |_submission: &u64| Ok::<(), Infallible>(()); // a `DeviceWaiter` in earnest
/// let mut ring = InFlightRing::new(FRAMES_IN_FLIGHT);
/// for _ in 0..5 {
///     let slot = ring.wait_for_slot(&mut gpu)?;
///     for finished_idx in ring.take_finished() {
///         let _ = finished_idx; // its timestamps may be read now
///     }
///     ring.push(slot.frame_idx).expect("a slot was waited for"); // the submission index in earnest
/// }
/// ring.drain(&mut gpu)?;
/// assert_eq!(ring.n_finished(), 5);
/// # Ok::<(), Infallible>(())
/// ```
#[derive(Debug)]
pub struct InFlightRing<S> {
    submissions: VecDeque<Pushed<S>>,
    capacity: usize,
    n_pushed: u64,
    n_taken: u64,
}

/// A submission and when it was pushed, which is right after it was made.
#[derive(Debug)]
struct Pushed<S> {
    submission: S,
    at: Instant,
}

impl<S> InFlightRing<S> {
    /// An empty ring for at most `n_frames_in_flight` submissions; 0 is taken as 1.
    pub fn new(n_frames_in_flight: usize) -> Self {
        let capacity = n_frames_in_flight.max(1);
        Self { submissions: VecDeque::with_capacity(capacity), capacity, n_pushed: 0, n_taken: 0 }
    }

    /// Submissions that may be in flight at most.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Submissions in flight: pushed, and not waited for yet.
    pub fn n_in_flight(&self) -> usize {
        self.submissions.len()
    }

    /// Whether the next frame must wait for the oldest one.
    pub fn is_full(&self) -> bool {
        self.submissions.len() >= self.capacity
    }

    /// Frames pushed so far, which is also the index of the next one.
    pub fn n_pushed(&self) -> u64 {
        self.n_pushed
    }

    /// Frames known to be finished: all with an index below this.
    pub fn n_finished(&self) -> u64 {
        self.n_pushed - self.submissions.len() as u64
    }

    /// The indices of the frames that finished since the last call, oldest first: those whose timestamps and
    /// readbacks may be read now.
    pub fn take_finished(&mut self) -> Range<u64> {
        let finished = self.n_taken..self.n_finished();
        self.n_taken = finished.end;
        finished
    }

    /// Waits for the oldest submission if the ring is full, and says which slot is free.
    ///
    /// Call it at the frame's start, before input is sampled. Calling it twice waits once.
    ///
    /// # Errors
    /// The waiter's error; the submission stays in the ring, so the call can be made again.
    pub fn wait_for_slot<W: SubmissionWaiter<S>>(&mut self, waiter: &mut W) -> Result<FrameSlot, W::Error> {
        let waited_ns = if self.is_full() { self.wait_oldest(waiter)? } else { 0 };
        let slot_idx = (self.n_pushed % self.capacity as u64) as usize;
        Ok(FrameSlot { frame_idx: self.n_pushed, slot_idx, waited_ns })
    }

    /// Takes in the submission of the frame that was just submitted, right after its submit, and gives its frame index.
    ///
    /// # Errors
    /// [`RingFull`] when no slot was waited for.
    pub fn push(&mut self, submission: S) -> Result<u64, RingFull<S>> {
        if self.is_full() {
            return Err(RingFull { capacity: self.capacity, submission });
        }
        let frame_idx = self.n_pushed;
        self.submissions.push_back(Pushed { submission, at: Instant::now() });
        self.n_pushed += 1;
        Ok(frame_idx)
    }

    /// Waits for the newest submission, and so for all of them; gives the wait in ns, 0 with nothing in flight.
    ///
    /// For an adapter whose `submit` blocks until the submission before it is finished
    /// ([`detect_blocking_submit`](super::detect_blocking_submit)): waiting here, after recording and just before
    /// `submit`, takes the GPU's time out of the submit and books it as the wait that it is. Recording still
    /// overlaps the GPU.
    ///
    /// # Errors
    /// The waiter's error; every submission stays in the ring.
    pub fn wait_newest_before_submit<W: SubmissionWaiter<S>>(&mut self, waiter: &mut W) -> Result<u64, W::Error> {
        let Some(newest) = self.submissions.back() else { return Ok(0) };
        let waited_ns = timed_wait(waiter, newest)?;
        self.submissions.clear();
        Ok(waited_ns)
    }

    /// Waits for every submission in flight, oldest first; gives the time in ns.
    ///
    /// # Errors
    /// The waiter's first error; the submission it happened at and those after it stay in the ring.
    pub fn drain<W: SubmissionWaiter<S>>(&mut self, waiter: &mut W) -> Result<u64, W::Error> {
        let mut waited_ns = 0;
        while !self.submissions.is_empty() {
            waited_ns += self.wait_oldest(waiter)?;
        }
        Ok(waited_ns)
    }

    fn wait_oldest<W: SubmissionWaiter<S>>(&mut self, waiter: &mut W) -> Result<u64, W::Error> {
        let Some(oldest) = self.submissions.front() else { return Ok(0) };
        let waited_ns = timed_wait(waiter, oldest)?;
        self.submissions.pop_front();
        Ok(waited_ns)
    }
}

fn timed_wait<S, W: SubmissionWaiter<S>>(waiter: &mut W, pushed: &Pushed<S>) -> Result<u64, W::Error> {
    let started = Instant::now();
    waiter.wait_since(&pushed.submission, pushed.at)?;
    Ok(super::elapsed_ns(started))
}
