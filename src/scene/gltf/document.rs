//! A checked document with its buffers: what the rest of the importer reads from.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check::{check_document, whole};
use super::container::{self, Container};
use super::fault::Fault;
use super::semantics;
use super::uri::{Resolved, resolve};
use crate::scene::SceneError;
use crate::scene::read::read_file;

/// A file whose JSON follows the schema; its buffers are loaded.
pub(crate) struct Document {
    /// As given, for messages.
    pub path: PathBuf,
    /// Follows the schema.
    pub json: Value,
    /// `None` where a buffer has no data, as a placeholder that an extension would fill.
    pub buffers: Vec<Option<Vec<u8>>>,
}

impl Document {
    /// Reads, parses and checks a file and loads its buffers. Warnings are appended.
    pub fn open(path: &Path, warnings: &mut Vec<String>) -> Result<Self, SceneError> {
        let bytes = read_file(path).map_err(|fault| SceneError::file(path, fault))?;
        Self::parse(path, &bytes, warnings).map_err(|fault| fault.in_file(path))
    }

    fn parse(path: &Path, bytes: &[u8], warnings: &mut Vec<String>) -> Result<Self, Fault> {
        let Container { json, bin, warnings: found } = container::parse(bytes)?;
        warnings.extend(found.into_iter().map(|warning| format!("{}: {warning}", path.display())));
        check_document(&json)?;
        let mut document = Self { path: path.to_path_buf(), json, buffers: Vec::new() };
        document.buffers = document.load_buffers(bin)?;
        semantics::check(&document)?;
        Ok(document)
    }

    fn load_buffers(&self, mut bin: Option<Vec<u8>>) -> Result<Vec<Option<Vec<u8>>>, Fault> {
        let mut buffers = Vec::new();
        for (buffer_idx, buffer) in self.array("buffers").iter().enumerate() {
            let at = format!("/buffers/{buffer_idx}");
            let data = match buffer["uri"].as_str() {
                Some(uri) => Some(self.load_uri(uri, &format!("{at}/uri"))?),
                None if buffer_idx == 0 => bin.take(),
                None => None,
            };
            let n_bytes = whole(&buffer["byteLength"]).unwrap_or(0);
            if let Some(data) = &data
                && (data.len() as u64) < n_bytes
            {
                return Err(Fault::new(
                    format!("{at}/byteLength"),
                    format!("{n_bytes} bytes are announced, but the data has {}; is it cut off?", data.len()),
                ));
            }
            buffers.push(data);
        }
        Ok(buffers)
    }

    fn load_uri(&self, uri: &str, at: &str) -> Result<Vec<u8>, Fault> {
        match resolve(uri, self.folder()).map_err(|what| Fault::new(at, what))? {
            Resolved::Bytes(bytes) => Ok(bytes),
            Resolved::File(file) => {
                read_file(&file).map_err(|fault| Fault::new(at, format!("{} {fault}", file.display())))
            }
        }
    }

    /// The files that its buffers were read from.
    pub fn buffer_files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let uris = self.array("buffers").iter().filter_map(|buffer| buffer["uri"].as_str());
        uris.filter_map(|uri| match resolve(uri, self.folder()) {
            Ok(Resolved::File(file)) => Some(file),
            _ => None,
        })
    }

    /// The folder that relative URIs start from.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// A top-level array; empty where the file has none.
    pub fn array(&self, name: &str) -> &[Value] {
        self.json[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// The bytes of a buffer view, which lies within its buffer.
    pub fn view(&self, view_idx: usize) -> Result<&[u8], Fault> {
        let at = format!("/bufferViews/{view_idx}");
        let view = &self.array("bufferViews")[view_idx];
        let buffer_idx = index(&view["buffer"]).unwrap_or(0);
        let Some(data) = &self.buffers[buffer_idx] else {
            return Err(Fault::new(format!("/buffers/{buffer_idx}"), "has no data: neither a uri nor a binary chunk"));
        };
        // A GLB's chunk may be padded beyond the buffer's own length.
        let n_bytes = whole(&self.array("buffers")[buffer_idx]["byteLength"]).unwrap_or(0) as usize;
        let (offset, length) = (whole(&view["byteOffset"]).unwrap_or(0), whole(&view["byteLength"]).unwrap_or(0));
        let range = offset as usize..offset.saturating_add(length) as usize;
        data[..n_bytes.min(data.len())].get(range).ok_or_else(|| {
            Fault::new(at, format!("{length} bytes at {offset} reach beyond buffer {buffer_idx}, which has {n_bytes}"))
        })
    }

    /// The bytes per element step of a buffer view, where it says so.
    pub fn view_stride(&self, view_idx: usize) -> Result<Option<usize>, Fault> {
        let view = &self.array("bufferViews")[view_idx];
        let Some(stride) = whole(&view["byteStride"]) else { return Ok(None) };
        if stride > 252 || stride % 4 != 0 {
            return Err(Fault::new(
                format!("/bufferViews/{view_idx}/byteStride"),
                format!("{stride} is not a multiple of 4 from 4 to 252"),
            ));
        }
        Ok(Some(stride as usize))
    }
}

/// An index that the schema check has found in range.
pub(super) fn index(value: &Value) -> Option<usize> {
    whole(value).map(|number| number as usize)
}

/// A number, or `default` where there is none.
pub(super) fn number(value: &Value, default: f32) -> f32 {
    value.as_f64().map_or(default, |number| number as f32)
}

/// `N` numbers, or `default` where there are none.
pub(super) fn numbers<const N: usize>(value: &Value, default: [f32; N]) -> [f32; N] {
    match value.as_array() {
        Some(items) if items.len() == N => std::array::from_fn(|idx| number(&items[idx], default[idx])),
        _ => default,
    }
}

/// The name of an object for messages, or its index.
pub(super) fn name_of(value: &Value, idx: usize) -> String {
    value["name"].as_str().filter(|name| !name.is_empty()).map_or_else(|| idx.to_string(), str::to_string)
}
