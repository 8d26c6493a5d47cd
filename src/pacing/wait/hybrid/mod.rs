//! What a Hybrid wait does next: a state machine over the times that it is told.

use super::super::recent_samples::RecentSamples;
use super::HybridOutcomes;
use super::end_prediction::EndPrediction;

/// What to do next in a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitStep {
    /// Block until the frame is done.
    Block,
    /// Block until the frame is done or it is `until_ns`.
    BlockUntil { until_ns: u64, by: Sleep },
    /// Poll until the frame is done, or so many times.
    Poll { n_polls: u32 },
}

/// Who wakes the thread when a time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// `device.poll`, which a frame that ends early wakes too.
    Driver,
    /// The system's sleep.
    System,
}

/// Decides how each wait goes, and learns from how it went. All times are ns of one clock.
///
/// A frame begins on the GPU when it was submitted or when the one before it ended, whichever is later. From there
/// [`EndPrediction`] gives the stretch in which it will end, no longer than the longest spin. The wait blocks until that begins, less
/// how late blocking usually ends and a guard; then it polls. Where the frame ends outside of the stretch, it missed: *early* ends while blocked
/// or before the first poll, *late* ends after the longest spin, when it blocks again.
///
/// Early ends widen the guard, late ones narrow it, and frames caught shrink it slowly. That makes up for what isn't modelled, above all for
/// frames that were blocked for: their ends are known only as late as a thread wakes. When more than half of the last
/// waits missed, or blocking ends at times too different to be of use, it rests: it blocks for some frames, and tries again later, twice as late
/// each time, and each time with the other way to sleep: drivers round times to milliseconds, or don't.
#[derive(Clone, Debug)]
pub(super) struct HybridWait {
    max_spin_ns: i64,
    prediction: EndPrediction,
    sleep: Sleep,
    /// Whether the other way to sleep may be tried where this one fails.
    may_change_sleep: bool,
    /// How late blocking until a time ended, in the way of `sleep`.
    lateness_ns: RecentSamples<64>,
    poll_ns: RecentSamples<16>,
    guard_ns: i64,
    previous_end_ns: u64,
    mode: Mode,
    rest_length: u32,
    outcomes: HybridOutcomes,
    wait: OpenWait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Tries to catch ends: the last outcomes, a set bit for a miss, and how many there are.
    Catching { misses: u16, n_outcomes: u32 },
    /// Blocks for so many waits more.
    Resting { n_left: u32 },
}

const FRESH: Mode = Mode::Catching { misses: 0, n_outcomes: 0 };
const N_OUTCOMES: u32 = u16::BITS;
const SHORTEST_REST: u32 = 60;
const LONGEST_REST: u32 = 960;
/// The clock is read once for so many polls.
const POLLS_PER_CLOCK: u32 = 64;
/// Polls that tell what a poll takes, before the first spin.
const N_TRIAL_POLLS: u32 = 8;
/// Blocking for less than this isn't worth a system call.
const SHORTEST_BLOCK_NS: u64 = 5_000;
/// A wait that ended sooner than this found its frame done: it says nothing of when that was.
const ON_ARRIVAL_NS: u64 = 15_000;
/// Not even a window that this few frames end in is tried.
const LEAST_SHARE: f64 = 0.4;

/// The wait that is going on.
#[derive(Clone, Copy, Debug)]
struct OpenWait {
    began_ns: u64,
    gpu_started_ns: u64,
    step: WaitStep,
    step_began_ns: u64,
    spin_began_ns: Option<u64>,
    has_blocked: bool,
    /// Whether a poll found the frame not done: then its end is known to a poll.
    is_seen_running: bool,
    is_trial: bool,
    is_catching: bool,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The frame was done when the wait began, whenever that happened.
    OnArrival,
    /// While polling, to a poll.
    Caught,
    /// While blocked, less what it takes to wake up.
    WhileBlocked,
    /// The first poll after blocking found it done, whenever that happened.
    BeforePolling,
}

/// What became of an attempt to catch a frame's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Caught,
    Early,
    Late,
}

impl OpenWait {
    fn new(gpu_started_ns: u64, now_ns: u64) -> Self {
        Self {
            began_ns: now_ns,
            gpu_started_ns,
            step: WaitStep::Block,
            step_began_ns: now_ns,
            spin_began_ns: None,
            has_blocked: false,
            is_seen_running: false,
            is_trial: false,
            is_catching: false,
        }
    }

    fn how_it_ended(&self, now_ns: u64, n_polls: u32) -> End {
        match self.step {
            WaitStep::Poll { .. } if n_polls > 1 || self.is_seen_running => End::Caught,
            WaitStep::Poll { .. } if self.has_blocked => End::BeforePolling,
            WaitStep::Poll { .. } => End::OnArrival,
            _ if now_ns.saturating_sub(self.began_ns) < ON_ARRIVAL_NS => End::OnArrival,
            _ => End::WhileBlocked,
        }
    }
}

impl HybridWait {
    /// Spins for `max_spin_ns` at most. Without `sleep` it begins with the driver's and changes where that fails.
    pub fn new(max_spin_ns: u64, sleep: Option<Sleep>) -> Self {
        let max_spin_ns = i64::try_from(max_spin_ns).unwrap_or(i64::MAX);
        Self {
            max_spin_ns,
            prediction: EndPrediction::new(),
            sleep: sleep.unwrap_or(Sleep::Driver),
            may_change_sleep: sleep.is_none(),
            lateness_ns: RecentSamples::new(),
            poll_ns: RecentSamples::new(),
            guard_ns: max_spin_ns / 8,
            previous_end_ns: 0,
            mode: FRESH,
            rest_length: SHORTEST_REST,
            outcomes: HybridOutcomes::default(),
            wait: OpenWait::new(0, 0),
        }
    }

    /// How its waits have ended so far.
    pub fn outcomes(&self) -> HybridOutcomes {
        self.outcomes
    }

    /// A wait begins at `now_ns`, for a frame submitted at `submitted_ns`.
    pub fn begin(&mut self, submitted_ns: u64, now_ns: u64) -> WaitStep {
        let gpu_started_ns = submitted_ns.max(self.previous_end_ns);
        self.wait = OpenWait::new(gpu_started_ns, now_ns);
        self.wait.is_trial = self.poll_ns.len() == 0;
        if self.wait.is_trial {
            return self.enter(WaitStep::Poll { n_polls: N_TRIAL_POLLS }, now_ns);
        }
        let step = self.first_step(now_ns);
        self.enter(step, now_ns)
    }

    /// The step ended, and the frame isn't done.
    pub fn not_done(&mut self, now_ns: u64) -> WaitStep {
        let took_ns = to_i64(now_ns.saturating_sub(self.wait.step_began_ns));
        let step = match self.wait.step {
            WaitStep::Block => WaitStep::Block,
            WaitStep::BlockUntil { until_ns, .. } => {
                self.lateness_ns.push(to_i64(now_ns.saturating_sub(until_ns)));
                self.wait.has_blocked = true;
                self.spin_on(now_ns)
            }
            WaitStep::Poll { n_polls } => {
                self.wait.is_seen_running = true;
                self.poll_ns.push((took_ns / i64::from(n_polls.max(1))).max(1));
                // What the trial took counts as spun already.
                if std::mem::take(&mut self.wait.is_trial) { WaitStep::Block } else { self.spin_on(now_ns) }
            }
        };
        self.enter(step, now_ns)
    }

    /// The frame is done, at the poll number `n_polls` of the last step if that was polling.
    pub fn done(&mut self, now_ns: u64, n_polls: u32) {
        let duration_ns = to_i64(now_ns.saturating_sub(self.wait.gpu_started_ns));
        let end = self.wait.how_it_ended(now_ns, n_polls);
        // The frame may have ended while the timeout was late: without this, lateness that always hides the end would never
        // be known.
        if let WaitStep::BlockUntil { until_ns, .. } = self.wait.step
            && now_ns > until_ns
        {
            self.lateness_ns.push(to_i64(now_ns - until_ns));
        }
        match end {
            End::OnArrival | End::BeforePolling => self.prediction.frame_took_at_most(duration_ns),
            End::Caught | End::WhileBlocked => self.prediction.frame_took(duration_ns),
        }
        self.previous_end_ns = now_ns;
        match end {
            End::OnArrival => self.outcomes.n_on_arrival += 1,
            _ if !self.wait.is_catching => self.count_down_rest(),
            End::Caught => self.learn(Outcome::Caught),
            End::WhileBlocked if self.wait.step == WaitStep::Block => self.learn(Outcome::Late),
            End::WhileBlocked | End::BeforePolling => self.learn(Outcome::Early),
        }
    }

    fn first_step(&mut self, now_ns: u64) -> WaitStep {
        if matches!(self.mode, Mode::Resting { .. }) {
            return WaitStep::Block;
        }
        // Until it was measured: half of the longest spin.
        let lateness_ns = self.lateness_ns.quantile(0.95).unwrap_or(self.max_spin_ns / 2);
        let least_lateness_ns = self.lateness_ns.quantile(0.05).unwrap_or(0).min(lateness_ns);
        let length_ns = self.max_spin_ns - self.max_spin_ns / 8 - (lateness_ns - least_lateness_ns);
        if length_ns <= 0 {
            self.give_up();
            return WaitStep::Block;
        }
        let Some(window) = self.prediction.window(length_ns) else { return WaitStep::Block };
        if window.share < LEAST_SHARE {
            return WaitStep::Block;
        }
        self.wait.is_catching = true;
        let begin_ns = window.begin_ns - self.guard_ns - lateness_ns;
        let until_ns = self.wait.gpu_started_ns.saturating_add_signed(begin_ns);
        if until_ns > now_ns + SHORTEST_BLOCK_NS {
            WaitStep::BlockUntil { until_ns, by: self.sleep }
        } else {
            self.spin_on(now_ns)
        }
    }

    /// The next polls, as many as the longest spin allows.
    fn spin_on(&mut self, now_ns: u64) -> WaitStep {
        let spin_began_ns = *self.wait.spin_began_ns.get_or_insert(now_ns);
        let left_ns = self.max_spin_ns - to_i64(now_ns.saturating_sub(spin_began_ns));
        // A slow poll among fast ones must not carry it far beyond.
        let poll_ns = self.poll_ns.quantile(0.75).unwrap_or(self.max_spin_ns).max(1);
        match u32::try_from(left_ns / poll_ns) {
            Ok(n_polls) if n_polls > 0 => WaitStep::Poll { n_polls: n_polls.min(POLLS_PER_CLOCK) },
            _ => WaitStep::Block,
        }
    }

    fn enter(&mut self, step: WaitStep, now_ns: u64) -> WaitStep {
        self.wait.step = step;
        self.wait.step_began_ns = now_ns;
        step
    }

    fn learn(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Early => self.outcomes.n_early += 1,
            Outcome::Caught => self.outcomes.n_caught += 1,
            Outcome::Late => self.outcomes.n_late += 1,
        }
        match outcome {
            Outcome::Early => self.guard_ns = (self.guard_ns + self.max_spin_ns / 8).min(2 * self.max_spin_ns),
            Outcome::Caught => self.guard_ns -= self.guard_ns / 64,
            Outcome::Late => self.guard_ns = (self.guard_ns - self.max_spin_ns / 8).max(0),
        }
        let Mode::Catching { misses, n_outcomes } = self.mode else { return };
        let misses = misses << 1 | u16::from(outcome != Outcome::Caught);
        let n_outcomes = (n_outcomes + 1).min(N_OUTCOMES);
        self.mode = Mode::Catching { misses, n_outcomes };
        if n_outcomes < N_OUTCOMES {
            return;
        }
        if misses.count_ones() > N_OUTCOMES / 2 {
            self.give_up();
        } else {
            self.rest_length = SHORTEST_REST;
        }
    }

    /// Rests, and then begins anew, with the other way to sleep if it may.
    fn give_up(&mut self) {
        self.mode = Mode::Resting { n_left: self.rest_length };
        self.rest_length = (2 * self.rest_length).min(LONGEST_REST);
        self.lateness_ns.clear();
        if self.may_change_sleep {
            self.sleep = match self.sleep {
                Sleep::Driver => Sleep::System,
                Sleep::System => Sleep::Driver,
            };
        }
    }

    /// A wait that only blocked.
    fn count_down_rest(&mut self) {
        self.outcomes.n_blocked += 1;
        if let Mode::Resting { n_left } = &mut self.mode {
            *n_left = n_left.saturating_sub(1);
            if *n_left == 0 {
                self.mode = FRESH;
            }
        }
    }
}

fn to_i64(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
