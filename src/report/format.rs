//! Numbers as people read them.

use crate::measure::Unit;

const TIMES: &[(f64, &str)] = &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const SIZES: &[(f64, &str)] = &[(1.0, "B"), (1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB")];

/// A value with its unit, to four digits: `847 ns`, `512.3 µs`, `20.15 ms`, `1.204 s`, `48.0 MiB`.
pub fn format_value(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => scaled(value, TIMES),
        Unit::Bytes => scaled(value, SIZES),
        Unit::Count if value.fract() == 0.0 => format!("{value:.0}"),
        Unit::Count => format!("{value:.1}"),
    }
}

/// Half a unit of the last digit shown, so that 999,960 ns are 1.000 ms and not 1000.0 µs.
const ROUNDS_UP: f64 = 0.99995;

/// `value` in the largest scale of which there is at least one.
fn scaled(value: f64, scales: &[(f64, &str)]) -> String {
    let (scale, name) = largest(value, scales);
    let scaled = value / scale;
    let n_decimals = match scaled {
        _ if scale == 1.0 => 0,
        ..9.9995 => 3,
        ..99.995 => 2,
        _ => 1,
    };
    format!("{scaled:.n_decimals$} {name}")
}

/// The largest scale of which `value` has at least one.
fn largest<'a>(value: f64, scales: &[(f64, &'a str)]) -> (f64, &'a str) {
    scales.iter().rfind(|(scale, _)| value >= scale * ROUNDS_UP).copied().unwrap_or(scales[0])
}

/// How differences that belong together are written: with their sign, all in the unit that suits the greatest, to its third digit.
pub(super) struct DifferenceFormat {
    scale: f64,
    name: &'static str,
    n_decimals: usize,
}

impl DifferenceFormat {
    /// The format of differences of which none is beyond `greatest`, either way.
    pub fn up_to(greatest: f64, unit: Unit) -> Self {
        let greatest = greatest.abs();
        let (scale, name) = match unit {
            Unit::Nanoseconds => largest(greatest, TIMES),
            Unit::Bytes => largest(greatest, SIZES),
            Unit::Count => (1.0, ""),
        };
        let n_decimals = match greatest / scale {
            _ if scale == 1.0 && unit != Unit::Count => 0,
            ..9.995 if unit != Unit::Count => 2,
            ..99.95 => 1,
            _ => 0,
        };
        Self { scale, name, n_decimals }
    }

    /// The number alone: the ends of an interval need the unit once.
    pub fn number(&self, value: f64) -> String {
        let n_decimals = self.n_decimals;
        let digits = format!("{:.n_decimals$}", value.abs() / self.scale);
        let digits = if digits.contains('.') && self.name.is_empty() { digits.trim_end_matches(".0") } else { &digits };
        let sign = match () {
            () if !digits.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) => "",
            () if value < 0.0 => "−",
            () => "+",
        };
        format!("{sign}{digits}")
    }

    /// With the unit.
    pub fn with_unit(&self, number: &str) -> String {
        if self.name.is_empty() { number.to_owned() } else { format!("{number} {}", self.name) }
    }
}

/// What a system said, without its number for it: `No such file or directory (os error 2)` says no more than its words.
pub(super) fn without_error_number(text: &str) -> String {
    let Some((before, after)) = text.split_once(" (os error ") else { return text.to_owned() };
    match after.split_once(')') {
        Some((number, after)) if number.bytes().all(|c| c.is_ascii_digit()) => before.to_owned() + after,
        _ => text.to_owned(),
    }
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
    fn report_differences_of_one_kind_share_a_unit() {
        for (greatest, unit, value, expected) in [
            (-330_000.0, Unit::Nanoseconds, -310_400.0, "−310 µs"),
            (-330_000.0, Unit::Nanoseconds, 4_000.0, "+4 µs"),
            (1_234_000.0, Unit::Nanoseconds, -310_400.0, "−0.31 ms"),
            (1_234_000.0, Unit::Nanoseconds, 400.0, "0.00 ms"),
            (23_456_000.0, Unit::Nanoseconds, 23_456_000.0, "+23.5 ms"),
            (870.0, Unit::Nanoseconds, -12.4, "−12 ns"),
            (0.0, Unit::Nanoseconds, 0.0, "0 ns"),
            (3.0 * 1_048_576.0, Unit::Bytes, 1_048_576.0, "+1.00 MiB"),
            (2.5, Unit::Count, 2.0, "+2"),
            (2.5, Unit::Count, -0.5, "−0.5"),
            (12_345.6, Unit::Count, -12_345.6, "−12346"),
            (f64::NAN, Unit::Nanoseconds, 1.0, "+1 ns"),
        ] {
            let format = DifferenceFormat::up_to(greatest, unit);
            assert_eq!(format.with_unit(&format.number(value)), expected);
        }
    }

    #[test]
    fn report_says_what_a_system_said_without_its_number() {
        for (text, expected) in [
            ("can't be counted: No such file (os error 2)", "can't be counted: No such file"),
            ("no room (os error 28): make some", "no room: make some"),
            ("(os error", "(os error"),
            ("x (os error two)", "x (os error two)"),
        ] {
            assert_eq!(without_error_number(text), expected);
        }
    }

    #[test]
    fn report_deltas_have_a_sign() {
        let deltas = [Some(3.11), Some(-12.0), Some(-0.01), None].map(format_delta);
        assert_eq!(deltas, ["+3.1%", "-12.0%", "0.0%", "-"]);
    }
}
