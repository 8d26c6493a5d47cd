//! Walks through the steps that a Hybrid wait decides on.

use super::hybrid::{HybridWait, Sleep, WaitStep};

/// A submission that can be waited for in steps, and the clock beside it. Tests have one without a GPU.
pub(super) trait Stepped {
    type Error;

    /// Now, in ns.
    fn now_ns(&mut self) -> u64;

    /// Returns once the submission is done.
    fn block(&mut self) -> Result<(), Self::Error>;

    /// Returns once the submission is done, or after `longest_ns`; gives whether it is known to be done.
    fn block_for_ns(&mut self, longest_ns: u64, by: Sleep) -> Result<bool, Self::Error>;

    /// Whether it is done, at once.
    fn poll(&mut self) -> Result<bool, Self::Error>;
}

/// Waits for a submission made at `submitted_ns`. The clock is read once for each step, never for a poll.
pub(super) fn wait_in_steps<T: Stepped>(
    hybrid: &mut HybridWait,
    submitted_ns: u64,
    submission: &mut T,
) -> Result<(), T::Error> {
    let mut now_ns = submission.now_ns();
    let mut step = hybrid.begin(submitted_ns, now_ns);
    loop {
        let (is_done, n_polls) = match step {
            WaitStep::Block => {
                submission.block()?;
                (true, 0)
            }
            WaitStep::BlockUntil { until_ns, by } => (submission.block_for_ns(until_ns.saturating_sub(now_ns), by)?, 0),
            WaitStep::Poll { n_polls } => poll_some(submission, n_polls)?,
        };
        now_ns = submission.now_ns();
        if is_done {
            hybrid.done(now_ns, n_polls);
            return Ok(());
        }
        step = hybrid.not_done(now_ns);
    }
}

/// Polls up to `n_polls` times; gives whether it is done, and after how many polls.
fn poll_some<T: Stepped>(submission: &mut T, n_polls: u32) -> Result<(bool, u32), T::Error> {
    for n_done in 1..=n_polls {
        if submission.poll()? {
            return Ok((true, n_done));
        }
        std::hint::spin_loop();
    }
    Ok((false, n_polls))
}
