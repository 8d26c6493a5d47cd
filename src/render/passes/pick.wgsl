// What one sample sees, for a click.

@group(3) @binding(0) var<uniform> pick_px: vec2u;
// Triangle number, depth's bits.
@group(3) @binding(1) var<storage, read_write> picked: array<u32, 4>;

@compute @workgroup_size(1)
fn pick() {
    picked[0] = load_id(pick_px, 0u);
    picked[1] = bitcast<u32>(textureLoad(depth, pick_px, 0));
}
