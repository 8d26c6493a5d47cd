// Backend `bvh`, group 3: two levels of compressed eight-wide nodes (Ylitie, Karras & Laine 2017) and any-hit traversal.
// What stands still is one tree in sun space; the top level, in sun space too, holds what moves, each in a tree of its own in local space.

@group(3) @binding(0) var<storage, read> ray_nodes: array<vec4u>;
@group(3) @binding(1) var<storage, read> ray_triangles: array<vec4u>;
@group(3) @binding(2) var<storage, read> ray_instances: array<RayInstance>;

// Whether every ray goes exactly towards the sun and has no end. In sun space such rays are points.
override RAYS_ARE_PARALLEL: bool = false;

// Groups of siblings still to visit: (index of the first inner child, bits) as `meet_node` gives them; a group whose upper byte is 0
// holds instances of the top level. Of the module, not of a function: those are cleared at each call.
var<private> ray_stack: array<vec2u, RAY_STACK_SIZE>;

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

// Bytes of a that are not less than those of b, as the highest bit of each byte.
fn not_less(a: u32, b: u32) -> u32 {
    let by_low_bits = (a | 0x80808080u) - (b & 0x7f7f7f7fu);
    return ((a & ~b) | (~(a ^ b) & by_low_bits));
}

// Bits of the children in `met` (the highest bit of each byte), for rays along z: none comes before another.
fn bits_of_children(meta4: u32, met: u32) -> u32 {
    let mask = ((met & 0x80808080u) >> 7u) * 0xffu;
    let is_inner = (meta4 & (meta4 << 1u)) & 0x10101010u;
    let inner_bytes = (is_inner >> 4u) * 0xffu;
    let places = unpack4xU8((meta4 ^ (0x07070707u & inner_bytes)) & 0x1f1f1f1fu);
    let bits = unpack4xU8((meta4 >> 5u) & 0x07070707u & mask) << places;
    return bits.x | bits.y | bits.z | bits.w;
}

// As `meet_node`, for a ray from `origin` along z, in sun space and without end: comparisons of bytes, four children at a time.
fn meet_node_along_z(node: u32, origin: vec3f) -> vec4u {
    let n0 = ray_nodes[5u * node];
    let n1 = ray_nodes[5u * node + 1u];
    let n2 = ray_nodes[5u * node + 2u];
    let n3 = ray_nodes[5u * node + 3u];
    let n4 = ray_nodes[5u * node + 4u];
    let exponents = vec3u(n0.w, n0.w >> 8u, n0.w >> 16u) & vec3u(0xffu);
    // Where the origin lies on the boxes' grid, give or take what its difference from the grid's corner was rounded by.
    let at = (origin - bitcast<vec3f>(n0.xyz)) * bitcast<vec3f>((vec3u(254u) - exponents) << vec3u(23u));
    let slack = 1e-4;
    let low = vec3u(clamp(ceil(at - slack), vec3f(0.0), vec3f(255.0))) * 0x01010101u;
    let high = vec3u(clamp(floor(at + slack), vec3f(0.0), vec3f(255.0))) * 0x01010101u;
    let is_outside = any(at.xy < vec2f(-slack)) || any(at > vec3f(255.0 + slack));
    let first = not_less(high.x, n2.x) & not_less(n2.z, low.x) & not_less(high.y, n3.x) & not_less(n3.z, low.y) & not_less(n4.z, low.z);
    let second = not_less(high.x, n2.y) & not_less(n2.w, low.x) & not_less(high.y, n3.y) & not_less(n3.w, low.y) & not_less(n4.w, low.z);
    let met = select(bits_of_children(n1.z, first) | bits_of_children(n1.w, second), 0u, is_outside);
    return vec4u(n1.x, (met & 0xff000000u) | (n0.w >> 24u), n1.y, met & 0x00ffffffu);
}

// Whether the edge functions of a triangle have both signs, and else their shares.
struct Weights {
    is_outside: bool,
    shares: vec3f,
}

// Where a ray along the third axis passes a triangle whose corners, relative to it, are a, b and c (after Woop, Benthin & Wald 2013):
// neighbours share their corners' numbers, so that no ray slips between them. Both sides count.
fn weights_of(a: vec2f, b: vec2f, c: vec2f) -> Weights {
    let u = c.x * b.y - c.y * b.x;
    let v = a.x * c.y - a.y * c.x;
    let w = b.x * a.y - b.y * a.x;
    let sum = u + v + w;
    let is_outside = (min(u, min(v, w)) < 0.0 && max(u, max(v, w)) > 0.0) || sum == 0.0;
    return Weights(is_outside, vec3f(u, v, w) / sum);
}

// Whether the ray meets the triangle before t_max.
fn meets_triangle(triangle: u32, r: Ray, t_max: f32) -> bool {
    let w0 = ray_triangles[3u * triangle];
    let w1 = ray_triangles[3u * triangle + 1u];
    let w2 = ray_triangles[3u * triangle + 2u];
    let p0 = bitcast<vec3f>(w0.xyz) - r.origin;
    let p1 = bitcast<vec3f>(w1.xyz) - r.origin;
    let p2 = bitcast<vec3f>(w2.xyz) - r.origin;
    // In the plane across the ray.
    let weights = weights_of(
        vec2f(dot(r.across_x, p0), dot(r.across_y, p0)),
        vec2f(dot(r.across_x, p1), dot(r.across_y, p1)),
        vec2f(dot(r.across_x, p2), dot(r.across_y, p2)),
    );
    if weights.is_outside { return false; }
    let length2 = dot(r.direction, r.direction);
    let t = dot(weights.shares, vec3f(dot(r.direction, p0), dot(r.direction, p1), dot(r.direction, p2))) / length2;
    if !(t > 0.0 && t < t_max) { return false; }
    return w0.w == RAY_OPAQUE || mask_stops_ray(w0.w, w1.w, weights.shares, sqrt(length2));
}

// The same for a ray along z without end.
fn meets_triangle_along_z(triangle: u32, origin: vec3f) -> bool {
    let w0 = ray_triangles[3u * triangle];
    let w1 = ray_triangles[3u * triangle + 1u];
    let w2 = ray_triangles[3u * triangle + 2u];
    let p0 = bitcast<vec3f>(w0.xyz) - origin;
    let p1 = bitcast<vec3f>(w1.xyz) - origin;
    let p2 = bitcast<vec3f>(w2.xyz) - origin;
    let weights = weights_of(p0.xy, p1.xy, p2.xy);
    if weights.is_outside || !(dot(weights.shares, vec3f(p0.z, p1.z, p2.z)) > 0.0) { return false; }
    // Seen edge on, a triangle is a line, which rounding may take for as long as the box that its node gives it.
    let low = min(p0.xy, min(p1.xy, p2.xy));
    let high = max(p0.xy, max(p1.xy, p2.xy));
    let slack = 1e-6 * max(high.x - low.x, high.y - low.y);
    if any(low > vec2f(slack)) || any(high < vec2f(-slack)) { return false; }
    return w0.w == RAY_OPAQUE || mask_stops_ray(w0.w, w1.w, weights.shares, 1.0);
}

// The node to visit next of a group, which is taken out of it.
fn take_node(group: ptr<function, vec2u>, octant: u32) -> u32 {
    let bit = firstLeadingBit((*group).y);
    let slot = (bit - 24u) ^ (octant & 0xffu);
    let node = (*group).x + countOneBits((*group).y & ~(0xffffffffu << slot) & 0xffu);
    (*group).y &= ~(1u << bit);
    return node;
}

// Whether what stands still stops a ray. `r` is in sun space.
fn still_stops_ray(r: Ray, t_max: f32) -> bool {
    if frame.ray_static_root == RAY_NONE { return false; }
    var n_stacked = 0u;
    var inner = vec2u(frame.ray_static_root, 0x80000000u);
    let octant = select(r.octant, 0x07070707u, RAYS_ARE_PARALLEL);
    loop {
        let node = take_node(&inner, octant);
        if inner.y > 0x00ffffffu {
            ray_stack[n_stacked] = inner;
            n_stacked += 1u;
        }
        var met: vec4u;
        if RAYS_ARE_PARALLEL { met = meet_node_along_z(node, r.origin); } else { met = meet_node(node, r, t_max); }
        inner = met.xy;
        var leaves = met.w;
        while leaves != 0u {
            let triangle = met.z + firstTrailingBit(leaves);
            leaves &= leaves - 1u;
            var is_met: bool;
            if RAYS_ARE_PARALLEL { is_met = meets_triangle_along_z(triangle, r.origin); } else { is_met = meets_triangle(triangle, r, t_max); }
            if is_met { return true; }
        }
        if inner.y <= 0x00ffffffu {
            if n_stacked == 0u { break; }
            n_stacked -= 1u;
            inner = ray_stack[n_stacked];
        }
    }
    return false;
}

// Whether something that moves stops a ray, which is given in world space and as `top` in sun space.
fn mover_stops_ray(origin: vec3f, direction: vec3f, top: Ray, t_max: f32) -> bool {
    if frame.n_ray_instances == 0u { return false; }
    var n_stacked = 0u;
    var r = top;
    var inner = vec2u(0u, 0x80000000u);
    // The stack's height at which the ray leaves the bottom level that it is in.
    var bottom_floor = 0u;
    var is_top = true;
    loop {
        var leaves = vec2u(0u);
        if inner.y > 0x00ffffffu {
            let node = take_node(&inner, r.octant);
            if inner.y > 0x00ffffffu {
                ray_stack[n_stacked] = inner;
                n_stacked += 1u;
            }
            var met: vec4u;
            if RAYS_ARE_PARALLEL && is_top { met = meet_node_along_z(node, top.origin); } else { met = meet_node(node, r, t_max); }
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
                    ray_stack[n_stacked] = inner;
                    n_stacked += 1u;
                }
                if leaves.y != 0u {
                    ray_stack[n_stacked] = leaves;
                    n_stacked += 1u;
                }
                let instance = ray_instances[leaves.x + place];
                bottom_floor = n_stacked;
                is_top = false;
                let local = Transform(instance.row0, instance.row1, instance.row2);
                r = ray_in(transform_point(local, origin), transform_vector(local, direction));
                inner = vec2u(instance.root, 0x80000000u);
                break;
            }
            if meets_triangle(leaves.x + place, r, t_max) { return true; }
        }
        if inner.y <= 0x00ffffffu {
            if n_stacked == 0u { break; }
            if !is_top && n_stacked == bottom_floor {
                is_top = true;
                r = top;
            }
            n_stacked -= 1u;
            inner = ray_stack[n_stacked];
        }
    }
    return false;
}

fn to_sun_space(v: vec3f) -> vec3f {
    return transform_vector(Transform(vec4f(frame.sun_x, 0.0), vec4f(frame.sun_y, 0.0), vec4f(frame.sun_direction, 0.0)), v);
}

// What can be told of a ray towards the sun without end before it is traced: bits, 0 for nothing. World space.
fn foresee_ray(origin: vec3f) -> u32 {
    if !RAYS_ARE_PARALLEL || !HAS_COLUMNS { return 0u; }
    let p = to_sun_space(origin);
    let of_still = foresee_in_columns(p);
    if of_still == RAY_BLOCKED { return RAY_BLOCKED; }
    return select(of_still | RAY_PASSES_MOVERS, of_still, may_meet_mover(p));
}

// Whether anything stops a ray between its origin and t_max (in lengths of `direction`), of which something is foreseen, but not that it is
// blocked. World space.
fn foreseen_ray_is_blocked(origin: vec3f, direction: vec3f, t_max: f32, foreseen: u32) -> bool {
    var along = vec3f(0.0, 0.0, 1.0);
    if !RAYS_ARE_PARALLEL { along = to_sun_space(direction); }
    let r = ray_in(to_sun_space(origin), along);
    // What stands still comes first: it stops most rays.
    if (foreseen & RAY_PASSES_STILL) == 0u && still_stops_ray(r, t_max) { return true; }
    return (foreseen & RAY_PASSES_MOVERS) == 0u && mover_stops_ray(origin, direction, r, t_max);
}

// As the two before.
fn sun_ray_is_blocked(origin: vec3f, direction: vec3f, t_max: f32) -> bool {
    let foreseen = foresee_ray(origin);
    if foreseen == RAY_BLOCKED { return true; }
    return foreseen != RAY_PASSES && foreseen_ray_is_blocked(origin, direction, t_max, foreseen);
}
