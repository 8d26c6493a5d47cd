//! What the recorded frames of a loop used: CPU time of the process, switches, memory.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::gpu::Gpu;
use crate::pacing::ProcessUsage;

/// Readings before and after the recorded frames.
#[derive(Clone, Debug, Default)]
pub struct LoopUsage {
    begin: Option<Reading>,
    end: Option<Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Instant,
    process: ProcessUsage,
    /// What wgpu's allocator has handed out, where it says.
    gpu_bytes: Option<u64>,
}

impl Reading {
    fn now(gpu: &Gpu) -> Self {
        let report = gpu.device.generate_allocator_report();
        let gpu_bytes = report.map(|report| report.total_allocated_bytes);
        Self { at: Instant::now(), process: ProcessUsage::now(), gpu_bytes }
    }
}

impl LoopUsage {
    /// The recorded frames begin.
    pub fn begin(&mut self, gpu: &Gpu) {
        self.begin = Some(Reading::now(gpu));
    }

    /// They ended.
    pub fn end(&mut self, gpu: &Gpu) {
        self.end = Some(Reading::now(gpu));
    }

    /// What was used, by name, in the unit that the name ends with, as run files keep it: what the system doesn't say is not in it.
    pub fn to_map(&self) -> BTreeMap<String, u64> {
        let mut map = BTreeMap::new();
        let (Some(begin), Some(end)) = (&self.begin, &self.end) else { return map };
        let mut set = |name: &str, value: Option<u64>| {
            if let Some(value) = value {
                map.insert(name.to_owned(), value);
            }
        };
        let grown = |of: fn(&ProcessUsage) -> Option<u64>| Some(of(&end.process)?.saturating_sub(of(&begin.process)?));
        set("wall_ns", u64::try_from((end.at - begin.at).as_nanos()).ok());
        set("process.cpu_ns", grown(|usage| usage.cpu_ns));
        set(
            "main.cpu_ns",
            end.process.thread_cpu.zip(begin.process.thread_cpu).map(|(end, begin)| end.since_ns(begin)),
        );
        set("main.voluntary_switches", grown(|usage| usage.voluntary_switches));
        set("main.involuntary_switches", grown(|usage| usage.involuntary_switches));
        set("resident.begin_bytes", begin.process.resident_bytes);
        set("resident.end_bytes", end.process.resident_bytes);
        set("gpu.begin_bytes", begin.gpu_bytes);
        set("gpu.end_bytes", end.gpu_bytes);
        map
    }
}
