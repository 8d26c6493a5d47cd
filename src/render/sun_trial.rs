//! Variants of the sun pass that are being compared on hardware, chosen by name through the hidden option `--sun-variant`. The losers go,
//! and this file with them.

use std::sync::OnceLock;

/// Names, and what each changes.
pub const SUN_VARIANTS: [(&str, &str); 10] = [
    ("default", "nothing"),
    ("tile_8x8", "workgroups of 64 pixels"),
    ("tile_16x16", "workgroups of 256 pixels"),
    ("stack_20", "room for 20 groups of siblings, not 28"),
    ("any_direction", "traversal that does not know that all rays are parallel"),
    ("unchecked", "no bounds checks and no counting of loops"),
    ("flat_0", "the static tree built for rays in any direction"),
    ("flat_8", "the static tree built for rays along z alone"),
    ("no_rise", "rays that start on flat triangles"),
    ("thorough", "a slower build of trees: wider search, more reinsertion"),
];

static CHOSEN: OnceLock<&'static str> = OnceLock::new();

/// Chooses for the rest of the program.
///
/// # Errors
/// The names, for one that is none of them.
pub fn choose_sun_variant(name: &str) -> Result<(), String> {
    let names = SUN_VARIANTS.map(|(name, _)| name);
    let found = names.into_iter().find(|known| *known == name);
    let chosen = found.ok_or_else(|| format!("`{name}` is no variant of the sun pass: use {}", names.join(", ")))?;
    CHOSEN.set(chosen).map_err(|_| "the sun pass's variant was chosen before".to_owned())
}

pub(super) fn is_chosen(name: &str) -> bool {
    CHOSEN.get() == Some(&name)
}

/// Pixels that a workgroup serves.
pub(super) fn tile() -> [u32; 2] {
    match CHOSEN.get() {
        Some(&"tile_8x8") => [8, 8],
        Some(&"tile_16x16") => [16, 16],
        _ => [16, 8],
    }
}

pub(super) fn shader_text(text: &'static str) -> &'static str {
    let [width, height] = tile();
    let changed = text.replace("TILE: vec2u = vec2u(16u, 8u)", &format!("TILE: vec2u = vec2u({width}u, {height}u)"));
    let stack = if is_chosen("stack_20") { "RAY_STACK_SIZE: u32 = 20u" } else { "RAY_STACK_SIZE: u32 = 28u" };
    let rise = if is_chosen("no_rise") { "if false { position += rise" } else { "if r.is_curved { position += rise" };
    let changed = changed.replace("if r.is_curved { position += rise", rise);
    changed.replace("RAY_STACK_SIZE: u32 = 28u", stack).leak()
}

pub(super) fn flattening() -> Option<u8> {
    match CHOSEN.get() {
        Some(&"flat_0") => Some(0),
        Some(&"flat_8") => Some(8),
        _ => None,
    }
}
