//! The pictures of a page: goldens beside what was drawn, the last frame, aliasing.

use super::{escaped, push};
use crate::measure::picture::{GoldenCheck, PictureNumbers};
use crate::report::{Report, aliasing};

/// A picture that goes into the page whole.
#[derive(Clone, Debug)]
pub struct Picture {
    /// `image/png`, `image/jpeg`.
    pub media_type: &'static str,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// The picture as an address that holds it (RFC 2397).
    fn data_uri(&self) -> String {
        format!("data:{};base64,{}", self.media_type, base64(&self.bytes))
    }
}

/// What should have been drawn, what was, and where they differ.
#[derive(Clone, Debug, Default)]
pub struct PictureSet {
    /// The golden's name, or the place of an aliasing measure.
    pub name: String,
    /// The golden, or the reference.
    pub expected: Option<Picture>,
    /// What was drawn.
    pub actual: Option<Picture>,
    /// Where they differ.
    pub error: Option<Picture>,
}

/// All pictures of a page. Those that there are not are left out.
#[derive(Clone, Debug, Default)]
pub struct PagePictures {
    /// The run's last frame.
    pub last_frame: Option<Picture>,
    /// By golden.
    pub goldens: Vec<PictureSet>,
    /// By place.
    pub aliasing: Vec<PictureSet>,
}

/// Goldens, last frame, aliasing.
pub(super) fn section(pictures: &PagePictures, report: &Report, html: &mut String) {
    html.push_str("<section id=\"picture\">\n<h2>What was drawn</h2>\n");
    match report.run.goldens.is_empty() {
        true => html.push_str(
            "<p class=\"lead\">This scene has no golden for these settings: nothing says that the right picture was measured.</p>\n",
        ),
        false => html.push_str(
            "<p class=\"lead\">After the timed frames, the same program drew views of this scene whose pictures are known (the goldens). \
             Were one to differ, the wrong work would have been measured.</p>\n",
        ),
    }
    html.push_str("<div class=\"gallery\">\n");
    for check in &report.run.goldens {
        let set = pictures.goldens.iter().find(|set| set.name == check.name);
        golden(check, set, html);
    }
    if let Some(last_frame) = &pictures.last_frame {
        push(
            html,
            format_args!(
                "<div><h3>The last frame that was measured</h3>\n<figure class=\"picture\"><img alt=\"The last frame that was measured\" \
                 src=\"{}\"></figure></div>\n",
                last_frame.data_uri()
            ),
        );
    }
    html.push_str("</div>\n</section>\n");
    aliasing_section(pictures, report, html);
}

fn golden(check: &GoldenCheck, set: Option<&PictureSet>, html: &mut String) {
    let (class, word) = if check.passes { ("good", "as it should be") } else { ("bad", "differs") };
    let numbers = check.comparison.as_ref().map(|comparison| numbers(&comparison.numbers));
    let found = check.complaint().or(numbers).unwrap_or_default();
    push(
        html,
        format_args!(
            "<div><h3>{} <span class=\"badge {class}\">{word}</span></h3>\n<p>Camera {}, frame {}: {}.</p>\n",
            escaped(&check.name),
            escaped(&check.view.camera),
            check.view.frame,
            escaped(&found)
        ),
    );
    if let Some(set) = set {
        compare(set, ["the golden", "drawn now"], &check.name, html);
    }
    html.push_str("</div>\n");
}

fn numbers(numbers: &PictureNumbers) -> String {
    match &numbers.flip {
        None => {
            let exact = &numbers.exact;
            let percent = 100.0 * exact.differing_fraction();
            format!("{percent:.3}% of pixels differ by more than 1 of 255, the most by {}", exact.max_difference)
        }
        Some(flip) => format!("FLIP error {:.4} on average, {:.4} at the 99th percentile", flip.mean, flip.p99),
    }
}

/// Two pictures over each other with a slider between them, and the map of their difference at a press.
fn compare(set: &PictureSet, [left, right]: [&str; 2], id: &str, html: &mut String) {
    let id = super::anchor(id);
    let (Some(expected), Some(actual)) = (&set.expected, &set.actual) else {
        if let Some(only) = set.actual.as_ref().or(set.expected.as_ref()) {
            push(html, format_args!("<figure class=\"picture\"><img alt=\"\" src=\"{}\"></figure>\n", only.data_uri()));
        }
        return;
    };
    push(
        html,
        format_args!(
            "<figure class=\"compare\" id=\"compare-{id}\">\n<div class=\"pair\"><img alt=\"{right}\" src=\"{}\"><img class=\"over\" alt=\"{left}\" \
             src=\"{}\">",
            actual.data_uri(),
            expected.data_uri()
        ),
    );
    if let Some(error) = &set.error {
        push(html, format_args!("<img class=\"error\" alt=\"where they differ\" src=\"{}\" hidden>", error.data_uri()));
    }
    push(
        html,
        format_args!(
            "<span class=\"tag left\">{left}</span><span class=\"tag right\">{right}</span></div>\n<div class=\"controls\">\
             <input type=\"range\" min=\"0\" max=\"100\" value=\"50\" step=\"0.5\" aria-label=\"How much of {left} is shown\">"
        ),
    );
    if set.error.is_some() {
        html.push_str("<button type=\"button\" aria-pressed=\"false\">where they differ</button>");
    }
    html.push_str("</div>\n</figure>\n");
}

fn aliasing_section(pictures: &PagePictures, report: &Report, html: &mut String) {
    let Some(measured) = &report.aliasing else { return };
    push(
        html,
        format_args!(
            "<section id=\"aliasing\">\n<h2>Aliasing</h2>\n<p class=\"lead\">How far the picture is from a reference with {} samples a \
             pixel, and how much it flickers when the camera moves by less than a pixel. 0 would be perfect; less is better.</p>\n\
             <table class=\"plain\"><thead><tr><th>measure</th><th>this run</th><th>Baseline</th></tr></thead><tbody>\n",
            measured.n_reference_samples
        ),
    );
    for (name, about, value, baseline) in aliasing::rows(measured, report.comparable_aliasing()) {
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.5}"));
        push(
            html,
            format_args!(
                "<tr><th scope=\"row\">{name}<span class=\"muted\">{about}</span></th><td>{}</td><td>{}</td></tr>\n",
                number(value),
                number(baseline)
            ),
        );
    }
    html.push_str("</tbody></table>\n<div class=\"gallery\">\n");
    for set in &pictures.aliasing {
        push(html, format_args!("<div><h3>{}</h3>\n", escaped(&set.name)));
        compare(set, ["the reference", "drawn"], &set.name, html);
        html.push_str("</div>\n");
    }
    html.push_str("</div>\n</section>\n");
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |idx: usize| u32::from(group.get(idx).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_padding = digit > group.len();
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(if is_padding { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_base64_is_that_of_the_rfc() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xFB, 0xFF, 0xFE]), "+//+");
    }
}
