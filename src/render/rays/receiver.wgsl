// Where the sun's rays start: on the plane of a triangle that a pixel sees, lifted off it by as much as rounding and coarser levels of
// detail could have sunk it below what the rays meet. Where the triangle stands for a curved surface, on that: else the triangles of a
// coarse mesh would shade each other in streaks.

struct Receiver {
    // Whether the sun can light it at all: it faces the sun and its material is lit.
    is_traced: bool,
    // The plane, relative to the camera; the normal faces the camera.
    point: vec3f,
    normal: vec3f,
    // The triangle's extent along the view.
    nearest: f32,
    farthest: f32,
    // Metres by which rays start above the plane, less what follows from the pixel's size.
    lift: f32,
    // The triangle's other corners, relative to the first, and the normals at all three, on the camera's side; where one of them is 0, the
    // surface is taken to be flat there.
    across_1: vec3f,
    across_2: vec3f,
    is_curved: bool,
    normals: array<vec3f, 3>,
}

// A corner's normal as `receiver` wants it. Those that lean far away from the triangle say nothing of its curvature.
fn corner_normal(t: Transform, packed: u32, facing: vec3f) -> vec3f {
    let n = transform_normal(t, decode_normal(packed));
    let unit = n * inverseSqrt(max(dot(n, n), 1e-37));
    let cosine = dot(unit, facing);
    return select(vec3f(0.0), unit * sign(cosine), abs(cosine) > 0.5);
}

// From a point of the triangle to the surface that its corners' normals tell of: away from each corner's tangent plane if the point lies
// below it, by as much, weighted as the corners are (Hanika, Hacking the Shadow Terminator, 2021). Where the surface is hollow the
// triangle is above it already.
fn rise_to_curve(r: Receiver, from_first: vec3f) -> vec3f {
    let across = cross(r.across_1, r.across_2);
    let area2 = max(dot(across, across), 1e-37);
    let w1 = saturate(dot(cross(from_first, r.across_2), across) / area2);
    let w2 = min(saturate(dot(cross(r.across_1, from_first), across) / area2), 1.0 - w1);
    let below_0 = max(-dot(from_first, r.normals[0]), 0.0);
    let below_1 = max(-dot(from_first - r.across_1, r.normals[1]), 0.0);
    let below_2 = max(-dot(from_first - r.across_2, r.normals[2]), 0.0);
    return (1.0 - w1 - w2) * below_0 * r.normals[0] + w1 * below_1 * r.normals[1] + w2 * below_2 * r.normals[2];
}

// A ray of the camera: from origin + t · direction, relative to the camera.
struct ViewRay {
    origin: vec3f,
    direction: vec3f,
}

fn view_ray(px: vec2f) -> ViewRay {
    let ndc = (px / vec2f(frame.size_px) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0) - frame.jitter_ndc) * frame.half_extent;
    let across = frame.camera_right.xyz * ndc.x + frame.camera_up.xyz * ndc.y;
    if frame.is_orthographic != 0u { return ViewRay(across, -frame.camera_backward.xyz); }
    return ViewRay(vec3f(0.0), across - frame.camera_backward.xyz);
}

fn receiver(id: u32) -> Receiver {
    let found = find_triangle(id);
    let instance = instances[found.instance_idx];
    let transform = transforms[instance.transform_idx];
    let first = 3u * found.triangle;
    let p0 = transform_point(transform, load_position(indices[first])) - frame.camera_position;
    let p1 = transform_point(transform, load_position(indices[first + 1u])) - frame.camera_position;
    let p2 = transform_point(transform, load_position(indices[first + 2u])) - frame.camera_position;
    var r: Receiver;
    let across = cross(p1 - p0, p2 - p0);
    let to_camera = select(-p0, frame.camera_backward.xyz, frame.is_orthographic != 0u);
    r.normal = across * inverseSqrt(max(dot(across, across), 1e-37));
    if dot(r.normal, to_camera) < 0.0 { r.normal = -r.normal; }
    r.point = p0;
    let depths = -vec3f(dot(p0, frame.camera_backward.xyz), dot(p1, frame.camera_backward.xyz), dot(p2, frame.camera_backward.xyz));
    r.nearest = min(depths.x, min(depths.y, depths.z));
    r.farthest = max(depths.x, max(depths.y, depths.z));
    // Sixteen roundings of the largest number on the way: world position, position relative to the camera, triangle.
    let magnitude = length(frame.camera_position) + length(p0) + max(length(p1 - p0), length(p2 - p0));
    let error = meshes[instance.mesh_idx].lod_error;
    r.lift = 1.9e-6 * magnitude + 2.0 * largest_scale(transform) * error[found.lod];
    r.across_1 = p1 - p0;
    r.across_2 = p2 - p0;
    let n0 = attributes[indices[first]].normal;
    let n1 = attributes[indices[first + 1u]].normal;
    let n2 = attributes[indices[first + 2u]].normal;
    // Leaves on cards have the normals of a tree's crown.
    let is_masked = (materials[instance.material_idx].flags & FLAG_MASKED) != 0u;
    r.is_curved = !is_masked && (n0 != n1 || n1 != n2);
    if r.is_curved {
        r.normals[0] = corner_normal(transform, n0, r.normal);
        r.normals[1] = corner_normal(transform, n1, r.normal);
        r.normals[2] = corner_normal(transform, n2, r.normal);
    }
    r.is_traced = dot(r.normal, frame.sun_direction) > 0.0 && (materials[instance.material_idx].flags & FLAG_UNLIT) == 0u;
    return r;
}

// Where a ray starts, and how many metres a pixel covers there.
struct RayStart {
    origin: vec3f,
    width: f32,
}

// The point of the receiver that is seen through `px`, in world space.
fn ray_start(r: Receiver, px: vec2f) -> RayStart {
    let view = view_ray(px);
    // Depth of the plane along the view ray, whose direction has depth 1; within the triangle's own, which saves what is seen edge on.
    let slope = dot(r.normal, view.direction);
    let hit = dot(r.normal, r.point - view.origin) / select(slope, 1e-20, abs(slope) < 1e-20);
    let depth = clamp(hit, r.nearest, r.farthest);
    var position = view.origin + view.direction * depth;
    if r.is_curved { position += rise_to_curve(r, position - r.point); }
    let width = select(max(depth, 0.0), 1.0, frame.is_orthographic != 0u) / frame.px_per_metre;
    return RayStart(position + frame.camera_position + r.normal * (r.lift + 0.05 * width), width);
}
