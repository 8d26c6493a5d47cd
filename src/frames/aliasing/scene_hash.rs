//! A number that changes with whatever a scene is drawn from.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::scene::assets::Assets;
use crate::scene::{DirectionalLight, MeshInstance, PointLight, Scene, Slot, SpotLight};

/// Of meshes, materials, images and samplers. Reads every byte of them.
pub fn hash_assets(assets: &Assets) -> u64 {
    let mut hasher = DefaultHasher::new();
    for mesh in &assets.meshes {
        let attributes: [&[u8]; 7] = [
            bytemuck::cast_slice(&mesh.positions),
            bytemuck::cast_slice(&mesh.normals),
            bytemuck::cast_slice(&mesh.tangents),
            bytemuck::cast_slice(&mesh.uv0),
            bytemuck::cast_slice(&mesh.uv1),
            bytemuck::cast_slice(&mesh.colors),
            bytemuck::cast_slice(&mesh.indices),
        ];
        attributes.hash(&mut hasher);
    }
    // `Debug` writes every field, and floats so that they can be read back.
    format!("{:?}", assets.materials).hash(&mut hasher);
    assets.samplers.hash(&mut hasher);
    for image in &assets.images {
        (image.width, image.height, image.is_srgb).hash(&mut hasher);
        image.rgba8.hash(&mut hasher);
    }
    hasher.finish()
}

/// Of what is placed where, as of the last update, and what lights it.
pub fn hash_world(scene: &Scene) -> u64 {
    let mut hasher = DefaultHasher::new();
    let hierarchy = scene.hierarchy();
    for slot in 0..hierarchy.len() as u32 {
        hierarchy.world(slot).to_cols_array().map(f32::to_bits).hash(&mut hasher);
    }
    for entity in scene.world.iter_entities() {
        let slot = entity.get::<Slot>();
        if let Some(instance) = entity.get::<MeshInstance>() {
            let tint = instance.tint.map(f32::to_bits);
            (slot, instance.mesh, instance.material, tint).hash(&mut hasher);
        }
        let lights = (entity.get::<PointLight>(), entity.get::<SpotLight>(), entity.get::<DirectionalLight>());
        if !matches!(lights, (None, None, None)) {
            format!("{slot:?} {lights:?}").hash(&mut hasher);
        }
    }
    format!("{:?} {:?}", scene.sun(), scene.exposure_ev100()).hash(&mut hasher);
    hasher.finish()
}
