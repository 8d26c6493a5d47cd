//! `praxis info`: what there is to draw with and to measure on.

mod adapters;
mod clock;
mod rays;

use anyhow::bail;
use praxis::gpu::{self, GpuError, GpuOptions};
use praxis::measure::{Machine, machine_key};
use praxis::pacing::describe_machine;
use serde_json::json;

use super::{Outcome, terminal};
use crate::cli::InfoArgs;
use adapters::{AdapterReport, Choice};
use clock::ClockReport;
use rays::RaysReport;

/// Runs it. The machine is shown even where no adapter is.
pub fn run(args: &InfoArgs) -> anyhow::Result<Outcome> {
    let machine = describe_machine();
    let clock = ClockReport::measure();
    let instance = gpu::instance(&GpuOptions::default());
    let adapters: Vec<_> = gpu::adapters(&instance).iter().map(AdapterReport::of).collect();
    let choice = Choice::of(&instance, &adapters);
    let rays = args.scene.as_deref().map(RaysReport::of).transpose()?;
    let key = choice.as_ref().map(|choice| machine_key(&machine, &adapters[choice.adapter_idx].adapter));
    if args.json {
        terminal::print_json(&json!({
            "schema": "praxis.info/1",
            "machine": machine,
            "clock": clock.to_json(),
            "adapters": adapters.iter().map(AdapterReport::to_json).collect::<Vec<_>>(),
            "chosen": choice.as_ref().map(|choice| json!({ "adapter": choice.adapter_idx, "why": choice.why })),
            "machine_key": key,
            "rays": rays.as_ref().map(RaysReport::to_json),
        }))?;
    } else {
        let mut text = machine_text(&machine) + &clock.to_text();
        for adapter in &adapters {
            text += &adapter.to_text();
        }
        if let Some(choice) = &choice {
            text += &row("chosen", &format!("{}: {}", adapters[choice.adapter_idx].adapter.name, choice.why));
        }
        if let Some(key) = &key {
            text += &row("machine key", &format!("{key} (the folder of its Baselines)"));
        }
        text += &rays.as_ref().map(RaysReport::to_text).unwrap_or_default();
        terminal::print(&text)?;
    }
    match adapters.iter().any(AdapterReport::can_draw) {
        true => Ok(Outcome::Good),
        false if adapters.is_empty() => Err(GpuError::NoAdapter.into()),
        false => bail!("no adapter has every feature that Praxis needs: install a newer driver, or a software one"),
    }
}

/// One line: what it is, and what it reads.
fn row(name: &str, value: &str) -> String {
    format!("{name:<18}{value}\n")
}

fn machine_text(machine: &Machine) -> String {
    let known = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    let number = |n: Option<u32>| n.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let clusters: Vec<String> = machine
        .clusters
        .iter()
        .map(|cluster| {
            let kind = cluster.kind.as_ref().map(|kind| format!("{kind}, ")).unwrap_or_default();
            match core_list(&cluster.cores) {
                cores if cores.is_empty() => format!("{} cores ({kind}share {})", cluster.n_cores, cluster.shares),
                cores => format!("cores {cores} ({kind}share {})", cluster.shares),
            }
        })
        .collect();
    let cores = format!(
        "{} usable, {} logical, {} physical",
        machine.n_cores,
        number(machine.n_logical_cores),
        number(machine.n_physical_cores)
    );
    let memory = machine.memory_bytes.map_or_else(
        || "unknown".to_owned(),
        |bytes| praxis::report::format_value(bytes as f64, praxis::measure::Unit::Bytes),
    );
    let os = match &machine.kernel {
        Some(kernel) => format!("{}, kernel {kernel}", known(&machine.os)),
        None => known(&machine.os),
    };
    let virtualized = match machine.virtualized {
        Some(true) => "yes: its cores may be shared with others",
        Some(false) => "no",
        None => "unknown",
    };
    row("CPU", &known(&machine.cpu))
        + &row("cores", &cores)
        + &row("clusters", &known(&clusters.join("; ")))
        + &row("cache line", &cache_line(machine.cache_line_bytes))
        + &row("memory", &memory)
        + &row("OS", &os)
        + &row("governor", machine.governor.as_deref().unwrap_or("unknown"))
        + &row("virtual machine", virtualized)
}

/// The line as the system reports it, and what per-thread slots are padded to.
fn cache_line(bytes: Option<u32>) -> String {
    let padded_bytes = align_of::<crossbeam_utils::CachePadded<u64>>();
    let reported = bytes.map_or("unknown".into(), |bytes| format!("{bytes} bytes"));
    format!(
        "{reported}; per-thread slots are padded to {padded_bytes} bytes (`praxis probe line` measures what they need)"
    )
}

/// `0-3,8`.
fn core_list(cores: &[u32]) -> String {
    let ranges = cores.chunk_by(|a, b| a + 1 == *b).filter_map(|range| match range {
        [] => None,
        [only] => Some(only.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_core_lists_are_ranges() {
        assert_eq!(core_list(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
        assert_eq!(core_list(&[]), "");
    }

    #[test]
    fn info_an_unknown_machine_is_said_to_be_unknown() {
        let text = machine_text(&Machine::default());
        assert_eq!(text.lines().count(), 8, "{text}");
        assert!(text.lines().all(|line| line.contains("unknown")), "{text}");
    }
}
