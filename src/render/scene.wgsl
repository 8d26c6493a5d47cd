// Group 1: the frame and the scene, read-only. Every pass that reads the scene has this one layout.

@group(1) @binding(0) var<uniform> frame: Frame;
@group(1) @binding(1) var<storage, read> transforms: array<Transform>;
@group(1) @binding(2) var<storage, read> instances: array<Instance>;
@group(1) @binding(3) var<storage, read> meshes: array<Mesh>;
@group(1) @binding(4) var<storage, read> materials: array<Material>;
@group(1) @binding(5) var<storage, read> indices: array<u32>;
@group(1) @binding(6) var<storage, read> positions: array<f32>;
@group(1) @binding(7) var<storage, read> attributes: array<Attributes>;
@group(1) @binding(8) var<storage, read> visible: array<u32>;
@group(1) @binding(9) var<storage, read> placed_lights: array<PlacedLight>;
@group(1) @binding(10) var<storage, read> cluster_lights: array<u32>;
@group(1) @binding(11) var<storage, read> irradiance_sh: array<vec4f>;
@group(1) @binding(12) var<storage, read> triangle_blocks: array<u32>;
@group(1) @binding(13) var environment: texture_cube<f32>;
@group(1) @binding(14) var dfg: texture_2d<f32>;
@group(1) @binding(15) var linear_sampler: sampler;

fn load_position(vertex: u32) -> vec3f {
    return vec3f(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

fn decode_octahedral(e: vec2f) -> vec3f {
    var v = vec3f(e, 1.0 - abs(e.x) - abs(e.y));
    let fold = max(-v.z, 0.0);
    v.x += select(fold, -fold, v.x >= 0.0);
    v.y += select(fold, -fold, v.y >= 0.0);
    return normalize(v);
}

fn decode_normal(packed: u32) -> vec3f {
    return decode_octahedral(unpack2x16snorm(packed));
}

// A normal in world space, not of unit length, for a transform that does not mirror; else its opposite.
fn transform_normal(t: Transform, n: vec3f) -> vec3f {
    return vec3f(
        dot(cross(t.row1.xyz, t.row2.xyz), n),
        dot(cross(t.row2.xyz, t.row0.xyz), n),
        dot(cross(t.row0.xyz, t.row1.xyz), n),
    );
}
