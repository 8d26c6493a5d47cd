//! `pacing` as other programs see it. One binary, since each links all of wgpu.

mod gpu;
mod limiter;
mod pacer;
mod ring;
