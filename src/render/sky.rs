//! The sun's light and the sky that follows from it. The sky is baked on the GPU when a scene is loaded (`passes/sky.wgsl`);
//! the sun's illuminance at the ground is computed here with the same atmosphere.

use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};

use super::shaders;
use crate::gpu::Gpu;
use crate::scene::Sun;

/// Lux on a surface facing the sun above the atmosphere.
const SOLAR_ILLUMINANCE: f32 = 128_000.0;
/// Of the ground below the horizon: dry grass and stone.
const GROUND_ALBEDO: [f32; 3] = [0.22, 0.20, 0.16];
/// The smallest level's faces are a 32nd as wide as the largest one's.
const N_LEVELS: u32 = 6;
const DFG_SIZE: u32 = 64;

/// What lights a scene from all around, on the GPU.
pub struct Environment {
    /// Radiance in nits; level n is filtered for perceptual roughness n / 5.
    pub cube: wgpu::TextureView,
    /// Directional albedo of the specular lobe.
    pub dfg: wgpu::TextureView,
    /// Nine spherical harmonics of irradiance.
    pub irradiance: wgpu::Buffer,
    /// Linear, clamped.
    pub sampler: wgpu::Sampler,
}

/// Lux, linear RGB, on a surface facing the sun at the ground: zero once it has set.
pub fn sun_illuminance(sun: &Sun) -> Vec3 {
    sun_transmittance(sun) * SOLAR_ILLUMINANCE
}

/// Whether nothing of the sun's light reaches the ground: then no ray is traced towards it.
pub fn sun_has_set(sun: &Sun) -> bool {
    sun_illuminance(sun).max_element() <= 0.0
}

/// Stops that a picture is brighter than an incident-light meter makes it: AgX shows middle grey darker than a camera does.
const KEY: f32 = 0.6;

/// EV100 for a picture under this sun and its sky: what an incident-light meter (ISO 2720, C = 250) reads, less [`KEY`].
pub fn metered_ev100(sun: &Sun) -> f32 {
    let direct = sun_illuminance(sun) * sun.direction().y.max(0.0);
    let luminance = direct.dot(Vec3::new(0.2126, 0.7152, 0.0722));
    // The sky adds some 15 klux by day and goes on shining a little after sunset.
    let sky = 15_000.0 * (sun.elevation_deg / 12.0 + 0.5).clamp(0.002, 1.0);
    ((luminance + sky) / 2.5).log2() - KEY
}

/// What the clear-air atmosphere of `sky.wgsl` leaves of the sun's light along its path to the ground.
fn sun_transmittance(sun: &Sun) -> Vec3 {
    const GROUND: f64 = 6360.0;
    const TOP: f64 = 6460.0;
    let mu = f64::from(sun.direction().y);
    let r = GROUND + 0.01;
    let hits_ground = mu < 0.0 && r * r * (mu * mu - 1.0) + GROUND * GROUND >= 0.0;
    if hits_ground {
        return Vec3::ZERO;
    }
    let distance = -r * mu + (r * r * (mu * mu - 1.0) + TOP * TOP).sqrt();
    let mie_scale = f64::from(mie_scale(sun));
    let n_steps = 200;
    let step = distance / f64::from(n_steps);
    let depth: DVec3 = (0..n_steps)
        .map(|i| {
            let t = (f64::from(i) + 0.5) * step;
            let height = ((r * r + t * t + 2.0 * r * mu * t).sqrt() - GROUND).max(0.0);
            let rayleigh = DVec3::new(5.802e-3, 13.558e-3, 33.1e-3) * (-height / 8.0).exp();
            let mie = 4.44e-3 * mie_scale * (-height / 1.2).exp();
            let ozone = DVec3::new(0.650e-3, 1.881e-3, 0.085e-3) * (1.0 - (height - 25.0).abs() / 15.0).max(0.0);
            (rayleigh + DVec3::splat(mie) + ozone) * step
        })
        .sum();
    (-depth).exp().as_vec3()
}

/// Turbidity is the vertical optical depth of air and haze over that of air alone (Linke's definition, at 550 nm): the factor
/// on the reference haze of `sky.wgsl` that brings it about.
fn mie_scale(sun: &Sun) -> f32 {
    const AIR_DEPTH: f32 = 13.558e-3 * 8.0;
    const REFERENCE_HAZE_DEPTH: f32 = 4.44e-3 * 1.2;
    (sun.turbidity - 1.0).max(0.0) * AIR_DEPTH / REFERENCE_HAZE_DEPTH
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Sky {
    sun_direction: [f32; 3],
    mie_scale: f32,
    sun_illuminance: [f32; 3],
    face_size: u32,
    ground_albedo: [f32; 3],
    roughness: f32,
}

/// Bakes the sky of `sun`.
pub fn bake(gpu: &Gpu, sun: &Sun) -> Environment {
    Baker::new(gpu, sun).bake()
}

struct Baker<'a> {
    gpu: &'a Gpu,
    module: wgpu::ShaderModule,
    sampler: wgpu::Sampler,
    sky: Sky,
    face_px: u32,
    encoder: wgpu::CommandEncoder,
    /// By kernel: most run for several levels, and compiling is what takes a software adapter longest.
    pipelines: HashMap<&'static str, wgpu::ComputePipeline>,
}

/// A kernel's target.
enum Target<'a> {
    Texture(&'a wgpu::Texture),
    Level(&'a wgpu::Texture, u32),
    Irradiance(&'a wgpu::Buffer),
}

impl<'a> Baker<'a> {
    fn new(gpu: &'a Gpu, sun: &Sun) -> Self {
        Self {
            gpu,
            module: gpu.factory.shader("praxis::render::sky", shaders::SKY),
            sampler: gpu.factory.sampler(&wgpu::SamplerDescriptor {
                label: Some("praxis::render::sky"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..Default::default()
            }),
            sky: Sky {
                sun_direction: sun.direction().into(),
                mie_scale: mie_scale(sun),
                sun_illuminance: [SOLAR_ILLUMINANCE; 3],
                face_size: sun.sky_px,
                ground_albedo: GROUND_ALBEDO,
                roughness: 0.0,
            },
            face_px: sun.sky_px,
            encoder: gpu
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("praxis::render::sky") }),
            pipelines: HashMap::new(),
        }
    }

    fn bake(mut self) -> Environment {
        let face_px = self.face_px;
        let transmittance = self.texture("transmittance", 256, 64, 1, 1);
        let multiscatter = self.texture("multiscatter", 32, 32, 1, 1);
        let raw = self.texture("raw sky", face_px, face_px, 6, N_LEVELS);
        let cube = self.texture("environment", face_px, face_px, 6, N_LEVELS);
        let dfg = self.texture("dfg", DFG_SIZE, DFG_SIZE, 1, 1);
        let of_sky = self.irradiance_buffer();
        let irradiance = self.irradiance_buffer();
        let (transmittance_view, multiscatter_view) = (plain_view(&transmittance), plain_view(&multiscatter));
        let luts = [(2, view(&transmittance_view)), (3, view(&multiscatter_view))];
        let level = |texture: &wgpu::Texture, level| cube_view(texture, level, 1);

        self.run("directional_albedo", &[], Target::Texture(&dfg), (8, 8, 1));
        self.run("transmittance", &[0], Target::Texture(&transmittance), (32, 8, 1));
        self.run_with("multiscatter", &[0, 1], &luts[..1], Target::Texture(&multiscatter), (4, 4, 1));
        let faces = face_px / 8;
        self.run_with("radiance", &[0, 1], &luts, Target::Level(&raw, 0), (faces, faces, 6));
        let raw_view = level(&raw, 0);
        self.run_with("project", &[1], &[(4, view(&raw_view))], Target::Irradiance(&of_sky), (1, 1, 1));
        let lit = [luts[0].clone(), (4, view(&raw_view)), (5, of_sky.as_entire_binding())];
        self.run_with("ground", &[0, 1], &lit, Target::Level(&cube, 0), (faces, faces, 6));
        self.copy_level_0(&cube, &raw);
        for n in 1..N_LEVELS {
            self.sky.face_size = face_px >> n;
            let size = self.sky.face_size.div_ceil(8);
            let finer = level(&raw, n - 1);
            self.run_with("downsample", &[0, 1], &[(4, view(&finer))], Target::Level(&raw, n), (size, size, 6));
        }
        let coarse = level(&raw, 3);
        self.run_with("project", &[1], &[(4, view(&coarse))], Target::Irradiance(&irradiance), (1, 1, 1));
        let all = cube_view(&raw, 0, N_LEVELS);
        for n in 1..N_LEVELS {
            self.sky.face_size = face_px >> n;
            self.sky.roughness = n as f32 / (N_LEVELS - 1) as f32;
            let size = self.sky.face_size.div_ceil(8);
            self.run_with("prefilter", &[0, 1], &[(4, view(&all))], Target::Level(&cube, n), (size, size, 6));
        }
        self.gpu.queue.submit([self.encoder.finish()]);
        Environment { cube: cube_view(&cube, 0, N_LEVELS), dfg: plain_view(&dfg), irradiance, sampler: self.sampler }
    }

    fn run(&mut self, kernel: &'static str, common: &[u32], target: Target, groups: (u32, u32, u32)) {
        self.run_with(kernel, common, &[], target, groups);
    }

    /// One dispatch. `common`: 0 for the uniform, 1 for the sampler; `inputs`: binding and resource in group 0.
    fn run_with(
        &mut self,
        kernel: &'static str,
        common: &[u32],
        inputs: &[(u32, wgpu::BindingResource)],
        target: Target,
        groups: (u32, u32, u32),
    ) {
        let factory = &self.gpu.factory;
        let module = &self.module;
        let pipeline = self.pipelines.entry(kernel).or_insert_with(|| {
            factory.compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel),
                layout: None,
                module,
                entry_point: Some(kernel),
                compilation_options: Default::default(),
                cache: None,
            })
        });
        let uniform = factory.buffer_init("sky", bytemuck::bytes_of(&self.sky), wgpu::BufferUsages::UNIFORM);
        let mut resources = Vec::new();
        if common.contains(&0) {
            resources.push((0, uniform.as_entire_binding()));
        }
        if common.contains(&1) {
            resources.push((1, wgpu::BindingResource::Sampler(&self.sampler)));
        }
        resources.extend_from_slice(inputs);
        let target_view;
        let output = match target {
            Target::Texture(texture) => {
                target_view = plain_view(texture);
                (0, view(&target_view))
            }
            Target::Level(texture, level) => {
                target_view = texture.create_view(&wgpu::TextureViewDescriptor {
                    dimension: Some(wgpu::TextureViewDimension::D2Array),
                    base_mip_level: level,
                    mip_level_count: Some(1),
                    ..Default::default()
                });
                (1, view(&target_view))
            }
            Target::Irradiance(buffer) => (2, buffer.as_entire_binding()),
        };
        let inputs = (!resources.is_empty())
            .then(|| factory.bind_group_at(kernel, &pipeline.get_bind_group_layout(0), &resources));
        let output = factory.bind_group_at(kernel, &pipeline.get_bind_group_layout(1), &[output]);
        let mut pass = self.encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        if let Some(inputs) = &inputs {
            pass.set_bind_group(0, inputs, &[]);
        }
        pass.set_bind_group(1, &output, &[]);
        pass.dispatch_workgroups(groups.0, groups.1, groups.2);
    }

    fn copy_level_0(&mut self, from: &wgpu::Texture, to: &wgpu::Texture) {
        let size = wgpu::Extent3d { width: self.face_px, height: self.face_px, depth_or_array_layers: 6 };
        self.encoder.copy_texture_to_texture(from.as_image_copy(), to.as_image_copy(), size);
    }

    fn texture(&self, label: &str, width: u32, height: u32, layers: u32, n_levels: u32) -> wgpu::Texture {
        self.gpu.factory.texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: layers },
            mip_level_count: n_levels,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba16Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::STORAGE_BINDING
                | wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })
    }

    fn irradiance_buffer(&self) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        self.gpu.factory.buffer("irradiance_sh", 9 * 16, usage)
    }
}

fn view(view: &wgpu::TextureView) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::TextureView(view)
}

fn plain_view(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn cube_view(texture: &wgpu::Texture, first_level: u32, n_levels: u32) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::Cube),
        base_mip_level: first_level,
        mip_level_count: Some(n_levels),
        ..Default::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sun(elevation_deg: f32, turbidity: f32) -> Sun {
        Sun { elevation_deg, azimuth_deg: 180.0, turbidity, ..Sun::default() }
    }

    #[test]
    fn sunlight_is_as_bright_as_measured_outdoors() {
        // Clear sky, high sun: 90 to 115 klux on a surface facing it (CIE clear sky tables).
        let noon = sun_illuminance(&sun(70.0, 2.5)).dot(Vec3::new(0.2126, 0.7152, 0.0722));
        assert!((90_000.0..115_000.0).contains(&noon), "{noon} lux");
    }

    #[test]
    fn a_low_sun_is_redder_and_dimmer_and_a_set_sun_gives_nothing() {
        let (high, low) = (sun_illuminance(&sun(60.0, 2.5)), sun_illuminance(&sun(5.0, 2.5)));
        assert!(low.y < 0.5 * high.y && low.x / low.z > 3.0 * high.x / high.z, "{high} {low}");
        assert_eq!(sun_illuminance(&sun(-5.0, 2.5)), Vec3::ZERO);
    }

    #[test]
    fn haze_takes_light_away() {
        assert!(sun_illuminance(&sun(30.0, 6.0)).y < 0.8 * sun_illuminance(&sun(30.0, 1.0)).y);
    }

    #[test]
    fn the_meter_reads_about_fifteen_stops_at_noon() {
        assert!((14.0..15.5).contains(&metered_ev100(&sun(60.0, 2.5))));
        assert!(metered_ev100(&sun(-20.0, 2.5)) < 7.0);
    }
}
