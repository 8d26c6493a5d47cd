//! From a file's bytes to its JSON and, in a GLB, its binary chunk.

use serde_json::Value;

use super::fault::Fault;

const GLB_MAGIC: &[u8] = b"glTF";
const CHUNK_JSON: u32 = 0x4E4F_534A;
const CHUNK_BIN: u32 = 0x004E_4942;

/// A parsed file whose JSON has not been checked yet.
pub(crate) struct Container {
    /// The JSON document.
    pub json: Value,
    /// GLB's binary chunk.
    pub bin: Option<Vec<u8>>,
    /// Faults that don't matter for drawing.
    pub warnings: Vec<String>,
}

/// Tells GLB from JSON by its first bytes and parses either (glTF 2.0, section 4).
pub(crate) fn parse(bytes: &[u8]) -> Result<Container, Fault> {
    if bytes.is_empty() {
        return Err(Fault::whole("the file is empty; expected glTF JSON or GLB"));
    }
    if bytes.starts_with(GLB_MAGIC) {
        return parse_glb(bytes);
    }
    Ok(Container { json: parse_json(bytes)?, bin: None, warnings: Vec::new() })
}

fn parse_json(bytes: &[u8]) -> Result<Value, Fault> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(Fault::whole("the JSON starts with a byte order mark; save it as UTF-8 without one"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Fault::whole(format!("neither GLB nor UTF-8 text (byte {}); is it a glTF file?", error.valid_up_to()))
    })?;
    serde_json::from_str(text).map_err(|error: serde_json::Error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        Fault::whole(match error.is_eof() {
            true => format!("the JSON ends too early, at {place}; the file is cut off: export or copy it again"),
            false => format!("the JSON is malformed at {place}; is it a glTF file? Export it again"),
        })
    })
}

fn parse_glb(bytes: &[u8]) -> Result<Container, Fault> {
    let mut warnings = Vec::new();
    let (Some(version), Some(length)) = (u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return Err(Fault::whole("the GLB ends within its 12-byte header; is it cut off?"));
    };
    if version != 2 {
        return Err(Fault::whole(format!("GLB version {version} is not supported; export it as glTF 2.0")));
    }
    let length = length as usize;
    if length > bytes.len() {
        return Err(Fault::whole(format!(
            "the GLB says that it is {length} bytes long, but the file holds {}; is it cut off?",
            bytes.len()
        )));
    }
    if length < bytes.len() {
        warnings.push(format!("{} bytes after the GLB's end are ignored", bytes.len() - length));
    }
    let mut rest = &bytes[..length];
    rest = rest.get(12..).ok_or_else(|| Fault::whole("the GLB's length is less than its header's 12 bytes"))?;
    let (mut json, mut bin) = (None, None);
    let mut chunk_idx = 0;
    while !rest.is_empty() {
        let (Some(n_bytes), Some(kind)) = (u32_at(rest, 0), u32_at(rest, 4)) else {
            return Err(Fault::whole(format!("the GLB ends within the header of chunk {chunk_idx}; is it cut off?")));
        };
        let Some(data) = rest[8..].get(..n_bytes as usize) else {
            return Err(Fault::whole(format!(
                "GLB chunk {chunk_idx} says that it is {n_bytes} bytes long, but {} are left; is the file cut off?",
                rest.len() - 8
            )));
        };
        if !n_bytes.is_multiple_of(4) {
            warnings.push(format!("GLB chunk {chunk_idx} is {n_bytes} bytes long, not a multiple of 4"));
        }
        match (chunk_idx, kind) {
            (0, CHUNK_JSON) => json = Some(parse_json(data)?),
            (0, _) => return Err(Fault::whole("the GLB's first chunk is not JSON")),
            (_, CHUNK_JSON) => return Err(Fault::whole(format!("GLB chunk {chunk_idx} is a second JSON chunk"))),
            (1, CHUNK_BIN) => bin = Some(data.to_vec()),
            (_, CHUNK_BIN) => {
                return Err(Fault::whole(format!("GLB chunk {chunk_idx} is binary; only chunk 1 can be")));
            }
            _ => {} // Chunks of other kinds are to be ignored.
        }
        rest = &rest[8 + n_bytes as usize..];
        chunk_idx += 1;
    }
    let json = json.ok_or_else(|| Fault::whole("the GLB has no JSON chunk"))?;
    Ok(Container { json, bin, warnings })
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let four = bytes.get(offset..offset + 4)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}
