//! The town's materials: which textures, which factors.

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Material {
    /// What meshes call it.
    pub name: &'static str,
    /// The texture set, card or single image; empty for none.
    pub texture: Texture,
    /// Linear RGB factor on the base colour.
    pub color: [f32; 3],
    /// Metres that one repeat of the texture covers.
    pub tile_m: f32,
    /// Factor on roughness.
    pub roughness: f32,
    /// Factor on metallic.
    pub metallic: f32,
    /// Nits.
    pub emissive: [f32; 3],
    /// Drawn from both sides.
    pub is_double_sided: bool,
    /// The texture has a grain along u: boxes turn it along their longest side.
    pub has_grain: bool,
}

/// What a material samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texture {
    /// Factors only.
    None,
    /// NAME_base.jpg, NAME_normal.jpg, NAME_orm.jpg.
    Set(&'static str),
    /// NAME.png with an alpha mask.
    Card(&'static str),
    /// NAME.jpg, base colour only.
    Image(&'static str),
}

const fn set(name: &'static str, set: &'static str, tile_m: f32, color: [f32; 3]) -> Material {
    Material {
        name,
        texture: Texture::Set(set),
        color,
        tile_m,
        roughness: 1.0,
        metallic: 1.0,
        emissive: [0.0; 3],
        is_double_sided: false,
        has_grain: false,
    }
}

const fn wood(name: &'static str, texture: &'static str, tile_m: f32, color: [f32; 3]) -> Material {
    Material { has_grain: true, ..set(name, texture, tile_m, color) }
}

const fn cloth(name: &'static str, color: [f32; 3]) -> Material {
    set(name, "cloth", 0.25, color)
}

const fn drape(name: &'static str, texture: &'static str, tile_m: f32, color: [f32; 3]) -> Material {
    Material { is_double_sided: true, ..set(name, texture, tile_m, color) }
}

const fn card(name: &'static str, card: &'static str, color: [f32; 3]) -> Material {
    Material {
        texture: Texture::Card(card),
        roughness: 0.75,
        metallic: 0.0,
        is_double_sided: true,
        ..set(name, "", 1.0, color)
    }
}

const fn plain(name: &'static str, color: [f32; 3], roughness: f32, metallic: f32) -> Material {
    Material { texture: Texture::None, roughness, metallic, ..set(name, "", 1.0, color) }
}

const fn glow(name: &'static str, color: [f32; 3], emissive: [f32; 3]) -> Material {
    Material { emissive, ..plain(name, color, 0.1, 0.0) }
}

const WHITE: [f32; 3] = [1.0; 3];

/// Every material.
pub const MATERIALS: &[Material] = &[
    set("plaster_white", "plaster", 3.0, [0.98, 0.95, 0.88]),
    set("plaster_ochre", "plaster", 3.0, [0.86, 0.58, 0.27]),
    set("plaster_rose", "plaster", 3.0, [0.82, 0.46, 0.36]),
    set("plaster_sage", "plaster", 3.0, [0.58, 0.63, 0.47]),
    set("plaster_cream", "plaster", 3.0, [0.95, 0.83, 0.60]),
    set("plaster_blue", "plaster", 3.0, [0.50, 0.60, 0.68]),
    set("plaster_terracotta", "plaster", 3.0, [0.68, 0.33, 0.20]),
    set("brick_red", "brick", 2.0, WHITE),
    set("brick_pale", "brick", 2.0, [1.45, 1.7, 1.7]),
    set("ashlar", "ashlar", 2.4, WHITE),
    set("ashlar_grey", "ashlar", 2.4, [0.72, 0.76, 0.80]),
    set("rubble", "rubble", 2.4, WHITE),
    set("rubble_dark", "rubble", 2.4, [0.72, 0.72, 0.70]),
    set("clay_tile", "clay_tile", 2.0, WHITE),
    set("clay_tile_brown", "clay_tile", 2.0, [0.72, 0.80, 0.82]),
    set("clay_tile_orange", "clay_tile", 2.0, [1.18, 1.15, 1.0]),
    set("slate", "slate", 1.6, WHITE),
    set("cobble", "cobble", 2.4, WHITE),
    set("cobble_warm", "cobble", 2.4, [1.12, 1.0, 0.86]),
    set("flagstone", "flagstone", 3.2, WHITE),
    set("kerb", "ashlar", 2.4, [0.62, 0.64, 0.66]),
    set("gravel", "gravel", 1.2, WHITE),
    set("soil", "soil", 2.0, WHITE),
    set("grass", "grass", 3.0, WHITE),
    set("fields", "fields", 320.0, WHITE),
    set("water", "water", 8.0, WHITE),
    wood("timber", "timber", 1.2, [0.78, 0.76, 0.74]),
    wood("timber_grey", "timber", 1.2, [1.9, 2.0, 2.1]),
    wood("planks", "planks", 1.28, WHITE),
    wood("planks_dark", "planks", 1.28, [0.55, 0.50, 0.46]),
    wood("planks_tarred", "planks", 1.28, [0.24, 0.24, 0.25]),
    wood("paint_white", "painted_wood", 1.0, [1.0, 0.98, 0.94]),
    wood("paint_green", "painted_wood", 1.0, [0.10, 0.24, 0.16]),
    wood("paint_blue", "painted_wood", 1.0, [0.13, 0.25, 0.42]),
    wood("paint_red", "painted_wood", 1.0, [0.48, 0.09, 0.07]),
    wood("paint_brown", "painted_wood", 1.0, [0.25, 0.14, 0.08]),
    wood("paint_grey", "painted_wood", 1.0, [0.42, 0.44, 0.46]),
    wood("paint_teal", "painted_wood", 1.0, [0.15, 0.36, 0.38]),
    wood("paint_yellow", "painted_wood", 1.0, [0.85, 0.56, 0.14]),
    wood("paint_black", "painted_wood", 1.0, [0.07, 0.07, 0.075]),
    set("bark", "bark", 0.8, WHITE),
    set("bark_pale", "bark", 0.8, [1.5, 1.45, 1.35]),
    card("leaf_lime", "leaf_lime", WHITE),
    card("leaf_oak", "leaf_oak", WHITE),
    card("leaf_apple", "leaf_apple", WHITE),
    card("leaf_poplar", "leaf_poplar", WHITE),
    card("leaf_autumn", "leaf_oak", [1.0, 0.62, 0.42]),
    card("leaf_hedge", "leaf_hedge", WHITE),
    card("leaf_ivy", "leaf_ivy", WHITE),
    Material { is_double_sided: false, ..card("tuft_grass", "tuft_grass", WHITE) },
    Material { is_double_sided: false, ..card("tuft_flowers", "tuft_flowers", WHITE) },
    Material { is_double_sided: false, ..card("tuft_geranium", "tuft_geranium", WHITE) },
    set("iron", "iron", 0.6, WHITE),
    set("brass", "brass", 0.3, WHITE),
    plain("zinc", [0.42, 0.44, 0.46], 0.55, 1.0),
    plain("steel", [0.56, 0.57, 0.58], 0.28, 1.0),
    plain("lead", [0.20, 0.21, 0.22], 0.7, 0.0),
    plain("glass", [0.035, 0.038, 0.040], 0.05, 0.0),
    plain("glass_old", [0.040, 0.050, 0.046], 0.12, 0.0),
    glow("glass_lit", [0.20, 0.14, 0.08], [900.0, 520.0, 210.0]),
    glow("glass_shop", [0.10, 0.08, 0.06], [420.0, 290.0, 150.0]),
    glow("lamp_glass", [0.60, 0.50, 0.38], [16000.0, 9800.0, 4300.0]),
    plain("interior", [0.05, 0.042, 0.036], 0.9, 0.0),
    drape("canvas_red", "stripes", 1.0, WHITE),
    drape("canvas_plain", "cloth", 0.25, [0.85, 0.76, 0.58]),
    drape("canvas_green", "cloth", 0.25, [0.16, 0.30, 0.19]),
    drape("canvas_blue", "cloth", 0.25, [0.17, 0.27, 0.46]),
    drape("pennant_red", "cloth", 0.25, [0.62, 0.09, 0.07]),
    drape("pennant_yellow", "cloth", 0.25, [0.92, 0.62, 0.12]),
    drape("pennant_blue", "cloth", 0.25, [0.12, 0.26, 0.56]),
    drape("pennant_white", "cloth", 0.25, [1.05, 1.02, 0.95]),
    cloth("cloth_navy", [0.075, 0.10, 0.19]),
    cloth("cloth_brown", [0.26, 0.17, 0.10]),
    cloth("cloth_cream", [0.90, 0.83, 0.68]),
    cloth("cloth_red", [0.50, 0.085, 0.075]),
    cloth("cloth_green", [0.16, 0.25, 0.14]),
    cloth("cloth_grey", [0.30, 0.31, 0.33]),
    cloth("cloth_denim", [0.12, 0.19, 0.33]),
    cloth("cloth_mustard", [0.70, 0.45, 0.11]),
    cloth("cloth_black", [0.06, 0.06, 0.065]),
    plain("skin", [0.52, 0.32, 0.23], 0.55, 0.0),
    plain("skin_dark", [0.22, 0.125, 0.08], 0.55, 0.0),
    plain("hair_brown", [0.085, 0.052, 0.034], 0.6, 0.0),
    plain("hair_grey", [0.36, 0.34, 0.32], 0.6, 0.0),
    plain("leather", [0.10, 0.058, 0.036], 0.55, 0.0),
    set("hay", "gravel", 1.2, [1.0, 0.80, 0.42]),
    plain("straw", [0.55, 0.42, 0.20], 0.9, 0.0),
    plain("rubber", [0.035, 0.035, 0.036], 0.85, 0.0),
    plain("car_red", [0.42, 0.040, 0.034], 0.28, 0.0),
    plain("car_silver", [0.50, 0.52, 0.54], 0.30, 0.6),
    plain("car_blue", [0.045, 0.11, 0.24], 0.28, 0.0),
    plain("car_cream", [0.66, 0.60, 0.46], 0.30, 0.0),
    glow("head_light", [0.75, 0.76, 0.78], [600.0, 580.0, 520.0]),
    glow("tail_light", [0.45, 0.035, 0.030], [120.0, 6.0, 4.0]),
    plain("apple_red", [0.46, 0.060, 0.040], 0.4, 0.0),
    plain("apple_green", [0.26, 0.38, 0.070], 0.4, 0.0),
    plain("orange", [0.72, 0.27, 0.035], 0.5, 0.0),
    plain("cabbage", [0.20, 0.34, 0.12], 0.6, 0.0),
    plain("bread", [0.50, 0.27, 0.10], 0.75, 0.0),
    plain("terracotta", [0.50, 0.22, 0.12], 0.85, 0.0),
    plain("gilt", [0.95, 0.68, 0.27], 0.32, 1.0),
    plain("feather", [0.70, 0.70, 0.68], 0.8, 0.0),
    plain("feather_dark", [0.07, 0.07, 0.08], 0.7, 0.0),
    plain("leaf_core", [0.075, 0.095, 0.035], 0.95, 0.0),
    plain("paper", [0.72, 0.68, 0.56], 0.9, 0.0),
    Material {
        texture: Texture::Image("clock_face"),
        roughness: 0.5,
        metallic: 0.0,
        ..set("clock_face", "", 1.0, WHITE)
    },
];

/// The material of a name; the first one where there is none (a test holds that no mesh needs that).
pub fn material(name: &str) -> &'static Material {
    MATERIALS.iter().find(|m| m.name == name).unwrap_or(&MATERIALS[0])
}

impl Material {
    /// The factor that goes with the texture's gain.
    pub fn factor(&self) -> [f32; 3] {
        let gain = match self.texture {
            Texture::Set(set) => crate::texture::gain(set),
            _ => [1.0; 3],
        };
        [0, 1, 2].map(|c| (self.color[c] / gain[c]).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_factors_legal() {
        for (i, m) in MATERIALS.iter().enumerate() {
            assert!(MATERIALS[..i].iter().all(|o| o.name != m.name), "{} twice", m.name);
            let gain = match m.texture {
                Texture::Set(set) => crate::texture::gain(set),
                _ => [1.0; 3],
            };
            assert!((0..3).all(|c| m.color[c] <= gain[c] * 1.0001), "{} needs a gain", m.name);
        }
    }
}
