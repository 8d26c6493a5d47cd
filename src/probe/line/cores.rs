//! Which cores workers are put on.

use std::path::Path;

use crate::measure::Cluster;

/// The cores that this process may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UsableCores {
    /// In the order in which workers take them: one thread of each physical core first. `None` where a thread can't be put on a
    /// core.
    pub cores: Vec<Option<u32>>,
    /// Whether workers stay where they are put.
    pub is_pinned: bool,
    /// What a reader should know.
    pub cautions: Vec<String>,
}

/// Those of the calling thread.
pub(super) fn usable_cores() -> UsableCores {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Ok(set) = rustix::thread::sched_getaffinity(None) {
        let allowed: Vec<u32> =
            (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).map(|core| core as u32).collect();
        if !allowed.is_empty() {
            return ordered(Path::new("/"), &allowed);
        }
    }
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let caution = "workers can't be put on cores here: where they run is the system's choice".to_owned();
    UsableCores { cores: vec![None; n_cores], is_pinned: false, cautions: vec![caution] }
}

/// Puts the calling thread on `core`; where that fails, it stays where it is.
pub(super) fn pin(core: Option<u32>) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(core) = core {
        let mut set = rustix::thread::CpuSet::new();
        set.set(core as usize);
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = core;
}

/// `allowed`, threads of a core that is there already last.
#[cfg_attr(not(any(target_os = "linux", target_os = "android", test)), expect(dead_code))]
fn ordered(root: &Path, allowed: &[u32]) -> UsableCores {
    let physical = |core: u32| {
        let topology = root.join(format!("sys/devices/system/cpu/cpu{core}/topology"));
        let read = |name: &str| std::fs::read_to_string(topology.join(name)).ok();
        Some((read("physical_package_id")?, read("core_id")?))
    };
    let mut known = Vec::new();
    let (mut first, mut siblings) = (Vec::new(), Vec::new());
    for &core in allowed {
        match physical(core) {
            Some(place) if known.contains(&place) => siblings.push(Some(core)),
            place => {
                known.extend(place);
                first.push(Some(core));
            }
        }
    }
    let mut cautions = Vec::new();
    if !siblings.is_empty() {
        cautions.push(format!(
            "{} of the {} usable cores are second threads of others, and share their caches: a line shared with them costs less",
            siblings.len(),
            allowed.len()
        ));
    }
    UsableCores { cores: first.into_iter().chain(siblings).collect(), is_pinned: true, cautions }
}

/// Pairs of cores within each cluster and across the first two, where there are several; each with its name.
pub(super) fn cluster_pairs(clusters: &[Cluster], cores: &[Option<u32>]) -> Vec<(String, [u32; 2])> {
    if clusters.len() < 2 {
        return Vec::new();
    }
    // In the workers' order, so that the threads of one core don't make a pair where others can.
    let usable = |cluster: &Cluster| -> Vec<u32> {
        cores.iter().flatten().copied().filter(|core| cluster.cores.contains(core)).collect()
    };
    let members: Vec<Vec<u32>> = clusters.iter().map(usable).collect();
    let mut pairs = Vec::new();
    for (idx, members) in members.iter().enumerate() {
        if let [first, second, ..] = members[..] {
            let shares = &clusters[idx].shares;
            pairs.push((format!("two cores of one {shares}: {first} and {second}"), [first, second]));
        }
        // Clusters of one kind are as good as each other.
        if pairs.len() >= 4 {
            break;
        }
    }
    let mut occupied = members.iter().filter_map(|members| members.first());
    if let (Some(first), Some(second)) = (occupied.next(), occupied.next()) {
        pairs.push((format!("cores of two clusters: {first} and {second}"), [*first, *second]));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_line_workers_take_physical_cores_first() {
        let root = tempfile::tempdir().expect("a temporary folder");
        for core in 0..4 {
            let folder = root.path().join(format!("sys/devices/system/cpu/cpu{core}/topology"));
            std::fs::create_dir_all(&folder).expect("it can be made");
            std::fs::write(folder.join("physical_package_id"), "0\n").expect("it can be written");
            std::fs::write(folder.join("core_id"), format!("{}\n", core / 2)).expect("it can be written");
        }
        let usable = ordered(root.path(), &[0, 1, 2, 3]);
        assert_eq!(usable.cores, [0, 2, 1, 3].map(Some));
        assert!(usable.is_pinned && usable.cautions[0].starts_with("2 of the 4"), "{usable:?}");
        // Nothing is known of these.
        let usable = ordered(root.path(), &[8, 9]);
        assert_eq!((usable.cores, usable.cautions.len()), (vec![Some(8), Some(9)], 0));
    }

    #[test]
    fn probe_line_pairs_lie_within_and_across_clusters() {
        let cluster = |cores: &[u32]| Cluster { cores: cores.to_vec(), n_cores: 2, shares: "L2".into(), kind: None };
        let clusters = [cluster(&[0, 1]), cluster(&[2, 3]), cluster(&[4])];
        let cores = [0, 1, 2, 3, 4].map(Some);
        let pairs: Vec<[u32; 2]> = cluster_pairs(&clusters, &cores).into_iter().map(|(_, pair)| pair).collect();
        assert_eq!(pairs, [[0, 1], [2, 3], [0, 2]]);
        assert_eq!(cluster_pairs(&clusters[..1], &cores), []);
        // macOS gives no numbers.
        assert_eq!(cluster_pairs(&[cluster(&[]), cluster(&[])], &[None, None]), []);
    }

    #[test]
    fn probe_line_this_machine_has_a_core() {
        let usable = usable_cores();
        assert!(!usable.cores.is_empty());
        pin(usable.cores[0]);
    }
}
