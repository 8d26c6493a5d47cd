//! What the process has used so far: CPU time, switches, memory.

use super::ThreadCpuTime;

/// One reading; differences of two tell what happened between. What the system doesn't say is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// What all threads ran for, in ns.
    pub cpu_ns: Option<u64>,
    /// What the calling thread ran for.
    pub thread_cpu: Option<ThreadCpuTime>,
    /// How often the calling thread gave its core away, such as to wait.
    pub voluntary_switches: Option<u64>,
    /// How often its core was taken from it.
    pub involuntary_switches: Option<u64>,
    /// Memory of the process that is in RAM, in bytes.
    pub resident_bytes: Option<u64>,
}

impl ProcessUsage {
    /// Reads it. Takes some tens of µs on Linux, where it reads a file: nothing for every frame.
    pub fn now() -> Self {
        let clocks = Self { cpu_ns: super::process_cpu_time_ns(), thread_cpu: ThreadCpuTime::now(), ..Self::default() };
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            std::fs::read_to_string("/proc/thread-self/status").map_or(clocks, |status| clocks.with_status(&status))
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            clocks
        }
    }

    /// With what Linux's `/proc/thread-self/status` says.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn with_status(self, status: &str) -> Self {
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        Self {
            voluntary_switches: number("voluntary_ctxt_switches"),
            involuntary_switches: number("nonvoluntary_ctxt_switches"),
            resident_bytes: number("VmRSS").map(|kib| kib * 1024),
            ..self
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn pacing_usage_counts_a_sleep_as_a_switch_and_memory_in_bytes() {
        let before = ProcessUsage::now();
        (0..3).for_each(|_| std::thread::sleep(std::time::Duration::from_millis(1)));
        let memory = vec![1u8; 32 << 20];
        let after = ProcessUsage::now();
        let n_switches = after.voluntary_switches.expect("Linux says") - before.voluntary_switches.expect("Linux says");
        assert!(n_switches >= 3, "{n_switches}");
        let grown =
            after.resident_bytes.expect("Linux says").saturating_sub(before.resident_bytes.expect("Linux says"));
        assert!(grown >= 16 << 20, "{grown} of {}", memory.len());
        assert!(after.cpu_ns > before.cpu_ns && after.thread_cpu > before.thread_cpu);
    }

    #[test]
    fn pacing_usage_of_an_odd_status_is_absent() {
        let odd = ProcessUsage::default().with_status("VmRSS:\tmany kB\nvoluntary_ctxt_switches\nx: 3");
        assert_eq!(odd, ProcessUsage::default());
    }
}
