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
pub const TRANSLUCENT: &str = concat!(
    "enable wgpu_binding_array;\n",
    source!(
        "layout.wgsl",
        "scene.wgsl",
        "textures.wgsl",
        "surface.wgsl",
        "brdf.wgsl",
        "sun.wgsl",
        "lighting.wgsl",
        "passes/translucent.wgsl"
    )
);

pub const VISIBILITY: &str =
    concat!("enable primitive_index;\n", source!("layout.wgsl", "scene.wgsl", "ids.wgsl", "passes/visibility.wgsl"));

/// By the number of samples, 1 or 4.
pub fn visibility_masked(n_samples: u32) -> &'static str {
    macro_rules! joined {
        ($samples:literal) => {
            concat!(
                "enable primitive_index;\nenable wgpu_binding_array;\n",
                source!(
                    "layout.wgsl",
                    "scene.wgsl",
                    "textures.wgsl",
                    "ids.wgsl",
                    $samples,
                    "passes/visibility_masked.wgsl"
                )
            )
        };
    }
    if n_samples == 1 { joined!("samples_1.wgsl") } else { joined!("samples_4.wgsl") }
}

/// By the number of samples, 1 or 4.
pub fn shade(n_samples: u32) -> &'static str {
    macro_rules! joined {
        ($samples:literal, $visibility:literal) => {
            concat!(
                "enable wgpu_binding_array;\n",
                source!(
                    "layout.wgsl",
                    "scene.wgsl",
                    "textures.wgsl",
                    "surface.wgsl",
                    "brdf.wgsl",
                    "sun.wgsl",
                    "lighting.wgsl",
                    "ids.wgsl",
                    "find_triangle.wgsl",
                    $samples,
                    $visibility,
                    "passes/shade.wgsl"
                )
            )
        };
    }
    if n_samples == 1 {
        joined!("samples_1.wgsl", "visibility_single.wgsl")
    } else {
        joined!("samples_4.wgsl", "visibility_msaa.wgsl")
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
            ("translucent", TRANSLUCENT),
        ];
        all.push(("visibility", VISIBILITY));
        for n_samples in [1, 4] {
            all.push(("visibility_masked", visibility_masked(n_samples)));
            all.push(("shade", shade(n_samples)));
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
