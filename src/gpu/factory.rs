//! The one place where GPU resources are created, so that they can be counted: a steady frame creates none.
#![expect(clippy::disallowed_methods, reason = "this is the counting wrapper that everyone else has to use")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use wgpu::util::DeviceExt;

use super::PipelineCache;
use super::shader_edits::{ShaderEdit, ShaderEdits};

/// Creates GPU resources and counts them.
#[derive(Clone)]
pub struct Factory {
    device: wgpu::Device,
    /// Whatever thread creates, its count takes no other data's cache line along.
    n_created: Arc<CachePadded<AtomicU64>>,
    pipeline_cache: Option<Arc<PipelineCache>>,
    shader_edits: ShaderEdits,
}

impl Factory {
    /// For `device`; pipelines come from `pipeline_cache` where it has them.
    pub fn new(device: wgpu::Device, pipeline_cache: Option<Arc<PipelineCache>>) -> Self {
        Self { device, n_created: Arc::default(), pipeline_cache, shader_edits: ShaderEdits::default() }
    }

    fn cache(&self) -> Option<&wgpu::PipelineCache> {
        self.pipeline_cache.as_ref().map(|cache| cache.handle())
    }

    /// Resources created so far through this factory and its clones.
    pub fn n_created(&self) -> u64 {
        self.n_created.load(Ordering::Relaxed)
    }

    fn count(&self) -> &wgpu::Device {
        self.n_created.fetch_add(1, Ordering::Relaxed);
        &self.device
    }

    /// An empty (zeroed) buffer; `size` is rounded up to 4 bytes and at least 16.
    pub fn buffer(&self, label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = size.max(16).next_multiple_of(4);
        self.count().create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// A buffer that starts out mapped for writing.
    pub fn mapped_buffer(&self, label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let size = size.max(16).next_multiple_of(4);
        self.count().create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: true,
        })
    }

    /// A buffer with contents; empty contents become 16 zero bytes, since a binding may not be empty.
    pub fn buffer_init(&self, label: &str, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let contents = if contents.is_empty() { &[0; 16] } else { contents };
        self.count().create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
    }

    /// A texture.
    pub fn texture(&self, desc: &wgpu::TextureDescriptor) -> wgpu::Texture {
        self.count().create_texture(desc)
    }

    /// A sampler.
    pub fn sampler(&self, desc: &wgpu::SamplerDescriptor) -> wgpu::Sampler {
        self.count().create_sampler(desc)
    }

    /// A query set.
    pub fn query_set(&self, desc: &wgpu::QuerySetDescriptor) -> wgpu::QuerySet {
        self.count().create_query_set(desc)
    }

    /// A bind group layout.
    pub fn bind_group_layout(&self, label: &str, entries: &[wgpu::BindGroupLayoutEntry]) -> wgpu::BindGroupLayout {
        self.count().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries })
    }

    /// A bind group whose bindings are numbered from 0 in the order given.
    pub fn bind_group(
        &self,
        label: &str,
        layout: &wgpu::BindGroupLayout,
        resources: &[wgpu::BindingResource],
    ) -> wgpu::BindGroup {
        let numbered: Vec<_> = (0..).zip(resources.iter().cloned()).collect();
        self.bind_group_at(label, layout, &numbered)
    }

    /// A bind group with the given binding numbers.
    pub fn bind_group_at(
        &self,
        label: &str,
        layout: &wgpu::BindGroupLayout,
        resources: &[(u32, wgpu::BindingResource)],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = resources
            .iter()
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding: *binding, resource: resource.clone() })
            .collect();
        self.count().create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
    }

    /// A pipeline layout.
    pub fn pipeline_layout(&self, label: &str, groups: &[Option<&wgpu::BindGroupLayout>]) -> wgpu::PipelineLayout {
        self.count().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: groups,
            immediate_size: 0,
        })
    }

    /// From here on shaders are made with these changes to their text; those that there are stay as they are.
    pub fn set_shader_edits(&self, edits: Vec<Arc<ShaderEdit>>) {
        self.shader_edits.set(edits);
    }

    /// A shader module from WGSL.
    pub fn shader(&self, label: &str, wgsl: &'static str) -> wgpu::ShaderModule {
        self.count().create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(self.shader_edits.apply(wgsl)),
        })
    }

    /// A shader module from WGSL that was put together at run time. Edits don't reach it.
    pub fn shader_from_text(&self, label: &str, wgsl: String) -> wgpu::ShaderModule {
        self.count().create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(wgsl.into()),
        })
    }

    /// A bottom-level acceleration structure.
    pub fn blas(&self, desc: &wgpu::CreateBlasDescriptor, sizes: wgpu::BlasGeometrySizeDescriptors) -> wgpu::Blas {
        self.count().create_blas(desc, sizes)
    }

    /// A top-level acceleration structure.
    pub fn tlas(&self, desc: &wgpu::CreateTlasDescriptor) -> wgpu::Tlas {
        self.count().create_tlas(desc)
    }

    /// A compute pipeline, through the pipeline cache.
    pub fn compute_pipeline(&self, desc: &wgpu::ComputePipelineDescriptor) -> wgpu::ComputePipeline {
        self.count().create_compute_pipeline(&wgpu::ComputePipelineDescriptor { cache: self.cache(), ..desc.clone() })
    }

    /// A render pipeline, through the pipeline cache.
    pub fn render_pipeline(&self, desc: &wgpu::RenderPipelineDescriptor) -> wgpu::RenderPipeline {
        self.count().create_render_pipeline(&wgpu::RenderPipelineDescriptor { cache: self.cache(), ..desc.clone() })
    }
}
