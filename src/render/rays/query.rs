//! Backend `query`: acceleration structures of the adapter's own, in wgpu's words.
//!
//! Two bottom levels hold what stands still, one opaque and one with holes; each mesh that moves has its own. All read their corners from
//! the one buffer of triangles that the shader also asks about holes.

use std::ops::Range;

use super::bottom::{local_triangles, world_triangles};
use super::casters::Casters;
use crate::gpu::Gpu;
use crate::render::layout::{RAY_OF_MOVER, RAY_OPAQUE, RayTriangle, Transform};
use crate::scene::Hierarchy;

const LABEL: &str = "praxis::render::rays::query";

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

/// A bottom level: a range of the triangles.
struct Part {
    triangles: Range<usize>,
    is_opaque: bool,
}

impl QueryStructures {
    /// Uploads the triangles and builds the bottom levels.
    ///
    /// # Errors
    /// One line on what exceeds the adapter's limits.
    pub fn new(gpu: &Gpu, casters: &Casters, hierarchy: &Hierarchy) -> Result<Self, String> {
        let mut triangles: Vec<RayTriangle> = Vec::new();
        let mut parts = Vec::new();
        let mut part = |more: &mut dyn Iterator<Item = RayTriangle>, is_opaque| {
            let first = triangles.len();
            triangles.extend(more);
            parts.push(Part { triangles: first..triangles.len(), is_opaque });
            parts.len() - 1
        };
        for is_masked in [false, true] {
            let still = casters.list.iter().filter(|caster| !caster.is_moving && caster.is_masked == is_masked);
            part(&mut still.flat_map(|caster| world_triangles(casters, caster)), !is_masked);
        }
        let mut part_of_mesh = vec![usize::MAX; casters.meshes.meshes.len()];
        for caster in casters.list.iter().filter(|caster| caster.is_moving) {
            let part_idx = &mut part_of_mesh[caster.mesh_idx as usize];
            if *part_idx == usize::MAX {
                let same = |other: &&super::Caster| other.is_moving && other.mesh_idx == caster.mesh_idx;
                let is_opaque = casters.list.iter().filter(same).all(|other| !other.is_masked);
                *part_idx = part(&mut local_triangles(casters, caster.mesh_idx), is_opaque);
            }
        }
        let n_static_triangles = parts[1].triangles.end;
        check_limits(gpu, &parts, casters.n_moving() + 2)?;

        use wgpu::BufferUsages as Use;
        let triangle_bytes: &[u8] = bytemuck::cast_slice(&triangles);
        gpu.check_storage_size("the triangles of its rays", triangle_bytes.len() as u64)
            .map_err(|error| error.to_string())?;
        let usage = Use::STORAGE | Use::BLAS_INPUT;
        let triangle_buffer = gpu.factory.buffer_init("ray_triangles", triangle_bytes, usage);
        let bottom = build_bottom_levels(gpu, &parts, &triangle_buffer);

        let mut top = gpu.factory.tlas(&wgpu::CreateTlasDescriptor {
            label: Some(LABEL),
            max_instances: (casters.n_moving() + 2) as u32,
            flags: wgpu::AccelerationStructureFlags::PREFER_FAST_TRACE,
            update_mode: wgpu::AccelerationStructureUpdateMode::Build,
        });
        let mut records: Vec<[u32; 2]> = Vec::new();
        let mut is_mover = vec![false; hierarchy.len()];
        let mut movers = Vec::new();
        let mut add = |part_idx: usize, transform: Transform, mask_instance| {
            let blas = bottom[part_idx].as_ref()?;
            let place = records.len();
            top[place] = Some(wgpu::TlasInstance::new(blas, rows(&transform), place as u32, 0xff));
            records.push([parts[part_idx].triangles.start as u32, mask_instance]);
            Some(place)
        };
        for part_idx in [0, 1] {
            add(part_idx, (&glam::Affine3A::IDENTITY).into(), RAY_OF_MOVER);
        }
        for caster in casters.list.iter().filter(|caster| caster.is_moving) {
            let mask_instance = if caster.is_masked { caster.instance_idx } else { RAY_OPAQUE };
            let part_idx = part_of_mesh[caster.mesh_idx as usize];
            if let Some(place) = add(part_idx, (&caster.world_from_local).into(), mask_instance) {
                movers.push((caster.slot, place));
                is_mover[caster.slot as usize] = true;
            }
        }
        let instances = gpu.factory.buffer_init("ray_instances", bytemuck::cast_slice(&records), Use::STORAGE);
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

fn check_limits(gpu: &Gpu, parts: &[Part], n_instances: usize) -> Result<(), String> {
    let limits = gpu.device.limits();
    let largest = parts.iter().map(|part| part.triangles.len()).max().unwrap_or(0);
    let name = &gpu.info.name;
    if largest > limits.max_blas_primitive_count as usize {
        let most = limits.max_blas_primitive_count;
        return Err(format!(
            "{largest} triangles in one structure, of which adapter \"{name}\" allows {most}; --ray-backend bvh has no such limit"
        ));
    }
    if n_instances > limits.max_tlas_instance_count.min(1 << 24) as usize {
        let most = limits.max_tlas_instance_count;
        return Err(format!(
            "{n_instances} moving instances, of which adapter \"{name}\" allows {most}; --ray-backend bvh has no such limit"
        ));
    }
    Ok(())
}

/// One for each part that has triangles.
fn build_bottom_levels(gpu: &Gpu, parts: &[Part], triangles: &wgpu::Buffer) -> Vec<Option<wgpu::Blas>> {
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
