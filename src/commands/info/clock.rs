//! The clock that everything is timed by, and the core's speed now.

use std::time::Instant;

use praxis::pacing::ClockChain;
use praxis::report::format_value;
use serde_json::{Value, json};

use super::row;

/// What the clock is and what it can tell apart.
pub struct ClockReport {
    source: String,
    /// The smallest difference between two readings that are not the same.
    resolution_ns: u64,
    /// What one reading costs.
    read_ns: f64,
    /// The clock chain, of many readings.
    chain_min_ns: u64,
    chain_median_ns: u64,
}

impl ClockReport {
    /// Reads the clock often enough to know it: some milliseconds.
    pub fn measure() -> Self {
        let (resolution_ns, read_ns) = measure_instant();
        let mut chain = ClockChain::new();
        let mut chain_ns: Vec<u64> = (0..1001).map(|_| chain.read_ns()).collect();
        chain_ns.sort_unstable();
        Self {
            source: source(),
            resolution_ns,
            read_ns,
            chain_min_ns: chain_ns.first().copied().unwrap_or(0),
            chain_median_ns: chain_ns[chain_ns.len() / 2],
        }
    }

    pub fn to_json(&self) -> Value {
        json!({
            "source": self.source,
            "resolution_ns": self.resolution_ns,
            "read_ns": self.read_ns,
            "chain_min_ns": self.chain_min_ns,
            "chain_median_ns": self.chain_median_ns,
        })
    }

    pub fn to_text(&self) -> String {
        let ns = |ns: f64| format_value(ns, praxis::measure::Unit::Nanoseconds);
        let clock =
            format!("{}, tells {} apart, {} a reading", self.source, ns(self.resolution_ns as f64), ns(self.read_ns));
        let chain = format!(
            "{} at the median, {} at best, for {} steps",
            ns(self.chain_median_ns as f64),
            ns(self.chain_min_ns as f64),
            ClockChain::N_STEPS
        );
        row("clock source", &clock) + &row("clock chain", &chain)
    }
}

/// (resolution, cost of one reading) of `Instant` in ns. The cost is that of the best of some batches: an interruption
/// only ever adds.
fn measure_instant() -> (u64, f64) {
    const N_READINGS: u32 = 1_000;
    let (mut resolution_ns, mut read_ns) = (u64::MAX, f64::INFINITY);
    for _ in 0..20 {
        let started = Instant::now();
        let mut previous = started;
        for _ in 0..N_READINGS {
            let now = Instant::now();
            let step_ns = (now - previous).as_nanos() as u64;
            if step_ns > 0 {
                resolution_ns = resolution_ns.min(step_ns);
            }
            previous = now;
        }
        read_ns = read_ns.min((previous - started).as_nanos() as f64 / f64::from(N_READINGS));
    }
    (resolution_ns, read_ns)
}

/// What stands behind `Instant`.
fn source() -> String {
    let linux = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match std::fs::read_to_string(linux) {
        Ok(source) => format!("CLOCK_MONOTONIC ({})", source.trim()),
        Err(_) if cfg!(target_os = "macos") => "CLOCK_UPTIME_RAW".into(),
        Err(_) if cfg!(windows) => "QueryPerformanceCounter".into(),
        Err(_) => "the system's monotonic clock".into(),
    }
}
