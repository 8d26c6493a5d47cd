//! The resident kernel's text, put together: constants, the leader and the others, operations, the user's operation.

use std::fmt::Write;

use super::layout::CONSTANTS;
use super::{operation, user_operation};
use crate::gpu::COUNT_BEFORE_WGSL;

const LEAD: &str = include_str!("kernel/lead.wgsl");
const OPERATIONS: &str = include_str!("kernel/operations.wgsl");

/// What of the kernel is fixed when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelOptions {
    /// Lanes of a workgroup, a power of two up to 256.
    pub n_lanes: u32,
    /// Whether the leader has a barrier between a number and what it announces: see `docs/resident.md`.
    pub is_acquiring: bool,
}

/// The whole text. `user_operation` has been checked.
pub(super) fn kernel_wgsl(options: KernelOptions, user_operation: Option<&str>) -> String {
    let mut text = String::with_capacity(LEAD.len() + OPERATIONS.len() + 4096);
    for (name, value) in CONSTANTS.iter().copied().chain(operation::constants()) {
        // Writing into a String can't fail.
        let _ = writeln!(text, "const {name}: u32 = {value}u;");
    }
    let _ = writeln!(text, "const N_LANES: u32 = {}u;", options.n_lanes);
    let _ = writeln!(text, "const IS_ACQUIRING: bool = {};", options.is_acquiring);
    for part in [LEAD, OPERATIONS, COUNT_BEFORE_WGSL, user_operation.unwrap_or(user_operation::NONE)] {
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
            let text = kernel_wgsl(KernelOptions { n_lanes, is_acquiring: n_lanes > 32 }, None);
            let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
            let capabilities = naga::valid::Capabilities::MEMORY_DECORATION_COHERENT;
            let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
            validator.validate(&module).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        }
    }
}
