//! Backend `bvh`: trees of our own in storage buffers.

use super::bodies::RigidBodies;
use super::bottom::BottomLevels;
use super::casters::Casters;
use super::columns::ColumnMap;
use super::mover_map::MoverMap;
use super::sun_space::SunSpace;
use super::top::TopLevel;
use crate::gpu::{Gpu, GpuError, UploadRing};
use crate::render::layout::{Frame, RAY_NONE, RayInstance};
use crate::scene::Hierarchy;

/// See the module.
pub struct BvhStructures {
    pub nodes: wgpu::Buffer,
    pub triangles: wgpu::Buffer,
    pub instances: wgpu::Buffer,
    /// Of [`Self::column_map`]; of no use without one.
    pub columns: wgpu::Buffer,
    pub column_map: Option<ColumnMap>,
    /// Of `top`; of no use without a column map.
    pub mover_map: wgpu::Buffer,
    pub n_static_triangles: usize,
    pub n_moving_triangles: usize,
    pub top: TopLevel,
    static_root: u32,
    is_top_new: bool,
}

impl BvhStructures {
    /// Builds the trees, and the column map if it is wanted, and uploads them.
    ///
    /// # Errors
    /// One line on what exceeds the adapter's limits or traversal's.
    pub fn new(
        gpu: &Gpu,
        casters: &Casters,
        bodies: &RigidBodies,
        hierarchy: &Hierarchy,
        sun_space: &SunSpace,
        wants_column_map: bool,
    ) -> Result<Self, String> {
        let bottom = BottomLevels::build(casters, bodies, sun_space, TopLevel::most_nodes(bodies.bodies.len()))?;
        let most_column_bytes = gpu.device.limits().max_storage_buffer_binding_size;
        let column_map = wants_column_map
            .then(|| ColumnMap::build(&bottom.triangles[..bottom.n_static_triangles], most_column_bytes))
            .flatten();
        let mover_map = column_map.as_ref().map(|map| MoverMap::new(map.reach()));
        let top = TopLevel::new(bodies, &bottom, hierarchy, sun_space, mover_map);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let node_bytes: &[u8] = bytemuck::cast_slice(&bottom.nodes);
        let triangle_bytes: &[u8] = bytemuck::cast_slice(&bottom.triangles);
        let instance_bytes = (top.most_instances().max(1) * size_of::<RayInstance>()) as u64;
        let check = |what, bytes: u64| gpu.check_storage_size(what, bytes).map_err(|error| error.to_string());
        check("the nodes of its rays", node_bytes.len() as u64)?;
        check("the triangles of its rays", triangle_bytes.len() as u64)?;
        check("the moving instances of its rays", instance_bytes)?;
        Ok(Self {
            nodes: gpu.upload("ray_nodes", node_bytes, usage),
            triangles: gpu.upload("ray_triangles", triangle_bytes, usage),
            instances: gpu.factory.buffer("ray_instances", instance_bytes, usage),
            columns: gpu.upload("ray_columns", column_map.as_ref().map_or(&[0; 16], ColumnMap::bytes), usage),
            column_map,
            mover_map: gpu.factory.buffer("ray_mover_map", top.map_bytes().len().max(16) as u64, usage),
            n_static_triangles: bottom.n_static_triangles,
            n_moving_triangles: bottom.triangles.len() - bottom.n_static_triangles,
            static_root: bottom.static_root.unwrap_or(RAY_NONE),
            top,
            is_top_new: false,
        })
    }

    /// Builds the top level if something in it moved, and tells the frame where the trees are.
    pub fn prepare(&mut self, hierarchy: &Hierarchy, frame: &mut Frame) {
        self.is_top_new |= self.top.update(hierarchy);
        frame.ray_static_root = self.static_root;
        frame.n_ray_instances = self.top.n_instances();
        if let Some(map) = &self.column_map {
            map.describe(frame);
        }
        if let Some(map) = self.top.map() {
            map.describe(frame);
        }
    }

    /// Of all buffers.
    pub fn bytes(&self) -> u64 {
        let buffers = [&self.nodes, &self.triangles, &self.instances, &self.columns, &self.mover_map];
        buffers.into_iter().map(wgpu::Buffer::size).sum()
    }

    /// What is new of a top level, in the order in which it is written, and where it belongs.
    fn uploads(&self) -> [(&[u8], &wgpu::Buffer); 3] {
        [
            (self.top.node_bytes(), &self.nodes),
            (self.top.instance_bytes(), &self.instances),
            (self.top.map_bytes(), &self.mover_map),
        ]
    }

    /// Writes the top level into the ring if it is new.
    pub fn write(&self, uploads: &mut UploadRing, mut offset: u64) -> Result<(), GpuError> {
        if !self.is_top_new {
            return Ok(());
        }
        for (bytes, _) in self.uploads() {
            uploads.put(offset, bytes)?;
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    /// Records the copies of what [`Self::write`] wrote.
    pub fn record_upload(&mut self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer, mut offset: u64) {
        if !std::mem::take(&mut self.is_top_new) {
            return;
        }
        for (bytes, target) in self.uploads() {
            if !bytes.is_empty() {
                encoder.copy_buffer_to_buffer(source, offset, target, 0, bytes.len() as u64);
            }
            offset += bytes.len() as u64;
        }
    }
}
