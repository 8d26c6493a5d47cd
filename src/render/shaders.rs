//! Every shader's text: the entry file last, what it stands on before it, `enable` lines first.
//!
//! Variants that change a type or a binding (the sample count) are chosen by which files are joined; there is no preprocessor.

use super::rays::RayBackend;

macro_rules! source {
    ($($file:literal),+) => { concat!($(include_str!($file)),+) };
}

pub const SCATTER: &str = source!("layout.wgsl", "passes/scatter.wgsl");
pub const CULL: &str = source!("layout.wgsl", "passes/cull.wgsl");
pub const LIGHTS: &str = source!("layout.wgsl", "passes/lights.wgsl");
pub const POST: &str = source!("layout.wgsl", "passes/post.wgsl");
pub const SKY: &str = include_str!("passes/sky.wgsl");
/// By what traces rays, if anything does.
pub fn translucent(rays: Option<RayBackend>) -> &'static str {
    macro_rules! joined {
        ($enable:literal, $($sun:literal),+) => {
            concat!(
                $enable,
                source!(
                    "layout.wgsl",
                    "scene.wgsl",
                    "textures.wgsl",
                    "surface.wgsl",
                    "brdf.wgsl",
                    $($sun,)+
                    "lighting.wgsl",
                    "passes/translucent.wgsl"
                )
            )
        };
    }
    match rays {
        Some(RayBackend::Bvh) => {
            joined!(
                "enable wgpu_binding_array;\n",
                "rays/mask_textured.wgsl",
                "rays/columns.wgsl",
                "rays/bvh.wgsl",
                "rays/sun_disc.wgsl",
                "sun_direct.wgsl"
            )
        }
        Some(RayBackend::Query) => joined!(
            "enable wgpu_ray_query;\nenable wgpu_binding_array;\n",
            "rays/mask_textured.wgsl",
            "rays/query.wgsl",
            "rays/sun_disc.wgsl",
            "sun_direct.wgsl"
        ),
        None => joined!("enable wgpu_binding_array;\n", "sun_unshadowed.wgsl"),
    }
}

pub const VISIBILITY: &str =
    concat!("enable primitive_index;\n", source!("layout.wgsl", "scene.wgsl", "ids.wgsl", "passes/visibility.wgsl"));

/// By the number of samples, 1 or 4.
pub fn visibility_masked(n_samples: u32) -> &'static str {
    macro_rules! joined {
        ($($samples:literal),+) => {
            concat!(
                "enable primitive_index;\nenable wgpu_binding_array;\n",
                source!("layout.wgsl", "scene.wgsl", "textures.wgsl", "ids.wgsl", $($samples,)+ "passes/visibility_masked.wgsl")
            )
        };
    }
    if n_samples == 1 { joined!("samples_1.wgsl") } else { joined!("standard_samples.wgsl", "samples_4.wgsl") }
}

/// By the number of samples, 1 or 4, and whether rays found the sun's shadows.
pub fn shade(n_samples: u32, has_rays: bool) -> &'static str {
    macro_rules! joined {
        ($sun:literal, $($samples:literal),+) => {
            concat!(
                "enable wgpu_binding_array;\n",
                source!(
                    "layout.wgsl",
                    "scene.wgsl",
                    "textures.wgsl",
                    "surface.wgsl",
                    "brdf.wgsl",
                    $sun,
                    "lighting.wgsl",
                    "ids.wgsl",
                    "find_triangle.wgsl",
                    $($samples,)+
                    "passes/shade.wgsl"
                )
            )
        };
    }
    match (n_samples, has_rays) {
        (1, false) => joined!("sun_unshadowed.wgsl", "samples_1.wgsl", "visibility_single.wgsl"),
        (1, true) => joined!("sun_traced.wgsl", "samples_1.wgsl", "visibility_single.wgsl"),
        (_, false) => {
            joined!("sun_unshadowed.wgsl", "standard_samples.wgsl", "samples_4.wgsl", "visibility_msaa.wgsl")
        }
        (_, true) => joined!("sun_traced.wgsl", "standard_samples.wgsl", "samples_4.wgsl", "visibility_msaa.wgsl"),
    }
}

/// By the number of samples, 1 or 4.
pub fn pick(n_samples: u32) -> &'static str {
    if n_samples == 1 {
        source!("layout.wgsl", "scene.wgsl", "ids.wgsl", "visibility_single.wgsl", "passes/pick.wgsl")
    } else {
        source!("layout.wgsl", "scene.wgsl", "ids.wgsl", "visibility_msaa.wgsl", "passes/pick.wgsl")
    }
}

/// Steps of the sun pass.
#[derive(Clone, Copy, Debug)]
pub enum SunStep {
    Hard,
    Edge,
}

/// What a shader that traces rays is put together for.
#[derive(Clone, Copy, Debug)]
pub struct RayVariant {
    pub backend: RayBackend,
    /// Whether some of what casts a shadow has holes.
    pub has_masked: bool,
}

/// By the step, the number of samples, 1 or 4, and the rays.
pub fn sun(step: SunStep, n_samples: u32, rays: RayVariant) -> &'static str {
    macro_rules! joined {
        ($enable:literal, [$($mask:literal),+], [$($backend:literal),+], [$($samples:literal),+], $entry:literal) => {
            concat!(
                $enable,
                source!(
                    "layout.wgsl",
                    "scene.wgsl",
                    $($mask,)+
                    $($backend,)+
                    "rays/sun_disc.wgsl",
                    "ids.wgsl",
                    "find_triangle.wgsl",
                    "standard_samples.wgsl",
                    $($samples,)+
                    "rays/receiver.wgsl",
                    "passes/sun_words.wgsl",
                    $entry
                )
            )
        };
    }
    macro_rules! by_rays {
        ($samples:tt, $entry:literal) => {
            match (rays.backend, rays.has_masked) {
                (RayBackend::Bvh, false) => {
                    joined!("", ["rays/mask_none.wgsl"], ["rays/columns.wgsl", "rays/bvh.wgsl"], $samples, $entry)
                }
                (RayBackend::Bvh, true) => joined!(
                    "enable wgpu_binding_array;\n",
                    ["textures.wgsl", "rays/mask_textured.wgsl"],
                    ["rays/columns.wgsl", "rays/bvh.wgsl"],
                    $samples,
                    $entry
                ),
                (RayBackend::Query, false) => {
                    joined!("enable wgpu_ray_query;\n", ["rays/mask_none.wgsl"], ["rays/query.wgsl"], $samples, $entry)
                }
                (RayBackend::Query, true) => joined!(
                    "enable wgpu_ray_query;\nenable wgpu_binding_array;\n",
                    ["textures.wgsl", "rays/mask_textured.wgsl"],
                    ["rays/query.wgsl"],
                    $samples,
                    $entry
                ),
            }
        };
    }
    match (step, n_samples) {
        (SunStep::Hard, 1) => by_rays!(["samples_1.wgsl", "visibility_single.wgsl"], "passes/sun_hard.wgsl"),
        (SunStep::Hard, _) => by_rays!(["samples_4.wgsl", "visibility_msaa.wgsl"], "passes/sun_hard.wgsl"),
        (SunStep::Edge, 1) => by_rays!(["samples_1.wgsl", "visibility_single.wgsl"], "passes/sun_edge.wgsl"),
        (SunStep::Edge, _) => by_rays!(["samples_4.wgsl", "visibility_msaa.wgsl"], "passes/sun_edge.wgsl"),
    }
}

/// Traces rays from a list, for tests.
#[cfg(test)]
pub fn ray_test(rays: RayVariant) -> &'static str {
    macro_rules! joined {
        ($enable:literal, [$($file:literal),+]) => {
            concat!($enable, source!("layout.wgsl", "scene.wgsl", $($file,)+ "rays/tests/trace.wgsl"))
        };
    }
    match (rays.backend, rays.has_masked) {
        (RayBackend::Bvh, false) => joined!("", ["rays/mask_none.wgsl", "rays/columns.wgsl", "rays/bvh.wgsl"]),
        (RayBackend::Bvh, true) => joined!(
            "enable wgpu_binding_array;\n",
            ["textures.wgsl", "rays/mask_textured.wgsl", "rays/columns.wgsl", "rays/bvh.wgsl"]
        ),
        (RayBackend::Query, false) => joined!("enable wgpu_ray_query;\n", ["rays/mask_none.wgsl", "rays/query.wgsl"]),
        (RayBackend::Query, true) => joined!(
            "enable wgpu_ray_query;\nenable wgpu_binding_array;\n",
            ["textures.wgsl", "rays/mask_textured.wgsl", "rays/query.wgsl"]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shader_is_valid() {
        let mut all = vec![
            ("scatter", SCATTER),
            ("cull", CULL),
            ("lights", LIGHTS),
            ("post", POST),
            ("sky", SKY),
            ("translucent", translucent(None)),
        ];
        all.push(("visibility", VISIBILITY));
        for n_samples in [1, 4] {
            all.push(("visibility_masked", visibility_masked(n_samples)));
            all.push(("pick", pick(n_samples)));
            for has_rays in [false, true] {
                all.push(("shade", shade(n_samples, has_rays)));
            }
        }
        for backend in [RayBackend::Bvh, RayBackend::Query] {
            all.push(("translucent with rays", translucent(Some(backend))));
            for (has_masked, n_samples) in [(false, 1), (false, 4), (true, 1), (true, 4)] {
                let rays = RayVariant { backend, has_masked };
                all.push(("sun hard", sun(SunStep::Hard, n_samples, rays)));
                all.push(("sun edge", sun(SunStep::Edge, n_samples, rays)));
                all.push(("ray test", ray_test(rays)));
            }
        }
        for (name, source) in all {
            validate(name, source);
        }
    }

    fn validate(name: &str, source: &str) {
        let mut frontend = naga::front::wgsl::Frontend::new();
        frontend.set_options(naga::front::wgsl::Options {
            parse_doc_comments: false,
            capabilities: naga::valid::Capabilities::all(),
        });
        let module = frontend.parse(source).unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)));
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)));
    }
}
