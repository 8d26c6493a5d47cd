// From instances to draw commands, in four dispatches. Order follows from distances and, between equals,
// from the instances' order, never from threads' arrival: the same scene gives the same commands and so the same picture each run.

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> transforms: array<Transform>;
@group(0) @binding(2) var<storage, read> instances: array<Instance>;
@group(0) @binding(3) var<storage, read> meshes: array<Mesh>;
@group(0) @binding(4) var<storage, read> groups: array<DrawGroup>;
@group(0) @binding(5) var<storage, read> buckets: array<Bucket>;
@group(0) @binding(6) var<storage, read_write> visible: array<u32>;
@group(0) @binding(7) var<storage, read_write> sparse_commands: array<DrawCommand>;
@group(0) @binding(8) var<storage, read_write> commands: array<DrawCommand>;
@group(0) @binding(9) var<storage, read_write> n_commands: array<u32>;
@group(0) @binding(10) var<storage, read_write> translucent_depths: array<f32>;
// Per draw group: the far end of its nearest instance that is seen, as an unsigned integer that sorts like the distance, or CULLED.
@group(0) @binding(11) var<storage, read_write> group_depths: array<u32>;
// Per place in a bucket: which of the bucket's groups is drawn there.
@group(0) @binding(12) var<storage, read_write> group_order: array<u32>;

const LANES: u32 = 64u;
const CULLED: u32 = 0xffffffffu;

var<workgroup> scan: array<u32, LANES>;
var<workgroup> nearest: atomic<u32>;

struct Sphere {
    center: vec3f,
    radius: f32,
    scale: f32,
}

fn bounding_sphere(instance: Instance) -> Sphere {
    let transform = transforms[instance.transform_idx];
    let mesh = meshes[instance.mesh_idx];
    let scale = largest_scale(transform);
    return Sphere(transform_point(transform, mesh.center) - frame.camera_position, mesh.radius * scale, scale);
}

fn is_in_frustum(sphere: Sphere) -> bool {
    var is_inside = true;
    for (var i = 0u; i < 6u; i++) {
        is_inside &= dot(frame.planes[i].xyz, sphere.center) + frame.planes[i].w >= -sphere.radius;
    }
    return is_inside;
}

// Pixels per metre at the sphere's nearest point.
fn px_per_metre_at(sphere: Sphere) -> f32 {
    let distance = max(length(sphere.center) - sphere.radius, frame.near);
    return frame.px_per_metre / select(distance, 1.0, frame.is_orthographic != 0u);
}

// The coarsest level whose error stays below frame.lod_error_px, or CULLED.
fn level_of_detail(instance_idx: u32) -> u32 {
    let instance = instances[instance_idx];
    let sphere = bounding_sphere(instance);
    let px_per_metre = px_per_metre_at(sphere);
    if !is_in_frustum(sphere) || 2.0 * sphere.radius * px_per_metre < frame.smallest_px { return CULLED; }
    let error_px = meshes[instance.mesh_idx].lod_error * sphere.scale * px_per_metre;
    if error_px.w <= frame.lod_error_px { return 3u; }
    if error_px.z <= frame.lod_error_px { return 2u; }
    if error_px.y <= frame.lod_error_px { return 1u; }
    return 0u;
}

// One workgroup per draw group. Each level of detail has its own region of the visible list, as long as the group.
// A step counts 64 instances: four counters of at most 64 fit into the four bytes of a u32, so one scan serves all levels.
@compute @workgroup_size(LANES)
fn cull(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) n_workgroups: vec3u, @builtin(local_invocation_index) lane: u32) {
    let group_idx = workgroup.x + workgroup.y * n_workgroups.x;
    if group_idx >= arrayLength(&groups) { return; }
    let group = groups[group_idx];
    if lane == 0u { atomicStore(&nearest, CULLED); }
    var totals = vec4u(0u);
    for (var first = 0u; first < group.n_instances; first += LANES) {
        let member = first + lane;
        var lod = CULLED;
        if member < group.n_instances { lod = level_of_detail(group.first_instance + member); }
        let one = select(0u, 1u << ((lod & 3u) * 8u), lod != CULLED);
        scan[lane] = one;
        workgroupBarrier();
        if lod != CULLED { atomicMin(&nearest, far_end(group.first_instance + member)); }
        for (var step = 1u; step < LANES; step *= 2u) {
            var before = 0u;
            if lane >= step { before = scan[lane - step]; }
            workgroupBarrier();
            scan[lane] += before;
            workgroupBarrier();
        }
        let sums = scan[LANES - 1u];
        let rank = ((scan[lane] - one) >> ((lod & 3u) * 8u)) & 0xffu;
        if lod != CULLED {
            let region = N_LODS * group.first_instance + lod * group.n_instances;
            visible[region + totals[lod] + rank] = (group.first_instance + member) | (lod << 30u);
        }
        totals += (vec4u(sums) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu);
        workgroupBarrier();
    }
    if lane == 0u { group_depths[group_idx] = atomicLoad(&nearest); }
    if lane < N_LODS {
        let mesh = meshes[group.mesh_idx];
        let region = N_LODS * group.first_instance + lane * group.n_instances;
        sparse_commands[group.first_command + lane] =
            DrawCommand(mesh.n_indices[lane], totals[lane], mesh.first_index[lane], 0, region);
    }
}

// Where an instance ends, seen from the camera: large things such as the ground come after what stands on them. Distances are
// not negative, so their bits sort as they do.
fn far_end(instance_idx: u32) -> u32 {
    let sphere = bounding_sphere(instances[instance_idx]);
    return bitcast<u32>(length(sphere.center) + sphere.radius);
}

// One thread per draw group: its place among its bucket's, the nearest first, so that what is in front hides the rest before it
// costs anything. Each counts those before it; ties go to the lower index. Very many groups keep their own order.
const MOST_SORTED: u32 = 4096u;

@compute @workgroup_size(LANES)
fn order(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) n_workgroups: vec3u) {
    let group_idx = id.x + id.y * n_workgroups.x * LANES;
    if group_idx >= arrayLength(&groups) { return; }
    // Groups have N_LODS commands each, in the same order: a bucket's range of commands tells its groups.
    var bucket = 0u;
    while groups[group_idx].first_command >= buckets[bucket].first_command + buckets[bucket].n_commands { bucket += 1u; }
    let first = buckets[bucket].first_command / N_LODS;
    let n = buckets[bucket].n_commands / N_LODS;
    var rank = group_idx - first;
    if n <= MOST_SORTED {
        let depth = group_depths[group_idx];
        rank = 0u;
        for (var other = first; other < first + n; other++) {
            let other_depth = group_depths[other];
            rank += select(0u, 1u, other_depth < depth || (other_depth == depth && other < group_idx));
        }
    }
    group_order[first + rank] = group_idx;
}

// One workgroup per bucket: moves the commands that draw something to the bucket's front, in order, and counts them.
@compute @workgroup_size(LANES)
fn compact(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
    let bucket = buckets[workgroup.x];
    var total = 0u;
    for (var first = 0u; first < bucket.n_commands; first += LANES) {
        // In the order of the groups, nearest first; of a group, level by level.
        let place = bucket.first_command + first + lane;
        var command_idx = 0u;
        var one = 0u;
        if first + lane < bucket.n_commands {
            command_idx = N_LODS * group_order[place / N_LODS] + place % N_LODS;
            one = min(sparse_commands[command_idx].n_instances, 1u);
        }
        scan[lane] = one;
        workgroupBarrier();
        for (var step = 1u; step < LANES; step *= 2u) {
            var before = 0u;
            if lane >= step { before = scan[lane - step]; }
            workgroupBarrier();
            scan[lane] += before;
            workgroupBarrier();
        }
        if one == 1u { commands[bucket.first_command + total + scan[lane] - 1u] = sparse_commands[command_idx]; }
        total += scan[LANES - 1u];
        workgroupBarrier();
    }
    if lane == 0u { n_commands[workgroup.x] = total; }
}

// The translucent instances, farthest first: each counts those that come before it. One workgroup; ties go to the lower index.
override first_translucent: u32;
override translucent_bucket: u32;

@compute @workgroup_size(LANES)
fn sort_translucent(@builtin(local_invocation_index) lane: u32) {
    let n = frame.n_translucent;
    for (var i = lane; i < n; i += LANES) {
        let sphere = bounding_sphere(instances[first_translucent + i]);
        let is_seen = is_in_frustum(sphere) && 2.0 * sphere.radius * px_per_metre_at(sphere) >= frame.smallest_px;
        translucent_depths[i] = select(-1e30, -dot(frame.camera_backward.xyz, sphere.center), is_seen);
    }
    storageBarrier();
    let first_command = buckets[translucent_bucket].first_command;
    var n_seen = 0u;
    for (var i = lane; i < n; i += LANES) {
        let depth = translucent_depths[i];
        if depth == -1e30 { continue; }
        var rank = 0u;
        for (var j = 0u; j < n; j++) {
            let other = translucent_depths[j];
            rank += select(0u, 1u, other > depth || (other == depth && j < i));
        }
        let instance_idx = first_translucent + i;
        let mesh = meshes[instances[instance_idx].mesh_idx];
        let region = N_LODS * first_translucent + rank;
        visible[region] = instance_idx;
        commands[first_command + rank] = DrawCommand(mesh.n_indices.x, 1u, mesh.first_index.x, 0, region);
        n_seen += 1u;
    }
    scan[lane] = n_seen;
    workgroupBarrier();
    if lane == 0u {
        var total = 0u;
        for (var i = 0u; i < LANES; i++) { total += scan[i]; }
        n_commands[translucent_bucket] = total;
    }
}
