//! Whether the process's memory grows while the soak goes on.

use std::time::{Duration, Instant};

use praxis::measure::statistics::median;
use praxis::pacing::ProcessUsage;

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(250);
/// Looks without which nothing is said: two seconds' worth.
const N_LEAST: usize = 8;
/// What the resident set may grow by, beyond a twenty-fifth.
const SLACK_BYTES: u64 = 4 << 20;

/// The resident set, again and again.
#[derive(Debug, Default)]
pub struct Memory {
    rss_bytes: Vec<f64>,
    looked: Option<Instant>,
}

impl Memory {
    /// Looks, if it is time to.
    pub fn look(&mut self) {
        if self.looked.is_some_and(|looked| looked.elapsed() < PERIOD) {
            return;
        }
        self.looked = Some(Instant::now());
        self.rss_bytes.extend(ProcessUsage::now().resident_bytes.map(|bytes| bytes as f64));
    }

    /// The median of the first quarter of the looks and of the last, in bytes: peaks, as of a driver that compiles, are no growth.
    pub fn quarters(&self) -> Option<(u64, u64)> {
        let n = self.rss_bytes.len();
        if n < N_LEAST {
            return None;
        }
        let (first, last) = (median(&self.rss_bytes[..n / 4])?, median(&self.rss_bytes[n - n / 4..])?);
        Some((first as u64, last as u64))
    }

    /// Whether the last quarter has clearly more than the first. `None` after too short a run to tell.
    pub fn has_grown(&self) -> Option<bool> {
        self.quarters().map(|(first, last)| last > first + first / 25 + SLACK_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn of(mib: impl Iterator<Item = u64>) -> Memory {
        Memory { rss_bytes: mib.map(|mib| (mib * MIB) as f64).collect(), looked: None }
    }

    #[test]
    fn resident_soak_memory_that_grows_is_told_from_a_compilers_peak() {
        assert_eq!(of((0..400).map(|look| 200 + look / 10)).has_grown(), Some(true));
        // What was seen where each start left a compiler's memory with a thread of its own.
        let threads = of((0..600).map(|look| if look < 240 { 221 + look * 3 / 10 } else { 295 }));
        assert_eq!(threads.has_grown(), Some(true));
        let peaks = of((0..400).map(|look| if look % 100 < 20 { 368 } else { 316 }));
        assert_eq!((peaks.quarters(), peaks.has_grown()), (Some((316 * MIB, 316 * MIB)), Some(false)));
        assert_eq!(of((0..400).map(|look| 368 - look / 8)).has_grown(), Some(false), "it falls");
        let short = of((0..7).map(|look| 100 + 100 * look));
        assert_eq!((short.quarters(), short.has_grown()), (None, None), "too short to tell");
    }
}
