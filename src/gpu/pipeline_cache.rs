//! Compiled pipelines, kept from run to run in the user's cache folder.
//!
//! Only Vulkan offers it, and not every driver stores anything: lavapipe returns an empty cache however many pipelines there
//! are. A file is written only where the cache has really grown.

use std::io::Write;
use std::path::PathBuf;

/// Marks the file and its layout: magic, then the data's checksum (little endian), then the data.
const MAGIC: &[u8; 8] = b"praxisP1";
/// A Vulkan cache that holds nothing is a header of this length, a little more with what a driver adds to it.
const EMPTY_BYTES: usize = 256;

/// The device's pipeline cache and the file it came from.
pub struct PipelineCache {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    n_loaded_bytes: usize,
}

impl PipelineCache {
    /// The cache of this adapter, filled from its file if there is a whole one; `None` where the adapter or the system has no
    /// place for it.
    pub fn open(device: &wgpu::Device, info: &wgpu::AdapterInfo) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let key = wgpu::util::pipeline_cache_key(info)?;
        let path = dirs::cache_dir()?.join("praxis").join(key);
        let data = std::fs::read(&path).ok().and_then(|file| unpack(&file));
        let n_loaded_bytes = data.as_ref().map_or(0, Vec::len);
        let desc = wgpu::PipelineCacheDescriptor {
            label: Some("praxis::gpu::PipelineCache"),
            data: data.as_deref(),
            fallback: true,
        };
        // SAFETY: the data came from `get_data`, written by `save` below and whole by its checksum; wgpu checks that it belongs
        // to this device and driver, and falls back to an empty cache if not.
        #[expect(unsafe_code, reason = "wgpu can't check that the driver's data is what the driver wrote")]
        #[expect(clippy::disallowed_methods, reason = "once a device, before any frame")]
        let cache = unsafe { device.create_pipeline_cache(&desc) };
        Some(Self { cache, path, n_loaded_bytes })
    }

    /// For pipeline descriptors.
    pub fn handle(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes the file if the cache has grown since it was read. A fault is logged: the next run compiles again, no more.
    pub fn save(&self) {
        let Some(data) = self.cache.get_data() else { return };
        if data.len() <= self.n_loaded_bytes.max(EMPTY_BYTES) {
            return;
        }
        if let Err(error) = self.write(&data) {
            tracing::warn!("could not write the pipeline cache {}: {error}", self.path.display());
        }
    }

    fn write(&self, data: &[u8]) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&pack(data))?;
        file.persist(&self.path)?;
        Ok(())
    }
}

fn pack(data: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.extend(checksum(data).to_le_bytes());
    file.extend(data);
    file
}

fn unpack(file: &[u8]) -> Option<Vec<u8>> {
    let rest = file.strip_prefix(MAGIC)?;
    let (sum, data) = rest.split_first_chunk()?;
    (u64::from_le_bytes(*sum) == checksum(data)).then(|| data.to_vec())
}

/// FNV-1a, 64 bits: against damage, not against malice.
fn checksum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_comes_back_and_a_damaged_one_does_not() {
        let file = pack(b"compiled");
        assert_eq!(unpack(&file).as_deref(), Some(&b"compiled"[..]));
        for cut in 0..file.len() {
            assert_eq!(unpack(&file[..cut]), None, "cut to {cut} bytes");
        }
        for byte in 0..file.len() {
            let mut damaged = file.clone();
            damaged[byte] ^= 0x10;
            assert_eq!(unpack(&damaged), None, "byte {byte} damaged");
        }
    }
}
