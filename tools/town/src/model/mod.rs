//! The modules that the town is put together from.

pub mod bridge;
pub mod church;
pub mod furniture;
pub mod house;
pub mod house_parts;
pub mod market;
pub mod mills;
pub mod people;
pub mod roof;
pub mod trees;
pub mod vehicles;
pub mod yard;
