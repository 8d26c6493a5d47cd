//! References of the aliasing measure, kept in the user's cache folder: `praxis/references/`, one 16-bit PNG each.
//!
//! Any of them may be deleted at any time, and the whole folder too: what is missing or damaged is drawn anew.

use std::cell::Cell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ExtendedColorType, ImageEncoder};
use praxis::frames::aliasing::ReferenceStore;
use praxis::measure::aliasing::Reference;
use praxis::measure::write_atomically;

use crate::commands::terminal;

/// What the folder may hold; the references that were used longest ago go first.
pub const LIMIT_BYTES: u64 = 2 << 30;

/// A folder of references.
pub struct ReferenceCache {
    folder: Option<PathBuf>,
    is_quiet: bool,
    has_complained: Cell<bool>,
}

impl ReferenceCache {
    /// In the user's cache folder.
    pub fn of_user(is_quiet: bool) -> Self {
        let folder = dirs::cache_dir().map(|folder| folder.join("praxis").join("references"));
        Self { folder, is_quiet, has_complained: Cell::new(false) }
    }

    /// Deletes the files used longest ago until the folder holds `limit_bytes` at most.
    pub fn prune(&self, limit_bytes: u64) {
        let Some(entries) = self.folder.as_ref().and_then(|folder| folder.read_dir().ok()) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "png"))
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), entry.path()))
            })
            .collect();
        files.sort_unstable();
        let mut n_bytes: u64 = files.iter().map(|(_, n_bytes, _)| n_bytes).sum();
        for (_, n_file_bytes, path) in files {
            if n_bytes <= limit_bytes {
                break;
            }
            // One that can't be deleted, or is gone already, is no fault of this run.
            if std::fs::remove_file(path).is_ok() {
                n_bytes -= n_file_bytes;
            }
        }
    }

    fn path(&self, key: &str, step_idx: u32) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:032x}-{step_idx}.png", fnv1a_128(key.as_bytes()))))
    }
}

impl ReferenceStore for ReferenceCache {
    fn load(&self, key: &str, step_idx: u32) -> Option<Reference> {
        let path = self.path(key, step_idx)?;
        let reference = read(&path)?;
        // The time of the last use, for `prune`.
        let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(reference)
    }

    fn save(&self, key: &str, step_idx: u32, reference: &Reference) {
        let Some(path) = self.path(key, step_idx) else { return };
        if let Err(error) = write(&path, reference)
            && !self.has_complained.replace(true)
        {
            terminal::note(self.is_quiet, &format!("references are not kept for the next run: {error:#}"));
        }
    }
}

/// `None` if the file isn't there, or isn't whole: every chunk of a PNG has a checksum.
fn read(path: &Path) -> Option<Reference> {
    let DynamicImage::ImageRgb16(picture) = image::open(path).ok()? else { return None };
    Reference::new(picture.width(), picture.height(), picture.into_raw()).ok()
}

fn write(path: &Path, reference: &Reference) -> anyhow::Result<()> {
    let [width_px, height_px] = reference.size_px();
    let mut png = Vec::new();
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Up).write_image(
        bytemuck::cast_slice(reference.rgb()),
        width_px,
        height_px,
        ExtendedColorType::Rgb16,
    )?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(write_atomically(path, |file| file.write_all(&png))?)
}

/// FNV-1a, 128 bits: the same in every build, and no two keys of a user meet in it.
fn fnv1a_128(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn cache(folder: &Path) -> ReferenceCache {
        ReferenceCache { folder: Some(folder.join("a").join("b")), is_quiet: true, has_complained: Cell::new(false) }
    }

    fn reference(seed: u16) -> Reference {
        let values = (0..5 * 3 * 3u16).map(|i| i.wrapping_mul(seed).wrapping_mul(40_503)).collect();
        Reference::new(5, 3, values).expect("the size fits")
    }

    #[test]
    fn aliasing_references_come_back_as_they_were() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = cache(folder.path());
        assert_eq!(cache.load("key", 0), None);
        cache.save("key", 0, &reference(7));
        cache.save("key", 1, &reference(9));
        assert_eq!(cache.load("key", 0), Some(reference(7)));
        assert_eq!(cache.load("key", 1), Some(reference(9)));
        assert_eq!((cache.load("key", 2), cache.load("kez", 0)), (None, None));
    }

    #[test]
    fn aliasing_damaged_references_are_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = cache(folder.path());
        cache.save("key", 0, &reference(7));
        let path = cache.path("key", 0).expect("it has a folder");
        let whole = std::fs::read(&path).expect("it was just written");
        for n_bytes in 0..whole.len() - 12 {
            std::fs::write(&path, &whole[..n_bytes]).expect("it can be written");
            assert_eq!(cache.load("key", 0), None, "cut to {n_bytes} bytes");
        }
        for byte in 8..whole.len() - 12 {
            let mut damaged = whole.clone();
            damaged[byte] ^= 0x10;
            std::fs::write(&path, &damaged).expect("it can be written");
            assert_eq!(cache.load("key", 0), None, "byte {byte} damaged");
        }
        cache.save("key", 0, &reference(7));
        assert_eq!(cache.load("key", 0), Some(reference(7)), "a damaged file is written over");
    }

    #[test]
    fn aliasing_the_references_used_longest_ago_are_dropped_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = cache(folder.path());
        for step_idx in 0..4 {
            cache.save("key", step_idx, &reference(7));
            let path = cache.path("key", step_idx).expect("it has a folder");
            let file = File::options().append(true).open(path).expect("it was just written");
            let age = Duration::from_secs(1000 - u64::from(step_idx));
            file.set_modified(SystemTime::now() - age).expect("times can be set");
        }
        let n_bytes = cache.path("key", 0).expect("it has a folder").metadata().expect("it is there").len();
        assert!(cache.load("key", 0).is_some(), "now it is the one used last");
        cache.prune(3 * n_bytes - 1);
        let is_kept = [0, 1, 2, 3].map(|step_idx| cache.load("key", step_idx).is_some());
        assert_eq!(is_kept, [true, false, false, true]);
    }

    #[test]
    fn aliasing_a_cache_that_cannot_be_written_is_no_fault() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("a"), "a file where the folder should be").expect("it can be written");
        let cache = cache(folder.path());
        cache.save("key", 0, &reference(7));
        assert_eq!(cache.load("key", 0), None);
        cache.prune(0);
    }

    #[test]
    fn aliasing_keys_are_hashed_as_published() {
        // Test vectors of the FNV authors.
        assert_eq!(fnv1a_128(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(fnv1a_128(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
    }
}
