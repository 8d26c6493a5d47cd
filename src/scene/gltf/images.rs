//! Collects the images that materials use, then decodes them all in parallel, each file once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::document::Document;
use super::fault::Fault;
use super::uri::{Resolved, resolve};
use crate::scene::SceneError;
use crate::scene::assets::{Image, ImageId};
use crate::scene::read::read_file;

/// Pixels along a side; what GPUs can hold as a texture.
const MAX_SIDE_PX: u32 = 16384;

/// What tells one source from another: a file by its canonical path, an embedded image by where it is.
#[derive(Clone, PartialEq, Eq, Hash)]
enum SourceKey {
    File(PathBuf),
    Embedded(PathBuf, usize),
}

struct Source {
    /// For messages.
    name: String,
    file: PathBuf,
    /// JSON pointer of the image that named it first.
    at: String,
    /// `None` for what is still to be read from `key`'s file.
    encoded: Option<Vec<u8>>,
    key: SourceKey,
}

/// The images asked for so far.
#[derive(Default)]
pub(super) struct Images {
    sources: Vec<Source>,
    source_of: HashMap<SourceKey, usize>,
    /// Source and whether it is sRGB, by `ImageId`.
    wanted: Vec<(usize, bool)>,
    id_of: HashMap<(usize, bool), ImageId>,
}

impl Images {
    /// The id that image `image_idx` of a file will have in one colour space.
    pub fn want(&mut self, document: &Document, image_idx: usize, is_srgb: bool) -> Result<ImageId, Fault> {
        let source_idx = self.source(document, image_idx)?;
        Ok(*self.id_of.entry((source_idx, is_srgb)).or_insert_with(|| {
            self.wanted.push((source_idx, is_srgb));
            ImageId(self.wanted.len() as u32 - 1)
        }))
    }

    fn source(&mut self, document: &Document, image_idx: usize) -> Result<usize, Fault> {
        let json = &document.array("images")[image_idx];
        let at = format!("/images/{image_idx}");
        let embedded = |encoded: Vec<u8>| (SourceKey::Embedded(document.path.clone(), image_idx), Some(encoded));
        let file_name = document.path.file_name().unwrap_or_default().to_string_lossy();
        let mut name = format!("{file_name}#image {image_idx}");
        let (key, encoded) = match (json["uri"].as_str(), super::document::index(&json["bufferView"])) {
            (Some(uri), None) => match resolve(uri, document.folder())
                .map_err(|what| Fault::new(format!("{at}/uri"), what))?
            {
                Resolved::Bytes(bytes) => embedded(bytes),
                Resolved::File(path) => {
                    name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    let canonical = path.canonicalize().map_err(|error| {
                        Fault::new(format!("{at}/uri"), format!("the image {} cannot be read: {error}", path.display()))
                    })?;
                    (SourceKey::File(canonical), None)
                }
            },
            (None, Some(view_idx)) => {
                if document.array("bufferViews")[view_idx].get("byteStride").is_some() {
                    return Err(Fault::new(
                        format!("/bufferViews/{view_idx}/byteStride"),
                        "is given, but the view holds an image",
                    ));
                }
                embedded(document.view(view_idx)?.to_vec())
            }
            _ => return Err(Fault::new(at, "needs either a uri or a bufferView")),
        };
        if let Some(&source_idx) = self.source_of.get(&key) {
            return Ok(source_idx);
        }
        self.sources.push(Source { name, file: document.path.clone(), at, encoded, key: key.clone() });
        self.source_of.insert(key, self.sources.len() - 1);
        Ok(self.sources.len() - 1)
    }

    /// The files of images that are not inside of others.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.sources.iter().filter_map(|source| match &source.key {
            SourceKey::File(path) => Some(path.clone()),
            SourceKey::Embedded(..) => None,
        })
    }

    /// Decodes everything, in parallel. The first fault in order of asking wins, so that messages are the same each run.
    pub fn decode(self) -> Result<Vec<Image>, SceneError> {
        let decoded: Vec<Result<Decoded, SceneError>> = self.sources.par_iter().map(decode_source).collect();
        let decoded = decoded.into_iter().collect::<Result<Vec<_>, _>>()?;
        let image = |&(source_idx, is_srgb): &(usize, bool)| {
            let (width, height, ref rgba8) = decoded[source_idx];
            Image { name: self.sources[source_idx].name.clone(), width, height, rgba8: Arc::clone(rgba8), is_srgb }
        };
        Ok(self.wanted.iter().map(image).collect())
    }
}

/// Width, height, RGBA.
type Decoded = (u32, u32, Arc<Vec<u8>>);

fn decode_source(source: &Source) -> Result<Decoded, SceneError> {
    let read;
    let (encoded, shown): (&[u8], &Path) = match (&source.encoded, &source.key) {
        (Some(encoded), _) => (encoded, &source.file),
        (None, SourceKey::File(path) | SourceKey::Embedded(path, _)) => {
            read = read_file(path).map_err(|fault| SceneError::file(path, fault))?;
            (&read, path)
        }
    };
    decode(encoded).map_err(|what| {
        let fault = format!("the image cannot be decoded: {what}");
        if source.encoded.is_some() {
            Fault::new(&source.at, fault).in_file(shown)
        } else {
            SceneError::file(shown, fault)
        }
    })
}

/// PNG, JPEG or WebP, told apart by their first bytes, to 8-bit RGBA.
fn decode(encoded: &[u8]) -> Result<Decoded, String> {
    use image::ImageFormat::{Jpeg, Png, WebP};
    let format = image::guess_format(encoded).ok().filter(|format| matches!(format, Png | Jpeg | WebP));
    let Some(format) = format else {
        return Err(format!("it is {}; PNG, JPEG and WebP are supported", guess_unsupported(encoded)));
    };
    let mut reader = image::ImageReader::with_format(std::io::Cursor::new(encoded), format);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(MAX_SIDE_PX);
    limits.max_image_height = Some(MAX_SIDE_PX);
    reader.limits(limits);
    let rgba = reader.decode().map_err(|error| error.to_string())?.into_rgba8();
    Ok((rgba.width(), rgba.height(), Arc::new(rgba.into_raw())))
}

fn guess_unsupported(encoded: &[u8]) -> &'static str {
    match encoded {
        [] => "empty",
        [0xAB, b'K', b'T', b'X', ..] => "KTX",
        [b'D', b'D', b'S', b' ', ..] => "DDS",
        [b'G', b'I', b'F', ..] => "GIF",
        _ => "of no known format",
    }
}
