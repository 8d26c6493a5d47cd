//! What the sun's rays run into: everything that casts a shadow, as the ray backend wants it.
//!
//! What stands still is merged into one tree in world space, built once. What can move sits in a top level that is built anew in the
//! frames in which something moved. The shaders know one function, `sun_ray_is_blocked`; which backend's file defines it is chosen
//! where the shaders are put together.

mod bottom;
mod bvh;
mod casters;
mod query;
mod top;

#[cfg(test)]
mod tests;

use std::time::Instant;

use self::bvh::BvhStructures;
use self::query::QueryStructures;
use super::bindings::{Kind, layout};
use super::layout::Frame;
use super::shaders::RayVariant;
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
    /// The adapter's ray queries.
    Query,
}

impl RayBackend {
    /// The faster one that the adapter has. A software adapter's ray queries are no hardware.
    pub fn best(gpu: &Gpu) -> Self {
        if gpu.has_ray_queries() && !gpu.is_software() { Self::Query } else { Self::Bvh }
    }

    /// As `--ray-backend` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bvh => "bvh",
            Self::Query => "query",
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
    /// GPU memory of our buffers; what a driver's own structures take is not told.
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
    structures: Structures,
    /// Of the frame prepared last.
    top_ns: u64,
}

enum Structures {
    Bvh(BvhStructures),
    Query(QueryStructures),
}

impl Rays {
    /// Builds everything that does not change.
    ///
    /// # Errors
    /// One line that says why there can be no rays for this scene on this adapter.
    pub fn new(
        gpu: &Gpu,
        casters: &Casters,
        hierarchy: &Hierarchy,
        mode: RayMode,
        backend: RayBackend,
    ) -> Result<Self, String> {
        const LABEL: &str = "praxis::render::rays";
        if backend == RayBackend::Query && !gpu.has_ray_queries() {
            return Err(format!("adapter \"{}\" has no ray queries; use --ray-backend bvh", gpu.info.name));
        }
        let started = Instant::now();
        let structures = match backend {
            RayBackend::Bvh => Structures::Bvh(BvhStructures::new(gpu, casters, hierarchy)?),
            RayBackend::Query => Structures::Query(QueryStructures::new(gpu, casters, hierarchy)?),
        };
        let build_ns = started.elapsed().as_nanos() as u64;
        let (kinds, resources, [n_static, n_moving], bytes) = match &structures {
            Structures::Bvh(bvh) => (
                [Kind::Read; 3],
                [&bvh.nodes, &bvh.triangles, &bvh.instances].map(wgpu::Buffer::as_entire_binding),
                [bvh.n_static_triangles, bvh.n_moving_triangles],
                bvh.nodes.size() + bvh.triangles.size() + bvh.instances.size(),
            ),
            Structures::Query(query) => (
                [Kind::Tlas, Kind::Read, Kind::Read],
                [query.top.as_binding(), query.triangles.as_entire_binding(), query.instances.as_entire_binding()],
                [query.n_static_triangles, query.n_moving_triangles],
                query.triangles.size() + query.instances.size(),
            ),
        };
        let layout = layout(gpu, LABEL, wgpu::ShaderStages::COMPUTE | wgpu::ShaderStages::FRAGMENT, &kinds);
        let group = gpu.factory.bind_group(LABEL, &layout, &resources);
        Ok(Self {
            mode,
            backend,
            has_masked: casters.has_masked(),
            stats: RayStats {
                n_static_triangles: n_static as u64,
                n_moving_triangles: n_moving as u64,
                n_instances: casters.n_moving() as u32,
                bytes,
                build_ns,
            },
            layout,
            group,
            structures,
            top_ns: 0,
        })
    }

    /// What the shaders that trace are put together for.
    pub fn variant(&self) -> RayVariant {
        RayVariant { backend: self.backend, has_masked: self.has_masked }
    }

    /// Bytes that a frame may upload.
    pub fn upload_bytes(&self) -> u64 {
        match &self.structures {
            Structures::Bvh(bvh) => bvh.top.most_bytes(),
            Structures::Query(_) => 0,
        }
    }

    /// Makes the top level anew if something in it moved in the scene's last update, and tells the frame where the trees are.
    pub fn prepare(&mut self, hierarchy: &Hierarchy, frame: &mut Frame) {
        let started = Instant::now();
        match &mut self.structures {
            Structures::Bvh(bvh) => bvh.prepare(hierarchy, frame),
            Structures::Query(query) => query.update(hierarchy),
        }
        self.top_ns = started.elapsed().as_nanos() as u64;
    }

    /// Writes the top level into the ring, `offset` bytes behind its start, if it is new.
    pub fn write(&mut self, uploads: &mut UploadRing, offset: u64) -> Result<(), GpuError> {
        let Structures::Bvh(bvh) = &self.structures else { return Ok(()) };
        let started = Instant::now();
        bvh.write(uploads, offset)?;
        self.top_ns += started.elapsed().as_nanos() as u64;
        Ok(())
    }

    /// Records the copies of what [`Self::write`] wrote into `source`, or the top level's build.
    pub fn record_upload(&mut self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer, offset: u64) {
        let started = Instant::now();
        match &mut self.structures {
            Structures::Bvh(bvh) => bvh.record_upload(encoder, source, offset),
            Structures::Query(query) => query.record_build(encoder),
        }
        self.top_ns += started.elapsed().as_nanos() as u64;
    }

    /// Nanoseconds that the top level of the frame encoded last took: collecting, building, writing, recording.
    pub fn top_ns(&self) -> u64 {
        self.top_ns
    }
}
