//! Lists of rays, traced by the shaders' own function.

use super::*;
use crate::gpu::read_buffer;
use crate::render::bindings::{SceneBindings, compute_pipeline};
use crate::render::gpu_scene::GpuScene;
use crate::render::{shaders, sky};

#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct TestRay {
    pub origin: [f32; 3],
    pub t_max: f32,
    pub direction: [f32; 3],
    pub _pad: f32,
}

/// Traces lists of rays with the shaders' own function.
pub struct Tracer {
    pub gpu: Gpu,
    gpu_scene: GpuScene,
    bindings: SceneBindings,
    pub casters: Casters,
    pub rays: Rays,
    /// Whether rays go towards the sun without end: then the pipeline is the one that pictures are drawn with.
    pub is_towards_sun: bool,
    pub uses_column_map: bool,
}

/// What became of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    pub is_blocked: bool,
    /// As `foresee_ray` says.
    pub foreseen: u32,
}

/// First rays, by this backend.
pub fn options(backend: RayBackend) -> RayOptions {
    RayOptions { mode: RayMode::Hard, backend, wants_column_map: true }
}

impl Tracer {
    pub fn new(scene: &mut Scene) -> Self {
        Self::with_backend(scene, RayBackend::Bvh)
    }

    pub fn with_backend(scene: &mut Scene, backend: RayBackend) -> Self {
        Self::on(gpu(), scene, backend)
    }

    pub fn on(gpu: Gpu, scene: &mut Scene, backend: RayBackend) -> Self {
        let (gpu_scene, casters) = GpuScene::with_casters(&gpu, &mut scene.world, &scene.assets).expect("fits");
        let environment = sky::bake(&gpu, &scene.sun());
        let bindings = SceneBindings::new(&gpu, &gpu_scene, &environment);
        let rays = Rays::new(&gpu, &casters, scene.hierarchy(), &scene.sun(), options(backend)).expect("fits");
        Self { gpu, gpu_scene, bindings, casters, rays, is_towards_sun: false, uses_column_map: true }
    }

    /// Whether each ray is blocked.
    pub fn trace(&mut self, scene: &Scene, test_rays: &[TestRay]) -> Vec<bool> {
        self.trace_and_foresee(scene, test_rays).into_iter().map(|traced| traced.is_blocked).collect()
    }

    pub fn trace_and_foresee(&mut self, scene: &Scene, test_rays: &[TestRay]) -> Vec<Traced> {
        let mut frame = Frame { sun_direction: scene.sun().direction().into(), ..Frame::default() };
        self.rays.prepare(scene.hierarchy(), &mut frame);
        let queue = &self.gpu.queue;
        queue.write_buffer(&self.gpu_scene.buffers.frame, 0, bytemuck::bytes_of(&frame));
        if let Structures::Bvh(bvh) = &self.rays.structures {
            queue.write_buffer(&bvh.nodes, 0, bvh.top.node_bytes());
            queue.write_buffer(&bvh.instances, 0, bvh.top.instance_bytes());
            queue.write_buffer(&bvh.mover_map, 0, bvh.top.map_bytes());
        }

        use wgpu::BufferUsages as Use;
        let factory = &self.gpu.factory;
        let list = factory.buffer_init("rays", bytemuck::cast_slice(test_rays), Use::STORAGE);
        let found = factory.buffer("found", 4 * test_rays.len() as u64, Use::STORAGE | Use::COPY_SRC);
        let list_layout = layout(&self.gpu, "rays", wgpu::ShaderStages::COMPUTE, &[Kind::Read, Kind::ReadWrite]);
        let group = factory.bind_group("rays", &list_layout, &[&list, &found].map(wgpu::Buffer::as_entire_binding));
        let module = factory.shader("rays", shaders::ray_test(self.rays.variant()));
        let mut constants = if self.is_towards_sun { self.rays.constants().to_vec() } else { Vec::new() };
        if !self.uses_column_map {
            constants.retain(|&(name, _)| name != "HAS_COLUMNS");
        }
        let textures = self.rays.has_masked.then_some(&self.bindings.textures_layout);
        let groups = [textures, Some(&self.bindings.scene_layout), Some(&list_layout), Some(&self.rays.layout)];
        let pipeline = compute_pipeline(&self.gpu, &module, "trace", &groups, &constants);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        if let Structures::Query(query) = &mut self.rays.structures {
            query.record_build(&mut encoder);
        }
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            if self.rays.has_masked {
                pass.set_bind_group(0, &self.bindings.textures, &[]);
            }
            pass.set_bind_group(1, &self.bindings.scene, &[]);
            pass.set_bind_group(2, &group, &[]);
            pass.set_bind_group(3, &self.rays.group, &[]);
            pass.dispatch_workgroups((test_rays.len() as u32).div_ceil(64), 1, 1);
        }
        self.gpu.queue.submit([encoder.finish()]);
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&read_buffer(&self.gpu, &found).expect("a result"));
        self.gpu.check_errors().expect("no validation error");
        let traced = |&word: &u32| Traced { is_blocked: word & 1 == 1, foreseen: word >> 1 };
        words[..test_rays.len()].iter().map(traced).collect()
    }
}
