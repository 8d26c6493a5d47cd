//! What the sun's rays run into: everything that casts a shadow, as the ray backend wants it.
//!
//! What stands still is merged into one tree in world space, built once. What can move sits in a top level that is built anew in the
//! frames in which something moved. The shaders know one function, `sun_ray_is_blocked`; which backend's file defines it is chosen
//! where the shaders are put together.

mod bottom;
mod casters;
mod top;

#[cfg(test)]
mod tests;

use std::time::Instant;

use self::bottom::BottomLevels;
use self::top::TopLevel;
use super::bindings::{Kind, layout};
use super::layout::{Frame, RAY_NONE, RayInstance};
use crate::gpu::{Gpu, GpuError, UploadRing};
use crate::scene::Hierarchy;

pub use casters::{Caster, Casters};

/// Which rays are traced towards the sun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RayMode {
    /// None: nothing casts a shadow.
    Off,
    /// One for each surface of a pixel.
    Hard,
    /// More where light and shadow meet, so that shadow edges are as smooth as those of geometry.
    #[default]
    Edge,
}

impl RayMode {
    /// As `--rays` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Hard => "hard",
            Self::Edge => "edge",
        }
    }
}

/// What finds out whether a ray is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayBackend {
    /// Our own two-level tree, traversed in WGSL.
    Bvh,
}

impl RayBackend {
    /// As `--ray-backend` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bvh => "bvh",
        }
    }
}

/// What the rays run into, for the run file.
#[derive(Clone, Copy, Debug, Default)]
pub struct RayStats {
    /// Triangles that stand still.
    pub n_static_triangles: u64,
    /// Triangles of the meshes that move, each mesh once.
    pub n_moving_triangles: u64,
    /// Instances in the top level.
    pub n_instances: u32,
    /// GPU memory of all structures.
    pub bytes: u64,
    /// Nanoseconds of building at load.
    pub build_ns: u64,
}

/// See the module.
pub struct Rays {
    pub mode: RayMode,
    pub backend: RayBackend,
    /// Whether the rays need textures.
    pub has_masked: bool,
    pub stats: RayStats,
    /// Group 3.
    pub layout: wgpu::BindGroupLayout,
    pub group: wgpu::BindGroup,
    nodes: wgpu::Buffer,
    instances: wgpu::Buffer,
    static_root: u32,
    top: TopLevel,
    /// Of the frame prepared last.
    top_ns: u64,
    is_top_new: bool,
}

impl Rays {
    /// Builds everything that does not change.
    ///
    /// # Errors
    /// One line that says why there can be no rays for this scene on this adapter.
    pub fn new(gpu: &Gpu, casters: &Casters, hierarchy: &Hierarchy, mode: RayMode) -> Result<Self, String> {
        let started = Instant::now();
        let top_capacity = TopLevel::most_nodes(casters.n_moving());
        let bottom = BottomLevels::build(casters, top_capacity)?;
        let top = TopLevel::new(casters, &bottom, hierarchy);
        let build_ns = started.elapsed().as_nanos() as u64;

        use wgpu::BufferUsages as Use;
        let usage = Use::STORAGE | Use::COPY_DST;
        let node_bytes: &[u8] = bytemuck::cast_slice(&bottom.nodes);
        let triangle_bytes: &[u8] = bytemuck::cast_slice(&bottom.triangles);
        let instance_bytes = (top.most_instances().max(1) * size_of::<RayInstance>()) as u64;
        let check = |what, bytes: usize| gpu.check_storage_size(what, bytes as u64).map_err(|error| error.to_string());
        check("the nodes of its rays", node_bytes.len())?;
        check("the triangles of its rays", triangle_bytes.len())?;
        check("the moving instances of its rays", instance_bytes as usize)?;
        let nodes = gpu.factory.buffer_init("ray_nodes", node_bytes, usage);
        let triangles = gpu.factory.buffer_init("ray_triangles", triangle_bytes, usage);
        let instances = gpu.factory.buffer("ray_instances", instance_bytes, usage);

        const LABEL: &str = "praxis::render::rays";
        let stages = wgpu::ShaderStages::COMPUTE | wgpu::ShaderStages::FRAGMENT;
        let layout = layout(gpu, LABEL, stages, &[Kind::Read; 3]);
        let group = gpu.factory.bind_group(
            LABEL,
            &layout,
            &[&nodes, &triangles, &instances].map(wgpu::Buffer::as_entire_binding),
        );
        Ok(Self {
            mode,
            backend: RayBackend::Bvh,
            has_masked: casters.has_masked(),
            stats: RayStats {
                n_static_triangles: bottom.n_static_triangles as u64,
                n_moving_triangles: (bottom.triangles.len() - bottom.n_static_triangles) as u64,
                n_instances: casters.n_moving() as u32,
                bytes: (node_bytes.len() + triangle_bytes.len()) as u64 + instance_bytes,
                build_ns,
            },
            layout,
            group,
            nodes,
            instances,
            static_root: bottom.static_root.unwrap_or(RAY_NONE),
            top,
            top_ns: 0,
            is_top_new: false,
        })
    }

    /// Bytes that a frame may upload.
    pub fn upload_bytes(&self) -> u64 {
        self.top.most_bytes()
    }

    /// Builds the top level anew if something in it moved in the scene's last update, and tells the frame where the trees are.
    pub fn prepare(&mut self, hierarchy: &Hierarchy, frame: &mut Frame) {
        let started = Instant::now();
        self.is_top_new |= self.top.update(hierarchy);
        frame.ray_static_root = self.static_root;
        frame.n_ray_instances = self.top.n_instances();
        self.top_ns = started.elapsed().as_nanos() as u64;
    }

    /// Writes the top level into the ring, `offset` bytes behind its start, if it is new.
    pub fn write(&mut self, uploads: &mut UploadRing, offset: u64) -> Result<(), GpuError> {
        if !self.is_top_new {
            return Ok(());
        }
        let started = Instant::now();
        uploads.put(offset, self.top.node_bytes())?;
        uploads.put(offset + self.top.node_bytes().len() as u64, self.top.instance_bytes())?;
        self.top_ns += started.elapsed().as_nanos() as u64;
        Ok(())
    }

    /// Records the copies of what [`Self::write`] wrote into `source`.
    pub fn record_upload(&mut self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer, offset: u64) {
        if !std::mem::take(&mut self.is_top_new) {
            return;
        }
        let started = Instant::now();
        let mut offset = offset;
        for (bytes, target) in [(self.top.node_bytes(), &self.nodes), (self.top.instance_bytes(), &self.instances)] {
            if !bytes.is_empty() {
                encoder.copy_buffer_to_buffer(source, offset, target, 0, bytes.len() as u64);
            }
            offset += bytes.len() as u64;
        }
        self.top_ns += started.elapsed().as_nanos() as u64;
    }

    /// Nanoseconds that the top level of the frame encoded last took: collecting, building, writing, recording.
    pub fn top_ns(&self) -> u64 {
        self.top_ns
    }
}
