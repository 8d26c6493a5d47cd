//! macOS: what `sysctl` says. The reading is a parameter, so that tests can bring their own.

use crate::measure::{Cluster, Machine};

/// One `sysctl` value; the tool is part of the system.
#[cfg(target_os = "macos")]
pub(super) fn run_sysctl(name: &str) -> Option<String> {
    let output = std::process::Command::new("/usr/sbin/sysctl").args(["-n", name]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

/// `sysctl` gives the value of a name, `None` where there is no such name.
pub(super) fn describe(sysctl: impl Fn(&str) -> Option<String>) -> Machine {
    let number = |name: &str| sysctl(name).and_then(|text| text.parse::<u32>().ok());
    Machine {
        cpu: sysctl("machdep.cpu.brand_string").unwrap_or_default(),
        n_cores: 0,
        n_logical_cores: number("hw.logicalcpu"),
        n_physical_cores: number("hw.physicalcpu"),
        clusters: clusters(&sysctl),
        cache_line_bytes: number("hw.cachelinesize"),
        memory_bytes: sysctl("hw.memsize").and_then(|bytes| bytes.parse().ok()),
        os: format!("macOS {}", sysctl("kern.osproductversion").unwrap_or_default()).trim().to_owned(),
        kernel: sysctl("kern.osrelease"),
        // The system alone sets the clock; there is no governor to name.
        governor: None,
        virtualized: number("kern.hv_vmm_present").map(|present| present != 0),
    }
}

/// The clusters of each performance level. macOS tells how many cores share an L2, not their numbers.
fn clusters(sysctl: &impl Fn(&str) -> Option<String>) -> Vec<Cluster> {
    // More than any machine has would only come from a broken answer.
    const MOST_LEVELS: u32 = 8;
    const MOST_CORES: u32 = 1 << 16;
    let number = |name: &str| sysctl(name).and_then(|text| text.parse::<u32>().ok());
    let mut clusters = Vec::new();
    for level in 0..number("hw.nperflevels").unwrap_or(0).min(MOST_LEVELS) {
        let of_level = |field: &str| number(&format!("hw.perflevel{level}.{field}"));
        let kind = sysctl(&format!("hw.perflevel{level}.name"));
        let (Some(n_cores), Some(n_sharing)) = (of_level("logicalcpu"), of_level("cpusperl2")) else { continue };
        let (mut n_left, n_sharing) = (n_cores.min(MOST_CORES), n_sharing.max(1));
        while n_left > 0 {
            let n_cores = n_left.min(n_sharing);
            clusters.push(Cluster { cores: Vec::new(), n_cores, shares: "L2".to_owned(), kind: kind.clone() });
            n_left -= n_cores;
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_machine_is_read_from_sysctl() {
        let m4_pro = |name: &str| {
            let value = match name {
                "machdep.cpu.brand_string" => "Apple M4 Pro",
                "hw.logicalcpu" | "hw.physicalcpu" => "12",
                "hw.nperflevels" => "2",
                "hw.perflevel0.name" => "Performance",
                "hw.perflevel0.logicalcpu" => "8",
                "hw.perflevel1.name" => "Efficiency",
                "hw.perflevel0.cpusperl2" | "hw.perflevel1.cpusperl2" | "hw.perflevel1.logicalcpu" => "4",
                "hw.cachelinesize" => "128",
                "kern.osproductversion" => "15.3",
                "kern.hv_vmm_present" => "0",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let machine = describe(m4_pro);
        let clusters: Vec<_> = machine.clusters.iter().map(|c| (c.n_cores, c.kind.as_deref().unwrap_or(""))).collect();
        assert_eq!(clusters, [(4, "Performance"), (4, "Performance"), (4, "Efficiency")]);
        assert_eq!((machine.cpu.as_str(), machine.os.as_str()), ("Apple M4 Pro", "macOS 15.3"));
        assert_eq!((machine.cache_line_bytes, machine.memory_bytes), (Some(128), None));
        assert_eq!((machine.n_physical_cores, machine.virtualized), (Some(12), Some(false)));
    }

    #[test]
    fn pacing_machine_survives_an_absent_or_absurd_sysctl() {
        assert_eq!(describe(|_| None), Machine { os: "macOS".to_owned(), ..Machine::default() });
        let absurd = describe(|_| Some("4294967295".to_owned()));
        assert_eq!(absurd.clusters.len(), 8);
        assert!(describe(|_| Some("0".to_owned())).clusters.is_empty());
    }
}
