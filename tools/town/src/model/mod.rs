//! The modules that the town is put together from.

pub mod house;
pub mod house_parts;
pub mod roof;
