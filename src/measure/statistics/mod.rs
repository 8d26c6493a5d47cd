//! What the values of a line, or of many runs, say.

mod modes;

pub use modes::{Mode, modes};
