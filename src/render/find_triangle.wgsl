// From a triangle's number back to its instance and its place in the index buffer.

struct Found {
    instance_idx: u32,
    // Index of the triangle's first index, over three.
    triangle: u32,
}

fn find_triangle(id: u32) -> Found {
    // The table narrows the search to the instances that begin within a block of numbers, mostly one or two.
    let block = id >> frame.triangle_block_bits;
    var low = triangle_blocks[block];
    var high = triangle_blocks[block + 1u];
    while low < high {
        let middle = (low + high + 1u) / 2u;
        if instances[middle].first_triangle <= id { low = middle; } else { high = middle - 1u; }
    }
    let mesh = meshes[instances[low].mesh_idx];
    let n = mesh.n_indices / 3u;
    var rest = id - instances[low].first_triangle;
    var first = mesh.first_index.x;
    if rest >= n.x {
        rest -= n.x;
        first = mesh.first_index.y;
        if rest >= n.y {
            rest -= n.y;
            first = mesh.first_index.z;
            if rest >= n.z {
                rest -= n.z;
                first = mesh.first_index.w;
            }
        }
    }
    return Found(low, first / 3u + rest);
}
