//! Reading what machine this is.

#[cfg(any(target_os = "linux", target_os = "android", test))]
mod linux;

use crate::measure::Machine;

/// Describes the machine that this runs on, for the run file. What can't be read stays unknown; nothing fails.
///
/// Linux is read from `/proc` and `/sys`; elsewhere the core count, the system and the architecture are known.
pub fn describe_machine() -> Machine {
    let n_cores = std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let machine = linux::describe(std::path::Path::new("/"));
    #[cfg(target_os = "macos")]
    let machine = macos::describe();
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
    let machine = Machine {
        cpu: std::env::var("PROCESSOR_IDENTIFIER").unwrap_or_default(),
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        ..Machine::default()
    };
    Machine { n_cores, ..machine }
}

#[cfg(target_os = "macos")]
mod macos {
    use std::process::Command;

    use crate::measure::{Cluster, Machine};

    /// One `sysctl` value; the tool is part of the system.
    fn sysctl(name: &str) -> Option<String> {
        let output = Command::new("/usr/sbin/sysctl").args(["-n", name]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
    }

    fn number(name: &str) -> Option<u32> {
        sysctl(name)?.parse().ok()
    }

    pub(super) fn describe() -> Machine {
        Machine {
            cpu: sysctl("machdep.cpu.brand_string").unwrap_or_default(),
            n_logical_cores: number("hw.logicalcpu"),
            n_physical_cores: number("hw.physicalcpu"),
            clusters: clusters(),
            cache_line_bytes: number("hw.cachelinesize"),
            memory_bytes: sysctl("hw.memsize").and_then(|bytes| bytes.parse().ok()),
            os: format!("macOS {}", sysctl("kern.osproductversion").unwrap_or_default()).trim().to_owned(),
            kernel: sysctl("kern.osrelease"),
            virtualized: number("kern.hv_vmm_present").map(|present| present != 0),
            ..Machine::default()
        }
    }

    /// The clusters of each performance level; macOS tells their sizes, not their core numbers.
    fn clusters() -> Vec<Cluster> {
        let mut clusters = Vec::new();
        for level in 0..number("hw.nperflevels").unwrap_or(0) {
            let of_level = |field: &str| number(&format!("hw.perflevel{level}.{field}"));
            let kind = sysctl(&format!("hw.perflevel{level}.name"));
            let (Some(mut n_left), Some(n_sharing)) = (of_level("logicalcpu"), of_level("cpusperl2")) else { continue };
            while n_left > 0 && n_sharing > 0 {
                let n_cores = n_left.min(n_sharing);
                clusters.push(Cluster { cores: Vec::new(), n_cores, shares: "L2".to_owned(), kind: kind.clone() });
                n_left -= n_cores;
            }
        }
        clusters
    }
}
