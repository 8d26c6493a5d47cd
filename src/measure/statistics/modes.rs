//! The levels that a line has.

use crate::measure::quantile::quantile_by;

/// A level about which values gather.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median of its values.
    pub centre: f64,
    /// Its least value.
    pub low: f64,
    /// Its greatest value.
    pub high: f64,
    /// Its share of all values: 0 to 1.
    pub occupancy: f64,
}

/// A valley this deep, as a share of the lower of the peaks beside it, parts two modes.
const DEEPEST_SHARED: f64 = 0.7;
/// Values that are no mode of their own.
const FEWEST_IN_MODE: usize = 3;
const MOST_CELLS: usize = 8_192;

/// The modes of `values`, ascending; each value belongs to one, so that occupancies add up to 1. A
/// frame that takes one of two ways now and then shows as two modes, and the rarer is not an outlier.
///
/// The peaks of a Gaussian kernel density estimate with Silverman's rule-of-thumb bandwidth 0.9·min(s, IQR/1.34)·n^(−1/5)
/// (Silverman 1986, Density Estimation, equation 3.31), parted at the valleys between. Peaks with no valley below 70% of the lower one are one mode, and so are
/// fewer than 3 values with their nearer neighbour. For positive values the density is that of their logarithms, so that a
/// level's width is relative.
pub fn modes(values: &[f64]) -> Vec<Mode> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let is_positive = sorted.first().is_some_and(|least| *least > 0.0);
    let scaled: Vec<f64> = if is_positive { sorted.iter().map(|value| value.ln()).collect() } else { sorted.clone() };
    let mut borders = match bandwidth(&scaled) {
        Some(bandwidth) => valleys(&scaled, bandwidth),
        None => Vec::new(),
    };
    borders.push(f64::INFINITY);
    let mut groups: Vec<&[f64]> = Vec::new();
    let mut first = 0;
    for border in borders {
        let end = scaled.partition_point(|value| *value < border);
        if end > first {
            groups.push(&sorted[first..end]);
            first = end;
        }
    }
    let groups = joined(&sorted, groups.iter().map(|group| group.len()).collect());
    groups.iter().filter_map(|group| mode_of(group, sorted.len())).collect()
}

fn mode_of(group: &[f64], n_all: usize) -> Option<Mode> {
    Some(Mode {
        centre: quantile_by(group.len(), 0.5, |idx| group[idx])?,
        low: *group.first()?,
        high: *group.last()?,
        occupancy: group.len() as f64 / n_all as f64,
    })
}

/// `sorted` in groups of `sizes`, those that are too small joined with the neighbour across the narrower gap.
fn joined(sorted: &[f64], mut sizes: Vec<usize>) -> Vec<&[f64]> {
    while sizes.len() > 1
        && let Some(idx) = sizes.iter().position(|size| *size < FEWEST_IN_MODE)
    {
        let first: usize = sizes[..idx].iter().sum();
        let end = first + sizes[idx];
        let gap_below = if idx == 0 { f64::INFINITY } else { sorted[first] - sorted[first - 1] };
        let gap_above = if end == sorted.len() { f64::INFINITY } else { sorted[end] - sorted[end - 1] };
        let into = if gap_below <= gap_above { idx - 1 } else { idx };
        sizes[into] += sizes[into + 1];
        sizes.remove(into + 1);
    }
    let mut rest = sorted;
    let split = |size: usize| {
        let (group, after) = rest.split_at(size);
        rest = after;
        group
    };
    sizes.into_iter().map(split).collect()
}

/// Silverman's rule of thumb; `None` where all values are the same.
fn bandwidth(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let variance = sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let at = |p: f64| quantile_by(sorted.len(), p, |idx| sorted[idx]);
    let quartiles = (at(0.75)? - at(0.25)?) / 1.34;
    let spread = if quartiles > 0.0 { variance.sqrt().min(quartiles) } else { variance.sqrt() };
    let bandwidth = 0.9 * spread * n.powf(-0.2);
    // Rounding leaves a little spread where there is none.
    (bandwidth > 1e-12 * mean.abs() && bandwidth.is_finite()).then_some(bandwidth)
}

/// Where the density's valleys are, ascending.
fn valleys(sorted: &[f64], bandwidth: f64) -> Vec<f64> {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let low = first - 3.0 * bandwidth;
    let width = last - first + 6.0 * bandwidth;
    let n_cells = ((width / bandwidth * 6.0).ceil() as usize).clamp(64, MOST_CELLS);
    let cell = width / (n_cells - 1) as f64;
    let density = density(sorted, low, cell, n_cells, bandwidth);
    // Peaks with the valley after each, joined from left to right until every valley is deep enough.
    let mut peaks: Vec<f64> = Vec::new();
    let mut between: Vec<(f64, usize)> = Vec::new();
    let (mut is_rising, mut lowest) = (true, (f64::INFINITY, 0));
    for idx in 1..n_cells {
        let (before, now) = (density[idx - 1], density[idx]);
        if is_rising && now < before {
            if !peaks.is_empty() {
                between.push(lowest);
            }
            peaks.push(before);
            (is_rising, lowest) = (false, (now, idx));
        } else if !is_rising && now > before {
            is_rising = true;
        } else if !is_rising && now <= lowest.0 {
            lowest = (now, idx);
        }
    }
    loop {
        // The shallowest valley first: what it parts is the least apart.
        let depth = |idx: usize| between[idx].0 / peaks[idx].min(peaks[idx + 1]);
        let shallowest = (0..between.len()).max_by(|&a, &b| depth(a).total_cmp(&depth(b)));
        match shallowest {
            Some(idx) if depth(idx) > DEEPEST_SHARED => {
                peaks[idx] = peaks[idx].max(peaks[idx + 1]);
                peaks.remove(idx + 1);
                between.remove(idx);
            }
            _ => return between.into_iter().map(|(_, idx)| low + idx as f64 * cell).collect(),
        }
    }
}

/// The density, up to a factor, at `n_cells` points `cell` apart: values are put on the two points beside them by nearness, then
/// blurred by the kernel (Silverman 1986, section 3.5).
fn density(sorted: &[f64], low: f64, cell: f64, n_cells: usize, bandwidth: f64) -> Vec<f64> {
    let mut counts = vec![0.0; n_cells];
    for value in sorted {
        let place = (value - low) / cell;
        let idx = (place as usize).min(n_cells - 2);
        let share = place - idx as f64;
        counts[idx] += 1.0 - share;
        counts[idx + 1] += share;
    }
    let reach = ((4.0 * bandwidth / cell).ceil() as usize).min(n_cells - 1);
    let kernel: Vec<f64> = (0..=reach).map(|idx| (-0.5 * (idx as f64 * cell / bandwidth).powi(2)).exp()).collect();
    let mut density = vec![0.0; n_cells];
    for (idx, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        for (other, value) in density.iter_mut().enumerate().take(idx + reach + 1).skip(idx.saturating_sub(reach)) {
            *value += count * kernel[idx.abs_diff(other)];
        }
    }
    density
}
