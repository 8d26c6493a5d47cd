//! What can go wrong between us and the GPU, each in one line that says what to do.

/// A fault of the GPU, its driver or our use of it.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// wgpu found no adapter at all.
    #[error(
        "no GPU adapter found: install a Vulkan driver (Debian: `apt-get install mesa-vulkan-drivers` brings a software one)"
    )]
    NoAdapter,
    /// `--adapter` matched nothing.
    #[error("no adapter's name contains \"{wanted}\"; there are: {}", .available.join(", "))]
    UnknownAdapter {
        /// What was asked for.
        wanted: String,
        /// Names of what is there.
        available: Vec<String>,
    },
    /// The adapter lacks something that has no fallback.
    #[error("adapter \"{adapter}\" lacks {}, which Praxis needs; choose another with --adapter (see `praxis info`)", .missing.join(", "))]
    MissingFeatures {
        /// The adapter's name.
        adapter: String,
        /// wgpu's names of the features.
        missing: Vec<String>,
    },
    /// The device could not be made.
    #[error("adapter \"{adapter}\" refused a device: {reason}")]
    RequestDevice {
        /// The adapter's name.
        adapter: String,
        /// wgpu's words.
        reason: String,
    },
    /// The scene wants more of something than the adapter has.
    #[error(
        "the scene needs {needed} {unit} for {what}, but adapter \"{adapter}\" allows {limit}: use a smaller scene or another adapter"
    )]
    Limit {
        /// What is too large.
        what: &'static str,
        /// In `unit`s.
        needed: u64,
        /// In `unit`s.
        limit: u64,
        /// Bytes, images …
        unit: &'static str,
        /// The adapter's name.
        adapter: String,
    },
    /// wgpu reported an error outside of any error scope.
    #[error("the GPU API reported an error: {0}")]
    Uncaptured(String),
    /// Waiting for the GPU failed.
    #[error("waiting for the GPU failed: {0}")]
    Poll(#[from] wgpu::PollError),
    /// A buffer could not be mapped.
    #[error("buffer \"{label}\" could not be mapped: {reason}")]
    Map {
        /// The buffer.
        label: &'static str,
        /// wgpu's words.
        reason: String,
    },
}
