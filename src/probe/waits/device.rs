//! The ways to wait, through wgpu and beside it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::context::{Wait, waiter};
use super::super::error::{OpError, ProbeError};
use super::super::kernel::EmptyKernel;
use super::super::warm::{Warmth, raise_priority, restore_priority};
use super::{Calls, Strategy, Under, Variant, WaitDevice};
use crate::gpu::{Gpu, RawError, TimelineSemaphore};
use crate::pacing::{FrameWait, WaitError, WaitFault, elapsed_ns};

/// A submission not finished after this hangs.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Clock readings cost more than a look at the semaphore: one for so many looks.
const N_LOOKS: u32 = 4096;

pub(super) struct WgpuWaits<'a> {
    kernel: EmptyKernel<'a>,
    frame_waits: Vec<(FrameWait, Wait<'a>)>,
    block: Wait<'a>,
    semaphore: Result<TimelineSemaphore, RawError>,
    poller: Option<Poller>,
    warmth: Option<Warmth>,
    priority_before: Option<i32>,
    submission: Option<wgpu::SubmissionIndex>,
    awaited_value: u64,
    calls: Calls,
}

impl<'a> WgpuWaits<'a> {
    pub fn new(gpu: &'a Gpu) -> Self {
        Self {
            kernel: EmptyKernel::new(gpu),
            frame_waits: FrameWait::ALL.iter().map(|wait| (*wait, waiter(gpu, *wait))).collect(),
            block: waiter(gpu, FrameWait::Block),
            semaphore: TimelineSemaphore::new(&gpu.device, &gpu.queue),
            poller: None,
            warmth: None,
            priority_before: None,
            submission: None,
            awaited_value: 0,
            calls: Calls::default(),
        }
    }

    fn submission(&self) -> Result<&wgpu::SubmissionIndex, OpError> {
        self.submission.as_ref().ok_or_else(|| OpError::Unavailable("nothing was submitted".into()))
    }

    /// Whether the submission is done, at once.
    fn poll_once(&self) -> Result<bool, OpError> {
        let submission = Some(self.submission()?.clone());
        let poll = wgpu::PollType::Wait { submission_index: submission, timeout: Some(Duration::ZERO) };
        match self.kernel.gpu.device.poll(poll) {
            Err(wgpu::PollError::Timeout) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) => Err(crate::gpu::GpuError::from(error).into()),
        }
    }

    /// Polls until done, and notes what each poll took.
    fn timed_poll(&mut self) -> Result<(), OpError> {
        let started = Instant::now();
        let mut poll_started = started;
        loop {
            let is_done = self.poll_once()?;
            let poll_ended = Instant::now();
            let took_ns = u64::try_from((poll_ended - poll_started).as_nanos()).unwrap_or(u64::MAX);
            if is_done {
                Calls::note(&mut self.calls.poll_done_ns, took_ns);
                return Ok(());
            }
            Calls::note(&mut self.calls.poll_running_ns, took_ns);
            if poll_ended - started > LONGEST_WAIT {
                return Err(hang());
            }
            poll_started = poll_ended;
        }
    }

    /// Polls until done or until `spin` is over; gives whether it is done.
    fn bare_poll(&self, spin: Option<Duration>) -> Result<bool, OpError> {
        let started = Instant::now();
        for n_looks in 1u32.. {
            if self.poll_once()? {
                return Ok(true);
            }
            std::hint::spin_loop();
            match spin {
                Some(spin) if started.elapsed() >= spin => return Ok(false),
                None if n_looks % N_LOOKS == 0 && started.elapsed() > LONGEST_WAIT => return Err(hang()),
                _ => {}
            }
        }
        Err(hang())
    }

    fn watch_semaphore(&self) -> Result<(), OpError> {
        let Ok(semaphore) = &self.semaphore else { return Err(OpError::Unavailable("no semaphore".into())) };
        let started = Instant::now();
        for n_looks in 1u32.. {
            if semaphore.value()? >= self.awaited_value {
                return Ok(());
            }
            std::hint::spin_loop();
            if n_looks % N_LOOKS == 0 && started.elapsed() > LONGEST_WAIT {
                return Err(hang());
            }
        }
        Err(hang())
    }
}

fn hang() -> OpError {
    OpError::Fatal(ProbeError::Hang { limit_s: LONGEST_WAIT.as_secs() })
}

impl WaitDevice for WgpuWaits<'_> {
    fn begin(&mut self, variant: Variant) -> Result<(), OpError> {
        match (variant.strategy, &self.semaphore) {
            (Strategy::Semaphore, Err(reason)) => return Err(OpError::Unavailable(reason.to_string())),
            (Strategy::Callback, _) => self.poller = Some(Poller::start(&self.kernel.gpu.device)),
            _ => {}
        }
        match variant.under {
            Under::AsIs => {}
            Under::HighPriority => self.priority_before = Some(raise_priority().map_err(OpError::Unavailable)?),
            Under::WarmGpu => self.warmth = Some(Warmth::start(self.kernel.gpu)?),
        }
        Ok(())
    }

    fn end(&mut self, _variant: Variant) -> Result<(), OpError> {
        self.poller = None;
        if let Some(before) = self.priority_before.take() {
            restore_priority(before);
        }
        match self.warmth.take() {
            Some(warmth) => Ok(warmth.stop()?),
            None => Ok(()),
        }
    }

    fn submit(&mut self, strategy: Strategy) -> Result<(), OpError> {
        let commands = self.kernel.commands();
        let submission = match (strategy, &mut self.semaphore) {
            (Strategy::Semaphore, Ok(semaphore)) => {
                let (submission, value) = semaphore.submit(commands);
                self.awaited_value = value;
                submission
            }
            _ => self.kernel.gpu.queue.submit([commands]),
        };
        if let (Strategy::Callback, Some(poller)) = (strategy, &self.poller) {
            poller.watch(&self.kernel.gpu.queue, submission.clone());
        }
        self.submission = Some(submission);
        Ok(self.kernel.gpu.check_errors()?)
    }

    fn wait(&mut self, strategy: Strategy) -> Result<(), OpError> {
        match strategy {
            Strategy::Frame(wanted) => {
                let Some(submission) = &self.submission else { return self.submission().map(drop) };
                let mut waits = self.frame_waits.iter_mut();
                let wait = waits.find(|(wait, _)| *wait == wanted).map_or(&mut self.block, |(_, wait)| wait);
                Ok(wait(submission)?)
            }
            Strategy::BarePoll => self.bare_poll(None).map(drop),
            Strategy::TimedPoll => self.timed_poll(),
            Strategy::SpinThenBlock { spin_us } => match self.bare_poll(Some(Duration::from_micros(spin_us)))? {
                true => Ok(()),
                false => {
                    let Some(submission) = &self.submission else { return self.submission().map(drop) };
                    Ok((self.block)(submission)?)
                }
            },
            Strategy::Callback => match &self.poller {
                Some(poller) => poller.wait(),
                None => Err(OpError::Unavailable("no thread polls".into())),
            },
            Strategy::Semaphore => self.watch_semaphore(),
        }
    }

    fn settle(&mut self, strategy: Strategy) -> Result<(), OpError> {
        // The semaphore's wait goes past wgpu, which has to learn that the submission is done, so that it frees what that held.
        if strategy == Strategy::Semaphore {
            let Some(submission) = &self.submission else { return Ok(()) };
            (self.block)(submission)?;
            if let Ok(semaphore) = &self.semaphore {
                let started = Instant::now();
                semaphore.value()?;
                Calls::note(&mut self.calls.look_ns, elapsed_ns(started));
            }
        }
        Ok(self.kernel.gpu.check_errors()?)
    }

    fn calls(&self) -> Calls {
        self.calls.clone()
    }
}

/// The thread that polls while the main thread sleeps on a condition variable. The main thread polls only when this one rests.
struct Poller {
    submissions: Option<Sender<wgpu::SubmissionIndex>>,
    done: Arc<Done>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Done {
    state: Mutex<DoneState>,
    changed: Condvar,
}

#[derive(Default)]
struct DoneState {
    /// Submissions handed over.
    n_watched: u64,
    /// Of them, those whose callback has come.
    n_done: u64,
    /// Of them, those whose poll has returned.
    n_polled: u64,
    fault: Option<String>,
}

impl Done {
    fn set(&self, change: impl FnOnce(&mut DoneState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

impl Poller {
    fn start(device: &wgpu::Device) -> Self {
        let (sender, receiver): (_, Receiver<wgpu::SubmissionIndex>) = channel();
        let done = Arc::new(Done::default());
        let (device, thread_done) = (device.clone(), done.clone());
        let thread = std::thread::spawn(move || {
            for submission in receiver {
                let poll = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
                // wgpu tells of a lost device by a panic; it is the caller's to report.
                let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| device.poll(poll)));
                let fault = match polled {
                    Ok(Ok(_)) => None,
                    Ok(Err(error)) => Some(error.to_string()),
                    Err(_) => Some("the GPU device is lost".into()),
                };
                thread_done.set(|state| {
                    state.n_polled += 1;
                    state.fault = fault;
                });
            }
        });
        Self { submissions: Some(sender), done, thread: Some(thread) }
    }

    /// Has `submission`, the newest, polled for, and told of by its callback.
    fn watch(&self, queue: &wgpu::Queue, submission: wgpu::SubmissionIndex) {
        self.done.set(|state| state.n_watched += 1);
        let done = self.done.clone();
        queue.on_submitted_work_done(move || done.set(|state| state.n_done += 1));
        if let Some(submissions) = &self.submissions {
            // The thread lives until `drop`.
            let _ = submissions.send(submission);
        }
    }

    /// Sleeps until the callback has come.
    fn wait(&self) -> Result<(), OpError> {
        let state = self.done.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_waiting = |state: &mut DoneState| state.n_done.max(state.n_polled) < state.n_watched;
        let waited = self.done.changed.wait_timeout_while(state, LONGEST_WAIT, is_waiting);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        match &state.fault {
            Some(message) => {
                let fault = WaitFault::DeviceLost { message: message.clone() };
                Err(WaitError { wait: FrameWait::Block, fault }.into())
            }
            None if timeout.timed_out() => Err(hang()),
            None => Ok(()),
        }
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.submissions = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // It catches its panics.
        }
    }
}
