//! What a schema cannot say, checked for the whole document, used or not: data within its buffers, primitives whose
//! parts fit together, extensions where they belong. Skins and animations are checked by whoever comes to use them.

use std::collections::HashMap;

use serde_json::Value;

use super::accessor::{Accessor, Layout};
use super::check::whole;
use super::document::{Document, index};
use super::fault::Fault;

/// Checks a document that follows the schema and whose buffers are loaded.
pub(super) fn check(document: &Document) -> Result<(), Fault> {
    check_extensions(&document.json, &document.json, &mut Vec::new())?;
    for view_idx in 0..document.array("bufferViews").len() {
        check_view(document, view_idx)?;
    }
    for accessor_idx in 0..document.array("accessors").len() {
        check_accessor(document, accessor_idx)?;
    }
    let mut largest_of = HashMap::new();
    for mesh_idx in 0..document.array("meshes").len() {
        check_mesh(document, mesh_idx, &mut largest_of)?;
    }
    for (image_idx, image) in document.array("images").iter().enumerate() {
        check_image(document, image, &format!("/images/{image_idx}"))?;
    }
    for (camera_idx, camera) in document.array("cameras").iter().enumerate() {
        check_camera(camera, &format!("/cameras/{camera_idx}"))?;
    }
    check_node_weights(document)
}

/// Every `extensions` object below `value`: declared, objects, and at a place where that extension means something.
fn check_extensions<'a>(root: &'a Value, value: &'a Value, path: &mut Vec<&'a str>) -> Result<(), Fault> {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                if name == "extras" {
                    continue;
                }
                if name == "extensions" {
                    let at = format!("/{}", [path.as_slice(), &["extensions"]].concat().join("/"));
                    check_extensions_object(root, inner, path, &at)?;
                }
                path.push(name);
                check_extensions(root, inner, path)?;
                path.pop();
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| {
            path.push("*");
            let result = check_extensions(root, item, path);
            path.pop();
            result
        }),
        _ => Ok(()),
    }
}

fn check_extensions_object(root: &Value, extensions: &Value, path: &[&str], at: &str) -> Result<(), Fault> {
    let Some(extensions) = extensions.as_object() else {
        return Err(Fault::new(at, "expected an object"));
    };
    for (name, extension) in extensions {
        let at = format!("{at}/{name}");
        if !extension.is_object() {
            return Err(Fault::new(at, "expected an object"));
        }
        let is_declared = root["extensionsUsed"].as_array().into_iter().flatten().any(|used| used == name.as_str());
        if !is_declared {
            return Err(Fault::new(at, "is used but not listed in /extensionsUsed; add it there"));
        }
        if places_of(name).is_some_and(|places| !places.iter().any(|place| matches_place(path, place))) {
            return Err(Fault::new(at, format!("{name} has no meaning here")));
        }
    }
    Ok(())
}

/// Where a well-known extension can stand; `None` for those that may stand anywhere or are not known.
fn places_of(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "KHR_lights_punctual" => &["", "nodes/*"],
        "KHR_materials_variants" => &["", "meshes/*/primitives/*"],
        "KHR_texture_basisu" | "EXT_texture_webp" => &["textures/*"],
        "KHR_node_visibility" => &["nodes/*"],
        "KHR_draco_mesh_compression" => &["meshes/*/primitives/*"],
        _ if name.starts_with("KHR_materials_") => &["materials/*"],
        _ => return None,
    })
}

fn matches_place(path: &[&str], place: &str) -> bool {
    path.iter().copied().eq(place.split('/').filter(|part| !part.is_empty()))
}

fn check_view(document: &Document, view_idx: usize) -> Result<(), Fault> {
    let view = &document.array("bufferViews")[view_idx];
    let at = format!("/bufferViews/{view_idx}");
    let buffer_idx = index(&view["buffer"]).unwrap_or(0);
    let n_bytes = whole(&document.array("buffers")[buffer_idx]["byteLength"]).unwrap_or(0);
    let (offset, length) = (whole(&view["byteOffset"]).unwrap_or(0), whole(&view["byteLength"]).unwrap_or(0));
    if offset.saturating_add(length) > n_bytes {
        return Err(Fault::new(
            at,
            format!("{length} bytes at {offset} reach beyond buffer {buffer_idx}, which has {n_bytes}"),
        ));
    }
    let stride = document.view_stride(view_idx)?;
    if stride.is_some_and(|stride| stride as u64 > length) {
        return Err(Fault::new(format!("{at}/byteStride"), format!("is more than the view's {length} bytes")));
    }
    if stride.is_some() && whole(&view["target"]) == Some(34963) {
        return Err(Fault::new(format!("{at}/byteStride"), "is given, but vertex indices have none"));
    }
    Ok(())
}

fn check_accessor(document: &Document, accessor_idx: usize) -> Result<(), Fault> {
    Layout::read(document, accessor_idx)?;
    let json = &document.array("accessors")[accessor_idx];
    let views =
        [&json["bufferView"], &json["sparse"]["indices"]["bufferView"], &json["sparse"]["values"]["bufferView"]];
    let has_data = |view_idx: usize| {
        let view = &document.array("bufferViews")[view_idx];
        document.buffers[index(&view["buffer"]).unwrap_or(0)].is_some()
    };
    // A placeholder buffer, which an optional extension would fill, is at fault only when something reads it.
    if views.into_iter().filter_map(index).all(has_data) {
        Accessor::open(document, accessor_idx)?;
    }
    Ok(())
}

/// The largest vertex index in each index accessor looked at: exporters share one between thousands of primitives.
type LargestIndices = HashMap<usize, u32>;

fn check_mesh(document: &Document, mesh_idx: usize, largest_of: &mut LargestIndices) -> Result<(), Fault> {
    let mesh = &document.array("meshes")[mesh_idx];
    let n_weights = mesh["weights"].as_array().map(Vec::len);
    for (primitive_idx, primitive) in mesh["primitives"].as_array().into_iter().flatten().enumerate() {
        let at = format!("/meshes/{mesh_idx}/primitives/{primitive_idx}");
        check_primitive(document, primitive, largest_of, &at)?;
        let n_targets = primitive["targets"].as_array().map_or(0, Vec::len);
        if n_weights.is_some_and(|n_weights| n_weights != n_targets) {
            return Err(Fault::new(
                format!("/meshes/{mesh_idx}/weights"),
                format!(
                    "has {} weights, but primitive {primitive_idx} has {n_targets} morph targets",
                    n_weights.unwrap_or(0)
                ),
            ));
        }
    }
    Ok(())
}

fn check_primitive(
    document: &Document,
    primitive: &Value,
    largest_of: &mut LargestIndices,
    at: &str,
) -> Result<(), Fault> {
    let accessors = document.array("accessors");
    let count_of = |accessor_idx: usize| whole(&accessors[accessor_idx]["count"]).unwrap_or(0);
    let attributes = &primitive["attributes"];
    check_attributes(document, attributes, None, &format!("{at}/attributes"))?;
    for (target_idx, target) in primitive["targets"].as_array().into_iter().flatten().enumerate() {
        check_attributes(document, target, Some(attributes), &format!("{at}/targets/{target_idx}"))?;
    }
    let (Some(indices), Some(positions)) = (index(&primitive["indices"]), index(&attributes["POSITION"])) else {
        return Ok(());
    };
    let view = index(&accessors[indices]["bufferView"]).map(|view_idx| &document.array("bufferViews")[view_idx]);
    if view.is_some_and(|view| view.get("byteStride").is_some() || whole(&view["target"]) == Some(34962)) {
        return Err(Fault::new(format!("{at}/indices"), "its buffer view is one for vertex attributes"));
    }
    // Points and lines are not drawn, whatever their indices. Without data (see `check_accessor`) there are none.
    let is_drawn = whole(&primitive["mode"]).is_none_or(|mode| mode >= 4);
    let Ok(accessor) = Accessor::open(document, indices) else { return Ok(()) };
    if !is_drawn {
        return Ok(());
    }
    let n_vertices = count_of(positions);
    let largest = match largest_of.get(&indices) {
        Some(&known) => known,
        None => accessor.read_indices()?.into_iter().max().unwrap_or(0),
    };
    largest_of.insert(indices, largest);
    if u64::from(largest) >= n_vertices {
        return Err(Fault::new(
            format!("{at}/indices"),
            format!("vertex {largest} is referred to, but there are {n_vertices} (glTF has no primitive restart)"),
        ));
    }
    Ok(())
}

/// The attributes of a primitive, or of a morph target over those of its primitive, `base`.
fn check_attributes(document: &Document, attributes: &Value, base: Option<&Value>, at: &str) -> Result<(), Fault> {
    let accessors = document.array("accessors");
    let names: Vec<(&str, usize)> = attributes
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, accessor_idx)| Some((name.as_str(), index(accessor_idx)?)))
        .collect();
    let n_vertices = names.first().map(|&(_, accessor_idx)| whole(&accessors[accessor_idx]["count"]));
    for &(name, accessor_idx) in &names {
        let at = format!("{at}/{name}");
        let accessor = &accessors[accessor_idx];
        if !is_attribute_name(name) {
            return Err(Fault::new(at, "is no attribute of glTF; names of one's own start with \"_\""));
        }
        if n_vertices != Some(whole(&accessor["count"])) {
            return Err(Fault::new(at, "has another number of elements than the other attributes"));
        }
        if whole(&accessor["componentType"]) == Some(5125) {
            return Err(Fault::new(at, "32-bit integers are not allowed in a vertex attribute"));
        }
        if name == "POSITION" && (accessor.get("min").is_none() || accessor.get("max").is_none()) {
            return Err(Fault::new(format!("/accessors/{accessor_idx}"), "holds positions, so it needs min and max"));
        }
        if let Some(base) = base
            && base.get(name).is_none()
        {
            return Err(Fault::new(at, "morphs an attribute that the primitive does not have"));
        }
        if let Some((set, number)) =
            name.rsplit_once('_').and_then(|(set, number)| Some((set, number.parse::<u32>().ok()?)))
            && !set.is_empty()
            && number > 0
            && attributes.get(format!("{set}_{}", number - 1)).is_none()
            && base.is_none()
        {
            return Err(Fault::new(
                at,
                format!("{set} sets are numbered from 0 without gaps, but {} is missing", number - 1),
            ));
        }
    }
    let n_sets = |prefix: &str| names.iter().filter(|(name, _)| name.starts_with(prefix)).count();
    if n_sets("JOINTS_") != n_sets("WEIGHTS_") {
        return Err(Fault::new(at, "has not as many JOINTS as WEIGHTS sets"));
    }
    Ok(())
}

fn is_attribute_name(name: &str) -> bool {
    if name.starts_with('_') || matches!(name, "POSITION" | "NORMAL" | "TANGENT") {
        return true;
    }
    let Some((set, number)) = name.rsplit_once('_') else { return false };
    let is_number = number.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == number);
    matches!(set, "TEXCOORD" | "COLOR" | "JOINTS" | "WEIGHTS") && is_number
}

fn check_image(document: &Document, image: &Value, at: &str) -> Result<(), Fault> {
    let uri = image["uri"].as_str();
    match (uri, index(&image["bufferView"])) {
        (Some(uri), None) => match uri.strip_prefix("data:") {
            Some(data) if !data.starts_with("image/") && !data.starts_with("application/octet-stream") => {
                Err(Fault::new(format!("{at}/uri"), "is a data URI, but not one of an image"))
            }
            Some(data) if data.starts_with("image/gif") => {
                Err(Fault::new(format!("{at}/uri"), "GIF images are not part of glTF; use PNG or JPEG"))
            }
            _ => Ok(()),
        },
        (None, Some(view_idx)) if document.array("bufferViews")[view_idx].get("byteStride").is_some() => {
            Err(Fault::new(format!("/bufferViews/{view_idx}/byteStride"), "is given, but the view holds an image"))
        }
        (None, Some(_)) => Ok(()),
        (None, None) if image.get("extensions").is_some() => Ok(()),
        _ => Err(Fault::new(at, "needs either a uri or a bufferView")),
    }
}

fn check_camera(camera: &Value, at: &str) -> Result<(), Fault> {
    let kind = camera["type"].as_str().unwrap_or("");
    let other = if kind == "perspective" { "orthographic" } else { "perspective" };
    if camera.get(kind).is_none() {
        return Err(Fault::new(format!("{at}/{kind}"), "is missing"));
    }
    if camera.get(other).is_some() {
        return Err(Fault::new(format!("{at}/{other}"), format!("is given, but the type is {kind}")));
    }
    let lens = &camera[kind];
    let number = |name: &str| lens[name].as_f64();
    if let (Some(near), Some(far)) = (number("znear"), number("zfar"))
        && far <= near
    {
        return Err(Fault::new(format!("{at}/{kind}/zfar"), format!("{far} is not beyond znear, {near}")));
    }
    match ["xmag", "ymag"].into_iter().find(|name| number(name) == Some(0.0)) {
        Some(name) => Err(Fault::new(format!("{at}/{kind}/{name}"), "is 0; nothing would be seen")),
        None => Ok(()),
    }
}

fn check_node_weights(document: &Document) -> Result<(), Fault> {
    for (node_idx, node) in document.array("nodes").iter().enumerate() {
        let Some(weights) = node["weights"].as_array() else { continue };
        let at = format!("/nodes/{node_idx}/weights");
        let Some(mesh_idx) = index(&node["mesh"]) else {
            return Err(Fault::new(at, "is given, but the node has no mesh"));
        };
        let n_targets = document.array("meshes")[mesh_idx]["primitives"][0]["targets"].as_array().map_or(0, Vec::len);
        if weights.len() != n_targets {
            return Err(Fault::new(
                at,
                format!("has {} weights, but the mesh has {n_targets} morph targets", weights.len()),
            ));
        }
    }
    Ok(())
}
