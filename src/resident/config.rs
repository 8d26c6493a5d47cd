//! How a worker is set up.

use std::time::Duration;

use super::error::StartError;
use super::layout::MAX_MEMBERS;

/// See [`ResidentWorker::start`](super::ResidentWorker::start). [`Self::default`] suits a discrete GPU and the software adapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Chains that can be pending at a time: a power of two from 2 to 4,096.
    pub n_slots: usize,
    /// Bytes for arrays: from 4,096 to 8 GiB, and no more than the adapter allows in one binding. Arrays begin on lines of 128 bytes.
    pub arena_bytes: usize,
    /// Bytes that one read brings back at a time, within the same limits. Longer arrays are read in pieces.
    pub readback_bytes: usize,
    /// Most workgroups, 1 to 1,024, that share a large operation, if as many are found to run at the same time. On a software adapter, where each
    /// would keep a core busy, there is always one.
    pub max_workgroups: u32,
    /// Operations on as many elements are shared among workgroups; sums, of which one workgroup has several blocks at a time, on four times as
    /// many.
    pub shared_from: usize,
    /// How long a kernel runs before the next one takes its place, 1 ms to 60 s: well below what the system's watchdog allows. A chain that is
    /// worked on is finished first, however long it takes.
    pub kernel_time: Duration,
    /// After so long without work the kernel ends, and is launched anew for the next operation. `None`: it never does.
    pub idle_time: Option<Duration>,
    /// How long a wait spins before it sleeps.
    pub spin_time: Duration,
    /// Without a sign of life for so long, 1 ms to 60 s, the kernel counts as dead and the worker is lost. There is none within a chain: no chain may
    /// take longer.
    pub silence_time: Duration,
    /// WGSL of an operation of the caller's own: `fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32`, with whatever
    /// functions, structures and constants it needs, whose names begin with `user_` (those within functions are free). A loop in it that doesn't
    /// end loses the worker after [`Self::silence_time`]; where the driver can't end it either, the device stays until the process ends. It becomes
    /// part of the kernel, which the driver compiles while the worker starts, however long that takes: a large one may take minutes.
    pub user_operation: Option<String>,
    /// Whether [`ResidentWorker::inject`](super::ResidentWorker::inject) works: for tests.
    #[doc(hidden)]
    pub has_fault_injection: bool,
    /// Whether workgroups share operations on a software adapter too: for tests.
    #[doc(hidden)]
    pub shares_on_software: bool,
    /// Whether the kernel has a barrier between a batch's first step and what that announces.
    #[doc(hidden)]
    pub is_acquiring: bool,
    /// Whether each answer comes after all stores of its batch: to see what it costs.
    #[doc(hidden)]
    pub answers_after_stores: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            n_slots: 64,
            arena_bytes: 64 << 20,
            readback_bytes: 4 << 20,
            max_workgroups: 128,
            shared_from: 4096,
            kernel_time: Duration::from_millis(250),
            idle_time: None,
            spin_time: Duration::from_micros(200),
            silence_time: Duration::from_secs(10),
            user_operation: None,
            has_fault_injection: false,
            shares_on_software: false,
            is_acquiring: true,
            answers_after_stores: false,
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), StartError> {
        let fault = |text: String| Err(StartError::Config(text));
        if !self.n_slots.is_power_of_two() || !(2..=4096).contains(&self.n_slots) {
            return fault(format!("n_slots is {}; it must be a power of two from 2 to 4096", self.n_slots));
        }
        for (name, bytes) in [("arena_bytes", self.arena_bytes), ("readback_bytes", self.readback_bytes)] {
            if !(4096..=1 << 33).contains(&bytes) {
                return fault(format!("{name} is {bytes}; it must be from 4096 to 8 GiB"));
            }
        }
        if !(1..=MAX_MEMBERS as u32).contains(&self.max_workgroups) {
            return fault(format!("max_workgroups is {}; it must be from 1 to {MAX_MEMBERS}", self.max_workgroups));
        }
        let (shortest, longest) = (Duration::from_millis(1), Duration::from_secs(60));
        for (name, time) in [("kernel_time", self.kernel_time), ("silence_time", self.silence_time)] {
            if !(shortest..=longest).contains(&time) {
                return fault(format!("{name} is {time:?}; it must be from 1 ms to 60 s"));
            }
        }
        Ok(())
    }

    /// What the adapter allows.
    pub(super) fn check_against(&self, limits: &wgpu::Limits) -> Result<(), StartError> {
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        for (name, bytes) in [("arena_bytes", self.arena_bytes), ("readback_bytes", self.readback_bytes)] {
            if bytes as u64 > most {
                return Err(StartError::Config(format!("{name} is {bytes}; this adapter allows {most}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_configurations_that_make_no_sense_are_refused() {
        let default = Config::default();
        default.check().expect("the default is good");
        let changed = |change: fn(&mut Config)| {
            let mut config = default.clone();
            change(&mut config);
            config.check().expect_err("it makes no sense").to_string()
        };
        assert!(changed(|c| c.n_slots = 3).contains("power of two"));
        assert!(changed(|c| c.n_slots = 1).contains("n_slots is 1"));
        assert!(changed(|c| c.arena_bytes = 0).contains("arena_bytes"));
        assert!(changed(|c| c.max_workgroups = 0).contains("max_workgroups"));
        assert!(changed(|c| c.kernel_time = Duration::ZERO).contains("kernel_time"));
    }
}
