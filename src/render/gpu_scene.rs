//! The scene as the GPU holds it: persistent buffers, filled once when a scene is loaded. After that only transforms change.

use bevy_ecs::prelude::World;

use super::layout::{self, CLUSTERS, GROUP_SIZE, N_LODS};
use super::meshes::{PackedMeshes, pack_meshes};
use super::rays::{Caster, Casters};
use super::textures::SceneTextures;
use crate::gpu::{Gpu, GpuError};
use crate::scene::assets::{AlphaMode, Assets, Material, TextureRef};
use crate::scene::motion::Motion;
use crate::scene::{DirectionalLight, Hierarchy, MeshInstance, NO_PARENT, PointLight, Slot, SpotLight};

/// Instances that one pipeline state can draw: which shader, which faces are culled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BucketKind {
    /// Needs the alpha test.
    pub is_masked: bool,
    /// Which triangles count as facing away.
    pub faces: Faces,
}

/// See [`BucketKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Faces {
    /// Counter-clockwise is the front; back faces are culled.
    Culled,
    /// As `Culled`, for transforms that mirror.
    CulledMirrored,
    /// Both sides are drawn.
    Both,
}

/// Every bucket, in drawing order: what is opaque first, since it hides the rest.
pub const BUCKETS: [BucketKind; 6] = {
    const fn kind(is_masked: bool, faces: Faces) -> BucketKind {
        BucketKind { is_masked, faces }
    }
    [
        kind(false, Faces::Culled),
        kind(false, Faces::CulledMirrored),
        kind(false, Faces::Both),
        kind(true, Faces::Culled),
        kind(true, Faces::CulledMirrored),
        kind(true, Faces::Both),
    ]
};
/// The blended instances' index behind the others, in the arrays of buckets and of draw counts.
pub const TRANSLUCENT_BUCKET: u32 = BUCKETS.len() as u32;

/// Blended instances are sorted by counting, each against each other, in one workgroup: beyond this many a driver might take the
/// GPU for hung.
const MOST_TRANSLUCENT: u32 = 16_384;

/// A bucket's draw commands.
#[derive(Clone, Copy, Debug)]
pub struct CommandRange {
    pub first_command: u32,
    pub n_commands: u32,
}

/// How many of what.
#[derive(Clone, Copy, Debug, Default)]
pub struct SceneCounts {
    pub n_transforms: u32,
    pub n_instances: u32,
    pub n_translucent: u32,
    pub n_groups: u32,
    pub n_lights: u32,
    pub n_triangles: u64,
}

/// See the module.
pub struct GpuScene {
    pub counts: SceneCounts,
    /// One per entry of [`BUCKETS`], then the translucent one.
    pub commands_of: Vec<CommandRange>,
    /// Where a slot's transform lies, or `u32::MAX` for slots that neither draw nor shine.
    pub transform_of_slot: Vec<u32>,
    /// A block of `triangle_blocks` covers 1 << this many triangle numbers.
    pub triangle_block_bits: u32,
    pub textures: SceneTextures,
    pub buffers: SceneBuffers,
}

/// Persistent buffers, named as in the shaders.
pub struct SceneBuffers {
    pub frame: wgpu::Buffer,
    pub moved: wgpu::Buffer,
    pub transforms: wgpu::Buffer,
    pub instances: wgpu::Buffer,
    pub meshes: wgpu::Buffer,
    pub materials: wgpu::Buffer,
    pub indices: wgpu::Buffer,
    pub positions: wgpu::Buffer,
    pub attributes: wgpu::Buffer,
    pub groups: wgpu::Buffer,
    pub buckets: wgpu::Buffer,
    pub visible: wgpu::Buffer,
    pub sparse_commands: wgpu::Buffer,
    pub commands: wgpu::Buffer,
    pub n_commands: wgpu::Buffer,
    pub translucent_depths: wgpu::Buffer,
    pub group_depths: wgpu::Buffer,
    pub group_order: wgpu::Buffer,
    pub lights: wgpu::Buffer,
    pub placed_lights: wgpu::Buffer,
    pub cluster_lights: wgpu::Buffer,
    pub triangle_blocks: wgpu::Buffer,
}

impl GpuScene {
    /// As [`Self::with_casters`], for tests that cast no shadows.
    #[cfg(test)]
    pub fn new(gpu: &Gpu, world: &mut World, assets: &Assets) -> Result<Self, GpuError> {
        Self::with_casters(gpu, world, assets).map(|(gpu_scene, _)| gpu_scene)
    }

    /// Extracts everything that draws from `world` and uploads it; gives back what casts shadows.
    pub fn with_casters(gpu: &Gpu, world: &mut World, assets: &Assets) -> Result<(Self, Casters), GpuError> {
        let moved_by = movers_of_slots(world);
        let meshes = pack_meshes(&assets.meshes);
        let drawn = sorted_instances(world, assets);
        let found_lights = sorted_lights(world);
        let mut transforms = Transforms::new(world.resource::<Hierarchy>());
        let (groups, commands_of) = draw_groups(&drawn, &meshes);
        let mut instances: Vec<_> = drawn.iter().map(|drawn| drawn.to_gpu(&mut transforms)).collect();
        let triangle_blocks = number_triangles(gpu, &mut instances, &meshes)?;
        let lights: Vec<_> = found_lights
            .into_iter()
            .map(|(slot, light)| layout::Light { transform_idx: transforms.of(slot), ..light })
            .collect();
        let materials: Vec<_> = assets.materials.iter().map(material).collect();

        let n_translucent = drawn.iter().filter(|drawn| drawn.bucket == TRANSLUCENT_BUCKET).count() as u32;
        if n_translucent > MOST_TRANSLUCENT {
            return Err(GpuError::Limit {
                what: "its blended geometry",
                needed: n_translucent.into(),
                limit: MOST_TRANSLUCENT.into(),
                unit: "instances",
                adapter: gpu.info.name.clone(),
            });
        }
        let counts = SceneCounts {
            n_transforms: transforms.packed.len() as u32,
            n_instances: instances.len() as u32,
            n_translucent,
            n_groups: groups.len() as u32,
            n_lights: lights.len() as u32,
            n_triangles: instances.iter().map(|i| u64::from(meshes.meshes[i.mesh_idx as usize].n_indices[0] / 3)).sum(),
        };
        let data = SceneData {
            meshes: &meshes,
            groups: &groups,
            instances: &instances,
            lights: &lights,
            materials: &materials,
            triangle_blocks: &triangle_blocks.first_instances,
        };
        let buffers = SceneBuffers::new(gpu, &counts, &commands_of, &transforms.packed, &data)?;
        let textures = SceneTextures::new(gpu, assets)?;
        let list = casters(&drawn, transforms.hierarchy, &moved_by);
        let gpu_scene = Self {
            counts,
            commands_of,
            transform_of_slot: transforms.of_slot,
            triangle_block_bits: triangle_blocks.bits,
            textures,
            buffers,
        };
        Ok((gpu_scene, Casters { list, meshes }))
    }

    /// Words of light bits per cluster.
    pub fn n_light_words(&self) -> u32 {
        self.counts.n_lights.div_ceil(32)
    }

    /// Index of the first blended instance.
    pub fn first_translucent(&self) -> u32 {
        self.counts.n_instances - self.counts.n_translucent
    }
}

/// Gives a place to each slot that draws or shines, in the order of asking.
struct Transforms<'a> {
    hierarchy: &'a Hierarchy,
    of_slot: Vec<u32>,
    packed: Vec<layout::Transform>,
}

impl<'a> Transforms<'a> {
    fn new(hierarchy: &'a Hierarchy) -> Self {
        Self { hierarchy, of_slot: vec![u32::MAX; hierarchy.len()], packed: Vec::new() }
    }

    fn of(&mut self, slot: Slot) -> u32 {
        let place = &mut self.of_slot[slot.0 as usize];
        if *place == u32::MAX {
            *place = self.packed.len() as u32;
            self.packed.push(self.hierarchy.world(slot.0).into());
        }
        *place
    }
}

/// An instance and where it is drawn.
struct Drawn {
    bucket: u32,
    slot: Slot,
    instance: MeshInstance,
}

impl Drawn {
    fn to_gpu(&self, transforms: &mut Transforms) -> layout::Instance {
        let channel = |x: f32| (x * 127.0).round().clamp(0.0, 255.0) as u32;
        let [r, g, b] = self.instance.tint.map(channel);
        layout::Instance {
            transform_idx: transforms.of(self.slot),
            mesh_idx: self.instance.mesh.0,
            material_idx: self.instance.material.0,
            tint: r | g << 8 | b << 16,
            first_triangle: 0,
        }
    }
}

/// Instances by bucket, mesh and slot: the order in which they are stored, the same in each run.
fn sorted_instances(world: &mut World, assets: &Assets) -> Vec<Drawn> {
    let mut found = world.query::<(&Slot, &MeshInstance)>();
    let hierarchy = world.resource::<Hierarchy>();
    let mut drawn: Vec<_> = found
        .iter(world)
        .map(|(&slot, &instance)| {
            let material = &assets.materials[instance.material.0 as usize];
            let is_mirrored = hierarchy.world(slot.0).matrix3.determinant() < 0.0;
            Drawn { bucket: bucket_of(material, is_mirrored), slot, instance }
        })
        .collect();
    drawn.sort_by_key(|drawn| (drawn.bucket, drawn.instance.mesh, drawn.slot, drawn.instance.material));
    drawn
}

/// For each slot the one whose motion moves it: itself if it has one, else the nearest above that has.
fn movers_of_slots(world: &mut World) -> Vec<Option<u32>> {
    let mut moved_by = vec![None; world.resource::<Hierarchy>().len()];
    for (slot, _) in world.query::<(&Slot, &Motion)>().iter(world) {
        moved_by[slot.0 as usize] = Some(slot.0);
    }
    let hierarchy = world.resource::<Hierarchy>();
    // Parents stand before their children.
    for slot in 0..moved_by.len() {
        let parent = hierarchy.parent(slot as u32);
        if moved_by[slot].is_none() && parent != NO_PARENT {
            moved_by[slot] = moved_by[parent as usize];
        }
    }
    moved_by
}

/// What is not blended casts a shadow.
fn casters(drawn: &[Drawn], hierarchy: &Hierarchy, moved_by: &[Option<u32>]) -> Vec<Caster> {
    let solid = drawn.iter().filter(|drawn| drawn.bucket != TRANSLUCENT_BUCKET);
    solid
        .map(|drawn| Caster {
            slot: drawn.slot.0,
            mesh_idx: drawn.instance.mesh.0,
            mask_material: match BUCKETS[drawn.bucket as usize].is_masked {
                true => drawn.instance.material.0,
                false => layout::RAY_OPAQUE,
            },
            world_from_local: *hierarchy.world(drawn.slot.0),
            moved_by: moved_by[drawn.slot.0 as usize],
        })
        .collect()
}

fn bucket_of(material: &Material, is_mirrored: bool) -> u32 {
    let is_masked = match material.alpha_mode {
        AlphaMode::Blend => return TRANSLUCENT_BUCKET,
        AlphaMode::Mask { .. } => true,
        AlphaMode::Opaque => false,
    };
    let faces = match (material.is_double_sided, is_mirrored) {
        (true, _) => Faces::Both,
        (false, true) => Faces::CulledMirrored,
        (false, false) => Faces::Culled,
    };
    let kind = BucketKind { is_masked, faces };
    BUCKETS.iter().position(|&bucket| bucket == kind).unwrap_or_default() as u32
}

/// Runs of one mesh in one bucket, at most [`GROUP_SIZE`] long, and each bucket's range of commands.
fn draw_groups(drawn: &[Drawn], meshes: &PackedMeshes) -> (Vec<layout::DrawGroup>, Vec<CommandRange>) {
    let mut groups = Vec::new();
    let mut commands_of = Vec::new();
    let mut n_commands = 0;
    let mut first = 0;
    for bucket in 0..TRANSLUCENT_BUCKET {
        let first_command = n_commands;
        while first < drawn.len() && drawn[first].bucket == bucket {
            let mesh = drawn[first].instance.mesh;
            let n = drawn[first..]
                .iter()
                .take(GROUP_SIZE as usize)
                .take_while(|next| next.bucket == bucket && next.instance.mesh == mesh)
                .count();
            if meshes.meshes[mesh.0 as usize].n_indices[0] > 0 {
                groups.push(layout::DrawGroup {
                    first_instance: first as u32,
                    n_instances: n as u32,
                    mesh_idx: mesh.0,
                    first_command: n_commands,
                });
                n_commands += N_LODS as u32;
            }
            first += n;
        }
        commands_of.push(CommandRange { first_command, n_commands: n_commands - first_command });
    }
    commands_of.push(CommandRange { first_command: n_commands, n_commands: (drawn.len() - first) as u32 });
    (groups, commands_of)
}

/// For each block of triangle numbers, the instance that its first one belongs to; one more for the end of the last block.
struct TriangleBlocks {
    bits: u32,
    first_instances: Vec<u32>,
}

/// Numbers the triangles of all levels of all instances, in the instances' order.
fn number_triangles(
    gpu: &Gpu,
    instances: &mut [layout::Instance],
    meshes: &PackedMeshes,
) -> Result<TriangleBlocks, GpuError> {
    const MOST_BLOCKS: u64 = 1 << 16;
    let mut n_triangles = 0u64;
    for instance in instances.iter_mut() {
        instance.first_triangle = n_triangles as u32; // Checked below.
        n_triangles += u64::from(meshes.meshes[instance.mesh_idx as usize].n_indices.iter().sum::<u32>() / 3);
    }
    if n_triangles > u64::from(u32::MAX) {
        return Err(GpuError::Limit {
            what: "its instances, all levels of detail counted",
            needed: n_triangles,
            limit: u32::MAX.into(),
            unit: "triangles",
            adapter: gpu.info.name.clone(),
        });
    }
    let bits = (0..32).find(|&bits| n_triangles >> bits < MOST_BLOCKS).unwrap_or(32);
    let n_blocks = (n_triangles >> bits) as u32 + 2;
    let first_instances = (0..n_blocks)
        .map(|block| {
            let first = u64::from(block) << bits;
            let n_before = instances.partition_point(|instance| u64::from(instance.first_triangle) <= first);
            n_before.saturating_sub(1) as u32
        })
        .collect();
    Ok(TriangleBlocks { bits, first_instances })
}

/// Lights by kind and slot; their transforms are filled in later.
fn sorted_lights(world: &mut World) -> Vec<(Slot, layout::Light)> {
    let mut found: Vec<(Slot, layout::Light)> = Vec::new();
    let light = |color: [f32; 3], intensity: f32, range: f32, kind: u32| layout::Light {
        color: color.map(|c| c * intensity),
        range: range.clamp(1e-3, 1e6),
        transform_idx: 0,
        kind,
        angle_scale: 0.0,
        angle_offset: 1.0,
    };
    for (&slot, point) in world.query::<(&Slot, &PointLight)>().iter(world) {
        found.push((slot, light(point.color, point.intensity_cd, point.range, layout::LIGHT_POINT)));
    }
    for (&slot, spot) in world.query::<(&Slot, &SpotLight)>().iter(world) {
        // KHR_lights_punctual: linear in the cosine between the two angles.
        let (inner, outer) = (spot.inner_angle.cos(), spot.outer_angle.cos());
        let angle_scale = 1.0 / (inner - outer).max(1e-3);
        let plain = light(spot.color, spot.intensity_cd, spot.range, layout::LIGHT_SPOT);
        found.push((slot, layout::Light { angle_scale, angle_offset: -outer * angle_scale, ..plain }));
    }
    for (&slot, sun) in world.query::<(&Slot, &DirectionalLight)>().iter(world) {
        found.push((slot, light(sun.color, sun.illuminance_lux, 1e6, layout::LIGHT_DIRECTIONAL)));
    }
    found.sort_by_key(|(slot, light)| (light.kind, *slot));
    found
}

fn material(material: &Material) -> layout::Material {
    let (mask_flag, alpha_cutoff) = match material.alpha_mode {
        AlphaMode::Mask { cutoff } => (layout::FLAG_MASKED, cutoff),
        _ => (0, 0.0),
    };
    let flag = |condition, flag| if condition { flag } else { 0 };
    layout::Material {
        base_color: material.base_color,
        emissive: material.emissive,
        alpha_cutoff,
        metallic: material.metallic,
        roughness: material.roughness,
        normal_scale: material.normal_scale,
        occlusion_strength: material.occlusion_strength,
        flags: mask_flag
            | flag(material.is_double_sided, layout::FLAG_DOUBLE_SIDED)
            | flag(material.is_unlit, layout::FLAG_UNLIT),
        _pad: [0; 3],
        textures: [
            texture_use(&material.base_color_texture),
            texture_use(&material.metallic_roughness_texture),
            texture_use(&material.normal_texture),
            texture_use(&material.occlusion_texture),
            texture_use(&material.emissive_texture),
        ],
    }
}

fn texture_use(texture: &Option<TextureRef>) -> layout::TextureUse {
    let Some(texture) = texture else {
        return layout::TextureUse {
            uv_from_mesh: [1.0, 0.0, 0.0, 1.0],
            uv_offset: [0.0; 2],
            image_idx: layout::NO_TEXTURE,
            sampler_and_set: 0,
        };
    };
    let m = texture.uv_transform.matrix2;
    layout::TextureUse {
        uv_from_mesh: [m.x_axis.x, m.y_axis.x, m.x_axis.y, m.y_axis.y],
        uv_offset: texture.uv_transform.translation.into(),
        image_idx: texture.image.0,
        sampler_and_set: texture.sampler.0 | texture.uv_set.min(1) << 16,
    }
}

/// What goes into the buffers as it is.
struct SceneData<'a> {
    meshes: &'a PackedMeshes,
    groups: &'a [layout::DrawGroup],
    instances: &'a [layout::Instance],
    lights: &'a [layout::Light],
    materials: &'a [layout::Material],
    triangle_blocks: &'a [u32],
}

impl SceneBuffers {
    fn new(
        gpu: &Gpu,
        counts: &SceneCounts,
        commands_of: &[CommandRange],
        transforms: &[layout::Transform],
        data: &SceneData,
    ) -> Result<Self, GpuError> {
        use wgpu::BufferUsages as Use;
        let empty = |label, what, n: u64, size: usize, usage| {
            // A binding holds at least one element, even where the scene has none.
            let bytes = n.max(1) * size as u64;
            gpu.check_storage_size(what, bytes)?;
            Ok::<_, GpuError>(gpu.factory.buffer(label, bytes, usage | Use::STORAGE | Use::COPY_SRC))
        };
        let n_commands: u64 = commands_of.iter().map(|range| u64::from(range.n_commands)).sum();
        let n_visible =
            N_LODS as u64 * u64::from(counts.n_instances - counts.n_translucent) + u64::from(counts.n_translucent);
        let n_clusters: u64 = CLUSTERS.iter().map(|&n| u64::from(n)).product();
        let n_light_words = u64::from(counts.n_lights.div_ceil(32));
        let buckets: Vec<_> = commands_of
            .iter()
            .map(|range| layout::Bucket { first_command: range.first_command, n_commands: range.n_commands })
            .collect();
        let command_size = size_of::<layout::DrawCommand>();
        Ok(Self {
            frame: gpu.factory.buffer("frame", size_of::<layout::Frame>() as u64, Use::UNIFORM | Use::COPY_DST),
            moved: empty(
                "moved",
                "its moved list",
                counts.n_transforms.into(),
                size_of::<layout::MovedTransform>(),
                Use::COPY_DST,
            )?,
            transforms: filled(gpu, "transforms", "its transforms", transforms, Use::COPY_DST)?,
            instances: filled(gpu, "instances", "its instances", data.instances, Use::empty())?,
            meshes: filled(gpu, "meshes", "its meshes", &data.meshes.meshes, Use::empty())?,
            materials: filled(gpu, "materials", "its materials", data.materials, Use::empty())?,
            indices: filled(gpu, "indices", "its indices", &data.meshes.indices, Use::INDEX)?,
            positions: filled(gpu, "positions", "its vertex positions", &data.meshes.positions, Use::VERTEX)?,
            attributes: filled(gpu, "attributes", "its vertex attributes", &data.meshes.attributes, Use::empty())?,
            groups: filled(gpu, "groups", "its draw groups", data.groups, Use::empty())?,
            buckets: filled(gpu, "buckets", "its buckets", &buckets, Use::empty())?,
            visible: empty("visible", "its visible list", n_visible, 4, Use::empty())?,
            sparse_commands: empty("sparse_commands", "its draw commands", n_commands, command_size, Use::empty())?,
            commands: empty("commands", "its draw commands", n_commands, command_size, Use::INDIRECT)?,
            n_commands: empty("n_commands", "its draw counts", buckets.len() as u64, 4, Use::INDIRECT)?,
            translucent_depths: empty(
                "translucent_depths",
                "its blended instances",
                counts.n_translucent.into(),
                4,
                Use::empty(),
            )?,
            group_depths: empty("group_depths", "its draw groups", counts.n_groups.into(), 4, Use::empty())?,
            group_order: empty("group_order", "its draw groups", counts.n_groups.into(), 4, Use::empty())?,
            lights: filled(gpu, "lights", "its lights", data.lights, Use::empty())?,
            placed_lights: empty(
                "placed_lights",
                "its lights",
                counts.n_lights.into(),
                size_of::<layout::PlacedLight>(),
                Use::empty(),
            )?,
            cluster_lights: empty("cluster_lights", "its light clusters", n_clusters * n_light_words, 4, Use::empty())?,
            triangle_blocks: filled(gpu, "triangle_blocks", "its triangle table", data.triangle_blocks, Use::empty())?,
        })
    }
}

/// A buffer with these elements, or with one zero where there are none: a binding holds at least one.
fn filled<T: bytemuck::Pod>(
    gpu: &Gpu,
    label: &'static str,
    what: &'static str,
    elements: &[T],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, GpuError> {
    let zero = [T::zeroed()];
    let bytes: &[u8] = bytemuck::cast_slice(if elements.is_empty() { &zero } else { elements });
    gpu.check_storage_size(what, bytes.len() as u64)?;
    let usage = usage | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    Ok(gpu.factory.buffer_init(label, bytes, usage))
}
