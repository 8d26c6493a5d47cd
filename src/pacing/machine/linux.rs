//! Linux: `/proc` and `/sys` below a root, so that tests can bring their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::measure::{Cluster, Machine};

pub(super) fn describe(root: &Path) -> Machine {
    let cpuinfo = read(root, "proc/cpuinfo").unwrap_or_default();
    let cores = online_cores(root);
    Machine {
        cpu: cpu_name(&cpuinfo),
        n_cores: 0,
        n_logical_cores: u32::try_from(cores.len()).ok().filter(|&n| n > 0),
        n_physical_cores: n_physical_cores(root, &cores),
        clusters: clusters(root, &cores),
        cache_line_bytes: cores.iter().find_map(|core| cache_line_bytes(root, *core)),
        memory_bytes: memory_bytes(root),
        os: os_name(root),
        kernel: read(root, "proc/sys/kernel/osrelease"),
        governor: governor(root, &cores),
        // x86 says so in the flags; other architectures say nothing, which is not "no".
        virtualized: field(&cpuinfo, "flags").map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
    }
}

fn read(root: &Path, path: &str) -> Option<String> {
    let text = fs::read_to_string(root.join(path)).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn read_cpu(root: &Path, core: u32, path: &str) -> Option<String> {
    read(root, &format!("sys/devices/system/cpu/cpu{core}/{path}"))
}

/// The first `name : value` of /proc/cpuinfo.
fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

fn cpu_name(cpuinfo: &str) -> String {
    // x86 has a model name; small Arm boards have "Model", servers only numbers.
    if let Some(name) = ["model name", "Model", "Hardware"].iter().find_map(|name| field(cpuinfo, name)) {
        return name.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    match (field(cpuinfo, "CPU implementer"), field(cpuinfo, "CPU part")) {
        (Some(implementer), Some(part)) => format!("{} {implementer} {part}", std::env::consts::ARCH),
        _ => String::new(),
    }
}

fn online_cores(root: &Path) -> Vec<u32> {
    read(root, "sys/devices/system/cpu/online").map(|list| parse_core_list(&list)).unwrap_or_default()
}

/// Core numbers of a list such as `0-3,8,10-11`; what is malformed is left out.
fn parse_core_list(list: &str) -> Vec<u32> {
    // More cores than any machine has would only come from a broken file.
    const MOST_CORES: u32 = 1 << 16;
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.trim().split_once('-').unwrap_or((range.trim(), range.trim()));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?.min(MOST_CORES))
    });
    ranges.flatten().collect()
}

fn n_physical_cores(root: &Path, cores: &[u32]) -> Option<u32> {
    let place = |core: &u32| {
        let of = |file: &str| read_cpu(root, *core, &format!("topology/{file}"));
        Some((of("physical_package_id")?, of("core_id")?))
    };
    let places: BTreeSet<_> = cores.iter().filter_map(place).collect();
    u32::try_from(places.len()).ok().filter(|&n| n > 0)
}

/// Cores grouped by the L2 cache they share if any two physical cores share one, else by the last cache level.
fn clusters(root: &Path, cores: &[u32]) -> Vec<Cluster> {
    let mut levels: BTreeMap<u32, BTreeSet<Vec<u32>>> = BTreeMap::new();
    for &core in cores {
        for index in 0..8 {
            let of = |file: &str| read_cpu(root, core, &format!("cache/index{index}/{file}"));
            let Some(level) = of("level").and_then(|level| level.parse::<u32>().ok()) else { continue };
            if level < 2 {
                continue;
            }
            let sharing = of("shared_cpu_list").map(|list| parse_core_list(&list)).unwrap_or_default();
            if !sharing.is_empty() {
                levels.entry(level).or_default().insert(sharing);
            }
        }
    }
    // Two threads of one core always share its L2: that is no cluster.
    let n_threads = cores.len() as u32 / n_physical_cores(root, cores).unwrap_or(cores.len().max(1) as u32).max(1);
    let is_shared = |groups: &BTreeSet<Vec<u32>>| groups.iter().any(|group| group.len() as u32 > n_threads.max(1));
    let chosen = levels.iter().find(|(_, groups)| is_shared(groups)).or_else(|| levels.iter().next_back());
    let Some((level, groups)) = chosen else { return Vec::new() };
    let cluster = |group: &Vec<u32>| Cluster {
        cores: group.clone(),
        n_cores: group.len() as u32,
        shares: format!("L{level}"),
        kind: None,
    };
    groups.iter().map(cluster).collect()
}

fn cache_line_bytes(root: &Path, core: u32) -> Option<u32> {
    read_cpu(root, core, "cache/index0/coherency_line_size")?.parse().ok()
}

fn memory_bytes(root: &Path) -> Option<u64> {
    let meminfo = read(root, "proc/meminfo")?;
    let kib = field(&meminfo, "MemTotal")?.split_whitespace().next()?.parse::<u64>().ok()?;
    kib.checked_mul(1024)
}

fn os_name(root: &Path) -> String {
    let release = read(root, "etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or_else(|| std::env::consts::OS.to_owned(), |name| name.trim_matches(['"', '\'']).to_owned())
}

fn governor(root: &Path, cores: &[u32]) -> Option<String> {
    let governors: BTreeSet<String> =
        cores.iter().filter_map(|core| read_cpu(root, *core, "cpufreq/scaling_governor")).collect();
    Some(governors.into_iter().collect::<Vec<_>>().join(",")).filter(|governors| !governors.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("the path has a folder")).expect("the test's folder can be written");
        fs::write(path, text).expect("the test's folder can be written");
    }

    /// Eight threads on four cores; cores 0 and 1 share one L3, 2 and 3 another.
    fn write_desktop(root: &Path) {
        write(root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD  Ryzen 5 (R)\nflags\t\t: fpu sse hypervisor\n");
        write(root, "proc/meminfo", "MemTotal:       16384 kB\n");
        write(root, "proc/sys/kernel/osrelease", "6.12.0\n");
        write(root, "etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
        write(root, "sys/devices/system/cpu/online", "0-7\n");
        for core in 0..8 {
            let cpu = format!("sys/devices/system/cpu/cpu{core}");
            let physical = core % 4;
            write(root, &format!("{cpu}/topology/physical_package_id"), "0\n");
            write(root, &format!("{cpu}/topology/core_id"), &format!("{physical}\n"));
            write(
                root,
                &format!("{cpu}/cpufreq/scaling_governor"),
                if core == 7 { "schedutil" } else { "performance" },
            );
            let l2 = format!("{physical},{}", physical + 4);
            let l3 = if physical < 2 { "0-1,4-5" } else { "2-3,6-7" };
            for (index, level, sharing) in [(0, "1", l2.as_str()), (2, "2", l2.as_str()), (3, "3", l3)] {
                write(root, &format!("{cpu}/cache/index{index}/level"), level);
                write(root, &format!("{cpu}/cache/index{index}/shared_cpu_list"), sharing);
                write(root, &format!("{cpu}/cache/index{index}/coherency_line_size"), "64\n");
            }
        }
    }

    #[test]
    fn pacing_machine_is_read_from_proc_and_sys() {
        let root = tempfile::tempdir().expect("a temporary folder");
        write_desktop(root.path());
        let cluster = |cores: [u32; 4]| Cluster { cores: cores.to_vec(), n_cores: 4, shares: "L3".into(), kind: None };
        let expected = Machine {
            cpu: "AMD Ryzen 5 (R)".into(),
            n_cores: 0,
            n_logical_cores: Some(8),
            n_physical_cores: Some(4),
            clusters: vec![cluster([0, 1, 4, 5]), cluster([2, 3, 6, 7])],
            cache_line_bytes: Some(64),
            memory_bytes: Some(16 << 20),
            os: "Debian GNU/Linux 12 (bookworm)".into(),
            kernel: Some("6.12.0".into()),
            governor: Some("performance,schedutil".into()),
            virtualized: Some(true),
        };
        assert_eq!(describe(root.path()), expected);
    }

    #[test]
    fn pacing_machine_without_any_file_is_unknown() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let machine = describe(root.path());
        assert_eq!(machine, Machine { os: std::env::consts::OS.into(), ..Machine::default() });
    }

    #[test]
    fn pacing_machine_survives_broken_files() {
        let root = tempfile::tempdir().expect("a temporary folder");
        write(root.path(), "proc/cpuinfo", ":::\nCPU implementer : 0x41\nCPU part : 0xd4f\n");
        write(root.path(), "proc/meminfo", "MemTotal: 99999999999999999999 kB");
        write(root.path(), "sys/devices/system/cpu/online", "3-1,x,4-,-,0");
        let machine = describe(root.path());
        assert_eq!((machine.n_logical_cores, machine.memory_bytes, machine.virtualized), (Some(1), None, None));
        assert!(machine.cpu.ends_with("0x41 0xd4f"), "{}", machine.cpu);
    }

    #[test]
    fn pacing_core_lists_parse() {
        assert_eq!(parse_core_list("0-3,8,10-11"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(parse_core_list(""), Vec::<u32>::new());
        assert!(parse_core_list("0-4294967295").len() <= (1 << 16) + 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn pacing_this_machine_is_described() {
        let machine = crate::pacing::describe_machine();
        assert!(machine.n_cores >= 1 && machine.n_logical_cores >= Some(machine.n_cores), "{machine:?}");
        assert!(machine.memory_bytes > Some(1 << 20) && machine.kernel.is_some(), "{machine:?}");
    }
}
