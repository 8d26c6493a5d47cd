//! Backend `query`: acceleration structures of the adapter's own, in wgpu's words.
//!
//! Bottom levels hold what stands still, in chunks of bounded size, and each shape that moves. All read their corners from the one buffer
//! of triangles that the shader also asks about holes.

use glam::Affine3A;

use super::bodies::RigidBodies;
use super::bottom::shape_triangles;
use super::casters::Casters;
use super::chunks::{Chunk, cut_into_chunks};
use crate::gpu::Gpu;
use crate::render::layout::{RAY_OPAQUE, RayTriangle, Transform};
use crate::scene::Hierarchy;

/// Of the structures; the driver's memory is counted by it.
pub const LABEL: &str = "praxis::render::rays::query";
/// Triangles of what stands still that share a bottom level, at most: on hardware, and on a software adapter, whose own trees are so slow
/// that leaving more of the search to the top level pays (`docs/decisions/0006`).
const MOST_IN_CHUNK: [usize; 2] = [16_384, 1_024];

/// See the module.
pub struct QueryStructures {
    pub top: wgpu::Tlas,
    pub triangles: wgpu::Buffer,
    pub instances: wgpu::Buffer,
    pub n_static_triangles: usize,
    pub n_moving_triangles: usize,
    /// Slot of each instance of the top level that moves, and the instance's place.
    movers: Vec<(u32, usize)>,
    is_mover: Vec<bool>,
    is_built: bool,
    is_new: bool,
}

impl QueryStructures {
    /// Uploads the triangles and builds the bottom levels.
    ///
    /// # Errors
    /// One line on what exceeds the adapter's limits.
    pub fn new(gpu: &Gpu, casters: &Casters, bodies: &RigidBodies, hierarchy: &Hierarchy) -> Result<Self, String> {
        let most_in_chunk = MOST_IN_CHUNK[usize::from(gpu.is_software())].min(most_triangles(gpu));
        let (mut triangles, mut parts) = cut_into_chunks(casters, most_in_chunk);
        let (n_static_triangles, n_chunks) = (triangles.len(), parts.len());
        for shape in &bodies.shapes {
            let first = triangles.len();
            triangles.extend(shape_triangles(casters, shape));
            let is_opaque = shape.iter().all(|part| part.mask_material == RAY_OPAQUE);
            parts.push(Chunk { triangles: first..triangles.len(), is_opaque });
        }
        let n_instances = n_chunks + bodies.bodies.len();
        check_limits(gpu, &parts, n_instances)?;

        use wgpu::BufferUsages as Use;
        let triangle_bytes: &[u8] = bytemuck::cast_slice(&triangles);
        gpu.check_storage_size("the triangles of its rays", triangle_bytes.len() as u64)
            .map_err(|error| error.to_string())?;
        let triangle_buffer = gpu.upload("ray_triangles", triangle_bytes, Use::STORAGE | Use::BLAS_INPUT);
        let bottom = build_bottom_levels(gpu, &parts, &triangle_buffer);

        let mut top = gpu.factory.tlas(&wgpu::CreateTlasDescriptor {
            label: Some(LABEL),
            max_instances: n_instances.max(1) as u32,
            flags: wgpu::AccelerationStructureFlags::PREFER_FAST_TRACE,
            update_mode: wgpu::AccelerationStructureUpdateMode::Build,
        });
        let mut first_triangles: Vec<u32> = Vec::new();
        let mut is_mover = vec![false; hierarchy.len()];
        let mut movers = Vec::new();
        let still = (0..n_chunks).map(|chunk_idx| (chunk_idx, None));
        let moving = bodies.bodies.iter().map(|body| (n_chunks + body.shape_idx as usize, Some(body.slot)));
        for (part_idx, slot) in still.chain(moving) {
            let Some(blas) = &bottom[part_idx] else { continue };
            let place = first_triangles.len();
            let world_from_local = slot.map_or(Affine3A::IDENTITY, |slot| *hierarchy.world(slot));
            top[place] = Some(wgpu::TlasInstance::new(blas, rows(&(&world_from_local).into()), place as u32, 0xff));
            first_triangles.push(parts[part_idx].triangles.start as u32);
            if let Some(slot) = slot {
                movers.push((slot, place));
                is_mover[slot as usize] = true;
            }
        }
        let instances = gpu.upload("ray_instances", bytemuck::cast_slice(&first_triangles), Use::STORAGE);
        Ok(Self {
            top,
            triangles: triangle_buffer,
            instances,
            n_static_triangles,
            n_moving_triangles: triangles.len() - n_static_triangles,
            movers,
            is_mover,
            is_built: false,
            is_new: false,
        })
    }

    /// Moves the instances if something in the top level moved in the scene's last update.
    pub fn update(&mut self, hierarchy: &Hierarchy) {
        let has_moved = hierarchy.world_moved().iter().any(|&slot| self.is_mover[slot as usize]);
        if self.is_built && !has_moved {
            return;
        }
        (self.is_built, self.is_new) = (true, true);
        for &(slot, place) in &self.movers {
            if let Some(instance) = &mut self.top[place] {
                instance.transform = rows(&hierarchy.world(slot).into());
            }
        }
    }

    /// Records the top level's build where it is new.
    pub fn record_build(&mut self, encoder: &mut wgpu::CommandEncoder) {
        if std::mem::take(&mut self.is_new) {
            encoder.build_acceleration_structures([], [&self.top]);
        }
    }
}

/// In a bottom level. Of triangles without an index buffer wgpu holds the number of corners against the limit.
fn most_triangles(gpu: &Gpu) -> usize {
    gpu.device.limits().max_blas_primitive_count as usize / 3
}

fn check_limits(gpu: &Gpu, parts: &[Chunk], n_instances: usize) -> Result<(), String> {
    let limits = gpu.device.limits();
    let largest = parts.iter().map(|part| part.triangles.len()).max().unwrap_or(0);
    let name = &gpu.info.name;
    let most = most_triangles(gpu);
    if largest > most {
        return Err(format!(
            "{largest} triangles in one structure, of which adapter \"{name}\" allows {most}; --ray-backend bvh has no such limit"
        ));
    }
    // An instance's own number has 24 bits.
    let most = limits.max_tlas_instance_count.min(1 << 24);
    if n_instances > most as usize {
        return Err(format!(
            "{n_instances} instances in the top level, of which adapter \"{name}\" allows {most}; --ray-backend bvh has no such limit"
        ));
    }
    Ok(())
}

/// One for each part that has triangles.
fn build_bottom_levels(gpu: &Gpu, parts: &[Chunk], triangles: &wgpu::Buffer) -> Vec<Option<wgpu::Blas>> {
    let sizes: Vec<_> = parts
        .iter()
        .map(|part| wgpu::BlasTriangleGeometrySizeDescriptor {
            vertex_format: wgpu::VertexFormat::Float32x3,
            vertex_count: 3 * part.triangles.len() as u32,
            index_format: None,
            index_count: None,
            flags: if part.is_opaque {
                wgpu::AccelerationStructureGeometryFlags::OPAQUE
            } else {
                wgpu::AccelerationStructureGeometryFlags::empty()
            },
        })
        .collect();
    let bottom: Vec<_> = sizes
        .iter()
        .map(|size| {
            let desc = wgpu::CreateBlasDescriptor {
                label: Some(LABEL),
                flags: wgpu::AccelerationStructureFlags::PREFER_FAST_TRACE,
                update_mode: wgpu::AccelerationStructureUpdateMode::Build,
            };
            let descriptors = wgpu::BlasGeometrySizeDescriptors::Triangles { descriptors: vec![size.clone()] };
            (size.vertex_count > 0).then(|| gpu.factory.blas(&desc, descriptors))
        })
        .collect();
    let entries: Vec<_> = bottom
        .iter()
        .zip(&sizes)
        .zip(parts)
        .filter_map(|((blas, size), part)| {
            let geometry = wgpu::BlasTriangleGeometry {
                size,
                vertex_buffer: triangles,
                first_vertex: 3 * part.triangles.start as u32,
                vertex_stride: (size_of::<RayTriangle>() / 3) as u64,
                index_buffer: None,
                first_index: None,
                transform_buffer: None,
                transform_buffer_offset: None,
            };
            let geometry = wgpu::BlasGeometries::TriangleGeometries(vec![geometry]);
            Some(wgpu::BlasBuildEntry { blas: blas.as_ref()?, geometry })
        })
        .collect();
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(LABEL) });
    encoder.build_acceleration_structures(&entries, []);
    gpu.queue.submit([encoder.finish()]);
    bottom
}

fn rows(transform: &Transform) -> [f32; 12] {
    bytemuck::cast(*transform)
}
