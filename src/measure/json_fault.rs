//! What is wrong with a JSON file, in words for whoever has the file and not the program's types.

use serde_json::error::Category;

/// The fault of a file that was to be JSON of ours, with the place where it was found.
pub(super) fn describe(error: &serde_json::Error) -> String {
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Eof => "it is cut off".to_owned(),
        Category::Syntax => format!("at {place} it is no JSON"),
        Category::Io => error.to_string(),
        Category::Data => {
            let text = error.to_string();
            // serde says the place, too, and after `struct` a name from the program's source.
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
            let what = match what.split_once("expected struct ") {
                Some((before, _)) => format!("{before}expected an object"),
                None => what.to_owned(),
            };
            format!("at {place}: {what}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Machine;

    #[test]
    fn measure_json_faults_say_the_place_and_no_type_of_ours() {
        for (text, expected) in [
            ("", "it is cut off"),
            ("{\"cpu\": \"a\"", "it is cut off"),
            ("PNG", "at line 1, column 1 it is no JSON"),
            ("{\"cpu\": \"a\",\n \"os\" 3}", "at line 2, column 7 it is no JSON"),
            ("3", "at line 1, column 1: invalid type: integer `3`, expected an object"),
            ("{\n\"n_cores\": \"two\"}", "at line 2, column 16: invalid type: string \"two\", expected u32"),
        ] {
            let error = serde_json::from_str::<Machine>(text).expect_err(text);
            assert_eq!(describe(&error), expected, "{text}");
        }
    }
}
