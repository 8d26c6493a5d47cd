//! `measure` as other programs see it. One binary, since each links all of wgpu.

mod baseline;
mod compare;
mod drift;
mod experiment;
mod log;
mod picture;
mod run_file;
mod statistics;
