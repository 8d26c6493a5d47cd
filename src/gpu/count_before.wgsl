// Wants `N_LANES`, a power of two, and `var<workgroup> counts: array<u32, N_LANES>`.

// The sum of `own` over the lanes before this one; `counts` then ends with the sum over all.
fn count_before(lane: u32, own: u32) -> u32 {
    workgroupBarrier();
    counts[lane] = own;
    for (var distance = 1u; distance < N_LANES; distance <<= 1u) {
        workgroupBarrier();
        var sum = counts[lane];
        if (lane >= distance) {
            sum += counts[lane - distance];
        }
        workgroupBarrier();
        counts[lane] = sum;
    }
    workgroupBarrier();
    return counts[lane] - own;
}
