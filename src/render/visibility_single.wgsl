@group(2) @binding(0) var ids: texture_2d<u32>;
fn load_ids(px: vec2u, sample: u32) -> vec2u { return unpack_ids(textureLoad(ids, px, 0)); }
