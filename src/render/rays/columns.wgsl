// The column map, group 3: tiles, then cells (see columns/mod.rs).

@group(3) @binding(4) var<storage, read> ray_columns: array<vec4u>;

// A bit for each cell (see mover_map.rs).
@group(3) @binding(5) var<storage, read> ray_mover_map: array<u32>;

override HAS_COLUMNS: bool = false;

// What the map knows of a ray that starts at `p`, in sun space, and goes along z without end: RAY_PASSES_STILL, RAY_BLOCKED, or nothing, 0.
fn foresee_in_columns(p: vec3f) -> u32 {
    if p.z > frame.columns_top { return RAY_PASSES_STILL; }
    if p.z < frame.columns_bottom { return 0u; }
    // The tiles' size is a power of two: neither a point's tile nor its place in there is rounded.
    let at = p.xy * frame.column_tiles_per_metre;
    let corner = floor(at);
    let tile_at = vec2i(corner) - frame.columns_first_tile;
    if any(tile_at < vec2i(0)) || any(tile_at >= vec2i(frame.n_column_tiles)) { return RAY_PASSES_STILL; }
    let tile = ray_columns[u32(tile_at.y) * frame.n_column_tiles.x + u32(tile_at.x)];
    if tile.x == RAY_NONE || p.z > bitcast<f32>(tile.z) { return RAY_PASSES_STILL; }
    let within = (at - corner) * f32(tile.y);
    let cell_at = min(floor(within), vec2f(f32(tile.y - 1u)));
    let cell = ray_columns[tile.x + u32(cell_at.y) * tile.y + u32(cell_at.x)];
    let from_middle = within - cell_at - 0.5;
    let plane = bitcast<vec3f>(cell.xyz);
    let height = (p.z - plane.x - dot(plane.yz, from_middle)) * frame.column_units_per_metre;
    let limits = unpack2x16float(cell.w);
    if height > limits.x { return RAY_PASSES_STILL; }
    return select(0u, RAY_BLOCKED, height < limits.y);
}

// Whether something that moves could stop a ray that starts at `p`.
fn may_meet_mover(p: vec3f) -> bool {
    if frame.n_ray_instances == 0u { return false; }
    if any(abs(p) > vec3f(frame.mover_map_reach)) { return true; }
    let at = (p.xy - frame.mover_map_low) * frame.mover_cells_per_metre;
    if any(at < vec2f(0.0)) || any(at >= vec2f(f32(MOVER_MAP_SIDE))) { return false; }
    let cell = u32(at.y) * MOVER_MAP_SIDE + u32(at.x);
    return (ray_mover_map[cell / 32u] >> (cell % 32u) & 1u) != 0u;
}
