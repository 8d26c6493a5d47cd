//! Bind group layouts in short, and the two groups that several passes share: the scene's textures and the scene.

use std::num::NonZeroU32;

use super::gpu_scene::GpuScene;
use super::sky::Environment;
use crate::gpu::Gpu;

/// Kinds of bindings, in the order of a shader's binding numbers.
#[derive(Clone, Copy)]
pub enum Kind {
    Uniform,
    Read,
    ReadWrite,
    Texture(wgpu::TextureSampleType, wgpu::TextureViewDimension, bool),
    Store(wgpu::TextureFormat),
    Sampler,
    Textures(u32),
    Samplers(u32),
    Tlas,
}

pub const FLOAT_2D: Kind =
    Kind::Texture(wgpu::TextureSampleType::Float { filterable: true }, wgpu::TextureViewDimension::D2, false);

/// A layout whose bindings are numbered from 0.
pub fn layout(gpu: &Gpu, label: &str, stages: wgpu::ShaderStages, kinds: &[Kind]) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..).zip(kinds).map(|(binding, &kind)| entry(binding, stages, kind)).collect();
    gpu.factory.bind_group_layout(label, &entries)
}

fn entry(binding: u32, visibility: wgpu::ShaderStages, kind: Kind) -> wgpu::BindGroupLayoutEntry {
    let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
    let texture = |sample_type, view_dimension, multisampled| wgpu::BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled,
    };
    let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    let (ty, count) = match kind {
        Kind::Uniform => (buffer(wgpu::BufferBindingType::Uniform), None),
        Kind::Read => (buffer(wgpu::BufferBindingType::Storage { read_only: true }), None),
        Kind::ReadWrite => (buffer(wgpu::BufferBindingType::Storage { read_only: false }), None),
        Kind::Texture(sample_type, dimension, is_multisampled) => {
            (texture(sample_type, dimension, is_multisampled), None)
        }
        Kind::Store(format) => {
            let access = wgpu::StorageTextureAccess::WriteOnly;
            let view_dimension = wgpu::TextureViewDimension::D2;
            (wgpu::BindingType::StorageTexture { access, format, view_dimension }, None)
        }
        Kind::Sampler => (sampler, None),
        Kind::Textures(n) => {
            let float = wgpu::TextureSampleType::Float { filterable: true };
            (texture(float, wgpu::TextureViewDimension::D2, false), NonZeroU32::new(n))
        }
        Kind::Tlas => (wgpu::BindingType::AccelerationStructure { vertex_return: false }, None),
        Kind::Samplers(n) => (sampler, NonZeroU32::new(n)),
    };
    wgpu::BindGroupLayoutEntry { binding, visibility, ty, count }
}

/// Groups 0 (`textures.wgsl`) and 1 (`scene.wgsl`).
pub struct SceneBindings {
    pub textures_layout: wgpu::BindGroupLayout,
    pub textures: wgpu::BindGroup,
    pub scene_layout: wgpu::BindGroupLayout,
    pub scene: wgpu::BindGroup,
}

impl SceneBindings {
    /// For a scene under a sky.
    pub fn new(gpu: &Gpu, scene: &GpuScene, environment: &Environment) -> Self {
        let (textures_layout, textures) = bind_textures(gpu, scene);
        let (scene_layout, scene) = bind_scene(gpu, scene, environment);
        Self { textures_layout, textures, scene_layout, scene }
    }
}

fn bind_textures(gpu: &Gpu, scene: &GpuScene) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
    const LABEL: &str = "praxis::render::bindings::textures";
    let views: Vec<_> = scene.textures.views.iter().collect();
    let samplers: Vec<_> = scene.textures.samplers.iter().collect();
    let kinds = [Kind::Textures(views.len() as u32), Kind::Samplers(samplers.len() as u32)];
    let stages = wgpu::ShaderStages::COMPUTE | wgpu::ShaderStages::FRAGMENT;
    let layout = layout(gpu, LABEL, stages, &kinds);
    let resources = [wgpu::BindingResource::TextureViewArray(&views), wgpu::BindingResource::SamplerArray(&samplers)];
    let group = gpu.factory.bind_group(LABEL, &layout, &resources);
    (layout, group)
}

fn bind_scene(gpu: &Gpu, scene: &GpuScene, environment: &Environment) -> (wgpu::BindGroupLayout, wgpu::BindGroup) {
    const LABEL: &str = "praxis::render::bindings::scene";
    let cube =
        Kind::Texture(wgpu::TextureSampleType::Float { filterable: true }, wgpu::TextureViewDimension::Cube, false);
    let mut kinds = vec![Kind::Uniform];
    kinds.extend([Kind::Read; 12]);
    kinds.extend([cube, FLOAT_2D, Kind::Sampler]);
    let layout = layout(gpu, LABEL, wgpu::ShaderStages::VERTEX_FRAGMENT | wgpu::ShaderStages::COMPUTE, &kinds);
    let b = &scene.buffers;
    let buffers = [
        &b.frame,
        &b.transforms,
        &b.instances,
        &b.meshes,
        &b.materials,
        &b.indices,
        &b.positions,
        &b.attributes,
        &b.visible,
        &b.placed_lights,
        &b.cluster_lights,
        &environment.irradiance,
        &b.triangle_blocks,
    ];
    let mut resources: Vec<_> = buffers.iter().map(|buffer| buffer.as_entire_binding()).collect();
    resources.push(wgpu::BindingResource::TextureView(&environment.cube));
    resources.push(wgpu::BindingResource::TextureView(&environment.dfg));
    resources.push(wgpu::BindingResource::Sampler(&environment.sampler));
    let group = gpu.factory.bind_group(LABEL, &layout, &resources);
    (layout, group)
}

/// A compute pipeline with an explicit layout.
pub fn compute_pipeline(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    entry_point: &str,
    groups: &[Option<&wgpu::BindGroupLayout>],
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    let layout = gpu.factory.pipeline_layout(entry_point, groups);
    gpu.factory.compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(entry_point),
        layout: Some(&layout),
        module,
        entry_point: Some(entry_point),
        compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
        cache: None,
    })
}
