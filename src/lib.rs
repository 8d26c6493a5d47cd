//! Praxis: a wgpu renderer whose numbers can be trusted.
//!
//! Three modules are the library's public face and know nothing of the renderer: `pacing` (frames in flight, waits, limits and
//! latency, the clock chain), `measure` (frame records, summaries, run files, comparing) and `resident` (small GPU operations without
//! submissions). The others serve the `praxis` program; `docs/architecture.md` shows how a frame travels through them.
#![deny(missing_docs, unsafe_code)]

#[doc(hidden)]
pub mod frames;
#[doc(hidden)]
pub mod gpu;
pub mod measure;
pub mod pacing;
#[doc(hidden)]
pub mod probe;
#[doc(hidden)]
pub mod render;
#[doc(hidden)]
pub mod report;
pub mod resident;
#[doc(hidden)]
pub mod scene;
