//! Long numbers as people read them.

/// A decimal number with the digits before its point in threes: `1,234,567.89`.
pub fn grouped(number: &str) -> String {
    let n_whole = number.find('.').unwrap_or(number.len());
    let mut text = String::with_capacity(number.len() * 4 / 3);
    let mut was_digit = false;
    for (idx, char) in number.char_indices() {
        if idx < n_whole && was_digit && (n_whole - idx).is_multiple_of(3) {
            text.push(',');
        }
        was_digit = char.is_ascii_digit();
        text.push(char);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measure_numbers_have_their_digits_in_threes() {
        let numbers = ["", "7", "-7", "999", "-999", "1000", "-123456.789", "1234567", "0.12345", "NaN", "inf"];
        let expected = ["", "7", "-7", "999", "-999", "1,000", "-123,456.789", "1,234,567", "0.12345", "NaN", "inf"];
        assert_eq!(numbers.map(grouped), expected);
    }
}
