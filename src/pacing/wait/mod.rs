//! How the CPU waits for the GPU.

mod device;
mod end_prediction;
mod hybrid;
mod stepped;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub use device::{DeviceWaiter, HybridSleep, WaitError, WaitFault};

/// How the main thread waits for the oldest frame in flight.
///
/// No way changes what the GPU does. Blocking leaves the core to others, or idle, and then the core's clock may
/// fall: CPU times read behind a GPU-bound frame grow without the work having grown. It also ends late, by what the system takes
/// to wake a thread. Spinning keeps the clock up and ends on time, and takes a core. Hybrid ends as timely as Spin for a
/// few hundredths of its CPU time, where the GPU's frames are regular. A benchmark on a hardware adapter spins; a window, and a
/// software rasterizer whose threads need the cores, block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameWait {
    /// Sleeps until the GPU signals: `device.poll` without a timeout.
    Block,
    /// Polls until the frame is done: `device.poll` with a zero timeout, in a loop.
    Spin,
    /// Blocks until shortly before the predicted end of the frame, then spins.
    ///
    /// The prediction is learnt from the frames before. While it keeps failing, this blocks.
    Hybrid {
        /// The longest that one wait spins; then it blocks. [`Self::DEFAULT_MAX_SPIN`] unless somebody knows better.
        max_spin: Duration,
    },
}

impl FrameWait {
    /// Every way to wait, in the order in which help texts list them; Hybrid with its default.
    pub const ALL: &'static [Self] = &[Self::Block, Self::Spin, Self::Hybrid { max_spin: Self::DEFAULT_MAX_SPIN }];

    /// How long a Hybrid wait spins at most, unless told otherwise.
    pub const DEFAULT_MAX_SPIN: Duration = Duration::from_micros(1_000);

    /// The name on the command line; [`Display`](fmt::Display), which run files have, adds Hybrid's longest spin.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Spin => "spin",
            Self::Hybrid { .. } => "hybrid",
        }
    }

    /// What a benchmark uses on this kind of adapter: it blocks where the GPU is the CPU, and spins elsewhere.
    pub fn for_benchmark(device_type: wgpu::DeviceType) -> Self {
        match device_type {
            wgpu::DeviceType::Cpu => Self::Block,
            _ => Self::Spin,
        }
    }
}

/// `block`, `spin` or `hybrid:MICROS`, which parse back.
impl fmt::Display for FrameWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hybrid { max_spin } => f.pad(&format!("hybrid:{}", max_spin.as_micros())),
            _ => f.pad(self.name()),
        }
    }
}

/// How the waits of a [`FrameWait::Hybrid`] have ended: whether its predictions hold, and so whether it is worth its CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HybridOutcomes {
    /// The frame was done before the wait began.
    pub n_on_arrival: u64,
    /// It ended while polling, as it should.
    pub n_caught: u64,
    /// It ended before polling began: this blocked too long, or woke up too late.
    pub n_early: u64,
    /// It hadn't ended after the longest spin.
    pub n_late: u64,
    /// Nothing was predicted, and it was only blocked for: too little is known, or too little came true.
    pub n_blocked: u64,
}

impl HybridOutcomes {
    /// What was added since it was `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            n_on_arrival: self.n_on_arrival.saturating_sub(earlier.n_on_arrival),
            n_caught: self.n_caught.saturating_sub(earlier.n_caught),
            n_early: self.n_early.saturating_sub(earlier.n_early),
            n_late: self.n_late.saturating_sub(earlier.n_late),
            n_blocked: self.n_blocked.saturating_sub(earlier.n_blocked),
        }
    }

    /// Of both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            n_on_arrival: self.n_on_arrival + other.n_on_arrival,
            n_caught: self.n_caught + other.n_caught,
            n_early: self.n_early + other.n_early,
            n_late: self.n_late + other.n_late,
            n_blocked: self.n_blocked + other.n_blocked,
        }
    }
}

/// A name that is no [`FrameWait`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no way to wait: use block, spin, or hybrid:MICROS with 1 to 10000 µs")]
pub struct UnknownFrameWait {
    /// What was given.
    pub name: String,
}

impl FromStr for FrameWait {
    type Err = UnknownFrameWait;

    fn from_str(name: &str) -> Result<Self, UnknownFrameWait> {
        if let Some(known) = Self::ALL.iter().find(|wait| wait.name() == name) {
            return Ok(*known);
        }
        let micros = name.strip_prefix("hybrid:").and_then(|micros| micros.parse().ok());
        match micros.filter(|micros| (1..=10_000).contains(micros)) {
            Some(micros) => Ok(Self::Hybrid { max_spin: Duration::from_micros(micros) }),
            None => Err(UnknownFrameWait { name: name.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_frame_wait_names_parse_back() {
        for wait in FrameWait::ALL {
            assert_eq!(wait.to_string().parse::<FrameWait>().as_ref(), Ok(wait));
        }
        let error = "Spin".parse::<FrameWait>().unwrap_err();
        assert_eq!(error.to_string(), "`Spin` is no way to wait: use block, spin, or hybrid:MICROS with 1 to 10000 µs");
        let hybrid = "hybrid:50".parse::<FrameWait>().expect("50 µs");
        assert_eq!(hybrid, FrameWait::Hybrid { max_spin: Duration::from_micros(50) });
        assert_eq!("hybrid".parse::<FrameWait>().expect("the default").to_string(), "hybrid:1000");
        for name in ["hybrid:", "hybrid:0", "hybrid:-3", "hybrid:10001", "hybrid:1.5", "hybrid:99999999999999999999"] {
            assert!(name.parse::<FrameWait>().is_err(), "{name}");
        }
    }

    #[test]
    fn pacing_benchmarks_spin_but_on_software_adapters() {
        assert_eq!(FrameWait::for_benchmark(wgpu::DeviceType::Cpu), FrameWait::Block);
        assert_eq!(FrameWait::for_benchmark(wgpu::DeviceType::DiscreteGpu), FrameWait::Spin);
        assert_eq!(FrameWait::for_benchmark(wgpu::DeviceType::Other), FrameWait::Spin);
    }
}
