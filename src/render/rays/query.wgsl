// Backend `query`, group 3: the adapter's own ray queries. The same triangles, the same masks, the same answer as `bvh.wgsl`.

@group(3) @binding(0) var ray_top: acceleration_structure;
@group(3) @binding(1) var<storage, read> ray_triangles: array<vec4u>;
// By the instance's custom number: its first triangle.
@group(3) @binding(2) var<storage, read> ray_instances: array<u32>;

// Ends at the first hit.
const FIRST_HIT: u32 = 4u;

fn sun_ray_is_blocked(origin: vec3f, direction: vec3f, t_max: f32) -> bool {
    var query: ray_query;
    rayQueryInitialize(&query, ray_top, RayDesc(FIRST_HIT, 0xffu, 0.0, t_max, origin, direction));
    while rayQueryProceed(&query) {
        // Only triangles that may have holes come here.
        let hit = rayQueryGetCandidateIntersection(&query);
        if hit.kind != RAY_QUERY_INTERSECTION_TRIANGLE { continue; }
        let triangle = ray_instances[hit.instance_custom_data] + hit.primitive_index;
        let mask_material = ray_triangles[3u * triangle].w;
        let weights = vec3f(1.0 - hit.barycentrics.x - hit.barycentrics.y, hit.barycentrics);
        let local_scale = length(hit.world_to_object * vec4f(direction, 0.0));
        if mask_material == RAY_OPAQUE || mask_stops_ray(mask_material, ray_triangles[3u * triangle + 1u].w, weights, local_scale) {
            rayQueryConfirmIntersection(&query);
        }
    }
    return rayQueryGetCommittedIntersection(&query).kind != RAY_QUERY_INTERSECTION_NONE;
}

// Nothing is foreseen here.
fn foresee_ray(origin: vec3f) -> u32 { return 0u; }

fn foreseen_ray_is_blocked(origin: vec3f, direction: vec3f, t_max: f32, foreseen: u32) -> bool {
    return sun_ray_is_blocked(origin, direction, t_max);
}
