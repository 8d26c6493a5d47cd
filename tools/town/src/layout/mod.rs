//! The plan of the town: where the ground is, where streets run, what stands where.

pub mod buildings;
pub mod cameras;
pub mod ground;
pub mod plan;
pub mod street;
