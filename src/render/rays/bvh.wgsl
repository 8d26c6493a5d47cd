// Backend `bvh`, group 3: two levels of compressed eight-wide nodes (Ylitie, Karras & Laine 2017) and any-hit traversal.
// What stands still is one tree in world space; the top level holds what moves, each in a tree of its own in local space.

@group(3) @binding(0) var<storage, read> ray_nodes: array<vec4u>;
@group(3) @binding(1) var<storage, read> ray_triangles: array<vec4u>;
@group(3) @binding(2) var<storage, read> ray_instances: array<RayInstance>;

// A ray in the space of the tree that it is in; `t` means the same in each.
struct Ray {
    origin: vec3f,
    direction: vec3f,
    inverse: vec3f,
    // Across the direction: a triangle is tested in this plane.
    across_x: vec3f,
    across_y: vec3f,
    // 7 less the octant of the direction, in each byte: front children have the highest priority.
    octant: u32,
}

fn ray_in(origin: vec3f, direction: vec3f) -> Ray {
    var r: Ray;
    r.origin = origin;
    r.direction = direction;
    // A component of 0 would give 0 × ∞ in a box's own plane.
    let tiny = 1e-18;
    let safe = select(direction, vec3f(tiny), abs(direction) < vec3f(tiny));
    r.inverse = 1.0 / safe;
    // The two axes other than the longest, sheared onto the direction: exact for the axes' own planes.
    let a = abs(direction);
    if a.x >= a.y && a.x >= a.z {
        r.across_x = vec3f(-direction.y / direction.x, 1.0, 0.0);
        r.across_y = vec3f(-direction.z / direction.x, 0.0, 1.0);
    } else if a.y >= a.z {
        r.across_x = vec3f(0.0, -direction.z / direction.y, 1.0);
        r.across_y = vec3f(1.0, -direction.x / direction.y, 0.0);
    } else {
        r.across_x = vec3f(1.0, 0.0, -direction.x / direction.z);
        r.across_y = vec3f(0.0, 1.0, -direction.y / direction.z);
    }
    let positive = select(vec3u(0u), vec3u(0x04040404u, 0x02020202u, 0x01010101u), direction >= vec3f(0.0));
    r.octant = positive.x | positive.y | positive.z;
    return r;
}

// Bits of the children that the ray meets, four of the eight: an inner child's at 24 + its place in the order along the ray, a leaf's
// at its triangles' places.
fn met_children(meta4: u32, octant: u32, t_near: vec4f, t_far: vec4f) -> u32 {
    // Inner children have both of these bits, leaves (places 0 to 23) never.
    let is_inner = (meta4 & (meta4 << 1u)) & 0x10101010u;
    let inner_bytes = (is_inner >> 4u) * 0xffu;
    let places = unpack4xU8((meta4 ^ (octant & inner_bytes)) & 0x1f1f1f1fu);
    let bits = unpack4xU8((meta4 >> 5u) & 0x07070707u);
    let met = select(vec4u(0u), bits << places, t_near <= t_far);
    return met.x | met.y | met.z | met.w;
}

// The children of a node that the ray meets before t_max, as two words: bits of inner children and triangles, and the inner children's slots.
fn meet_node(node: u32, r: Ray, t_max: f32) -> vec4u {
    let n0 = ray_nodes[5u * node];
    let n1 = ray_nodes[5u * node + 1u];
    let n2 = ray_nodes[5u * node + 2u];
    let n3 = ray_nodes[5u * node + 3u];
    let n4 = ray_nodes[5u * node + 4u];
    // Boxes are bytes on a grid: corner n0.xyz, steps of powers of two.
    let step = bitcast<vec3f>((vec3u(n0.w, n0.w >> 8u, n0.w >> 16u) & vec3u(0xffu)) << vec3u(23u));
    let scale = step * r.inverse;
    let start = (bitcast<vec3f>(n0.xyz) - r.origin) * r.inverse;
    let is_backward = r.inverse < vec3f(0.0);
    let x_near = select(n2.xy, n2.zw, is_backward.x);
    let x_far = select(n2.zw, n2.xy, is_backward.x);
    let y_near = select(n3.xy, n3.zw, is_backward.y);
    let y_far = select(n3.zw, n3.xy, is_backward.y);
    let z_near = select(n4.xy, n4.zw, is_backward.z);
    let z_far = select(n4.zw, n4.xy, is_backward.z);
    var met = 0u;
    for (var half = 0u; half < 2u; half++) {
        let near_x = vec4f(unpack4xU8(select(x_near.x, x_near.y, half == 1u))) * scale.x + start.x;
        let near_y = vec4f(unpack4xU8(select(y_near.x, y_near.y, half == 1u))) * scale.y + start.y;
        let near_z = vec4f(unpack4xU8(select(z_near.x, z_near.y, half == 1u))) * scale.z + start.z;
        let far_x = vec4f(unpack4xU8(select(x_far.x, x_far.y, half == 1u))) * scale.x + start.x;
        let far_y = vec4f(unpack4xU8(select(y_far.x, y_far.y, half == 1u))) * scale.y + start.y;
        let far_z = vec4f(unpack4xU8(select(z_far.x, z_far.y, half == 1u))) * scale.z + start.z;
        let t_near = max(max(near_x, near_y), max(near_z, vec4f(0.0)));
        // Widened by the rounding of the lines above (Ize 2013), so that no box is missed that its triangle fills.
        let t_far = min(min(far_x, far_y), min(far_z, vec4f(t_max))) * 1.0000005;
        met |= met_children(select(n1.z, n1.w, half == 1u), r.octant, t_near, t_far);
    }
    return vec4u(n1.x, (met & 0xff000000u) | (n0.w >> 24u), n1.y, met & 0x00ffffffu);
}

// Whether the ray meets the triangle before t_max. Edge functions in the plane across the ray (after Woop, Benthin & Wald 2013): neighbours
// share their vertices' numbers, so that no ray slips between them. Both sides count.
fn meets_triangle(triangle: u32, r: Ray, t_max: f32, mask_instance: u32) -> bool {
    let w0 = ray_triangles[3u * triangle];
    let w1 = ray_triangles[3u * triangle + 1u];
    let w2 = ray_triangles[3u * triangle + 2u];
    let p0 = bitcast<vec3f>(w0.xyz) - r.origin;
    let p1 = bitcast<vec3f>(w1.xyz) - r.origin;
    let p2 = bitcast<vec3f>(w2.xyz) - r.origin;
    let a = vec2f(dot(r.across_x, p0), dot(r.across_y, p0));
    let b = vec2f(dot(r.across_x, p1), dot(r.across_y, p1));
    let c = vec2f(dot(r.across_x, p2), dot(r.across_y, p2));
    let u = c.x * b.y - c.y * b.x;
    let v = a.x * c.y - a.y * c.x;
    let w = b.x * a.y - b.y * a.x;
    let is_outside = min(u, min(v, w)) < 0.0 && max(u, max(v, w)) > 0.0;
    let sum = u + v + w;
    if is_outside || sum == 0.0 { return false; }
    let weights = vec3f(u, v, w) / sum;
    let length2 = dot(r.direction, r.direction);
    let t = dot(weights, vec3f(dot(r.direction, p0), dot(r.direction, p1), dot(r.direction, p2))) / length2;
    if !(t > 0.0 && t < t_max) { return false; }
    let instance_idx = select(w0.w, mask_instance, w0.w == RAY_OF_MOVER);
    return instance_idx == RAY_OPAQUE || mask_stops_ray(instance_idx, w1.w, weights, sqrt(length2));
}

// Whether anything stops a ray between its origin and t_max (in lengths of `direction`). World space.
fn sun_ray_is_blocked(origin: vec3f, direction: vec3f, t_max: f32) -> bool {
    // Groups of siblings still to visit: (index of the first inner child, bits) as `meet_node` gives them; a group whose upper byte is 0
    // holds triangles, or, in the top level, instances.
    var stack: array<vec2u, RAY_STACK_SIZE>;
    var n_stacked = 0u;
    var r = ray_in(origin, direction);
    // What stands still comes first: it stops most rays. The top level waits below it.
    if frame.n_ray_instances != 0u {
        stack[0] = vec2u(0u, 0x80000000u);
        n_stacked = 1u;
    }
    var inner = vec2u(frame.ray_static_root, select(0x80000000u, 0u, frame.ray_static_root == RAY_NONE));
    // The stack's height at which the ray leaves the bottom level that it is in.
    var bottom_floor = n_stacked;
    var is_top = false;
    var mask_instance = RAY_OPAQUE;
    loop {
        var leaves = vec2u(0u);
        if inner.y > 0x00ffffffu {
            let bit = firstLeadingBit(inner.y);
            let slot = (bit - 24u) ^ (r.octant & 0xffu);
            let node = inner.x + countOneBits(inner.y & ~(0xffffffffu << slot) & 0xffu);
            inner.y &= ~(1u << bit);
            if inner.y > 0x00ffffffu {
                stack[n_stacked] = inner;
                n_stacked += 1u;
            }
            let met = meet_node(node, r, t_max);
            inner = met.xy;
            leaves = met.zw;
        } else {
            leaves = inner;
            inner = vec2u(0u);
        }
        while leaves.y != 0u {
            let place = firstTrailingBit(leaves.y);
            leaves.y &= leaves.y - 1u;
            if is_top {
                // Into the instance; what is left of this level waits.
                if inner.y > 0x00ffffffu {
                    stack[n_stacked] = inner;
                    n_stacked += 1u;
                }
                if leaves.y != 0u {
                    stack[n_stacked] = leaves;
                    n_stacked += 1u;
                }
                let instance = ray_instances[leaves.x + place];
                bottom_floor = n_stacked;
                is_top = false;
                mask_instance = instance.mask_instance;
                let local = Transform(instance.row0, instance.row1, instance.row2);
                r = ray_in(transform_point(local, origin), transform_vector(local, direction));
                inner = vec2u(instance.root, 0x80000000u);
                break;
            }
            if meets_triangle(leaves.x + place, r, t_max, mask_instance) { return true; }
        }
        if inner.y <= 0x00ffffffu {
            if n_stacked == 0u { break; }
            if !is_top && n_stacked == bottom_floor {
                is_top = true;
                r = ray_in(origin, direction);
            }
            n_stacked -= 1u;
            inner = stack[n_stacked];
        }
    }
    return false;
}
