//! Numbers as people read them.

use crate::measure::Unit;

/// A value with its unit, to four digits: `847 ns`, `512.3 µs`, `20.15 ms`, `1.204 s`, `48.0 MiB`.
pub fn format_value(value: f64, unit: Unit) -> String {
    const TIMES: &[(f64, &str)] = &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
    const SIZES: &[(f64, &str)] = &[(1.0, "B"), (1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB")];
    match unit {
        Unit::Nanoseconds => scaled(value, TIMES),
        Unit::Bytes => scaled(value, SIZES),
        Unit::Count if value.fract() == 0.0 => format!("{value:.0}"),
        Unit::Count => format!("{value:.1}"),
    }
}

/// `value` in the largest scale of which there is at least one.
fn scaled(value: f64, scales: &[(f64, &str)]) -> String {
    // Half a unit of the last digit shown, so that 999,960 ns are 1.000 ms and not 1000.0 µs.
    const ROUNDS_UP: f64 = 0.99995;
    let (scale, name) = scales.iter().rfind(|(scale, _)| value >= scale * ROUNDS_UP).copied().unwrap_or(scales[0]);
    let scaled = value / scale;
    let n_decimals = match scaled {
        _ if scale == 1.0 => 0,
        ..9.9995 => 3,
        ..99.995 => 2,
        _ => 1,
    };
    format!("{scaled:.n_decimals$} {name}")
}

/// A difference in percent with its sign; `-` where there is none to give.
pub(super) fn format_delta(percent: Option<f64>) -> String {
    match percent {
        Some(percent) if percent.abs() >= 0.05 => format!("{percent:+.1}%"),
        Some(_) => "0.0%".to_owned(),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_values_are_readable() {
        for (value, expected) in [
            (0.0, "0 ns"),
            (847.0, "847 ns"),
            (1_000.0, "1.000 µs"),
            (4_977.2, "4.977 µs"),
            (512_345.0, "512.3 µs"),
            (999_960.0, "1.000 ms"),
            (20_151_000.0, "20.15 ms"),
            (1_204_000_000.0, "1.204 s"),
            (9e12, "9000.0 s"),
        ] {
            assert_eq!(format_value(value, Unit::Nanoseconds), expected);
        }
        assert_eq!(format_value(50_331_648.0, Unit::Bytes), "48.00 MiB");
        assert_eq!((format_value(12.0, Unit::Count), format_value(12.5, Unit::Count)), ("12".into(), "12.5".into()));
    }

    #[test]
    fn report_deltas_have_a_sign() {
        let deltas = [Some(3.11), Some(-12.0), Some(-0.01), None].map(format_delta);
        assert_eq!(deltas, ["+3.1%", "-12.0%", "0.0%", "-"]);
    }
}
