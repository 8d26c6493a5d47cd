@group(2) @binding(0) var ids: texture_multisampled_2d<u32>;
@group(2) @binding(1) var depth: texture_depth_multisampled_2d;

// Depth tells what is background: the id target is not cleared where that costs time.
fn load_id(px: vec2u, sample: u32) -> u32 {
    if textureLoad(depth, px, sample) == 0.0 { return NO_TRIANGLE; }
    return unpack_id(textureLoad(ids, px, sample));
}
