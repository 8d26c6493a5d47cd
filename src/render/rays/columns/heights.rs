//! Heights as halves, rounded to the safe side.

/// A half that no height reaches.
pub const NEVER: u16 = 0x7bff;
/// The least normal half: smaller ones may be taken for 0.
const LEAST_NORMAL: f64 = 1.0 / 16_384.0;

/// The least half that is not less than `x`; [`NEVER`] if there is none. No subnormal numbers.
pub fn half_at_least(x: f64) -> u16 {
    if x.is_nan() || x > 65_504.0 {
        return NEVER;
    }
    if x > 0.0 {
        if x < LEAST_NORMAL { 0x0400 } else { magnitude(x, true) }
    } else if x > -LEAST_NORMAL {
        0
    } else {
        0x8000 | magnitude((-x).min(65_504.0), false)
    }
}

/// The greatest half that is not more than `x`; the negative of [`NEVER`] if there is none.
pub fn half_at_most(x: f64) -> u16 {
    half_at_least(-x) ^ 0x8000
}

/// Bits of a number from the least normal half to the greatest, rounded up or down.
fn magnitude(x: f64, is_up: bool) -> u16 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let steps = x * 2f64.powi(10 - exponent);
    let steps = if is_up { steps.ceil() } else { steps.floor() };
    // From 1024 to 2048: the last carries into the exponent.
    (((exponent + 15) as u32) << 10).wrapping_add(steps as u32 - 1024) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(half: u16) -> f64 {
        let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
        match (half >> 10) & 0x1f {
            0 => 0.0,
            exponent => sign * (1.0 + f64::from(half & 0x3ff) / 1024.0) * 2f64.powi(i32::from(exponent) - 15),
        }
    }

    #[test]
    fn halves_are_the_nearest_on_their_side() {
        let mut x = 1e-12;
        while x < 70_000.0 {
            for x in [x, -x] {
                let (up, down) = (value_of(half_at_least(x)), value_of(half_at_most(x)));
                let is_exact = |half: f64| {
                    half >= x - x.abs() / 1024.0 - LEAST_NORMAL && half <= x + x.abs() / 1024.0 + LEAST_NORMAL
                };
                if x.abs() <= 65_504.0 {
                    assert!(up >= x && down <= x && is_exact(up) && is_exact(down), "{x}: {down} to {up}");
                }
            }
            x *= 1.037;
        }
        for exact in [1.0, 1.5, 2.0, 1024.0, 65_504.0, LEAST_NORMAL] {
            assert_eq!([half_at_least(exact), half_at_most(exact)].map(value_of), [exact; 2]);
            assert_eq!([half_at_least(-exact), half_at_most(-exact)].map(value_of), [-exact; 2]);
        }
        assert_eq!((half_at_least(1e9), half_at_most(-1e9)), (NEVER, NEVER | 0x8000));
        assert_eq!((half_at_least(f64::NAN), value_of(half_at_most(1e9))), (NEVER, 65_504.0));
    }
}
