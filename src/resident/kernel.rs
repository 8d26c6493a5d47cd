//! The resident kernel's text, put together: constants, the leader and the others, the ring, operations, sums and filters, small steps, the user's operation.

use std::fmt::Write;

use super::layout::CONSTANTS;
use super::{Config, batch, checksum, user_operation};

const LEAD: &str = include_str!("kernel/lead.wgsl");
const RING: &str = include_str!("kernel/ring.wgsl");
const OPERATIONS: &str = include_str!("kernel/operations.wgsl");
const SUM: &str = include_str!("kernel/sum.wgsl");
const FILTER: &str = include_str!("kernel/filter.wgsl");
const SMALL: &str = include_str!("kernel/small.wgsl");

/// Looks at the ring between two heartbeats.
pub(super) const N_LOOKS: u32 = 64;

/// What of the kernel is fixed when it is compiled: all that no launch changes, so that none of it has to be read while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelOptions {
    /// Lanes of a workgroup, a power of two up to 256.
    n_lanes: u32,
    n_slots: u32,
    /// Quads of the arena.
    n_arena_quads: u32,
    /// Quads of the memory that the CPU reads from.
    n_readback_quads: u32,
    /// Whether the kill word is looked at.
    is_killable: bool,
    /// Whether the leader has a barrier between a first step and what it announces: see `docs/resident.md`.
    is_acquiring: bool,
    /// Whether each answer comes after all stores of its batch, and not only where the CPU may look at them: see there.
    answers_after_stores: bool,
}

impl KernelOptions {
    pub fn new(config: &Config, n_lanes: u32) -> Self {
        // Config::check has seen to it that none is too large.
        Self {
            n_lanes,
            n_slots: config.n_slots as u32,
            n_arena_quads: (config.arena_bytes / 16) as u32,
            n_readback_quads: (config.readback_bytes / 16) as u32,
            is_killable: config.has_fault_injection,
            is_acquiring: config.is_acquiring,
            answers_after_stores: config.answers_after_stores,
        }
    }
}

/// The whole text. `user_operation` has been checked.
pub(super) fn kernel_wgsl(options: KernelOptions, user_operation: Option<&str>) -> String {
    let mut text = String::with_capacity(32 << 10);
    // Writing into a String can't fail.
    for (name, value) in CONSTANTS.iter().copied().chain(batch::constants()) {
        let _ = writeln!(text, "const {name}: u32 = {value}u;");
    }
    for (name, value) in [
        ("N_LANES", options.n_lanes),
        ("N_LOOKS", N_LOOKS),
        ("SLOTS_MASK", options.n_slots - 1),
        ("N_ARENA_QUADS", options.n_arena_quads),
        ("N_READBACK_QUADS", options.n_readback_quads),
    ] {
        let _ = writeln!(text, "const {name}: u32 = {value}u;");
    }
    for (name, value) in [
        ("IS_KILLABLE", options.is_killable),
        ("IS_ACQUIRING", options.is_acquiring),
        ("ANSWERS_AFTER_STORES", options.answers_after_stores),
    ] {
        let _ = writeln!(text, "const {name}: bool = {value};");
    }
    text.push_str(&checksum::factors_wgsl());
    for part in [LEAD, RING, OPERATIONS, SUM, FILTER, SMALL, user_operation.unwrap_or(user_operation::NONE)] {
        text.push_str(part);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::naga;

    #[test]
    fn resident_kernel_is_valid_for_every_size() {
        for n_lanes in [1, 32, 64, 128, 256] {
            let is_large = n_lanes > 32;
            let config = Config {
                has_fault_injection: is_large,
                is_acquiring: n_lanes != 64,
                answers_after_stores: is_large,
                ..Config::default()
            };
            let text = kernel_wgsl(KernelOptions::new(&config, n_lanes), None);
            let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
            let capabilities =
                naga::valid::Capabilities::MEMORY_DECORATION_COHERENT | naga::valid::Capabilities::SUBGROUP;
            let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
            validator.validate(&module).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        }
    }
}
