//! Resolves the URIs of buffers and images: data URIs and paths beside the file.

use std::path::{Path, PathBuf};

/// What a URI means.
pub(crate) enum Resolved {
    /// The bytes of a data URI.
    Bytes(Vec<u8>),
    /// A file.
    File(PathBuf),
}

/// Resolves `uri` against the folder that the glTF file is in. The error says what is wrong.
pub(crate) fn resolve(uri: &str, folder: &Path) -> Result<Resolved, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        return decode_data_uri(data).map(Resolved::Bytes);
    }
    if let Some((scheme, _)) = uri.split_once(':')
        && scheme.len() > 1
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    {
        return Err(format!("URIs with the scheme {scheme:?} are not supported; use a relative path or a data URI"));
    }
    let path =
        String::from_utf8(percent_decode(uri)).map_err(|_| format!("the URI {uri:?} is not UTF-8 when decoded"))?;
    // An unescaped `%` may be part of the file's real name.
    let decoded = folder.join(&path);
    let raw = folder.join(uri);
    Ok(Resolved::File(if !decoded.exists() && raw.exists() { raw } else { decoded }))
}

fn decode_data_uri(data: &str) -> Result<Vec<u8>, String> {
    let (header, payload) = data.split_once(',').ok_or("the data URI has no comma before its data")?;
    if header.split(';').skip(1).any(str::is_empty) {
        return Err(format!("the data URI's header {header:?} has an empty parameter"));
    }
    if header.ends_with(";base64") { decode_base64(payload.as_bytes()) } else { Ok(percent_decode(payload)) }
}

/// `%41` becomes `A`; anything that is no escape stays as it is.
fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut next = 0;
    while next < bytes.len() {
        let escape = (bytes[next] == b'%')
            .then(|| Some((hex_digit(*bytes.get(next + 1)?)?, hex_digit(*bytes.get(next + 2)?)?)))
            .flatten();
        if let Some((high, low)) = escape {
            decoded.push(high << 4 | low);
            next += 3;
        } else {
            decoded.push(bytes[next]);
            next += 1;
        }
    }
    decoded
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// RFC 4648, both alphabets, with or without padding.
fn decode_base64(text: &[u8]) -> Result<Vec<u8>, String> {
    let text = text.trim_ascii();
    let n_padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
    let digits = &text[..text.len() - n_padding];
    if n_padding > 2 || digits.len() % 4 == 1 {
        return Err("the data URI's base64 has a wrong length; is it cut off?".into());
    }
    let mut decoded = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    let (mut bits, mut n_bits) = (0u32, 0);
    for (offset, &byte) in digits.iter().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return Err(format!("the data URI's base64 has the wrong character {:?} at {offset}", byte as char)),
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            decoded.push((bits >> n_bits) as u8);
        }
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_decodes_every_length() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob")] {
            assert_eq!(decode_base64(text.as_bytes()).unwrap(), bytes.as_bytes());
        }
        assert!(decode_base64(b"Zm9vY").is_err());
        assert!(decode_base64(b"Zm9*").is_err());
    }

    #[test]
    fn percent_escapes_are_decoded_and_strays_are_kept() {
        assert_eq!(percent_decode("a%20b%2"), b"a b%2");
        assert_eq!(percent_decode("100%"), b"100%");
    }

    #[test]
    fn a_remote_uri_is_refused() {
        assert!(resolve("https://example.org/a.bin", Path::new(".")).is_err());
    }
}
