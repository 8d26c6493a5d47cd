// Group 0: the scene's images and samplers. It is charged per pass and per dispatch: only what samples it has it in its layout.
@group(0) @binding(0) var textures: binding_array<texture_2d<f32>>;
@group(0) @binding(1) var samplers: binding_array<sampler>;

fn texture_coordinate(use_: TextureUse, uv0: vec2f, uv1: vec2f) -> vec2f {
    let uv = select(uv0, uv1, (use_.sampler_and_set & 0x10000u) != 0u);
    return vec2f(dot(use_.uv_from_mesh.xy, uv), dot(use_.uv_from_mesh.zw, uv)) + use_.uv_offset;
}
