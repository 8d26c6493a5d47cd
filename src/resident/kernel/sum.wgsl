// Sums: one tree, whoever adds. Blocks of 1,024 values: four to a quad, (x + y) + (z + w), then the quads' sums halved again and again. What is
// missing at the end is zero. The blocks' sums are summed alike, until there is one.
//
// A subgroup has a block, or a wide one several. Its quads stand in rows: the tree halves the rows first, for which a lane has its columns
// alone, then the columns, which lanes hand to each other. No barrier is needed before the block's sum is there.

const BLOCK_QUADS: u32 = SUM_BLOCK / 4u;
const N_ROWS: u32 = 8u;
const N_COLUMNS: u32 = BLOCK_QUADS / N_ROWS;

// The blocks' sums, or some of them, where the workgroup that has them sums them up.
var<workgroup> part: array<vec4<f32>, BLOCK_QUADS>;

// Alone: all of it. Shared: a member's blocks; then, for whoever came last, the sum of what all left.
fn sum_blocks(lane: u32, seat: Seat, member: u32, n_members: u32, step: Step, step_idx: u32, number: u32, round: u32) {
    let n = n_elements_of(step);
    let n_blocks = max(n_blocks_of(n), 1u);
    let is_in_part = n_members == 1u && n_blocks <= SUM_BLOCK;
    if (round == SHARE) {
        // Blocks that a subgroup has at once.
        let n_each = max(seat.width / N_COLUMNS, 1u);
        for (var at = (seat.subgroup * n_members + member) * n_each; at < n_blocks; at += seat.n_subgroups * n_members * n_each) {
            let block = at + seat.place / N_COLUMNS;
            let sum = block_sum(seat, false, step.a, n, block);
            if (seat.place % N_COLUMNS == 0u && block < n_blocks) {
                if (is_in_part) {
                    part[block / 4u][block % 4u] = sum;
                } else {
                    scratch[block / 4u][block % 4u] = sum;
                }
            }
        }
        if (n_members > 1u) {
            return;
        }
    }
    if (is_in_part) {
        workgroupBarrier();
    } else if (round == SHARE) {
        storageBarrier();
    }
    let sum = sum_of_sums(lane, seat, n_blocks, is_in_part);
    set_result(lane, number, n_members, step_idx, bitcast<u32>(sum));
    if (lane == 0u) {
        store_sum(step, sum);
    }
}

// Of `n` sums in `part` or in the scratch memory, whose halves take turns.
fn sum_of_sums(lane: u32, seat: Seat, n: u32, is_in_part: bool) -> f32 {
    let n_half = arrayLength(&scratch) / 2u;
    var n_values = n;
    var src = 0u;
    loop {
        let n_blocks = n_blocks_of(n_values);
        var sum = 0.0;
        for (var block = 0u; block < n_blocks; block++) {
            if (!is_in_part) {
                for (var quad = lane; quad < BLOCK_QUADS; quad += N_LANES) {
                    part[quad] = scratch[src + block * BLOCK_QUADS + quad];
                }
                workgroupBarrier();
            }
            if (seat.subgroup == 0u) {
                // One alone is the sum: to add it to zeros would make 0 of -0.
                var own = part[0].x;
                if (n_values > 1u) {
                    own = block_sum(seat, true, 0u, n_values - block * SUM_BLOCK, seat.place / N_COLUMNS);
                }
                if (seat.place == 0u) {
                    found = bitcast<u32>(own);
                }
            }
            sum = bitcast<f32>(workgroupUniformLoad(&found));
            if (n_blocks > 1u && lane == 0u) {
                scratch[n_half - src + block / 4u][block % 4u] = sum;
            }
        }
        if (n_blocks == 1u) {
            return sum;
        }
        storageBarrier();
        n_values = n_blocks;
        src = n_half - src;
    }
    // Never reached; the language asks for it.
    return 0.0;
}

fn n_blocks_of(n_values: u32) -> u32 {
    return n_values / SUM_BLOCK + u32(n_values % SUM_BLOCK != 0u);
}

// One lane's.
fn store_sum(step: Step, sum: f32) {
    if (step.capacity > 0u && step.out < N_ARENA_QUADS) {
        arena[step.out].x = sum;
    }
}

// The sum of `block`, for the lane with its first column. Of `n` values, which lie in the arena from quad `offset` on, or in `part`.
fn block_sum(seat: Seat, is_in_part: bool, offset: u32, n: u32, block: u32) -> f32 {
    return columns_sum(min(seat.width, N_COLUMNS), own_columns_sum(seat, is_in_part, offset, n, block));
}

// What a lane has of it: one column, or where a subgroup is narrow several. With their numbers' bits reversed, each is added as soon as its half of
// a tree is there.
fn own_columns_sum(seat: Seat, is_in_part: bool, offset: u32, n: u32, block: u32) -> f32 {
    let n_lanes = min(seat.width, N_COLUMNS);
    let first = block * BLOCK_QUADS + seat.place % N_COLUMNS;
    let n_own = N_COLUMNS / n_lanes;
    // Without the loop for the same reason: see `columns_sum`.
    if (n_own == 1u) {
        return column_sum(is_in_part, offset + first, left_of(n, first));
    }
    let n_bits = countTrailingZeros(n_own);
    var halves = vec3(0.0);
    var sum = 0.0;
    for (var own = 0u; own < n_own; own++) {
        let quad = first + n_lanes * extractBits(reverseBits(own), 32u - n_bits, n_bits);
        sum = column_sum(is_in_part, offset + quad, left_of(n, quad));
        if ((own & 1u) == 0u) {
            halves.x = sum;
            continue;
        }
        sum = halves.x + sum;
        if ((own & 2u) == 0u) {
            halves.y = sum;
            continue;
        }
        sum = halves.y + sum;
        if ((own & 4u) == 0u) {
            halves.z = sum;
            continue;
        }
        sum = halves.z + sum;
    }
    return sum;
}

// Of one column: quads `first`, `first + N_COLUMNS` and so on, of which `n_left` elements are left from the first one's on. All are read at
// once and stay in registers, so that nothing here is a loop that would have to be unrolled.
fn column_sum(is_in_part: bool, first: u32, n_left: u32) -> f32 {
    var rows: array<vec4<f32>, N_ROWS>;
    if (is_in_part) {
        rows = array(
            part[first],
            part[first + N_COLUMNS],
            part[first + 2u * N_COLUMNS],
            part[first + 3u * N_COLUMNS],
            part[first + 4u * N_COLUMNS],
            part[first + 5u * N_COLUMNS],
            part[first + 6u * N_COLUMNS],
            part[first + 7u * N_COLUMNS],
        );
    } else {
        rows = array(
            arena[first],
            arena[first + N_COLUMNS],
            arena[first + 2u * N_COLUMNS],
            arena[first + 3u * N_COLUMNS],
            arena[first + 4u * N_COLUMNS],
            arena[first + 5u * N_COLUMNS],
            arena[first + 6u * N_COLUMNS],
            arena[first + 7u * N_COLUMNS],
        );
    }
    let low = vec4(
        quad_sum(rows[0], n_left),
        quad_sum(rows[1], left_of(n_left, N_COLUMNS)),
        quad_sum(rows[2], left_of(n_left, 2u * N_COLUMNS)),
        quad_sum(rows[3], left_of(n_left, 3u * N_COLUMNS)),
    );
    let high = vec4(
        quad_sum(rows[4], left_of(n_left, 4u * N_COLUMNS)),
        quad_sum(rows[5], left_of(n_left, 5u * N_COLUMNS)),
        quad_sum(rows[6], left_of(n_left, 6u * N_COLUMNS)),
        quad_sum(rows[7], left_of(n_left, 7u * N_COLUMNS)),
    );
    let four = low + high;
    let two = four.xy + four.zw;
    return two.x + two.y;
}

// The first of `n_lanes` lanes has the sum over all of them.
fn columns_sum(n_lanes: u32, own: f32) -> f32 {
    var sum = own;
    // As most GPUs have it: the loop takes 0.6 µs more on an H200, whose compiler doesn't know its end.
    if (n_lanes == 32u) {
        sum += subgroupShuffleDown(sum, 16u);
        sum += subgroupShuffleDown(sum, 8u);
        sum += subgroupShuffleDown(sum, 4u);
        sum += subgroupShuffleDown(sum, 2u);
        sum += subgroupShuffleDown(sum, 1u);
        return sum;
    }
    for (var half = n_lanes / 2u; half > 0u; half >>= 1u) {
        sum += subgroupShuffleDown(sum, half);
    }
    return sum;
}

// Of `n` elements those from this quad on.
fn left_of(n: u32, quad: u32) -> u32 {
    return max(n, quad * 4u) - quad * 4u;
}

// Of a quad's first `n_left` elements.
fn quad_sum(quad: vec4<f32>, n_left: u32) -> f32 {
    let x = select(vec4(0.0), quad, vec4(0u, 1u, 2u, 3u) < vec4(n_left));
    return (x.x + x.y) + (x.z + x.w);
}
