//! The statistics that comparing and reporting stand on. Pure functions of numbers; each names its source.
//!
//! | question | function |
//! |---|---|
//! | do paired differences lie about 0? | [`signed_rank_test`] |
//! | where do they lie, and how sure is that? | [`hodges_lehmann`] |
//! | several such tests at once | [`holm`] |
//! | what could have been found? | [`detectable_effect`] |
//! | how sure is a number made of one run's frames? | [`block_bootstrap_interval`], [`block_length`] |
//! | does a line have more than one level? | [`modes`] |
//! | how wide do values lie about their middle? | [`robust_deviation`] |
//!
//! Quantiles are [`quantile`](super::quantile)'s. Values are finite: what isn't a number is for the caller to leave out. No
//! function panics on any number of values, and none gives back a NaN.

mod block_bootstrap;
mod detectable;
mod hodges_lehmann;
mod holm;
mod modes;
mod random;
mod signed_rank;
mod spread;

pub use block_bootstrap::{BlockLength, block_bootstrap_interval, block_length};
pub use detectable::detectable_effect;
pub use hodges_lehmann::{HodgesLehmann, hodges_lehmann};
pub use holm::holm;
pub use modes::{Mode, modes};
pub use random::SplitMix64;
pub use signed_rank::{SignedRank, least_p_value, signed_rank_test};
pub use spread::{median, robust_deviation};
