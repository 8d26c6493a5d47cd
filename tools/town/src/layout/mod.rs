//! The plan of the town: where the ground is, where streets run, what stands where, what moves.

pub mod buildings;
pub mod cameras;
pub mod frontage;
pub mod ground;
pub mod landmarks;
pub mod nature;
pub mod plan;
pub mod square;
pub mod traffic;
