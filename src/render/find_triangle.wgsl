// From a triangle's number back to its instance and its place in the index buffer.

struct Found {
    instance_idx: u32,
    // Index of the triangle's first index, over three.
    triangle: u32,
    lod: u32,
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
    var lod = 0u;
    if rest >= n.x {
        rest -= n.x;
        lod = 1u;
        if rest >= n.y {
            rest -= n.y;
            lod = 2u;
            if rest >= n.z {
                rest -= n.z;
                lod = 3u;
            }
        }
    }
    return Found(low, mesh.first_index[lod] / 3u + rest, lod);
}
