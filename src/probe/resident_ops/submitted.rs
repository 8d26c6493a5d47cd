//! The operations as submissions of a program of its own.

use super::{Data, Op};
use crate::gpu::{Gpu, read_buffer, storage_layout};
use crate::probe::error::ProbeError;

const LABEL: &str = "praxis::probe::resident_ops";
const WGSL: &str = include_str!("kernels.wgsl");
const TILE: usize = 1024;
const ENTRY_POINTS: [&str; 10] = [
    "add",
    "multiply",
    "compare",
    "scale",
    "increase",
    "sum_tiles",
    "sum_end",
    "filter_count",
    "filter_scan",
    "filter_write",
];

/// A dispatch: its entry point, and whether a single workgroup does all.
type Dispatch = (&'static str, bool);

/// What an operation dispatches, one after another.
fn dispatches(op: Op) -> Vec<Dispatch> {
    match op {
        Op::Sum => vec![("sum_tiles", false), ("sum_end", true)],
        Op::Compare => vec![("compare", false)],
        Op::Filter => vec![("filter_count", false), ("filter_scan", true), ("filter_write", false)],
        Op::Multiply => vec![("multiply", false)],
        Op::Add => vec![("add", false)],
        Op::Chain => (0..10).map(|step| (if step % 2 == 0 { "scale" } else { "increase" }, false)).collect(),
    }
}

/// Pipelines, made once.
pub(super) struct Pipelines<'a> {
    gpu: &'a Gpu,
    layout: wgpu::BindGroupLayout,
    pipelines: Vec<wgpu::ComputePipeline>,
}

/// Arrays of one length on the GPU.
pub(super) struct Arrays {
    bindings: wgpu::BindGroup,
    out: wgpu::Buffer,
    result: wgpu::Buffer,
    n_tiles: u32,
}

impl<'a> Pipelines<'a> {
    pub fn new(gpu: &'a Gpu) -> Self {
        let layout = storage_layout(gpu, LABEL, 7);
        let module = gpu.factory.shader_from_text(LABEL, WGSL.into());
        let pipeline_layout = gpu.factory.pipeline_layout(LABEL, &[Some(&layout)]);
        let pipelines = ENTRY_POINTS.map(|entry_point| {
            gpu.factory.compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(LABEL),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        });
        Self { gpu, layout, pipelines: pipelines.into() }
    }

    pub fn arrays(&self, data: &Data) -> Arrays {
        let factory = &self.gpu.factory;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let filled = |values: &[f32]| factory.buffer_init(LABEL, bytemuck::cast_slice(values), usage);
        let n_tiles = data.a.len().div_ceil(TILE);
        let out = filled(&data.b);
        let tiles = factory.buffer(LABEL, n_tiles as u64 * 4, usage);
        let result = factory.buffer(LABEL, 16, usage);
        let parameters = [data.a.len() as u32, n_tiles as u32];
        let parameters = factory.buffer_init(LABEL, bytemuck::bytes_of(&parameters), usage);
        let buffers = [&filled(&data.a), &filled(&data.b), &filled(&data.mask), &out, &tiles, &result, &parameters];
        let bindings = factory.bind_group(LABEL, &self.layout, &buffers.map(wgpu::Buffer::as_entire_binding));
        Arrays { bindings, out, result, n_tiles: n_tiles as u32 }
    }

    /// `n` operations one after another in one submission.
    pub fn submit(&self, arrays: &Arrays, op: Op, n: u32) -> wgpu::SubmissionIndex {
        let once = dispatches(op);
        let all = (0..n).flat_map(|_| &once);
        self.submit_dispatches(arrays, all)
    }

    /// A submission for each operation of a chain, or one for a single operation; `wait` waits for each.
    pub fn submit_each<E>(
        &self,
        arrays: &Arrays,
        op: Op,
        mut wait: impl FnMut(&wgpu::SubmissionIndex) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = dispatches(op);
        // What belongs to one operation goes together.
        let n_each = if op == Op::Chain { 1 } else { all.len() };
        all.chunks(n_each).try_for_each(|each| wait(&self.submit_dispatches(arrays, each.iter())))
    }

    fn submit_dispatches<'d>(
        &self,
        arrays: &Arrays,
        dispatches: impl Iterator<Item = &'d Dispatch>,
    ) -> wgpu::SubmissionIndex {
        let gpu = self.gpu;
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(LABEL) });
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_bind_group(0, &arrays.bindings, &[]);
            for (entry_point, is_single) in dispatches {
                let idx = ENTRY_POINTS.iter().position(|name| name == entry_point).unwrap_or(0);
                pass.set_pipeline(&self.pipelines[idx]);
                pass.dispatch_workgroups(if *is_single { 1 } else { arrays.n_tiles }, 1, 1);
            }
        }
        gpu.queue.submit([encoder.finish()])
    }

    /// What an operation left: the output, and the sum and the number of kept elements. Read apart from what is timed.
    pub fn read(&self, arrays: &Arrays) -> Result<(Vec<f32>, [f32; 2]), ProbeError> {
        let floats = |bytes: Vec<u8>| -> Vec<f32> {
            bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap_or_default())).collect()
        };
        let result = floats(read_buffer(self.gpu, &arrays.result)?);
        Ok((floats(read_buffer(self.gpu, &arrays.out)?), [result[0], result[1]]))
    }
}
