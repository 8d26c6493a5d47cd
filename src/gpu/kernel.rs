//! What kernels outside of the renderer are made of: storage buffers in one group, one entry point.

use super::Gpu;

/// A bind group layout of `n` read-write storage buffers.
pub fn storage_layout(gpu: &Gpu, label: &str, n: u32) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..n)
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    gpu.factory.bind_group_layout(label, &entries)
}

/// A pipeline of entry point `main` with one group.
pub fn compute_pipeline(
    gpu: &Gpu,
    label: &str,
    module: &wgpu::ShaderModule,
    layout: &wgpu::BindGroupLayout,
) -> wgpu::ComputePipeline {
    let layout = gpu.factory.pipeline_layout(label, &[Some(layout)]);
    gpu.factory.compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(label),
        layout: Some(&layout),
        module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}
