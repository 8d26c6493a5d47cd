//! Blue noise: values so spread over a square of pixels that neighbours differ and no clumps show, by voids and clusters (Ulichney 1993).

/// Pixels of a side of the square; it repeats.
pub const SIDE: usize = 64;
const N: usize = SIDE * SIDE;
/// Pixels over which a point repels others, as a Gaussian's standard deviation, and where that ends.
const SPREAD_PX: f32 = 1.5;
const REACH_PX: isize = 6;

/// Two values from 0 to 1 for each pixel, row by row, each two times unorm 16: where in the sun's disc its ray goes.
pub fn sun_disc_pattern() -> Vec<u32> {
    let [a, b] = [1, 2].map(ranks);
    let unorm = |rank: u32| rank * 65_536 / N as u32;
    a.into_iter().zip(b).map(|(a, b)| unorm(a) | unorm(b) << 16).collect()
}

/// The pixels' numbers from 0 to N - 1 in an order in which each fills the largest void among those before it.
fn ranks(seed: u64) -> Vec<u32> {
    let mut points = Points::scattered(seed, N / 10);
    // Clusters into voids until the tightest cluster is the largest void's neighbour no more.
    for _ in 0..N {
        let cluster = points.tightest_cluster();
        points.set(cluster, false);
        let void = points.largest_void();
        points.set(void, true);
        if void == cluster {
            break;
        }
    }
    let mut ranks = vec![0; N];
    let n_first = points.n;
    let mut removed = points.clone();
    for rank in (0..n_first).rev() {
        let cluster = removed.tightest_cluster();
        removed.set(cluster, false);
        ranks[cluster] = rank;
    }
    for rank in n_first..N as u32 {
        let void = points.largest_void();
        points.set(void, true);
        ranks[void] = rank;
    }
    ranks
}

/// Some of the pixels, and how crowded each is.
#[derive(Clone)]
struct Points {
    is_set: Vec<bool>,
    crowding: Vec<f32>,
    n: u32,
}

impl Points {
    fn scattered(seed: u64, n: usize) -> Self {
        let mut points = Self { is_set: vec![false; N], crowding: vec![0.0; N], n: 0 };
        let mut state = seed;
        while (points.n as usize) < n {
            // Knuth's generator; its highest bits are its best.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let px = (state >> 40) as usize % N;
            if !points.is_set[px] {
                points.set(px, true);
            }
        }
        points
    }

    fn set(&mut self, px: usize, is_set: bool) {
        self.is_set[px] = is_set;
        self.n = if is_set { self.n + 1 } else { self.n - 1 };
        let sign = if is_set { 1.0 } else { -1.0 };
        let (x, y) = ((px % SIDE) as isize, (px / SIDE) as isize);
        for dy in -REACH_PX..=REACH_PX {
            for dx in -REACH_PX..=REACH_PX {
                let wrap = |at: isize| at.rem_euclid(SIDE as isize) as usize;
                let weight = (-(dx * dx + dy * dy) as f32 / (2.0 * SPREAD_PX * SPREAD_PX)).exp();
                self.crowding[wrap(y + dy) * SIDE + wrap(x + dx)] += sign * weight;
            }
        }
    }

    fn tightest_cluster(&self) -> usize {
        let set = (0..N).filter(|&px| self.is_set[px]);
        set.max_by(|&a, &b| self.crowding[a].total_cmp(&self.crowding[b])).unwrap_or(0)
    }

    fn largest_void(&self) -> usize {
        let unset = (0..N).filter(|&px| !self.is_set[px]);
        unset.min_by(|&a, &b| self.crowding[a].total_cmp(&self.crowding[b])).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_there_once_and_no_clumps_show() {
        let ranks = ranks(1);
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..N as u32).collect::<Vec<_>>());
        // Means over blocks of 4 × 4: of white noise their variance is 1/12 over 16.
        let blocks = N / 16;
        let variance: f64 = (0..blocks)
            .map(|block| {
                let (bx, by) = (block % (SIDE / 4), block / (SIDE / 4));
                let sum: f64 = (0..16).map(|i| f64::from(ranks[(4 * by + i / 4) * SIDE + 4 * bx + i % 4])).sum();
                (sum / 16.0 / N as f64 - 0.5).powi(2)
            })
            .sum::<f64>()
            / blocks as f64;
        let white = 1.0 / 12.0 / 16.0;
        assert!(variance < 0.25 * white, "{variance} of {white}");
    }

    #[test]
    fn the_patterns_two_values_know_nothing_of_each_other() {
        let pattern = sun_disc_pattern();
        let centered = |value: u32| f64::from(value) / 65_536.0 - 0.5;
        let products = pattern.iter().map(|&both| centered(both & 0xffff) * centered(both >> 16));
        let correlation = products.sum::<f64>() / N as f64 * 12.0;
        assert!(correlation.abs() < 0.1, "{correlation}");
    }
}
