//! What the sun's rays run into: everything that casts a shadow, as the ray backend wants it.
//!
//! What stands still is merged into one tree in world space, built once. What can move sits in a top level that is built anew in the
//! frames in which something moved. The shaders know one function, `sun_ray_is_blocked`; which backend's file defines it is chosen
//! where the shaders are put together.

mod blue_noise;
mod bodies;
mod bottom;
mod bvh;
mod casters;
mod chunks;
mod columns;
mod mover_map;
mod query;
mod sun_space;
mod top;
mod top_tree;

#[cfg(test)]
mod tests;

use std::time::Instant;

use self::blue_noise::sun_disc_pattern;
use self::bodies::RigidBodies;
use self::bvh::BvhStructures;
use self::query::QueryStructures;
use self::sun_space::SunSpace;
use super::bindings::{Kind, layout};
use super::layout::Frame;
use super::shaders::RayVariant;
use crate::gpu::{Gpu, GpuError, UploadRing};
use crate::scene::{Hierarchy, Sun};

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

/// What rays are wanted for.
#[derive(Clone, Copy, Debug)]
pub struct RayOptions {
    pub mode: RayMode,
    pub backend: RayBackend,
    /// Whether backend `bvh` makes a column map where rays are parallel.
    pub wants_column_map: bool,
}

/// What the rays run into, for the run file.
#[derive(Clone, Copy, Debug, Default)]
pub struct RayStats {
    /// Triangles that stand still.
    pub n_static_triangles: u64,
    /// Triangles of what moves, each shape once.
    pub n_moving_triangles: u64,
    /// Rigid bodies that move: instances in the top level.
    pub n_instances: u32,
    /// Mesh instances that they are made of.
    pub n_moving_meshes: u32,
    /// GPU memory of our buffers: nodes, triangles, instances, the two maps.
    pub bytes: u64,
    /// GPU memory of the driver's own structures, as wgpu's allocator counts it; 0 for backend `bvh`, which has none.
    pub driver_bytes: u64,
    /// Nanoseconds of building at load, until the GPU was done with it.
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
    constants: Vec<(&'static str, f64)>,
    sun_space: SunSpace,
    /// The tangent of half the sun's angular diameter.
    sun_radius: f32,
    /// Of the frame prepared last.
    top_ns: u64,
}

enum Structures {
    Bvh(Box<BvhStructures>),
    Query(QueryStructures),
}

impl Rays {
    /// Builds everything that does not change.
    ///
    /// # Errors
    /// One line that says why there can be no rays for this scene on this adapter: what it lacks, a limit, too little memory.
    pub fn new(
        gpu: &Gpu,
        casters: &Casters,
        hierarchy: &Hierarchy,
        sun: &Sun,
        options: RayOptions,
    ) -> Result<Self, String> {
        if options.backend == RayBackend::Query && !gpu.has_ray_queries() {
            return Err(format!("adapter \"{}\" has no ray queries; use --ray-backend bvh", gpu.info.name));
        }
        let build = || Self::build(gpu, casters, hierarchy, sun, options);
        gpu.catch_errors(build).map_err(|error| format!("the rays' structures could not be built: {error}"))?
    }

    fn build(
        gpu: &Gpu,
        casters: &Casters,
        hierarchy: &Hierarchy,
        sun: &Sun,
        RayOptions { mode, backend, wants_column_map }: RayOptions,
    ) -> Result<Self, String> {
        const LABEL: &str = "praxis::render::rays";
        let started = Instant::now();
        let sun_space = SunSpace::new(sun.direction());
        let sun_radius = (0.5 * sun.angular_diameter_deg).to_radians().tan();
        let are_parallel = sun_radius == 0.0;
        let bodies = RigidBodies::of(casters, hierarchy);
        let structures = match backend {
            RayBackend::Bvh => {
                let wants_column_map = wants_column_map && are_parallel;
                Structures::Bvh(Box::new(BvhStructures::new(
                    gpu,
                    casters,
                    &bodies,
                    hierarchy,
                    &sun_space,
                    wants_column_map,
                )?))
            }
            RayBackend::Query => Structures::Query(QueryStructures::new(gpu, casters, &bodies, hierarchy)?),
        };
        gpu.queue.submit([]);
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| error.to_string())?;
        let build_ns = started.elapsed().as_nanos() as u64;

        let pattern = if sun_radius > 0.0 { sun_disc_pattern() } else { Vec::new() };
        let pattern = gpu.upload("sun_disc_pattern", bytemuck::cast_slice(&pattern), wgpu::BufferUsages::STORAGE);
        let (kinds, resources, [n_static, n_moving], bytes) = match &structures {
            Structures::Bvh(bvh) => (
                vec![Kind::Read; 6],
                [&bvh.nodes, &bvh.triangles, &bvh.instances, &pattern, &bvh.columns, &bvh.mover_map]
                    .map(wgpu::Buffer::as_entire_binding)
                    .to_vec(),
                [bvh.n_static_triangles, bvh.n_moving_triangles],
                bvh.bytes(),
            ),
            Structures::Query(query) => {
                let [triangles, instances, pattern] =
                    [&query.triangles, &query.instances, &pattern].map(wgpu::Buffer::as_entire_binding);
                (
                    vec![Kind::Tlas, Kind::Read, Kind::Read, Kind::Read],
                    vec![query.top.as_binding(), triangles, instances, pattern],
                    [query.n_static_triangles, query.n_moving_triangles],
                    query.triangles.size() + query.instances.size(),
                )
            }
        };
        let stages = wgpu::ShaderStages::COMPUTE | wgpu::ShaderStages::FRAGMENT;
        let layout = layout(gpu, LABEL, stages, &kinds);
        let group = gpu.factory.bind_group(LABEL, &layout, &resources);
        let stats = RayStats {
            n_static_triangles: n_static as u64,
            n_moving_triangles: n_moving as u64,
            n_instances: bodies.bodies.len() as u32,
            n_moving_meshes: casters.n_moving() as u32,
            bytes,
            driver_bytes: gpu.allocated_bytes(query::LABEL),
            build_ns,
        };
        Ok(Self {
            mode,
            backend,
            has_masked: casters.has_masked(),
            stats,
            layout,
            group,
            constants: constants(&structures, are_parallel),
            structures,
            sun_space,
            sun_radius,
            top_ns: 0,
        })
    }

    /// Pipeline constants of the shaders that trace towards the sun.
    pub fn constants(&self) -> &[(&'static str, f64)] {
        &self.constants
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
        frame.sun_x = self.sun_space.x.into();
        frame.sun_y = self.sun_space.y.into();
        frame.sun_radius = self.sun_radius;
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

fn constants(structures: &Structures, are_parallel: bool) -> Vec<(&'static str, f64)> {
    match structures {
        Structures::Bvh(bvh) => vec![
            ("RAYS_ARE_PARALLEL", f64::from(u8::from(are_parallel))),
            ("HAS_COLUMNS", f64::from(u8::from(bvh.column_map.is_some()))),
        ],
        Structures::Query(_) => Vec::new(),
    }
}
