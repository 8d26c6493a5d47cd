//! Every shader's text: the entry file last, what it stands on before it, `enable` lines first.
//!
//! Variants that change a type or a binding (sample count, format of the visibility target) are chosen by which files are
//! joined; there is no preprocessor.

/// Which files a sample count and a visibility format call for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// 1 or 4.
    pub n_samples: u32,
    /// Rg32Uint (or, where it can't be multisampled, Rgba16Uint).
    pub has_wide_ids: bool,
}

macro_rules! source {
    ($($file:literal),+) => { concat!($(include_str!($file)),+) };
}

/// Expands to the four variants of a shader; `$make` joins the files that differ with those that don't.
macro_rules! by_variant {
    ($variant:expr, $make:ident) => {
        match ($variant.n_samples, $variant.has_wide_ids) {
            (1, true) => $make!("samples_1.wgsl", "ids_rg32.wgsl", "visibility_single.wgsl"),
            (1, false) => $make!("samples_1.wgsl", "ids_rgba16.wgsl", "visibility_single.wgsl"),
            (_, true) => $make!("samples_4.wgsl", "ids_rg32.wgsl", "visibility_msaa.wgsl"),
            (_, false) => $make!("samples_4.wgsl", "ids_rgba16.wgsl", "visibility_msaa.wgsl"),
        }
    };
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

pub fn visibility(variant: Variant) -> &'static str {
    macro_rules! make {
        ($samples:literal, $ids:literal, $load:literal) => {
            concat!("enable primitive_index;\n", source!("layout.wgsl", "scene.wgsl", $ids, "passes/visibility.wgsl"))
        };
    }
    by_variant!(variant, make)
}

pub fn visibility_masked(variant: Variant) -> &'static str {
    macro_rules! make {
        ($samples:literal, $ids:literal, $load:literal) => {
            concat!(
                "enable primitive_index;\nenable wgpu_binding_array;\n",
                source!("layout.wgsl", "scene.wgsl", "textures.wgsl", $samples, $ids, "passes/visibility_masked.wgsl")
            )
        };
    }
    by_variant!(variant, make)
}

pub fn shade(variant: Variant) -> &'static str {
    macro_rules! make {
        ($samples:literal, $ids:literal, $load:literal) => {
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
                    $samples,
                    $ids,
                    $load,
                    "passes/shade.wgsl"
                )
            )
        };
    }
    by_variant!(variant, make)
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
        for n_samples in [1, 4] {
            for has_wide_ids in [true, false] {
                let variant = Variant { n_samples, has_wide_ids };
                all.push(("visibility", visibility(variant)));
                all.push(("visibility_masked", visibility_masked(variant)));
                all.push(("shade", shade(variant)));
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
