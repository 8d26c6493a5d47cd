//! What a GPU draws, by its driver's own counters: NVIDIA's management library, or what Linux shows of the card's sensors.

use std::path::{Path, PathBuf};

/// Reads one GPU's counters from a [start](Self::start) on.
pub(super) struct PowerMeter {
    counter: Counter,
    started: Option<Reading>,
    /// Of a sensor that shows power: what it showed since the start.
    shown_watts: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Reading {
    ns: u64,
    joules: f64,
}

enum Counter {
    #[cfg(any(target_os = "linux", windows))]
    Nvml { nvml: Box<nvml_wrapper::Nvml>, pci_id: String },
    /// µJ since some moment.
    EnergyFile(PathBuf),
    /// µW.
    PowerFile(PathBuf),
}

impl PowerMeter {
    /// The counters of the adapter's card; why there are none.
    pub fn open(info: &wgpu::AdapterInfo) -> Result<Self, String> {
        let pci_id = &info.device_pci_bus_id;
        if pci_id.is_empty() {
            return Err("the driver doesn't say which card the adapter is".into());
        }
        let sensors = Path::new("/sys/bus/pci/devices").join(pci_id.to_lowercase()).join("hwmon");
        if let Some(counter) = Counter::in_folder(&sensors) {
            return Ok(Self::of(counter));
        }
        Counter::of_nvml(pci_id).map(Self::of)
    }

    fn of(counter: Counter) -> Self {
        Self { counter, started: None, shown_watts: Vec::new() }
    }

    /// Begins anew at `now_ns`.
    pub fn start(&mut self, now_ns: u64) {
        self.shown_watts.clear();
        self.started = self.counter.joules().map(|joules| Reading { ns: now_ns, joules });
    }

    /// To be called now and then: a sensor that shows power has to be looked at.
    pub fn look(&mut self) {
        self.shown_watts.extend(self.counter.watts());
    }

    /// What was drawn on average from the start to `now_ns`, in W. `None` if nothing can be read any more, or was not looked at.
    pub fn watts(&mut self, now_ns: u64) -> Option<f64> {
        self.look();
        if let (Some(started), Some(joules)) = (self.started, self.counter.joules()) {
            let seconds = now_ns.saturating_sub(started.ns) as f64 / 1e9;
            return (seconds > 0.0).then(|| (joules - started.joules) / seconds);
        }
        let n = self.shown_watts.len();
        (n > 0).then(|| self.shown_watts.iter().sum::<f64>() / n as f64)
    }
}

impl Counter {
    /// A card's sensors, as Linux shows them: `hwmon/hwmonN/` with energy in µJ, or power in µW.
    /// Source: the kernel's Documentation/hwmon/sysfs-interface.rst.
    fn in_folder(sensors: &Path) -> Option<Self> {
        let folders: Vec<PathBuf> = std::fs::read_dir(sensors).ok()?.flatten().map(|entry| entry.path()).collect();
        let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| number_in(path).is_some());
        if let Some(path) = find("energy1_input") {
            return Some(Self::EnergyFile(path));
        }
        find("power1_average").or_else(|| find("power1_input")).map(Self::PowerFile)
    }

    #[cfg(any(target_os = "linux", windows))]
    fn of_nvml(pci_id: &str) -> Result<Self, String> {
        // Where only the driver is installed, the library has its version in its name.
        let versioned = std::ffi::OsStr::new("libnvidia-ml.so.1");
        let nvml = nvml_wrapper::Nvml::init()
            .or_else(|_| nvml_wrapper::Nvml::builder().lib_path(versioned).init())
            .map_err(|_| "neither the system nor a management library shows the card's power".to_owned())?;
        let counter = Self::Nvml { nvml: Box::new(nvml), pci_id: pci_id.to_owned() };
        counter.joules().map(|_| counter).ok_or_else(|| "the card counts no energy".to_owned())
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    fn of_nvml(_: &str) -> Result<Self, String> {
        Err("this system shows no card's power".into())
    }

    /// Energy since some moment.
    fn joules(&self) -> Option<f64> {
        match self {
            #[cfg(any(target_os = "linux", windows))]
            Self::Nvml { nvml, pci_id } => {
                let device = nvml.device_by_pci_bus_id(pci_id.as_str()).ok()?;
                Some(device.total_energy_consumption().ok()? as f64 / 1e3)
            }
            Self::EnergyFile(path) => number_in(path).map(|microjoules| microjoules / 1e6),
            Self::PowerFile(_) => None,
        }
    }

    /// Power at this moment.
    fn watts(&self) -> Option<f64> {
        match self {
            Self::PowerFile(path) => number_in(path).map(|microwatts| microwatts / 1e6),
            _ => None,
        }
    }
}

fn number_in(path: &Path) -> Option<f64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensors(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let sensor = folder.path().join("hwmon3");
        std::fs::create_dir(&sensor).expect("a folder");
        for (name, text) in files {
            std::fs::write(sensor.join(name), text).expect("a file");
        }
        folder
    }

    #[test]
    fn power_is_the_energy_between_two_readings_by_their_distance() {
        let folder = sensors(&[("energy1_input", "5000000\n"), ("power1_average", "1\n")]);
        let counter = Counter::in_folder(folder.path()).expect("energy comes before power");
        let mut meter = PowerMeter::of(counter);
        meter.start(1_000_000_000);
        std::fs::write(folder.path().join("hwmon3/energy1_input"), "65000000\n").expect("it is written");
        assert_eq!(meter.watts(1_500_000_000), Some(120.0));
        // The same again from a new start: nothing is left of the one before.
        meter.start(2_000_000_000);
        assert_eq!(meter.watts(4_000_000_000), Some(0.0));
        assert_eq!(meter.watts(2_000_000_000), None, "no time has passed");
    }

    #[test]
    fn power_that_is_shown_is_averaged_over_what_was_looked_at() {
        let folder = sensors(&[("power1_average", "80000000\n"), ("energy1_input", "nonsense\n")]);
        let mut meter = PowerMeter::of(Counter::in_folder(folder.path()).expect("power"));
        meter.start(0);
        meter.look();
        std::fs::write(folder.path().join("hwmon3/power1_average"), "100000000\n").expect("it is written");
        assert_eq!(meter.watts(1_000), Some(90.0));
        std::fs::remove_file(folder.path().join("hwmon3/power1_average")).expect("it is there");
        meter.start(2_000);
        assert_eq!(meter.watts(3_000), None, "the sensor is gone");
    }

    #[test]
    fn power_says_why_it_is_not_known() {
        assert!(Counter::in_folder(Path::new("/nowhere")).is_none());
        let info = wgpu::AdapterInfo::new(wgpu::DeviceType::Cpu, wgpu::Backend::Noop);
        assert!(PowerMeter::open(&info).is_err_and(|why| why.contains("which card")));
    }
}
