//! The core that a thread runs on.

/// The logical core that the calling thread runs on now, or `None` where the system doesn't say.
///
/// The thread may move at any time, the next instruction included. Linux and Android answer; macOS has no
/// documented way, and Windows needs a call that this crate doesn't make.
pub fn current_core() -> Option<u32> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        u32::try_from(rustix::thread::sched_getcpu()).ok()
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn pacing_current_core_is_one_of_this_machine() {
        let online = std::fs::read_to_string("/sys/devices/system/cpu/present").expect("sysfs is mounted");
        let last = online.trim().rsplit(['-', ',']).next().and_then(|core| core.parse::<u32>().ok());
        assert!(super::current_core() <= last, "core {:?} of 0..={last:?}", super::current_core());
        assert!(super::current_core().is_some());
    }
}
