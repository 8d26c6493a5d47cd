// Where the sun's rays start: on the plane of a triangle that a pixel sees, lifted off it by as much as rounding and coarser levels of
// detail could have sunk it below what the rays meet.

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
    let position = view.origin + view.direction * depth;
    let width = select(max(depth, 0.0), 1.0, frame.is_orthographic != 0u) / frame.px_per_metre;
    return RayStart(position + frame.camera_position + r.normal * (r.lift + 0.05 * width), width);
}
