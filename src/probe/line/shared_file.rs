//! A file that several processes map, as words. The only `unsafe` of the `line` probe.
#![expect(unsafe_code, reason = "a mapping is a raw pointer, and other processes write to it")]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

/// See the module.
pub(super) struct SharedWords {
    map: memmap2::MmapRaw,
    n_words: usize,
}

impl SharedWords {
    /// Maps the whole of `file`, which must not be shortened while it is mapped: this program makes it, and nobody else knows it.
    pub fn map(file: &File) -> io::Result<Self> {
        let map = memmap2::MmapRaw::map_raw(file)?;
        let n_words = map.len() / size_of::<AtomicU64>();
        Ok(Self { map, n_words })
    }

    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: a mapping begins at a page, so words are aligned; it is this long, and lives as long as `self`. Every process
        // accesses it through atomics alone.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.n_words) }
    }
}
