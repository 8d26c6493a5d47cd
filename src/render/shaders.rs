//! Every shader's text: the entry file last, what it stands on before it, `enable` lines first.
//!
//! Variants that change a type or a binding (the sample count) are chosen by which files are joined; there is no preprocessor.

macro_rules! source {
    ($($file:literal),+) => { concat!($(include_str!($file)),+) };
}

pub const SCATTER: &str = source!("layout.wgsl", "passes/scatter.wgsl");
pub const CULL: &str = source!("layout.wgsl", "passes/cull.wgsl");
pub const LIGHTS: &str = source!("layout.wgsl", "passes/lights.wgsl");
pub const POST: &str = source!("layout.wgsl", "passes/post.wgsl");
pub const SKY: &str = include_str!("passes/sky.wgsl");
/// By whether rays find the sun's shadows.
pub fn translucent(has_rays: bool) -> &'static str {
    macro_rules! joined {
        ($($sun:literal),+) => {
            concat!(
                "enable wgpu_binding_array;\n",
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
    if has_rays {
        joined!("rays/mask_textured.wgsl", "rays/bvh.wgsl", "sun_direct.wgsl")
    } else {
        joined!("sun_unshadowed.wgsl")
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

/// Steps of the sun pass.
#[derive(Clone, Copy, Debug)]
pub enum SunStep {
    Hard,
    Edge,
}

/// By the step, the number of samples, 1 or 4, and whether some of what casts a shadow has holes.
pub fn sun(step: SunStep, n_samples: u32, has_masked: bool) -> &'static str {
    macro_rules! joined {
        ($enable:literal, [$($mask:literal),+], [$($samples:literal),+], $entry:literal) => {
            concat!(
                $enable,
                source!(
                    "layout.wgsl",
                    "scene.wgsl",
                    $($mask,)+
                    "rays/bvh.wgsl",
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
    macro_rules! masked_or_not {
        ($samples:tt, $entry:literal) => {
            if has_masked {
                joined!("enable wgpu_binding_array;\n", ["textures.wgsl", "rays/mask_textured.wgsl"], $samples, $entry)
            } else {
                joined!("", ["rays/mask_none.wgsl"], $samples, $entry)
            }
        };
    }
    match (step, n_samples) {
        (SunStep::Hard, 1) => masked_or_not!(["samples_1.wgsl", "visibility_single.wgsl"], "passes/sun_hard.wgsl"),
        (SunStep::Hard, _) => masked_or_not!(["samples_4.wgsl", "visibility_msaa.wgsl"], "passes/sun_hard.wgsl"),
        (SunStep::Edge, 1) => masked_or_not!(["samples_1.wgsl", "visibility_single.wgsl"], "passes/sun_edge.wgsl"),
        (SunStep::Edge, _) => masked_or_not!(["samples_4.wgsl", "visibility_msaa.wgsl"], "passes/sun_edge.wgsl"),
    }
}

/// Traces rays from a list, for tests; by whether some of what casts a shadow has holes.
#[cfg(test)]
pub fn ray_test(has_masked: bool) -> &'static str {
    if has_masked {
        concat!(
            "enable wgpu_binding_array;\n",
            source!(
                "layout.wgsl",
                "scene.wgsl",
                "textures.wgsl",
                "rays/mask_textured.wgsl",
                "rays/bvh.wgsl",
                "rays/tests.wgsl"
            )
        )
    } else {
        source!("layout.wgsl", "scene.wgsl", "rays/mask_none.wgsl", "rays/bvh.wgsl", "rays/tests.wgsl")
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
            ("translucent", translucent(false)),
            ("translucent with rays", translucent(true)),
        ];
        all.push(("visibility", VISIBILITY));
        for n_samples in [1, 4] {
            all.push(("visibility_masked", visibility_masked(n_samples)));
            for has in [false, true] {
                all.push(("shade", shade(n_samples, has)));
                all.push(("sun hard", sun(SunStep::Hard, n_samples, has)));
                all.push(("sun edge", sun(SunStep::Edge, n_samples, has)));
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
