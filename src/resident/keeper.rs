//! The thread that launches kernels, asks them to end, and sees when one is dead. No other thread speaks to wgpu.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Config;
use super::device::{DeviceFault, KernelDevice, Settings};
use super::layout::{END_WORD, HEARTBEAT_WORD, KILL_WORD, LAUNCH_WORD};
use super::polling;
use super::protocol::{Action, Facts};
use super::shared::Shared;
use crate::gpu::store_fence;

/// How often it looks while something is pending.
const BUSY_PERIOD: Duration = Duration::from_millis(1);
/// And while nothing is.
const IDLE_PERIOD: Duration = Duration::from_millis(10);
/// And while there is no kernel: whoever submits wakes it.
const PARKED_PERIOD: Duration = Duration::from_secs(1);

pub(super) struct Keeper {
    shared: Arc<Shared>,
    device: KernelDevice,
    settings: Settings,
    n_workgroups: u32,
    kernel_time: Duration,
    silence_time: Duration,
    can_queue: bool,
    live: VecDeque<wgpu::SubmissionIndex>,
    launched: Instant,
    /// The last ticket that was seen, and when it was new.
    last_next: u64,
    last_work: Instant,
    /// Heartbeat, launch and answers as they were seen last, and when they were new.
    last_sign: (u32, u32, u64),
    last_life: Instant,
}

impl Keeper {
    pub fn new(
        shared: Arc<Shared>,
        device: KernelDevice,
        settings: Settings,
        n_workgroups: u32,
        config: &Config,
    ) -> Self {
        let now = Instant::now();
        Self {
            shared,
            // Where submit blocks until the submission before has ended, nothing can be put behind it.
            can_queue: !device.gpu.is_software(),
            device,
            settings,
            n_workgroups,
            kernel_time: config.kernel_time,
            silence_time: config.silence_time,
            live: VecDeque::new(),
            launched: now,
            last_next: 0,
            last_work: now,
            last_sign: (0, 0, 0),
            last_life: now,
        }
    }

    /// Works until the worker is stopped, or lost.
    pub fn run(mut self) {
        let kept = polling::caught(|| self.keep()).unwrap_or_else(|panic| Err(panic.to_string()));
        if let Err(fault) = kept {
            tracing::debug!("the resident worker is lost: {fault}");
            self.shared.lose(fault);
            self.part_from_device();
        }
    }

    /// Asks whatever still runs to end, and gives the device back if it does. A driver waits for all that runs before it frees a device: a
    /// kernel that never ends would keep this thread, and whoever waits for it, for ever. Then the device is left to the process's end.
    fn part_from_device(mut self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        self.shared.memory.mailbox.store(END_WORD, u32::MAX);
        store_fence();
        let asked = Instant::now();
        while self.see_ended().is_ok() && !self.live.is_empty() {
            if asked.elapsed() > PATIENCE {
                std::mem::forget(self.device);
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn keep(&mut self) -> Result<(), String> {
        loop {
            self.see_ended().map_err(|fault| fault.one_line())?;
            self.check_device()?;
            let (action, is_over) = self.decide();
            match action {
                Action::Launch => self.launch().map_err(|fault| fault.one_line())?,
                Action::AskEnd(launch) => {
                    self.shared.memory.mailbox.store(END_WORD, launch);
                    store_fence();
                }
                Action::Nothing if is_over => return Ok(()),
                Action::Nothing => {
                    self.check_life()?;
                    std::thread::park_timeout(self.period());
                }
            }
        }
    }

    fn see_ended(&mut self) -> Result<(), DeviceFault> {
        while let Some(oldest) = self.live.front() {
            if !self.device.has_ended(oldest)? {
                break;
            }
            self.live.pop_front();
            self.shared.lock().launches.see_ended();
            self.last_life = Instant::now();
        }
        Ok(())
    }

    fn check_device(&mut self) -> Result<(), String> {
        if std::mem::take(&mut self.shared.lock().is_device_to_go) {
            let mailbox = &self.shared.memory.mailbox;
            mailbox.store(KILL_WORD, self.shared.memory.answers.load(LAUNCH_WORD));
            store_fence();
            self.device.gpu.device.destroy();
        }
        if self.device.gpu.is_lost() {
            return Err("its device is lost".into());
        }
        self.device.gpu.check_errors().map_err(|error| DeviceFault::from(error).one_line())
    }

    /// The next action, which then counts as done; and whether all is over.
    fn decide(&mut self) -> (Action, bool) {
        let now = Instant::now();
        let shared = self.shared.clone();
        let mut guard = shared.lock();
        let core = &mut *guard;
        shared.advance(core);
        if core.ring.next() != self.last_next || core.ring.has_pending() {
            self.last_next = core.ring.next();
            self.last_work = now;
        }
        let facts = Facts {
            has_pending: core.ring.has_pending(),
            is_over_time: now - self.launched >= self.kernel_time,
            is_idle: core.idle_time.is_some_and(|time| now - self.last_work >= time),
            is_stopping: core.is_stopping,
            can_queue: self.can_queue,
        };
        let action = core.launches.next(facts);
        core.launches.did(action);
        let is_without_kernel = action == Action::Nothing && core.launches.n_live() == 0;
        core.is_parked = is_without_kernel;
        (action, is_without_kernel && core.is_stopping && !facts.has_pending)
    }

    fn launch(&mut self) -> Result<(), DeviceFault> {
        let launch = self.shared.lock().launches.last();
        self.live.push_back(self.device.launch(Settings { launch, ..self.settings }, self.n_workgroups)?);
        self.launched = Instant::now();
        if self.live.len() == 1 {
            self.last_life = self.launched;
        }
        Ok(())
    }

    /// A kernel that neither beats nor answers is dead, or the device is.
    fn check_life(&mut self) -> Result<(), String> {
        let answers = &self.shared.memory.answers;
        let first_pending = self.shared.lock().ring.first_pending();
        let sign = (answers.load(HEARTBEAT_WORD), answers.load(LAUNCH_WORD), first_pending);
        if sign != self.last_sign || self.live.is_empty() {
            self.last_sign = sign;
            self.last_life = Instant::now();
        }
        if self.last_life.elapsed() >= self.silence_time {
            return Err(format!(
                "its kernel has given no sign of life for {:?} (a chain must not take longer than Config::silence_time)",
                self.silence_time
            ));
        }
        Ok(())
    }

    /// How long nothing has to be done, unless somebody wakes us.
    fn period(&self) -> Duration {
        let core = self.shared.lock();
        if core.is_parked {
            return PARKED_PERIOD;
        }
        let period = if core.ring.has_pending() { BUSY_PERIOD } else { IDLE_PERIOD };
        let until_over = self.kernel_time.saturating_sub(self.launched.elapsed());
        let until_idle = core.idle_time.map_or(period, |time| time.saturating_sub(self.last_work.elapsed()));
        // What is due but can't be done yet is asked for again soon.
        period.min(until_over).min(until_idle).max(Duration::from_micros(100))
    }
}
