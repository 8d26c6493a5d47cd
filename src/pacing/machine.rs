//! Reading what machine this is.

#[cfg(any(target_os = "linux", target_os = "android", test))]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;

use crate::measure::{Adapter, Machine};

/// Describes the machine that this runs on, for the run file. What can't be read stays unknown; nothing fails.
///
/// Linux is read from `/proc` and `/sys`, macOS by `sysctl`; elsewhere the CPU, the core count, the system and the
/// architecture are known.
pub fn describe_machine() -> Machine {
    let n_cores = std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let machine = linux::describe(std::path::Path::new("/"));
    #[cfg(target_os = "macos")]
    let machine = macos::describe(macos::run_sysctl);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
    let machine = Machine {
        cpu: std::env::var("PROCESSOR_IDENTIFIER").unwrap_or_default(),
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        ..Machine::default()
    };
    Machine { n_cores, ..machine }
}

/// Describes the adapter that `info` is of, for the run file. `timestamp_period_ns` is what a tick of its timestamps lasts, `None`
/// where it has none; whether submitting blocks is for those to say who found out.
pub fn describe_adapter(info: &wgpu::AdapterInfo, timestamp_period_ns: Option<f32>) -> Adapter {
    Adapter {
        name: info.name.clone(),
        backend: info.backend.to_string(),
        device_type: format!("{:?}", info.device_type),
        driver: info.driver.clone(),
        driver_info: info.driver_info.clone(),
        vendor: info.vendor,
        device: info.device,
        timestamp_period_ns,
        submit_blocks: None,
    }
}
